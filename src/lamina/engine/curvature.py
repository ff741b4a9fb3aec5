"""Second derivatives of log p(y | tau).

In the log-gaps of one sequence the whole diagonal of the Hessian costs O(N): as a function of one gap, log p joins a
predicted state with b, and prediction obeys dm/dt = F m, dP/dt = F P + P F' + noise. Where sequences and exact
rows interleave, a log-gap moves rows that are not contiguous, and ``along`` gives the second derivative in one
direction in O(N): N of them are O(N²).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from .backward import Information, expand
from .filter import State, predict, stationary, update
from .stack import COMPILED, INLINE, congruence, copy, multiply, solve, zeros
from .statespace import Motion, Process, Transition


class Response(NamedTuple):
    """How later rows respond to the predicted state, Eq. (36); u stands for data equal to 1 in all later rows."""

    R: Any  #: (d, d)
    v: Any  #: (d, C)
    w: Any  #: (d, C)
    eta_u: Any  #: (d, 1)
    v_u: Any  #: (d, 1)


class Tilt(NamedTuple):
    """What a shift of all later rows does to their data, Eq. (38)."""

    slope: Any  #: (C,) derivative of each column of Z in the time of its row
    uKZ: Any  #: (C, 1) u' K^-1 Z
    v_uw: Any  #: (C, 1) v_u' w


@njit(**INLINE)
def _lyapunov(F, X, out, dims):
    """out = F X + X F' for a symmetric X."""
    d = len(dims)
    for i in range(d):
        for j in range(i + 1):
            s = 0.0
            for k in range(d):
                s += F[i, k] * X[k, j] + X[i, k] * F[j, k]
            out[i, j] = s
            out[j, i] = s


@njit(**INLINE)
def _inner(X, Y, rows, columns):
    """sum of X Y, elementwise: tr(X' Y)."""
    s = 0.0
    for i in range(len(rows)):
        for j in range(len(columns)):
            s += X[i, j] * Y[i, j]
    return s


@njit(**INLINE)
def _differentiate(process, motion, state, first, second):
    """First and second derivatives of the predicted state in the gap before it, Eq. (35)."""
    dims, columns, F = process.dims, process.columns, motion.F
    multiply(F, state.m, first.m, dims, dims, columns)
    multiply(F, first.m, second.m, dims, dims, columns)
    _lyapunov(F, state.P, first.P, dims)
    for a in range(len(dims)):
        for b in range(len(dims)):
            first.P[a, b] += motion.noise[a, b]
    _lyapunov(F, first.P, second.P, dims)


@njit(**INLINE)
def _respond(process, state, first, G, h, out):
    """Write Eq. (36), given b of the next row for the columns [Z, 1] as G and h."""
    dims, columns, wide = process.dims, process.columns, (*process.columns, 0)
    d, C = len(dims), len(columns)
    later = Information(zeros(dims, dims), zeros(dims, wide))
    M, B, P1v = zeros(dims, dims), zeros(dims, dims + wide), zeros(dims, columns)
    expand(Process(process.blocks, dims, wide), G, h, later)
    multiply(later.Lam, state.P, M, dims, dims, dims)
    # (I + Lam P)^-1 [Lam, eta - Lam m, eta of unit data + Lam h: b of that column is a function of x - h]
    for a in range(d):
        M[a, a] += 1.0
        out.eta_u[a, 0] = later.eta[a, C]
        B[a, d + C] = later.eta[a, C] + later.Lam[a, 0]
        for c in range(C):
            B[a, d + c] = later.eta[a, c]
        for b in range(d):
            B[a, b] = later.Lam[a, b]
            for c in range(C):
                B[a, d + c] -= later.Lam[a, b] * state.m[b, c]
    solve(M, B, dims, dims + wide)
    for a in range(d):
        out.v_u[a, 0] = B[a, d + C]
        for b in range(d):
            out.R[a, b] = 0.5 * (B[a, b] + B[b, a])
        for c in range(C):
            out.v[a, c] = B[a, d + c]
    multiply(first.P, out.v, P1v, dims, dims, columns)
    for a in range(d):
        for c in range(C):
            out.w[a, c] = first.m[a, c] + P1v[a, c]


@njit(**INLINE)
def _tilt(process, state, response, constants, tilt):
    """Write u' K^-1 Z and v_u' w into ``tilt`` and return u' K^-1 u, Eq. (38)."""
    d, C = len(process.dims), len(process.columns)
    P, eta_u, v_u = state.P, response.eta_u, response.v_u
    uKu = constants[C, C] + v_u[0, 0]
    for a in range(d):
        x_u = -1.0 if a == 0 else 0.0  # the state given u as data, less h
        for b in range(d):
            x_u += P[a, b] * v_u[b, 0]
        uKu -= eta_u[a, 0] * x_u
    for c in range(C):
        tilt.uKZ[c, 0], tilt.v_uw[c, 0] = constants[c, C] + response.v[0, c], 0.0
        for a in range(d):
            tilt.v_uw[c, 0] += v_u[a, 0] * response.w[a, c]
            tilt.uKZ[c, 0] -= eta_u[a, 0] * state.m[a, c]
            for b in range(d):
                tilt.uKZ[c, 0] -= eta_u[a, 0] * P[a, b] * response.v[b, c]
    return uKu


@njit(**INLINE)
def _write_products(process, response, tilt, uKu, first, second, out):
    """E_1 and E_2 into out (2, C, C), Eqs. (37) and (38)."""
    dims, columns, v, w = process.dims, process.columns, response.v, response.w
    Rw, P1v, P2v = zeros(dims, columns), zeros(dims, columns), zeros(dims, columns)
    multiply(first.P, v, P1v, dims, dims, columns)
    multiply(second.P, v, P2v, dims, dims, columns)
    multiply(response.R, w, Rw, dims, dims, columns)
    m1, m2, slope = first.m, second.m, tilt.slope
    for c in range(len(columns)):
        for k in range(len(columns)):
            E1 = slope[k] * tilt.uKZ[c, 0] + slope[c] * tilt.uKZ[k, 0]
            E2 = 2.0 * (slope[c] * slope[k] * uKu - slope[k] * tilt.v_uw[c, 0] - slope[c] * tilt.v_uw[k, 0])
            for a in range(len(dims)):
                E1 -= v[a, c] * (m1[a, k] + P1v[a, k]) + m1[a, c] * v[a, k]
                E2 -= v[a, c] * (m2[a, k] + P2v[a, k]) + m2[a, c] * v[a, k] - 2.0 * w[a, c] * Rw[a, k]
            out[0, c, k] = E1
            out[1, c, k] = E2


@njit(**COMPILED)
def gap_derivatives(process, series, slope, Gs, hs, constants):
    """First and second derivatives of log|K| and E = Z' K^-1 Z in each gap, all later rows shifting along.

    Eqs. (37) and (38). slope (C,): derivative of each column of Z in the time of its row. Gs, hs (N, d, C+1) and
    constants (N, C+1, C+2) are from ``backward`` with the columns [Z, 1] and the references [0, 1]. Returns log_det
    (N-1, 2) and products (N-1, 2, C, C).
    """
    dims, columns, time = process.dims, process.columns, series.time
    N, C = len(time), len(columns)
    log_det, products = np.empty((max(N - 1, 0), 2)), np.empty((max(N - 1, 0), 2, C, C))
    state, first = State(zeros(dims, columns), zeros(dims, dims)), State(zeros(dims, columns), zeros(dims, dims))
    second, RP1, e = State(zeros(dims, columns), zeros(dims, dims)), zeros(dims, dims), zeros(columns, (0,))
    step = Transition(zeros(dims, dims), zeros(dims, dims), zeros(dims, dims))
    motion = Motion(step.A, step.Q, zeros(dims, dims), zeros(dims, dims))
    response = Response(
        zeros(dims, dims), zeros(dims, columns), zeros(dims, columns), zeros(dims, (0,)), zeros(dims, (0,))
    )
    tilt = Tilt(slope, zeros(columns, (0,)), zeros(columns, (0,)))
    stationary(process, state.P, motion.F, motion.noise, zeros(dims, (0,)))
    for i in range(N - 1):
        update(process, series.Z[i], series.y_var[i], state, e)
        predict(process, time[i + 1] - time[i], state, step)
        _differentiate(process, motion, state, first, second)
        _respond(process, state, first, Gs[i + 1], hs[i + 1], response)
        uKu = _tilt(process, state, response, constants[i + 1], tilt)
        multiply(response.R, first.P, RP1, dims, dims, dims)
        log_det[i, 0] = _inner(response.R, first.P, dims, dims)
        log_det[i, 1] = _inner(response.R, second.P, dims, dims)
        for a in range(len(dims)):
            for b in range(len(dims)):
                log_det[i, 1] -= RP1[a, b] * RP1[b, a]
        _write_products(process, response, tilt, uKu, first, second, products[i])
    return log_det, products


@njit(**INLINE)
def _product(a0, a1, a2, b0, b1, b2):
    """Value and first two derivatives of a product."""
    return a0 * b0, a1 * b0 + a0 * b1, a2 * b0 + 2.0 * a1 * b1 + a0 * b2


@njit(**INLINE)
def _step_along(process, rate, motion, state, first, second):
    """Derivatives of the predicted state, where the step grows at ``rate``; the state itself is predicted already."""
    dims, F = process.dims, motion.F
    d, m1, m2, P1, P2 = len(dims), first.m, second.m, first.P, second.P
    X, Y, work, x = zeros(dims, dims), zeros(dims, dims), zeros(dims, dims), zeros(dims, (0,))
    # m: m'' = A m'' + 2 rate F A m' + rate² F² m, and m' = A m' + rate F m
    multiply(motion.A, m2, x, dims, dims, (0,))
    copy(x, m2, dims, (0,))
    multiply(motion.A, m1, x, dims, dims, (0,))
    copy(x, m1, dims, (0,))
    for a in range(d):
        for k in range(d):
            m2[a, 0] += 2.0 * rate * F[a, k] * m1[k, 0]
    multiply(F, state.m, x, dims, dims, (0,))
    for a in range(d):
        m1[a, 0] += rate * x[a, 0]
        for k in range(d):
            m2[a, 0] += rate * rate * F[a, k] * x[k, 0]
    # P: the same with the Lyapunov operator in the place of F
    congruence(P2, motion.A, work, P2, dims)
    congruence(P1, motion.A, work, P1, dims)
    _lyapunov(F, P1, X, dims)
    _lyapunov(F, state.P, Y, dims)
    for a in range(d):
        for b in range(d):
            P2[a, b] += 2.0 * rate * X[a, b]
            Y[a, b] += motion.noise[a, b]
            P1[a, b] += rate * Y[a, b]
    _lyapunov(F, Y, X, dims)
    for a in range(d):
        for b in range(d):
            P2[a, b] += rate * rate * X[a, b]


@njit(**INLINE)
def _update_along(process, z, z1, y_var, state, first, second):
    """Condition the state and its derivatives on z, whose derivative is z1: first and second of the log-density."""
    d, m, m1, m2 = len(process.dims), state.m, first.m, second.m
    P, P1, P2 = state.P, first.P, second.P
    g0, g1, g2 = zeros(process.dims, (0,)), zeros(process.dims, (0,)), zeros(process.dims, (0,))
    S = P[0, 0] + y_var
    e0, e1, e2 = z - m[0, 0], z1 - m1[0, 0], -m2[0, 0]
    r0, r1, r2 = 1.0 / S, -P1[0, 0] / S**2, 2.0 * P1[0, 0] ** 2 / S**3 - P2[0, 0] / S**2
    f0, f1, f2 = _product(e0, e1, e2, r0, r1, r2)
    value1 = -0.5 * (P1[0, 0] / S + e1 * f0 + e0 * f1)
    value2 = -0.5 * (P2[0, 0] / S - (P1[0, 0] / S) ** 2 + e2 * f0 + 2.0 * e1 * f1 + e0 * f2)
    for a in range(d):
        g0[a, 0], g1[a, 0], g2[a, 0] = P[a, 0], P1[a, 0], P2[a, 0]
    for a in range(d):
        k0, k1, k2 = _product(g0[a, 0], g1[a, 0], g2[a, 0], r0, r1, r2)
        c0, c1, c2 = _product(k0, k1, k2, e0, e1, e2)
        m1[a, 0] += c1
        m2[a, 0] += c2
        m[a, 0] += c0
        for b in range(a + 1):
            q0, q1, q2 = _product(k0, k1, k2, g0[b, 0], g1[b, 0], g2[b, 0])
            P1[a, b] -= q1
            P2[a, b] -= q2
            P[a, b] = P[a, b] * y_var / S if b == 0 else P[a, b] - q0
            P1[b, a], P2[b, a], P[b, a] = P1[a, b], P2[a, b], P[a, b]
    return value1, value2


@njit(**COMPILED)
def along(process, time, z, y_var, tilt, direction):
    """First and second derivative at s = 0 of log p(y | tau + s direction), by carrying both through the filter."""
    dims = process.dims
    state, first = State(zeros(dims, (0,)), zeros(dims, dims)), State(zeros(dims, (0,)), zeros(dims, dims))
    second = State(zeros(dims, (0,)), zeros(dims, dims))
    step = Transition(zeros(dims, dims), zeros(dims, dims), zeros(dims, dims))
    motion = Motion(step.A, step.Q, zeros(dims, dims), zeros(dims, dims))
    stationary(process, state.P, motion.F, motion.noise, zeros(dims, (0,)))
    value1, value2 = 0.0, 0.0
    for i in range(len(time)):
        if i > 0:
            predict(process, time[i] - time[i - 1], state, step)
            _step_along(process, direction[i] - direction[i - 1], motion, state, first, second)
        part1, part2 = _update_along(process, z[i], tilt * direction[i], y_var[i], state, first, second)
        value1 += part1
        value2 += part2
    return value1, value2
