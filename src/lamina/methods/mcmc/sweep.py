"""One Metropolis-within-Gibbs sweep over the inputs: O(1) a proposal, in merged time order.

Rows of several sequences, rows without order and exact rows interleave in time. The sweep visits *positions* of the
merged order. At each it may propose

    exchange   the two rows at positions p and p+1, of different sequences or of one block, trade places
    reflect    if one of the two is exact, the other jumps to its mirror image beyond it and all that stand at its time
    renew      what stands for the y of a limit, or how much of an outlier the row at position p is (``renewal``)
    move       the row at position p moves between its merged neighbours
    stretch    the gap after position p is scaled and everything later shifts along

Each leaves the posterior invariant, because which move is tried depends on the position and never on the row. A pass of
``backward`` says what later rows know; the filter then runs forward, and every decision is taken where the two meet.

A sweep runs forwards or backwards in time (``way`` = +1 or -1, times negated): the process is reversible, and what
cannot be stretched one way because exact rows lie ahead can be the other way. Under a linear trend, a stretch would
change all later data, and is left out.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ...engine.arrival import look_back, meet, reach, see, through
from ...engine.backward import expand
from ...engine.filter import stationary
from ...engine.stack import FAST, INLINE, copy, unowned, zeros
from ...gaps.spacing import note_totals, spacing, stretching
from ...model.rows import log_date, variance
from .metropolis import TARGET, accept
from .renewal import renew

#: Dates that are not Gaussian are summed up one by one in a stretch. With more of them ahead than this, stretches are
#: tried the less often, so that a sweep stays O(N).
MOST_TABLES = 100


class Tuning(NamedTuple):
    """Proposal scales, adapted in warm-up."""

    move: np.ndarray  #: (N,) standard deviation of a move, by row
    stretch: np.ndarray  #: (2, N) standard deviation of a stretch in log gap, by way and row before the gap


class Work(NamedTuple):
    """Room for one sweep, in the order of its positions."""

    row: np.ndarray  #: (N,)
    time: np.ndarray  #: (N,)
    z: np.ndarray  #: (N, 1) data less trend
    y_var: np.ndarray  #: (N,)
    LD: np.ndarray  #: (N, d, d) what this and later positions know, see ``lamina.engine.backward``
    h: np.ndarray  #: (N, d, 1)
    weight: np.ndarray  #: (N + 1,) sum of 1 / t_var over this and later positions, of Gaussian dates
    pull: np.ndarray  #: (N + 1,) sum of (time - t) / t_var over the same
    open: np.ndarray  #: (N + 1,) no exact row here or later
    table: np.ndarray  #: (N + 1,) the next position, from this one on, whose date is not Gaussian
    tables: np.ndarray  #: (N + 1,) how many there are
    seen: np.ndarray  #: (S,) last row of each sequence that was passed, or -1
    total: np.ndarray  #: (S,) sum over the regular gaps of each sequence, in their units, or over what is new in them


def new_work(N: int, d: int, S: int) -> Work:
    """Arrays for ``sweep``, made once a chain."""
    return Work(
        np.empty(N, np.int64), np.empty(N), np.empty((N, 1)), np.empty(N), np.empty((N, d, d)), np.empty((N, d, 1)),
        np.zeros(N + 1), np.zeros(N + 1), np.ones(N + 1, np.bool_), np.full(N + 1, N), np.zeros(N + 1, np.int64),
        np.empty(S, np.int64), np.empty(S),
    )  # fmt: skip


@njit(**INLINE)
def _data(rows, r, beta, tau):
    """Data of row r less the trend, at input tau."""
    value = rows.base[r, 0] + rows.shift[r] + rows.slope[0] * tau
    for c in range(len(beta)):
        value -= beta[c] * (rows.base[r, c + 1] + rows.slope[c + 1] * tau)
    return value


@njit(**INLINE)
def _moved_date(rows, r, old, new, t_scale, way):
    """log-ratio of the date of row r as its time goes from old to new."""
    return log_date(rows, r, way * new, t_scale)[0] - log_date(rows, r, way * old, t_scale)[0]


@njit(**INLINE)
def _sum_up(rows, work, p, way):
    """Suffix sums of the date terms at position p."""
    r = work.row[p]
    exact = rows.t_var[r] == 0.0
    work.open[p] = work.open[p + 1] and not exact
    work.weight[p] = work.weight[p + 1]
    work.pull[p] = work.pull[p + 1]
    work.table[p] = work.table[p + 1]
    work.tables[p] = work.tables[p + 1]
    if rows.size[r] > 0:
        work.table[p] = p
        work.tables[p] += 1
    elif not exact:
        work.weight[p] += 1.0 / rows.t_var[r]
        work.pull[p] += (work.time[p] - way * rows.t[r]) / rows.t_var[r]


@njit(**INLINE)
def _set(rows, work, p, r, time, beta, y_scale, way):
    """Put row r at position p."""
    work.row[p] = r
    work.time[p] = time
    work.z[p, 0] = _data(rows, r, beta, way * time)
    work.y_var[p] = variance(rows, r, y_scale)


@njit(**INLINE)
def _last_traded(rows, work, p):
    """The q such that the rows at positions p ... q may trade places, or -1.

    Two uncertain rows may, and an uncertain row with all the exact ones that stand at one time next to it, after it or
    before. None of them may be of its own sequence, but for rows of one block.
    """
    N, q = len(work.row), p + 1
    if rows.t_var[work.row[p]] == 0.0:
        if p > 0 and work.time[p - 1] == work.time[p]:
            return -1
        while q < N and work.time[q] == work.time[p] and rows.t_var[work.row[q]] == 0.0:
            q += 1
        if q == N or rows.t_var[work.row[q]] == 0.0:
            return -1
        mover = work.row[q]
    else:
        exact = rows.t_var[work.row[q]] == 0.0
        while exact and q + 1 < N and work.time[q + 1] == work.time[q] and rows.t_var[work.row[q + 1]] == 0.0:
            q += 1
        mover = work.row[p]
    if rows.sequence[mover] >= 0:
        for k in range(p, q + 1):
            other = work.row[k]
            same_block = rows.block[mover] >= 0 and rows.block[other] == rows.block[mover]
            if other != mover and rows.sequence[other] == rows.sequence[mover] and not same_block:
                return -1
    return q


@njit(**INLINE)
def _relink(rows, low, high):
    """The row ``low`` and the one after it in its sequence, ``high``, trade places there."""
    before, after = rows.before[low], rows.after[high]
    rows.before[high], rows.after[high], rows.before[low], rows.after[low] = before, low, high, after
    if before >= 0:
        rows.after[before] = high
    if after >= 0:
        rows.before[after] = low
    rows.unit[low], rows.unit[high] = rows.unit[high], rows.unit[low]
    rows.least[low], rows.least[high] = rows.least[high], rows.least[low]
    rows.regular[low], rows.regular[high] = rows.regular[high], rows.regular[low]


@njit(**INLINE)
def _place(rows, work, p, q, early, between, late, beta, y_scale, way):
    """Give the rows at positions p ... q these times, and the data that belong to them."""
    for k in range(p, q + 1):
        _set(rows, work, k, work.row[k], early if k == p else (late if k == q else between), beta, y_scale, way)


@njit(**INLINE)
def _trade(blocks, dims, both, rows, prior, work, tau, beta, t_scale, y_scale, m, P, p, way, shift, rng):
    """Exchange or reflect the rows at positions p ... q: returns whether. Position p is shifted already, others not."""
    N, q = len(tau), _last_traded(rows, work, p)
    if q < 0:
        return False
    first, last = work.row[p], work.row[q]
    exact_first, exact_last = rows.t_var[first] == 0.0, rows.t_var[last] == 0.0
    old_early, old_late = work.time[p], work.time[q]
    early, late = old_early, old_late + shift
    between = late if exact_last else early
    new_early, new_late = early, late
    if exact_last:  # the other jumps over it
        new_early, new_late = late, 2.0 * late - early
        if q + 1 < N and not new_late < work.time[q + 1] + shift:
            return False
    elif exact_first:
        new_early, new_late = 2.0 * early - late, early
        if p > 0 and not new_early > work.time[p - 1]:
            return False
    # first goes from early to new_late, last from late to new_early
    ratio, change_first, change_last = 0.0, 0.0, 0.0
    same_block = rows.block[first] >= 0 and rows.block[first] == rows.block[last]
    if not exact_first:
        ratio += _moved_date(rows, first, early, new_late, t_scale, way)
    if not exact_last:
        ratio += _moved_date(rows, last, late, new_early, t_scale, way)
    if not exact_first and not same_block:  # in a block the gaps stay, only their owners change
        part, change_first = spacing(rows, prior, work, tau, first, early, new_late, way, shift)
        ratio += part
    if not exact_last and not same_block:
        part, change_last = spacing(rows, prior, work, tau, last, late, new_early, way, shift)
        ratio += part
    if not ratio > -math.inf:
        return False
    ratio -= through(blocks, dims, work, m, P, p, q, shift)
    work.row[p], work.row[q] = last, first
    _place(rows, work, p, q, new_early, between, new_late - shift, beta, y_scale, way)
    ratio += through(blocks, dims, work, m, P, p, q, shift)
    if not accept(rng, ratio):
        work.row[p], work.row[q] = first, last
        _place(rows, work, p, q, old_early, between, old_late, beta, y_scale, way)
        return False
    tau[last], tau[first] = way * work.time[p], way * work.time[q]
    if rows.sequence[first] >= 0:
        work.total[rows.sequence[first]] += change_first
    if rows.sequence[last] >= 0:
        work.total[rows.sequence[last]] += change_last
    if same_block:
        _relink(rows, first if way > 0 else last, last if way > 0 else first)
    Lam, eta, B = zeros(dims, dims), zeros(dims, (0,)), zeros(dims, both)
    if q + 1 < N:
        expand(work.LD[q + 1], work.h[q + 1], Lam, B, dims, ())
        for i in range(len(dims)):
            eta[i, 0] = B[i, len(dims)]
    for k in range(q, p, -1):
        look_back(blocks, dims, both, k, Lam, eta, work)
        _sum_up(rows, work, k, way)
    return True


@njit(**INLINE)
def _stretch(rows, prior, work, tau, t_scale, p, way, shift, scale, rng):
    """Propose to scale the gap after position p, everything later shifting along.

    Returns the shift and the log-ratio of dates, gap prior and proposal, which is -inf where there is no such move.
    """
    gap = work.time[p + 1] + shift - work.time[p]
    if not gap > 0.0:
        return 0.0, -math.inf
    factor = math.exp(scale * rng.standard_normal())
    step = gap * factor - gap
    if not (math.isfinite(step) and gap + step > 0.0):
        return 0.0, -math.inf
    ratio = math.log(factor)
    pull = work.pull[p + 1] + shift * work.weight[p + 1]
    ratio -= step * (pull + 0.5 * step * work.weight[p + 1]) / (t_scale * t_scale)
    for s in range(len(rows.gaps)):
        ratio += stretching(rows, prior, work, tau, s, way, shift, step)[0]
        if not ratio > -math.inf:
            return 0.0, -math.inf
    q = work.table[p + 1]
    while q < len(work.row):
        time = work.time[q] + shift
        ratio += _moved_date(rows, work.row[q], time, time + step, t_scale, way)
        q = work.table[q + 1]
    return step, ratio


@njit(nogil=True, cache=True, **FAST)
def sweep(blocks, dims, both, rows, prior, tuning, rate, work, tau, order, beta, t_scale, y_scale, outliers, way, rng):
    """One sweep over all positions. tau (N,) and order (N,), the rows by time, are updated in place, and so are the
    order of blocks, shift and factor in rows.

    ``both`` is a tuple of length d + 1. ``rate`` > 0 adapts the steps (warm-up only). ``outliers``: see ``renewal``.
    """
    rows, work, tuning = unowned(rows), unowned(work), unowned(tuning)
    tau, order, beta = unowned(tau), unowned(order), unowned(beta)
    N = len(tau)
    mode = 0 if way > 0 else 1
    tilted = rows.slope[0] != 0.0
    for c in range(len(beta)):
        tilted = tilted or rows.slope[c + 1] != 0.0
    for p in range(N):
        r = order[p] if way > 0 else order[N - 1 - p]
        _set(rows, work, p, r, way * tau[r], beta, y_scale, way)
    note_totals(rows, work, tau)
    Lam, eta = zeros(dims, dims), zeros(dims, (0,))
    for p in range(N - 1, -1, -1):
        look_back(blocks, dims, both, p, Lam, eta, work)
        _sum_up(rows, work, p, way)

    # m, P: the state after the rows before p, then after the one at p. next_*: the state on arrival at the position
    # after it. try_*: the same as a proposal has it. What is known of the current state is never computed twice.
    m, P, at_m, at_P = zeros(dims, (0,)), zeros(dims, dims), zeros(dims, (0,)), zeros(dims, dims)
    next_m, next_P, try_m, try_P = zeros(dims, (0,)), zeros(dims, dims), zeros(dims, (0,)), zeros(dims, dims)
    try_next_m, try_next_P = zeros(dims, (0,)), zeros(dims, dims)
    stationary(blocks, P, zeros(dims, dims), zeros(dims, dims), zeros(dims, (0,)), dims)
    copy(P, next_P, dims, dims)
    work.seen[:] = -1
    shift = 0.0
    for p in range(N):
        work.time[p] += shift
        tau[work.row[p]] = way * work.time[p]
        before, last = work.time[p - 1] if p > 0 else 0.0, p == N - 1
        if not last:
            traded = _trade(
                blocks, dims, both, rows, prior, work, tau, beta, t_scale, y_scale, m, P, p, way, shift, rng
            )
            if traded and p > 0:
                reach(blocks, dims, m, P, work.time[p] - before, next_m, next_P)
        r, here = work.row[p], work.time[p]
        after = 0.0 if last else work.time[p + 1] + shift
        stretchable = not last and work.open[p + 1] and not tilted
        if stretchable and work.tables[p + 1] > MOST_TABLES:
            stretchable = rng.random() * work.tables[p + 1] < MOST_TABLES
        if rows.measured[r] and (outliers > 0 or rows.limit[r] != 0):
            renew(blocks, dims, rows, work, next_m, next_P, p, after - here, outliers, rng)
        copy(next_m, at_m, dims, (0,))
        copy(next_P, at_P, dims, dims)
        value, onward = see(dims, work.z[p, 0], work.y_var[p], at_m, at_P), 0.0
        if not last:
            reach(blocks, dims, at_m, at_P, after - here, next_m, next_P)
            if rows.t_var[r] > 0.0 or stretchable:
                onward = meet(dims, next_m, next_P, work, p + 1)
        if rows.t_var[r] > 0.0:
            new = here + tuning.move[r] * rng.standard_normal()
            accepted = 0.0
            if (p == 0 or new > before) and (last or new < after):
                ratio, change = spacing(rows, prior, work, tau, r, here, new, way, shift)
                ratio += _moved_date(rows, r, here, new, t_scale, way)
                z = _data(rows, r, beta, way * new)
                if p == 0:
                    copy(m, try_m, dims, (0,))
                    copy(P, try_P, dims, dims)
                else:
                    reach(blocks, dims, m, P, new - before, try_m, try_P)
                ratio += see(dims, z, work.y_var[p], try_m, try_P) - value
                try_onward = 0.0
                if not last:
                    reach(blocks, dims, try_m, try_P, after - new, try_next_m, try_next_P)
                    try_onward = meet(dims, try_next_m, try_next_P, work, p + 1)
                if accept(rng, ratio + try_onward - onward):
                    accepted, onward = 1.0, try_onward
                    copy(try_m, at_m, dims, (0,))
                    copy(try_P, at_P, dims, dims)
                    copy(try_next_m, next_m, dims, (0,))
                    copy(try_next_P, next_P, dims, dims)
                    work.time[p], work.z[p, 0] = new, z
                    tau[r] = way * new
                    if rows.sequence[r] >= 0:
                        work.total[rows.sequence[r]] += change
            if rate > 0.0:
                tuning.move[r] *= math.exp(rate * (accepted - TARGET))
        copy(at_m, m, dims, (0,))
        copy(at_P, P, dims, dims)
        if rows.sequence[r] >= 0:
            work.seen[rows.sequence[r]] = r
        if stretchable:
            scale, accepted = tuning.stretch[mode, r], 0.0
            step, ratio = _stretch(rows, prior, work, tau, t_scale, p, way, shift, scale, rng)
            if ratio > -math.inf:
                reach(blocks, dims, m, P, after + step - work.time[p], try_next_m, try_next_P)
                ratio += meet(dims, try_next_m, try_next_P, work, p + 1) - onward
                if accept(rng, ratio):
                    for s in range(len(rows.gaps)):
                        work.total[s] += stretching(rows, prior, work, tau, s, way, shift, step)[1]
                    shift, accepted = shift + step, 1.0
                    copy(try_next_m, next_m, dims, (0,))
                    copy(try_next_P, next_P, dims, dims)
            if rate > 0.0:
                tuning.stretch[mode, r] = min(max(scale * math.exp(rate * (accepted - TARGET)), 1e-3), 10.0)
    for p in range(N):
        order[p if way > 0 else N - 1 - p] = work.row[p]
