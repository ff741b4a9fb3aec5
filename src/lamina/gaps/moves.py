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
from typing import NamedTuple

from numba import njit

from ..engine.noise import log_gamma_variate, uniform
from ..engine.stack import INLINE
from .pace import excess, innovation, innovation_after, pace_after, pace_between
from .prior import log_ratio, log_term

#: With memory, a row is drawn anew between its neighbours if it has this many times the room in which innovations are
#: tiny: the mass near the ends is then that of Eq. (7) to this accuracy.
LEAST_ROOM = 1e4


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


class Between(NamedTuple):
    """Where the innovations around a row, with memory, leave it room; they are zero at the ends of the interval."""

    low: float
    high: float
    shapes: tuple[float, float]  #: of the innovations at both ends
    tiny: tuple[float, float]  #: the distances from the ends at which these are ``Exponents.tiny``


@njit(**INLINE)
def room_between(now, r, shift):
    """``Between`` of row r given the other rows of its sequence, as times of the record (not of the sweep).

    At the early end, the innovation of the gap before the row is zero, or that of the gap after the next row. At the
    late end, that of the gap after the row is. Row r must lie between two regular gaps.
    """
    rows, tau = now.rows, now.tau
    left, right = rows.before[r], rows.after[r]
    back, ahead = (shift if now.way < 0 else 0.0), (shift if now.way > 0 else 0.0)
    first, last = tau[left] - back + rows.least[left], tau[right] + ahead - rows.least[r]
    before, after = rows.unit[left], rows.unit[r]
    carry, own, shape = rows.carry[r], rows.carry[left], before
    low, slope = first, 1.0 / (1.0 - own)
    if own > 0.0:
        low += before * own * pace_after(rows, tau, rows.before[left])
    following = rows.carry[right]
    if following > 0.0:
        end = last - after * pace_after(rows, tau, right) / following
        if end > low:
            low, shape = end, rows.unit[right]
            slope = shape * following / after / (1.0 - following)
    high = (last * before + carry * after * first) / (before + carry * after)
    tiny = now.prior.tiny
    late = tiny * (1.0 - carry) / (1.0 + carry * after / before)
    return Between(low, high, (now.prior.shape * shape, now.prior.shape * after), (tiny / slope, late))


@njit(**INLINE)
def _log_end(distance, shape, tiny):
    """log-density of the distance from one end of ``Between``, as ``log_term`` has it."""
    return (shape - 1.0) * math.log(max(distance, tiny)) - (math.log(shape) if distance < tiny else 0.0)


@njit(**INLINE)
def log_split(between, place):
    """log-density of ``draw_split_with_memory`` at a time of the record, up to a constant."""
    early = _log_end(place - between.low, between.shapes[0], between.tiny[0])
    return early + _log_end(between.high - place, between.shapes[1], between.tiny[1])


@njit(**INLINE)
def draw_split_with_memory(now, r, old, shift, rng):
    """A time of row r from a beta distribution between the ends of ``Between``, Eq. (53), and log q(old) / q(new).

    NaN and 0 where the row has no two regular gaps or too little room.
    """
    rows = now.rows
    left, right = rows.before[r], rows.after[r]
    if left < 0 or right < 0 or not (rows.regular[left] and rows.regular[r]):
        return math.nan, 0.0
    between = room_between(now, r, shift)
    room = between.high - between.low
    if not room > LEAST_ROOM * (between.tiny[0] + between.tiny[1]):
        return math.nan, 0.0
    x, y = log_gamma_variate(rng, between.shapes[0]), log_gamma_variate(rng, between.shapes[1])
    low, high = room / (1.0 + math.exp(y - x)), room / (1.0 + math.exp(x - y))
    if low < between.tiny[0]:  # where the density is constant
        low = between.tiny[0] * uniform(rng)
        high = room - low
    elif high < between.tiny[1]:
        high = between.tiny[1] * uniform(rng)
        low = room - high
    place = between.low + low if low < high else between.high - high
    return now.way * place, log_split(between, now.way * old) - log_split(between, place)


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
    spare = excess(now.way * tau[left], now.way * tau[right] + shift, rows.least[k])
    if not spare + step > 0.0:
        return -math.inf, 0.0
    if not rows.regular[k]:
        return 0.0, 0.0
    following = rows.after[k]
    if rows.carry[k] > 0.0 or rows.carry[following] > 0.0:
        logs, change = _stretch_with_memory(now, k, spare / rows.unit[k], step / rows.unit[k])
        if not logs > -math.inf:
            return -math.inf, 0.0
    else:
        unit, change = rows.unit[k], step
        logs = log_term(now.prior, unit, spare + step) - log_term(now.prior, unit, spare)
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
