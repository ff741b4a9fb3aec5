"""p(y | inputs, path), exact: given a path at nodes, rows of different intervals are independent.

Between two nodes each process is a bridge with known mean and covariance, Eq. (80). The rows of one interval have the
covariance sum over terms of (C C')[s, s'] times that of the bridge, plus their errors: a small matrix.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ....engine.stack import FAST, LEAN_CALLED
from ....field.transition import NILPOTENT, SQUARED

#: 1 / k, and terms that are so small that a sum stays as it is.
INVERSE, NEGLIGIBLE = 1.0 / np.maximum(np.arange(25), 1.0), 1e-18


class Bridges(NamedTuple):
    """What an exact evaluation needs beside ``approximate.Path``."""

    dim: np.ndarray  #: (K,) of the terms that vary
    rate: np.ndarray  #: (K,)
    whole: np.ndarray  #: (K, 3, 3) transition from node to node
    noise: np.ndarray  #: (K, 3, 3) its noise covariance Q
    precision: np.ndarray  #: (K, 3, 3) and the inverse
    sites: np.ndarray  #: (K, S, S) C C'
    states: np.ndarray  #: (K, 3, M, S) components of the processes at nodes, mixed for each site


class Scratch(NamedTuple):
    """Memory for intervals of at most n rows."""

    one: np.ndarray  #: (3, 3) transition from the node to a row,
    two: np.ndarray  #: (3, 3) and from there to the next node
    left: np.ndarray  #: (2, 3) what a row takes from the node before, and products of small matrices
    V: np.ndarray  #: (n, n)
    e: np.ndarray  #: (n,)
    gain: np.ndarray  #: (n, 3)
    ahead: np.ndarray  #: (n, 3)


@njit(cache=True, **LEAN_CALLED)
def _fill_transition(d, x, A):
    """The transition over x, into A (3, 3)."""
    decay = math.exp(-x)
    if d == 1:
        A[0, 0] = decay
    elif d == 2:
        A[0, 0], A[0, 1] = decay + decay * x, decay * x
        A[1, 0], A[1, 1] = -decay * x, decay - decay * x
    else:
        for i in range(d):
            for j in range(d):
                own = NILPOTENT[d, i, j] * x + 0.5 * SQUARED[d, i, j] * x * x
                A[i, j] = decay * (own + (1.0 if i == j else 0.0))


@njit(cache=True, **LEAN_CALLED)
def _fill_noise(d, x, A, row):
    """The first row of I - A A' for a transition over x, without cancellation in the first two kernels."""
    if d == 1:
        row[0] = -math.expm1(-2.0 * x)
    elif d == 2:
        decay, part = math.exp(-2.0 * x), 2.0 * x * x
        tail = math.exp(2.0 * x) - 1.0 - 2.0 * x - part  # loses digits near 0
        if x < 1.0:
            tail = 0.0
            for k in range(3, len(INVERSE)):
                part *= 2.0 * x * INVERSE[k]
                tail += part
                if part < NEGLIGIBLE * tail:
                    break
        row[0], row[1] = decay * tail, 2.0 * x * x * decay
    else:
        for j in range(d):
            row[j] = 1.0 if j == 0 else 0.0
            for a in range(d):
                row[j] -= A[0, a] * A[j, a]


@njit(cache=True, **LEAN_CALLED)
def _fill_bridge(bridges, k, before, after, scratch, gain, ahead):
    """For a time between two nodes: the first rows of the gain G (3,), of A1 - G A (left[0]), and of Q1 (3,)."""
    d, one, two, left = bridges.dim[k], scratch.one, scratch.two, scratch.left
    _fill_transition(d, bridges.rate[k] * before, one)
    _fill_transition(d, bridges.rate[k] * after, two)
    _fill_noise(d, bridges.rate[k] * before, one, ahead)
    for b in range(d):
        left[1, b] = 0.0
        for a in range(d):
            left[1, b] += ahead[a] * two[b, a]
    for j in range(d):
        gain[j] = 0.0
        for b in range(d):
            gain[j] += left[1, b] * bridges.precision[k, b, j]
    for j in range(d):
        left[0, j] = one[0, j]
        for a in range(d):
            left[0, j] -= gain[a] * bridges.whole[k, a, j]


@njit(cache=True, **LEAN_CALLED)
def _add_term(path, bridges, data, rows, tau, i, k, scratch):
    """Take the mean of term k from e (n,), and add its covariance to the lower half of V (n, n)."""
    e, V, gain, ahead, left = scratch.e, scratch.V, scratch.gain, scratch.ahead, scratch.left
    start, d, rate = path.first + i * path.step, bridges.dim[k], bridges.rate[k]
    for a in range(len(rows)):
        s, t = data.site[rows[a]], tau[rows[a]]
        _fill_bridge(bridges, k, t - start, start + path.step - t, scratch, gain[a], ahead[a])
        for j in range(d):
            e[a] -= left[0, j] * bridges.states[k, j, i, s] + gain[a, j] * bridges.states[k, j, i + 1, s]
            left[1, j] = 0.0
            for m in range(d):
                left[1, j] += bridges.noise[k, j, m] * gain[a, m]
        for b in range(a + 1):
            _fill_transition(d, rate * (t - tau[rows[b]]), scratch.one)
            own = 0.0
            for j in range(d):
                own += ahead[b, j] * scratch.one[0, j] - gain[b, j] * left[1, j]
            V[a, b] += own * bridges.sites[k, s, data.site[rows[b]]]


@njit(cache=True, **LEAN_CALLED)
def _log_interval(path, bridges, data, rows, tau, i, scratch):
    """log-density of the rows (n,) between nodes i and i + 1, in order of time."""
    n, V, e = len(rows), scratch.V, scratch.e
    for a in range(n):
        r, s = rows[a], data.site[rows[a]]
        e[a] = data.base[r] + data.slope[r] * tau[r] - path.constant[s] - path.linear[s] * tau[r]
        for b in range(a):
            V[a, b] = 0.0
        V[a, a] = data.y_var[r]
    for k in range(len(bridges.dim)):
        _add_term(path, bridges, data, rows, tau, i, k, scratch)
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


@njit(cache=True, **LEAN_CALLED)
def _fill_intervals(path, data, order, tau, rows, interval):
    """Write the measured rows in order of time, and the interval of each; returns how many, -1 if one is beyond."""
    n = 0
    for p in range(len(order)):
        r = order[p]
        i = int(math.floor((tau[r] - path.first) / path.step))  # noqa: RUF046 (compiled code needs it)
        if not (0 <= i < len(path.level) - 1):
            return -1
        if data.y_var[r] != math.inf:
            rows[n], interval[n] = r, i
            n += 1
    return n


@njit(cache=True, **LEAN_CALLED)
def _most_rows(interval, n):
    """The most rows of one interval."""
    most, first = 0, 0
    for p in range(n):
        if interval[p] != interval[first]:
            first = p
        most = max(most, p + 1 - first)
    return most


@njit(cache=True, **LEAN_CALLED)
def _sum_intervals(path, bridges, data, rows, interval, tau, n, scratch):
    total, first = 0.0, 0
    for p in range(n):
        if p + 1 == n or interval[p + 1] != interval[first]:
            total += _log_interval(path, bridges, data, rows[first : p + 1], tau, interval[first], scratch)
            first = p + 1
    return total


@njit(nogil=True, cache=True, **FAST)
def log_exact(path, bridges, data, tau):
    """log p(y | tau, path), up to a constant; -inf where a row lies beyond the nodes."""
    rows, interval = np.empty(len(tau), dtype=np.int64), np.empty(len(tau), dtype=np.int64)
    n = _fill_intervals(path, data, np.argsort(tau), tau, rows, interval)
    if n < 0:
        return -math.inf
    m = _most_rows(interval, n)
    small = np.zeros((3, 3)), np.zeros((3, 3)), np.zeros((2, 3))
    scratch = Scratch(small[0], small[1], small[2], np.empty((m, m)), np.empty(m), np.empty((m, 3)), np.empty((m, 3)))
    return _sum_intervals(path, bridges, data, rows, interval, tau, n, scratch)
