"""The O(N) engine: known order makes the data a Markov chain, so no matrix is larger than the state.

The functions are those of ``lamina.dense``, with the same arguments; ``lamina.engine`` has the numerics. Times must not
decrease down the rows; equal times are fine. Trend coefficients are integrated out exactly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..engine.backward import backward
from ..engine.curvature import gap_derivatives
from ..engine.filter import Series, log_likelihood_terms
from ..engine.gradient import forward, new_store, reverse
from ..engine.gradient import value_and_gradient as plain_value_and_gradient
from ..engine.smoothing import Smoothed, new_merged, readouts, simulate, smooth
from ..engine.statespace import Process, make_process
from ..errors import OrderError
from ..kernels import Kernel
from ..model.trend import LOG_2PI, at_times, design, integrate_out

Array = np.ndarray

#: From (log length, log variance), which the compiled engine knows, to theta = (log length, log sd).
_TO_THETA = np.array([1.0, 2.0])


class Prediction(NamedTuple):
    """Mean and standard deviation at M times."""

    mean: Array
    sd: Array


def log_likelihood(kernel: Kernel, tau: Array, y: Array, y_sd: Array) -> float:
    """log p(y | tau, theta), Eq. (20); trend coefficients integrated out, Eq. (44). O(N)."""
    if not kernel.trend:
        log_det, E = log_likelihood_terms(kernel.process, Series(tau, y.reshape(-1, 1), y_sd * y_sd))
        return -0.5 * (len(tau) * LOG_2PI + log_det + E.item())
    d = design(kernel, tau, y, y_sd)
    log_det, E = log_likelihood_terms(make_process(kernel.blocks(), d.Z.shape[1]), Series(tau, d.Z, y_sd * y_sd))
    return -0.5 * (len(tau) * LOG_2PI + log_det) + integrate_out(E, d.prior, d.constant).value


def value_and_gradient(kernel: Kernel, tau: Array, y: Array, y_sd: Array) -> tuple[float, Array, Array]:
    """The log-likelihood with its gradient in tau, shape (N,), and in theta, shape (p,). O(N).

    Without a trend the value is inf if tau decreases, a number is not finite or a y_sd is not positive.
    """
    if not kernel.trend:
        N, process = len(tau), kernel.process
        store, out = new_store(N, len(process.dims), 1)
        gradient = np.empty(N + 2 * len(process.blocks))
        value = plain_value_and_gradient(process, tau, y, y_sd, store, out, gradient)
        return value, gradient[:N], gradient[N:]
    d = design(kernel, tau, y, y_sd)
    process, series = make_process(kernel.blocks(), d.Z.shape[1]), Series(tau, d.Z, y_sd * y_sd)
    store, out = new_store(len(tau), len(process.dims), len(process.columns))
    log_det, E = forward(process, series, store)
    integrated = integrate_out(E, d.prior, d.constant)
    value = -0.5 * (len(tau) * LOG_2PI + log_det) + integrated.value
    d_blocks = reverse(process, series, integrated.weight, store, out)
    return value, out[:, 0] + out[:, 2:] @ d.slope, _theta_gradient(kernel, d_blocks)


def _theta_gradient(kernel: Kernel, d_blocks: Array) -> Array:
    """From the parameters of each block (B, 2) to theta; a kernel of trend terms alone has a block but no theta."""
    return (d_blocks * _TO_THETA).ravel() if kernel.names else np.empty(0)


def gap_hessian_diagonal(kernel: Kernel, tau: Array, y: Array, y_sd: Array) -> Array:
    """Second derivative of the log-likelihood in each log-gap (all later rows shift along), (N-1,), Eq. (39). O(N)."""
    d = design(kernel, tau, y, y_sd)
    n, C = d.Z.shape
    process, series = make_process(kernel.blocks(), C), Series(tau, d.Z, y_sd * y_sd)
    states = len(process.dims)
    Gs, hs = np.empty((n, states, states)), np.empty((n, states, C + 1))
    with_unit = series._replace(Z=np.column_stack([d.Z, np.ones(n)]))
    constants = backward(make_process(kernel.blocks(), C + 1), with_unit, np.append(np.zeros(C), 1.0), Gs, hs)
    log_det, E = gap_derivatives(process, series, d.slope, Gs, hs, constants)
    _, products = log_likelihood_terms(process, series)
    integrated = integrate_out(products, d.prior, d.constant)
    first = -0.5 * log_det[:, 0] + np.einsum("cv,ncv->n", integrated.weight, E[:, 0])
    second = -0.5 * log_det[:, 1] + np.einsum("cv,ncv->n", integrated.weight, E[:, 1])
    if C > 1:  # the coefficients respond as well, Eq. (47)
        toward = np.concatenate([[1.0], -integrated.coefficients])
        e = (E[:, 0] @ toward)[:, 1:]
        G = integrated.covariance @ E[:, 0, 1:, 1:]
        second += np.einsum("na,ab,nb->n", e, integrated.covariance, e) + 0.5 * np.einsum("nab,nba->n", G, G)
    gap = np.diff(tau)
    return gap * (gap * second + first)


def predict(kernel: Kernel, tau: Array, y: Array, y_sd: Array, at: Array) -> Prediction:
    """Mean and standard deviation of the curve f at times ``at`` (any order). O(N + M)."""
    return _predict(kernel, tau, y, y_sd, at)[0]


def predict_rate(kernel: Kernel, tau: Array, y: Array, y_sd: Array, at: Array) -> Prediction:
    """Mean and standard deviation of the rate f' at times ``at`` (any order). O(N + M).

    Raises KernelError where the curve has no rate.
    """
    kernel.check_differentiable()
    return _predict(kernel, tau, y, y_sd, at)[1]


def _predict(kernel: Kernel, tau: Array, y: Array, y_sd: Array, at: Array) -> tuple[Prediction, Prediction]:
    d = design(kernel, tau, y, y_sd)
    process = make_process(kernel.blocks(), d.Z.shape[1])
    order = np.argsort(at, kind="stable")
    back = np.argsort(order, kind="stable")
    C, M = d.Z.shape[1], len(at)
    merged = new_merged(len(tau), M, len(process.dims), C)
    smoothed = Smoothed(np.empty((M, 2, C)), np.empty((M, 2)), np.empty((C, C)))
    smooth(process, Series(tau, d.Z, y_sd * y_sd), at[order], _whole(process), merged, smoothed)
    means, variances = smoothed.means[back], smoothed.variances[back]
    if not kernel.trend:
        value, rate = (Prediction(means[:, k, 0], np.sqrt(variances[:, k])) for k in range(2))
        return value, rate
    integrated = integrate_out(smoothed.E, d.prior, d.constant)
    offset, X, offset_rate, X_rate = at_times(kernel, d, at)
    found = []
    for k, (level, trend) in enumerate([(offset, X), (offset_rate, X_rate)]):  # Eq. (46)
        D = trend - means[:, k, 1:]  # what the columns leave unexplained at the query times
        mean = level + means[:, k, 0] + D @ integrated.coefficients
        found.append(Prediction(mean, np.sqrt(variances[:, k] + np.einsum("ma,ab,mb->m", D, integrated.covariance, D))))
    return found[0], found[1]


def _whole(process: Process) -> Array:
    """What reads the curve and its rate off the state, shape (2, d)."""
    H = np.empty((2, len(process.dims)))
    readouts(process, np.array([0, len(process.dims)]), H)
    return H


def sample(
    kernel: Kernel, tau: Array, y: Array, y_sd: Array, at: Array, n: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """n joint draws of f and f' at times ``at`` (any order), each of shape (n, M). O(n (N + M)).

    Each draw takes its own trend coefficients from their posterior. Where the curve has no rate, f' is NaN.
    """
    process = kernel.process
    d = design(kernel, tau, y, y_sd)
    series = Series(tau, d.Z, y_sd * y_sd)
    order = np.argsort(at, kind="stable")
    out, H = np.empty((n, 2, len(at))), _whole(process)
    if not kernel.trend:
        simulate(process, series, at[order], H, rng, out)
    else:
        _, E = log_likelihood_terms(make_process(kernel.blocks(), d.Z.shape[1]), series)
        integrated = integrate_out(E, d.prior, d.constant)
        draws = rng.multivariate_normal(integrated.coefficients, integrated.covariance, size=n, method="cholesky")
        offset, X, offset_rate, X_rate = at_times(kernel, d, at[order])
        for k, beta in enumerate(draws):
            residual = d.Z @ np.concatenate([[1.0], -beta])
            left = series._replace(Z=residual[:, None])
            simulate(process, left, at[order], H, rng, out[k : k + 1])
            out[k, 0] += offset + X @ beta
            out[k, 1] += offset_rate + X_rate @ beta
    back = np.argsort(order, kind="stable")
    return out[:, 0, back], out[:, 1, back]


def check_order(tau: Array) -> None:
    """Raise OrderError unless tau never decreases."""
    if len(tau) > 1 and not (tau[1:] >= tau[:-1]).all():
        row = int(np.argmin(tau[1:] >= tau[:-1])) + 1
        raise OrderError(
            f"tau must not decrease down the rows, but {{rows}} has tau = {tau[row]:g} after {tau[row - 1]:g}. "
            'Sort the rows by tau, or use engine="dense", which takes them in any order.',
            rows=[row],
        )


def trend_coefficients(kernel: Kernel, tau: Array, Z: Array, prior: Array, y_sd: Array) -> Array:
    """Posterior mean of the trend coefficients, (q,), for the data columns Z = [y, X] of rows in the order of time."""
    _, E = log_likelihood_terms(make_process(kernel.blocks(), Z.shape[1]), Series(tau, Z, y_sd * y_sd))
    return integrate_out(E, prior, 0.0).coefficients
