"""Inputs with a joint normal prior: elliptical slice sampling, tau = mean + root z with z standard normal.

Murray, Adams & MacKay (2010, AISTATS), Eq. (70): a draw of the prior and the present z span an ellipse. On it a point
is looked for whose likelihood exceeds a random level. There is no step size. Where the data determine every row well,
all of z at once would move little. So a run of its coordinates, of random length, is turned, and the others, which are
independent of them a priori, stay. With a symmetric root each coordinate belongs to one row and those near it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ...engine.noise import standard_normal, uniform
from ...engine.stack import ENTRY, FAST, INNER, copy_array, hold
from ..mcmc.chain import keep
from ..mcmc.theta import learn_covariance, learning_rate, move_theta
from ..target import collapsed

Array = np.ndarray

#: Turns a round.
TURNS = 8
#: A bracket of angles narrower than this holds nothing but where the chain is.
NARROWEST_BRACKET = 1e-12


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


@njit(cache=True, **FAST)
def place(normal, tau, order):
    """tau = mean + root' z, and its order."""
    copy_array(normal.mean, tau)
    for c in range(len(normal.z)):
        for r in range(len(tau)):
            tau[r] += normal.root[c, r] * normal.z[c]
    copy_array(np.argsort(tau), order)


@njit(**INNER)
def turn(target, state, normal, here, rng):
    """Turn a run of z on an ellipse, Eq. (70); ``here`` is ``collapsed`` at the state, as is what is returned."""
    R, N = len(normal.z), len(state.tau)
    length = min(int(math.exp(uniform(rng) * math.log(R + 1.0))), R)
    first = int(uniform(rng) * R)
    normal.along[:] = 0.0
    normal.across[:] = 0.0
    for k in range(length):
        c = (first + k) % R
        normal.drawn[c] = standard_normal(rng)
        for r in range(N):
            normal.along[r] += normal.root[c, r] * normal.z[c]
            normal.across[r] += normal.root[c, r] * normal.drawn[c]
    level = here.value + math.log(1.0 - uniform(rng))
    high = 2.0 * math.pi * uniform(rng)
    angle, low = high, high - 2.0 * math.pi
    while high - low > NARROWEST_BRACKET:
        cosine, sine = math.cos(angle), math.sin(angle)
        for r in range(N):
            state.trial[r] = state.tau[r] + (cosine - 1.0) * normal.along[r] + sine * normal.across[r]
        order = np.argsort(state.trial)
        there = collapsed(target, state.trial, order, state.phi, state.trend, 1 - here.place)
        if there.value > level:
            copy_array(state.trial, state.tau)
            copy_array(order, state.order)
            for k in range(length):
                c = (first + k) % R
                normal.z[c] = cosine * normal.z[c] + sine * normal.drawn[c]
            return there
        if angle < 0.0:
            low = angle
        else:
            high = angle
        angle = low + (high - low) * uniform(rng)
    return here


@njit(**ENTRY)
def advance(target, state, normal, schedule, rng, kept):
    """Run a chain for some rounds, as ``mcmc.chain.advance`` does: moves of theta, then turns of the inputs."""
    target, state, normal = hold(target), hold(state), hold(normal)
    for k in range(schedule.rounds):
        state.rounds[0] += 1
        rate = learning_rate(state, schedule.adapts)
        place(normal, state.tau, state.order)  # anew, because turns add up rounding
        here = collapsed(target, state.tau, state.order, state.phi, state.trend, np.int64(0))
        here = move_theta(target, state, here, schedule.moves.theta, rate, rng)
        if schedule.adapts:
            learn_covariance(target, state)
        for _ in range(TURNS if len(normal.z) > 0 else 0):
            here = turn(target, state, normal, here, rng)
        if (k + 1) % schedule.thin == 0:
            keep(target, state, kept, k // schedule.thin)
