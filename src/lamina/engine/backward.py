"""The information of row i and all later rows about the state at row i, Eq. (28):

    b_i(x) = p(y_i, ..., y_N | x_i = x) = exp(-½ x' Lam x + eta' x + constant)

One pass from the end computes it. Given b, the likelihood as a function of one input or of one gap costs O(1)
(``local``), and so do its curvature (``curvature``), smoothing and joint draws (``smoothing``).

Lam is kept as a root G with Lam = G G', and eta as h with eta = G h (zeta in the equations). Joining b with a predicted
state N(m, P) is then d scalar steps in which every term is positive: see ``join``. Lam may be singular: one measurement
contains no information about the slope.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from .stack import COMPILED, INLINE, congruence_transposed, copy, multiply, solve, zeros
from .statespace import Transition, transition


class Information(NamedTuple):
    """b as a function of the state, up to its constant."""

    Lam: Any  #: (d, d)
    eta: Any  #: (d, C)


class Backstep(NamedTuple):
    """Scratch of ``step_back``, which leaves (I + Lam Q)^-1 [Lam, eta] in B."""

    step: Transition
    M: Any  #: (d, d)
    B: Any  #: (d, d + C)


@njit(**INLINE)
def observe(process, z, y_var, later):
    """b <- b times p(z | x_0), Eq. (29)."""
    later.Lam[0, 0] += 1.0 / y_var
    for c in range(len(process.columns)):
        later.eta[0, c] += z[c] / y_var


@njit(**INLINE)
def step_back(process, dt, later, scratch):
    """b(x) <- integral of N(x_next; A x, Q) b(x_next) over a step dt, Eq. (30). Returns log|I + Lam Q|."""
    dims, columns = process.dims, process.columns
    d, C = len(dims), len(columns)
    A, M, B = scratch.step.A, scratch.M, scratch.B
    Lam, eta = later.Lam, later.eta
    transition(process, dt, scratch.step)
    multiply(Lam, scratch.step.Q, M, dims, dims, dims)
    for i in range(d):
        M[i, i] += 1.0
        for j in range(d):
            B[i, j] = Lam[i, j]
        for c in range(C):
            B[i, d + c] = eta[i, c]
    log_det = solve(M, B, dims, dims + columns)
    for i in range(d):  # the solution is symmetric but for rounding
        for j in range(i + 1):
            Lam[i, j] = 0.5 * (B[i, j] + B[j, i])
            Lam[j, i] = Lam[i, j]
    congruence_transposed(Lam, A, scratch.step.work, Lam, dims)
    for c in range(C):
        for i in range(d):
            s = 0.0
            for k in range(d):
                s += A[k, i] * B[k, d + c]
            eta[i, c] = s
    return log_det


@njit(**INLINE)
def factorise(process, later, G, h):
    """Lam = G G' and eta = G h, the best-known state first: otherwise a pivot of pure rounding error spoils the rest.

    Where Lam is singular in exact arithmetic, rounding may leave a pivot of zero or below. It is then raised to the
    size of the rounding error, so that eta is still G h, and is left out of the other pivots.
    """
    dims, columns = process.dims, process.columns
    d, C = len(dims), len(columns)
    S, rest = zeros(dims, dims), zeros(dims, columns)
    copy(later.Lam, S, dims, dims)
    copy(later.eta, rest, dims, columns)
    for k in range(d):
        p = 0
        for i in range(1, d):
            if S[i, i] > S[p, p]:
                p = i
        rounding = 1e-16 * later.Lam[p, p]
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
def expand(process, G, h, later):
    """Undo ``factorise``: Lam = G G' and eta = G h."""
    d = len(process.dims)
    for a in range(d):
        for c in range(len(process.columns)):
            later.eta[a, c] = 0.0
            for k in range(d):
                later.eta[a, c] += G[a, k] * h[k, c]
        for b in range(a + 1):
            s = 0.0
            for k in range(d):
                s += G[a, k] * G[b, k]
            later.Lam[a, b] = later.Lam[b, a] = s


@njit(**INLINE)
def join(process, state, G, h):
    """log of the integral of N(x; m, P) b(x), up to b's constant: O(d³), without inverse or square root.

    Each column g of G is one scalar factor of b, with the integral of Eq. (31). The state, whose m is (d, 1), is left
    conditioned on b, Eq. (32).
    """
    d = len(process.dims)
    m, P = state.m, state.P
    Pg = zeros(process.dims, (0,))
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
def _integrate_constant(process, before, later, scratch, reference, quadratic):
    """What ``step_back`` does to the constant of b, and to eta where the reference r of a column is not 0.

    ``before`` (d, C) is eta before the step. With R = (I + Lam Q)^-1 Lam and s = (I + Lam Q)^-1 eta, which the step
    left in B, and delta = A r h - r h:

        quadratic -= eta' Q s + delta' s + s' delta - delta' R delta,   eta <- A' (s - R delta)
    """
    dims, columns = process.dims, process.columns
    d, C = len(dims), len(columns)
    A, Q, B = scratch.step.A, scratch.step.Q, scratch.B
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
                later.eta[a, c] -= A[k, a] * R_delta[k, c]


@njit(**COMPILED)
def backward(process, series, reference, Gs, hs):
    """b_i for every row, from the end: Gs (N, d, d) and hs (N, d, C) are written.

    The b of column c is a function of x - reference_c h: a reference equal to constant data keeps the digits of what
    the data add to it. Returns the constant of each b_i, shape (N, C, C + 1): quadratic in the columns, so that the
    data Z w have the constant -½ w' constants[i, :, :C] w + constants[i, 0, C].
    """
    dims, columns, time, y_var = process.dims, process.columns, series.time, series.y_var
    N, C = len(time), len(columns)
    constants = np.zeros((N, C, C + 1))
    later, before = Information(zeros(dims, dims), zeros(dims, columns)), zeros(dims, columns)
    step = Transition(zeros(dims, dims), zeros(dims, dims), zeros(dims, dims))
    scratch = Backstep(step, zeros(dims, dims), zeros(dims, dims + columns))
    z, quadratic, log_part = zeros(columns, (0,)), zeros(columns, columns), 0.0
    for i in range(N - 1, -1, -1):
        if i < N - 1:
            copy(later.eta, before, dims, columns)
            log_part -= 0.5 * step_back(process, time[i + 1] - time[i], later, scratch)
            _integrate_constant(process, before, later, scratch, reference, quadratic)
        for c in range(C):
            z[c, 0] = series.Z[i, c] - reference[c]
        observe(process, z[:, 0], y_var[i], later)
        if y_var[i] < math.inf:
            log_part -= 0.5 * math.log(2.0 * math.pi * y_var[i])
            for c in range(C):
                for v in range(C):
                    quadratic[c, v] += z[c, 0] * z[v, 0] / y_var[i]
        factorise(process, later, Gs[i], hs[i])
        for c in range(C):
            constants[i, c, C] = log_part
            for v in range(C):
                constants[i, c, v] = quadratic[c, v]
    return constants
