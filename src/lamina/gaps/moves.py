"""The gap prior as a sweep needs it: what changes when one row moves, or when a gap is stretched.

The sums of the innovations are kept, so that each change costs O(1): two gaps change, or with memory three. ``now`` is
the sampler's ``Pass``. Of it are used

    rows, prior    the rows and the exponents of the prior
    tau (N,)       inputs; rows that the sweep has not passed yet are still to be shifted by ``shift``
    total (S,)     sum of the innovations of each sequence
    passed (S,)    the last row of each sequence that the sweep has passed, or -1
    way            +1 or -1: the direction of the sweep. Times in the sweep are way * tau.
"""

from __future__ import annotations

import math

from numba import njit

from ..engine.stack import INLINE
from .pace import excess, innovation, innovation_after, pace_after, pace_between
from .prior import log_ratio


@njit(**INLINE)
def sum_innovations(rows, tau, total):
    """Sum up the innovations of each sequence, over its regular gaps."""
    for s in range(len(total)):
        total[s] = 0.0
    for r in range(len(tau)):
        if rows.sequence[r] >= 0 and rows.after[r] >= 0 and rows.regular[r]:
            total[rows.sequence[r]] += innovation_after(rows, tau, r)


@njit(**INLINE)
def _around(now, r, time, shift):
    """Sums of log e and of e over the gaps that row r is part of, if it stood at ``time``. A broken order gives -inf.

    These are the gap before it, the gap after it and, with memory, the next.
    """
    rows, tau, place = now.rows, now.tau, now.way * time
    left, right = rows.before[r], rows.after[r]
    logs, total, first = 0.0, 0.0, 0.0
    if left >= 0:
        first = pace_between(rows, left, tau[left] - (shift if now.way < 0 else 0.0), place)
        e = first
        if rows.carry[left] > 0.0:
            e = innovation(first, pace_after(rows, tau, rows.before[left]), rows.carry[left])
        if not (first > 0.0 and e > 0.0):
            return -math.inf, 0.0
        if rows.regular[left]:
            logs += math.log(e)
            total += e
    if right >= 0:
        second = pace_between(rows, r, place, tau[right] + (shift if now.way > 0 else 0.0))
        e = innovation(second, first, rows.carry[r]) if rows.carry[r] > 0.0 else second
        if not (second > 0.0 and e > 0.0):
            return -math.inf, 0.0
        if rows.regular[r]:
            logs += math.log(e)
            total += e
        if rows.carry[right] > 0.0:
            e = innovation(pace_after(rows, tau, right), second, rows.carry[right])
            if not e > 0.0:
                return -math.inf, 0.0
            logs += math.log(e)
            total += e
    return logs, total


@njit(**INLINE)
def move_ratio(now, r, old, new, shift):
    """log-ratio of the gap prior as row r moves from time ``old`` to ``new``, and the change of its total."""
    s = now.rows.sequence[r]
    if s < 0:
        return 0.0, 0.0
    logs, total = _around(now, r, new, shift)
    if logs == -math.inf:
        return logs, 0.0
    old_logs, old_total = _around(now, r, old, shift)
    change = total - old_total
    return log_ratio(now.prior, now.rows.gaps[s], now.total[s], logs - old_logs, change), change


@njit(**INLINE)
def stretch_ratio(now, s, shift, step):
    """The same as everything after the last passed row of sequence s moves away from it by ``step``."""
    rows, tau = now.rows, now.tau
    left, right = now.passed[s], -1
    if left >= 0:
        right = rows.after[left] if now.way > 0 else rows.before[left]
    if right < 0:
        return 0.0, 0.0
    k = left if now.way > 0 else right  # the earlier of the two
    room = excess(now.way * tau[left], now.way * tau[right] + shift, rows.least[k])
    if not room + step > 0.0:
        return -math.inf, 0.0
    if not rows.regular[k]:
        return 0.0, 0.0
    ratio, change, following = (room + step) / room, step / rows.unit[k], rows.after[k]
    if rows.carry[k] > 0.0 or rows.carry[following] > 0.0:
        ratio, change = _stretch_with_memory(rows, tau, k, room / rows.unit[k], change)
        if not ratio > 0.0:
            return -math.inf, 0.0
    return log_ratio(now.prior, rows.gaps[s], now.total[s], math.log(ratio), change), change


@njit(**INLINE)
def _stretch_with_memory(rows, tau, k, pace, step):
    """Product of the ratios of the innovations in the gap after row k, whose pace grows by ``step``, and in the next.

    And the change of their sum. The ratio is 0 where there would be no innovation left.
    """
    old, grown, carry, following = pace, step, rows.carry[k], rows.after[k]
    if carry > 0.0:
        old, grown = innovation(pace, pace_after(rows, tau, rows.before[k]), carry), step / (1.0 - carry)
    ratio, carry = max((old + grown) / old, 0.0), rows.carry[following]
    if carry > 0.0:
        old, less = innovation(pace_after(rows, tau, following), pace, carry), carry * step / (1.0 - carry)
        ratio, grown = ratio * max((old - less) / old, 0.0), grown - less
    return ratio, grown
