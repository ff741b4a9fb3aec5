"""The likelihood as a function of one input, or of one gap, in O(1) given the filter before and b after.

Moving one input changes two transitions: predict, update, predict, join. Scaling one gap while everything after it
shifts along changes one: predict, join. Both are exact, and both are what the samplers propose.

A trend is taken out of the data beforehand: z = y - trend(tau). Its rate makes z depend on the row's own time,
dz/dtau = tilt (minus the rate; 0 without a linear trend). When all later rows shift together, their data change by a
constant, which is why ``hs`` then carries a second column: the one of data equal to 1 in every row, whose b is written
as a function of x - h (its reference), because the state follows the data up.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from .backward import join
from .filter import predict, stationary, update
from .stack import COMPILED, INLINE, copy, zeros


@njit(**INLINE)
def input_value(blocks, dims, m, P, before, z, y_var, after, G, h, first, last):
    """log p(y) up to a constant, with the row at distances ``before`` and ``after`` from its neighbours.

    m, P: filtered state at the row before (or the prior, if ``first``), left unchanged. G, h: b of the row after.
    """
    mi, Pi, A, Q = zeros(dims, (0,)), zeros(dims, dims), zeros(dims, dims), zeros(dims, dims)
    work, e, data = zeros(dims, dims), zeros((0,), (0,)), zeros((0,), (0,))
    copy(m, mi, dims, (0,))
    copy(P, Pi, dims, dims)
    data[0, 0] = z
    if not first:
        predict(blocks, before, mi, Pi, A, Q, work, dims, (0,))
    S = update(data[0], y_var, mi, Pi, e, dims, (0,))
    value = -0.5 * (math.log(S) + e[0, 0] * e[0, 0] / S)
    if not last:
        predict(blocks, after, mi, Pi, A, Q, work, dims, (0,))
        value += join(mi, Pi, G, h, dims)
    return value


@njit(**INLINE)
def gap_value(blocks, dims, m, P, gap, rise, G, h):
    """log p(y) up to a constant, with the step after the state m, P equal to ``gap`` and all later ones as they are.

    h is that of the later data less ``rise``.
    """
    mi, Pi, A, Q = zeros(dims, (0,)), zeros(dims, dims), zeros(dims, dims), zeros(dims, dims)
    work = zeros(dims, dims)
    copy(m, mi, dims, (0,))
    copy(P, Pi, dims, dims)
    predict(blocks, gap, mi, Pi, A, Q, work, dims, (0,))
    mi[0, 0] -= rise
    return join(mi, Pi, G, h, dims)


@njit(**COMPILED)
def input_log_ratios(blocks, dims, tau, z, y_var, tilt, proposal, Gs, hs):
    """log p(y | tau with tau_i = proposal_i) - log p(y | tau) for each row i on its own, shape (N,).

    proposal_i must lie between the neighbours of row i; Gs (N, d, d) and hs (N, d, 1) are from ``backward``.
    """
    N = len(tau)
    ratios = np.empty(N)
    m, P = zeros(dims, (0,)), zeros(dims, dims)
    A, Q, work = zeros(dims, dims), zeros(dims, dims), zeros(dims, dims)
    e, data = zeros((0,), (0,)), zeros((0,), (0,))
    stationary(blocks, P, zeros(dims, dims), zeros(dims, dims), zeros(dims, (0,)), dims)
    for i in range(N):
        first, last, following = i == 0, i == N - 1, min(i + 1, N - 1)
        left, right = tau[max(i - 1, 0)], tau[following]
        moved = z[i] + tilt * (proposal[i] - tau[i])
        G, h = Gs[following], hs[following]
        ratios[i] = input_value(
            blocks, dims, m, P, proposal[i] - left, moved, y_var[i], right - proposal[i], G, h, first, last
        ) - input_value(blocks, dims, m, P, tau[i] - left, z[i], y_var[i], right - tau[i], G, h, first, last)
        if not first:
            predict(blocks, tau[i] - left, m, P, A, Q, work, dims, (0,))
        data[0, 0] = z[i]
        update(data[0], y_var[i], m, P, e, dims, (0,))
    return ratios


@njit(**COMPILED)
def gap_log_ratios(blocks, dims, tau, z, y_var, tilt, gaps, Gs, hs, constants):
    """log p(y | gap i = gaps_i, later rows shifted along) - log p(y | tau) for each gap on its own, shape (N-1,).

    hs (N, d, 2) and constants (N, 2, 3) are from ``backward`` with the columns [z, 1] and the references [0, 1].
    """
    N, d = len(tau), len(dims)
    ratios = np.empty(max(N - 1, 0))
    m, P, h = zeros(dims, (0,)), zeros(dims, dims), zeros(dims, (0,))
    A, Q, work = zeros(dims, dims), zeros(dims, dims), zeros(dims, dims)
    e, data = zeros((0,), (0,)), zeros((0,), (0,))
    stationary(blocks, P, zeros(dims, dims), zeros(dims, dims), zeros(dims, (0,)), dims)
    for i in range(N - 1):
        data[0, 0] = z[i]
        update(data[0], y_var[i], m, P, e, dims, (0,))
        gap = tau[i + 1] - tau[i]
        rise = tilt * (gaps[i] - gap)  # what the shift adds to all later data
        ratios[i] = -rise * (constants[i + 1, 0, 1] + 0.5 * rise * constants[i + 1, 1, 1])
        for a in range(d):
            h[a, 0] = hs[i + 1, a, 0]
        ratios[i] -= gap_value(blocks, dims, m, P, gap, 0.0, Gs[i + 1], h)
        for a in range(d):
            h[a, 0] += rise * hs[i + 1, a, 1]
        ratios[i] += gap_value(blocks, dims, m, P, gaps[i], rise, Gs[i + 1], h)
        predict(blocks, gap, m, P, A, Q, work, dims, (0,))
    return ratios
