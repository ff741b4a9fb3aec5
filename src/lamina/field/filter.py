"""The likelihood of a field: one filter over the merged rows of all sites, O(N D²), Eq. (74).

With U = P - I, the covariance of the state less its stationary one, a gap is U <- A U A', and a row that observes h
with variance R is gamma = h + U h, S = h' gamma + R, U <- U - gamma gamma' / S, m <- m + gamma e / S. Trend columns
that are common to all sites are filtered with the same gain and integrated out (``lamina.model.trend``).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ..engine.stack import FAST
from .transition import fill_observation, fill_transition, move_columns, move_rows

#: The filter moves its base on before the fastest process has decayed by so many factors of e.
FARTHEST = 2.0


class Series(NamedTuple):
    """Measured rows in order of time."""

    time: np.ndarray  #: (N,)
    site: np.ndarray  #: (N,) int64
    Z: np.ndarray  #: (N, C) y, less what is known before the fit, and common trend columns
    y_var: np.ndarray  #: (N,)


class Gains(NamedTuple):
    """What the filter leaves behind for smoothing and for drawing paths."""

    gamma: np.ndarray  #: (N, D)
    S: np.ndarray  #: (N,)
    e: np.ndarray  #: (N, C)


def new_gains(n: int, size: int, columns: int) -> Gains:
    """Gains to be filled in."""
    return Gains(np.empty((n, size)), np.empty(n), np.empty((n, columns)))


@njit(cache=True, **FAST)
def observe(layout, mix, s, time, U, h, gamma):
    """gamma = h + U h (D,) for a row at site s, using the few entries of h that are not zero; returns h' gamma."""
    fill_observation(layout, mix, s, time, h)
    D = len(h)
    for i in range(D):
        gamma[i] = h[i]
    for k in range(len(layout.dim)):
        for j in range(layout.start[k] + layout.low[k, s], layout.start[k] + layout.high[k, s]):
            weight, row = h[j], U[j]
            for i in range(D):
                gamma[i] += weight * row[i]
    total = 0.0
    for k in range(len(layout.dim)):
        for j in range(layout.start[k] + layout.low[k, s], layout.start[k] + layout.high[k, s]):
            total += h[j] * gamma[j]
    return total


@njit(cache=True, **FAST)
def subtract_outer(U, gamma, S):
    """U <- U - gamma gamma' / S."""
    D = len(gamma)
    for i in range(D):
        weight, row = gamma[i] / S, U[i]
        for j in range(D):
            row[j] -= weight * gamma[j]


@njit(nogil=True, cache=True, **FAST)
def run_filter(layout, values, series, gains, E):
    """sum log S; writes the gains, and E = sum e e' / S (C, C). A variance that is not positive gives NaN.

    W = [U, m'] (D, D + C) is kept as at an earlier time, its base: with A from there to a row, U is A W A', and a step
    from row to row changes nothing. The base moves on before A^-1, which grows, could lose digits.
    """
    N, C = series.Z.shape
    D, K = gains.gamma.shape[1], len(values.rate)
    W, h, total, base = np.zeros((D, D + C)), np.empty(D), 0.0, 0.0
    ahead, back, update, left = np.zeros((K, 3, 3)), np.zeros((K, 3, 3)), np.empty(D + C), np.empty(D)
    E[:, :] = 0.0
    for n in range(N):
        gap = series.time[n] - base if n > 0 else 0.0
        fill_transition(layout, values.rate, gap, ahead)
        if n == 0 or gap * np.max(values.rate) > FARTHEST:
            move_rows(layout, values.rate, ahead, W, D + C, False)
            move_columns(layout, values.rate, ahead, W, False)
            base, gap = series.time[n], 0.0
            fill_transition(layout, values.rate, gap, ahead)
        fill_transition(layout, values.rate, -gap, back)
        gamma, e = gains.gamma[n], gains.e[n]
        S = _observe_all(layout, values.mix, series, n, (ahead, back), W, (h, gamma, left, update)) + series.y_var[n]
        if not S > 0.0:
            return math.nan
        gains.S[n] = S
        total += math.log(S)
        for c in range(C):
            e[c] = -update[D + c]
        for i in range(D):
            weight, row = left[i] / S, W[i]
            for j in range(D + C):
                row[j] -= weight * update[j]
        for c in range(C):
            weight, row = e[c] / S, E[c]
            for b in range(c + 1):
                row[b] += weight * e[b]
    for c in range(C):
        for b in range(c):
            E[b, c] = E[c, b]
    return total


@njit(cache=True, **FAST)
def _observe_all(layout, mix, series, n, moves, W, out):
    """Row n, seen from the base: out = h, gamma = h + U h and A^-1 gamma (D,), and the latter beside -e (D + C,).

    With moves = A and A^-1, U h is A W A' h, so that A^-1 gamma = A^-1 h + W A' h. Returns h' gamma.
    """
    (ahead, back), (h, gamma, left, update) = moves, out
    s, D, C, total = series.site[n], len(h), series.Z.shape[1], 0.0
    fill_observation(layout, mix, s, series.time[n], h)
    for i in range(D):
        update[i] = 0.0
    for c in range(C):
        update[D + c] = -series.Z[n, c]
    for k in range(len(layout.dim)):
        r = layout.size[k]
        for j in range(layout.start[k] + layout.low[k, s], layout.start[k] + layout.high[k, s]):
            for i in range(layout.dim[k]):
                weight, row = ahead[k, 0, i] * h[j], W[j + i * r]
                for c in range(D + C):
                    update[c] += weight * row[c]
    for k in range(len(layout.dim)):
        d, r, start = layout.dim[k], layout.size[k], layout.start[k]
        for i in range(d):
            for p in range(start, start + r):
                x = h[p] if i == 0 else 0.0
                for j in range(d):
                    x += ahead[k, i, j] * update[p + j * r]
                gamma[p + i * r] = x
        for i in range(d):
            for p in range(start, start + r):
                left[p + i * r] = update[p + i * r] + back[k, i, 0] * h[p]
        for j in range(start + layout.low[k, s], start + layout.high[k, s]):
            total += h[j] * gamma[j]
    for i in range(D):
        update[i] = left[i]
    return total
