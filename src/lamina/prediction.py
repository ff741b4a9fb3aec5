"""The curve and its rate from draws of the inputs and parameters: one place that predicts, for all methods.

Given one draw of (tau, theta) the curve is Gaussian, with trend coefficients integrated out, and so are the parts that
it is the sum of; over the draws it is a mixture of Gaussians, whose mean, standard deviation and quantiles are computed
exactly. O(N + M) a draw, compiled.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numba import njit

from . import dense
from .cores import available_cores
from .kernels import Kernel, Stationary
from .markov.filter import log_likelihood_terms
from .markov.smoothing import readouts, simulate, smooth
from .methods.draws import Draws
from .problem import Problem
from .rows import in_time_order
from .stack import FAST
from .statespace import STATES, blocks_at
from .trend import at_times, draw, integrate

Array = np.ndarray

LEVELS = (0.025, 0.05, 0.25, 0.5, 0.75, 0.95, 0.975)


#: The parts that the curve is told in: one, with or without the trend, or each kernel of a sum and then the trend.
Parts = Literal["whole", "without trend", "all"]


class Readouts(NamedTuple):
    """What is predicted at M sorted times: the value and the rate of each part of the curve, R = 2 x parts in all."""

    edges: Array  #: where the state of each part begins: see ``markov.smoothing.readouts``
    offset: Array  #: (R, M) with X: what the trend has in it is offset + X @ coefficients
    X: Array  #: (R, M, q)


def curves(problem: Problem, draws: Draws, at: Array, trend: bool = True) -> tuple[Array, Array, Array, Array]:
    """Mean and variance of f, then of f', at internal times ``at`` (M,), for each draw: four arrays (S, M).

    Without ``trend``, of what is left of f when the trend is taken out. Where the curve has no rate, f' is NaN.
    """
    mean, var = _predicted(problem, draws, at, "whole" if trend else "without trend")
    return mean[:, 0], var[:, 0], mean[:, 1], var[:, 1]


def components(problem: Problem, draws: Draws, at: Array) -> tuple[Array, Array]:
    """Mean and variance of the parts of f (``component_names``), for each draw: two arrays (S, parts, 2, M).

    The last axis but one holds the value and the rate, NaN where there is none.
    """
    found = _predicted(problem, draws, at, "all")
    mean, var = (one.reshape(len(one), -1, 2, len(at)) for one in found)
    return mean, var


def component_names(kernel: Kernel) -> list[str]:
    """What the parts of the curve are called; the numbers are those of the kernels' parameters."""
    names = [type(term).__name__ for term in kernel.terms if isinstance(term, Stationary)]
    if len(names) > 1:
        names = [f"{name}_{number}" for number, name in enumerate(names, start=1)]
    return [*names, "trend"] if kernel.trend else names


def sample(
    problem: Problem, draws: Draws, at: Array, n: int, rng: np.random.Generator, parts: Parts = "whole"
) -> Array:
    """n joint draws of f and f' at internal times ``at``, (n, 2, M): one for each chosen draw of (tau, theta).

    With all parts, of the value and rate of each, (n, R, M); the dense engine leaves the rates NaN.
    """
    again = n > len(draws.tau) or np.ptp(draws.weight) > 0.0
    which = rng.choice(len(draws.tau), size=n, p=draws.weight, replace=again)
    order = np.argsort(at, kind="stable")
    read = _readouts(problem, at[order], parts)
    out = np.full((n, *read.offset.shape), np.nan)
    if problem.kernel.is_markov:
        _sample_draws(
            problem.blocks, problem.dims, problem.columns, (0,) * (len(problem.dims) + 1),
            problem.factors, problem.rows, problem.design.prior, _extra(problem, draws),
            draws.tau[which].astype(float), draws.phi[which], at[order], read, rng, out,
        )  # fmt: skip
    else:
        for d in np.unique(which):
            kernel, y_sd = _dense_model(problem, draws, d)
            data = (draws.tau[d].astype(float), problem.record.y, y_sd, at[order])
            with_rates = parts == "whole" and kernel.stationary.differentiable
            if with_rates:
                mean, covariance = dense.predict_joint(kernel, *data)
            else:
                mean, covariance = dense.predict_parts(kernel, *data, _parts(kernel, parts))
            chosen = which == d
            drawn = mean + rng.standard_normal((chosen.sum(), len(mean))) @ _root(covariance).T
            out[chosen, :: 1 if with_rates else 2] = drawn.reshape(chosen.sum(), -1, len(at))
    return out[..., np.argsort(order, kind="stable")]


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


def _parts(kernel: Kernel, parts: Parts) -> list[tuple[Stationary, bool]]:
    """A stationary kernel for each part, and whether the trend belongs to it."""
    curve = kernel.stationary
    if curve is None or parts == "whole":
        return [(curve or dense.NoCurve(), parts != "without trend")]
    if parts == "without trend":
        return [(curve, False)]
    terms = [(term, False) for term in kernel.terms if isinstance(term, Stationary)]
    return [*terms, (dense.NoCurve(), True)] if kernel.trend else terms


def _readouts(problem: Problem, at: Array, parts: Parts) -> Readouts:
    kernel = problem.kernel
    offset, X, offset_rate, X_rate = at_times(kernel, problem.design, at)
    share = [with_trend for _, with_trend in _parts(kernel, parts)]
    sizes = [STATES[type(block)] for block in problem.blocks] if kernel.is_markov else []
    return Readouts(
        np.cumsum([0, *(sizes if parts == "all" else [sum(sizes)])]),
        np.concatenate([with_trend * np.stack([offset, offset_rate]) for with_trend in share]),
        np.concatenate([with_trend * np.stack([X, X_rate]) for with_trend in share]),
    )


def _predicted(problem: Problem, draws: Draws, at: Array, parts: Parts) -> tuple[Array, Array]:
    """Mean and variance of the value and the rate of each part, for each draw: two arrays (S, R, M)."""
    order = np.argsort(at, kind="stable")
    read, taus = _readouts(problem, at[order], parts), draws.tau.astype(float, copy=False)
    mean, var = np.empty((2, len(taus), *read.offset.shape))
    if problem.kernel.is_markov:

        def one_part(part: slice) -> None:
            _predict_draws(
                problem.blocks, problem.dims, problem.columns, (0,) * (len(problem.dims) + len(problem.columns)),
                problem.factors, problem.rows, problem.design.prior, _extra(problem, draws),
                taus[part], draws.phi[part], at[order], read, mean[part], var[part],
            )  # fmt: skip

        _in_parts(len(taus), one_part)
    else:
        for k in range(len(taus)):
            kernel, y_sd = _dense_model(problem, draws, k)
            mean[k], var[k] = dense.predict_pointwise(
                kernel, taus[k], problem.record.y, y_sd, at[order], _parts(kernel, parts)
            )
    back = np.argsort(order, kind="stable")
    return mean[..., back], var[..., back]


def _in_parts(n: int, work: Callable[[slice], None]) -> None:
    """Split 0..n over the cores; compiled code runs outside Python's lock."""
    edges = np.linspace(0, n, min(available_cores(), n) + 1).astype(int)
    parts = [slice(a, b) for a, b in pairwise(edges)]
    if not parts:
        return
    with ThreadPoolExecutor(len(parts)) as pool:
        list(pool.map(work, parts))


def _extra(problem: Problem, draws: Draws) -> Array:
    return np.zeros(len(problem.record)) if draws.extra_var is None else draws.extra_var


def _dense_model(problem: Problem, draws: Draws, k: int) -> tuple[Any, Array]:
    kernel = problem.kernel.with_theta(draws.phi[k, : problem.n_kernel])
    y_var = problem.rows.y_var * math.exp(2.0 * draws.phi[k, -1]) + _extra(problem, draws)
    return kernel, np.sqrt(y_var)


def _root(covariance: Array) -> Array:
    """R with R R' = covariance, which may be singular, and in rounding a little more than that."""
    values, vectors = np.linalg.eigh(covariance)
    return vectors * np.sqrt(np.maximum(values, 0.0))


@njit(**FAST)
def _lay_out(rows, extra_var, tau, phi, time, Z, y_var):
    """One draw in merged time order: times, data columns and variances."""
    order = np.argsort(tau)
    in_time_order(rows, tau, order, math.exp(phi[len(phi) - 1]), time, Z, y_var)
    for p in range(len(order)):
        y_var[p] += extra_var[order[p]]


@njit(nogil=True, cache=True, **FAST)
def _predict_draws(blocks, dims, columns, both, factors, rows, trend_prior, extra_var, taus, phis, at, read, mean, var):
    """mean and var (S, R, M) of what is read out, for each draw."""
    N, M, C, R = taus.shape[1], len(at), len(columns), len(read.offset)
    time, Z, y_var = np.empty(N), np.empty((N, C)), np.empty(N)
    H, means, variances = np.empty((R, len(dims))), np.empty((M, R, C)), np.empty((M, R))
    for s in range(len(taus)):
        _lay_out(rows, extra_var, taus[s], phis[s], time, Z, y_var)
        there = blocks_at(blocks, factors, phis[s], 0)
        readouts(there, dims, read.edges, H)
        E = smooth(there, dims, columns, both, time, Z, y_var, at, H, means, variances)
        _, root, whitened = integrate(E + trend_prior)
        for r in range(R):
            for j in range(M):
                mean[s, r, j] = read.offset[r, j] + means[j, r, 0]
                var[s, r, j] = variances[j, r]
                for a in range(C - 1):
                    spread = 0.0
                    for b in range(C - 1):
                        spread += root[a, b] * (read.X[r, j, b] - means[j, r, b + 1])
                    mean[s, r, j] += spread * whitened[a]
                    var[s, r, j] += spread * spread


@njit(nogil=True, cache=True, **FAST)
def _sample_draws(blocks, dims, columns, both, factors, rows, trend_prior, extra_var, taus, phis, at, read, rng, out):
    """One joint draw (R, M) of what is read out for each draw of (tau, phi), trend coefficients drawn as well."""
    N, M, C, R = taus.shape[1], len(at), len(columns), len(read.offset)
    time, Z, y_var, z = np.empty(N), np.empty((N, C)), np.empty(N), np.empty(N)
    H, beta = np.empty((R, len(dims))), np.empty(C - 1)
    for s in range(len(taus)):
        _lay_out(rows, extra_var, taus[s], phis[s], time, Z, y_var)
        there = blocks_at(blocks, factors, phis[s], 0)
        readouts(there, dims, read.edges, H)
        _, E = log_likelihood_terms(there, dims, columns, time, Z, y_var)
        _, root, whitened = integrate(E + trend_prior)
        draw(root, whitened, rng, beta)
        for p in range(N):
            z[p] = Z[p, 0]
            for c in range(C - 1):
                z[p] -= beta[c] * Z[p, c + 1]
        simulate(there, dims, both, time, z, y_var, at, H, rng, out[s : s + 1])
        for r in range(R):
            for j in range(M):
                out[s, r, j] += read.offset[r, j]
                for c in range(C - 1):
                    out[s, r, j] += beta[c] * read.X[r, j, c]


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
