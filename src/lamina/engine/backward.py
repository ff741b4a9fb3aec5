"""What the measurements from row i on say about the state at row i.

    b_i(x) = p(y_i, ..., y_N | x_i = x) = exp(-½ x' Lam x + eta' x + constant)

comes from one pass from the end. With it, the likelihood as a function of one input or of one gap costs O(1)
(``local``), and so do its curvature (``curvature``), smoothing and joint draws (``smoothing``).

Lam is kept as a root G with Lam = G G', and eta as h with eta = G h, because joining b with a predicted state N(m, P)
is then d scalar steps in which every term is positive: see ``join``. Lam may be singular: one measurement says nothing
of the slope.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from .stack import COMPILED, INLINE, congruence_transposed, copy, multiply, solve, zeros
from .statespace import fill, mix


@njit(**INLINE)
def observe(z, y_var, Lam, eta, columns):
    """b <- b times p(z | x_0): adds 1 / y_var to Lam and z / y_var to eta."""
    Lam[0, 0] += 1.0 / y_var
    for c in range(len(columns)):
        eta[0, c] += z[c] / y_var


@njit(**INLINE)
def step_back(blocks, dt, Lam, eta, A, Q, M, B, work, dims, columns, both):
    """b(x) <- integral of N(x_next; A x, Q) b(x_next): Lam <- A' (I + Lam Q)^-1 Lam A, eta <- A' (I + Lam Q)^-1 eta.

    ``both`` is a tuple of length d + C, the width of the right-hand side. Returns log|I + Lam Q|.
    """
    d, C = len(dims), len(columns)
    fill(blocks, dt, A, Q, 0)
    mix(blocks, A, Q, dims)
    multiply(Lam, Q, M, dims, dims, dims)
    for i in range(d):
        M[i, i] += 1.0
        for j in range(d):
            B[i, j] = Lam[i, j]
        for c in range(C):
            B[i, d + c] = eta[i, c]
    log_det = solve(M, B, dims, both)
    for i in range(d):  # the solution is symmetric but for rounding
        for j in range(i + 1):
            Lam[i, j] = 0.5 * (B[i, j] + B[j, i])
            Lam[j, i] = Lam[i, j]
    congruence_transposed(Lam, A, work, Lam, dims)
    for c in range(C):
        for i in range(d):
            s = 0.0
            for k in range(d):
                s += A[k, i] * B[k, d + c]
            eta[i, c] = s
    return log_det


@njit(**INLINE)
def factorise(Lam, eta, G, h, dims, columns):
    """Lam = G G' and eta = G h, the best-known state first: otherwise a pivot that is all rounding spoils the rest.

    Rounding can leave nothing, or less, of a pivot where Lam should be singular. It is then raised to the size of the
    rounding, so that eta is still G h, and takes no part in the others.
    """
    d, C = len(dims), len(columns)
    S, rest = zeros(dims, dims), zeros(dims, columns)
    copy(Lam, S, dims, dims)
    copy(eta, rest, dims, columns)
    for k in range(d):
        p = 0
        for i in range(1, d):
            if S[i, i] > S[p, p]:
                p = i
        rounding = 1e-16 * Lam[p, p]
        sound = S[p, p] > 8.0 * rounding
        root = math.sqrt(max(S[p, p], rounding, 0.0))
        inverse = 1.0 / root if root > 0.0 else 0.0
        for i in range(d):
            G[i, k] = S[i, p] * inverse if sound else 0.0
        G[p, k] = root
        for c in range(C):
            h[k, c] = rest[p, c] * inverse
        for i in range(d):
            for c in range(C):
                rest[i, c] -= G[i, k] * h[k, c]
            for j in range(i + 1):
                S[i, j] -= G[i, k] * G[j, k]
                S[j, i] = S[i, j]
        for i in range(d):
            S[i, p] = S[p, i] = 0.0
        S[p, p] = -math.inf  # done


@njit(**INLINE)
def expand(G, h, Lam, B, dims, columns):
    """Undo ``factorise``: Lam, and [Lam, eta] into B (d, d + C + 1), for h with C + 1 columns."""
    d = len(dims)
    for a in range(d):
        for c in range(len(columns) + 1):
            B[a, d + c] = 0.0
            for k in range(d):
                B[a, d + c] += G[a, k] * h[k, c]
        for b in range(a + 1):
            s = 0.0
            for k in range(d):
                s += G[a, k] * G[b, k]
            Lam[a, b] = Lam[b, a] = s
            B[a, b] = B[b, a] = s


@njit(**INLINE)
def join(m, P, G, h, dims):
    """log of the integral of N(x; m, P) b(x), up to b's constant: O(d³), without inverse or square root.

    Each column g of G is one scalar factor exp(-½ u² + h u) of u = g'x ~ N(mu, s), whose integral is
    (1 + s)^-½ exp((h mu - ½ mu² + ½ h² s) / (1 + s)). m (d, 1) and P are left conditioned on b.
    """
    d = len(dims)
    Pg = zeros(dims, (0,))
    value, product = 0.0, 1.0
    for k in range(d):
        hk, mu, s = h[k, 0], 0.0, 0.0
        for i in range(d):
            mu += G[i, k] * m[i, 0]
            Pg[i, 0] = P[i, 0] * G[0, k]
            for j in range(1, d):
                Pg[i, 0] += P[i, j] * G[j, k]
            s += G[i, k] * Pg[i, 0]
        total = 1.0 + s
        inverse = 1.0 / total
        product *= total
        value += (hk * mu - 0.5 * mu * mu + 0.5 * hk * hk * s) * inverse
        for i in range(d):
            m[i, 0] += Pg[i, 0] * (hk - mu) * inverse
            for j in range(i + 1):
                P[i, j] -= inverse * Pg[i, 0] * Pg[j, 0]
                P[j, i] = P[i, j]
    return value - 0.5 * math.log(product)


@njit(**INLINE)
def _integrate_constant(before, A, Q, B, eta, reference, quadratic, dims, columns):
    """What ``step_back`` does to the constant of b, and to eta where the reference r of a column is not 0.

    With R = (I + Lam Q)^-1 Lam and s = (I + Lam Q)^-1 eta, which the step left in B, and delta = A r h - r h:

        quadratic -= eta' Q s + delta' s + s' delta - delta' R delta,   eta <- A' (s - R delta)
    """
    d, C = len(dims), len(columns)
    delta, R_delta, Qs = zeros(dims, columns), zeros(dims, columns), zeros(dims, columns)
    for a in range(d):
        for c in range(C):
            delta[a, c] = reference[c] * (A[a, 0] - (1.0 if a == 0 else 0.0))
    for a in range(d):
        for c in range(C):
            for k in range(d):
                Qs[a, c] += Q[a, k] * B[k, d + c]
                R_delta[a, c] += B[a, k] * delta[k, c]
    for c in range(C):
        for v in range(C):
            for a in range(d):
                quadratic[c, v] -= before[a, c] * Qs[a, v] + delta[a, v] * B[a, d + c]
                quadratic[c, v] -= delta[a, c] * (B[a, d + v] - R_delta[a, v])
    for a in range(d):
        for c in range(C):
            for k in range(d):
                eta[a, c] -= A[k, a] * R_delta[k, c]


@njit(**COMPILED)
def backward(blocks, dims, columns, both, tau, Z, y_var, reference, Gs, hs):
    """b_i for every row, from the end: Gs (N, d, d) and hs (N, d, C) are written.

    The b of column c is a function of x - reference_c h: a reference equal to constant data keeps the digits of what
    the data add to it. Returns the constant of each b_i, shape (N, C, C + 1): quadratic in the columns, so that the
    data Z w have the constant -½ w' constants[i, :, :C] w + constants[i, 0, C].
    """
    N, C = len(tau), len(columns)
    constants = np.zeros((N, C, C + 1))
    Lam, eta, before = zeros(dims, dims), zeros(dims, columns), zeros(dims, columns)
    A, Q, M, B, work = (
        zeros(dims, dims),
        zeros(dims, dims),
        zeros(dims, dims),
        zeros(dims, both),
        zeros(dims, dims),
    )
    z, quadratic, log_part = zeros(columns, (0,)), zeros(columns, columns), 0.0
    for i in range(N - 1, -1, -1):
        if i < N - 1:
            copy(eta, before, dims, columns)
            log_part -= 0.5 * step_back(blocks, tau[i + 1] - tau[i], Lam, eta, A, Q, M, B, work, dims, columns, both)
            _integrate_constant(before, A, Q, B, eta, reference, quadratic, dims, columns)
        for c in range(C):
            z[c, 0] = Z[i, c] - reference[c]
        observe(z[:, 0], y_var[i], Lam, eta, columns)
        if y_var[i] < math.inf:
            log_part -= 0.5 * math.log(2.0 * math.pi * y_var[i])
            for c in range(C):
                for v in range(C):
                    quadratic[c, v] += z[c, 0] * z[v, 0] / y_var[i]
        factorise(Lam, eta, Gs[i], hs[i], dims, columns)
        for c in range(C):
            constants[i, c, C] = log_part
            for v in range(C):
                constants[i, c, v] = quadratic[c, v]
    return constants
