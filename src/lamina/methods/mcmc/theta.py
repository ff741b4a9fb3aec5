"""Joint random walk of theta (and y_scale) given the inputs.

Leaves p(theta | tau, y) invariant, trend coefficients integrated out: a symmetric step, accepted with the
ratio of p(y | tau, theta) p(theta), Eq. (44). The shape of the step is the covariance of theta, learnt in warm-up.
"""

from __future__ import annotations

import math

from numba import njit

from ...engine.stack import INLINE, LEAN, copy_array
from ..target import collapsed, log_parameter_prior
from .metropolis import JOINT_TARGET, THETA_STEP, accept, adapt, draw_step


@njit(**LEAN)
def move_theta(target, state, here, moves, rate, rng):
    """Some moves; ``here`` is ``collapsed`` at the state, before, and what is returned, after them."""
    J, proposal, noise = len(target.theta), state.proposal, state.noise
    copy_array(state.phi, proposal)
    for _ in range(moves if J > 0 else 0):
        ratio = 0.0
        for j in range(J):
            noise[j] = draw_step(rng)
        for j in range(J):
            step = 0.0
            for k in range(j + 1):
                step += state.root[j, k] * noise[k]
            i = target.theta[j]
            proposal[i] = state.phi[i] + state.steps[THETA_STEP] * step
            ratio += log_parameter_prior(target, proposal, i) - log_parameter_prior(target, state.phi, i)
        there = collapsed(target, state.tau, state.order, proposal, state.trend, 1 - here.place)
        accepted = 0.0
        if accept(rng, ratio + there.value - here.value):
            accepted, here = 1.0, there
            for j in range(J):
                state.phi[target.theta[j]] = proposal[target.theta[j]]
        adapt(state.steps, THETA_STEP, rate, accepted, JOINT_TARGET)
    return here


@njit(**LEAN)
def learn_covariance(target, state):
    """Warm-up: follow the mean and covariance of theta, and now and then take the root of it for the proposals."""
    J = len(target.theta)
    state.rounds[1] += 1
    share = 1.0 / (state.rounds[1] + 10.0)
    for j in range(J):
        state.mean[j] += share * (state.phi[target.theta[j]] - state.mean[j])
    for j in range(J):
        for k in range(J):
            product = (state.phi[target.theta[j]] - state.mean[j]) * (state.phi[target.theta[k]] - state.mean[k])
            state.covariance[j, k] += share * (product - state.covariance[j, k])
    if state.rounds[1] % 25 != 0 or state.rounds[1] < 50:
        return
    for j in range(J):
        for i in range(j, J):
            s = state.covariance[i, j] * (1.0 + 1e-6 if i == j else 1.0)
            for k in range(j):
                s -= state.root[i, k] * state.root[j, k]
            if i == j:
                state.root[j, j] = math.sqrt(max(s, 1e-10))
            else:
                state.root[i, j] = s / state.root[j, j]


@njit(**INLINE)
def learning_rate(state, adapts):
    """How fast steps adapt: 0 outside warm-up."""
    return 2.0 / (state.rounds[1] + 4.0) ** 0.6 if adapts else 0.0
