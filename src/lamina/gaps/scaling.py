"""The gap prior as a scaling needs it: all gaps of some run of one sequence are scaled by one factor.

What is scaled of a gap is its excess over its minimum. A gap that is not regular keeps its size, and so does one that
is tiny (``prior.log_term``); no gap may become tiny, so that the reverse move scales the same gaps. Without memory, f
of each gap is then scaled by the same factor, and three sums over the run give the ratio of the prior. With memory, the
innovations next to the ends of the run change as well: ``sum_from`` evaluates all of them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from numba import njit

from ..engine.stack import INLINE
from .pace import excess, innovation_after
from .prior import log_ratio, log_term


class Run(NamedTuple):
    """Some neighbouring gaps of one sequence."""

    gaps: int  #: how many of them are scaled
    units: float  #: the sum of their units
    spare: float  #: the time that they take, less their minima
    smallest: float  #: the smallest of these times


@njit(**INLINE)
def no_gaps():
    """A run to begin with."""
    return Run(0, 0.0, 0.0, math.inf)


@njit(**INLINE)
def elastic(rows, prior, r, gap):
    """How much of the gap after row r is scaled: its excess over the minimum, or nothing."""
    spare = excess(0.0, gap, rows.least[r])
    return spare if rows.regular[r] and spare >= prior.tiny else 0.0


@njit(**INLINE)
def add_gap(rows, prior, r, gap, run):
    """The run with the gap after row r."""
    spare = elastic(rows, prior, r, gap)
    if not spare > 0.0:
        return run
    return Run(run.gaps + 1, run.units + rows.unit[r], run.spare + spare, min(run.smallest, spare))


@njit(**INLINE)
def can_scale(prior, run, factor):
    """Whether no gap of the run would become tiny."""
    return factor > 0.0 and run.smallest * factor >= prior.tiny


@njit(**INLINE)
def log_jacobian(run, log_factor):
    """Of the scaling of a run with one end fixed, where the other end takes a symmetric step, Eq. (54)."""
    return (run.gaps - 1) * log_factor


@njit(**INLINE)
def scaling_ratio(prior, units, total, runs, factors, logs):
    """log-ratio of one sequence's density as two runs of it are scaled, without memory, and the change of its total.

    ``units`` and ``total`` are the sums of its units and of f, ``logs`` the logarithms of the factors.
    """
    change = (factors[0] - 1.0) * runs[0].spare + (factors[1] - 1.0) * runs[1].spare
    power = (runs[0].units * logs[0] + runs[1].units * logs[1]) * prior.shape
    power += (runs[0].gaps * logs[0] + runs[1].gaps * logs[1]) * prior.extra
    return log_ratio(prior, units, total, power, change), change


@njit(**INLINE)
def sum_from(rows, prior, tau, first, last):
    """Sums of ``log_term`` and f over the gaps after rows first ... last of one sequence. A broken order gives -inf."""
    logs, total, r = 0.0, 0.0, first
    while rows.after[r] >= 0:
        e = innovation_after(rows, tau, r)
        if not e > 0.0:
            return -math.inf, 0.0
        if rows.regular[r]:
            logs += log_term(prior, rows.unit[r], rows.unit[r] * e)
            total += rows.unit[r] * e
        if r == last:
            break
        r = rows.after[r]
    return logs, total
