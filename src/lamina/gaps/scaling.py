"""The gap prior as a scaling needs it: all gaps of some run of one sequence are scaled by one factor.

What is scaled of a gap is its excess over its minimum. A gap that is not regular keeps its size. Without memory, each
innovation is then scaled by the same factor, and two sums over the run give the ratio of the prior. With memory, the
innovations next to the ends of the run change as well: ``sum_from`` evaluates all of them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from numba import njit

from ..engine.stack import INLINE
from .pace import excess, innovation_after
from .prior import log_ratio


class Run(NamedTuple):
    """Some neighbouring gaps of one sequence."""

    gaps: int  #: how many of them are regular
    room: float  #: the time that they take, less their minima
    total: float  #: sum of their paces


@njit(**INLINE)
def elastic(rows, r, gap):
    """How much of the gap after row r is scaled: its excess over the minimum, or nothing."""
    return excess(0.0, gap, rows.least[r]) if rows.regular[r] else 0.0


@njit(**INLINE)
def add_gap(rows, r, gap, run):
    """The run with the gap after row r."""
    if not rows.regular[r]:
        return run
    room = elastic(rows, r, gap)
    return Run(run.gaps + 1, run.room + room, run.total + room / rows.unit[r])


@njit(**INLINE)
def log_jacobian(run, log_factor):
    """Of the scaling of a run with one end fixed, where the other end takes a symmetric step, Eq. (61)."""
    return (run.gaps - 1) * log_factor


@njit(**INLINE)
def scaling_ratio(prior, n, total, runs, factors, logs):
    """log-ratio of one sequence's density as two runs of it are scaled, without memory, and the change of its total.

    n and total are the number and the sum of its innovations, ``logs`` the logarithms of the factors.
    """
    change = (factors[0] - 1.0) * runs[0].total + (factors[1] - 1.0) * runs[1].total
    return log_ratio(prior, n, total, runs[0].gaps * logs[0] + runs[1].gaps * logs[1], change), change


@njit(**INLINE)
def sum_from(rows, tau, first, last):
    """Sums of log e and of e over the gaps after the rows first ... last of one sequence. A broken order gives -inf."""
    logs, total, r = 0.0, 0.0, first
    while rows.after[r] >= 0:
        e = innovation_after(rows, tau, r)
        if not e > 0.0:
            return -math.inf, 0.0
        if rows.regular[r]:
            logs += math.log(e)
            total += e
        if r == last:
            break
        r = rows.after[r]
    return logs, total
