"""The curve and its rate from draws of the inputs and parameters: one place that predicts, for all methods.

Given one draw of (tau, theta) the curve is Gaussian, with trend coefficients integrated out; over the draws it is a
mixture of Gaussians, whose mean, standard deviation and quantiles are computed exactly. O(N + M) a draw, compiled.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numba import njit

from . import dense
from .cores import available_cores
from .markov.filter import log_likelihood_terms
from .markov.smoothing import simulate, smooth
from .methods.draws import Draws
from .problem import Problem
from .rows import in_time_order
from .stack import FAST
from .statespace import blocks_at
from .trend import at_times, draw, integrate

Array = np.ndarray

LEVELS = (0.025, 0.05, 0.25, 0.5, 0.75, 0.95, 0.975)


def curves(problem: Problem, draws: Draws, at: Array) -> tuple[Array, Array, Array, Array]:
    """Mean and variance of f, then of f', at internal times ``at`` (M,), for each draw: four arrays (S, M).

    Where the curve has no rate, f' is NaN.
    """
    order = np.argsort(at, kind="stable")
    taus, out = draws.tau.astype(float, copy=False), np.empty((4, len(draws.tau), len(at)))
    if problem.kernel.is_markov:
        offset, X, offset_rate, X_rate = at_times(problem.kernel, problem.design, at[order])
        trend = (offset, X, offset_rate, X_rate)

        def one_part(part: slice) -> None:
            _predict_draws(
                problem.blocks, problem.dims, problem.columns, (0,) * (len(problem.dims) + len(problem.columns)),
                problem.factors, problem.rows, problem.design.prior, _beside(problem, draws, part),
                taus[part], draws.phi[part], at[order], trend, out[:, part],
            )  # fmt: skip

        _in_parts(len(draws.tau), one_part)
    else:
        for k in range(len(taus)):
            kernel, y_sd = _dense_model(problem, draws, k)
            out[:, k] = dense.predict_pointwise(kernel, taus[k], problem.y, y_sd, at[order])
    back = np.argsort(order, kind="stable")
    return out[0][:, back], out[1][:, back], out[2][:, back], out[3][:, back]


def sample(problem: Problem, draws: Draws, at: Array, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """n joint draws of f and f' at internal times ``at``, each (n, M): one for each chosen draw of (tau, theta)."""
    again = n > len(draws.tau) or np.ptp(draws.weight) > 0.0
    which = rng.choice(len(draws.tau), size=n, p=draws.weight, replace=again)
    order = np.argsort(at, kind="stable")
    curve, rates = np.empty((n, len(at))), np.empty((n, len(at)))
    if problem.kernel.is_markov:
        _sample_draws(
            problem.blocks, problem.dims, problem.columns, (0,) * (len(problem.dims) + 1),
            problem.factors, problem.rows, problem.design.prior, _beside(problem, draws, which),
            draws.tau[which].astype(float), draws.phi[which], at[order],
            at_times(problem.kernel, problem.design, at[order]), rng, curve, rates,
        )  # fmt: skip
    else:
        for d in np.unique(which):
            kernel, y_sd = _dense_model(problem, draws, d)
            joint = dense.predict_joint if kernel.stationary.differentiable else dense.predict
            mean, covariance = joint(kernel, draws.tau[d].astype(float), problem.y, y_sd, at[order])
            chosen = which == d
            drawn = mean + rng.standard_normal((chosen.sum(), len(mean))) @ _root(covariance).T
            curve[chosen] = drawn[:, : len(at)]
            rates[chosen] = drawn[:, len(at) :] if len(mean) > len(at) else np.nan
    back = np.argsort(order, kind="stable")
    return curve[:, back], rates[:, back]


def coefficients(problem: Problem, draws: Draws) -> tuple[Array, Array]:
    """Mean and variance of each regression coefficient (trend terms as laid out in ``Design``, offsets), for each draw:
    two arrays (S, q). On the Markov engine only.
    """
    out = np.empty((2, len(draws.tau), len(problem.columns) - 1))
    _coefficients(
        problem.blocks, problem.dims, problem.columns, problem.factors, problem.rows, problem.design.prior,
        _beside(problem, draws, slice(None)), draws.tau.astype(float), draws.phi, out,
    )  # fmt: skip
    return out[0], out[1]


def mixture_quantiles(mean: Array, sd: Array, weight: Array, levels: tuple[float, ...] = LEVELS) -> Array:
    """Quantiles of sum_s weight_s N(mean_s, sd_s²), shape (M, L), from mean and sd (S, M)."""
    from scipy.special import ndtri

    out = np.empty((mean.shape[1], len(levels)))
    mean_by_point, sd_by_point = np.ascontiguousarray(mean.T), np.ascontiguousarray(sd.T)
    wanted, scores = np.asarray(levels), ndtri(levels)

    def one_part(part: slice) -> None:
        _mixture_quantiles(mean_by_point[part], sd_by_point[part], weight, wanted, scores, out[part])

    _in_parts(mean.shape[1], one_part)
    return out


def weighted_quantiles(values: Array, weight: Array, levels: tuple[float, ...] = LEVELS) -> Array:
    """Quantiles of each column of draws (S, N), shape (L, N)."""
    if np.ptp(weight) == 0.0:
        return np.quantile(values, levels, axis=0)
    order = np.argsort(values, axis=0)
    ordered = np.take_along_axis(values, order, axis=0)
    total = np.cumsum(weight[order], axis=0)
    first = (total[None] < np.asarray(levels)[:, None, None]).sum(axis=1)
    return np.take_along_axis(ordered, np.minimum(first, len(values) - 1), axis=0)


def _in_parts(n: int, work: Callable[[slice], None]) -> None:
    """Split 0..n over the cores; compiled code runs outside Python's lock."""
    edges = np.linspace(0, n, min(available_cores(), n) + 1).astype(int)
    parts = [slice(a, b) for a, b in pairwise(edges)]
    if not parts:
        return
    with ThreadPoolExecutor(len(parts)) as pool:
        list(pool.map(work, parts))


def _beside(problem: Problem, draws: Draws, which: Array | slice) -> tuple[Array, Array, Array]:
    """What is to be done to the data of these draws: variance to be added (N,), shift of y and factor of its variance.

    The last two have a row for each draw, or none.
    """
    n = len(problem.rows.t)
    extra = np.zeros(n) if draws.extra_var is None else draws.extra_var
    if draws.shift is None or draws.factor is None:
        return extra, np.empty((0, n)), np.empty((0, n))
    return extra, draws.shift[which], draws.factor[which]


def _dense_model(problem: Problem, draws: Draws, k: int) -> tuple[Any, Array]:
    kernel = problem.kernel.with_theta(draws.phi[k, : problem.n_kernel])
    y_var = problem.y_var(math.exp(draws.phi[k, -1]))
    return kernel, np.sqrt(y_var if draws.extra_var is None else y_var + draws.extra_var)


def _root(covariance: Array) -> Array:
    """R with R R' = covariance, which may be singular, and in rounding a little more than that."""
    values, vectors = np.linalg.eigh(covariance)
    return vectors * np.sqrt(np.maximum(values, 0.0))


@njit(**FAST)
def _lay_out(rows, beside, s, tau, phi, time, Z, y_var):
    """Draw s in merged time order: times, data columns and variances."""
    extra_var, shift, factor = beside
    order = np.argsort(tau)
    in_time_order(rows, tau, order, math.exp(phi[len(phi) - 1]), time, Z, y_var)
    for p in range(len(order)):
        r = order[p]
        y_var[p] += extra_var[r]
        if len(shift) > 0:
            Z[p, 0] += shift[s, r] - rows.shift[r]
            y_var[p] *= factor[s, r] / rows.factor[r]


@njit(nogil=True, cache=True, **FAST)
def _predict_draws(blocks, dims, columns, both, factors, rows, trend_prior, beside, taus, phis, at, trend, out):
    """out (4, S, M): mean and variance of f and f' for each draw."""
    offset, X, offset_rate, X_rate = trend
    N, M, C = taus.shape[1], len(at), len(columns)
    time, Z, y_var = np.empty(N), np.empty((N, C)), np.empty(N)
    means, covariances = np.empty((M, 2, C)), np.empty((M, 3))
    for s in range(len(taus)):
        _lay_out(rows, beside, s, taus[s], phis[s], time, Z, y_var)
        there = blocks_at(blocks, factors, phis[s], 0)
        E = smooth(there, dims, columns, both, time, Z, y_var, at, means, covariances)
        _, root, whitened = integrate(E + trend_prior)
        for j in range(M):
            for k in range(2):
                mean = (offset[j] if k == 0 else offset_rate[j]) + means[j, k, 0]
                var = covariances[j, 0 if k == 0 else 2]
                for a in range(C - 1):
                    spread = 0.0
                    for b in range(C - 1):
                        left = (X[j, b] if k == 0 else X_rate[j, b]) - means[j, k, b + 1]
                        spread += root[a, b] * left
                    mean += spread * whitened[a]
                    var += spread * spread
                out[2 * k, s, j] = mean
                out[2 * k + 1, s, j] = var


@njit(nogil=True, cache=True, **FAST)
def _coefficients(blocks, dims, columns, factors, rows, trend_prior, beside, taus, phis, out):
    """out (2, S, q): mean and variance of the coefficients for each draw."""
    N, C = taus.shape[1], len(columns)
    time, Z, y_var = np.empty(N), np.empty((N, C)), np.empty(N)
    for s in range(len(taus)):
        _lay_out(rows, beside, s, taus[s], phis[s], time, Z, y_var)
        _, E = log_likelihood_terms(blocks_at(blocks, factors, phis[s], 0), dims, columns, time, Z, y_var)
        _, root, whitened = integrate(E + trend_prior)
        for i in range(C - 1):
            mean, var = 0.0, 0.0
            for k in range(C - 1):
                mean += root[k, i] * whitened[k]
                var += root[k, i] * root[k, i]
            out[0, s, i], out[1, s, i] = mean, var


@njit(nogil=True, cache=True, **FAST)
def _sample_draws(
    blocks, dims, columns, both, factors, rows, trend_prior, beside, taus, phis, at, trend, rng, curve, rates
):
    """One joint draw of f and f' for each draw of (tau, phi), trend coefficients drawn as well."""
    offset, X, offset_rate, X_rate = trend
    N, M, C = taus.shape[1], len(at), len(columns)
    time, Z, y_var, z = np.empty(N), np.empty((N, C)), np.empty(N), np.empty(N)
    beta = np.empty(C - 1)
    for s in range(len(taus)):
        _lay_out(rows, beside, s, taus[s], phis[s], time, Z, y_var)
        there = blocks_at(blocks, factors, phis[s], 0)
        _, E = log_likelihood_terms(there, dims, columns, time, Z, y_var)
        _, root, whitened = integrate(E + trend_prior)
        draw(root, whitened, rng, beta)
        for p in range(N):
            z[p] = Z[p, 0]
            for c in range(C - 1):
                z[p] -= beta[c] * Z[p, c + 1]
        simulate(there, dims, both, time, z, y_var, at, rng, curve[s : s + 1], rates[s : s + 1])
        for j in range(M):
            curve[s, j] += offset[j]
            rates[s, j] += offset_rate[j]
            for c in range(C - 1):
                curve[s, j] += beta[c] * X[j, c]
                rates[s, j] += beta[c] * X_rate[j, c]


@njit(nogil=True, cache=True, **FAST)
def _mixture_quantiles(mean, sd, weight, levels, scores, out):
    """Newton's method on the distribution function, kept inside a bracket; mean and sd are (M, S)."""
    for j in range(mean.shape[0]):
        centre, var, low, high = 0.0, 0.0, math.inf, -math.inf
        for s in range(len(weight)):
            centre += weight[s] * mean[j, s]
            low = min(low, mean[j, s] - 9.0 * sd[j, s])
            high = max(high, mean[j, s] + 9.0 * sd[j, s])
        for s in range(len(weight)):
            var += weight[s] * ((mean[j, s] - centre) ** 2 + sd[j, s] ** 2)
        total = math.sqrt(var)
        for k in range(len(levels)):
            left, right = low, high
            x = min(max(centre + scores[k] * total, left), right)
            for _ in range(100):
                F, density = 0.0, 0.0
                for s in range(len(weight)):
                    if sd[j, s] > 0.0:
                        u = (x - mean[j, s]) / sd[j, s]
                        F += weight[s] * 0.5 * math.erfc(-u * math.sqrt(0.5))
                        density += weight[s] * math.exp(-0.5 * u * u) / (sd[j, s] * math.sqrt(2.0 * math.pi))
                    elif x >= mean[j, s]:
                        F += weight[s]
                if levels[k] > F:
                    left = x
                else:
                    right = x
                new = x - (F - levels[k]) / density if density > 0.0 else math.inf
                if not left <= new <= right:
                    new = 0.5 * (left + right)
                done = abs(new - x) <= 1e-6 * total or right - left <= 1e-15 * (abs(left) + abs(right))
                x = new
                if done:
                    break
            out[j, k] = x
