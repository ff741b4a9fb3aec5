"""The curve and its rate from draws of the inputs and parameters: one place that predicts, for all methods.

Given one draw of (tau, theta) the curve is Gaussian, with trend coefficients integrated out, and so are the parts that
it is the sum of; over the draws it is a mixture of Gaussians, whose mean, standard deviation and quantiles are computed
exactly. O(N + M) a draw, compiled.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from numba import njit

from .. import dense
from ..engine.blocks import STATES
from ..engine.filter import Series, write_products
from ..engine.packing import Packed
from ..engine.quantiles import mixture_quantiles
from ..engine.smoothing import Merged, Smoothed, linked_readouts, linked_smooth, new_merged, simulate
from ..engine.stack import ENTRY, LEAN, hold
from ..engine.statespace import Process, process_at
from ..kernels import Kernel, Stationary
from ..model.parameters import Y_SCALE
from ..model.problem import Problem
from ..model.rows import in_time_order
from ..model.trend import add, at_times, draw, integrate_into
from ..support.cpus import at_most, in_parts
from .draws import Draws
from .target import Needs, Target, Trend, make_target, new_trend

Array = np.ndarray

#: Inputs that are kept in single precision are turned into double about this many at a time.
DOUBLES_AT_ONCE = 5_000_000


#: The parts of the curve: one, with or without the trend, or each kernel of a sum and then the trend.
Parts = Literal["whole", "without trend", "all"]


class Readouts(NamedTuple):
    """What is predicted at M sorted times: the value and the rate of each part of the curve, R = 2 x parts in all.

    There is one row of times for all draws, or one for each: T of them.
    """

    edges: Array  #: where the state of each part begins: see ``engine.smoothing.readouts``
    offset: Array  #: (R, T, M) with X: what the trend has in it is offset + X @ coefficients
    X: Array  #: (R, T, M, q)


class Chosen(NamedTuple):
    """Some draws in double precision, and what to do to their data."""

    first: int  #: number of the first
    tau: Array  #: (S, N)
    order: Array  #: (S, N) rows by time
    phi: Array  #: (S, P)
    extra_var: Array  #: (N,) variance to be added
    shift: Array  #: (S, N) of y, or (0, N)
    factor: Array  #: (S, N) of its variance, or (0, N)
    trend: Trend  #: scratch


class Work(NamedTuple):
    """Scratch of ``_predict_draws``."""

    H: Array  #: (R, d)
    merged: Merged
    found: Smoothed


def curves(
    problem: Problem, draws: Draws, at: Array, trend: bool = True, sequence: Array | None = None
) -> tuple[Array, Array, Array, Array]:
    """Mean and variance of f, then of f', at internal times, for each draw: four arrays (S, M).

    at: (M,), or (S, M) where each draw has times of its own. Without ``trend``, of what is left of f when the trend is
    taken out. sequence (M,): the number of a sequence, whose offset is added to f, or -1 for none. Where the curve has
    no rate, f' is NaN.
    """
    mean, var = _predicted(problem, draws, at, "whole" if trend else "without trend", sequence)
    return mean[:, 0], var[:, 0], mean[:, 1], var[:, 1]


def curve_means(problem: Problem, tau: Array, phi: Array, renewed: tuple[Array, ...], at: Array) -> Array:
    """Mean of f at internal times ``at`` (M,) given each of the draws tau (n, N) and phi (n, P): (n, M).

    ``renewed`` holds shift and factor as in ``Draws``, where there are any. On one CPU, for one of several chains.
    """
    beside = dict(zip(("shift", "factor"), renewed, strict=True)) if renewed else {}
    with at_most(1):
        return curves(problem, Draws.equal(tau, phi, **beside), at)[0]


def prepare(problem: Problem, tau: Array, phi: Array) -> None:
    """Compile, or load, what computes curves and their quantiles, by computing one at inputs (N,) and phi (P,)."""
    if problem.kernel.is_markov and problem.rows.measured.any():
        draws = Draws.equal(tau[None], phi[None])
        mean, var, _, _ = curves(problem, draws, problem.rows.t[:1])
        mixture_quantiles(mean, np.sqrt(var), draws.weight)


def components(problem: Problem, draws: Draws, at: Array) -> tuple[Array, Array]:
    """Mean and variance of the parts of f (``component_names``), for each draw: two arrays (S, parts, 2, M).

    The last axis but one holds the value and the rate, NaN where there is none.
    """
    mean, var = (one.reshape(len(one), -1, 2, one.shape[2]) for one in _predicted(problem, draws, at, "all"))
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
    read = _readouts(problem, at[None, order], parts)
    out = np.full((n, len(read.offset), len(at)), np.nan)
    if problem.kernel.is_markov:
        target, step = Packed(_plain_target(problem)), max(DOUBLES_AT_ONCE // draws.tau.shape[1], 1)
        for first in range(0, n, step):
            some = which[first : first + step]
            chosen = _choose(problem, draws, some, first)
            _sample_draws(target, Packed(chosen), at[order], read, rng, out[first : first + step])
    else:
        for d in np.unique(which):
            kernel, y_sd = _dense_model(problem, draws, d)
            data = (draws.tau[d].astype(float), problem.y, y_sd, at[order])
            with_rates = parts == "whole" and kernel.stationary.differentiable
            if with_rates:
                mean, covariance = dense.predict_joint(kernel, *data)
            else:
                mean, covariance = dense.predict_parts(kernel, *data, _parts(kernel, parts))
            chosen = which == d
            drawn = mean + rng.standard_normal((chosen.sum(), len(mean))) @ _root(covariance).T
            out[chosen, :: 1 if with_rates else 2] = drawn.reshape(chosen.sum(), -1, len(at))
    return out[..., np.argsort(order, kind="stable")]


def coefficients(problem: Problem, draws: Draws) -> tuple[Array, Array]:
    """Mean and variance of each regression coefficient (trend terms as in ``Design``, then offsets), for each draw:
    two arrays (S, q). On the Markov engine only.
    """
    out = np.empty((2, len(draws.tau), len(problem.columns) - 1))
    for chosen in _in_portions(problem, draws, slice(0, len(draws.tau))):
        some = out[:, chosen.first : chosen.first + len(chosen.tau)]
        _coefficients(Packed(_plain_target(problem)), Packed(chosen), some)
    return out[0], out[1]


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
    """For sorted times ``at`` (T, M)."""
    kernel = problem.kernel
    offset, X, offset_rate, X_rate = (
        one.reshape(*at.shape, *one.shape[1:]) for one in at_times(kernel, problem.design, at.ravel())
    )
    share = [with_trend for _, with_trend in _parts(kernel, parts)]
    sizes = [STATES[type(block)] for block in problem.blocks] if kernel.is_markov else []
    return Readouts(
        np.cumsum([0, *(sizes if parts == "all" else [sum(sizes)])]),
        np.concatenate([with_trend * np.stack([offset, offset_rate]) for with_trend in share]),
        np.concatenate([with_trend * np.stack([X, X_rate]) for with_trend in share]),
    )


def _predicted(
    problem: Problem, draws: Draws, at: Array, parts: Parts, sequence: Array | None = None
) -> tuple[Array, Array]:
    """Mean and variance of the value and the rate of each part, for each draw: two arrays (S, R, M)."""
    at = np.atleast_2d(at)
    order = np.argsort(at, axis=1, kind="stable")
    ordered = np.take_along_axis(at, order, axis=1)
    read = _readouts(problem, ordered, parts)
    if problem.model.offsets is not None and sequence is not None:  # offsets are the last coefficients
        known = len(problem.rows.gaps)
        read.X[0, ..., -known:] = sequence[order][..., None] == np.arange(known)
    # What comes next needs all draws of a point together.
    R, M = len(read.offset), at.shape[1]
    mean, var = out = np.empty((2, R, M, len(draws.tau)))
    if problem.kernel.is_markov:
        target = Packed(_plain_target(problem))

        def one_part(part: slice) -> None:
            work = Packed(_new_work(problem, R, M))
            for chosen in _in_portions(problem, draws, part):
                _predict_draws(target, Packed(chosen), ordered, order, read, work, out)

        in_parts(len(draws.tau), one_part)
    else:
        taus = draws.tau.astype(float, copy=False)
        for k in range(len(taus)):
            kernel, y_sd = _dense_model(problem, draws, k)
            own = k if len(at) > 1 else 0
            mean[:, order[own], k], var[:, order[own], k] = dense.predict_pointwise(
                kernel, taus[k], problem.y, y_sd, ordered[own], _parts(kernel, parts)
            )
    return np.moveaxis(mean, 2, 0), np.moveaxis(var, 2, 0)


def _new_work(problem: Problem, R: int, M: int) -> Work:
    """For R readouts at M times."""
    d, C = len(problem.dims), len(problem.columns)
    merged = new_merged(len(problem.rows.t), M, d, C)
    return Work(np.empty((R, d)), merged, Smoothed(np.empty((M, R, C)), np.empty((M, R)), np.empty((C, C))))


def _plain_target(problem: Problem) -> Target:
    """Without what only samplers need: prediction is compiled once for all records of a kernel."""
    return make_target(problem)._replace(needs=Needs(*[None] * len(Needs._fields)))


def _in_portions(problem: Problem, draws: Draws, part: slice) -> Iterator[Chosen]:
    """The draws of a part, a portion at a time, because double precision may need twice the memory."""
    step = max(DOUBLES_AT_ONCE // draws.tau.shape[1], 1)
    for first in range(part.start, part.stop, step):
        yield _choose(problem, draws, slice(first, min(first + step, part.stop)), first)


def _choose(problem: Problem, draws: Draws, which: Array | slice, first: int) -> Chosen:
    """Some draws, the first of which has the number ``first``."""
    n = len(problem.rows.t)
    extra = np.zeros(n) if draws.extra_var is None else draws.extra_var
    beside = (np.empty((0, n)), np.empty((0, n)))
    if draws.shift is not None and draws.factor is not None:
        beside = draws.shift[which], draws.factor[which]
    tau = draws.tau[which].astype(float, copy=False)
    order = np.argsort(tau, axis=1, kind="stable")  # NumPy's: that of Numba takes seconds to compile
    return Chosen(first, tau, order, draws.phi[which], extra, *beside, new_trend(n, len(problem.columns)))


def _dense_model(problem: Problem, draws: Draws, k: int) -> tuple[Any, Array]:
    kernel = problem.kernel.with_theta(draws.phi[k, : problem.n_kernel])
    y_var = problem.y_var(math.exp(draws.phi[k, Y_SCALE]))
    return kernel, np.sqrt(y_var if draws.extra_var is None else y_var + draws.extra_var)


def _root(covariance: Array) -> Array:
    """R with R R' = covariance, which may be singular, and in rounding a little more than that."""
    values, vectors = np.linalg.eigh(covariance)
    return vectors * np.sqrt(np.maximum(values, 0.0))


@njit(**LEAN)
def _write_series(target, chosen, s):
    """Data of draw s in merged time order."""
    rows, tau, order, series = target.rows, chosen.tau[s], chosen.order[s], chosen.trend.series
    in_time_order(rows, tau, order, math.exp(chosen.phi[s, Y_SCALE]), series)
    for p in range(len(order)):
        r = order[p]
        series.y_var[p] += chosen.extra_var[r]
        if len(chosen.shift) > 0:
            series.Z[p, 0] += chosen.shift[s, r] - rows.shift[r]
            series.y_var[p] *= chosen.factor[s, r] / rows.factor[r]


@njit(**LEAN)
def _integrate(target, E, trend):
    """Write the distribution of the trend coefficients, given E."""
    add(E, target.trend_prior)
    integrate_into(E, trend.root[0], trend.whitened[0])


@njit(**ENTRY)
def _predict_draws(target, chosen, at, order, read, work, out):
    """Write mean and variance of what is read out for each chosen draw, Eq. (46), into out (2, R, M, S).

    Times ``at`` (1, M), the same for all draws, or (S, M) are sorted; ``order`` is where each belongs in the output.
    """
    target, chosen, work = hold(target), hold(chosen), hold(work)
    M, C, R = at.shape[1], len(target.process.columns), len(read.offset)
    means, root, whitened = work.found.means, chosen.trend.root[0], chosen.trend.whitened[0]
    for s in range(len(chosen.tau)):
        number = chosen.first + s
        own = number if len(at) > 1 else 0
        _write_series(target, chosen, s)
        there = process_at(target.process, target.factors, chosen.phi[s])
        linked_readouts(there, read.edges, work.H)
        linked_smooth(there, chosen.trend.series, at[own], work.H, work.merged, work.found)
        _integrate(target, work.found.E, chosen.trend)
        for j in range(M):
            for r in range(R):
                m, v = read.offset[r, own, j] + means[j, r, 0], work.found.variances[j, r]
                for a in range(C - 1):
                    spread = 0.0
                    for b in range(C - 1):
                        spread += root[a, b] * (read.X[r, own, j, b] - means[j, r, b + 1])
                    m += spread * whitened[a]
                    v += spread * spread
                out[0, r, order[own, j], number] = m
                out[1, r, order[own, j], number] = v


@njit(**ENTRY)
def _coefficients(target, chosen, out):
    """Write mean and variance of the coefficients for each chosen draw into out (2, S, q)."""
    target, chosen = hold(target), hold(chosen)
    trend, q = chosen.trend, len(target.process.columns) - 1
    root, whitened = trend.root[0], trend.whitened[0]
    for s in range(len(chosen.tau)):
        _write_series(target, chosen, s)
        write_products(process_at(target.process, target.factors, chosen.phi[s]), trend.series, trend.E)
        _integrate(target, trend.E, trend)
        for i in range(q):
            mean, var = 0.0, 0.0
            for k in range(q):
                mean += root[k, i] * whitened[k]
                var += root[k, i] * root[k, i]
            out[0, s, i], out[1, s, i] = mean, var


@njit(**ENTRY)
def _sample_draws(target, chosen, at, read, rng, out):
    """One joint draw (R, M) of what is read out for each chosen draw, trend coefficients drawn as well."""
    target, chosen = hold(target), hold(chosen)
    N, M, C, R = chosen.tau.shape[1], len(at), len(target.process.columns), len(read.offset)
    H, beta, trend, series = np.empty((R, len(target.process.dims))), np.empty(C - 1), chosen.trend, chosen.trend.series
    left = Series(series.time, np.empty((N, 1)), series.y_var)
    for s in range(len(chosen.tau)):
        _write_series(target, chosen, s)
        there = process_at(target.process, target.factors, chosen.phi[s])
        linked_readouts(there, read.edges, H)
        write_products(there, series, trend.E)
        _integrate(target, trend.E, trend)
        draw(trend.root[0], trend.whitened[0], rng, beta)
        for p in range(N):
            left.Z[p, 0] = series.Z[p, 0]
            for c in range(C - 1):
                left.Z[p, 0] -= beta[c] * series.Z[p, c + 1]
        simulate(Process(there.blocks, there.dims, (0,)), left, at, H, rng, out[s : s + 1])
        for r in range(R):
            for j in range(M):
                out[s, r, j] += read.offset[r, 0, j]
                for c in range(C - 1):
                    out[s, r, j] += beta[c] * read.X[r, 0, j, c]
