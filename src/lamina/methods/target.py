"""The log-posterior of inputs and parameters, with its gradient, as one compiled function: O(N) a call.

    log p(y | tau, theta) + sum log p(date | tau) + log p(gaps | alpha, memory) + log p(phi)

Gaussian dates are N(t; tau, t_scale² t_sd²). Trend coefficients are integrated out. This is the density that mcmc and
nuts sample, to the letter.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from .. import dense
from ..engine.gradient import forward, reverse, store_width
from ..engine.stack import FAST, unowned
from ..engine.statespace import blocks_at
from ..errors import KernelError
from ..gaps import log_density as gap_log_density
from ..gaps import log_density_with_memory
from ..model.problem import Problem
from ..model.rows import Rows, in_time_order, log_date, remember
from ..model.trend import integrate

Array = np.ndarray


class Target(NamedTuple):
    """Everything but the unknowns."""

    rows: Rows
    factors: Array  #: (B,)
    trend_prior: Array  #: (C, C)
    prior_mean: Array  #: (P,)
    prior_sd: Array  #: (P,)
    free: Array  #: (P,) mask
    members: Array  #: rows of all sequences, one after the other
    first: Array  #: (S + 1,) where each sequence begins in ``members``
    gamma: bool
    memory: bool
    power: float  #: of the gap prior where it has no alpha
    per_gap: float
    floor: float


def make_target(problem: Problem) -> Target:
    """Lay a problem out for ``log_density``."""
    sequences = [rows for _, rows in problem.record.sequences]
    plain = problem.gap_prior(problem.start)
    return Target(
        rows=problem.rows._replace(carry=problem.rows.carry.copy()),  # it changes with memory
        factors=problem.factors,
        trend_prior=problem.design.prior,
        prior_mean=problem.prior_mean,
        prior_sd=problem.prior_sd,
        free=problem.free,
        members=np.concatenate([np.empty(0, np.int64), *sequences]).astype(np.int64),
        first=np.concatenate([[0], np.cumsum([len(rows) for rows in sequences])]).astype(np.int64),
        gamma=problem.model.gaps == "gamma",
        memory=problem.model.memory,
        power=plain.power,
        per_gap=plain.per_gap,
        floor=problem.floor,
    )


@njit(**FAST)
def likelihood(blocks, dims, columns, target, tau, phi, d_tau, d_phi):
    """log p(y | tau, phi) up to a constant, trend integrated out; gradients are added to d_tau (N,) and d_phi (P,)."""
    rows = unowned(target.rows)
    N, C, d, P = len(tau), len(columns), len(dims), len(phi)
    order = np.argsort(tau)
    time, Z, y_var = np.empty(N), np.empty((N, C)), np.empty(N)
    in_time_order(rows, tau, order, math.exp(phi[P - 1]), time, Z, y_var)
    there = blocks_at(blocks, target.factors, phi, 0)
    store, out = np.empty((N, store_width(d, C))), np.empty((N, 2 + C))
    log_det, E = forward(there, dims, columns, time, Z, y_var, store)
    value, root, whitened = integrate(E + target.trend_prior)
    W = np.zeros((C, C))
    w = np.zeros(C)
    w[0] = 1.0
    for i in range(C - 1):
        for k in range(C - 1):
            w[i + 1] -= root[k, i] * whitened[k]
    for i in range(C):
        for j in range(C):
            W[i, j] = -0.5 * w[i] * w[j]
            if i > 0 and j > 0:
                for k in range(C - 1):
                    W[i, j] -= 0.5 * root[k, i - 1] * root[k, j - 1]
    d_blocks = reverse(there, dims, columns, time, y_var, W, store, out)
    for p in range(N):
        r = order[p]
        d_tau[r] += out[p, 0]
        for c in range(C):
            d_tau[r] += out[p, 2 + c] * rows.slope[c]
        if rows.measured[r]:
            d_phi[P - 1] += 2.0 * out[p, 1] * y_var[p]
    for b in range(len(target.factors)):
        if 2 * b + 1 < P - 4:
            d_phi[2 * b] += d_blocks[b, 0]
            d_phi[2 * b + 1] += 2.0 * d_blocks[b, 1]
    return value - 0.5 * log_det


@njit(**FAST)
def dates(target, tau, phi, d_tau, d_phi):
    """sum log p(date | tau) over the uncertain rows, up to a constant; gradients are added.

    Gaussian dates have the standard deviation t_scale t_sd.
    """
    rows, P = target.rows, len(phi)
    t_scale = math.exp(phi[P - 2])
    value = 0.0
    for r in range(len(tau)):
        if 0.0 < rows.t_var[r] < math.inf:
            part, slope = log_date(rows, r, tau[r], t_scale)
            value += part
            d_tau[r] += slope
            if rows.size[r] == 0:
                value -= phi[P - 2]
                d_phi[P - 2] -= 2.0 * part + 1.0
    return value


@njit(**FAST)
def spacing(target, tau, phi, d_tau, d_phi):
    """log p(gaps | alpha) over all sequences; gradients are added, but with memory, where there are none."""
    rows, value, P = target.rows, 0.0, len(phi)
    alpha = 1.0 + math.exp(phi[P - 3])
    if target.memory:
        remember(rows, math.exp(phi[P - 4]))
    for s in range(len(target.first) - 1):
        members = target.members[target.first[s] : target.first[s + 1]]
        gaps = members[:-1]
        power = alpha if target.gamma else 1.0 + target.power
        span = (alpha if target.gamma else target.per_gap) * rows.gaps[s]
        if target.memory:
            value += log_density_with_memory(
                tau[members], rows.unit[gaps], rows.least[gaps], rows.regular[gaps], rows.carry[gaps],
                power, span, target.floor,
            )  # fmt: skip
            continue
        part, d_own, d_alpha = gap_log_density(
            tau[members], rows.unit[gaps], rows.least[gaps], rows.regular[gaps], power, span, target.floor
        )
        value += part
        for i in range(len(members)):
            d_tau[members[i]] += d_own[i]
        if target.gamma:
            d_phi[P - 3] += d_alpha * (alpha - 1.0)
    return value


@njit(**FAST)
def parameters_prior(target, phi, d_phi):
    """log p(phi) of the unknown ones, up to a constant; gradients are added."""
    value = 0.0
    for i in range(len(phi)):
        if target.free[i]:
            u = (phi[i] - target.prior_mean[i]) / target.prior_sd[i]
            value -= 0.5 * u * u
            d_phi[i] -= u / target.prior_sd[i]
    return value


@njit(nogil=True, cache=True, **FAST)
def log_prior(target, tau, phi, d_tau, d_phi):
    """Dates, gaps and parameters: the log-posterior without the likelihood; gradients are added to d_tau and d_phi."""
    value = dates(target, tau, phi, d_tau, d_phi)
    value += spacing(target, tau, phi, d_tau, d_phi)
    return value + parameters_prior(target, phi, d_phi)


@njit(nogil=True, cache=True, **FAST)
def log_density(blocks, dims, columns, target, tau, phi, d_tau, d_phi):
    """The log-posterior at (tau, phi), up to a constant; writes its gradient to d_tau (N,) and d_phi (P,)."""
    d_tau[:] = 0.0
    d_phi[:] = 0.0
    value = likelihood(blocks, dims, columns, target, tau, phi, d_tau, d_phi)
    return value + log_prior(target, tau, phi, d_tau, d_phi)


def dense_log_density(problem: Problem, target: Target, tau: Array, phi: Array, d_tau: Array, d_phi: Array) -> float:
    """``log_density`` on the dense engine, for any kernel: O(N³). -inf where the covariance matrix is singular."""
    d_tau[:] = 0.0
    d_phi[:] = 0.0
    value = dense_likelihood(problem, tau, phi, d_tau, d_phi)
    return value + log_prior(target, tau, phi, d_tau, d_phi) if value > -math.inf else value


def dense_likelihood(problem: Problem, tau: Array, phi: Array, d_tau: Array, d_phi: Array) -> float:
    """``likelihood`` on the dense engine; gradients are added."""
    y_var = problem.y_var(math.exp(phi[-1]))
    try:
        kernel = problem.kernel.with_theta(phi[: problem.n_kernel])
        value, d_inputs, d_theta, d_y_var = dense.value_and_gradients(kernel, tau, problem.y, np.sqrt(y_var))
    except KernelError:
        return -math.inf
    d_tau += d_inputs
    d_phi[: problem.n_kernel] += d_theta
    d_phi[-1] += 2.0 * float(d_y_var @ np.where(problem.rows.measured, y_var, 0.0))
    return value
