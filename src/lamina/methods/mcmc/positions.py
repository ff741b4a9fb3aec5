"""What the moves of a sweep share: the rows at their *positions*, the places in the merged order of time.

Times in a sweep are way * tau, so that it can run forwards or backwards in time. Positions that it has not reached yet
are still to be shifted by ``shift``, the sum of all stretches made so far.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ...engine.filter import State
from ...engine.local import Line, new_line
from ...engine.stack import INLINE
from ...engine.statespace import Process, blocks_at
from ...gaps.prior import Exponents
from ...model.parameters import T_SCALE, Y_SCALE
from ...model.rows import Rows, data_less_trend, log_date, variance
from ..target import Needs, gap_prior_at
from .levels.window import Proposal, new_proposal
from .metropolis import Moves


class Tuning(NamedTuple):
    """Proposal scales, adapted in warm-up."""

    move: np.ndarray  #: (N,) standard deviation of a move, by row
    stretch: np.ndarray  #: (2, N) standard deviation of a stretch in log gap, by way and row before the gap
    window: np.ndarray  #: (4 or 9, M) of a move of many rows, by its kind (``levels``) and window
    spread: np.ndarray  #: (2, K) of alpha and of memory, when they move together with the gaps
    path: np.ndarray  #: (1,) the leapfrog steps of a path


class Later(NamedTuple):
    """Sums over this and later positions, which make the dates of a stretch O(1), Eq. (52)."""

    weight: np.ndarray  #: (N + 1,) sum of 1 / t_var, of Gaussian dates
    misfit: np.ndarray  #: (N + 1,) sum of (time - t) / t_var, of the same
    open: np.ndarray  #: (N + 1,) no exact row here or later
    table: np.ndarray  #: (N + 1,) the next position, from this one on, whose date is not Gaussian
    tables: np.ndarray  #: (N + 1,) how many there are


class Work(NamedTuple):
    """Arrays for one sweep, made once a chain."""

    row: np.ndarray  #: (N,) the row at each position
    line: Line  #: its time and data, and b
    later: Later
    total: np.ndarray  #: (S,) sum of f of each sequence, see ``gaps.moves``
    passed: np.ndarray  #: (S,) last row of each sequence that was passed, or -1
    proposal: Proposal


class Pass(NamedTuple):
    """One sweep, or one pass over all levels: everything that its moves read and change."""

    process: Process
    rows: Rows
    prior: Exponents
    tau: np.ndarray
    beta: np.ndarray
    tuning: Tuning
    row: np.ndarray
    line: Line
    later: Later
    total: np.ndarray
    passed: np.ndarray
    proposal: Proposal
    t_scale: float
    y_scale: float
    way: int  #: +1 or -1
    needs: Needs
    outliers: int
    moves: Moves
    rate: float  #: of the adaptation of steps, 0 outside warm-up


class States(NamedTuple):
    """The filter around position p."""

    past: State  #: after the rows before p; after the moves at p, also after the row at p
    here: State  #: after the row at p
    ahead: State  #: on arrival at p + 1; before the moves at p, on arrival at p
    trial: State  #: as ``here``, and
    trial_ahead: State  #: as ``ahead``, for a proposal


def new_work(N: int, d: int, S: int) -> Work:
    """For N rows, a state of dimension d and S sequences."""
    later = Later(
        np.zeros(N + 1), np.zeros(N + 1), np.ones(N + 1, np.bool_), np.full(N + 1, N), np.zeros(N + 1, np.int64)
    )
    return Work(np.empty(N, np.int64), new_line(N, d), later, np.empty(S), np.empty(S, np.int64), new_proposal(N, S))


@njit(**INLINE)
def make_pass(target, state, moves, rate, way):
    """A pass over the inputs of a chain in the direction ``way``; ``rate`` > 0 adapts the steps (warm-up only)."""
    work, phi = state.work, state.phi
    process = Process(blocks_at(target.process.blocks, target.factors, phi, 0), target.process.dims, (0,))
    return Pass(
        process, target.rows, gap_prior_at(target, phi), state.tau, state.beta, state.tuning,
        work.row, work.line, work.later, work.total, work.passed, work.proposal,
        math.exp(phi[T_SCALE]), math.exp(phi[Y_SCALE]), way, target.needs, target.outliers, moves, rate,
    )  # fmt: skip


@njit(**INLINE)
def place_all(now, order):
    """Put the rows at their positions."""
    N = len(order)
    for p in range(N):
        r = order[p] if now.way > 0 else order[N - 1 - p]
        place(now, p, r, now.way * now.tau[r])


@njit(**INLINE)
def place(now, p, r, time):
    """Put row r at position p, at this time."""
    now.row[p] = r
    now.line.time[p] = time
    now.line.z[p, 0] = data_less_trend(now.rows, r, now.beta, now.way * time)
    now.line.y_var[p] = variance(now.rows, r, now.y_scale)


@njit(**INLINE)
def date_ratio(now, r, old, new):
    """log-ratio of the date of row r as its time goes from old to new."""
    if now.rows.size[r] == 0:  # Gaussian
        off = 0.5 * (old + new) - now.way * now.rows.t[r]
        return (old - new) * off / (now.rows.t_var[r] * now.t_scale * now.t_scale)
    before = log_date(now.rows, r, now.way * old, now.t_scale)[0]
    return log_date(now.rows, r, now.way * new, now.t_scale)[0] - before


@njit(**INLINE)
def add_to_total(now, r, change):
    """The sum of f of row r's sequence has changed by so much."""
    s = now.rows.sequence[r]
    if s >= 0:
        now.total[s] += change


@njit(**INLINE)
def sum_later(now, p):
    """Write the sums at position p, given those at p + 1."""
    rows, later, r = now.rows, now.later, now.row[p]
    exact = rows.t_var[r] == 0.0
    later.open[p] = later.open[p + 1] and not exact
    later.weight[p] = later.weight[p + 1]
    later.misfit[p] = later.misfit[p + 1]
    later.table[p] = later.table[p + 1]
    later.tables[p] = later.tables[p + 1]
    if rows.size[r] > 0:
        later.table[p] = p
        later.tables[p] += 1
    elif not exact:
        later.weight[p] += 1.0 / rows.t_var[r]
        later.misfit[p] += (now.line.time[p] - now.way * rows.t[r]) / rows.t_var[r]
