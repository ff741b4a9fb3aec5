"""The likelihood as a function of one input, or of one gap, in O(1): what a sweep of the sampler evaluates.

Given the filter up to a position in time and b after it (``backward``), moving one input changes two transitions,
Eq. (33), and scaling one gap while everything after it shifts along changes one, Eq. (34). Both are exact.

    predict_to       the state after a step
    condition_on     the state after a row
    log_future       the density of everything later, given the state on arrival
    log_input        the density as a function of one input
    log_gap          the density as a function of one gap
    log_segment      the density of some rows and of everything later
    backward_step    b at one position

All work on one column of data: ``process.columns`` has length 1.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from .backward import Backstep, factorise, join, observe, step_back
from .filter import State, copy_state, predict, update
from .stack import INLINE, zeros
from .statespace import Transition


class Line(NamedTuple):
    """Rows in the order of time, and b at each of them."""

    time: np.ndarray  #: (N,)
    z: np.ndarray  #: (N, 1) data less trend
    y_var: np.ndarray  #: (N,)
    G: np.ndarray  #: (N, d, d) with h: b as ``backward`` keeps it
    h: np.ndarray  #: (N, d, 1)


def new_line(N: int, d: int) -> Line:
    """Arrays for N rows and a state of dimension d."""
    return Line(np.empty(N), np.empty((N, 1)), np.empty(N), np.empty((N, d, d)), np.empty((N, d, 1)))


@njit(**INLINE)
def predict_to(process, state, dt, out):
    """Write the state a step dt after ``state``, Eq. (18), into ``out``, which may be ``state``."""
    dims = process.dims
    copy_state(process, state, out)
    predict(process, dt, out, Transition(zeros(dims, dims), zeros(dims, dims), zeros(dims, dims)))


@njit(**INLINE)
def condition_on(process, z, y_var, state):
    """Condition the state on a row, Eq. (19): returns the row's log-density, up to a constant."""
    e, data = zeros((0,), (0,)), zeros((0,), (0,))
    data[0, 0] = z
    S = update(process, data[0], y_var, state, e)
    return -0.5 * (math.log(S) + e[0, 0] * e[0, 0] / S)


@njit(**INLINE)
def log_future(process, state, line, p):
    """log-density of position p and everything later, given the state on arrival at p, which is not changed."""
    joined = State(zeros(process.dims, (0,)), zeros(process.dims, process.dims))
    copy_state(process, state, joined)
    return join(process, joined, line.G[p], line.h[p])


@njit(**INLINE)
def log_input(process, line, p, dt, z, state, ahead):
    """The two parts of Eq. (33): log-density of position p with the data z, and of everything later a step dt after it.

    ``state`` is that on arrival at p. It is conditioned on the row, and ``ahead`` gets the state on arrival at p + 1.
    """
    own, future = condition_on(process, z, line.y_var[p], state), 0.0
    if p < len(line.time) - 1:
        future = log_gap(process, line, p, dt, state, ahead)
    return own, future


@njit(**INLINE)
def log_gap(process, line, p, dt, state, ahead):
    """log-density of everything after position p, a step dt after the state at p: Eq. (34).

    ``ahead`` gets the state on arrival at p + 1.
    """
    predict_to(process, state, dt, ahead)
    return log_future(process, ahead, line, p + 1)


@njit(**INLINE)
def log_segment(process, line, state, p, q, shift):
    """log-density of positions p ... q and of everything later, given the state at p - 1, which is not changed.

    Positions after p are still to be shifted by ``shift``.
    """
    time, here = line.time, State(zeros(process.dims, (0,)), zeros(process.dims, process.dims))
    copy_state(process, state, here)
    before, value = time[p - 1] if p > 0 else 0.0, 0.0
    for k in range(p, q + 1):
        now = time[k] + (shift if k > p else 0.0)
        if k > 0:
            predict_to(process, here, now - before, here)
        value += condition_on(process, line.z[k, 0], line.y_var[k], here)
        before = now
    if q + 1 < len(time):
        value += log_gap(process, line, q, time[q + 1] + shift - before, here, here)
    return value


@njit(**INLINE)
def log_with_data(process, line, state, p, z, y_var, dt):
    """log-density of position p with other data, and of everything later a step dt after it.

    ``state`` is that on arrival at p, and is not changed.
    """
    here = State(zeros(process.dims, (0,)), zeros(process.dims, process.dims))
    copy_state(process, state, here)
    value = condition_on(process, z, y_var, here)
    if p < len(line.time) - 1:
        value += log_gap(process, line, p, dt, here, here)
    return value


@njit(**INLINE)
def backward_step(process, line, p, later):
    """Write b at position p, given b at p + 1 in ``later`` if there is such a position; ``later`` is left at p."""
    dims = process.dims
    step = Transition(zeros(dims, dims), zeros(dims, dims), zeros(dims, dims))
    scratch = Backstep(step, zeros(dims, dims), zeros(dims, dims + process.columns))
    if p < len(line.time) - 1:
        step_back(process, line.time[p + 1] - line.time[p], later, scratch)
    observe(process, line.z[p], line.y_var[p], later)
    factorise(process, later, line.G[p], line.h[p])
