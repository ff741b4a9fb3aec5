"""The log-posterior of inputs and parameters, with its gradient, as one compiled function: O(N) a call.

    log p(y | tau, theta) + sum log p(date | tau) + log p(gaps | alpha, memory) + log p(phi)          Eq. (2)

Gaussian dates are N(t; tau, t_scale² t_sd²). Trend coefficients are integrated out. mcmc, nuts and npv all work on this
density, and so does prediction: ``make_target`` writes a problem down for them once.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from .. import dense
from ..engine.filter import Series, write_products
from ..engine.gradient import forward, reverse, store_width
from ..engine.stack import FAST, INLINE, INLINE_MAKING_ARRAYS, INNER, LEAN, hold
from ..engine.statespace import Process, process_at
from ..errors import KernelError
from ..gaps.pace import set_carry
from ..gaps.prior import Exponents, Gaps, exponents, gamma_exponents
from ..gaps.prior import log_density as log_density_of_gaps
from ..model.bridge import has_process
from ..model.parameters import ALPHA, MEMORY, T_SCALE, Y_SCALE
from ..model.problem import Problem
from ..model.rows import Rows, in_time_order, log_date
from ..model.trend import add, integrate_into, linked_integrate

Array = np.ndarray

#: What ``Target.outliers`` may be: see ``mcmc.renewal``.
NO_OUTLIERS, MIXTURE, STUDENT = 0, 1, 2
OUTLIER_KINDS = {None: NO_OUTLIERS, "mixture": MIXTURE, "student": STUDENT}
#: Gaps below this part of the floor, 1e-10 of the span, are alike to the prior: see ``gaps.prior.log_term``.
TINY = 1e-7
#: The fields of ``Rows`` that a sampler changes.
CHANGING = ("shift", "factor", "before", "after", "unit", "least", "regular", "carry")


class Needs(NamedTuple):
    """What a record needs beyond plain code: True, or None. See ``make_needs``."""

    trades: bool | None  #: rows may trade places: several sequences, blocks, rows without order, exact rows
    renewals: bool | None  #: limits or outliers
    tilt: bool | None  #: the data depend on the inputs, as they do with a linear trend
    memory: bool | None
    t_scale: bool | None  #: it is an unknown
    process: bool | None  #: the gaps are increments of a process in depth
    jumps: bool | None  #: some date has several modes
    paths: bool | None  #: gaps have memory, and nothing but uncertain dates is known


class Target(NamedTuple):
    """Everything but the unknowns. A sampler changes some arrays of ``rows``, so each chain has its own."""

    process: Process  #: of the kernels, at any parameters; empty if a kernel is not Markov
    rows: Rows
    factors: Array  #: (B,) rate = factor / length
    trend_prior: Array  #: (C, C) what the prior of the trend coefficients adds to E
    prior_mean: Array  #: (P,)
    prior_sd: Array  #: (P,)
    free: Array  #: (P,) mask of the unknown parameters
    theta: Array  #: positions in phi of the unknown parameters of the likelihood: those of the kernel, and y_scale
    members: Array  #: rows of all sequences, one after the other
    first: Array  #: (S + 1,) where each sequence begins in ``members``
    gamma: bool  #: whether the gap prior has an alpha
    least_alpha: float  #: phi has the logarithm of alpha less this
    gap_prior: Exponents  #: the gap prior, unless it has an alpha
    outliers: int
    needs: Needs


class Trend(NamedTuple):
    """Arrays for ``collapsed``: the distribution of the trend coefficients where the chain is, and at a proposal."""

    series: Series  #: scratch
    E: Array  #: (C, C) scratch
    root: Array  #: (2, q, q): their covariance is root' root
    whitened: Array  #: (2, q): and their mean root' whitened


class Collapsed(NamedTuple):
    """log p(y | tau, phi), trend coefficients integrated out, and where ``Trend`` has their distribution."""

    value: float  #: up to a constant
    place: int  #: 0 or 1


def new_trend(N: int, C: int) -> Trend:
    """For N rows and C columns of data."""
    series = Series(np.empty(N), np.empty((N, C)), np.empty(N))
    return Trend(series, np.empty((C, C)), np.empty((2, C - 1, C - 1)), np.empty((2, C - 1)))


def make_target(problem: Problem) -> Target:
    """A problem as compiled code works on it, with arrays of its own for what a sampler changes."""
    sequences = [rows for _, rows in problem.record.sequences]
    unknown = np.flatnonzero(problem.free)
    is_gamma, is_markov = problem.model.gaps == "gamma", problem.kernel.is_markov
    return Target(
        process=Process(problem.blocks, problem.dims, problem.columns) if is_markov else Process((), (), ()),
        rows=problem.rows._replace(**{name: getattr(problem.rows, name).copy() for name in CHANGING}),
        factors=problem.factors,
        trend_prior=problem.design.prior,
        prior_mean=problem.prior_mean,
        prior_sd=problem.prior_sd,
        free=problem.free,
        theta=unknown[(unknown < problem.n_kernel) | (unknown == len(problem.free) + Y_SCALE)],
        members=np.concatenate([np.empty(0, np.int64), *sequences]).astype(np.int64),
        first=np.concatenate([[0], np.cumsum([len(rows) for rows in sequences])]).astype(np.int64),
        gamma=is_gamma,
        least_alpha=problem.least_alpha,
        gap_prior=exponents(
            "exponential" if is_gamma else problem.model.gaps,
            tiny=TINY * problem.floor,
            **(problem.mean_prior._asdict() if problem.mean_prior else {"floor": problem.floor}),
        ),
        outliers=OUTLIER_KINDS[problem.model.outliers],
        needs=make_needs(problem),
    )


def make_needs(problem: Problem) -> Needs:
    """What compiled code for this problem has to contain.

    None and True have different types. A function that takes one of them as an argument of its own, and begins with
    ``if wanted is None``, is compiled without what follows if it is None: plain records run plain code, compiled in a
    third of the time.
    """
    rows = problem.rows
    one_order = len(rows.gaps) == 1 and (rows.sequence >= 0).all() and (rows.block < 0).all()
    found = {
        "trades": not one_order,
        "renewals": problem.has_renewals,
        "tilt": (rows.slope != 0.0).any(),
        "memory": problem.model.memory,
        "t_scale": problem.free[T_SCALE],
        "process": has_process(problem),
        "jumps": (rows.several & (rows.t_var > 0.0)).any(),
        "paths": problem.model.memory and problem.model.gaps == "gamma" and is_dated_alone(rows),
    }
    return Needs(**{name: True if needed else None for name, needed in found.items()})


def is_dated_alone(rows: Rows) -> bool:
    """Whether there is nothing but dates, all of them uncertain, and all orders are known."""
    return bool((~rows.measured).all() and (rows.t_var > 0.0).all() and (rows.block < 0).all())


@njit(**INLINE)
def set_memory(wanted, rows, phi):
    """With memory, set what it carries over from gap to gap."""
    if wanted is None:
        return
    set_carry(rows, math.exp(phi[MEMORY]))


@njit(**INLINE)
def alpha_at(target, phi):
    """The shape of a gap of unit 1."""
    return target.least_alpha + math.exp(phi[ALPHA])


@njit(**INLINE)
def gap_prior_at(target, phi):
    """The exponents of the gap prior at phi."""
    if target.gamma:
        return gamma_exponents(alpha_at(target, phi), target.gap_prior)
    return target.gap_prior


@njit(**LEAN)
def collapsed(target, tau, order, phi, trend, place):
    """``Collapsed`` at inputs tau (N,), whose rows by time are ``order`` (N,); ``trend`` is written at ``place``."""
    in_time_order(target.rows, tau, order, math.exp(phi[Y_SCALE]), trend.series)
    log_det = write_products(process_at(target.process, target.factors, phi), trend.series, trend.E)
    add(trend.E, target.trend_prior)
    value = integrate_into(trend.E, trend.root[place], trend.whitened[place])
    return Collapsed(value - 0.5 * log_det, place)


@njit(**INLINE_MAKING_ARRAYS)
def _weight(root, whitened):
    """W = d value / d E, Eq. (45), from what ``integrate`` returned."""
    C = len(whitened) + 1
    W, w = np.zeros((C, C)), np.zeros(C)
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
    return W


@njit(**INNER)
def likelihood(target, tau, phi, d_tau, d_phi):
    """log p(y | tau, phi) up to a constant, trend integrated out; gradients are added to d_tau (N,) and d_phi (P,)."""
    rows, there = hold(target.rows), process_at(target.process, target.factors, phi)
    N, C, d = len(tau), len(there.columns), len(there.dims)
    order = np.argsort(tau)
    series = Series(np.empty(N), np.empty((N, C)), np.empty(N))
    in_time_order(rows, tau, order, math.exp(phi[Y_SCALE]), series)
    store, out = np.empty((N, store_width(d, C))), np.empty((N, 2 + C))
    log_det, E = forward(there, series, store)
    add(E, target.trend_prior)
    value, root, whitened = linked_integrate(E)
    d_blocks = reverse(there, series, _weight(root, whitened), store, out)
    for p in range(N):
        r = order[p]
        d_tau[r] += out[p, 0]
        for c in range(C):
            d_tau[r] += out[p, 2 + c] * rows.slope[c]
        if rows.measured[r]:
            d_phi[Y_SCALE] += 2.0 * out[p, 1] * series.y_var[p]
    for b in range(len(target.factors)):
        if 2 * b + 1 < len(phi) + MEMORY:  # a kernel of trend terms alone has a block but no parameters
            d_phi[2 * b] += d_blocks[b, 0]
            d_phi[2 * b + 1] += 2.0 * d_blocks[b, 1]
    return value - 0.5 * log_det


@njit(**LEAN)
def dates(target, tau, phi, d_tau, d_phi):
    """sum log p(date | tau) over the uncertain rows, up to a constant; gradients are added.

    Gaussian dates have the standard deviation t_scale t_sd.
    """
    rows = target.rows
    t_scale = math.exp(phi[T_SCALE])
    value = 0.0
    for r in range(len(tau)):
        if 0.0 < rows.t_var[r] < math.inf:
            part, slope = log_date(rows, r, tau[r], t_scale)
            value += part
            d_tau[r] += slope
            if rows.size[r] == 0:
                value -= phi[T_SCALE]
                d_phi[T_SCALE] -= 2.0 * part + 1.0
    return value


@njit(nogil=True, cache=True, **FAST)
def spacing(target, tau, phi, d_tau, d_phi):
    """log p(gaps | alpha) over all sequences; gradients are added, except with memory, which has none."""
    rows, value, prior = target.rows, 0.0, gap_prior_at(target, phi)
    set_memory(target.needs.memory, rows, phi)
    for s in range(len(target.first) - 1):
        members = target.members[target.first[s] : target.first[s + 1]]
        before = members[:-1]
        gaps = Gaps(rows.least[before], rows.unit[before], rows.regular[before], rows.carry[before])
        part, d_own, d_alpha = log_density_of_gaps(tau[members], gaps, prior)
        value += part
        if target.needs.memory is not None:
            continue
        for i in range(len(members)):
            d_tau[members[i]] += d_own[i]
        if target.gamma:
            d_phi[ALPHA] += d_alpha * (prior.shape - target.least_alpha)
    return value


@njit(**INLINE)
def log_parameter_prior(target, phi, i):
    """log p(phi[i]), up to a constant."""
    u = (phi[i] - target.prior_mean[i]) / target.prior_sd[i]
    return -0.5 * u * u


@njit(**LEAN)
def parameters_prior(target, phi, d_phi):
    """log p(phi) of the unknown parameters, up to a constant; gradients are added."""
    value = 0.0
    for i in range(len(phi)):
        if target.free[i]:
            value += log_parameter_prior(target, phi, i)
            d_phi[i] -= (phi[i] - target.prior_mean[i]) / target.prior_sd[i] / target.prior_sd[i]
    return value


@njit(nogil=True, cache=True, **FAST)
def log_prior(target, tau, phi, d_tau, d_phi):
    """Dates, gaps and parameters: the log-posterior without the likelihood; gradients are added to d_tau and d_phi."""
    value = dates(target, tau, phi, d_tau, d_phi)
    value += spacing(target, tau, phi, d_tau, d_phi)
    return value + parameters_prior(target, phi, d_phi)


@njit(nogil=True, cache=True, **FAST)
def log_density(target, tau, phi, d_tau, d_phi):
    """The log-posterior at (tau, phi), up to a constant; writes its gradient to d_tau (N,) and d_phi (P,)."""
    d_tau[:] = 0.0
    d_phi[:] = 0.0
    value = likelihood(target, tau, phi, d_tau, d_phi)
    return value + log_prior(target, tau, phi, d_tau, d_phi)


def dense_log_density(problem: Problem, target: Target, tau: Array, phi: Array, d_tau: Array, d_phi: Array) -> float:
    """``log_density`` on the dense engine, for any kernel: O(N³). -inf where the covariance matrix is singular."""
    d_tau[:] = 0.0
    d_phi[:] = 0.0
    value = dense_likelihood(problem, tau, phi, d_tau, d_phi)
    return value + log_prior(target, tau, phi, d_tau, d_phi) if value > -math.inf else value


def dense_likelihood(problem: Problem, tau: Array, phi: Array, d_tau: Array, d_phi: Array) -> float:
    """``likelihood`` on the dense engine; gradients are added."""
    y_var = problem.y_var(math.exp(phi[Y_SCALE]))
    try:
        kernel = problem.kernel.with_theta(phi[: problem.n_kernel])
        value, d_inputs, d_theta, d_y_var = dense.value_and_gradients(kernel, tau, problem.y, np.sqrt(y_var))
    except KernelError:
        return -math.inf
    d_tau += d_inputs
    d_phi[: problem.n_kernel] += d_theta
    d_phi[Y_SCALE] += 2.0 * float(d_y_var @ np.where(problem.rows.measured, y_var, 0.0))
    return value
