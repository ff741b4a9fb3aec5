"""One Markov chain of the mcmc method: parameters and inputs in turn, compiled, outside Python's lock.

A round of the chain is

    theta    several joint random-walk moves of the kernel's parameters (and y_scale), trend coefficients integrated out
    spread   alpha, and memory, together with the gaps (``alpha``)
    beta     the trend coefficients, drawn from their exact conditional
    gaps     under a linear trend, where the sweep cannot: gaps are stretched, O(N) each, coefficients integrated out
    alpha, t_scale    random walks that cost O(1): they need only sums over the gaps and the dates
    memory   a random walk, O(N)
    tau      one sweep over the inputs (``sweep``), forwards and backwards in time in turn
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ...engine.filter import log_likelihood_terms
from ...engine.stack import FAST, INLINE, unowned
from ...engine.statespace import blocks_at
from ...gaps import Exponents
from ...gaps.regularity import log_share, log_spacing, sort_again, spread, sum_gaps
from ...model.rows import Rows, in_time_order, log_date, remember
from ...model.trend import draw, integrate
from .metropolis import JOINT_TARGET, TARGET, accept
from .sweep import Tuning, Work, sweep

#: Tries of alpha, memory and t_scale a round.
CHEAP_MOVES = 4
#: Tries of ``spread`` a round.
SPREAD_MOVES = 2
#: Gaps that are stretched a round under a linear trend.
GAP_MOVES = 30


class Model(NamedTuple):
    """What does not change along a chain."""

    factors: np.ndarray  #: (B,) rate = factor / length
    trend_prior: np.ndarray  #: (C, C) what the prior of the coefficients adds to E
    prior_mean: np.ndarray  #: (P,)
    prior_sd: np.ndarray  #: (P,)
    joint: np.ndarray  #: positions in phi that are moved jointly: free kernel parameters and y_scale
    alpha_free: bool
    memory: bool
    memory_free: bool
    run: int  #: one row in so many stays when alpha or memory moves together with the gaps
    t_scale_free: bool
    gap_power: float  #: of the gap prior, where alpha is not part of it
    gap_span: float
    gamma: bool
    floor: float
    outliers: int  #: see ``renewal``


class State(NamedTuple):
    """Where a chain is, and how it proposes."""

    rows: Rows  #: own arrays for what changes: the order within blocks, shift, factor and carry
    tau: np.ndarray  #: (N,)
    order: np.ndarray  #: (N,) rows by time
    phi: np.ndarray  #: (P,)
    beta: np.ndarray  #: (q,)
    tuning: Tuning
    mean: np.ndarray  #: (J,) running mean of the joint parameters in warm-up
    covariance: np.ndarray  #: (J, J)
    root: np.ndarray  #: (J, J) its Cholesky factor, as proposals use it
    steps: (
        np.ndarray
    )  #: (6,) scale of the joint move, steps of alpha, t_scale, memory, and of spread with alpha, memory
    rounds: np.ndarray  #: (2,) in all, and in this part of the warm-up
    work: Work
    Z: np.ndarray  #: (N, C)
    y_var: np.ndarray  #: (N,)
    time: np.ndarray  #: (N,)
    trial: np.ndarray  #: (N,) proposed inputs
    trial_order: np.ndarray  #: (N,) and their order
    sums: np.ndarray  #: (2, S, 2) of the gaps, now and as proposed
    carry: np.ndarray  #: (N,) as it was before a proposal
    moments: np.ndarray  #: (3, N) of all sweeps after warm-up: a place near tau, sums of tau less it and of the squares
    seen: np.ndarray  #: (1,) how many these are


@njit(**INLINE)
def _log_normal(model, phi, i):
    u = (phi[i] - model.prior_mean[i]) / model.prior_sd[i]
    return -0.5 * u * u


@njit(**INLINE)
def _gap_prior(model, phi):
    if not model.gamma:
        return Exponents(model.gap_power, model.gap_span, model.floor, False)
    alpha = 1.0 + math.exp(phi[len(phi) - 3])
    return Exponents(alpha - 1.0, alpha, model.floor, model.memory)


@njit(**FAST)
def collapsed(blocks, dims, columns, rows, model, state, tau, order, phi):
    """log p(y | tau, phi) up to a constant, trend coefficients integrated out; and their root and whitened mean."""
    in_time_order(rows, tau, order, math.exp(phi[len(phi) - 1]), state.time, state.Z, state.y_var)
    there = blocks_at(blocks, model.factors, phi, 0)
    log_det, E = log_likelihood_terms(there, dims, columns, state.time, state.Z, state.y_var)
    for i in range(len(columns)):
        for j in range(len(columns)):
            E[i, j] += model.trend_prior[i, j]
    value, root, whitened = integrate(E)
    return value - 0.5 * log_det, root, whitened


@njit(**FAST)
def _log_dates(rows, tau, t_scale):
    """Log-density of all dates, up to a constant."""
    total = 0.0
    for r in range(len(tau)):
        if rows.t_var[r] > 0.0:
            total += log_date(rows, r, tau[r], t_scale)[0]
    return total


@njit(**FAST)
def _sum_of_squares(rows, tau):
    """sum (tau - t)² / t_var over the Gaussian dates, and their number."""
    total, n = 0.0, 0
    for r in range(len(tau)):
        if 0.0 < rows.t_var[r] < math.inf and rows.size[r] == 0:
            off = tau[r] - rows.t[r]
            total += off * off / rows.t_var[r]
            n += 1
    return total, n


@njit(**FAST)
def move_theta(blocks, dims, columns, rows, model, state, here, moves, rate, rng):
    """Joint moves of theta given tau; ``here`` is what ``collapsed`` says of the state, and so is what is returned."""
    J = len(model.joint)
    proposal = state.phi.copy()
    noise = np.empty(J)
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
        there = collapsed(blocks, dims, columns, rows, model, state, state.tau, state.order, proposal)
        accepted = 0.0
        if accept(rng, ratio + there[0] - here[0]):
            accepted, here = 1.0, there
            for j in range(J):
                state.phi[model.joint[j]] = proposal[model.joint[j]]
        if rate > 0.0:
            state.steps[0] *= math.exp(rate * (accepted - JOINT_TARGET))
    return here


@njit(**FAST)
def _move_spread(blocks, dims, columns, rows, model, state, here, i, step, rate, rng):
    """Moves of alpha or memory, which is phi[i], together with the gaps; ``here`` as in ``move_theta``.

    step: the place of its step in ``state.steps``.
    """
    a, N, proposal = len(state.phi) - 3, len(state.tau), state.phi.copy()
    t_scale = math.exp(state.phi[len(state.phi) - 2])
    now, then = state.sums[0], state.sums[1]
    dates = _log_dates(rows, state.tau, t_scale)
    sum_gaps(rows, model.floor, state.tau, now)
    run = min(model.run, N)
    for _ in range(SPREAD_MOVES):
        proposal[i] = state.phi[i] + state.steps[step] * rng.standard_normal()
        state.carry[:] = rows.carry
        share = log_share(rows)
        if i != a:
            remember(rows, math.exp(proposal[i]))
        power = math.sqrt((1.0 + math.exp(state.phi[a])) / (1.0 + math.exp(proposal[a])))
        skip = 0 if run == N else int(run * rng.random())
        ratio, new_dates, accepted = spread(rows, state.tau, power, state.carry, run, skip, state.trial), 0.0, 0.0
        if ratio > -math.inf:
            new_dates = _log_dates(rows, state.trial, t_scale)
            sum_gaps(rows, model.floor, state.trial, then)
            ratio += new_dates - dates
            ratio += log_spacing(rows, proposal[a], then) - log_spacing(rows, state.phi[a], now)
            ratio += share - log_share(rows)
            ratio += _log_normal(model, proposal, i) - _log_normal(model, state.phi, i)
        if ratio > -math.inf:
            state.trial_order[:] = state.order
            sort_again(state.trial_order, state.trial)
            there = collapsed(blocks, dims, columns, rows, model, state, state.trial, state.trial_order, proposal)
            if accept(rng, ratio + there[0] - here[0]):
                accepted, here, dates = 1.0, there, new_dates
                state.tau[:] = state.trial
                state.order[:] = state.trial_order
                state.phi[i] = proposal[i]
                now[:] = then
        if accepted == 0.0:
            rows.carry[:] = state.carry
        if rate > 0.0:
            state.steps[step] *= math.exp(rate * (accepted - TARGET))
    return here


@njit(**FAST)
def _log_gaps(rows, prior, sums):
    """The gap prior over all sequences, up to a constant, from what ``sum_gaps`` wrote."""
    value = 0.0
    for s in range(len(rows.gaps)):
        if sums[s, 0] == -math.inf:
            return -math.inf
        if rows.gaps[s] > 0:
            if prior.power != 0.0:
                value += prior.power * sums[s, 0]
            value -= prior.per_gap * rows.gaps[s] * sums[s, 1]
    return value


@njit(**FAST)
def _move_gaps(blocks, dims, columns, rows, model, state, here, rate, rng):
    """Stretch gaps in merged time order, everything later shifting along; ``here`` as in ``move_theta``."""
    N, now, then = len(state.tau), state.sums[0], state.sums[1]
    first = N - 1  # exact rows stay: only gaps after the last of them can be stretched
    while first > 0 and rows.t_var[state.order[first]] > 0.0:
        first -= 1
    prior, t_scale = _gap_prior(model, state.phi), math.exp(state.phi[len(state.phi) - 2])
    dates = _log_dates(rows, state.tau, t_scale)
    sum_gaps(rows, model.floor, state.tau, now)
    for _ in range(min(GAP_MOVES, N - 1 - first)):
        p = first + int(rng.random() * (N - 1 - first))
        r = state.order[p]
        scale, gap = state.tuning.stretch[0, r], state.tau[state.order[p + 1]] - state.tau[r]
        factor = math.exp(scale * rng.standard_normal())
        accepted = 0.0
        if gap > 0.0 and gap * factor < math.inf:
            state.trial[:] = state.tau
            for k in range(p + 1, N):
                state.trial[state.order[k]] += gap * factor - gap
            new_dates = _log_dates(rows, state.trial, t_scale)
            sum_gaps(rows, model.floor, state.trial, then)
            ratio = math.log(factor) + new_dates - dates
            ratio += _log_gaps(rows, prior, then) - _log_gaps(rows, prior, now)
            if ratio > -math.inf:
                there = collapsed(blocks, dims, columns, rows, model, state, state.trial, state.order, state.phi)
                if accept(rng, ratio + there[0] - here[0]):
                    accepted, here, dates = 1.0, there, new_dates
                    state.tau[:] = state.trial
                    now[:] = then
        if rate > 0.0:
            state.tuning.stretch[0, r] = min(max(scale * math.exp(rate * (accepted - TARGET)), 1e-3), 10.0)
    return here


@njit(**FAST)
def learn(model, state):
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


@njit(**FAST)
def _move_alpha(rows, model, state, rate, rng):
    """Random walk of log(alpha - 1) given the gaps."""
    a, sums = len(state.phi) - 3, state.sums[0]
    sum_gaps(rows, model.floor, state.tau, sums)
    value = log_spacing(rows, state.phi[a], sums) + _log_normal(model, state.phi, a)
    for _ in range(CHEAP_MOVES):
        old = state.phi[a]
        state.phi[a] = old + state.steps[1] * rng.standard_normal()
        new_value = log_spacing(rows, state.phi[a], sums) + _log_normal(model, state.phi, a)
        accepted = 0.0
        if accept(rng, new_value - value):
            accepted, value = 1.0, new_value
        else:
            state.phi[a] = old
        if rate > 0.0:
            state.steps[1] *= math.exp(rate * (accepted - TARGET))


@njit(**FAST)
def _move_memory(rows, model, state, rate, rng):
    """Random walk of log memory given the gaps."""
    i, a = len(state.phi) - 4, len(state.phi) - 3
    now, then = state.sums[0], state.sums[1]
    sum_gaps(rows, model.floor, state.tau, now)
    value = log_spacing(rows, state.phi[a], now) - log_share(rows) + _log_normal(model, state.phi, i)
    for _ in range(CHEAP_MOVES):
        old = state.phi[i]
        state.phi[i] = old + state.steps[3] * rng.standard_normal()
        state.carry[:] = rows.carry
        remember(rows, math.exp(state.phi[i]))
        sum_gaps(rows, model.floor, state.tau, then)
        new_value = log_spacing(rows, state.phi[a], then) - log_share(rows) + _log_normal(model, state.phi, i)
        accepted = 0.0
        if accept(rng, new_value - value):
            accepted, value = 1.0, new_value
        else:
            state.phi[i] = old
            rows.carry[:] = state.carry
        if rate > 0.0:
            state.steps[3] *= math.exp(rate * (accepted - TARGET))


@njit(**FAST)
def _move_t_scale(rows, model, state, rate, rng):
    """Random walk of log t_scale given the dates."""
    i = len(state.phi) - 2
    squares, n = _sum_of_squares(rows, state.tau)
    for _ in range(CHEAP_MOVES):
        old = state.phi[i]
        ratio = n * old + 0.5 * squares * math.exp(-2.0 * old) - _log_normal(model, state.phi, i)
        state.phi[i] = old + state.steps[2] * rng.standard_normal()
        ratio += _log_normal(model, state.phi, i) - n * state.phi[i] - 0.5 * squares * math.exp(-2.0 * state.phi[i])
        accepted = 1.0
        if not accept(rng, ratio):
            state.phi[i] = old
            accepted = 0.0
        if rate > 0.0:
            state.steps[2] *= math.exp(rate * (accepted - TARGET))


@njit(**FAST)
def _note_moments(state):
    """Add the inputs as they are now to the sums over all sweeps."""
    if state.seen[0] == 0:
        state.moments[0] = state.tau
    state.seen[0] += 1
    for r in range(len(state.tau)):
        off = state.tau[r] - state.moments[0, r]
        state.moments[1, r] += off
        state.moments[2, r] += off * off


@njit(nogil=True, cache=True, **FAST)
def advance(blocks, dims, columns, both, model, state, rounds, thin, moves, adapt, rng, taus, phis, shifts, factors):
    """Run a chain for ``rounds`` rounds, keeping every ``thin``-th in taus (n, N) and phis (n, P).

    shifts and factors are (n, N) as well, or empty where there is nothing of the kind to keep. ``adapt`` says whether
    this is warm-up. ``both`` is a tuple of length d + 1.
    """
    model, state = unowned(model), unowned(state)
    rows = state.rows
    P = len(state.phi)
    tilted = False
    for c in range(len(columns)):
        tilted = tilted or rows.slope[c] != 0.0
    kept = 0
    if model.memory:
        remember(rows, math.exp(state.phi[P - 4]))
    for k in range(rounds):
        state.rounds[0] += 1
        rate = 0.0
        if adapt:
            rate = 2.0 / (state.rounds[1] + 4.0) ** 0.6
        here = collapsed(blocks, dims, columns, rows, model, state, state.tau, state.order, state.phi)
        here = move_theta(blocks, dims, columns, rows, model, state, here, moves, rate, rng)
        if model.alpha_free:
            here = _move_spread(blocks, dims, columns, rows, model, state, here, P - 3, 4, rate, rng)
        if model.memory_free:
            here = _move_spread(blocks, dims, columns, rows, model, state, here, P - 4, 5, rate, rng)
        if tilted:
            here = _move_gaps(blocks, dims, columns, rows, model, state, here, rate, rng)
        draw(here[1], here[2], rng, state.beta)
        if adapt:
            learn(model, state)
        if model.alpha_free:
            _move_alpha(rows, model, state, rate, rng)
        if model.memory_free:
            _move_memory(rows, model, state, rate, rng)
        if model.t_scale_free:
            _move_t_scale(rows, model, state, rate, rng)
        way = 1 if state.rounds[0] % 2 == 0 else -1
        sweep(
            blocks_at(blocks, model.factors, state.phi, 0), dims, both, rows, _gap_prior(model, state.phi),
            state.tuning, rate, state.work, state.tau, state.order, state.beta,
            math.exp(state.phi[P - 2]), math.exp(state.phi[P - 1]), model.outliers, way, rng,
        )  # fmt: skip
        if not adapt:
            _note_moments(state)
        if (k + 1) % thin == 0:
            taus[kept] = state.tau
            phis[kept] = state.phi
            if len(shifts) > 0:
                shifts[kept] = rows.shift
                factors[kept] = rows.factor
            kept += 1
