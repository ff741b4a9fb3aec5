"""The gap prior as a sweep needs it: what changes when one row moves, or when a gap is stretched.

The sums of f, the innovations times their units, are kept, so that each change costs O(1): two gaps change, or with
memory three. ``now`` is the sampler's ``Pass``. Of it are used

    rows, prior    the rows and the exponents of the prior
    tau (N,)       inputs; rows that the sweep has not passed yet are still to be shifted by ``shift``
    total (S,)     sum of f of each sequence
    passed (S,)    the last row of each sequence that the sweep has passed, or -1
    way            +1 or -1: the direction of the sweep. Times in the sweep are way * tau.
"""

from __future__ import annotations

import math

from numba import njit

from ..engine.noise import log_gamma_variate, uniform
from ..engine.stack import INLINE
from .pace import excess, innovation, innovation_after, pace_after, pace_between
from .prior import log_ratio, log_term


@njit(**INLINE)
def sum_innovations(rows, tau, total):
    """Sum up f of each sequence, over its regular gaps."""
    for s in range(len(total)):
        total[s] = 0.0
    for r in range(len(tau)):
        if rows.sequence[r] >= 0 and rows.after[r] >= 0 and rows.regular[r]:
            total[rows.sequence[r]] += rows.unit[r] * innovation_after(rows, tau, r)


@njit(**INLINE)
def _around(now, r, time, shift):
    """Sums of ``log_term`` and f over the gaps of row r, if it stood at ``time``. A broken order gives -inf.

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
            logs += log_term(now.prior, rows.unit[left], rows.unit[left] * e)
            total += rows.unit[left] * e
    if right >= 0:
        second = pace_between(rows, r, place, tau[right] + (shift if now.way > 0 else 0.0))
        e = innovation(second, first, rows.carry[r]) if rows.carry[r] > 0.0 else second
        if not (second > 0.0 and e > 0.0):
            return -math.inf, 0.0
        if rows.regular[r]:
            logs += log_term(now.prior, rows.unit[r], rows.unit[r] * e)
            total += rows.unit[r] * e
        if rows.carry[right] > 0.0:
            e = innovation(pace_after(rows, tau, right), second, rows.carry[right])
            if not e > 0.0:
                return -math.inf, 0.0
            logs += log_term(now.prior, rows.unit[right], rows.unit[right] * e)
            total += rows.unit[right] * e
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
def draw_split(now, r, shift, rng):
    """A time of row r that divides the time between its neighbours as the prior does, Eq. (8).

    Both gaps must be regular and have no memory; otherwise NaN.
    """
    rows, tau, prior = now.rows, now.tau, now.prior
    left, right = rows.before[r], rows.after[r]
    if left < 0 or right < 0 or not (rows.regular[left] and rows.regular[r]) or not prior.shape > 0.0:
        return math.nan
    if rows.carry[left] > 0.0 or rows.carry[r] > 0.0 or rows.carry[right] > 0.0:
        return math.nan
    first = tau[left] - (shift if now.way < 0 else 0.0) + rows.least[left]
    last = tau[right] + (shift if now.way > 0 else 0.0) - rows.least[r]
    x = log_gamma_variate(rng, prior.shape * rows.unit[left])
    y = log_gamma_variate(rng, prior.shape * rows.unit[r])
    low, high = (last - first) / (1.0 + math.exp(y - x)), (last - first) / (1.0 + math.exp(x - y))
    if low < prior.tiny:  # where the density is constant
        return now.way * (first + prior.tiny * uniform(rng))
    if high < prior.tiny:
        return now.way * (last - prior.tiny * uniform(rng))
    return now.way * (first + low if low < high else last - high)


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
    following = rows.after[k]
    if rows.carry[k] > 0.0 or rows.carry[following] > 0.0:
        logs, change = _stretch_with_memory(now, k, room / rows.unit[k], step / rows.unit[k])
        if not logs > -math.inf:
            return -math.inf, 0.0
    else:
        unit, change = rows.unit[k], step
        logs = log_term(now.prior, unit, room + step) - log_term(now.prior, unit, room)
    return log_ratio(now.prior, rows.gaps[s], now.total[s], logs, change), change


@njit(**INLINE)
def _stretch_with_memory(now, k, pace, step):
    """Changes of the sums of ``log_term`` and of f, as the pace of the gap after row k grows by ``step``.

    Its innovation changes, and that of the next gap. The first is -inf where there would be no innovation left.
    """
    rows, tau = now.rows, now.tau
    old, grown, carry, following = pace, step, rows.carry[k], rows.after[k]
    if carry > 0.0:
        old, grown = innovation(pace, pace_after(rows, tau, rows.before[k]), carry), step / (1.0 - carry)
    if not old + grown > 0.0:
        return -math.inf, 0.0
    unit, carry = rows.unit[k], rows.carry[following]
    logs = log_term(now.prior, unit, unit * (old + grown)) - log_term(now.prior, unit, unit * old)
    change = unit * grown
    if carry > 0.0:
        unit = rows.unit[following]
        old, less = innovation(pace_after(rows, tau, following), pace, carry), carry * step / (1.0 - carry)
        if not old - less > 0.0:
            return -math.inf, 0.0
        logs += log_term(now.prior, unit, unit * (old - less)) - log_term(now.prior, unit, unit * old)
        change -= unit * less
    return logs, change
