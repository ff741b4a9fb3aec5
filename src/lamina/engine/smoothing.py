"""The curve and its rate at any times, whole or in the parts of a sum: exact means and variances, and joint draws.

What is computed are functionals H x of the state x, a few at each time (``readouts``): O(N + M). Query times are merged
into the chain as rows without a measurement. The state predicted from the past is joined with b, the information of the
future: no smoother gain, no inverse of a covariance. Draws go forwards in time, each state given the one before it and
b, so that a step of length zero is a step like any other.

The rate f' is a component of the state, never a finite difference.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from .backward import Backstep, Information, factorise, observe, step_back
from .filter import State, add_products, begin, copy_state, predict, update
from .noise import standard_normal
from .stack import COMPILED, INLINE, INLINE_MAKING_ARRAYS, congruence, copy, linked, multiply, to_array, zeros
from .statespace import Transition, start, transition


@njit(**INLINE_MAKING_ARRAYS)
def merge(tau, at):
    """Sorted data times and sorted query times in one order: i < N is row i, N + j is query j. Ties: data first."""
    N, M = len(tau), len(at)
    order = np.empty(N + M, np.int64)
    i = j = 0
    for p in range(N + M):
        if j == M or (i < N and tau[i] <= at[j]):
            order[p] = i
            i += 1
        else:
            order[p] = N + j
            j += 1
    return order


@njit(**INLINE_MAKING_ARRAYS)
def _merged_times(tau, at, order):
    """The times of ``merge``, shape (N + M,)."""
    time = np.empty(len(order))
    for p in range(len(order)):
        time[p] = tau[order[p]] if order[p] < len(tau) else at[order[p] - len(tau)]
    return time


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


@njit(**INLINE_MAKING_ARRAYS)
def _filter_queries(process, series, order, time, past):
    """Write the state at each query, given the rows before it, into ``past``. Returns E of Eq. (21)."""
    dims, columns, N = process.dims, process.columns, len(series.time)
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
    return to_array(products, columns)


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
def smooth(process, series, at, H, means, variances):
    """Posterior of H x at sorted times ``at`` (M,), for each column of data.

    H is (R, d); writes means (M, R, C) and variances (M, R). Returns E as ``filter.log_likelihood_terms`` does.
    """
    dims, columns = process.dims, process.columns
    N, M, d = len(series.time), len(at), len(dims)
    order = merge(series.time, at)
    time = _merged_times(series.time, at, order)
    past = State(np.empty((M, d, len(columns))), np.empty((M, d, d)))
    E = _filter_queries(process, series, order, time, past)

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
        _read(process, state, H, means[j], variances[j])
    return E


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
    order = merge(series.time, at)
    time = _merged_times(series.time, at, order)
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
