"""The Matérn kernels as linear stochastic differential equations: dx = F x dt + noise, f(t) = x_0(t), Eq. (11).

A block is one Matérn kernel with rate lambda = sqrt(2 nu) / length and variance var. Its state is scaled,
x = (f, f'/lambda, f''/lambda², ...), so that everything depends on z = lambda dt alone:

    A(dt) = expm(F dt)               transition, Eq. (13)
    P_inf                            stationary covariance
    Q(dt) = P_inf - A P_inf A'       added covariance, Eqs. (15) and (16)

The subtraction would lose all digits of Q as dt -> 0. Instead its entries are combinations of the incomplete gamma
functions P(k, u) with u = 2 z, Eq. (14).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from numba import njit

from .stack import INLINE


class NullBlock(NamedTuple):
    """No process at all: f = 0."""

    rate: float
    var: float


class Matern12Block(NamedTuple):
    """Matérn-1/2. State (f); A = exp(-z)."""

    rate: float
    var: float


class Matern32Block(NamedTuple):
    """Matérn-3/2. State (f, f'/lambda); A = exp(-z) [[1+z, z], [-z, 1-z]]; P_inf = var I."""

    rate: float
    var: float


class Matern52Block(NamedTuple):
    """Matérn-5/2. State (f, f'/lambda, f''/lambda²); A = exp(-z) (I + z N + z²/2 N²) with N = F/lambda + I."""

    rate: float
    var: float


STATES = {NullBlock: 1, Matern12Block: 1, Matern32Block: 2, Matern52Block: 3}

#: exp(u) P(k, u) / u^k = 1/k! + u/(k+1)! + u²/(k+2)! + ..., to the last digit for u < 1/2.
_SERIES_3 = tuple(1.0 / math.factorial(3 + n) for n in range(12))
_SERIES_5 = tuple(1.0 / math.factorial(5 + n) for n in range(12))


@njit(**INLINE)
def _polynomial(c, u):
    """c[0] + c[1] u + ... + c[11] u^11, in three parts that the processor can compute at the same time."""
    u2 = u * u
    u4 = u2 * u2
    low = (c[0] + c[1] * u) + u2 * (c[2] + c[3] * u)
    middle = (c[4] + c[5] * u) + u2 * (c[6] + c[7] * u)
    high = (c[8] + c[9] * u) + u2 * (c[10] + c[11] * u)
    return low + u4 * (middle + u4 * high)


@njit(**INLINE)
def _incomplete_gamma_3(u, decay):
    """P(3, u) of Eq. (14), given decay = exp(-u): the series where the closed form would cancel."""
    if u < 0.5:
        return decay * u * u * u * _polynomial(_SERIES_3, u)
    return 1.0 - decay * (1.0 + u * (1.0 + 0.5 * u))


@njit(**INLINE)
def _incomplete_gamma_5(u, decay):
    """P(5, u), the same way."""
    if u < 0.5:
        return decay * (u * u) * (u * u) * u * _polynomial(_SERIES_5, u)
    return 1.0 - decay * (1.0 + u * (1.0 + u * (0.5 + u * (1.0 / 6.0 + u / 24.0))))


@njit(**INLINE)
def _transition_null(block, dt, A, Q, at):
    A[at, at] = 1.0
    Q[at, at] = 0.0


@njit(**INLINE)
def _transition_12(block, dt, A, Q, at):
    z = block.rate * dt
    A[at, at] = math.exp(-z)
    Q[at, at] = -block.var * math.expm1(-2.0 * z)


@njit(**INLINE)
def _transition_32(block, dt, A, Q, at):
    z = block.rate * dt
    decay = math.exp(-z)
    A[at, at] = decay * (1.0 + z)
    A[at, at + 1] = decay * z
    A[at + 1, at] = -decay * z
    A[at + 1, at + 1] = decay * (1.0 - z)

    u, decay = 2.0 * z, decay * decay
    p3 = block.var * _incomplete_gamma_3(u, decay)
    w1 = block.var * u * decay
    Q[at, at] = p3
    Q[at, at + 1] = Q[at + 1, at] = 0.5 * u * w1
    Q[at + 1, at + 1] = p3 + 2.0 * w1


@njit(**INLINE)
def _transition_52(block, dt, A, Q, at):
    z = block.rate * dt
    decay = math.exp(-z)
    h = 0.5 * z * z
    A[at, at] = decay * (1.0 + z + h)
    A[at, at + 1] = decay * (z + 2.0 * h)
    A[at, at + 2] = decay * h
    A[at + 1, at] = -decay * h
    A[at + 1, at + 1] = decay * (1.0 + z - 2.0 * h)
    A[at + 1, at + 2] = decay * (z - h)
    A[at + 2, at] = decay * (h - z)
    A[at + 2, at + 1] = decay * (2.0 * h - 3.0 * z)
    A[at + 2, at + 2] = decay * (1.0 - 2.0 * z + h)

    u, decay = 2.0 * z, decay * decay
    scale = 16.0 / 3.0 * block.var  # w_k = u^k exp(-u) / k!
    p5 = scale * _incomplete_gamma_5(u, decay)
    w1 = scale * u * decay
    w2 = w1 * u / 2.0
    w3 = w2 * u / 3.0
    w4 = w3 * u / 4.0
    Q[at, at] = 3.0 / 16.0 * p5
    Q[at, at + 1] = Q[at + 1, at] = 3.0 / 16.0 * w4
    Q[at, at + 2] = Q[at + 2, at] = w3 / 8.0 - w4 / 4.0 - p5 / 16.0
    Q[at + 1, at + 1] = w3 / 4.0 - w4 / 8.0 + p5 / 16.0
    Q[at + 1, at + 2] = Q[at + 2, at + 1] = w2 / 4.0 - 3.0 / 8.0 * w3 + 3.0 / 16.0 * w4
    Q[at + 2, at + 2] = w1 / 2.0 - w2 / 2.0 + 3.0 / 4.0 * w3 + 3.0 / 16.0 * p5


@njit(**INLINE)
def _start_null(block, P, F, noise, rate, at):
    P[at, at] = 0.0


@njit(**INLINE)
def _start_12(block, P, F, noise, rate, at):
    P[at, at] = block.var
    F[at, at] = -block.rate
    noise[at, at] = 2.0 * block.rate * block.var
    rate[at, 0] = math.nan  # the curve has no derivative


@njit(**INLINE)
def _start_32(block, P, F, noise, rate, at):
    P[at, at] = P[at + 1, at + 1] = block.var
    F[at, at + 1] = block.rate
    F[at + 1, at] = -block.rate
    F[at + 1, at + 1] = -2.0 * block.rate
    noise[at + 1, at + 1] = 4.0 * block.rate * block.var
    rate[at + 1, 0] = block.rate


@njit(**INLINE)
def _start_52(block, P, F, noise, rate, at):
    P[at, at] = P[at + 2, at + 2] = block.var
    P[at + 1, at + 1] = block.var / 3.0
    P[at, at + 2] = P[at + 2, at] = -block.var / 3.0
    F[at, at + 1] = F[at + 1, at + 2] = block.rate
    F[at + 2, at] = -block.rate
    F[at + 2, at + 1] = F[at + 2, at + 2] = -3.0 * block.rate
    noise[at + 2, at + 2] = 16.0 / 3.0 * block.rate * block.var
    rate[at + 1, 0] = block.rate


TRANSITION = {
    NullBlock: _transition_null,
    Matern12Block: _transition_12,
    Matern32Block: _transition_32,
    Matern52Block: _transition_52,
}
START = {
    NullBlock: _start_null,
    Matern12Block: _start_12,
    Matern32Block: _start_32,
    Matern52Block: _start_52,
}
