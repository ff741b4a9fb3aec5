"""What the rows say about the field at other times: mean and covariance of level and rate at each time, exact.

Eq. (75): backward over the rows, r += h (e - gamma' r) / S and N <- L' N L + h h' / S with L = I - gamma h' / S; with
the predicted m and P at a time, the state has mean m + P r and covariance P - P N P.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ..engine.stack import FAST
from .filter import observe, subtract_outer
from .transition import SLOPE, fill_transition, move_columns, move_rows


@njit(cache=True, **FAST)
def fill_functionals(layout, values, targets, wanted, time, H):
    """Write level and rate at T places, of the terms that are ``wanted`` (K,), into H (2 T, D)."""
    T = len(targets.mix)
    H[:, :] = 0.0
    for k in range(len(values.rate)):
        if not wanted[k]:
            continue
        r, start = layout.size[k], layout.start[k]
        for t in range(T):
            for j in range(r):
                weight = targets.mix[t, layout.first[k] + j]
                if layout.linear[k]:
                    H[t, start + j] = weight * (time - layout.origin[k])
                    H[T + t, start + j] = weight
                else:
                    H[t, start + j] = weight
                    if layout.dim[k] > 1:
                        H[T + t, start + r + j] = weight * values.rate[k] * SLOPE[layout.dim[k]]


@njit(cache=True, **FAST)
def _advance(layout, values, A, gap, U, m):
    if gap > 0.0:
        fill_transition(layout, values.rate, gap, A)
        move_rows(layout, values.rate, A, U, len(U), False)
        move_columns(layout, values.rate, A, U, False)
        move_columns(layout, values.rate, A, m, False)


@njit(cache=True, **FAST)
def _condition_backward(h, gamma, S, e, r, N):
    """Take one row into r (C, D) and N (D, D)."""
    for c in range(len(r)):
        r[c] += h * ((e[c] - np.dot(gamma, r[c])) / S)
    g = N @ gamma
    both = 1.0 / S + np.dot(gamma, g) / S**2
    for i in range(len(h)):
        for j in range(len(h)):
            N[i, j] += both * h[i] * h[j] - (g[i] * h[j] + h[i] * g[j]) / S


@njit(nogil=True, cache=True, **FAST)
def smooth(layout, values, series, at, targets, wanted, mean, covariance):
    """Write mean (M, C, 2T) and covariance (M, 2T, 2T) of levels, then rates, at T places and increasing times at."""
    n_rows, C = series.Z.shape
    M, D, T = len(at), int((layout.dim * layout.size).sum()), len(targets.mix)
    U, m, h, A = np.zeros((D, D)), np.zeros((C, D)), np.empty(D), np.zeros((len(values.rate), 3, 3))
    gamma, S, e = np.empty((n_rows, D)), np.empty(n_rows), np.empty((n_rows, C))
    H, V = np.empty((2 * T, D)), np.empty((M, 2 * T, D))
    now, n, p = 0.0, 0, 0
    while n < n_rows or p < M:  # forwards, times before the rows of the same time
        is_time = p < M and (n == n_rows or at[p] <= series.time[n])
        then = at[p] if is_time else series.time[n]
        _advance(layout, values, A, then - now if n + p > 0 else 0.0, U, m)
        now = then
        if is_time:
            fill_functionals(layout, values, targets, wanted, then, H)
            V[p] = H + H @ U
            covariance[p] = H @ V[p].T
            mean[p] = m @ H.T
            p += 1
        else:
            S[n] = observe(layout, values.mix, series.site[n], then, U, h, gamma[n]) + series.y_var[n]
            for c in range(C):
                e[n, c] = series.Z[n, c] - np.dot(h, m[c])
                m[c] += gamma[n] * (e[n, c] / S[n])
            subtract_outer(U, gamma[n], S[n])
            n += 1
    r, N = np.zeros((C, D)), np.zeros((D, D))
    while n > 0 or p > 0:
        is_time = p > 0 and (n == 0 or at[p - 1] > series.time[n - 1])
        then = at[p - 1] if is_time else series.time[n - 1]
        if now > then:
            fill_transition(layout, values.rate, now - then, A)
            move_columns(layout, values.rate, A, r, True)
            move_rows(layout, values.rate, A, N, D, True)
            move_columns(layout, values.rate, A, N, True)
        now = then
        if is_time:
            p -= 1
            mean[p] += r @ V[p].T
            covariance[p] -= V[p] @ N @ V[p].T
        else:
            n -= 1
            observe(layout, values.mix, series.site[n], then, U, h, m[0])
            _condition_backward(h, gamma[n], S[n], e[n], r, N)
