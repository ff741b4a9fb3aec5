"""Joint draws of all processes of a field at given times, given the rows (Durbin & Koopman 2002): O((N + M) D).

A path is drawn from the prior, data are simulated from it, and the difference of the measured and the simulated data is
smoothed with the gains that the filter left behind; the sum of both is a draw from the posterior, Eq. (76).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ..engine.noise import standard_normal
from ..engine.stack import FAST
from .filter import fill_gamma
from .transition import fill_observation, fill_transition, move_columns


@njit(cache=True, **FAST)
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


@njit(cache=True, **FAST)
def add_noise(layout, rate, L, x, rng):
    """x (D,) plus the noise of a transition."""
    noise = np.empty(3)
    for k in range(len(rate)):
        if rate[k] == 0.0:
            continue
        d, r, start = layout.dim[k], layout.size[k], layout.start[k]
        for p in range(r):
            for i in range(d):
                noise[i] = standard_normal(rng)
                for a in range(i + 1):
                    x[start + i * r + p] += L[k, i, a] * noise[a]


@njit(cache=True, **FAST)
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


@njit(cache=True, **FAST)
def _simulate(layout, values, series, events, beta, states, rest, rng):
    """A path from the prior into states (V, D), and the measured less the simulated data into rest (N,)."""
    D = states.shape[1]
    times, rows = events
    A, L, h = np.zeros((len(values.rate), 3, 3)), np.zeros((len(values.rate), 3, 3)), np.empty(D)
    x = np.empty((1, D))
    for i in range(D):
        x[0, i] = standard_normal(rng)
    for v in range(len(times)):
        if v > 0 and times[v] > times[v - 1]:
            fill_transition(layout, values.rate, times[v] - times[v - 1], A)
            move_columns(layout, values.rate, A, x, False)
            _fill_noise_roots(layout, A, L)
            add_noise(layout, values.rate, L, x[0], rng)
        for i in range(D):
            states[v, i] = x[0, i]
        n = rows[v]
        if n >= 0:
            fill_observation(layout, values.mix, series.site[n], times[v], h)
            rest[n] = series.Z[n, 0] - math.sqrt(series.y_var[n]) * standard_normal(rng)
            for c in range(len(beta)):
                rest[n] -= beta[c] * series.Z[n, c + 1]
            for i in range(D):
                rest[n] -= h[i] * x[0, i]


@njit(cache=True, **FAST)
def _smooth_rest(layout, values, series, gains, events, rest, states):
    """Add the smoothed states of the difference to states (V, D)."""
    (times, rows), (gamma, variance) = events, gains
    V, D = states.shape
    A, h = np.zeros((len(values.rate), 3, 3)), np.empty(D)
    m, r, kept = np.zeros((1, D)), np.zeros((1, D)), np.empty((V, D))
    for v in range(V):
        if v > 0 and times[v] > times[v - 1]:
            fill_transition(layout, values.rate, times[v] - times[v - 1], A)
            move_columns(layout, values.rate, A, m, False)
        n = rows[v]
        if n >= 0:
            fill_observation(layout, values.mix, series.site[n], times[v], h)
            for i in range(D):
                rest[n] -= h[i] * m[0, i]
            for i in range(D):
                m[0, i] += gamma[n, i] * rest[n] / variance[n]
    for v in range(V - 1, -1, -1):
        n = rows[v]
        if n >= 0:
            fill_observation(layout, values.mix, series.site[n], times[v], h)
            e = rest[n]
            for i in range(D):
                e -= gamma[n, i] * r[0, i]
            for i in range(D):
                r[0, i] += h[i] * e / variance[n]
        for i in range(D):
            kept[v, i] = r[0, i]
        if v > 0 and times[v] > times[v - 1]:
            fill_transition(layout, values.rate, times[v] - times[v - 1], A)
            move_columns(layout, values.rate, A, r, True)
    for i in range(D):
        m[0, i] = kept[0, i]
    for v in range(V):
        if v > 0 and times[v] > times[v - 1]:
            fill_transition(layout, values.rate, times[v] - times[v - 1], A)
            move_columns(layout, values.rate, A, m, False)
            _add_correction(layout, values.rate, A, kept[v], m[0])
        for i in range(D):
            states[v, i] += m[0, i]


@njit(nogil=True, cache=True, **FAST)
def draw_path(layout, values, series, gains, beta, at, rng, out):
    """Write a joint draw of all states at increasing times at (M,) into out (M, D), given trend coefficients beta."""
    N, M, D = len(series.time), len(at), out.shape[1]
    times, rows = np.empty(N + M), np.empty(N + M, dtype=np.int64)
    n, p = 0, 0
    for v in range(N + M):
        if p < M and (n == N or at[p] <= series.time[n]):
            times[v], rows[v] = at[p], -1
            p += 1
        else:
            times[v], rows[v] = series.time[n], n
            n += 1
    states, rest = np.empty((N + M, D)), np.empty(N)
    gamma = np.empty((N, D))
    fill_gamma(layout, values, series.time, gains, gamma)
    _simulate(layout, values, series, (times, rows), beta, states, rest, rng)
    _smooth_rest(layout, values, series, (gamma, gains.S), (times, rows), rest, states)
    p = 0
    for v in range(N + M):
        if rows[v] < 0:
            for i in range(D):
                out[p, i] = states[v, i]
            p += 1
