"""The curve and its rate at any times, whole or in the parts of a sum: exact means and variances, and joint draws.

What is computed are functionals H x of the state x, a few at each time (``readouts``): O(N + M). Query times are merged
into the chain as rows without a measurement. The state predicted from the past is joined with b, the information of the
future: no smoother gain, no inverse of a covariance. Draws go forwards in time, each state given the one before it and
b, so that a step of length zero is a step like any other.

The rate f' is a component of the state, never a finite difference.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from .backward import Backstep, Information, factorise, observe, step_back
from .filter import State, add_products, begin, copy_state, predict, update
from .noise import standard_normal
from .stack import COMPILED, INLINE, congruence, copy, linked, multiply, zeros
from .statespace import Transition, start, transition


class Smoothed(NamedTuple):
    """What ``smooth`` writes."""

    means: Any  #: (M, R, C)
    variances: Any  #: (M, R)
    E: Any  #: (C, C) of Eq. (21)


class Merged(NamedTuple):
    """Scratch of ``smooth``: N rows and M queries in one order."""

    order: Any  #: (N + M,) i < N is row i, N + j is query j
    time: Any  #: (N + M,)
    past: State  #: (M, d, C) and (M, d, d) at each query, given the rows before it


def new_merged(N: int, M: int, d: int, C: int) -> Merged:
    """Arrays for ``smooth``."""
    return Merged(np.empty(N + M, np.int64), np.empty(N + M), State(np.empty((M, d, C)), np.empty((M, d, d))))


@njit(**INLINE)
def merge(tau, at, order, time):
    """Sorted data times and sorted query times in one order: i < N is row i, N + j is query j. Ties: data first."""
    N, M = len(tau), len(at)
    i = j = 0
    for p in range(N + M):
        if j == M or (i < N and tau[i] <= at[j]):
            order[p], time[p] = i, tau[i]
            i += 1
        else:
            order[p], time[p] = N + j, at[j]
            j += 1


@njit(**INLINE)
def condition(process, state, G, h):
    """m, P <- the state given b as well, one column of G after the other (see ``backward.join``).

    The covariance is updated in Joseph's form, Eq. (40), which keeps the digits of small variances.
    """
    dims, columns = process.dims, process.columns
    d, m, P = len(dims), state.m, state.P
    Pg, B, work = zeros(dims, (0,)), zeros(dims, dims), zeros(dims, dims)
    for k in range(d):
        s = 0.0
        for i in range(d):
            Pg[i, 0] = 0.0
            for j in range(d):
                Pg[i, 0] += P[i, j] * G[j, k]
            s += G[i, k] * Pg[i, 0]
        inverse = 1.0 / (1.0 + s)
        for c in range(len(columns)):
            mu = 0.0
            for i in range(d):
                mu += G[i, k] * m[i, c]
            for i in range(d):
                m[i, c] += Pg[i, 0] * (h[k, c] - mu) * inverse
        for i in range(d):
            for j in range(d):
                B[i, j] = (1.0 if i == j else 0.0) - inverse * Pg[i, 0] * G[j, k]
        congruence(P, B, work, P, dims)
        for i in range(d):
            for j in range(d):
                P[i, j] += inverse * inverse * Pg[i, 0] * Pg[j, 0]


@njit(**COMPILED)
def readouts(process, edges, H):
    """Write into H (R, d) what reads parts of the curve off the state: rows 2b and 2b + 1 the value and rate of part b.

    ``edges`` holds where each part begins, and then d: [0, d] for the whole curve, or the edges of the blocks for each
    kernel of a sum by itself. The first state is the total, so the first part is what the others leave of it. Rows
    that belong to no part are zero; those of a rate that does not exist are NaN.
    """
    dims = process.dims
    rate = zeros(dims, (0,))
    start(process.blocks, zeros(dims, dims), zeros(dims, dims), zeros(dims, dims), rate, 0)
    for r in range(len(H)):
        for a in range(len(dims)):
            H[r, a] = 0.0
    for b in range(len(edges) - 1):
        H[2 * b, edges[b]] = 1.0
        if b > 0:
            H[0, edges[b]] = -1.0
        for a in range(edges[b], edges[b + 1]):
            H[2 * b + 1, a] = rate[a, 0]


@njit(**INLINE)
def _filter_queries(process, series, merged, E):
    """Write the state at each query, given the rows before it, into ``merged``, and E of Eq. (21)."""
    dims, columns, N = process.dims, process.columns, len(series.time)
    order, time, past = merged.order, merged.time, merged.past
    state, e = State(zeros(dims, columns), zeros(dims, dims)), zeros(columns, (0,))
    step, products = Transition(zeros(dims, dims), zeros(dims, dims), zeros(dims, dims)), zeros(columns, columns)
    begin(process, state.P)
    for p in range(len(order)):
        if p > 0:
            predict(process, time[p] - time[p - 1], state, step)
        if order[p] < N:
            S = update(process, series.Z[order[p]], series.y_var[order[p]], state, e)
            add_products(products, e, S, columns)
        else:
            copy_state(process, state, State(past.m[order[p] - N], past.P[order[p] - N]))
    copy(products, E, columns, columns)


@njit(**INLINE)
def _read(process, state, H, mean, variance):
    """Mean (R, C) and variance (R,) of H x, Eq. (41)."""
    d = len(process.dims)
    for r in range(len(H)):
        for c in range(len(process.columns)):
            mean[r, c] = 0.0
            for a in range(d):
                mean[r, c] += H[r, a] * state.m[a, c]
        variance[r] = 0.0
        for a in range(d):
            for b in range(d):
                variance[r] += H[r, a] * state.P[a, b] * H[r, b]


@njit(**COMPILED)
def smooth(process, series, at, H, merged, out):
    """Posterior of H x at sorted times ``at`` (M,), for each column of data, into ``out``. H is (R, d)."""
    dims, columns = process.dims, process.columns
    N, M = len(series.time), len(at)
    order, time, past = merged.order, merged.time, merged.past
    merge(series.time, at, order, time)
    _filter_queries(process, series, merged, out.E)

    later, state = Information(zeros(dims, dims), zeros(dims, columns)), State(zeros(dims, columns), zeros(dims, dims))
    step, G, h = (
        Transition(zeros(dims, dims), zeros(dims, dims), zeros(dims, dims)),
        zeros(dims, dims),
        zeros(dims, columns),
    )
    scratch = Backstep(step, zeros(dims, dims), zeros(dims, dims + columns))
    for p in range(N + M - 1, -1, -1):
        if p < N + M - 1:
            step_back(process, time[p + 1] - time[p], later, scratch)
        if order[p] < N:
            observe(process, series.Z[order[p]], series.y_var[order[p]], later)
            continue
        j = order[p] - N
        copy_state(process, State(past.m[j], past.P[j]), state)
        factorise(process, later, G, h)
        condition(process, state, G, h)
        _read(process, state, H, out.means[j], out.variances[j])


linked_readouts, linked_smooth = linked(readouts), linked(smooth)


@njit(**INLINE)
def _root(X, L, dims):
    """L lower triangular with L L' = X, for a symmetric X that may be singular."""
    for j in range(len(dims)):
        s = X[j, j]
        for k in range(j):
            s -= L[j, k] * L[j, k]
        L[j, j] = math.sqrt(max(s, 0.0))
        for i in range(j + 1, len(dims)):
            s = X[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            L[i, j] = s / L[j, j] if L[j, j] > 0.0 else 0.0


@njit(**INLINE)
def _draw(x, C, Lam, eta, rng, dims):
    """x <- a draw from N(x, C) b, Eq. (42): with C = L L', the noise w in x + L w has precision I + L' Lam L."""
    d = len(dims)
    L, R, B, work = zeros(dims, dims), zeros(dims, dims), zeros(dims, dims), zeros(dims, dims)
    w, residual = zeros(dims, (0,)), zeros(dims, (0,))
    _root(C, L, dims)
    multiply(Lam, L, work, dims, dims, dims)
    for i in range(d):
        residual[i, 0] = eta[i, 0]
        for j in range(d):
            residual[i, 0] -= Lam[i, j] * x[j, 0]
            B[i, j] = 1.0 if i == j else 0.0
            for k in range(d):
                B[i, j] += L[k, i] * work[k, j]
    _root(B, R, dims)
    for i in range(d):  # R w = L' residual, then R' w = that + noise
        s = 0.0
        for k in range(i, d):
            s += L[k, i] * residual[k, 0]
        for k in range(i):
            s -= R[i, k] * w[k, 0]
        w[i, 0] = s / R[i, i]
    for i in range(d):
        w[i, 0] += standard_normal(rng)
    for i in range(d - 1, -1, -1):
        for k in range(i + 1, d):
            w[i, 0] -= R[k, i] * w[k, 0]
        w[i, 0] /= R[i, i]
    for i in range(d):
        for k in range(i + 1):
            x[i, 0] += L[i, k] * w[k, 0]


@njit(**INLINE)
def _information(process, series, order, time, later):
    """Write b at every merged time into ``later``, arrays (N + M, d, d) and (N + M, d, 1)."""
    dims, columns, N = process.dims, process.columns, len(series.time)
    here = Information(zeros(dims, dims), zeros(dims, columns))
    step = Transition(zeros(dims, dims), zeros(dims, dims), zeros(dims, dims))
    scratch = Backstep(step, zeros(dims, dims), zeros(dims, dims + columns))
    for p in range(len(order) - 1, -1, -1):
        if p < len(order) - 1:
            step_back(process, time[p + 1] - time[p], here, scratch)
        if order[p] < N:
            observe(process, series.Z[order[p]], series.y_var[order[p]], here)
        copy(here.Lam, later.Lam[p], dims, dims)
        copy(here.eta, later.eta[p], dims, columns)


@njit(**COMPILED)
def simulate(process, series, at, H, rng, out):
    """Joint draws of H x at sorted times ``at``, into out (n, R, M), for one column of data.

    H is (R, d), ``rng`` a NumPy Generator.
    """
    dims = process.dims
    N, M, d = len(series.time), len(at), len(dims)
    order, time = np.empty(N + M, np.int64), np.empty(N + M)
    merge(series.time, at, order, time)
    later = Information(np.empty((N + M, d, d)), np.empty((N + M, d, 1)))
    _information(process, series, order, time, later)
    P_inf, x, moved = zeros(dims, dims), zeros(dims, (0,)), zeros(dims, (0,))
    step = Transition(zeros(dims, dims), zeros(dims, dims), zeros(dims, dims))
    begin(process, P_inf)
    for n in range(len(out)):
        for p in range(N + M):
            if p == 0:
                for a in range(d):
                    x[a, 0] = 0.0
                _draw(x, P_inf, later.Lam[0], later.eta[0], rng, dims)
            else:
                transition(process, time[p] - time[p - 1], step)
                multiply(step.A, x, moved, dims, dims, (0,))
                copy(moved, x, dims, (0,))
                _draw(x, step.Q, later.Lam[p], later.eta[p], rng, dims)
            if order[p] >= N:
                for r in range(len(H)):
                    s = 0.0
                    for a in range(d):
                        s += H[r, a] * x[a, 0]
                    out[n, r, order[p] - N] = s
