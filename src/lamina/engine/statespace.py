"""A sum of Matérn blocks as one Markov process.

The states of the blocks (``blocks``) are stacked. The state of a sum is written in the basis in which x_0 is the
*total* curve, Eq. (17): a measurement of f then reads x_0, and the variance of the total, often far smaller than those
of its parts, keeps all its digits. ``mix`` changes to that basis, and ``unmix_adjoint`` changes derivatives back.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from numba import njit
from numba.extending import overload

from .blocks import START, STATES, TRANSITION
from .stack import INLINE


class Process(NamedTuple):
    """A sum of blocks, with the sizes that the compiler must know: each is the length of a tuple (see ``stack``)."""

    blocks: tuple[Any, ...]
    dims: tuple[int, ...]  #: d, the dimension of the state
    columns: tuple[int, ...]  #: C, the number of data columns


class Transition(NamedTuple):
    """One step in time (``transition``)."""

    A: Any  #: (d, d)
    Q: Any  #: (d, d)
    work: Any  #: (d, d) scratch


class Motion(NamedTuple):
    """Transition and drift of a step, block by block: what ``tangent`` differentiates."""

    A: Any
    Q: Any
    F: Any
    noise: Any


def dimensions(blocks: tuple[Any, ...]) -> tuple[int, ...]:
    """A tuple as long as the state."""
    return (0,) * sum(STATES[type(block)] for block in blocks)


def make_process(blocks: tuple[Any, ...], columns: int = 1) -> Process:
    """The process of these blocks, for ``columns`` columns of data."""
    return Process(blocks, dimensions(blocks), (0,) * columns)


# --- block-diagonal filling, one block after the other -----------------------------------------------------------


def fill(blocks, dt, A, Q, at):
    """Write A(dt) and Q(dt) of each block on the diagonal, from row ``at`` on; entries off the blocks stay."""


@overload(fill, jit_options=INLINE)
def _fill(blocks, dt, A, Q, at):
    transition, n = TRANSITION[blocks[0].instance_class], STATES[blocks[0].instance_class]
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
    begin, n = START[blocks[0].instance_class], STATES[blocks[0].instance_class]
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


def tangent(blocks, motion, bar, dt, out, at, b):
    """Adjoint of ``fill``, Eqs. (26) and (27): returns d/d dt.

    Adds d/d log length and d/d log var of block b to out[b, 0] and out[b, 1]. ``bar`` is a Transition with the adjoints
    of A and Q. dA/dt = F A and dQ/dt = A noise A', both within the block; A depends on rate * dt, and Q is proportional
    to var.
    """


@overload(tangent, jit_options=INLINE)
def _tangent(blocks, motion, bar, dt, out, at, b):
    n = STATES[blocks[0].instance_class]

    def one(blocks, motion, bar, dt, out, at, b):
        A, Q, F, noise = motion
        A_bar, Q_bar = bar.A, bar.Q
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

    def first_of_several(blocks, motion, bar, dt, out, at, b):
        slope = one_block(blocks, motion, bar, dt, out, at, b)
        return slope + tangent(blocks[1:], motion, bar, dt, out, at + n, b + 1)

    return first_of_several


def blocks_at(blocks, factors, phi, b):
    """Blocks of the same kinds at phi, which begins with log length and log sd of each; ``b`` counts from 0.

    rate = factors[b] / length. (A kernel without blocks has a null block, which ignores both.)
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


@njit(**INLINE)
def process_at(process, factors, phi):
    """The process with its parameters at phi."""
    return Process(blocks_at(process.blocks, factors, phi, 0), process.dims, process.columns)


@njit(**INLINE)
def transition(process, dt, step):
    """Write A and Q of a step dt, in the basis of the total curve, into ``step``."""
    fill(process.blocks, dt, step.A, step.Q, 0)
    mix(process.blocks, step.A, step.Q, process.dims)
