"""What a sweep asks of the Markov engine: the state on arrival at a position, and how it meets what later ones know.

    reach         the state at some distance
    see           the state after a row
    meet          the density of everything later, on arrival
    look_back     what this and later positions know

``work`` is that of ``sweep``.
"""

from __future__ import annotations

import math

from numba import njit

from .backward import factorise, join, observe, step_back
from .filter import predict, update
from .stack import INLINE, copy, zeros


@njit(**INLINE)
def reach(blocks, dims, m, P, dt, m_out, P_out):
    """The state at distance dt after m, P, which stay."""
    A, Q, work = zeros(dims, dims), zeros(dims, dims), zeros(dims, dims)
    copy(m, m_out, dims, (0,))
    copy(P, P_out, dims, dims)
    predict(blocks, dt, m_out, P_out, A, Q, work, dims, (0,))


@njit(**INLINE)
def see(dims, z, y_var, m, P):
    """Condition the state m, P on a row: its log-density."""
    e, data = zeros((0,), (0,)), zeros((0,), (0,))
    data[0, 0] = z
    S = update(data[0], y_var, m, P, e, dims, (0,))
    return -0.5 * (math.log(S) + e[0, 0] * e[0, 0] / S)


@njit(**INLINE)
def meet(dims, m, P, work, p):
    """log-density of position p and everything later, on arrival at p in the state m, P, which stay."""
    m1, P1 = zeros(dims, (0,)), zeros(dims, dims)
    copy(m, m1, dims, (0,))
    copy(P, P1, dims, dims)
    return join(m1, P1, work.LD[p], work.h[p], dims)


@njit(**INLINE)
def look_back(blocks, dims, both, p, Lam, eta, work):
    """b at position p, given Lam, eta of b at p + 1 if there is one; Lam and eta are left at p."""
    A, Q, M, B, temp = zeros(dims, dims), zeros(dims, dims), zeros(dims, dims), zeros(dims, both), zeros(dims, dims)
    if p < len(work.time) - 1:
        step_back(blocks, work.time[p + 1] - work.time[p], Lam, eta, A, Q, M, B, temp, dims, (0,), both)
    observe(work.z[p], work.y_var[p], Lam, eta, (0,))
    factorise(Lam, eta, work.LD[p], work.h[p], dims, (0,))


@njit(**INLINE)
def through(blocks, dims, work, m, P, p, q, shift):
    """log-density of the rows at positions p ... q and of everything later, after the state m, P, which stays."""
    m1, P1 = zeros(dims, (0,)), zeros(dims, dims)
    copy(m, m1, dims, (0,))
    copy(P, P1, dims, dims)
    before, value = work.time[p - 1] if p > 0 else 0.0, 0.0
    for k in range(p, q + 1):
        here = work.time[k] + (shift if k > p else 0.0)
        if k > 0:
            reach(blocks, dims, m1, P1, here - before, m1, P1)
        value += see(dims, work.z[k, 0], work.y_var[k], m1, P1)
        before = here
    if q + 1 < len(work.time):
        reach(blocks, dims, m1, P1, work.time[q + 1] + shift - before, m1, P1)
        value += meet(dims, m1, P1, work, q + 1)
    return value


@njit(**INLINE)
def with_data(blocks, dims, work, m, P, p, z, y_var, step):
    """log-density of position p with other data, and of everything later, on arrival at p in the state m, P."""
    m1, P1 = zeros(dims, (0,)), zeros(dims, dims)
    copy(m, m1, dims, (0,))
    copy(P, P1, dims, dims)
    value = see(dims, z, y_var, m1, P1)
    if p < len(work.row) - 1:
        reach(blocks, dims, m1, P1, step, m1, P1)
        value += meet(dims, m1, P1, work, p + 1)
    return value
