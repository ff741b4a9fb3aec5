"""alpha, or memory, moves together with the gaps.

The gaps of one draw leave alpha little room, and memory less. ``spread`` moves both: all gaps between rows that stay
become as irregular as the new value of the parameter implies.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ..engine.stack import INLINE, LEAN, copy_array
from .pace import innovation, pace_after


class Spread(NamedTuple):
    """One such move."""

    power: float  #: the innovations are raised to this power
    old_carry: np.ndarray  #: (N,) the carry before; ``rows.carry`` is that after the move
    run: int  #: every ``run``-th row stays, and
    skip: int  #: the count begins with this number


@njit(**LEAN)
def spread(rows, tau, move, trial):
    """Write the new inputs into trial (N,) and return the log-Jacobian, Eq. (49).

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
        is_end = rows.after[stop] < 0 or not rows.regular[stop] or rows.t_var[stop] == 0.0
        if is_end or (count + n) % move.run == 0:
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
