"""Inputs that are one of the members of an ensemble: the number of the member is an unknown of the chain.

The member is drawn anew among the present one and others that are tried at random (conditional importance resampling:
Andrieu, Doucet & Holenstein 2010, J. R. Stat. Soc. B 72, 269-342). Members are tried with a probability, their share,
that is learnt in warm-up: likely members are tried more often, and every member is tried sometimes. All members of a
small ensemble are tried each time, which is Gibbs sampling.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ...engine.noise import uniform
from ...engine.stack import ENTRY, INNER, copy_array, hold
from ..mcmc.chain import keep
from ..mcmc.theta import learn_covariance, learning_rate, move_theta
from ..target import collapsed

Array = np.ndarray

#: Members tried a round. More find the likely ones sooner, and each costs as much as a move of theta.
TRIED = 48
#: The part of the tries that goes to all members alike, whatever their posterior probability.
ALIKE = 0.5


class Members(NamedTuple):
    """An ensemble, and where a chain is in it."""

    tau: Array  #: (M, N) inputs of each member
    order: Array  #: (M, N) rows by time
    share: Array  #: (M,) probability with which each is tried
    heaped: Array  #: (M,) and its running sum
    mass: Array  #: (M,) posterior probability of each, summed over the rounds
    now: Array  #: (1,) the present member
    tried: Array  #: (K,) those tried in a round
    weight: Array  #: (K,) and the weight of each


def new_members(tau: Array, first: int) -> Members:
    """An ensemble tau (M, N) of which all members are tried alike, begun at member ``first``."""
    M = len(tau)
    share, tried = np.full(M, 1.0 / M), min(M, TRIED)
    return Members(
        tau=tau,
        order=np.argsort(tau, axis=1, kind="stable"),
        share=share,
        heaped=np.cumsum(share),
        mass=np.zeros(M),
        now=np.array([first]),
        tried=np.zeros(tried, dtype=np.int64),
        weight=np.zeros(tried),
    )


def learn_shares(members: Members) -> None:
    """Try those more often that had posterior probability until now, which is then forgotten."""
    M, total = len(members.share), members.mass.sum()
    if len(members.tried) < M and total > 0.0:
        members.share[:] = ALIKE / M + (1.0 - ALIKE) * members.mass / total
        members.heaped[:] = np.cumsum(members.share)
    members.mass[:] = 0.0


@njit(**INNER)
def choose(target, state, members, rng):
    """Draw the member anew given theta: with weights p(y | tau) / share, Eq. (69), the posterior stays invariant."""
    M, K = len(members.share), len(members.tried)
    highest = -math.inf
    for k in range(K):
        m = members.now[0] if k == 0 else min(np.searchsorted(members.heaped, uniform(rng)), M - 1)
        if K == M:
            m = k
        value = collapsed(target, members.tau[m], members.order[m], state.phi, state.trend, np.int64(0)).value
        value -= math.log(members.share[m])
        members.tried[k], members.weight[k] = m, value if value > -math.inf else -math.inf  # NaN is no weight either
        highest = max(highest, members.weight[k])
    total = 0.0
    for k in range(K):
        members.weight[k] = math.exp(members.weight[k] - highest)
        total += members.weight[k]
    left, chosen = uniform(rng) * total, -1
    for k in range(K):
        members.mass[members.tried[k]] += members.weight[k] / total
        left -= members.weight[k]
        if chosen < 0 and left < 0.0:
            chosen = members.tried[k]
    if chosen >= 0:  # the last one may be missed by rounding
        members.now[0] = chosen
        copy_array(members.tau[chosen], state.tau)
        copy_array(members.order[chosen], state.order)


@njit(**ENTRY)
def advance(target, state, members, schedule, rng, kept):
    """Run a chain for some rounds, as ``mcmc.chain.advance`` does: moves of theta, then the member."""
    target, state, members = hold(target), hold(state), hold(members)
    for k in range(schedule.rounds):
        state.rounds[0] += 1
        rate = learning_rate(state, schedule.adapts)
        here = collapsed(target, state.tau, state.order, state.phi, state.trend, np.int64(0))
        move_theta(target, state, here, schedule.moves.theta, rate, rng)
        if schedule.adapts:
            learn_covariance(target, state)
        choose(target, state, members, rng)
        if (k + 1) % schedule.thin == 0:
            keep(target, state, kept, k // schedule.thin)
