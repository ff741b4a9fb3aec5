"""The likelihood of a field: one filter over the merged rows of all sites, O(N D²), Eq. (74).

With U = P - I, the covariance of the state less its stationary one, a gap is U <- A U A', and a row that observes h
with variance R is gamma = h + U h, S = h' gamma + R, U <- U - gamma gamma' / S, m <- m + gamma e / S. Trend columns
that are common to all sites are filtered with the same gain and integrated out (``lamina.model.trend``).

The compiled loop works on memory that its caller makes (``LEAN_CALLED``): to count references to slices of arrays took
most of its time.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ...engine.stack import FAST, INLINE, LEAN_CALLED, copy_array
from ..transition import NILPOTENT, SQUARED, fill_observation, fill_transition, move_columns, move_rows
from .mixed import fill_shared
from .waiting import WAITING, add_row, subtract

#: The filter moves its base on before the fastest process has decayed by so many factors of e.
FARTHEST = 2.0


class Series(NamedTuple):
    """Measured rows in order of time."""

    time: np.ndarray  #: (N,)
    site: np.ndarray  #: (N,) int64
    Z: np.ndarray  #: (N, C) y, less what is known before the fit, and common trend columns
    y_var: np.ndarray  #: (N,)


class Gains(NamedTuple):
    """What the filter leaves behind for drawing paths: ``fill_gamma``."""

    v: np.ndarray  #: (N, D) A^-1 gamma, of mixed states
    S: np.ndarray  #: (N,)
    base: np.ndarray  #: (N,) the time of the base, from which A leads to the row


def new_gains(n: int, size: int) -> Gains:
    """Gains to be filled in."""
    return Gains(np.empty((n, size)), np.empty(n), np.empty(n))


@njit(cache=True, **FAST)
def fill_gamma(layout, values, time, gains, gamma):
    """Write gamma = A v (N, D), of mixed states."""
    _fill_gamma(layout, values, time, gains, gamma, np.zeros((len(values.rate), 3, 3)))


@njit(cache=True, **LEAN_CALLED)
def _fill_gamma(layout, values, time, gains, gamma, A):
    for n in range(len(gamma)):
        copy_array(gains.v[n], gamma[n])
        fill_transition(layout, values.rate, time[n] - gains.base[n], A)
        move_columns(layout, values.rate, A, gamma[n : n + 1], False)


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


class Step(NamedTuple):
    """From the base to a row: the entries of A' h that are not zero, one for each component of each term."""

    place: np.ndarray  #: (Q,) int64: the state
    weight: np.ndarray  #: (Q,) the entry
    back: np.ndarray  #: (Q,) what A^-1 P h has of the shared variances of the term (``fill_shared``)


@njit(nogil=True, cache=True, **FAST)
def run_filter(layout, values, series, gains, E):
    """sum log S; writes the gains, and E = sum e e' / S (C, C). A variance that is not positive gives NaN."""
    C, D, K = len(E), gains.v.shape[1], len(values.rate)
    step = Step(np.empty(3 * K, dtype=np.int64), np.empty(3 * K), np.empty(3 * K))
    M, late = (np.zeros((D, D + C)), E), (np.zeros((WAITING, D + C)), np.zeros(WAITING))
    E[:, :] = 0.0
    shared = np.empty(values.mix.shape)
    fill_shared(layout, values.mix, shared)
    return _run(layout, values, shared, series, gains, M, late, step, np.zeros((K, 3, 3)))


@njit(cache=True, **LEAN_CALLED)
def _run(layout, values, shared, series, gains, M, late, step, A):
    """``run_filter``. States are mixed (``mixed``), so that a row measures one process of each term.

    M = [U, m'; m, -E], in two parts, is kept as at an earlier time, its base: with A from there to a row, U is A M A',
    a step from row to row changes nothing, and a row is M <- M - v v' / S with v = [A^-1 gamma, -e]. These updates
    wait (``waiting``). The base moves on before A^-1, which grows, could lose digits.
    """
    (W, E), (V, inverse) = M, late
    N, C = series.Z.shape
    D, total, base, waiting, fastest = len(W), 0.0, series.time[0] if N > 0 else 0.0, 0, 0.0
    for k in range(len(values.rate)):
        fastest = max(fastest, values.rate[k])
    for n in range(N):
        s, time = series.site[n], series.time[n]
        if (time - base) * fastest > FARTHEST or waiting == WAITING:
            subtract(V, inverse, W, E)
            waiting = 0
        if (time - base) * fastest > FARTHEST:
            fill_transition(layout, values.rate, time - base, A)
            move_rows(layout, values.rate, A, W, D + C, False)
            move_columns(layout, values.rate, A, W, False)
            base = time
        v = V[waiting]
        count = _fill_step(layout, values, s, time, base, step)
        _observe(layout, step, shared[s], W, v)
        for c in range(C):
            v[D + c] -= series.Z[n, c]
        for b in range(waiting):
            along, other = 0.0, V[b]
            for q in range(count):
                along -= step.weight[q] * other[step.place[q]]
            add_row(along * inverse[b], other, v)
        S = series.y_var[n]
        for q in range(count):
            S += step.weight[q] * v[step.place[q]]
        if not S > 0.0:
            return math.nan
        total += math.log(S)
        inverse[waiting] = 1.0 / S
        waiting += 1
        gains.S[n], gains.base[n] = S, base
        for j in range(D):
            gains.v[n, j] = v[j]
    subtract(V, inverse, W, E)
    for c in range(C):
        for b in range(c + 1):
            E[c, b] = E[b, c] = -E[c, b]
    return total


@njit(**INLINE)
def _fill_step(layout, values, s, time, base, step):
    """The step to a row at site s. Returns how many entries it has."""
    count = 0
    for k in range(len(layout.dim)):
        d, r, x = layout.dim[k], layout.size[k], values.rate[k] * (time - base)
        lever, decay = time - layout.origin[k] if layout.linear[k] else 1.0, math.exp(-x)
        weight, place = lever * decay, layout.start[k]
        if r == 1:
            weight *= values.mix[s, layout.first[k]]
        else:
            place += s
        grown = lever / decay
        for i in range(d):
            ahead, back = 1.0 if i == 0 else 0.0, 1.0 if i == 0 else 0.0
            if d > 1:
                ahead += (NILPOTENT[d, 0, i] + 0.5 * SQUARED[d, 0, i] * x) * x
                back -= (NILPOTENT[d, i, 0] - 0.5 * SQUARED[d, i, 0] * x) * x
            step.place[count], step.weight[count], step.back[count] = place + i * r, weight * ahead, grown * back
            count += 1
    return count


@njit(**INLINE)
def _observe(layout, step, shared, W, v):
    """v = W A' h, and A^-1 P h added on the states."""
    for c in range(len(v)):
        v[c] = 0.0
    q = 0
    for k in range(len(layout.dim)):
        r, start = layout.size[k], layout.start[k]
        for _ in range(layout.dim[k]):
            add_row(step.weight[q], W[step.place[q]], v)
            for p in range(r):
                v[start + p] += step.back[q] * shared[layout.first[k] + p]
            start += r
            q += 1
