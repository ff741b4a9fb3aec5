"""Inputs that are one of the members of an ensemble: which of them is one more unknown of a chain.

The member is drawn anew among the present one and others that are tried at random (conditional importance resampling:
Andrieu, Doucet & Holenstein 2010, J. R. Stat. Soc. B 72, 269-342). Members are tried with a probability, their share,
that is learnt in warm-up: those that the data made likely are tried more often, and every member is tried sometimes. An
ensemble that is small enough is tried whole each time, which is Gibbs sampling.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ...engine.stack import FAST, unowned
from ..mcmc.chain import collapsed, learn, move_theta

Array = np.ndarray

#: So many members are tried a round. More find the likely ones sooner, and each costs as much as a move of theta.
TRIED = 48
#: The part of the tries that goes to all members alike, whatever the data seem to say.
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


@njit(**FAST)
def choose(blocks, dims, columns, rows, model, state, members, rng):
    """Draw the member anew given theta: with weights p(y | tau) / share, the choice leaves the posterior as it is."""
    M, K = len(members.share), len(members.tried)
    highest = -math.inf
    for k in range(K):
        m = members.now[0] if k == 0 else min(np.searchsorted(members.heaped, rng.random()), M - 1)
        if K == M:
            m = k
        value = collapsed(blocks, dims, columns, rows, model, state, members.tau[m], members.order[m], state.phi)[0]
        value -= math.log(members.share[m])
        members.tried[k], members.weight[k] = m, value if value > -math.inf else -math.inf  # NaN is no weight either
        highest = max(highest, members.weight[k])
    total = 0.0
    for k in range(K):
        members.weight[k] = math.exp(members.weight[k] - highest)
        total += members.weight[k]
    left, chosen = rng.random() * total, -1
    for k in range(K):
        members.mass[members.tried[k]] += members.weight[k] / total
        left -= members.weight[k]
        if chosen < 0 and left < 0.0:
            chosen = members.tried[k]
    if chosen >= 0:  # the last one may be missed by rounding
        members.now[0] = chosen
        state.tau[:] = members.tau[chosen]
        state.order[:] = members.order[chosen]


@njit(nogil=True, cache=True, **FAST)
def advance(blocks, dims, columns, model, state, members, rounds, thin, moves, adapt, rng, taus, phis):
    """Run a chain for ``rounds`` rounds, as ``chain.advance`` does: moves of theta, then the member."""
    model, state, members = unowned(model), unowned(state), unowned(members)
    rows = state.rows
    for k in range(rounds):
        state.rounds[0] += 1
        rate = 2.0 / (state.rounds[1] + 4.0) ** 0.6 if adapt else 0.0
        here = collapsed(blocks, dims, columns, rows, model, state, state.tau, state.order, state.phi)
        move_theta(blocks, dims, columns, rows, model, state, here, moves, rate, rng)
        if adapt:
            learn(model, state)
        choose(blocks, dims, columns, rows, model, state, members, rng)
        if (k + 1) % thin == 0:
            taus[k // thin] = state.tau
            phis[k // thin] = state.phi
