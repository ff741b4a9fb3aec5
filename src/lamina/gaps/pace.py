"""The gaps as their prior measures them.

    x_j = (tau[j + 1] - tau[j] - minimum_j) / unit_j     the pace of gap j, Eq. (5)
    x_j = carry_j x_{j-1} + (1 - carry_j) e_j            with memory, e_j is its innovation, Eq. (9)

The prior is one of the innovations. Where nothing is carried over, as everywhere without memory, e_j = x_j.
``rows`` is a ``lamina.model.rows.Rows``; the gap "after row k" lies between k and the next row of its sequence.
"""

from __future__ import annotations

import math

from numba import njit

from ..engine.stack import INLINE, LEAN

#: A carry of 1 would leave no room for an innovation.
MOST_CARRY = 1.0 - 1e-9


@njit(**INLINE)
def excess(earlier, later, minimum):
    """A gap less its minimum."""
    return later - earlier - minimum


@njit(**INLINE)
def innovation(pace, before, carry):
    """The innovation in a gap of this pace, after a gap of the pace ``before``."""
    return (pace - carry * before) / (1.0 - carry)


@njit(**INLINE)
def pace_between(rows, k, earlier, later):
    """The pace of the gap after row k, if its ends stood at these times."""
    return excess(earlier, later, rows.least[k]) / rows.unit[k]


@njit(**INLINE)
def pace_after(rows, tau, k):
    """The pace of the gap after row k."""
    return pace_between(rows, k, tau[k], tau[rows.after[k]])


@njit(**INLINE)
def innovation_after(rows, tau, k):
    """The innovation in the gap after row k."""
    pace = pace_after(rows, tau, k)
    if rows.carry[k] > 0.0:
        return innovation(pace, pace_after(rows, tau, rows.before[k]), rows.carry[k])
    return pace


@njit(**LEAN)
def set_carry(rows, memory):
    """Set how much of the pace carries over from gap to gap, Eq. (9): exp(-distance / memory)."""
    for r in range(len(rows.lag)):
        rows.carry[r] = min(math.exp(-rows.lag[r] / memory), MOST_CARRY)


@njit(**LEAN)
def log_share(rows):
    """sum log(1 - carry): the innovation is that share of its gap, so this is part of the density of the gaps."""
    value = 0.0
    for r in range(len(rows.carry)):
        if rows.carry[r] > 0.0:
            value += math.log(1.0 - rows.carry[r])
    return value
