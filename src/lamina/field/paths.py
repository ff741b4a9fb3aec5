"""Joint draws of all processes of a field at given times, given the rows (Durbin & Koopman 2002): O((N + M) D).

A path is drawn from the prior, data are simulated from it, and the difference of the measured and the simulated data is
smoothed with the gains that the filter left behind; the sum of both is a draw from the posterior, Eq. (76).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ..engine.noise import standard_normal
from ..engine.stack import FAST, LEAN_CALLED, copy_array
from .filter import fill_gamma
from .filter.mixed import add_measured, add_whitened, measure_mixed
from .filter.waiting import add_row
from .transition import fill_transition, move_columns


@njit(cache=True, **LEAN_CALLED)
def _fill_noise_roots(layout, A, L):
    """Write Cholesky factors of I - A A', by term, into L (K, 3, 3)."""
    for k in range(len(A)):
        d = layout.dim[k]
        for i in range(d):
            for j in range(i + 1):
                s = 1.0 if i == j else 0.0
                for a in range(d):
                    s -= A[k, i, a] * A[k, j, a]
                for a in range(j):
                    s -= L[k, i, a] * L[k, j, a]
                if i == j:
                    L[k, i, i] = math.sqrt(max(s, 0.0))
                else:
                    L[k, i, j] = s / L[k, j, j] if L[k, j, j] > 0.0 else 0.0


@njit(cache=True, **LEAN_CALLED)
def add_noise(layout, rate, L, x, rng):
    """x (D,) plus the noise of a transition."""
    for k in range(len(rate)):
        if rate[k] == 0.0:
            continue
        d, r, start = layout.dim[k], layout.size[k], layout.start[k]
        first, second, third = L[k, 0, 0], L[k, 1, 0], L[k, 1, 1]  # in registers: a random number changes memory
        for p in range(start, start + r):
            one = standard_normal(rng)
            x[p] += first * one
            if d > 1:
                two = standard_normal(rng)
                x[p + r] += second * one + third * two
                if d > 2:
                    x[p + 2 * r] += L[k, 2, 0] * one + L[k, 2, 1] * two + L[k, 2, 2] * standard_normal(rng)


@njit(cache=True, **LEAN_CALLED)
def _add_correction(layout, rate, A, r, x):
    """x += (I - A A') r, Eq. (76)."""
    for k in range(len(rate)):
        if rate[k] == 0.0:
            continue
        d, size, start = layout.dim[k], layout.size[k], layout.start[k]
        for i in range(d):
            for j in range(d):
                q = 1.0 if i == j else 0.0
                for a in range(d):
                    q -= A[k, i, a] * A[k, j, a]
                for p in range(size):
                    x[start + i * size + p] += q * r[start + j * size + p]


@njit(cache=True, **LEAN_CALLED)
def _measure(layout, mix, s, time, x):
    """h' x for a row at site s."""
    total = 0.0
    for k in range(len(layout.dim)):
        weight, first, start = time - layout.origin[k] if layout.linear[k] else 1.0, layout.first[k], layout.start[k]
        for j in range(layout.low[k, s], layout.high[k, s]):
            total += weight * mix[s, first + j] * x[start + j]
    return total


@njit(cache=True, **LEAN_CALLED)
def _simulate(layout, values, series, events, beta, scratch, out, rest, rng):
    """A path from the prior into out (M, D), and the measured less the simulated data into rest (N,)."""
    (times, rows), (A, L, x), p = events, scratch, 0
    for i in range(x.shape[1]):
        x[0, i] = standard_normal(rng)
    for v in range(len(times)):
        if v > 0 and times[v] > times[v - 1]:
            fill_transition(layout, values.rate, times[v] - times[v - 1], A)
            move_columns(layout, values.rate, A, x, False)
            _fill_noise_roots(layout, A, L)
            add_noise(layout, values.rate, L, x[0], rng)
        n = rows[v]
        if n >= 0:
            rest[n] = series.Z[n, 0] - math.sqrt(series.y_var[n]) * standard_normal(rng)
            for c in range(len(beta)):
                rest[n] -= beta[c] * series.Z[n, c + 1]
            rest[n] -= _measure(layout, values.mix, series.site[n], times[v], x[0])
        else:
            copy_array(x[0], out[p])
            p += 1


@njit(cache=True, **LEAN_CALLED)
def _smooth_rest(layout, values, series, gains, events, rest, scratch, kept, out):
    """Add the smoothed states of the difference to out (M, D); gains = gamma (N, D) and S; kept (V, D) is scratch.

    Only m is of mixed states x = C z: r, and then m with x = C C' m, are of the dual ones. Nothing is mixed but C' m.
    """
    (times, rows), (gamma, S), (A, m, r), p = events, gains, scratch, 0
    V, D = kept.shape
    for i in range(D):
        m[0, i] = r[0, i] = 0.0
    for v in range(V):
        if v > 0 and times[v] > times[v - 1]:
            fill_transition(layout, values.rate, times[v] - times[v - 1], A)
            move_columns(layout, values.rate, A, m, False)
        n = rows[v]
        if n >= 0:
            rest[n] -= measure_mixed(layout, values.mix, series.site[n], times[v], m[0])
            add_row(rest[n] / S[n], gamma[n], m[0])
    for v in range(V - 1, -1, -1):
        n = rows[v]
        if n >= 0:
            e = rest[n]
            for i in range(D):
                e -= gamma[n, i] * r[0, i]
            add_measured(layout, values.mix, series.site[n], times[v], e / S[n], r[0])
        copy_array(r[0], kept[v])
        if v > 0 and times[v] > times[v - 1]:
            fill_transition(layout, values.rate, times[v] - times[v - 1], A)
            move_columns(layout, values.rate, A, r, True)
    copy_array(kept[0], m[0])
    for v in range(V):
        if v > 0 and times[v] > times[v - 1]:
            fill_transition(layout, values.rate, times[v] - times[v - 1], A)
            move_columns(layout, values.rate, A, m, False)
            _add_correction(layout, values.rate, A, kept[v], m[0])
        if rows[v] < 0:
            add_whitened(layout, values.mix, m[0], out[p])
            p += 1


@njit(nogil=True, cache=True, **FAST)
def draw_path(layout, values, series, gains, beta, at, rng, out):
    """Write a joint draw of all states at increasing times at (M,) into out (M, D), given trend coefficients beta."""
    N, M, D, K = len(series.time), len(at), out.shape[1], len(values.rate)
    times, rows = np.empty(N + M), np.empty(N + M, dtype=np.int64)
    n, p = 0, 0
    for v in range(N + M):
        if p < M and (n == N or at[p] <= series.time[n]):
            times[v], rows[v] = at[p], -1
            p += 1
        else:
            times[v], rows[v] = series.time[n], n
            n += 1
    rest, gamma, A, L, x = np.empty(N), np.empty((N, D)), np.zeros((K, 3, 3)), np.zeros((K, 3, 3)), np.empty((1, D))
    _simulate(layout, values, series, (times, rows), beta, (A, L, x), out, rest, rng)
    fill_gamma(layout, values, series.time, gains, gamma)
    kept, scratch = np.empty((N + M, D)), (A, x, np.empty((1, D)))
    _smooth_rest(layout, values, series, (gamma, gains.S), (times, rows), rest, scratch, kept, out)
