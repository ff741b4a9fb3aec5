"""One Markov chain of the mcmc method: parameters and inputs in turn, compiled, outside Python's lock.

A round of the chain is

    theta    several joint random-walk moves of the kernel's parameters (and y_scale), trend coefficients integrated out
    spread   alpha together with the gaps: all log-gaps move towards or away from their mean as alpha says they should
    beta     the trend coefficients, drawn from their exact conditional
    alpha, t_scale    random walks that cost O(1): they need only sums over the gaps and the dates
    tau      one sweep over the inputs (``sweep``), forwards and backwards in time in turn
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ..markov.filter import log_likelihood_terms
from ..stack import FAST, INLINE
from ..statespace import rebuild
from ..trend import integrate
from .sweep import Prior, Tuning, Work, sweep

#: Acceptance rate that the joint moves of theta are tuned to.
JOINT_TARGET = 0.3
#: Tries of alpha and t_scale a round.
CHEAP_MOVES = 4
#: Tries of ``spread`` a round, in records of at most so many rows: in long ones, a move of all gaps is never accepted.
SPREAD_MOVES, SPREAD_ROWS = 2, 1000


class Model(NamedTuple):
    """What does not change along a chain."""

    factors: np.ndarray  #: (B,) rate = factor / length
    trend_prior: np.ndarray  #: (C, C) what the prior of the coefficients adds to E
    prior_mean: np.ndarray  #: (P,)
    prior_sd: np.ndarray  #: (P,)
    joint: np.ndarray  #: positions in phi that are moved jointly: free kernel parameters and y_scale
    alpha_free: bool
    spread: bool  #: no sequence holds an exact row, so that all gaps can move together
    t_scale_free: bool
    gap_power: float  #: of the gap prior, where alpha is not part of it
    gap_span: float
    gamma: bool
    floor: float


class State(NamedTuple):
    """Where a chain is, and how it proposes."""

    tau: np.ndarray  #: (N,)
    order: np.ndarray  #: (N,) rows by time
    phi: np.ndarray  #: (P,)
    beta: np.ndarray  #: (q,)
    tuning: Tuning
    mean: np.ndarray  #: (J,) running mean of the joint parameters in warm-up
    covariance: np.ndarray  #: (J, J)
    root: np.ndarray  #: (J, J) its Cholesky factor, as proposals use it
    steps: np.ndarray  #: (4,) scale of the joint move, steps of alpha, t_scale and spread
    rounds: np.ndarray  #: (2,) in all, and in this part of the warm-up
    work: Work
    Z: np.ndarray  #: (N, C)
    y_var: np.ndarray  #: (N,)
    time: np.ndarray  #: (N,)


@njit(**INLINE)
def _log_normal(model, phi, i):
    u = (phi[i] - model.prior_mean[i]) / model.prior_sd[i]
    return -0.5 * u * u


@njit(**INLINE)
def _gap_prior(model, phi):
    if not model.gamma:
        return Prior(model.gap_power, model.gap_span, model.floor)
    alpha = 1.0 + math.exp(phi[len(phi) - 3])
    return Prior(alpha - 1.0, alpha, model.floor)


@njit(**FAST)
def _collapsed(blocks, dims, columns, model, state, phi, parameters):
    """log p(y | tau, phi) up to a constant, trend coefficients integrated out; and their root and whitened b."""
    for b in range(len(model.factors)):
        parameters[b, 0] = model.factors[b] * math.exp(-phi[2 * b])
        parameters[b, 1] = math.exp(2.0 * phi[2 * b + 1])
    scale = math.exp(2.0 * phi[len(phi) - 1])
    for p in range(len(state.time)):
        state.work.y_var[p] = state.y_var[p] * scale
    there = rebuild(blocks, parameters, 0)
    log_det, E = log_likelihood_terms(there, dims, columns, state.time, state.Z, state.work.y_var)
    for i in range(len(columns)):
        for j in range(len(columns)):
            E[i, j] += model.trend_prior[i, j]
    value, root, whitened = integrate(E)
    return value - 0.5 * log_det, root, whitened


@njit(**FAST)
def _fill(rows, state, tau, order):
    """Times, data columns and variances of the rows in the order of time."""
    for p in range(len(tau)):
        r = order[p]
        state.time[p] = tau[r]
        state.y_var[p] = rows.y_var[r]
        for c in range(state.Z.shape[1]):
            state.Z[p, c] = rows.base[r, c] + rows.slope[c] * tau[r]


@njit(**FAST)
def _dates(rows, tau, phi):
    """sum log N(t; tau, t_scale² t_var), up to a constant."""
    total = 0.0
    for r in range(len(tau)):
        if rows.t_var[r] > 0.0:
            gap = tau[r] - rows.t[r]
            total += gap * gap / rows.t_var[r]
    return -0.5 * total * math.exp(-2.0 * phi[len(phi) - 2])


@njit(**FAST)
def _spread(rows, model, state, rng):
    """Propose u = log(alpha - 1) and raise the shares of the gaps in their span to the power sqrt(alpha / new alpha).

    The first and last row of each sequence stay. Returns inputs, their order, the log-Jacobian and u.
    """
    u = state.phi[len(state.phi) - 3] + state.steps[3] * rng.standard_normal()
    power = math.sqrt((1.0 + math.exp(state.phi[len(state.phi) - 3])) / (1.0 + math.exp(u)))
    trial = state.tau.copy()
    jacobian = 0.0
    for first in range(len(trial)):
        if rows.sequence[first] < 0 or rows.before[first] >= 0 or rows.after[first] < 0:
            continue
        total, old_total, n = 0.0, 0.0, 0
        left = first
        while rows.after[left] >= 0:
            gap = state.tau[rows.after[left]] - state.tau[left]
            old_total += gap
            total += gap**power
            n += 1
            left = rows.after[left]
        left, place = first, state.tau[first]
        jacobian += (n - 1) * math.log(power)
        while rows.after[left] >= 0:
            right = rows.after[left]
            gap = state.tau[right] - state.tau[left]
            new = old_total * gap**power / total
            jacobian += math.log(new / gap)
            place += new
            if rows.after[right] >= 0:
                trial[right] = place
            left = right
    return trial, np.argsort(trial), jacobian, u


@njit(**FAST)
def _spacing_of_all(rows, model, tau, u):
    """log p(gaps | alpha) of the gamma prior over all sequences, at u = log(alpha - 1)."""
    sums = np.zeros((len(rows.gaps), 2))
    _sum_gaps(rows, model, tau, sums)
    return _spacing_of_sums(rows, 1.0 + math.exp(u), sums)


@njit(**FAST)
def _sum_gaps(rows, model, tau, sums):
    """Sum of log-gaps, and log span, of each sequence, into sums (S, 2)."""
    for r in range(len(tau)):
        s = rows.sequence[r]
        if s < 0:
            continue
        if rows.before[r] >= 0:
            gap = tau[r] - tau[rows.before[r]]
            sums[s, 0] += math.log(gap) if gap > 0.0 else -math.inf
        else:
            sums[s, 1] -= tau[r]
        if rows.after[r] < 0:
            sums[s, 1] += tau[r]
    for s in range(len(rows.gaps)):
        sums[s, 1] = math.log(sums[s, 1] + model.floor)


@njit(**FAST)
def _move_theta(blocks, dims, columns, rows, model, state, moves, rate, rng):
    """Joint moves of theta given tau, then a draw of the trend coefficients."""
    J = len(model.joint)
    _fill(rows, state, state.tau, state.order)
    parameters = np.empty((len(model.factors), 2))
    proposal = state.phi.copy()
    noise = np.empty(J)
    value, root, whitened = _collapsed(blocks, dims, columns, model, state, state.phi, parameters)
    for _ in range(moves if J > 0 else 0):
        ratio = 0.0
        for j in range(J):
            noise[j] = rng.standard_normal()
        for j in range(J):
            step = 0.0
            for k in range(j + 1):
                step += state.root[j, k] * noise[k]
            i = model.joint[j]
            proposal[i] = state.phi[i] + state.steps[0] * step
            ratio += _log_normal(model, proposal, i) - _log_normal(model, state.phi, i)
        new_value, new_root, new_whitened = _collapsed(blocks, dims, columns, model, state, proposal, parameters)
        ratio += new_value - value
        accepted = 0.0
        if ratio >= 0.0 or math.log(rng.random()) < ratio:
            accepted = 1.0
            value, root, whitened = new_value, new_root, new_whitened
            for j in range(J):
                state.phi[model.joint[j]] = proposal[model.joint[j]]
        if rate > 0.0:
            state.steps[0] *= math.exp(rate * (accepted - JOINT_TARGET))
    if model.spread and len(state.tau) <= SPREAD_ROWS:
        for _ in range(SPREAD_MOVES):
            trial, order, jacobian, u = _spread(rows, model, state, rng)
            ratio = jacobian + _dates(rows, trial, state.phi) - _dates(rows, state.tau, state.phi)
            a = len(state.phi) - 3
            ratio += _spacing_of_all(rows, model, trial, u) - _spacing_of_all(rows, model, state.tau, state.phi[a])
            proposal[:] = state.phi
            proposal[a] = u
            ratio += _log_normal(model, proposal, a) - _log_normal(model, state.phi, a)
            accepted = 0.0
            if ratio > -math.inf:
                _fill(rows, state, trial, order)
                new_value, new_root, new_whitened = _collapsed(
                    blocks, dims, columns, model, state, proposal, parameters
                )
                ratio += new_value - value
                if ratio >= 0.0 or math.log(rng.random()) < ratio:
                    accepted = 1.0
                    value, root, whitened = new_value, new_root, new_whitened
                    state.tau[:] = trial
                    state.order[:] = order
                    state.phi[a] = u
            if rate > 0.0:
                state.steps[3] *= math.exp(rate * (accepted - 0.44))
    for i in range(len(whitened)):
        whitened[i] += rng.standard_normal()
    for i in range(len(whitened)):
        state.beta[i] = 0.0
        for k in range(i, len(whitened)):
            state.beta[i] += root[k, i] * whitened[k]


@njit(**FAST)
def _learn(model, state, rate):
    """Warm-up: follow the mean and covariance of the joint parameters."""
    J = len(model.joint)
    state.rounds[1] += 1
    share = 1.0 / (state.rounds[1] + 10.0)
    for j in range(J):
        state.mean[j] += share * (state.phi[model.joint[j]] - state.mean[j])
    for j in range(J):
        for k in range(J):
            product = (state.phi[model.joint[j]] - state.mean[j]) * (state.phi[model.joint[k]] - state.mean[k])
            state.covariance[j, k] += share * (product - state.covariance[j, k])
    if state.rounds[1] % 25 != 0 or state.rounds[1] < 100:
        return
    for j in range(J):
        for i in range(j, J):
            s = state.covariance[i, j] + (1e-6 if i == j else 0.0)
            for k in range(j):
                s -= state.root[i, k] * state.root[j, k]
            if i == j:
                state.root[j, j] = math.sqrt(max(s, 1e-8))
            else:
                state.root[i, j] = s / state.root[j, j]


@njit(**FAST)
def _spacing_of_sums(rows, alpha, sums):
    """The same from the sums of log-gaps and log-spans (S, 2)."""
    value = 0.0
    for s in range(len(rows.gaps)):
        n = rows.gaps[s]
        if n > 0:
            value += math.lgamma(alpha * n) - n * math.lgamma(alpha)
            value += (alpha - 1.0) * sums[s, 0] - alpha * n * sums[s, 1]
    return value


@njit(**FAST)
def _move_alpha(rows, model, state, rate, rng):
    """Random walk of log(alpha - 1) given the gaps."""
    a = len(state.phi) - 3
    sums = np.zeros((len(rows.gaps), 2))
    _sum_gaps(rows, model, state.tau, sums)
    value = _spacing_of_sums(rows, 1.0 + math.exp(state.phi[a]), sums) + _log_normal(model, state.phi, a)
    for _ in range(CHEAP_MOVES):
        old = state.phi[a]
        state.phi[a] = old + state.steps[1] * rng.standard_normal()
        new_value = _spacing_of_sums(rows, 1.0 + math.exp(state.phi[a]), sums)
        new_value += _log_normal(model, state.phi, a)
        accepted = 0.0
        if math.log(rng.random()) < new_value - value:
            accepted, value = 1.0, new_value
        else:
            state.phi[a] = old
        if rate > 0.0:
            state.steps[1] *= math.exp(rate * (accepted - 0.44))


@njit(**FAST)
def _move_t_scale(rows, model, state, rate, rng):
    """Random walk of log t_scale given the dates."""
    i = len(state.phi) - 2
    total, n = 0.0, 0
    for r in range(len(state.tau)):
        if rows.t_var[r] > 0.0:
            gap = state.tau[r] - rows.t[r]
            total += gap * gap / rows.t_var[r]
            n += 1
    for _ in range(CHEAP_MOVES):
        old = state.phi[i]
        ratio = n * old + 0.5 * total * math.exp(-2.0 * old) - _log_normal(model, state.phi, i)
        state.phi[i] = old + state.steps[2] * rng.standard_normal()
        ratio += _log_normal(model, state.phi, i) - n * state.phi[i] - 0.5 * total * math.exp(-2.0 * state.phi[i])
        accepted = 1.0
        if math.log(rng.random()) >= ratio:
            state.phi[i] = old
            accepted = 0.0
        if rate > 0.0:
            state.steps[2] *= math.exp(rate * (accepted - 0.44))


@njit(nogil=True, cache=True, **FAST)
def advance(blocks, dims, columns, both, rows, model, state, rounds, thin, moves, adapt, rng, taus, phis, betas):
    """Run a chain for ``rounds`` rounds, keeping every ``thin``-th in taus (n, N), phis (n, P) and betas (n, q).

    ``adapt`` says whether this is warm-up. ``both`` is a tuple of length d + 1.
    """
    P = len(state.phi)
    parameters = np.empty((len(model.factors), 2))
    kept = 0
    for k in range(rounds):
        state.rounds[0] += 1
        rate = 0.0
        if adapt:
            rate = 2.0 / (state.rounds[1] + 4.0) ** 0.6
        _move_theta(blocks, dims, columns, rows, model, state, moves, rate, rng)
        if adapt:
            _learn(model, state, rate)
        if model.alpha_free:
            _move_alpha(rows, model, state, rate, rng)
        if model.t_scale_free:
            _move_t_scale(rows, model, state, rate, rng)
        for b in range(len(model.factors)):
            parameters[b, 0] = model.factors[b] * math.exp(-state.phi[2 * b])
            parameters[b, 1] = math.exp(2.0 * state.phi[2 * b + 1])
        here = rebuild(blocks, parameters, 0)
        way = 1 if state.rounds[0] % 2 == 0 else -1
        sweep(
            here, dims, both, rows, _gap_prior(model, state.phi), state.tuning, rate, state.work, state.tau,
            state.order, state.beta, math.exp(state.phi[P - 2]), math.exp(state.phi[P - 1]), way, rng,
        )  # fmt: skip
        if (k + 1) % thin == 0:
            taus[kept] = state.tau
            phis[kept] = state.phi
            betas[kept] = state.beta
            kept += 1
