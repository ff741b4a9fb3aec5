"""alpha, or memory, moves together with the gaps.

The gaps of one draw leave alpha little room, and memory less. Here both move: all gaps between rows that stay become as
irregular as the new value of the parameter implies. ``spread_roots`` does so without memory: the fourth root of a gamma
variable is nearly normal, and is mapped linearly. ``spread`` does so with memory: innovations are raised to a power.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ..engine.logarithms import NOTHING, add_log, log_sum
from ..engine.stack import INLINE, LEAN, copy_array
from .pace import innovation, pace_after

#: Of Newton's method for the time that the gaps of a run fill.
NEWTON_STEPS = 8
#: Where these gaps fill all but so much of it, one step more fills it to the last digit.
ROUNDING = 1e-8


class Spread(NamedTuple):
    """One such move with memory."""

    power: float  #: the innovations are raised to this power
    old_carry: np.ndarray  #: (N,) the carry before; ``rows.carry`` is that after the move
    run: int  #: every ``run``-th row stays, and
    skip: int  #: the count begins with this number


@njit(**INLINE)
def _is_end(rows, r, count, run):
    """Whether a run of gaps ends at row r, which is number ``count``."""
    return rows.after[r] < 0 or not rows.regular[r] or rows.t_var[r] == 0.0 or count % run == 0


@njit(**LEAN)
def spread_roots(rows, tau, ratio, run, skip, trial):
    """Write the new inputs into trial (N,) and return the log-Jacobian, Eq. (57), without memory.

    ``ratio`` is that of the standard deviations of the fourth roots, after to before. Rows stay as in ``spread``.
    Returns -inf where a root would not be positive.
    """
    copy_array(tau, trial)
    log_jacobian = 0.0
    for first in range(len(tau)):
        if rows.sequence[first] < 0 or rows.before[first] >= 0:
            continue
        start, count = first, skip
        while rows.after[start] >= 0:
            if not rows.regular[start]:
                start = rows.after[start]
                continue
            stop, n, mean, offset = _fit_roots(rows, tau, start, count, ratio, run, trial)
            log_jacobian += _set_roots(rows, tau, (start, n), mean, ratio, offset, trial)
            if not log_jacobian > -math.inf:
                return -math.inf
            start = stop
            count += n
    return log_jacobian


@njit(**INLINE)
def _fit_roots(rows, tau, start, count, ratio, run, trial):
    """Write the fourth roots x of the paces of a run, over their mean, into trial, each at the row after its gap.

    Returns the row at which the run stops, its number of gaps, the mean, and the d for which the paces (ratio x + d)⁴
    fill the same time, by Newton's method. It begins above the root, where the time is convex and increases with d.
    """
    stop, n, time, units = start, 0, 0.0, 0.0
    while n == 0 or not _is_end(rows, stop, count + n, run):
        time += rows.unit[stop] * pace_after(rows, tau, stop)
        units += rows.unit[stop]
        n += 1
        stop = rows.after[stop]
    mean, r = time / units, start
    s1, s2, s3, s4 = 0.0, 0.0, 0.0, 0.0
    for _ in range(n):
        x = math.sqrt(math.sqrt(pace_after(rows, tau, r) / mean))
        share, y = rows.unit[r] / units, ratio * x
        y2 = y * y
        s1 += share * y
        s2 += share * y2
        s3 += share * y2 * y
        s4 += share * y2 * y2
        r = rows.after[r]
        trial[r] = x
    offset = 1.0 - s1
    for _ in range(NEWTON_STEPS):
        value = s4 + offset * (4.0 * s3 + offset * (6.0 * s2 + offset * (4.0 * s1 + offset))) - 1.0
        offset -= value / (4.0 * (s3 + offset * (3.0 * s2 + offset * (3.0 * s1 + offset))))
        if abs(value) < ROUNDING:  # and the step just made has squared it
            break
    return stop, n, mean, offset


@njit(**INLINE)
def _set_roots(rows, tau, run, mean, ratio, offset, trial):
    """From the fourth roots in trial to inputs, for a run of gaps (first row, number); returns its log-Jacobian."""
    (start, n), place, old, new = run, tau[run[0]], 0.0, 0.0
    r, logs = start, NOTHING
    for k in range(n):
        after = rows.after[r]
        x = trial[after]
        y = ratio * x + offset
        if not (x > 0.0 and 0.0 < y < math.inf):
            return -math.inf
        y2 = y * y
        old += rows.unit[r] * x * x * x
        new += rows.unit[r] * y2 * y
        logs = add_log(logs, y / x)
        place += rows.least[r] + rows.unit[r] * mean * y2 * y2
        trial[after] = place if k < n - 1 else tau[after]
        r = after
    return (n - 1) * math.log(ratio) + 3.0 * log_sum(logs) + math.log(old / new)


@njit(**LEAN)
def spread(rows, tau, move, trial):
    """Write the new inputs into trial (N,) and return the log-Jacobian, Eq. (58).

    Exact rows stay, and so do gaps that are not regular, the ends of sequences and one row in ``move.run``; between
    those, new gaps are scaled to fill the time. Returns -inf where a number overflows.
    """
    copy_array(tau, trial)
    log_jacobian = 0.0
    for first in range(len(tau)):
        if rows.sequence[first] < 0 or rows.before[first] >= 0:
            continue
        start, count = first, move.skip
        while rows.after[start] >= 0:
            if not rows.regular[start]:
                start = rows.after[start]
                continue
            stop, n, old, new, part = _raise_to_power(rows, tau, move, start, count, trial)
            if not (part > -math.inf and 0.0 < new < math.inf):
                return -math.inf
            log_jacobian += part + (n - 1) * math.log(move.power) - n * math.log(new / old)
            _scale(rows, tau, start, n, old, new, trial)
            trial[stop] = tau[stop]
            start = stop
            count += n
    return log_jacobian


@njit(**INLINE)
def _raise_to_power(rows, tau, move, start, count, trial):
    """Write the paces of a run of gaps, to be scaled, into trial, each at the row after its gap.

    Returns the row at which the run stops, its number of gaps, the sums of unit * pace before and after, and the
    log-Jacobian of each gap by itself. Nothing is carried into the first gap.
    """
    stop, n, old, new, x, y, log_jacobian = start, 0, 0.0, 0.0, 0.0, 0.0, 0.0
    while True:
        now = pace_after(rows, tau, stop)
        was, will = (move.old_carry[stop], rows.carry[stop]) if n > 0 else (0.0, 0.0)
        e = innovation(now, x, was)
        if not e > 0.0:
            return stop, n, old, new, -math.inf
        log_e = math.log(e)
        x, y = now, will * y + (1.0 - will) * math.exp(move.power * log_e)
        log_jacobian += (move.power - 1.0) * log_e
        if will + was > 0.0:
            log_jacobian += math.log((1.0 - will) / (1.0 - was))
        old += rows.unit[stop] * x
        new += rows.unit[stop] * y
        n += 1
        stop = rows.after[stop]
        trial[stop] = y
        if _is_end(rows, stop, count + n, move.run):
            return stop, n, old, new, log_jacobian


@njit(**INLINE)
def _scale(rows, tau, start, n, old, new, trial):
    """From the paces in trial, scaled by old / new, to inputs: for all rows of a run of n gaps but its ends."""
    place, r = tau[start], start
    for _ in range(n - 1):
        right = rows.after[r]
        place += rows.least[r] + rows.unit[r] * trial[right] * old / new
        trial[right] = place
        r = right
