"""The gradient of the likelihood of a field in times and parameters: the adjoint of the filter, Eq. (74), O(N D²).

The covariances of the forward pass are kept, N D² numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ..engine.stack import FAST
from .filter import observe, subtract_outer
from .transition import NILPOTENT, fill_transition, move_columns, move_rows


class Adjoints(NamedTuple):
    """Derivatives of the value."""

    time: np.ndarray  #: (N,)
    Z: np.ndarray  #: (N, C)
    y_var: np.ndarray  #: (N,)
    rate: np.ndarray  #: (K,)
    mix: np.ndarray  #: (S, R)


@njit(cache=True, **FAST)
def _forward(layout, values, series, kept_U, kept_m, found):
    """The filter once more, keeping what each row finds before it is observed; found = gamma (N, D), S and e (N, C)."""
    N, C = series.Z.shape
    gammas, variances, errors = found
    D = gammas.shape[1]
    U, m, h, A = np.zeros((D, D)), np.zeros((C, D)), np.empty(D), np.zeros((len(values.rate), 3, 3))
    for n in range(N):
        if n > 0:
            fill_transition(layout, values.rate, series.time[n] - series.time[n - 1], A)
            move_rows(layout, values.rate, A, U, D, False)
            move_columns(layout, values.rate, A, U, False)
            move_columns(layout, values.rate, A, m, False)
        kept_U[n], kept_m[n] = U, m
        gamma = gammas[n]
        S = observe(layout, values.mix, series.site[n], series.time[n], U, h, gamma) + series.y_var[n]
        variances[n] = S
        for c in range(C):
            e = series.Z[n, c] - np.dot(h, m[c])
            errors[n, c] = e
            m[c] += gamma * e / S
        subtract_outer(U, gamma, S)


@njit(cache=True, **FAST)
def _unobserve(h, U, m, row, weight, adjoints):
    """Through the update of one row, ``row`` = (gamma, S, e): from the adjoints after it to those before it.

    ``adjoints`` = (of U, of m), changed in place. Returns the adjoints of h, S and e.
    """
    (gamma, S, e), (d_U, d_m) = row, adjoints
    g_U = d_U @ gamma
    along = d_m @ gamma
    d_gamma = (e @ d_m - 2.0 * g_U) / S
    inner = weight @ e
    d_S = -0.5 / S - (e @ inner) / S**2 - (along @ e) / S**2 + (gamma @ g_U) / S**2
    d_e = along / S + 2.0 * inner / S
    d_gamma += d_S * h
    d_h = d_S * gamma - d_e @ m + d_gamma + U @ d_gamma
    for c in range(len(d_m)):
        d_m[c] -= d_e[c] * h
    for i in range(len(h)):
        for j in range(len(h)):
            d_U[i, j] += 0.5 * (d_gamma[i] * h[j] + h[i] * d_gamma[j])
    return d_h, d_S, d_e


@njit(cache=True, **FAST)
def _in_lag(layout, k, U, m, d_U, d_m):
    """d value / d (rate lag) of term k: F acts on the predicted U and m."""
    d, r, start, D = layout.dim[k], layout.size[k], layout.start[k], len(U)
    total = 0.0
    for i in range(d):
        for j in range(d):
            weight = NILPOTENT[d, i, j] - (1.0 if i == j else 0.0)
            if weight == 0.0:
                continue
            for p in range(r):
                one, other = start + i * r + p, start + j * r + p
                for q in range(D):
                    total += 2.0 * weight * d_U[one, q] * U[other, q]
                for c in range(len(m)):
                    total += weight * d_m[c, one] * m[c, other]
    return total


@njit(nogil=True, cache=True, **FAST)
def run_gradient(layout, values, series, weight, out):
    """Write the derivatives of -½ sum log S + sum W e e' / S into ``out``; ``weight`` is W (C, C), symmetric."""
    N, C = series.Z.shape
    D, K = int((layout.dim * layout.size).sum()), len(values.rate)
    kept_U, kept_m, found = np.empty((N, D, D)), np.empty((N, C, D)), (np.empty((N, D)), np.empty(N), np.empty((N, C)))
    _forward(layout, values, series, kept_U, kept_m, found)
    d_U, d_m, A, h = np.zeros((D, D)), np.zeros((C, D)), np.zeros((K, 3, 3)), np.empty(D)
    scratch = np.empty(D)
    for n in range(N - 1, -1, -1):
        time, s = series.time[n], series.site[n]
        U, m = kept_U[n], kept_m[n]
        observe(layout, values.mix, s, time, U, h, scratch)
        row = (found[0][n], found[1][n], found[2][n])
        d_h, d_S, d_e = _unobserve(h, U, m, row, weight, (d_U, d_m))
        out.y_var[n] = d_S
        out.Z[n] = d_e
        for k in range(K):
            lever = time - layout.origin[k] if layout.linear[k] else 1.0
            for j in range(layout.low[k, s], layout.high[k, s]):
                out.mix[s, layout.first[k] + j] += lever * d_h[layout.start[k] + j]
                if layout.linear[k]:
                    out.time[n] += values.mix[s, layout.first[k] + j] * d_h[layout.start[k] + j]
        if n == 0:
            continue
        gap = time - series.time[n - 1]
        for k in range(K):
            if values.rate[k] > 0.0:
                own = _in_lag(layout, k, U, m, d_U, d_m)
                out.rate[k] += gap * own
                out.time[n] += values.rate[k] * own
                out.time[n - 1] -= values.rate[k] * own
        fill_transition(layout, values.rate, gap, A)
        move_rows(layout, values.rate, A, d_U, D, True)
        move_columns(layout, values.rate, A, d_U, True)
        move_columns(layout, values.rate, A, d_m, True)
