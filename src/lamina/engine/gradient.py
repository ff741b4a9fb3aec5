"""The gradient of the likelihood by running the filter backwards (reverse mode), in O(N): Eqs. (22) to (27).

A bar marks the derivative of the log-likelihood in a quantity. With J = I - k h', what later rows contribute shrinks to
what is new in it, so nothing large is ever subtracted: the entry 1 - k_0 of J is y_var / S.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from .filter import Series, State, add_products, begin, copy_state, propagate, sound, update
from .stack import COMPILED, INLINE, congruence_transposed, copy, multiply, multiply_transposed, to_array, zeros
from .statespace import Motion, Transition, fill, mix, start, tangent, unmix_adjoint


def new_store(N: int, d: int, C: int) -> tuple[np.ndarray, np.ndarray]:
    """Arrays for what the forward pass keeps of each row, and for what the reverse pass returns for it.

    Kept: S, e (C), the filtered mean (d, C) and covariance (d, d), and A and Q (d, d) of the step to it, by block.
    Returned: d_tau, d_var, d_Z (C).
    NumPy asks the system for large pages. Allocated in compiled code, from small pages, they would cost as much as the
    filter itself.
    """
    return np.empty((N, store_width.py_func(d, C))), np.empty((N, 2 + C))


@njit(**INLINE)
def store_width(d, C):
    """Numbers that the forward pass keeps of a row."""
    return 1 + C + d * C + 3 * d * d


@njit(**INLINE)
def _save(process, row, S, e, state):
    d, C = len(process.dims), len(process.columns)
    row[0] = S
    for c in range(C):
        row[1 + c] = e[c, 0]
    for i in range(d):
        for c in range(C):
            row[1 + C + i * C + c] = state.m[i, c]
        for j in range(d):
            row[1 + C + d * C + i * d + j] = state.P[i, j]


@njit(**INLINE)
def _restore(process, row, state):
    d, C = len(process.dims), len(process.columns)
    for i in range(d):
        for c in range(C):
            state.m[i, c] = row[1 + C + i * C + c]
        for j in range(d):
            state.P[i, j] = row[1 + C + d * C + i * d + j]


@njit(**INLINE)
def _save_step(process, row, step):
    d, C = len(process.dims), len(process.columns)
    at = 1 + C + d * C + d * d
    for i in range(d):
        for j in range(d):
            row[at + i * d + j] = step.A[i, j]
            row[at + d * d + i * d + j] = step.Q[i, j]


@njit(**INLINE)
def _restore_step(process, row, motion):
    d, C = len(process.dims), len(process.columns)
    at = 1 + C + d * C + d * d
    for i in range(d):
        for j in range(d):
            motion.A[i, j] = row[at + i * d + j]
            motion.Q[i, j] = row[at + d * d + i * d + j]


@njit(**COMPILED)
def forward(process, series, store):
    """The filter, keeping each row in ``store``. Returns log|K| and E (C, C)."""
    dims, columns, time = process.dims, process.columns, series.time
    state = State(zeros(dims, columns), zeros(dims, dims))
    step = Transition(zeros(dims, dims), zeros(dims, dims), zeros(dims, dims))
    e, products = zeros(columns, (0,)), zeros(columns, columns)
    begin(process, state.P)
    log_det = 0.0
    for i in range(len(time)):
        if i > 0:
            fill(process.blocks, time[i] - time[i - 1], step.A, step.Q, 0)
            _save_step(process, store[i], step)
            mix(process.blocks, step.A, step.Q, dims)
            propagate(process, state, step)
        S = update(process, series.Z[i], series.y_var[i], state, e)
        log_det += math.log(S)
        add_products(products, e, S, columns)
        _save(process, store[i], S, e, state)
    return log_det, to_array(products, columns)


@njit(**INLINE)
def _shrink(X, k, kept, dims, columns):
    """X <- J' X with J = I - k h' and kept = 1 - k_0: only the first row changes."""
    for j in range(len(columns)):
        X[0, j] *= kept
        for a in range(1, len(dims)):
            X[0, j] -= k[a, 0] * X[a, j]


@njit(**INLINE)
def _reverse_update(process, y_var, row, P, W, bar, out):
    """The adjoints in ``bar`` pass back through the update of one row, Eq. (23).

    ``row`` is what the forward pass kept of it, P its filtered covariance; out (2 + C,) gets Eq. (24).
    """
    dims, columns = process.dims, process.columns
    d, C = len(dims), len(columns)
    m_bar, P_bar = bar.m, bar.P
    k, direct = zeros(dims, (0,)), zeros(columns, (0,))
    inverse = 1.0 / row[0]
    kept = y_var * inverse
    for a in range(d):
        k[a, 0] = P[a, 0] / y_var
    alone, var_bar = -0.5 * inverse, 0.0
    for c in range(C):
        mk, We = 0.0, 0.0
        for a in range(d):
            mk += m_bar[a, c] * k[a, 0]
        for v in range(C):
            We += W[c, v] * row[1 + v] * inverse
        alone -= We * row[1 + c] * inverse
        var_bar -= mk * row[1 + c] * inverse
        out[2 + c] = 2.0 * We + mk
        direct[c, 0] = 2.0 * We
    for a in range(d):
        for b in range(d):
            var_bar += k[a, 0] * P_bar[a, b] * k[b, 0]
    out[1] = alone + var_bar

    _shrink(P_bar, k, kept, dims, dims)
    _shrink(m_bar, k, kept, dims, columns)
    P_bar[0, 0] *= kept
    for a in range(1, d):
        P_bar[0, 0] -= P_bar[0, a] * k[a, 0]
        P_bar[a, 0] = P_bar[0, a]
    for c in range(C):
        for a in range(d):
            half = 0.5 * m_bar[a, c] * row[1 + c] * inverse
            P_bar[a, 0] += half
            P_bar[0, a] += half
        m_bar[0, c] -= direct[c, 0]
    P_bar[0, 0] += alone


@njit(**INLINE)
def _reverse_step(process, dt, motion, before, bar, d_blocks):
    """The adjoints in ``bar`` pass back over the step dt from the state ``before``, Eq. (25).

    Returns d/d dt and adds the derivatives in the blocks' parameters to d_blocks, Eqs. (26) and (27).
    """
    dims, columns = process.dims, process.columns
    step = Transition(zeros(dims, dims), zeros(dims, dims), zeros(dims, dims))
    step_bar, work_m = Transition(zeros(dims, dims), zeros(dims, dims), step.work), zeros(dims, columns)
    copy(bar.P, step_bar.Q, dims, dims)
    copy(motion.A, step.A, dims, dims)
    copy(motion.Q, step.Q, dims, dims)
    mix(process.blocks, step.A, step.Q, dims)
    multiply(step.A, before.P, step.work, dims, dims, dims)
    multiply(bar.P, step.work, step_bar.A, dims, dims, dims)
    for a in range(len(dims)):
        for b in range(len(dims)):
            step_bar.A[a, b] *= 2.0
            for c in range(len(columns)):
                step_bar.A[a, b] += bar.m[a, c] * before.m[b, c]
    unmix_adjoint(process.blocks, step_bar.A, step_bar.Q, dims)
    slope = tangent(process.blocks, motion, step_bar, dt, d_blocks, 0, 0)
    multiply_transposed(step.A, bar.m, work_m, dims, dims, columns)
    copy(work_m, bar.m, dims, columns)
    congruence_transposed(bar.P, step.A, step.work, bar.P, dims)
    return slope


@njit(**COMPILED)
def reverse(process, series, W, store, out):
    """Adjoint of ``forward`` for L = -½ sum log S + value(E), with W = d value / d E.

    Writes to out (N, 2+C): d_tau with the columns Z held fixed, d_var and d_Z. Returns d_blocks (B, 2): the
    derivatives in log length and log variance of each block.
    """
    blocks, dims, columns, time = process.blocks, process.dims, process.columns, series.time
    N = len(time)
    d_blocks = np.zeros((len(blocks), 2))
    bar, state = State(zeros(dims, columns), zeros(dims, dims)), State(zeros(dims, columns), zeros(dims, dims))
    before = State(zeros(dims, columns), zeros(dims, dims))
    motion = Motion(zeros(dims, dims), zeros(dims, dims), zeros(dims, dims), zeros(dims, dims))
    P_inf, zero = zeros(dims, dims), zeros(dims, dims)
    start(blocks, P_inf, motion.F, motion.noise, zeros(dims, (0,)), 0)
    _restore(process, store[N - 1], state)
    later_slope = 0.0
    for i in range(N - 1, -1, -1):
        _reverse_update(process, series.y_var[i], store[i], state.P, W, bar, out[i])
        if i == 0:
            break
        _restore(process, store[i - 1], before)
        _restore_step(process, store[i], motion)
        slope = _reverse_step(process, time[i] - time[i - 1], motion, before, bar, d_blocks)
        out[i, 0] = slope - later_slope
        later_slope = slope
        copy_state(process, before, state)
    out[0, 0] = -later_slope
    # P_inf depends on the variances alone, as the Q of a step with A = 0 would.
    unmix_adjoint(blocks, zero, bar.P, dims)
    at_rest = Motion(zero, P_inf, motion.F, motion.noise)
    tangent(blocks, at_rest, Transition(zero, bar.P, zero), 0.0, d_blocks, 0, 0)
    return d_blocks


@njit(**COMPILED)
def value_and_gradient(process, tau, y, y_sd, store, out, gradient):
    """log p(y | tau) of a record without trend; its gradient (N + 2B,) in tau and then in theta, in one call.

    theta is log length and log sd of each block. The value is inf, and there is no gradient, unless the numbers are
    ``sound``: one call of compiled code checks and computes.
    """
    N = len(tau)
    if not sound(tau, y, y_sd):
        return math.inf
    y_var = np.empty(N)
    for i in range(N):
        y_var[i] = y_sd[i] * y_sd[i]
    series = Series(tau, y.reshape(-1, 1), y_var)
    log_det, E = forward(process, series, store)
    d_blocks = reverse(process, series, np.full((1, 1), -0.5), store, out)
    for i in range(N):
        gradient[i] = out[i, 0]
    for b in range(len(d_blocks)):
        gradient[N + 2 * b] = d_blocks[b, 0]
        gradient[N + 2 * b + 1] = 2.0 * d_blocks[b, 1]  # log variance = 2 log sd
    return -0.5 * (N * math.log(2.0 * math.pi) + log_det + E[0, 0])
