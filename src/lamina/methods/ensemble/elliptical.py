"""Inputs with a joint normal prior: elliptical slice sampling, tau = mean + root z with z standard normal.

Murray, Adams & MacKay (2010, AISTATS): a draw of the prior spans an ellipse with the present z, and a point of it that
the data like as well as a random level is looked for. It needs no step size. All of z at once moves little where the
data say much of every row, so a run of its coordinates is turned, of random length: the others stay, and are as
independent of it as the prior makes them. With a symmetric root each coordinate belongs to one row and those near it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ...engine.stack import FAST, unowned
from ..mcmc.chain import collapsed, learn, move_theta

Array = np.ndarray

#: Turns a round.
TURNS = 8
#: A bracket of angles narrower than this holds nothing but where the chain is.
NARROWEST = 1e-12


class Normal(NamedTuple):
    """The prior, and where a chain is in it."""

    mean: Array  #: (N,)
    root: Array  #: (R, N) the covariance is root' root
    z: Array  #: (R,)
    drawn: Array  #: (R,) the other point that spans the ellipse
    along: Array  #: (N,) what the run of z that is turned adds to tau, and
    across: Array  #: (N,) what the other point would


def new_normal(mean: Array, covariance: Array, z: Array) -> Normal:
    """The prior N(mean, covariance), begun at the coordinates z (N,), of which those without variance are left out."""
    values, vectors = np.linalg.eigh(covariance)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    there = np.diag(covariance) > 0.0
    root = np.where(np.outer(there, there), root, 0.0)[there]
    R, N = root.shape
    return Normal(mean, root, z[there], np.zeros(R), np.zeros(N), np.zeros(N))


@njit(**FAST)
def place(normal, tau, order):
    """tau = mean + root' z, and its order."""
    tau[:] = normal.mean
    for c in range(len(normal.z)):
        for r in range(len(tau)):
            tau[r] += normal.root[c, r] * normal.z[c]
    order[:] = np.argsort(tau)


@njit(**FAST)
def turn(blocks, dims, columns, rows, model, state, normal, here, rng):
    """Turn a run of z on an ellipse; ``here`` is what ``collapsed`` says of the state, and so is what is returned."""
    R, N = len(normal.z), len(state.tau)
    length = min(int(math.exp(rng.random() * math.log(R + 1.0))), R)
    first = int(rng.random() * R)
    normal.along[:] = 0.0
    normal.across[:] = 0.0
    for k in range(length):
        c = (first + k) % R
        normal.drawn[c] = rng.standard_normal()
        for r in range(N):
            normal.along[r] += normal.root[c, r] * normal.z[c]
            normal.across[r] += normal.root[c, r] * normal.drawn[c]
    level = here[0] + math.log(1.0 - rng.random())
    high = 2.0 * math.pi * rng.random()
    angle, low = high, high - 2.0 * math.pi
    while high - low > NARROWEST:
        cosine, sine = math.cos(angle), math.sin(angle)
        for r in range(N):
            state.trial[r] = state.tau[r] + (cosine - 1.0) * normal.along[r] + sine * normal.across[r]
        order = np.argsort(state.trial)
        there = collapsed(blocks, dims, columns, rows, model, state, state.trial, order, state.phi)
        if there[0] > level:
            state.tau[:] = state.trial
            state.order[:] = order
            for k in range(length):
                c = (first + k) % R
                normal.z[c] = cosine * normal.z[c] + sine * normal.drawn[c]
            return there
        if angle < 0.0:
            low = angle
        else:
            high = angle
        angle = low + (high - low) * rng.random()
    return here


@njit(nogil=True, cache=True, **FAST)
def advance(blocks, dims, columns, model, state, normal, rounds, thin, moves, adapt, rng, taus, phis):
    """Run a chain for ``rounds`` rounds, as ``chain.advance`` does: moves of theta, then turns of the inputs."""
    model, state, normal = unowned(model), unowned(state), unowned(normal)
    rows = state.rows
    for k in range(rounds):
        state.rounds[0] += 1
        rate = 2.0 / (state.rounds[1] + 4.0) ** 0.6 if adapt else 0.0
        place(normal, state.tau, state.order)  # anew, because turns add up rounding
        here = collapsed(blocks, dims, columns, rows, model, state, state.tau, state.order, state.phi)
        here = move_theta(blocks, dims, columns, rows, model, state, here, moves, rate, rng)
        if adapt:
            learn(model, state)
        for _ in range(TURNS if len(normal.z) > 0 else 0):
            here = turn(blocks, dims, columns, rows, model, state, normal, here, rng)
        if (k + 1) % thin == 0:
            taus[k // thin] = state.tau
            phis[k // thin] = state.phi
