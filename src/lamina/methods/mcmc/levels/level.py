"""Moves at all scales: windows of ever more positions, up to the whole record, with some proposals in each.

One sequence has windows of 4, 8, 16, ... positions. With a few interleaved ones the shortest are longer, because
they would hold too few rows of one sequence, and there is one tent for each sequence (``mcmc.moves_of``).

Single rows pass others (``lone``).

Tents and ramps have the ratio of Eq. (54), warps of Eq. (56), with the likelihood of a window, Eq. (55).

A level of windows costs O(N), and all levels O(N log N). With them, effective draws a sweep do not fall with N.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ....engine.filter import State, begin, copy_state
from ....engine.noise import uniform
from ....engine.stack import INLINE, LEAN, hold, zeros
from ....gaps.moves import sum_innovations
from ....model.rows import data_less_trend
from ..metropolis import TARGET, accept, adapt
from ..positions import add_to_total, make_pass, place_all
from .lone import choose_lone, propose_lone
from .tent import KINDS, choose_members, propose_members
from .warp import choose_positions, propose_warp, settle
from .window import Filtered, Window, filter_backward, last_end, log_window, log_windows

#: Where the steps of lone moves are in ``Tuning.window``: after those of tents and warps.
LONE = 2 * KINDS


@njit(**INLINE)
def _put(now, q, p, time):
    """In the proposal, the row at position p comes to position q, at this time."""
    there = now.proposal.line
    now.proposal.row[q], there.time[q], there.y_var[q] = now.row[p], time, now.line.y_var[p]
    there.z[q, 0] = now.line.z[p, 0]
    if now.needs.tilt is not None:
        there.z[q, 0] = data_less_trend(now.rows, now.row[p], now.beta, time)


@njit(**INLINE)
def _put_in_place(now, window, low, high):
    """Write the proposal of a window in which no row passes another."""
    for p in range(window.start, window.stop):
        _put(now, p, p, now.line.time[p])
    for k in range(low, high + 1):
        p = now.proposal.at[k]
        if p < window.stop:
            _put(now, p, p, now.proposal.time[k])


@njit(**INLINE)
def _merge(wanted, now, window, low, high):
    """Write the proposal of a window: the members with their new times, merged with the rows that stay."""
    if wanted is None:
        _put_in_place(now, window, low, high)
        return
    at, new, old = now.proposal.at, now.proposal.time, now.line.time
    k = skipped = low
    p = window.start
    for q in range(window.start, window.stop):
        while skipped <= high and p == at[skipped]:
            p += 1
            skipped += 1
        if k <= high and at[k] < window.stop and (p >= window.stop or new[k] < old[p]):
            _put(now, q, at[k], new[k])
            k += 1
        else:
            _put(now, q, p, old[p])
            p += 1


@njit(**INLINE)
def _take(now, window):
    """Make the proposal of a window the state."""
    line, there = now.line, now.proposal.line
    for p in range(window.start, window.stop):
        r = now.proposal.row[p]
        now.row[p], now.tau[r] = r, there.time[p]
        line.time[p], line.z[p, 0], line.y_var[p] = there.time[p], there.z[p, 0], there.y_var[p]


@njit(**INLINE)
def _log_both(wanted, now, window, states, value):
    """log-density of a window and of everything later, as it is and as proposed; ``value`` is the first, or NaN."""
    if wanted is None or math.isnan(value):
        return log_windows(now.process, now.line, now.proposal.line, window, states)
    return value, log_window(now.process, now.line, now.proposal.line, window, states)


@njit(**INLINE)
def _decide(now, window, states, value, ratio, rng):
    """Metropolis's decision on the proposal of a window: 1.0 if it is accepted, else 0.0, and ``value`` after it.

    ``ratio`` is that of all but the likelihood, ``value`` the log-density of the window and of everything later, if
    known, or NaN. ``states.here`` is left after the window.
    """
    value, new_value = _log_both(now.needs.trades, now, window, states, value)
    if not accept(rng, ratio + new_value - value):
        return 0.0, value
    _take(now, window)
    copy_state(now.process, states.trial, states.here)
    return 1.0, new_value


@njit(**LEAN)
def _move_members(now, window, states, value, turn, rng):
    """Propose a tent, a ramp or a slide of one sequence; ``value`` as in ``_decide`` is taken and returned."""
    chosen = choose_members(now, window, turn, rng)
    if not chosen.possible or (now.moves.kinds >> chosen.kind) & 1 == 0:
        return value
    steps, accepted = now.tuning.window[chosen.kind], 0.0
    ratio, change = propose_members(now, window, chosen, steps[window.step], rng)
    if ratio > -math.inf:
        first = now.row[now.proposal.at[chosen.low]]
        _merge(now.needs.trades, now, window, chosen.low, chosen.high)
        accepted, value = _decide(now, window, states, value, ratio, rng)
        add_to_total(now, first, accepted * change)
    adapt(steps, window.step, now.rate, accepted, TARGET)
    return value


@njit(**LEAN)
def _move_positions(wanted, now, window, states, value, rng):
    """Propose a warp of all rows of the window, where there may be rows of several sequences. As ``_move_members``."""
    if wanted is None:
        return value
    chosen = choose_positions(now, window, rng)
    if not chosen.possible or (now.moves.kinds >> (KINDS + chosen.kind)) & 1 == 0:
        return value
    steps, accepted = now.tuning.window[KINDS + chosen.kind], 0.0
    ratio = propose_warp(now, chosen, steps[window.step], rng)
    if ratio > -math.inf:
        _put_in_place(now, window, chosen.low, chosen.high)
        accepted, value = _decide(now, window, states, value, ratio, rng)
    settle(now, chosen, accepted)
    adapt(steps, window.step, now.rate, accepted, TARGET)
    return value


@njit(**LEAN)
def _move_lone(wanted, now, window, states, value, rng):
    """Propose to move one row past others. As ``_move_members``."""
    if wanted is None or not choose_lone(now, window, rng):
        return value
    steps, accepted = now.tuning.window[LONE], 0.0
    row = now.row[now.proposal.at[0]]
    ratio, change, stepped = propose_lone(now, window, steps[window.step], rng)
    if ratio > -math.inf:
        _merge(wanted, now, window, 0, 0)
        accepted, value = _decide(now, window, states, value, ratio, rng)
        add_to_total(now, row, accepted * change)
    if stepped:
        adapt(steps, window.step, now.rate, accepted, TARGET)
    return value


@njit(**LEAN)
def _move_level(now, first_step, length, rng):
    """One proposal in each window of a level; its steps begin at ``first_step``."""
    process, dims, line, N = now.process, now.process.dims, now.line, len(now.row)
    offset = (length + 1) // 2 + int(uniform(rng) * length)
    filter_backward(process, line, offset, length)
    last, start, stop, step = last_end(N, offset, length), 0, offset, first_step
    states = Filtered(
        State(zeros(dims, (0,)), zeros(dims, dims)), State(zeros(dims, (0,)), zeros(dims, dims)),
        State(zeros(dims, (0,)), zeros(dims, dims)),
    )  # fmt: skip
    begin(process, states.past.P)
    while start < N:
        window, value = Window(start, stop if stop <= last else N, step), math.nan
        for turn in range(now.moves.tents):
            value = _move_members(now, window, states, value, turn, rng)
        for _ in range(now.moves.warps):
            value = _move_positions(now.needs.trades, now, window, states, value, rng)
        for _ in range(now.moves.lone):
            value = _move_lone(now.needs.trades, now, window, states, value, rng)
        if math.isnan(value):
            log_windows(process, line, line, window, states)
        copy_state(process, states.here, states.past)
        start, stop, step = window.stop, window.stop + length, step + 1


@njit(**LEAN)
def move_levels(target, state, moves, rate, rng):
    """Propose moves in each window of each level."""
    if moves.tents + moves.warps + moves.lone == 0:
        return
    now, N = hold(make_pass(target, state, moves, rate, 1)), len(state.tau)
    place_all(now, state.order)
    sum_innovations(now.rows, now.tau, now.total)
    first_step, length = np.int64(0), moves.shortest  # with a literal 0, _move_level would be compiled twice
    while length < moves.growth * N:
        _move_level(now, first_step, length, rng)
        first_step += N // length + 2
        length *= moves.growth
    for p in range(N):
        state.order[p] = now.row[p]
