"""Layers without a date and a value: left out while a method runs, and drawn afterwards given the others.

With depths, the gaps are increments of a process in depth, whose law over an interval is that of the sum over its
parts. Empty layers then change nothing but the number of rows. Without memory, the time between two informative rows is
divided among the steps between them by a Dirichlet distribution, Eq. (8), which is exact. With memory the division is
smoother, Eq. (10).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..records.layers import keep_rows
from .parameters import ALPHA, MEMORY
from .priors import usual_step
from .problem import Problem, build_problem

Array = np.ndarray

#: Steps over memory below which the division by memory would lose all digits: it is even there.
SMALLEST_STEP = 1e-3
#: Rows of a sequence with two neighbouring gaps.
FEWEST_WITH_MEMORY = 3
#: Tells the random numbers of the bridge from those of the chains.
STREAM = 67


def without_empty_layers(problem: Problem, keep: Array) -> Problem:
    """The problem with its rows ``keep`` (N,) only."""
    return build_problem(keep_rows(problem.source, keep[problem.layer]), problem.model)


def has_process(problem: Problem) -> bool:
    """Whether the gaps are increments of a process in depth."""
    return problem.record.depth is not None and problem.model.gaps in ("gamma", "exponential")


def informative(problem: Problem) -> Array:
    """Mask of the rows (N,) that a method has to know: all but empty layers between two gaps of the process.

    Memory is learnt from neighbouring gaps: where the others leave fewer than two of them, empty layers stay.
    """
    record, rows = problem.record, problem.rows
    if not has_process(problem):
        return np.ones(len(record), dtype=bool)
    between = (rows.before >= 0) & (rows.after >= 0) & (rows.block < 0)
    between &= rows.regular & rows.regular[rows.before]
    keep = record.dated | record.measured | ~between
    most = np.bincount(rows.sequence[keep & (rows.sequence >= 0)], minlength=1).max()
    return np.ones(len(record), dtype=bool) if problem.model.memory and most < FEWEST_WITH_MEMORY else keep


def fill(problem: Problem, keep: Array, tau: Array, phi: Array, seed: int) -> Array:
    """Draws (S, N) of all inputs of a problem, from those of its rows ``keep`` (N,), with parameters phi (S, P)."""
    rng, filled = np.random.default_rng([seed, STREAM]), np.empty((len(tau), len(keep)), dtype=tau.dtype)
    filled[:, keep] = tau
    for first, inside, last in _runs(problem, keep):
        gaps = np.array([first, *inside])
        start, stop = _edge(problem, filled, first, np.max), _edge(problem, filled, last, np.min)
        least = problem.rows.least[gaps]
        unit = problem.rows.unit[gaps]
        shares = divide(problem, phi, unit, float(unit.sum()), rng)
        spare = stop - start - least.sum()
        filled[:, inside] = start[:, None] + np.cumsum(least)[:-1] + spare[:, None] * shares
    return filled


def _runs(problem: Problem, keep: Array) -> Iterator[tuple[int, list[int], int]]:
    """The runs of rows that were left out: the row before each, its rows, and the row after it."""
    after = problem.rows.after
    for first in np.flatnonzero(keep & (after >= 0)):
        inside, row = [], int(after[first])
        while not keep[row]:
            inside.append(row)
            row = int(after[row])
        if inside:
            yield int(first), inside, row


def whole_gaps(problem: Problem) -> Array:
    """For the gap after each row (N,), the units of the gap between informative rows that it is a part of."""
    whole = problem.rows.unit.copy()
    for first, inside, _ in _runs(problem, informative(problem)):
        gaps = [first, *inside]
        whole[gaps] = whole[gaps].sum()
    return whole


def _edge(problem: Problem, tau: Array, row: int, of_block: Any) -> Array:
    """Draws of the input of a row, or of the last or first row of its block."""
    block = problem.rows.block
    return of_block(tau[:, block == block[row]], axis=1) if block[row] >= 0 else tau[:, row]


def divide(problem: Problem, phi: Array, unit: Array, whole: float, rng: np.random.Generator) -> Array:
    """Draws of how a gap is divided among steps in depth of these units (n,): cumulated shares (S, n - 1).

    At parameters phi (S, P): a Dirichlet distribution with parameters alpha times unit, Eq. (8), with memory Eq. (10).
    ``whole`` is the units of the gap between informative rows, which the gap may be a part of: with one factor for
    all its parts, it does not matter how often it is divided.
    """
    shape = problem.least_alpha + np.exp(phi[:, ALPHA]) if problem.model.gaps == "gamma" else np.ones(len(phi))
    if problem.model.memory:
        shape = shape * _smoothing(whole, np.exp(phi[:, MEMORY]) / usual_step(problem.record))
    shares, left = np.empty((len(shape), len(unit) - 1)), np.ones(len(shape))
    later = np.cumsum(unit[::-1])[::-1]
    for j in range(len(unit) - 1):
        left = left * (1.0 - rng.beta(shape * unit[j], shape * later[j + 1]))
        shares[:, j] = 1.0 - left
    return shares


def _smoothing(unit: float, memory: Array) -> Array:
    """By how much memory (S,), in units, makes the division of a step in depth more even, Eq. (10)."""
    h = np.maximum(0.5 * unit / memory, SMALLEST_STEP)
    variance = 2.0 * (h + np.expm1(-h)) / h**2 - (np.expm1(-h) / h) ** 2
    return 2.0 / (h * variance)
