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

    U and m are one matrix W = [U, m'] (D, D + C): its rows are moved and updated in one go.
    """
    N, C = series.Z.shape
    D = gains.gamma.shape[1]
    W, h, A, update = np.zeros((D, D + C)), np.empty(D), np.zeros((len(values.rate), 3, 3)), np.empty(D + C)
    E[:, :] = 0.0
    total = 0.0
    for n in range(N):
        if n > 0 and series.time[n] > series.time[n - 1]:
            fill_transition(layout, values.rate, series.time[n] - series.time[n - 1], A)
            move_rows(layout, values.rate, A, W, D + C, False)
            move_columns(layout, values.rate, A, W, False)
        gamma = gains.gamma[n]
        S = _observe_all(layout, values.mix, series, n, W, h, update) + series.y_var[n]
        if not S > 0.0:
            return math.nan
        gains.S[n] = S
        total += math.log(S)
        for i in range(D):
            gamma[i] = update[i]
        for c in range(C):
            gains.e[n, c] = update[D + c]
            update[D + c] = -update[D + c]
        for i in range(D):
            weight, row = gamma[i] / S, W[i]
            for j in range(D + C):
                row[j] -= weight * update[j]
        for c in range(C):
            weight, row, e = gains.e[n, c] / S, E[c], gains.e[n]
            for b in range(c + 1):
                row[b] += weight * e[b]
    for c in range(C):
        for b in range(c):
            E[b, c] = E[c, b]
    return total


@njit(cache=True, **FAST)
def _observe_all(layout, mix, series, n, W, h, update):
    """Write gamma = h + U h and the errors e = Z - m' h of row n into update (D + C,); returns h' gamma."""
    s, D, C = series.site[n], len(h), series.Z.shape[1]
    fill_observation(layout, mix, s, series.time[n], h)
    for i in range(D):
        update[i] = h[i]
    for c in range(C):
        update[D + c] = -series.Z[n, c]
    for k in range(len(layout.dim)):
        for j in range(layout.start[k] + layout.low[k, s], layout.start[k] + layout.high[k, s]):
            weight, row = h[j], W[j]
            for i in range(D + C):
                update[i] += weight * row[i]
    for c in range(C):
        update[D + c] = -update[D + c]
    total = 0.0
    for k in range(len(layout.dim)):
        for j in range(layout.start[k] + layout.low[k, s], layout.start[k] + layout.high[k, s]):
            total += h[j] * update[j]
    return total
