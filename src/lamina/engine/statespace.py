"""The Matérn kernels as linear stochastic differential equations: dx = F x dt + noise, f(t) = x_0(t).

A block is one Matérn kernel with rate lambda = sqrt(2 nu) / length and variance var. Its state is scaled,
x = (f, f'/lambda, f''/lambda², ...), so that everything depends on z = lambda dt alone:

    transition   A(dt) = expm(F dt)
    stationary covariance   P_inf
    added noise   Q(dt) = P_inf - A P_inf A', computed without that subtraction, which loses all digits as dt -> 0.

With u = 2 z, the entries of Q are combinations of the incomplete gamma functions P(k, u), which makes them exact.

A sum of kernels stacks its blocks. The state of a sum is written in the basis where x_0 is the *total* curve:
measuring f then means reading x_0, and the variance of the total, often far smaller than those of its parts, keeps all
its digits. ``mix`` and ``unmix`` change to that basis and back (T = identity plus ones from x_0 to each block's head).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from numba import njit
from numba.extending import overload

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


def dimensions(blocks: tuple[Any, ...]) -> tuple[int, ...]:
    """The tuple whose length tells the compiler the state dimension."""
    return (0,) * sum(STATES[type(block)] for block in blocks)


#: exp(u) P(k, u) / u^k = 1/k! + u/(k+1)! + u²/(k+2)! + ..., to the last digit for u < 1/2.
_SERIES_3 = tuple(1.0 / math.factorial(3 + n) for n in range(12))
_SERIES_5 = tuple(1.0 / math.factorial(5 + n) for n in range(12))


@njit(**INLINE)
def _polynomial(c, u):
    """c[0] + c[1] u + ... + c[11] u^11, in three parts that the processor can work on at the same time."""
    u2 = u * u
    u4 = u2 * u2
    low = (c[0] + c[1] * u) + u2 * (c[2] + c[3] * u)
    middle = (c[4] + c[5] * u) + u2 * (c[6] + c[7] * u)
    high = (c[8] + c[9] * u) + u2 * (c[10] + c[11] * u)
    return low + u4 * (middle + u4 * high)


@njit(**INLINE)
def _incomplete_gamma_3(u, decay):
    """P(3, u), given decay = exp(-u): by its series where the closed form would cancel."""
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


_TRANSITION = {
    NullBlock: _transition_null,
    Matern12Block: _transition_12,
    Matern32Block: _transition_32,
    Matern52Block: _transition_52,
}
_START = {
    NullBlock: _start_null,
    Matern12Block: _start_12,
    Matern32Block: _start_32,
    Matern52Block: _start_52,
}


# --- block-diagonal filling, one block after the other -----------------------------------------------------------


def fill(blocks, dt, A, Q, at):
    """Write A(dt) and Q(dt) of each block on the diagonal, from row ``at`` on; entries off the blocks stay."""


@overload(fill, jit_options=INLINE)
def _fill(blocks, dt, A, Q, at):
    transition, n = _TRANSITION[blocks[0].instance_class], STATES[blocks[0].instance_class]
    if len(blocks) == 1:

        def last(blocks, dt, A, Q, at):
            transition(blocks[0], dt, A, Q, at)

        return last

    def first_of_several(blocks, dt, A, Q, at):
        transition(blocks[0], dt, A, Q, at)
        fill(blocks[1:], dt, A, Q, at + n)

    return first_of_several


def start(blocks, P, F, noise, rate, at):
    """Write P_inf, F, the diffusion and the functional f' = rate . x of each block, from row ``at`` on."""


@overload(start, jit_options=INLINE)
def _start(blocks, P, F, noise, rate, at):
    begin, n = _START[blocks[0].instance_class], STATES[blocks[0].instance_class]
    if len(blocks) == 1:

        def last(blocks, P, F, noise, rate, at):
            begin(blocks[0], P, F, noise, rate, at)

        return last

    def first_of_several(blocks, P, F, noise, rate, at):
        begin(blocks[0], P, F, noise, rate, at)
        start(blocks[1:], P, F, noise, rate, at + n)

    return first_of_several


# --- the basis in which the first state is the total curve --------------------------------------------------------


def mix(blocks, A, Q, dims):
    """A <- T A T^-1 and Q <- T Q T', for block-diagonal A and Q as ``fill`` leaves them."""


@overload(mix, jit_options=INLINE)
def _mix(blocks, A, Q, dims):
    if len(blocks) == 1:
        return lambda blocks, A, Q, dims: None
    heads = _heads(blocks)

    def change(blocks, A, Q, dims):
        n0 = heads[0]
        for s in heads:
            for j in range(s, len(dims)):
                A[0, j] = A[s, j]
                Q[0, j] = Q[s, j]
        for s in heads:
            for i in range(n0):
                A[i, s] = -A[i, 0] if i > 0 else A[s, s] - A[0, 0]
            Q[0, 0] += Q[s, s]
        for j in range(n0, len(dims)):
            Q[j, 0] = Q[0, j]

    return change


def unmix_adjoint(blocks, A_bar, Q_bar, dims):
    """Adjoint of ``mix``: A_bar <- T' A_bar T^-T and Q_bar <- T' Q_bar T."""


@overload(unmix_adjoint, jit_options=INLINE)
def _unmix_adjoint(blocks, A_bar, Q_bar, dims):
    if len(blocks) == 1:
        return lambda blocks, A_bar, Q_bar, dims: None
    heads = _heads(blocks)

    def change(blocks, A_bar, Q_bar, dims):
        d = len(dims)
        for s in heads:
            for j in range(d):
                A_bar[s, j] += A_bar[0, j]
                Q_bar[s, j] += Q_bar[0, j]
        for s in heads:
            for i in range(d):
                A_bar[i, 0] -= A_bar[i, s]
                Q_bar[i, s] += Q_bar[i, 0]

    return change


def _heads(blocks: Any) -> tuple[int, ...]:
    """Where each block after the first begins (from the Numba types of the blocks)."""
    sizes = [STATES[block.instance_class] for block in blocks]
    return tuple(sum(sizes[:b]) for b in range(1, len(sizes)))


def tangent(blocks, A, Q, F, noise, A_bar, Q_bar, dt, out, at, b):
    """Adjoint of ``fill``: returns d/d dt; adds d/d log length and d/d log var of block b to out[b, 0] and out[b, 1].

    dA/dt = F A and dQ/dt = A noise A', both within the block; A depends on rate * dt, and Q is proportional to var.
    """


@overload(tangent, jit_options=INLINE)
def _tangent(blocks, A, Q, F, noise, A_bar, Q_bar, dt, out, at, b):
    n = STATES[blocks[0].instance_class]

    def one(blocks, A, Q, F, noise, A_bar, Q_bar, dt, out, at, b):
        slope = 0.0
        in_var = 0.0
        last = at + n - 1
        for i in range(at, at + n):
            for j in range(at, at + n):
                dA = 0.0
                for k in range(at, at + n):
                    dA += F[i, k] * A[k, j]
                slope += A_bar[i, j] * dA + Q_bar[i, j] * noise[last, last] * A[i, last] * A[j, last]
                in_var += Q_bar[i, j] * Q[i, j]
        out[b, 0] -= dt * slope
        out[b, 1] += in_var
        return slope

    if len(blocks) == 1:
        return one
    one_block = njit(**INLINE)(one)

    def first_of_several(blocks, A, Q, F, noise, A_bar, Q_bar, dt, out, at, b):
        slope = one_block(blocks, A, Q, F, noise, A_bar, Q_bar, dt, out, at, b)
        return slope + tangent(blocks[1:], A, Q, F, noise, A_bar, Q_bar, dt, out, at + n, b + 1)

    return first_of_several


def blocks_at(blocks, factors, phi, b):
    """Blocks of the same kinds at phi, which begins with log length and log sd of each; ``b`` counts from 0.

    rate = factors[b] / length. (A kernel without blocks has one that is null and heeds neither.)
    """


@overload(blocks_at, jit_options=INLINE)
def _blocks_at(blocks, factors, phi, b):
    kind = blocks[0].instance_class
    if len(blocks) == 1:
        return lambda blocks, factors, phi, b: (
            kind(factors[b] * math.exp(-phi[2 * b]), math.exp(2.0 * phi[2 * b + 1])),
        )

    def first_of_several(blocks, factors, phi, b):
        one = kind(factors[b] * math.exp(-phi[2 * b]), math.exp(2.0 * phi[2 * b + 1]))
        return (one, *blocks_at(blocks[1:], factors, phi, b + 1))

    return first_of_several
