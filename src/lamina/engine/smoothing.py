"""The curve and its rate at any times, whole or in the parts of a sum: exact means and variances, and joint draws.

What is asked for are functionals H x of the state x, a few at each time (``readouts``): O(N + M). Query points are
merged into the chain as rows that measure nothing. The state predicted from the past is joined with b, what the future
says: no smoother gain, no inverse of a covariance. Draws go forwards in time, each state given the one before it and b,
so that a step of length zero is a step like any other.

The rate f' is a component of the state, never a finite difference.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from .backward import factorise, observe, step_back
from .filter import add_products, predict, stationary, update
from .stack import COMPILED, INLINE, congruence, copy, multiply, to_array, zeros
from .statespace import fill, mix, start


@njit(**COMPILED)
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


@njit(**INLINE)
def _time(tau, at, which):
    return tau[which] if which < len(tau) else at[which - len(tau)]


@njit(**INLINE)
def condition(m, P, G, h, work, dims, columns):
    """m, P <- the state given b as well, one column of G after the other (see ``backward.join``).

    The covariance is updated in the form of Joseph, which keeps the digits of small variances.
    """
    d = len(dims)
    Pg, B = zeros(dims, (0,)), zeros(dims, dims)
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
def readouts(blocks, dims, edges, H):
    """Write into H (R, d) what reads parts of the curve off the state: rows 2b and 2b + 1 the value and rate of part b.

    ``edges`` tells where each part begins, and then d: [0, d] for the whole curve, or the edges of the blocks for each
    kernel of a sum by itself. The first state is the total, so the first part is what the others leave of it. Rows
    that belong to no part are zero; those of a rate that does not exist are NaN.
    """
    rate = zeros(dims, (0,))
    start(blocks, zeros(dims, dims), zeros(dims, dims), zeros(dims, dims), rate, 0)
    for r in range(len(H)):
        for a in range(len(dims)):
            H[r, a] = 0.0
    for b in range(len(edges) - 1):
        H[2 * b, edges[b]] = 1.0
        if b > 0:
            H[0, edges[b]] = -1.0
        for a in range(edges[b], edges[b + 1]):
            H[2 * b + 1, a] = rate[a, 0]


@njit(**COMPILED)
def smooth(blocks, dims, columns, both, tau, Z, y_var, at, H, means, variances):
    """Posterior of H x at sorted times ``at`` (M,), for each column of data.

    H is (R, d); writes means (M, R, C) and variances (M, R). ``both`` is a tuple of length d + C. Returns E as
    ``filter.log_likelihood_terms`` does.
    """
    N, M, d, C = len(tau), len(at), len(dims), len(columns)
    order = merge(tau, at)
    past_means, past_covariances = np.empty((M, d, C)), np.empty((M, d, d))
    m, P, e = zeros(dims, columns), zeros(dims, dims), zeros(columns, (0,))
    products = zeros(columns, columns)
    A, Q, work = zeros(dims, dims), zeros(dims, dims), zeros(dims, dims)
    stationary(blocks, P, zeros(dims, dims), zeros(dims, dims), zeros(dims, (0,)), dims)
    for p in range(N + M):
        now = _time(tau, at, order[p])
        if p > 0:
            predict(blocks, now - _time(tau, at, order[p - 1]), m, P, A, Q, work, dims, columns)
        if order[p] < N:
            S = update(Z[order[p]], y_var[order[p]], m, P, e, dims, columns)
            add_products(products, e, S, columns)
        else:
            copy(m, past_means[order[p] - N], dims, columns)
            copy(P, past_covariances[order[p] - N], dims, dims)

    Lam, eta, G, h = zeros(dims, dims), zeros(dims, columns), zeros(dims, dims), zeros(dims, columns)
    M_, B = zeros(dims, dims), zeros(dims, both)
    for p in range(N + M - 1, -1, -1):
        if p < N + M - 1:
            dt = _time(tau, at, order[p + 1]) - _time(tau, at, order[p])
            step_back(blocks, dt, Lam, eta, A, Q, M_, B, work, dims, columns, both)
        if order[p] < N:
            observe(Z[order[p]], y_var[order[p]], Lam, eta, columns)
            continue
        j = order[p] - N
        copy(past_means[j], m, dims, columns)
        copy(past_covariances[j], P, dims, dims)
        factorise(Lam, eta, G, h, dims, columns)
        condition(m, P, G, h, work, dims, columns)
        for r in range(len(H)):
            for c in range(C):
                means[j, r, c] = 0.0
                for a in range(d):
                    means[j, r, c] += H[r, a] * m[a, c]
            variances[j, r] = 0.0
            for a in range(d):
                for b in range(d):
                    variances[j, r] += H[r, a] * P[a, b] * H[r, b]
    return to_array(products, columns)


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
    """x <- a draw from N(x, C) b: with C = L L', the noise w in x + L w has precision I + L' Lam L."""
    d = len(dims)
    L, R, B, work = zeros(dims, dims), zeros(dims, dims), zeros(dims, dims), zeros(dims, dims)
    w, pull = zeros(dims, (0,)), zeros(dims, (0,))
    _root(C, L, dims)
    multiply(Lam, L, work, dims, dims, dims)
    for i in range(d):
        pull[i, 0] = eta[i, 0]
        for j in range(d):
            pull[i, 0] -= Lam[i, j] * x[j, 0]
            B[i, j] = 1.0 if i == j else 0.0
            for k in range(d):
                B[i, j] += L[k, i] * work[k, j]
    _root(B, R, dims)
    for i in range(d):  # R w = L' pull, then R' w = that + noise
        s = 0.0
        for k in range(i, d):
            s += L[k, i] * pull[k, 0]
        for k in range(i):
            s -= R[i, k] * w[k, 0]
        w[i, 0] = s / R[i, i]
    for i in range(d):
        w[i, 0] += rng.standard_normal()
    for i in range(d - 1, -1, -1):
        for k in range(i + 1, d):
            w[i, 0] -= R[k, i] * w[k, 0]
        w[i, 0] /= R[i, i]
    for i in range(d):
        for k in range(i + 1):
            x[i, 0] += L[i, k] * w[k, 0]


@njit(**COMPILED)
def simulate(blocks, dims, both, tau, z, y_var, at, H, rng, out):
    """Joint draws of H x at sorted times ``at``, into out (n, R, M).

    H is (R, d), ``both`` a tuple of length d + 1, ``rng`` a NumPy Generator.
    """
    N, M, d = len(tau), len(at), len(dims)
    order = merge(tau, at)
    Lams, etas = np.empty((N + M, d, d)), np.empty((N + M, d, 1))
    Lam, eta, P_inf = zeros(dims, dims), zeros(dims, (0,)), zeros(dims, dims)
    A, Q, work, M_, B = (
        zeros(dims, dims),
        zeros(dims, dims),
        zeros(dims, dims),
        zeros(dims, dims),
        zeros(dims, both),
    )
    data, x, moved = zeros((0,), (0,)), zeros(dims, (0,)), zeros(dims, (0,))
    for p in range(N + M - 1, -1, -1):
        if p < N + M - 1:
            dt = _time(tau, at, order[p + 1]) - _time(tau, at, order[p])
            step_back(blocks, dt, Lam, eta, A, Q, M_, B, work, dims, (0,), both)
        if order[p] < N:
            data[0, 0] = z[order[p]]
            observe(data[0], y_var[order[p]], Lam, eta, (0,))
        copy(Lam, Lams[p], dims, dims)
        copy(eta, etas[p], dims, (0,))
    stationary(blocks, P_inf, zeros(dims, dims), zeros(dims, dims), zeros(dims, (0,)), dims)
    for n in range(len(out)):
        for p in range(N + M):
            if p == 0:
                for a in range(d):
                    x[a, 0] = 0.0
                _draw(x, P_inf, Lams[0], etas[0], rng, dims)
            else:
                fill(blocks, _time(tau, at, order[p]) - _time(tau, at, order[p - 1]), A, Q, 0)
                mix(blocks, A, Q, dims)
                multiply(A, x, moved, dims, dims, (0,))
                copy(moved, x, dims, (0,))
                _draw(x, Q, Lams[p], etas[p], rng, dims)
            if order[p] >= N:
                for r in range(len(H)):
                    s = 0.0
                    for a in range(d):
                        s += H[r, a] * x[a, 0]
                    out[n, r, order[p] - N] = s
