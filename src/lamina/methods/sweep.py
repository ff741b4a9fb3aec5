"""One Metropolis-within-Gibbs sweep over the inputs: O(1) a proposal, in merged time order.

Rows of several sequences, rows without order and exact rows interleave in time. The sweep visits *positions* of the
merged order. At each it may propose

    exchange   the two rows at positions p and p+1, of different sequences, trade places
    reflect    if one of the two is exact, the other jumps to its mirror image beyond it and all that stand at its time
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

from ..markov.backward import expand, factorise, join, observe, step_back
from ..markov.filter import predict, stationary, update
from ..stack import FAST, INLINE, copy, unowned, zeros

#: Acceptance rate that the step of a single coordinate is tuned to.
TARGET = 0.44


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
    LD: np.ndarray  #: (N, d, d) what this and later positions know, see ``lamina.markov.backward``
    h: np.ndarray  #: (N, d, 1)
    weight: np.ndarray  #: (N + 1,) sum of 1 / t_var over this and later positions
    pull: np.ndarray  #: (N + 1,) sum of (time - t) / t_var over the same
    open: np.ndarray  #: (N + 1,) no exact row here or later
    seen: np.ndarray  #: (S,) last row of each sequence that was passed, or -1
    ends: np.ndarray  #: (S, 2) times of the first and last row of each sequence


def new_work(N: int, d: int, S: int) -> Work:
    """Arrays for ``sweep``, made once a chain."""
    return Work(
        np.empty(N, np.int64), np.empty(N), np.empty((N, 1)), np.empty(N), np.empty((N, d, d)), np.empty((N, d, 1)),
        np.zeros(N + 1), np.zeros(N + 1), np.ones(N + 1, np.bool_), np.empty(S, np.int64), np.empty((S, 2)),
    )  # fmt: skip


@njit(**INLINE)
def _data(rows, r, beta, tau):
    """Data of row r less the trend, at input tau."""
    value = rows.base[r, 0] + rows.slope[0] * tau
    for c in range(len(beta)):
        value -= beta[c] * (rows.base[r, c + 1] + rows.slope[c + 1] * tau)
    return value


@njit(**INLINE)
def _date(rows, r, tau, t_scale):
    """log N(t_r; tau, t_var), up to a constant."""
    gap = tau - rows.t[r]
    return -0.5 * gap * gap / (rows.t_var[r] * t_scale * t_scale)


@njit(**INLINE)
def _spacing(rows, prior, work, tau, r, time, way, shift):
    """What the gap prior of its own sequence says of row r at ``time``, up to a constant.

    Rows that were passed have their times in ``tau``; later ones are still to be shifted by ``shift``.
    """
    s = rows.sequence[r]
    if s < 0 or rows.gaps[s] == 0:
        return 0.0
    behind = rows.before[r] if way > 0 else rows.after[r]
    ahead = rows.after[r] if way > 0 else rows.before[r]
    value = 0.0
    if behind >= 0:
        gap = time - way * tau[behind]
        if not gap > 0.0:
            return -math.inf
        value += prior.power * math.log(gap)
    if ahead >= 0:
        gap = way * tau[ahead] + shift - time
        if not gap > 0.0:
            return -math.inf
        value += prior.power * math.log(gap)
    if prior.per_gap > 0.0 and (behind < 0 or ahead < 0):
        first = time if behind < 0 else work.ends[s, 0]
        last = time if ahead < 0 else work.ends[s, 1] + shift
        value -= prior.per_gap * rows.gaps[s] * math.log(last - first + prior.floor)
    return value


@njit(**INLINE)
def _reach(blocks, dims, m, P, dt, m_out, P_out):
    """The state at distance dt after m, P, which stay."""
    A, Q, work = zeros(dims, dims), zeros(dims, dims), zeros(dims, dims)
    copy(m, m_out, dims, (0,))
    copy(P, P_out, dims, dims)
    predict(blocks, dt, m_out, P_out, A, Q, work, dims, (0,))


@njit(**INLINE)
def _see(dims, z, y_var, m, P):
    """Condition the state m, P on a row: its log-density."""
    e, data = zeros((0,), (0,)), zeros((0,), (0,))
    data[0, 0] = z
    S = update(data[0], y_var, m, P, e, dims, (0,))
    return -0.5 * (math.log(S) + e[0, 0] * e[0, 0] / S)


@njit(**INLINE)
def _meet(dims, m, P, work, p):
    """log-density of position p and everything later, on arrival at p in the state m, P, which stay."""
    m1, P1 = zeros(dims, (0,)), zeros(dims, dims)
    copy(m, m1, dims, (0,))
    copy(P, P1, dims, dims)
    return join(m1, P1, work.LD[p], work.h[p], dims)


@njit(**INLINE)
def _look_back(blocks, dims, both, p, Lam, eta, work):
    """b at position p, given Lam, eta of b at p + 1 if there is one; Lam and eta are left at p."""
    A, Q, M, B, temp = zeros(dims, dims), zeros(dims, dims), zeros(dims, dims), zeros(dims, both), zeros(dims, dims)
    if p < len(work.time) - 1:
        step_back(blocks, work.time[p + 1] - work.time[p], Lam, eta, A, Q, M, B, temp, dims, (0,), both)
    observe(work.z[p], work.y_var[p], Lam, eta, (0,))
    factorise(Lam, eta, work.LD[p], work.h[p], dims, (0,))


@njit(**INLINE)
def _sum_up(rows, work, p, way):
    """Suffix sums of the date terms at position p."""
    r = work.row[p]
    exact = rows.t_var[r] == 0.0
    work.open[p] = work.open[p + 1] and not exact
    work.weight[p] = work.weight[p + 1]
    work.pull[p] = work.pull[p + 1]
    if not exact:
        work.weight[p] += 1.0 / rows.t_var[r]
        work.pull[p] += (work.time[p] - way * rows.t[r]) / rows.t_var[r]


@njit(**INLINE)
def _set(rows, work, p, r, time, beta, y_scale, way):
    """Put row r at position p."""
    work.row[p] = r
    work.time[p] = time
    work.z[p, 0] = _data(rows, r, beta, way * time)
    work.y_var[p] = rows.y_var[r] * y_scale * y_scale


@njit(**INLINE)
def accept(rng, log_ratio):
    """Metropolis's decision."""
    return log_ratio >= 0.0 or math.log(rng.random()) < log_ratio


@njit(**INLINE)
def _last_traded(rows, work, p):
    """The q such that the rows at positions p ... q may trade places, or -1.

    Two uncertain rows may, and an uncertain row with all the exact ones that stand at one time next to it, after it or
    before. None of them may be of its own sequence.
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
            if work.row[k] != mover and rows.sequence[work.row[k]] == rows.sequence[mover]:
                return -1
    return q


@njit(**INLINE)
def _place(rows, work, p, q, early, between, late, beta, y_scale, way):
    """Give the rows at positions p ... q these times, and the data that belong to them."""
    for k in range(p, q + 1):
        _set(rows, work, k, work.row[k], early if k == p else (late if k == q else between), beta, y_scale, way)


@njit(**INLINE)
def _through(blocks, dims, work, m, P, p, q, shift):
    """log-density of the rows at positions p ... q and of everything later, after the state m, P, which stays."""
    m1, P1 = zeros(dims, (0,)), zeros(dims, dims)
    copy(m, m1, dims, (0,))
    copy(P, P1, dims, dims)
    before, value = work.time[p - 1] if p > 0 else 0.0, 0.0
    for k in range(p, q + 1):
        here = work.time[k] + (shift if k > p else 0.0)
        if k > 0:
            _reach(blocks, dims, m1, P1, here - before, m1, P1)
        value += _see(dims, work.z[k, 0], work.y_var[k], m1, P1)
        before = here
    if q + 1 < len(work.time):
        _reach(blocks, dims, m1, P1, work.time[q + 1] + shift - before, m1, P1)
        value += _meet(dims, m1, P1, work, q + 1)
    return value


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
    ratio = 0.0
    if not exact_first:
        ratio += _date(rows, first, way * new_late, t_scale) - _date(rows, first, way * early, t_scale)
        ratio += _spacing(rows, prior, work, tau, first, new_late, way, shift)
        ratio -= _spacing(rows, prior, work, tau, first, early, way, shift)
    if not exact_last:
        ratio += _date(rows, last, way * new_early, t_scale) - _date(rows, last, way * late, t_scale)
        ratio += _spacing(rows, prior, work, tau, last, new_early, way, shift)
        ratio -= _spacing(rows, prior, work, tau, last, late, way, shift)
    if not ratio > -math.inf:
        return False
    ratio -= _through(blocks, dims, work, m, P, p, q, shift)
    work.row[p], work.row[q] = last, first
    _place(rows, work, p, q, new_early, between, new_late - shift, beta, y_scale, way)
    ratio += _through(blocks, dims, work, m, P, p, q, shift)
    if not accept(rng, ratio):
        work.row[p], work.row[q] = first, last
        _place(rows, work, p, q, old_early, between, old_late, beta, y_scale, way)
        return False
    tau[last], tau[first] = way * work.time[p], way * work.time[q]
    Lam, eta, B = zeros(dims, dims), zeros(dims, (0,)), zeros(dims, both)
    if q + 1 < N:
        expand(work.LD[q + 1], work.h[q + 1], Lam, B, dims, ())
        for i in range(len(dims)):
            eta[i, 0] = B[i, len(dims)]
    for k in range(q, p, -1):
        _look_back(blocks, dims, both, k, Lam, eta, work)
        _sum_up(rows, work, k, way)
    _note_ends(rows, work, first, work.time[q], way)
    _note_ends(rows, work, last, work.time[p], way)
    return True


@njit(**INLINE)
def _note_ends(rows, work, r, time, way):
    """Remember the time of row r if it is at an end of its sequence."""
    s = rows.sequence[r]
    if s >= 0:
        if (rows.before[r] if way > 0 else rows.after[r]) < 0:
            work.ends[s, 0] = time
        if (rows.after[r] if way > 0 else rows.before[r]) < 0:
            work.ends[s, 1] = time


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
        left = work.seen[s]
        if left < 0:
            continue
        right = rows.after[left] if way > 0 else rows.before[left]
        if right < 0:
            continue
        own = way * (tau[right] - tau[left]) + shift
        if not own + step > 0.0:
            return 0.0, -math.inf
        ratio += prior.power * math.log((own + step) / own)
        if prior.per_gap > 0.0:
            span = work.ends[s, 1] + shift - work.ends[s, 0] + prior.floor
            ratio -= prior.per_gap * rows.gaps[s] * math.log((span + step) / span)
    return step, ratio


@njit(nogil=True, cache=True, **FAST)
def sweep(blocks, dims, both, rows, prior, tuning, rate, work, tau, order, beta, t_scale, y_scale, way, rng):
    """One sweep over all positions. tau (N,) and order (N,), the rows by time, are updated in place.

    ``both`` is a tuple of length d + 1. ``rate`` > 0 adapts the steps (warm-up only).
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
        _note_ends(rows, work, r, way * tau[r], way)
    Lam, eta = zeros(dims, dims), zeros(dims, (0,))
    for p in range(N - 1, -1, -1):
        _look_back(blocks, dims, both, p, Lam, eta, work)
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
        _note_ends(rows, work, work.row[p], work.time[p], way)
        before, last = work.time[p - 1] if p > 0 else 0.0, p == N - 1
        if not last:
            traded = _trade(
                blocks, dims, both, rows, prior, work, tau, beta, t_scale, y_scale, m, P, p, way, shift, rng
            )
            if traded and p > 0:
                _reach(blocks, dims, m, P, work.time[p] - before, next_m, next_P)
        r, here = work.row[p], work.time[p]
        after = 0.0 if last else work.time[p + 1] + shift
        stretchable = not last and work.open[p + 1] and not tilted
        copy(next_m, at_m, dims, (0,))
        copy(next_P, at_P, dims, dims)
        value, onward = _see(dims, work.z[p, 0], work.y_var[p], at_m, at_P), 0.0
        if not last:
            _reach(blocks, dims, at_m, at_P, after - here, next_m, next_P)
            if rows.t_var[r] > 0.0 or stretchable:
                onward = _meet(dims, next_m, next_P, work, p + 1)
        if rows.t_var[r] > 0.0:
            new = here + tuning.move[r] * rng.standard_normal()
            accepted = 0.0
            if (p == 0 or new > before) and (last or new < after):
                ratio = _date(rows, r, way * new, t_scale) - _date(rows, r, way * here, t_scale)
                ratio += _spacing(rows, prior, work, tau, r, new, way, shift)
                ratio -= _spacing(rows, prior, work, tau, r, here, way, shift)
                z = _data(rows, r, beta, way * new)
                if p == 0:
                    copy(m, try_m, dims, (0,))
                    copy(P, try_P, dims, dims)
                else:
                    _reach(blocks, dims, m, P, new - before, try_m, try_P)
                ratio += _see(dims, z, work.y_var[p], try_m, try_P) - value
                try_onward = 0.0
                if not last:
                    _reach(blocks, dims, try_m, try_P, after - new, try_next_m, try_next_P)
                    try_onward = _meet(dims, try_next_m, try_next_P, work, p + 1)
                if accept(rng, ratio + try_onward - onward):
                    accepted, onward = 1.0, try_onward
                    copy(try_m, at_m, dims, (0,))
                    copy(try_P, at_P, dims, dims)
                    copy(try_next_m, next_m, dims, (0,))
                    copy(try_next_P, next_P, dims, dims)
                    work.time[p], work.z[p, 0] = new, z
                    tau[r] = way * new
                    _note_ends(rows, work, r, new, way)
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
                _reach(blocks, dims, m, P, after + step - work.time[p], try_next_m, try_next_P)
                ratio += _meet(dims, try_next_m, try_next_P, work, p + 1) - onward
                if accept(rng, ratio):
                    shift, accepted = shift + step, 1.0
                    copy(try_next_m, next_m, dims, (0,))
                    copy(try_next_P, next_P, dims, dims)
            if rate > 0.0:
                tuning.stretch[mode, r] = min(max(scale * math.exp(rate * (accepted - TARGET)), 1e-3), 10.0)
    for p in range(N):
        order[p if way > 0 else N - 1 - p] = work.row[p]
