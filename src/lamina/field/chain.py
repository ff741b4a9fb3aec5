"""The chain engine of a field: likelihood, gradient, prediction and joint draws, O(N D²)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import KernelError
from ..model.trend import LOG_2PI, Integrated, at_times, integrate_out
from .data import Data, Targets, gia_origin
from .filter import Gains, Series, new_gains, run_filter
from .gradient import Adjoints, run_gradient
from .layout import Field, Values
from .paths import draw_path
from .smoothing import smooth

Array = np.ndarray


class Filtered(NamedTuple):
    """A filter run over the rows at given times and parameters."""

    value: float  #: log p(y | tau, theta)
    series: Series
    gains: Gains
    values: Values
    trend: Integrated
    order: Array  #: (N,) rows by time


def run(field: Field, theta: Array, data: Data, tau: Array) -> Filtered:
    """Filter the rows (N,) at times tau, common trend coefficients integrated out. Raises KernelError."""
    order = np.argsort(tau, kind="stable")
    series, values = data.in_order(tau, order, field.white_var(theta)), field.values(theta)
    columns = series.Z.shape[1]
    gains, E = new_gains(len(tau), field.size), np.zeros((columns, columns))
    total = run_filter(field.layout, values, series, gains, E)
    if not np.isfinite(total):
        raise KernelError("The covariance of the rows is not positive definite in double precision.")
    trend = integrate_out(E, data.design.prior, data.design.constant)
    value = trend.value - 0.5 * (total + len(tau) * LOG_2PI)
    return Filtered(value, series, gains, values, trend, order)


def log_likelihood(field: Field, theta: Array, data: Data, tau: Array) -> float:
    """log p(y | tau, theta)."""
    return run(field, theta, data, tau).value


def value_and_gradient(field: Field, theta: Array, data: Data, tau: Array) -> tuple[float, Array, Array, Array]:
    """log p(y | tau, theta), and its derivatives in tau (N,), theta (p,) and y_var (N,)."""
    found = run(field, theta, data, tau)
    zeros = [np.zeros_like(one) for one in (found.series.time, found.series.Z, found.series.y_var, *found.values)]
    out = Adjoints(*zeros)
    weight = np.ascontiguousarray(found.trend.weight)
    run_gradient(field.layout, found.values, found.series, weight, out)
    in_rows = np.empty((2, len(tau)))
    own = out.time + (out.Z * data.slope[found.order]).sum(axis=1)
    in_rows[:, found.order] = own, out.y_var
    gradient = field.pull_gradient(theta, out.rate, out.mix, float(out.y_var.sum()))
    return found.value, in_rows[0], gradient, in_rows[1]


class Part(NamedTuple):
    """A part of a field: some of its terms, and whether the common trend is one of them."""

    terms: Array  #: (K,) mask
    trend: bool = False


def predict(
    field: Field, theta: Array, data: Data, tau: Array, at: Array, targets: Targets, part: Part | None = None
) -> tuple[Array, Array]:
    """Mean and covariance of level and rate at increasing times at (M,) and T places: (M, 2T), (M, 2T, 2T).

    First T levels, then T rates. part: what to include; without it all.
    """
    found = run(field, theta, data, tau)
    wanted, trend = part or Part(np.ones(len(field.terms), dtype=np.bool_), True)
    T, C = len(targets.mix), found.series.Z.shape[1]
    mean, covariance = np.empty((len(at), C, 2 * T)), np.empty((len(at), 2 * T, 2 * T))
    smooth(field.layout, found.values, found.series, at, targets, wanted, mean, covariance)
    offset, columns = trend_at(field, data, at, targets, wanted, trend)
    left = columns - mean[:, 1:].transpose(0, 2, 1)  # (M, 2T, q)
    total = mean[:, 0] + offset + left @ found.trend.coefficients
    covariance += left @ found.trend.covariance @ left.transpose(0, 2, 1)
    covariance += own_covariance(field, found.values, targets, at, wanted)
    return total, covariance


def predict_many(field: Field, theta: Array, data: Data, tau: Array, at: Array, targets: Targets) -> Array:
    """Mean and variance of level, then of rate, at increasing times at (M,) and many places T: (4, M, T).

    The smoother gives levels and rates of the R processes by themselves; each place is a mixture of them.
    """
    found = run(field, theta, data, tau)
    R, C, T = targets.mix.shape[1], found.series.Z.shape[1], len(targets.mix)
    every = np.ones(len(field.terms), dtype=np.bool_)
    mean, covariance = np.empty((len(at), C, 2 * R)), np.empty((len(at), 2 * R, 2 * R))
    alone = Targets(np.eye(R), np.zeros((R, len(every))), np.zeros(R))
    smooth(field.layout, found.values, found.series, at, alone, every, mean, covariance)
    offset, columns = trend_at(field, data, at, targets, every, True)
    own = own_variances(field, found.values, targets, at)
    out = np.empty((4, len(at), T))
    for n, some in enumerate((slice(0, R), slice(R, 2 * R))):
        here = slice(n * T, (n + 1) * T)
        mixed = mean[:, :, some] @ targets.mix.T  # (M, C, T)
        left = columns[:, here] - mixed[:, 1:].transpose(0, 2, 1)
        out[2 * n] = mixed[:, 0] + offset[:, here] + left @ found.trend.coefficients
        out[2 * n + 1] = ((targets.mix @ covariance[:, some, some]) * targets.mix).sum(axis=2)
        out[2 * n + 1] += ((left @ found.trend.covariance) * left).sum(axis=2) + own[n]
    out[1::2] = np.maximum(out[1::2], 0.0)
    return out


def trend_at(field: Field, data: Data, at: Array, targets: Targets, wanted: Array, common: bool) -> tuple[Array, Array]:
    """What is known of level and rate beforehand (M, 2T), and the columns of the common trend (M, 2T, q)."""
    T, linear = len(targets.gia), field.layout.linear & wanted
    offset = np.zeros((len(at), 2 * T))
    columns = np.zeros((len(at), 2 * T, len(data.design.guess)))
    if linear.any():
        offset[:, :T] = np.outer(at - gia_origin(field), targets.gia)
        offset[:, T:] = targets.gia
    if common:
        known, value, known_rate, rate = at_times(field.kernel, data.design, at)
        offset[:, :T] += known[:, None]
        offset[:, T:] += known_rate[:, None]
        columns[:, :T], columns[:, T:] = value[:, None], rate[:, None]
    return offset, columns


def own_covariance(field: Field, values: Values, targets: Targets, at: Array, wanted: Array) -> Array:
    """(M, 2T, 2T): the variance of what other places share with no site; level and rate of one time are independent.

    Only that of a linear rate is not: there both are one number times (t - origin, 1).
    """
    layout, T = field.layout, len(targets.own)
    found = np.zeros((len(at), 2 * T, 2 * T))
    here = np.arange(T)
    found[:, here, here], found[:, T + here, T + here] = own_variances(field, values, targets, at, wanted)
    for k in np.flatnonzero(wanted & layout.linear):
        both = targets.own[:, k] * (at - layout.origin[k])[:, None]
        found[:, here, T + here] += both
        found[:, T + here, here] += both
    return found


def own_variances(field: Field, values: Values, targets: Targets, at: Array, wanted: Array | None = None) -> Array:
    """(2, M, T): the variances on the diagonal of ``own_covariance``, of level and rate."""
    layout, found = field.layout, np.zeros((2, len(at), len(targets.own)))
    for k in range(len(values.rate)) if wanted is None else np.flatnonzero(wanted):
        own = targets.own[:, k]
        if layout.linear[k]:
            found[0] += own * (at - layout.origin[k])[:, None] ** 2
            found[1] += own
        else:
            found[0] += own
            found[1] += own * _slope_variance(int(layout.dim[k])) * values.rate[k] ** 2
    return found


def _slope_variance(dimension: int) -> float:
    """Variance of the derivative over rate² of a process of variance 1; 0 where there is none."""
    return {1: 0.0, 2: 1.0, 3: 1.0 / 3.0}[dimension]


def draw(field: Field, found: Filtered, at: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """A joint draw of the states at increasing times at (M, D), and of the coefficients of the common trend (q,)."""
    q = len(found.trend.coefficients)
    beta = found.trend.coefficients.copy()
    if q:
        beta += np.linalg.cholesky(found.trend.covariance) @ rng.standard_normal(q)
    out = np.empty((len(at), field.size))
    draw_path(field.layout, found.values, found.series, found.gains, beta, at, rng, out)
    return out, beta
