"""Windows: the likelihood of a run of positions of the merged order, when many of its rows move at once.

The positions are divided into windows of about one length, from a random offset. The filter runs through a window
with the inputs as they are and as they are proposed, and joins b at the first position after it, Eq. (55). A
pass over all windows costs O(N), whatever their length.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ....engine.backward import Backstep, Information, factorise, join, observe, step_back
from ....engine.filter import State, copy_state, predict, update
from ....engine.local import Line, new_line
from ....engine.logarithms import NOTHING, add_log, log_sum
from ....engine.stack import INLINE, LEAN, zeros
from ....engine.statespace import Transition


class Proposal(NamedTuple):
    """Inputs that are proposed in one window; arrays for all positions."""

    row: np.ndarray  #: (N,) the row at each position
    line: Line  #: its time and data; G and h are not used
    at: np.ndarray  #: (N,) positions of the rows that may move, in the order of time
    time: np.ndarray  #: (N,) the new times of those
    change: np.ndarray  #: (2, S) of the sum of the innovations of each sequence


class Filtered(NamedTuple):
    """The filter around a window."""

    past: State  #: before it
    here: State  #: after it
    trial: State  #: after it, for a proposal


class Window(NamedTuple):
    """Positions start ... stop - 1. Nothing beyond moves."""

    start: int
    stop: int
    step: int  #: the place of its steps in ``Tuning``


def new_proposal(N: int, S: int) -> Proposal:
    """For N rows and S sequences."""
    line = new_line(N, 1)._replace(G=np.empty((0, 1, 1)), h=np.empty((0, 1, 1)))
    return Proposal(np.empty(N, np.int64), line, np.empty(N, np.int64), np.empty(N), np.zeros((2, S)))


def count_windows(N: int, shortest: int, growth: int) -> int:
    """The windows of all levels: about ``shortest`` positions long, and in each further level ``growth`` times that."""
    count, length = 0, shortest
    while length < growth * N:
        count += N // length + 2
        length *= growth
    return count


@njit(**INLINE)
def last_end(N, offset, length):
    """The last position at which a window ends and another begins; 0 if there is one window only.

    The windows end at offset, offset + length, ...; a rest of less than half a length belongs to the last window.
    """
    most = N - (length + 1) // 2
    return offset + (most - offset) // length * length if most >= offset else 0


@njit(**LEAN)
def filter_backward(process, line, offset, length):
    """Write b at the positions where windows end."""
    N, dims = len(line.time), process.dims
    later = Information(zeros(dims, dims), zeros(dims, (0,)))
    step = Transition(zeros(dims, dims), zeros(dims, dims), zeros(dims, dims))
    scratch = Backstep(step, zeros(dims, dims), zeros(dims, dims + process.columns))
    end = last_end(N, offset, length)
    p = N - 1
    while end > 0 and p >= offset:
        if p < N - 1:
            step_back(process, line.time[p + 1] - line.time[p], later, scratch)
        observe(process, line.z[p], line.y_var[p], later)
        if p == end:
            factorise(process, later, line.G[p], line.h[p])
            end -= length
        p -= 1


@njit(**INLINE)
def _filter_row(process, data, p, before, state, scratch, so_far):
    """Filter position p of ``data``, the row before it being at the time ``before``.

    ``so_far`` are the sum of e²/S, and that of log S.
    """
    step, e = scratch
    squares, logs = so_far
    if p > 0:
        predict(process, data.time[p] - before, state, step)
    S = update(process, data.z[p], data.y_var[p], state, e)
    return squares + e[0, 0] * e[0, 0] / S, add_log(logs, S)


@njit(**INLINE)
def _log_later(process, line, stop, before, state, scratch, so_far):
    """The log-density of a window once its rows are filtered, with everything after it."""
    dims, value = process.dims, -0.5 * (so_far[0] + log_sum(so_far[1]))
    if stop == len(line.time):
        return value
    ahead = State(zeros(dims, (0,)), zeros(dims, dims))
    copy_state(process, state, ahead)
    predict(process, line.time[stop] - before, ahead, scratch[0])
    return value + join(process, ahead, line.G[stop], line.h[stop])


@njit(**LEAN)
def log_windows(process, line, data, window, states):
    """log-density of a window and of everything later, Eq. (55), up to a constant: of ``line``, and with ``data``.

    The state after each goes to ``states.here`` and ``states.trial``. ``line`` has b after the window. The rows of both
    are filtered in one loop: each is a chain of operations that wait for one another, and the processor runs two such
    chains in little more than the time of one.
    """
    dims, start, stop = process.dims, window.start, window.stop
    scratch = Transition(zeros(dims, dims), zeros(dims, dims), zeros(dims, dims)), zeros((0,), (0,))
    other = Transition(zeros(dims, dims), zeros(dims, dims), zeros(dims, dims)), zeros((0,), (0,))
    copy_state(process, states.past, states.here)
    copy_state(process, states.past, states.trial)
    old, new = (0.0, NOTHING), (0.0, NOTHING)
    before = now = line.time[start - 1] if start > 0 else 0.0
    for p in range(start, stop):
        old = _filter_row(process, line, p, before, states.here, scratch, old)
        new = _filter_row(process, data, p, now, states.trial, other, new)
        before, now = line.time[p], data.time[p]
    value = _log_later(process, line, stop, before, states.here, scratch, old)
    return value, _log_later(process, line, stop, now, states.trial, other, new)


@njit(**LEAN)
def log_window(process, line, data, window, states):
    """The second of ``log_windows`` alone, where the first is known from a move of the same window before."""
    dims, start, stop = process.dims, window.start, window.stop
    scratch = Transition(zeros(dims, dims), zeros(dims, dims), zeros(dims, dims)), zeros((0,), (0,))
    copy_state(process, states.past, states.trial)
    new, now = (0.0, NOTHING), line.time[start - 1] if start > 0 else 0.0
    for p in range(start, stop):
        new = _filter_row(process, data, p, now, states.trial, scratch, new)
        now = data.time[p]
    return _log_later(process, line, stop, now, states.trial, scratch, new)
