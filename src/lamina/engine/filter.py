"""The filter: log p(y | tau, theta) in O(N).

Several columns are filtered with one gain: the gain does not depend on the data, and trend coefficients need the inner
products E = Z' K^-1 Z of all columns Z = [y, X]. With the innovations e of the columns, E = sum e e' / S, and
log|K| = sum log S.

Shapes: tau (N,), Z (N, C), y_var (N,). ``dims`` and ``columns`` are tuples whose lengths are d and C.
"""

from __future__ import annotations

import math

from numba import njit

from .stack import COMPILED, INLINE, congruence, to_array, zeros
from .statespace import fill, mix, start


@njit(**INLINE)
def stationary(blocks, P, F, noise, rate, dims):
    """Write P_inf, F, the diffusion and the rate functional, in the basis of the total curve."""
    work = zeros(dims, dims)
    start(blocks, P, F, noise, rate, 0)
    mix(blocks, F, noise, dims)
    mix(blocks, work, P, dims)


@njit(**INLINE)
def predict(blocks, dt, m, P, A, Q, work, dims, columns):
    """m <- A m, P <- A P A' + Q, with A and Q of the step dt, which stay in A and Q."""
    fill(blocks, dt, A, Q, 0)
    mix(blocks, A, Q, dims)
    propagate(m, P, A, Q, work, dims, columns)


@njit(**INLINE)
def propagate(m, P, A, Q, work, dims, columns):
    """m <- A m, P <- A P A' + Q."""
    congruence(P, A, work, P, dims)
    for i in range(len(dims)):
        for j in range(len(dims)):
            P[i, j] += Q[i, j]
    for c in range(len(columns)):
        for i in range(len(dims)):
            s = 0.0
            for k in range(len(dims)):
                s += A[i, k] * m[k, c]
            work[i, 0] = s
        for i in range(len(dims)):
            m[i, c] = work[i, 0]


@njit(**INLINE)
def update(z, y_var, m, P, e, dims, columns):
    """Condition on z = x_0 + N(0, y_var), column by column: returns S; the innovations go to e (C, 1).

    The row and column of x_0 are scaled by y_var / S instead of being subtracted from, which keeps their digits.
    """
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
    """products += e e' / S."""
    for c in range(len(columns)):
        for v in range(len(columns)):
            products[c, v] += e[c, 0] * e[v, 0] / S


@njit(**COMPILED)
def log_likelihood_terms(blocks, dims, columns, tau, Z, y_var):
    """sum log S and E = sum e e' / S, shape (C, C)."""
    m, P = zeros(dims, columns), zeros(dims, dims)
    A, Q, work = zeros(dims, dims), zeros(dims, dims), zeros(dims, dims)
    e, products = zeros(columns, (0,)), zeros(columns, columns)
    stationary(blocks, P, zeros(dims, dims), zeros(dims, dims), zeros(dims, (0,)), dims)
    log_det = 0.0
    for i in range(len(tau)):
        if i > 0:
            predict(blocks, tau[i] - tau[i - 1], m, P, A, Q, work, dims, columns)
        S = update(Z[i], y_var[i], m, P, e, dims, columns)
        log_det += math.log(S)
        add_products(products, e, S, columns)
    return log_det, to_array(products, columns)
