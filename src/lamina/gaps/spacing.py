"""The gap prior as a sweep needs it: what changes when one row moves, or when a gap is stretched.

A sequence has the density prod x^power times (sum x + floor)^-(per_gap * number of regular gaps), where x is a regular
gap less its least, in its unit, or with memory what is new in it. The sums of x are kept in ``work.total``, so that
each change costs O(1): two gaps, or with memory three.
"""

from __future__ import annotations

import math

from numba import njit

from ..engine.stack import INLINE
from . import new_in


@njit(**INLINE)
def pace(rows, tau, k):
    """The gap after row k less its least, in its unit."""
    return (tau[rows.after[k]] - tau[k] - rows.least[k]) / rows.unit[k]


@njit(**INLINE)
def new_pace(rows, tau, k):
    """What is new in the gap after row k: all of its pace, where nothing is carried into it."""
    carry = rows.carry[k]
    return new_in(pace(rows, tau, k), pace(rows, tau, rows.before[k]), carry) if carry > 0.0 else pace(rows, tau, k)


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
def _new_around(rows, tau, r, time, way, shift):
    """``_around`` with memory: of what is new in the gap before row r, in the gap after it and in the next."""
    place = way * time
    left, right = rows.before[r], rows.after[r]
    logs, total, first, second = 0.0, 0.0, 0.0, 0.0
    if left >= 0:
        room = place - tau[left] + (shift if way < 0 else 0.0) - rows.least[left]
        first = room / rows.unit[left]
        if not room > 0.0:
            return -math.inf, 0.0
        if rows.regular[left]:
            carry = rows.carry[left]
            new = new_in(first, pace(rows, tau, rows.before[left]), carry) if carry > 0.0 else first
            if not new > 0.0:
                return -math.inf, 0.0
            logs += math.log(new)
            total += new
    if right >= 0:
        room = tau[right] - place + (shift if way > 0 else 0.0) - rows.least[r]
        second = room / rows.unit[r]
        if not room > 0.0:
            return -math.inf, 0.0
        if rows.regular[r]:
            new = new_in(second, first, rows.carry[r])
            if not new > 0.0:
                return -math.inf, 0.0
            logs += math.log(new)
            total += new
        if rows.carry[right] > 0.0:
            new = new_in(pace(rows, tau, right), second, rows.carry[right])
            if not new > 0.0:
                return -math.inf, 0.0
            logs += math.log(new)
            total += new
    return logs, total


@njit(**INLINE)
def _ratio(rows, prior, work, s, logs, change):
    """log-ratio of the prior of sequence s as the sum of log x grows by ``logs`` and that of x by ``change``."""
    ratio = prior.power * logs
    if prior.per_gap > 0.0 and change != 0.0:
        whole = work.total[s] + prior.floor
        ratio -= prior.per_gap * rows.gaps[s] * math.log((whole + change) / whole)
    return ratio


@njit(**INLINE)
def spacing(rows, prior, work, tau, r, old, new, way, shift):
    """What the gap prior says of row r moving from ``old`` to ``new``: log-ratio, and the change of its total."""
    s = rows.sequence[r]
    if s < 0:
        return 0.0, 0.0
    if prior.memory:
        logs, total = _new_around(rows, tau, r, new, way, shift)
    else:
        logs, total = _around(rows, tau, r, new, way, shift)
    if logs == -math.inf:
        return logs, 0.0
    if prior.memory:
        old_logs, old_total = _new_around(rows, tau, r, old, way, shift)
    else:
        old_logs, old_total = _around(rows, tau, r, old, way, shift)
    change = total - old_total
    return _ratio(rows, prior, work, s, logs - old_logs, change), change


@njit(**INLINE)
def stretching(rows, prior, work, tau, s, way, shift, step):
    """What the gap prior says of everything after the last passed row moving away by ``step``: as ``spacing``."""
    left, right = work.seen[s], -1
    if left >= 0:
        right = rows.after[left] if way > 0 else rows.before[left]
    if right < 0:
        return 0.0, 0.0
    k = left if way > 0 else right
    room = way * (tau[right] - tau[left]) + shift - rows.least[k]
    if not room + step > 0.0:
        return -math.inf, 0.0
    if not rows.regular[k]:
        return 0.0, 0.0
    if not prior.memory:
        change = step / rows.unit[k]
        return _ratio(rows, prior, work, s, math.log((room + step) / room), change), change
    here, there, carry, following = room / rows.unit[k], (room + step) / rows.unit[k], rows.carry[k], rows.after[k]
    before = pace(rows, tau, rows.before[k]) if carry > 0.0 else 0.0
    old, new = new_in(here, before, carry), new_in(there, before, carry)
    if not new > 0.0:
        return -math.inf, 0.0
    logs, change = math.log(new / old), new - old
    carry = rows.carry[following]
    if carry > 0.0:
        after = pace(rows, tau, following)
        old, new = new_in(after, here, carry), new_in(after, there, carry)
        if not new > 0.0:
            return -math.inf, 0.0
        logs += math.log(new / old)
        change += new - old
    return _ratio(rows, prior, work, s, logs, change), change


@njit(**INLINE)
def note_totals(rows, work, tau):
    """Sum up the regular gaps of each sequence, in their units, or what is new in them."""
    work.total[:] = 0.0
    for r in range(len(tau)):
        if rows.sequence[r] >= 0 and rows.after[r] >= 0 and rows.regular[r]:
            work.total[rows.sequence[r]] += new_pace(rows, tau, r)
