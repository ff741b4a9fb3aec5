"""alpha together with the gaps, Eq. (57), given a path of the field: the gaps of one draw leave it little room."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ....engine.noise import standard_normal, uniform
from ....engine.stack import FAST, copy_array
from ....gaps.prior import Exponents, gamma_exponents, log_gaps, sum_gaps
from ....gaps.spread import spread_roots
from ....model.rows import Rows, log_dates
from ..metropolis import TARGET, accept, adapt
from ..spreading import RUNS
from .approximate import Measured, Path, sum_log_rows

#: One row in so many stays: see ``spreading``.
RUN_LENGTHS = np.array(RUNS)


class Shape(NamedTuple):
    """The prior of log(alpha - least)."""

    mean: float
    sd: float
    least: float


class Work(NamedTuple):
    """What the moves are judged on, and scratch."""

    rows: Rows
    gaps: Exponents
    path: Path
    data: Measured
    shape: Shape
    steps: np.ndarray  #: one for each of RUN_LENGTHS
    trial: np.ndarray  #: (N,) scratch
    sums: np.ndarray  #: scratch


@njit(cache=True, **FAST)
def _log_density(work, tau, log_alpha):
    """Of dates, gaps, alpha and, nearly, of the measurements given the path."""
    rows, shape = work.rows, work.shape
    prior = gamma_exponents(shape.least + math.exp(log_alpha), work.gaps)
    sum_gaps(rows, work.gaps, tau, work.sums)
    value = log_dates(rows, tau, 1.0) + log_gaps(rows, prior, work.sums) + sum_log_rows(work.path, work.data, tau)
    return value - 0.5 * ((log_alpha - shape.mean) / shape.sd) ** 2


@njit(nogil=True, cache=True, **FAST)
def move_alpha(work, tau, log_alpha, moves, rate, rng):
    """Moves of alpha with the gaps, tau (N,) in place; ``rate`` > 0 adapts the steps. Returns log_alpha."""
    here, least = _log_density(work, tau, log_alpha), work.shape.least
    for _ in range(moves):
        k = int(uniform(rng) * len(RUN_LENGTHS))
        proposal = log_alpha + work.steps[k] * standard_normal(rng)
        ratio = math.sqrt((least + math.exp(log_alpha)) / (least + math.exp(proposal)))
        skip = int(RUN_LENGTHS[k] * uniform(rng))
        jacobian, accepted = spread_roots(work.rows, tau, ratio, RUN_LENGTHS[k], skip, work.trial), 0.0
        if jacobian > -math.inf:
            there = _log_density(work, work.trial, proposal)
            if accept(rng, jacobian + there - here):
                accepted, here, log_alpha = 1.0, there, proposal
                copy_array(work.trial, tau)
        adapt(work.steps, k, rate, accepted, TARGET)
    return log_alpha
