"""The gradient of the likelihood by running the filter backwards (reverse mode), in O(N).

With the adjoints m_bar, P_bar of a filtered state, the gain k = P_minus h / S, J = I - k h', the weights W = dL/dE of
the trend (W = -1/2 without one) and s = -1 / 2S - e' W e / S², the derivative by S where it enters by itself:

    z_bar = 2 W e / S + m_bar' k,   y_var_bar = s + k' P_bar k - (m_bar' k)' e / S
    m_bar_minus = J' m_bar - h (2 W e / S)'
    P_bar_minus = J' P_bar J + sym(J' m_bar (e / S) h') + h s h'
    A_bar = m_bar_minus m' + 2 P_bar_minus A P,   Q_bar = P_bar_minus
    m_bar <- A' m_bar_minus,   P_bar <- A' P_bar_minus A

since dP = J dP_minus J' and dm = J (dm_minus + dP_minus h e / S). J shrinks what later rows say to what is new in it,
so nothing large is ever subtracted: its entry 1 - k_0 is y_var / S.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from .filter import add_products, propagate, stationary, update
from .stack import COMPILED, INLINE, congruence_transposed, copy, multiply, multiply_transposed, to_array, zeros
from .statespace import fill, mix, start, tangent, unmix_adjoint


def new_store(N: int, d: int, C: int) -> tuple[np.ndarray, np.ndarray]:
    """Room for what the forward pass keeps of each row, and for what the reverse pass returns for it.

    Kept: S, e (C), the filtered mean (d, C) and covariance (d, d), and A and Q (d, d) of the step to it, by block.
    Returned: d_tau, d_var, d_Z (C).
    NumPy asks the system for large pages; with the small ones of compiled code, making them would cost as much as
    the filter itself.
    """
    return np.empty((N, store_width.py_func(d, C))), np.empty((N, 2 + C))


@njit(**INLINE)
def store_width(d, C):
    """Numbers that the forward pass keeps of a row."""
    return 1 + C + d * C + 3 * d * d


@njit(**INLINE)
def _save(row, S, e, m, P, dims, columns):
    d, C = len(dims), len(columns)
    row[0] = S
    for c in range(C):
        row[1 + c] = e[c, 0]
    for i in range(d):
        for c in range(C):
            row[1 + C + i * C + c] = m[i, c]
        for j in range(d):
            row[1 + C + d * C + i * d + j] = P[i, j]


@njit(**INLINE)
def _restore(row, m, P, dims, columns):
    d, C = len(dims), len(columns)
    for i in range(d):
        for c in range(C):
            m[i, c] = row[1 + C + i * C + c]
        for j in range(d):
            P[i, j] = row[1 + C + d * C + i * d + j]


@njit(**INLINE)
def _save_step(row, A, Q, dims, columns):
    d, C = len(dims), len(columns)
    at = 1 + C + d * C + d * d
    for i in range(d):
        for j in range(d):
            row[at + i * d + j] = A[i, j]
            row[at + d * d + i * d + j] = Q[i, j]


@njit(**INLINE)
def _restore_step(row, A, Q, dims, columns):
    d, C = len(dims), len(columns)
    at = 1 + C + d * C + d * d
    for i in range(d):
        for j in range(d):
            A[i, j] = row[at + i * d + j]
            Q[i, j] = row[at + d * d + i * d + j]


@njit(**COMPILED)
def forward(blocks, dims, columns, tau, Z, y_var, store):
    """The filter, keeping each row in ``store``. Returns sum log S and E (C, C)."""
    m, P = zeros(dims, columns), zeros(dims, dims)
    A, Q, work = zeros(dims, dims), zeros(dims, dims), zeros(dims, dims)
    e, products = zeros(columns, (0,)), zeros(columns, columns)
    stationary(blocks, P, zeros(dims, dims), zeros(dims, dims), zeros(dims, (0,)), dims)
    log_det = 0.0
    for i in range(len(tau)):
        if i > 0:
            fill(blocks, tau[i] - tau[i - 1], A, Q, 0)
            _save_step(store[i], A, Q, dims, columns)
            mix(blocks, A, Q, dims)
            propagate(m, P, A, Q, work, dims, columns)
        S = update(Z[i], y_var[i], m, P, e, dims, columns)
        log_det += math.log(S)
        add_products(products, e, S, columns)
        _save(store[i], S, e, m, P, dims, columns)
    return log_det, to_array(products, columns)


@njit(**INLINE)
def _shrink(X, k, kept, dims, columns):
    """X <- J' X with J = I - k h' and kept = 1 - k_0: only the first row changes."""
    for j in range(len(columns)):
        X[0, j] *= kept
        for a in range(1, len(dims)):
            X[0, j] -= k[a, 0] * X[a, j]


@njit(**COMPILED)
def reverse(blocks, dims, columns, tau, y_var, W, store, out):
    """Adjoint of ``forward`` for L = -½ sum log S + value(E), with W = d value / d E.

    Writes to out (N, 2+C): d_tau with the columns Z held fixed, d_var and d_Z. Returns d_blocks (B, 2): the
    derivatives in log length and log variance of each block.
    """
    N, d, C = len(tau), len(dims), len(columns)
    d_blocks = np.zeros((len(blocks), 2))
    m_bar, P_bar, work_m = zeros(dims, columns), zeros(dims, dims), zeros(dims, columns)
    m, P, before_m, before_P = (
        zeros(dims, columns),
        zeros(dims, dims),
        zeros(dims, columns),
        zeros(dims, dims),
    )
    A, Q, mixed_A, mixed_Q = zeros(dims, dims), zeros(dims, dims), zeros(dims, dims), zeros(dims, dims)
    A_bar, Q_bar, work = zeros(dims, dims), zeros(dims, dims), zeros(dims, dims)
    F, noise, P_inf, zero = zeros(dims, dims), zeros(dims, dims), zeros(dims, dims), zeros(dims, dims)
    k, direct = zeros(dims, (0,)), zeros(columns, (0,))
    start(blocks, P_inf, F, noise, zeros(dims, (0,)), 0)
    _restore(store[N - 1], m, P, dims, columns)
    later_slope = 0.0
    for i in range(N - 1, -1, -1):
        # the update of row i
        inverse = 1.0 / store[i, 0]
        kept = y_var[i] * inverse
        for a in range(d):
            k[a, 0] = P[a, 0] / y_var[i]
        alone, var_bar = -0.5 * inverse, 0.0
        for c in range(C):
            mk, We = 0.0, 0.0
            for a in range(d):
                mk += m_bar[a, c] * k[a, 0]
            for v in range(C):
                We += W[c, v] * store[i, 1 + v] * inverse
            alone -= We * store[i, 1 + c] * inverse
            var_bar -= mk * store[i, 1 + c] * inverse
            out[i, 2 + c] = 2.0 * We + mk
            direct[c, 0] = 2.0 * We
        for a in range(d):
            for b in range(d):
                var_bar += k[a, 0] * P_bar[a, b] * k[b, 0]
        out[i, 1] = alone + var_bar

        _shrink(P_bar, k, kept, dims, dims)
        _shrink(m_bar, k, kept, dims, columns)
        P_bar[0, 0] *= kept
        for a in range(1, d):
            P_bar[0, 0] -= P_bar[0, a] * k[a, 0]
            P_bar[a, 0] = P_bar[0, a]
        for c in range(C):
            for a in range(d):
                pull = 0.5 * m_bar[a, c] * store[i, 1 + c] * inverse
                P_bar[a, 0] += pull
                P_bar[0, a] += pull
            m_bar[0, c] -= direct[c, 0]
        P_bar[0, 0] += alone

        copy(P_bar, Q_bar, dims, dims)
        if i == 0:  # P_inf depends on the variances alone, as the Q of a step with A = 0 would
            unmix_adjoint(blocks, zero, Q_bar, dims)
            tangent(blocks, zero, P_inf, F, noise, zero, Q_bar, 0.0, d_blocks, 0, 0)
            out[0, 0] = -later_slope
            break

        # the step from row i - 1
        dt = tau[i] - tau[i - 1]
        _restore(store[i - 1], before_m, before_P, dims, columns)
        _restore_step(store[i], A, Q, dims, columns)
        copy(A, mixed_A, dims, dims)
        copy(Q, mixed_Q, dims, dims)
        mix(blocks, mixed_A, mixed_Q, dims)
        multiply(mixed_A, before_P, work, dims, dims, dims)
        multiply(P_bar, work, A_bar, dims, dims, dims)
        for a in range(d):
            for b in range(d):
                A_bar[a, b] *= 2.0
                for c in range(C):
                    A_bar[a, b] += m_bar[a, c] * before_m[b, c]
        unmix_adjoint(blocks, A_bar, Q_bar, dims)
        slope = tangent(blocks, A, Q, F, noise, A_bar, Q_bar, dt, d_blocks, 0, 0)
        out[i, 0] = slope - later_slope
        later_slope = slope
        multiply_transposed(mixed_A, m_bar, work_m, dims, dims, columns)
        copy(work_m, m_bar, dims, columns)
        congruence_transposed(P_bar, mixed_A, work, P_bar, dims)
        copy(before_m, m, dims, columns)
        copy(before_P, P, dims, dims)
    return d_blocks


@njit(**COMPILED)
def value_and_gradient(blocks, dims, tau, y, y_var, store, out):
    """log p(y | tau) of a record without trend; and what ``reverse`` writes and returns, in one call."""
    log_det, E = forward(blocks, dims, (0,), tau, y.reshape(-1, 1), y_var, store)
    value = -0.5 * (len(tau) * math.log(2.0 * math.pi) + log_det + E[0, 0])
    return value, reverse(blocks, dims, (0,), tau, y_var, np.full((1, 1), -0.5), store, out)
