"""The gap prior as a sweep needs it: what changes when one row moves, or when a gap is stretched.

A sequence has the density prod x^power times (sum x + floor)^-(per_gap * number of regular gaps), where x is a regular
gap less its least, in its unit. The sums of x are kept in ``work.total``, so that each change costs O(1).
"""

from __future__ import annotations

import math

from numba import njit

from ..stack import INLINE


@njit(**INLINE)
def _around(rows, tau, r, time, way, shift):
    """Sums of log x and of x over the gaps on both sides of row r in its sequence, if it stood at ``time``.

    x is a regular gap less its least, in its unit. A broken order gives -inf. Rows that were passed have their times in
    ``tau``; later ones are still to be shifted by ``shift``.
    """
    behind = rows.before[r] if way > 0 else rows.after[r]
    ahead = rows.after[r] if way > 0 else rows.before[r]
    logs, total = 0.0, 0.0
    if behind >= 0:
        k = behind if way > 0 else r
        room = time - way * tau[behind] - rows.least[k]
        if not room > 0.0:
            return -math.inf, 0.0
        if rows.regular[k]:
            logs += math.log(room / rows.unit[k])
            total += room / rows.unit[k]
    if ahead >= 0:
        k = r if way > 0 else ahead
        room = way * tau[ahead] + shift - time - rows.least[k]
        if not room > 0.0:
            return -math.inf, 0.0
        if rows.regular[k]:
            logs += math.log(room / rows.unit[k])
            total += room / rows.unit[k]
    return logs, total


@njit(**INLINE)
def spacing(rows, prior, work, tau, r, old, new, way, shift):
    """What the gap prior says of row r moving from ``old`` to ``new``: log-ratio, and the change of its total."""
    s = rows.sequence[r]
    if s < 0:
        return 0.0, 0.0
    logs, total = _around(rows, tau, r, new, way, shift)
    if logs == -math.inf:
        return logs, 0.0
    old_logs, old_total = _around(rows, tau, r, old, way, shift)
    ratio, change = prior.power * (logs - old_logs), total - old_total
    if prior.per_gap > 0.0 and change != 0.0:
        whole = work.total[s] + prior.floor
        ratio -= prior.per_gap * rows.gaps[s] * math.log((whole + change) / whole)
    return ratio, change


@njit(**INLINE)
def straddled(rows, work, tau, s, way, shift):
    """The gap of sequence s that the place after the last passed row cuts: the row before it, or -1, and its room."""
    left = work.seen[s]
    right = -1
    if left >= 0:
        right = rows.after[left] if way > 0 else rows.before[left]
    if right < 0:
        return -1, 0.0
    k = left if way > 0 else right
    return k, way * (tau[right] - tau[left]) + shift - rows.least[k]


@njit(**INLINE)
def note_totals(rows, work, tau):
    """Sum up the regular gaps of each sequence, in their units."""
    work.total[:] = 0.0
    for r in range(len(tau)):
        if rows.sequence[r] >= 0 and rows.after[r] >= 0 and rows.regular[r]:
            work.total[rows.sequence[r]] += (tau[rows.after[r]] - tau[r] - rows.least[r]) / rows.unit[r]
