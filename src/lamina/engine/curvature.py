"""Second derivatives of log p(y | tau).

In the log-gaps of one sequence the whole diagonal of the Hessian costs O(N): as a function of one gap, log p joins a
predicted state with b, and prediction obeys dm/dt = F m, dP/dt = F P + P F' + noise. Where sequences and exact
rows interleave, a log-gap moves rows that are not contiguous, and ``along`` gives the second derivative in one
direction in O(N): N of them are O(N²).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .backward import expand
from .filter import predict, stationary, update
from .stack import COMPILED, INLINE, congruence, copy, multiply, solve, zeros


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


@njit(**COMPILED)
def gap_derivatives(blocks, dims, columns, both, tau, Z, y_var, tilt, Gs, hs, constants):
    """First and second derivatives of log|K| and E = Z' K^-1 Z in each gap, all later rows shifting along.

    With R = (I + Lam P)^-1 Lam, v = (I + Lam P)^-1 (eta - Lam m), subscripts 1 and 2 for derivatives of m and P in
    the gap, and w = m_1 + P_1 v:

        log|K|_1 = tr(R P_1)                       E_1 = -(v' m_1 + m_1' v + v' P_1 v)
        log|K|_2 = tr(R P_2) - tr(R P_1 R P_1)     E_2 = -(v' m_2 + m_2' v + v' P_2 v) + 2 w' R w

    where m, v, w have one column per column of Z. A tilt (C,), dZ/dtau of each column, makes all later data change by
    tilt per unit of the gap: with u = 1 for the later rows and 0 for the others, and v_u the v of the data u,

        E_1 += tilt' (u' K^-1 Z) + its transpose     E_2 += 2 tilt' tilt u' K^-1 u - 2 (tilt' (v_u' w) + its transpose)

    Gs, hs (N, d, C+1) and constants (N, C+1, C+2) are from ``backward`` with the columns [Z, 1] and the references
    [0, 1]; ``both`` is a tuple of length d + C + 1. Returns log_det (N-1, 2) and products (N-1, 2, C, C).
    """
    N, d, C = len(tau), len(dims), len(columns)
    log_det, products = np.empty((max(N - 1, 0), 2)), np.empty((max(N - 1, 0), 2, C, C))
    m, P = zeros(dims, columns), zeros(dims, dims)
    A, Q, work, e = zeros(dims, dims), zeros(dims, dims), zeros(dims, dims), zeros(columns, (0,))
    F, noise = zeros(dims, dims), zeros(dims, dims)
    m1, m2, P1, P2 = zeros(dims, columns), zeros(dims, columns), zeros(dims, dims), zeros(dims, dims)
    Lam, M, B, R = zeros(dims, dims), zeros(dims, dims), zeros(dims, both), zeros(dims, dims)
    v, w, Rw, RP1 = zeros(dims, columns), zeros(dims, columns), zeros(dims, columns), zeros(dims, dims)
    P1v, P2v = zeros(dims, columns), zeros(dims, columns)
    unit, x_unit = zeros(dims, (0,)), zeros(dims, (0,))
    uKZ, uv = zeros(columns, (0,)), zeros(columns, (0,))
    stationary(blocks, P, F, noise, zeros(dims, (0,)), dims)
    for i in range(N - 1):
        update(Z[i], y_var[i], m, P, e, dims, columns)
        predict(blocks, tau[i + 1] - tau[i], m, P, A, Q, work, dims, columns)
        multiply(F, m, m1, dims, dims, columns)
        multiply(F, m1, m2, dims, dims, columns)
        _lyapunov(F, P, P1, dims)
        for a in range(d):
            for b in range(d):
                P1[a, b] += noise[a, b]
        _lyapunov(F, P1, P2, dims)

        # (I + Lam P)^-1 [Lam, eta - Lam m, eta of unit data + Lam h: b of that column is a function of x - h]
        expand(Gs[i + 1], hs[i + 1], Lam, B, dims, columns)
        multiply(Lam, P, M, dims, dims, dims)
        for a in range(d):
            M[a, a] += 1.0
            unit[a, 0] = B[a, d + C]
            B[a, d + C] += Lam[a, 0]
            for b in range(d):
                for c in range(C):
                    B[a, d + c] -= Lam[a, b] * m[b, c]
        solve(M, B, dims, both)
        for a in range(d):
            for b in range(d):
                R[a, b] = 0.5 * (B[a, b] + B[b, a])
            for c in range(C):
                v[a, c] = B[a, d + c]
        multiply(P1, v, P1v, dims, dims, columns)
        multiply(P2, v, P2v, dims, dims, columns)
        for a in range(d):
            for c in range(C):
                w[a, c] = m1[a, c] + P1v[a, c]
        multiply(R, w, Rw, dims, dims, columns)
        multiply(R, P1, RP1, dims, dims, dims)
        # the state given u as data is x_unit + h; u' K^-1 of u and of the columns of Z; v_u' w
        uKu = constants[i + 1, C, C] + B[0, d + C]
        for a in range(d):
            x_unit[a, 0] = -1.0 if a == 0 else 0.0
            for b in range(d):
                x_unit[a, 0] += P[a, b] * B[b, d + C]
            uKu -= unit[a, 0] * x_unit[a, 0]
        for c in range(C):
            uKZ[c, 0], uv[c, 0] = constants[i + 1, c, C] + v[0, c], 0.0
            for a in range(d):
                uv[c, 0] += B[a, d + C] * w[a, c]
                uKZ[c, 0] -= unit[a, 0] * m[a, c]
                for b in range(d):
                    uKZ[c, 0] -= unit[a, 0] * P[a, b] * v[b, c]

        log_det[i, 0] = _inner(R, P1, dims, dims)
        log_det[i, 1] = _inner(R, P2, dims, dims)
        for a in range(d):
            for b in range(d):
                log_det[i, 1] -= RP1[a, b] * RP1[b, a]
        for c in range(C):
            for k in range(C):
                first = tilt[k] * uKZ[c, 0] + tilt[c] * uKZ[k, 0]
                second = 2.0 * (tilt[c] * tilt[k] * uKu - tilt[k] * uv[c, 0] - tilt[c] * uv[k, 0])
                for a in range(d):
                    first -= v[a, c] * (m1[a, k] + P1v[a, k]) + m1[a, c] * v[a, k]
                    second -= v[a, c] * (m2[a, k] + P2v[a, k]) + m2[a, c] * v[a, k] - 2.0 * w[a, c] * Rw[a, k]
                products[i, 0, c, k] = first
                products[i, 1, c, k] = second
    return log_det, products


@njit(**INLINE)
def _product(a0, a1, a2, b0, b1, b2):
    """Value and first two derivatives of a product."""
    return a0 * b0, a1 * b0 + a0 * b1, a2 * b0 + 2.0 * a1 * b1 + a0 * b2


@njit(**COMPILED)
def along(blocks, dims, tau, z, y_var, tilt, direction):
    """First and second derivative at s = 0 of log p(y | tau + s direction), by carrying both through the filter."""
    N, d = len(tau), len(dims)
    m, m1, m2 = zeros(dims, (0,)), zeros(dims, (0,)), zeros(dims, (0,))
    P, P1, P2 = zeros(dims, dims), zeros(dims, dims), zeros(dims, dims)
    A, Q, work = zeros(dims, dims), zeros(dims, dims), zeros(dims, dims)
    g0, g1, g2 = zeros(dims, (0,)), zeros(dims, (0,)), zeros(dims, (0,))
    F, noise = zeros(dims, dims), zeros(dims, dims)
    X, Y, x = zeros(dims, dims), zeros(dims, dims), zeros(dims, (0,))
    stationary(blocks, P, F, noise, zeros(dims, (0,)), dims)
    first, second = 0.0, 0.0
    for i in range(N):
        if i > 0:
            rate = direction[i] - direction[i - 1]
            predict(blocks, tau[i] - tau[i - 1], m, P, A, Q, work, dims, (0,))
            # m: m'' = A m'' + 2 rate F A m' + rate² F² m, and m' = A m' + rate F m
            multiply(A, m2, x, dims, dims, (0,))
            copy(x, m2, dims, (0,))
            multiply(A, m1, x, dims, dims, (0,))
            copy(x, m1, dims, (0,))
            for a in range(d):
                for k in range(d):
                    m2[a, 0] += 2.0 * rate * F[a, k] * m1[k, 0]
            multiply(F, m, x, dims, dims, (0,))
            for a in range(d):
                m1[a, 0] += rate * x[a, 0]
                for k in range(d):
                    m2[a, 0] += rate * rate * F[a, k] * x[k, 0]
            # P: the same with the Lyapunov operator in the place of F
            congruence(P2, A, work, P2, dims)
            congruence(P1, A, work, P1, dims)
            _lyapunov(F, P1, X, dims)
            _lyapunov(F, P, Y, dims)
            for a in range(d):
                for b in range(d):
                    P2[a, b] += 2.0 * rate * X[a, b]
                    Y[a, b] += noise[a, b]
                    P1[a, b] += rate * Y[a, b]
            _lyapunov(F, Y, X, dims)
            for a in range(d):
                for b in range(d):
                    P2[a, b] += rate * rate * X[a, b]
        S = P[0, 0] + y_var[i]
        e0, e1, e2 = z[i] - m[0, 0], tilt * direction[i] - m1[0, 0], -m2[0, 0]
        r0, r1, r2 = 1.0 / S, -P1[0, 0] / S**2, 2.0 * P1[0, 0] ** 2 / S**3 - P2[0, 0] / S**2
        f0, f1, f2 = _product(e0, e1, e2, r0, r1, r2)
        first -= 0.5 * (P1[0, 0] / S + e1 * f0 + e0 * f1)
        second -= 0.5 * (P2[0, 0] / S - (P1[0, 0] / S) ** 2 + e2 * f0 + 2.0 * e1 * f1 + e0 * f2)
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
                P[a, b] = P[a, b] * y_var[i] / S if b == 0 else P[a, b] - q0
                P1[b, a], P2[b, a], P[b, a] = P1[a, b], P2[a, b], P[a, b]
    return first, second
