"""The filter: log p(y | tau, theta) in O(N).

Several columns are filtered with one gain: the gain does not depend on the data, and trend coefficients need the inner
products E = Z' K^-1 Z of all columns Z = [y, X]. The innovations e of the columns give E and log|K|, Eq. (21).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from .logarithms import NOTHING, add_log, log_sum
from .stack import COMPILED, INLINE, LEAN, congruence, copy, linked, zeros
from .statespace import Transition, mix, start, transition


class Series(NamedTuple):
    """Data in the order of time."""

    time: Any  #: (N,)
    Z: Any  #: (N, C) columns of data
    y_var: Any  #: (N,)


class State(NamedTuple):
    """What is known about the state x at one time, given some of the rows: N(m, P)."""

    m: Any  #: (d, C) one mean for each column of data
    P: Any  #: (d, d)


@njit(**INLINE)
def sound(tau, y, y_sd):
    """Whether all numbers are finite, y_sd is positive and tau does not decrease."""
    previous = -math.inf
    for i in range(len(tau)):
        if not (previous <= tau[i] < math.inf and abs(y[i]) < math.inf and 0.0 < y_sd[i] < math.inf):
            return False
        previous = tau[i]
    return tau[0] > -math.inf


@njit(**INLINE)
def copy_state(process, source, target):
    """target = source."""
    copy(source.m, target.m, process.dims, process.columns)
    copy(source.P, target.P, process.dims, process.dims)


@njit(**INLINE)
def stationary(process, P, F, noise, rate):
    """Write P_inf, F, the diffusion and the rate functional, in the basis of the total curve, Eq. (17)."""
    dims = process.dims
    work = zeros(dims, dims)
    start(process.blocks, P, F, noise, rate, 0)
    mix(process.blocks, F, noise, dims)
    mix(process.blocks, work, P, dims)


@njit(**INLINE)
def begin(process, P):
    """Write P_inf, the covariance of the state before any row."""
    dims = process.dims
    stationary(process, P, zeros(dims, dims), zeros(dims, dims), zeros(dims, (0,)))


@njit(**INLINE)
def predict(process, dt, state, step):
    """m <- A m, P <- A P A' + Q over a step dt, Eq. (18); A and Q stay in ``step``."""
    transition(process, dt, step)
    propagate(process, state, step)


@njit(**INLINE)
def propagate(process, state, step):
    """m <- A m, P <- A P A' + Q, Eq. (18)."""
    dims, columns, work = process.dims, process.columns, step.work
    congruence(state.P, step.A, work, state.P, dims)
    for i in range(len(dims)):
        for j in range(len(dims)):
            state.P[i, j] += step.Q[i, j]
    for c in range(len(columns)):
        for i in range(len(dims)):
            s = 0.0
            for k in range(len(dims)):
                s += step.A[i, k] * state.m[k, c]
            work[i, 0] = s
        for i in range(len(dims)):
            state.m[i, c] = work[i, 0]


@njit(**INLINE)
def update(process, z, y_var, state, e):
    """Condition on z = x_0 + N(0, y_var), column by column, Eq. (19): returns S; the innovations go to e (C, 1).

    The row and column of x_0 are scaled by y_var / S, which keeps their digits; a subtraction would not.
    """
    dims, columns = process.dims, process.columns
    m, P = state.m, state.P
    S = P[0, 0] + y_var
    inverse = 1.0 / S
    for c in range(len(columns)):
        e[c, 0] = z[c] - m[0, c]
        for i in range(len(dims)):
            m[i, c] += P[i, 0] * inverse * e[c, 0]
    for i in range(1, len(dims)):
        for j in range(1, i + 1):
            P[i, j] -= P[i, 0] * P[j, 0] * inverse
            P[j, i] = P[i, j]
    kept = y_var * inverse
    for i in range(len(dims)):
        P[i, 0] *= kept
        P[0, i] = P[i, 0]
    return S


@njit(**INLINE)
def add_products(products, e, S, columns):
    """products += e e' / S, Eq. (21)."""
    for c in range(len(columns)):
        for v in range(len(columns)):
            products[c, v] += e[c, 0] * e[v, 0] / S


@njit(**LEAN)
def write_products(process, series, E):
    """Write E = sum e e' / S, Eq. (21), into an array (C, C). Returns log|K| = sum log S."""
    dims, columns = process.dims, process.columns
    state = State(zeros(dims, columns), zeros(dims, dims))
    step = Transition(zeros(dims, dims), zeros(dims, dims), zeros(dims, dims))
    e, products = zeros(columns, (0,)), zeros(columns, columns)
    begin(process, state.P)
    log_det = NOTHING
    for i in range(len(series.time)):
        if i > 0:
            predict(process, series.time[i] - series.time[i - 1], state, step)
        S = update(process, series.Z[i], series.y_var[i], state, e)
        log_det = add_log(log_det, S)
        add_products(products, e, S, columns)
    copy(products, E, columns, columns)
    return log_sum(log_det)


@njit(**COMPILED)
def log_likelihood_terms(process, series):
    """log|K| and E, shape (C, C), Eq. (21)."""
    E = np.empty((len(process.columns), len(process.columns)))
    return write_products(process, series, E), E


linked_log_likelihood_terms = linked(log_likelihood_terms)
