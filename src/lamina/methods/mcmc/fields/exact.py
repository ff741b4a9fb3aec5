"""p(y | inputs, path), exact: given a path at nodes, rows of different intervals are independent.

Between two nodes each process is a bridge with known mean and covariance, Eq. (80). The rows of one interval have the
covariance sum over terms of (C C')[s, s'] times that of the bridge, plus their errors: a small matrix.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ....engine.stack import FAST
from ....field.transition import NILPOTENT, SQUARED


class Bridges(NamedTuple):
    """What an exact evaluation needs beside ``approximate.Path``."""

    dim: np.ndarray  #: (K,) of the terms that vary
    rate: np.ndarray  #: (K,)
    whole: np.ndarray  #: (K, 3, 3) transition from node to node
    noise: np.ndarray  #: (K, 3, 3) its noise covariance Q
    precision: np.ndarray  #: (K, 3, 3) and the inverse
    sites: np.ndarray  #: (K, S, S) C C'
    states: np.ndarray  #: (K, 3, M, S) components of the processes at nodes, mixed for each site


@njit(cache=True, **FAST)
def _fill_transition(d, x, rows, A):
    """The first ``rows`` rows of the transition over x, into A (3, 3)."""
    decay = math.exp(-x)
    for i in range(rows):
        for j in range(d):
            own = NILPOTENT[d, i, j] * x + 0.5 * SQUARED[d, i, j] * x * x
            A[i, j] = decay * (own + (1.0 if i == j else 0.0))


@njit(cache=True, **FAST)
def _fill_noise(d, x, A, row):
    """The first row of I - A A' for a transition over x, without cancellation in the first two kernels."""
    if d == 1:
        row[0] = -math.expm1(-2.0 * x)
    elif d == 2:
        decay, tail, part = math.exp(-2.0 * x), 0.0, 2.0 * x * x
        if x < 1.0:
            for k in range(3, 25):
                part *= 2.0 * x / k
                tail += part
        else:
            tail = math.exp(2.0 * x) - 1.0 - 2.0 * x - part
        row[0], row[1] = decay * tail, 2.0 * x * x * decay
    else:
        for j in range(d):
            row[j] = 1.0 if j == 0 else 0.0
            for a in range(d):
                row[j] -= A[0, a] * A[j, a]


@njit(cache=True, **FAST)
def _fill_bridge(bridges, k, before, after, scratch, out):
    """For a time between two nodes: the first rows of the gain G (3,), of A1 - G A (3,), and of Q1 (3,), into out."""
    d, (one, two), (gain, left, ahead) = bridges.dim[k], scratch, out
    _fill_transition(d, bridges.rate[k] * before, d, one)
    _fill_transition(d, bridges.rate[k] * after, d, two)
    _fill_noise(d, bridges.rate[k] * before, one, ahead)
    for j in range(d):
        gain[j] = 0.0
        for a in range(d):
            for b in range(d):
                gain[j] += ahead[a] * two[b, a] * bridges.precision[k, b, j]
    for j in range(d):
        left[j] = one[0, j]
        for a in range(d):
            left[j] -= gain[a] * bridges.whole[k, a, j]


@njit(cache=True, **FAST)
def _log_interval(path, bridges, data, rows, tau, i, scratch):
    """log-density of the rows (n,) between nodes i and i + 1, in order of time."""
    n, K = len(rows), len(bridges.dim)
    one, two, left = scratch
    V, e, gain, ahead = np.zeros((n, n)), np.empty(n), np.zeros((n, 3)), np.zeros((n, 3))
    start = path.first + i * path.step
    for a in range(n):
        r, s = rows[a], data.site[rows[a]]
        e[a] = data.base[r] + data.slope[r] * tau[r] - path.constant[s] - path.linear[s] * tau[r]
        V[a, a] = data.y_var[r]
    for k in range(K):
        d = bridges.dim[k]
        for a in range(n):
            s, t = data.site[rows[a]], tau[rows[a]]
            _fill_bridge(bridges, k, t - start, start + path.step - t, (one, two), (gain[a], left, ahead[a]))
            for j in range(d):
                e[a] -= left[j] * bridges.states[k, j, i, s] + gain[a, j] * bridges.states[k, j, i + 1, s]
            for b in range(a + 1):
                _fill_transition(d, bridges.rate[k] * (t - tau[rows[b]]), 1, one)
                own = 0.0
                for j in range(d):
                    own += ahead[b, j] * one[0, j]
                    for m in range(d):
                        own -= gain[b, j] * bridges.noise[k, j, m] * gain[a, m]
                V[a, b] += own * bridges.sites[k, s, data.site[rows[b]]]
    value = 0.0
    for a in range(n):
        for b in range(a + 1):
            x = V[a, b]
            for c in range(b):
                x -= V[a, c] * V[b, c]
            if a == b:
                if not x > 0.0:
                    return -math.inf
                V[a, a] = math.sqrt(x)
            else:
                V[a, b] = x / V[b, b]
        for c in range(a):
            e[a] -= V[a, c] * e[c]
        e[a] /= V[a, a]
        value -= 0.5 * e[a] * e[a] + math.log(V[a, a])
    return value


@njit(nogil=True, cache=True, **FAST)
def log_exact(path, bridges, data, tau):
    """log p(y | tau, path), up to a constant; -inf where a row lies beyond the nodes."""
    order = np.argsort(tau)
    rows = np.empty(len(tau), dtype=np.int64)
    scratch = (np.zeros((3, 3)), np.zeros((3, 3)), np.zeros(3))
    n, now, total = 0, -1, 0.0
    for p in range(len(order) + 1):
        i = len(path.level)
        if p < len(order):
            r = order[p]
            i = int(math.floor((tau[r] - path.first) / path.step))  # noqa: RUF046 (compiled code needs it)
            if not (0 <= i < len(path.level) - 1):
                return -math.inf
            if data.y_var[r] == math.inf:
                continue
        if i != now:
            if n > 0:
                total += _log_interval(path, bridges, data, rows[:n], tau, now, scratch)
            n, now = 0, i
        if p < len(order):
            rows[n] = order[p]
            n += 1
    return total
