"""The dense engine: the paper's own route, for any stationary kernel with trend terms.

Everything here starts from one Cholesky factorisation of

    K = k(|tau_i - tau_j|) + diag(y_sd²),

which costs O(N³). With Z = [y, X] (``lamina.model.trend``), A = K^-1 Z and E = Z' A, the log-likelihood with the
trend coefficients integrated out is -½ (N log 2 pi + log|K|) + v(E), and W = dv/dE. Without trend,
v = -½ y' K^-1 y.

Rows may come in any order, except for derivatives in log-gaps. Rows at the same time count as being in row
order, the later row after the earlier one, so that all derivatives are those of a gap that opens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy  # its parts load when they are first used: the Markov engine starts without them

from ..errors import KernelError
from ..gaps import gradient_to_gaps, to_gaps
from ..kernels import Kernel, Stationary
from ..model.trend import LOG_2PI, Design, Integrated, at_times, design, integrate_out

Array = np.ndarray

NOT_DEFINITE = (
    "The covariance matrix of the measurements is not positive definite in double precision: "
    "some rows are nearly the same to the kernel, and y_sd is too small to distinguish them. "
    "Use a larger y_sd, or a Matérn kernel with the Markov engine, which has no such matrix."
)


class NoCurve(Stationary):
    """The stationary part of a kernel that has none (trend terms only): zero everywhere."""

    def with_theta(self, theta: Array) -> NoCurve:
        return self

    def covariance(self, lag: Array) -> Array:
        return np.zeros_like(lag)

    def lag_derivatives(self, lag: Array) -> tuple[Array, Array]:
        return np.zeros_like(lag), np.zeros_like(lag)

    def theta_derivatives(self, lag: Array) -> list[Array]:
        return []


class Solved(NamedTuple):
    """K factorised and the trend integrated out."""

    k: Stationary
    lag: Array  #: (N, N): |tau_i - tau_j|
    L: Array  #: (N, N): lower Cholesky factor of K
    design: Design
    A: Array  #: (N, 1+q): K^-1 Z
    integrated: Integrated
    value: float  #: the log-likelihood


def _factor(K: Array) -> Array:
    """Lower Cholesky factor of K, shape (N, N)."""
    try:
        return scipy.linalg.cholesky(K, lower=True, check_finite=False)
    except np.linalg.LinAlgError:
        raise KernelError(NOT_DEFINITE) from None


def inverse_of(L: Array) -> Array:
    """(L L')^-1, shape (N, N), both triangles filled."""
    half, _ = scipy.linalg.lapack.dpotri(L, lower=1)
    return np.tril(half) + np.tril(half, -1).T


def solve(kernel: Kernel, tau: Array, y: Array, y_sd: Array) -> Solved:
    """Factorise K and integrate the trend coefficients out: O(N³)."""
    k = kernel.stationary or NoCurve()
    lag = np.abs(tau[:, None] - tau)
    L = _factor(k.covariance(lag) + np.diag(y_sd**2))
    d = design(kernel, tau, y, y_sd)
    whitened = scipy.linalg.solve_triangular(L, d.Z, lower=True, check_finite=False)
    A = scipy.linalg.solve_triangular(L, whitened, lower=True, trans="T", check_finite=False)
    integrated = integrate_out(whitened.T @ whitened, d.prior, d.constant)
    half_log_det = float(np.log(np.diag(L)).sum())
    value = -0.5 * len(tau) * LOG_2PI - half_log_det + integrated.value
    return Solved(k, lag, L, d, A, integrated, float(value))


def _order_sign(tau: Array) -> Array:
    """+1 where row i is later than row j, -1 where earlier, shape (N, N); equal times go by row number."""
    sign = np.sign(tau[:, None] - tau)
    row = np.arange(len(tau))
    return np.where(sign == 0.0, np.sign(row[:, None] - row), sign)


def log_likelihood(kernel: Kernel, tau: Array, y: Array, y_sd: Array) -> float:
    """log p(y | tau, theta), trend coefficients integrated out, Eq. (44). O(N³).

    tau, y and y_sd have shape (N,). Raises KernelError where K is not positive definite in double precision.
    """
    return solve(kernel, tau, y, y_sd).value


def value_and_gradient(kernel: Kernel, tau: Array, y: Array, y_sd: Array) -> tuple[float, Array, Array]:
    """The log-likelihood with its gradient in tau, shape (N,), and in theta, shape (p,)."""
    return value_and_gradients(kernel, tau, y, y_sd)[:3]


def value_and_gradients(kernel: Kernel, tau: Array, y: Array, y_sd: Array) -> tuple[float, Array, Array, Array]:
    """The log-likelihood with its gradient in tau (N,), in theta (p,), and in y_sd² (N,), Eq. (49).

    After the factorisation, the gradient in tau takes O(N²), and the gradient in theta O(N²) a parameter.
    """
    s = solve(kernel, tau, y, y_sd)
    AW = s.A @ s.integrated.weight
    dK = -0.5 * inverse_of(s.L) - AW @ s.A.T
    slope, _ = s.k.lag_derivatives(s.lag)
    d_tau = 2.0 * np.einsum("ij,ij,ij->i", dK, slope, _order_sign(tau)) + 2.0 * AW @ s.design.slope
    d_theta = np.array([np.vdot(dK, one) for one in s.k.theta_derivatives(s.lag)])
    return s.value, d_tau, d_theta, np.diag(dK)


def gap_gradient(kernel: Kernel, tau: Array, y: Array, y_sd: Array) -> Array:
    """Gradient of the log-likelihood in the log-gaps, shape (N-1,), Eq. (3); tau must not decrease."""
    _, log_gap = to_gaps(tau)
    _, d_tau, _ = value_and_gradient(kernel, tau, y, y_sd)
    _, d_log_gap = gradient_to_gaps(d_tau, log_gap)
    return d_log_gap


def gap_hessian_diagonal(kernel: Kernel, tau: Array, y: Array, y_sd: Array) -> Array:
    """Second derivative of the log-likelihood in each log-gap, shape (N-1,); tau must not decrease.

    Gap j moves all rows after it by s, so d²L/dl_j² = gap_j² L_ss + gap_j L_s, with the derivatives of
    ``curvature``. From one gap to the next only row and column j of K' and K'' change (the paper's section
    3.1), so K^-1 K' changes by two outer products. That makes O(N²) a gap and O(N³) in all, where the
    supplement's steps cost O(N³) a gap.
    """
    gap = np.exp(to_gaps(tau)[1])
    s = solve(kernel, tau, y, y_sd)
    inverse = inverse_of(s.L)
    slope, bend = s.k.lag_derivatives(s.lag)
    K1, K2, product = np.zeros_like(s.lag), np.zeros_like(s.lag), np.zeros_like(s.lag)
    result = np.empty(len(gap))
    for j in range(len(gap)):
        # Row j no longer moves: its pairs with earlier rows come to rest, those with later rows start.
        later = np.arange(len(tau)) > j
        change = np.where(later, slope[j], -slope[j])
        change[j] = 0.0
        product += np.outer(inverse[j], change)
        product[:, j] += inverse @ change
        K1[j] = K1[:, j] = np.where(later, slope[j], 0.0)
        K2[j] = K2[:, j] = np.where(later, bend[j], 0.0)
        first, second = _curvature_along(s, inverse, K1, K2, product, later.astype(float))
        result[j] = gap[j] * (gap[j] * second + first)
    return result


def curvature(kernel: Kernel, tau: Array, y: Array, y_sd: Array, directions: Array) -> tuple[Array, Array]:
    """First and second derivative of the log-likelihood along each column u of ``directions``.

    Inputs are at tau + s u, and a dot stands for d/ds in s = 0. With Z. = u slope', R = Z. - K. A,
    K. = k'(r) sign(tau_i - tau_j) (u_i - u_j) and K.. = k''(r) (u_i - u_j)²:

        log|K|.  = tr(K^-1 K.)                        E.  = Z.' A + A' Z. - A' K. A
        log|K|.. = tr(K^-1 K..) - tr((K^-1 K.)²)      E.. = 2 R' K^-1 R - A' K.. A
        v.. = <W, E..> + e' G^-1 e + ½ tr((G^-1 G.)²)

    where G^-1 is the covariance of the coefficients beta, G. the lower right block of E., and e the lower
    part of E. (1, -beta). Without trend these are the supplement's steps 1 to 5. O(N³) a direction.

    directions has shape (N, m); both results have shape (m,).
    """
    s = solve(kernel, tau, y, y_sd)
    inverse = inverse_of(s.L)
    slope, bend = s.k.lag_derivatives(s.lag)
    slope = slope * _order_sign(tau)
    found = np.empty((directions.shape[1], 2))
    for row, u in zip(found, directions.T, strict=True):
        step = u[:, None] - u
        K1, K2 = slope * step, bend * step * step
        row[:] = _curvature_along(s, inverse, K1, K2, inverse @ K1, u)
    return found[:, 0], found[:, 1]


def _curvature_along(s: Solved, inverse: Array, K1: Array, K2: Array, product: Array, u: Array) -> tuple[float, float]:
    """The two derivatives of ``curvature`` in O(N²), given K. and K.. and product = K^-1 K., all (N, N)."""
    Z1 = np.outer(u, s.design.slope)
    log_det_1 = np.vdot(inverse, K1)
    log_det_2 = np.vdot(inverse, K2) - np.vdot(product, product.T)

    cross = s.A.T @ Z1
    E1 = cross + cross.T - s.A.T @ K1 @ s.A
    whitened = scipy.linalg.solve_triangular(s.L, Z1 - K1 @ s.A, lower=True, check_finite=False)
    E2 = 2.0 * whitened.T @ whitened - s.A.T @ K2 @ s.A
    W, beta, G_inverse = s.integrated.weight, s.integrated.coefficients, s.integrated.covariance
    e = (E1 @ np.concatenate([[1.0], -beta]))[1:]
    GG = G_inverse @ E1[1:, 1:]
    v2 = np.vdot(W, E2) + e @ G_inverse @ e + 0.5 * np.vdot(GG, GG.T)
    return float(np.vdot(W, E1) - 0.5 * log_det_1), float(v2 - 0.5 * log_det_2)


def predict(kernel: Kernel, tau: Array, y: Array, y_sd: Array, at: Array) -> tuple[Array, Array]:
    """Mean, shape (M,), and covariance, shape (M, M), of the curve f at times ``at``, shape (M,), given y.

    The trend is part of f and its coefficients are integrated out (universal kriging): see ``_condition``.
    """
    s = solve(kernel, tau, y, y_sd)
    offset, columns, _, _ = at_times(kernel, s.design, at)
    cross = s.k.covariance(np.abs(tau[:, None] - at))
    prior = s.k.covariance(np.abs(at[:, None] - at))
    return _condition(s, cross, prior, offset, columns)


def predict_rate(kernel: Kernel, tau: Array, y: Array, y_sd: Array, at: Array) -> tuple[Array, Array]:
    """Mean, shape (M,), and covariance, shape (M, M), of the rate f' at times ``at``, shape (M,), given y.

    Raises KernelError where the curve has no rate.
    """
    m = len(at)
    mean, covariance = predict_joint(kernel, tau, y, y_sd, at)
    return mean[m:], covariance[m:, m:]


def predict_joint(kernel: Kernel, tau: Array, y: Array, y_sd: Array, at: Array) -> tuple[Array, Array]:
    """Mean, shape (2M,), and covariance, shape (2M, 2M), of the curve and its rate (f(at), f'(at)) given y.

    cov(f(t), f'(s)) = -k'(|t - s|) sign(t - s) and cov(f'(t), f'(s)) = -k''(|t - s|).
    Raises KernelError where the curve has no rate.
    """
    kernel.check_differentiable()
    s = solve(kernel, tau, y, y_sd)
    offset, columns, offset_rate, columns_rate = at_times(kernel, s.design, at)
    lag, between = tau[:, None] - at, at[:, None] - at
    slope, _ = s.k.lag_derivatives(np.abs(lag))
    cross = np.hstack([s.k.covariance(np.abs(lag)), -slope * np.sign(lag)])
    slope, bend = s.k.lag_derivatives(np.abs(between))
    mixed = -slope * np.sign(between)
    prior = np.block([[s.k.covariance(np.abs(between)), mixed], [mixed.T, -bend]])
    return _condition(s, cross, prior, np.concatenate([offset, offset_rate]), np.vstack([columns, columns_rate]))


def predict_parts(
    kernel: Kernel, tau: Array, y: Array, y_sd: Array, at: Array, parts: Sequence[tuple[Stationary, bool]]
) -> tuple[Array, Array]:
    """Mean, shape (PM,), and covariance, shape (PM, PM), of P parts of the curve at times ``at``, shape (M,), given y.

    A part is one term of the kernel, or several, and whether the trend belongs to it. Parts that share no term are
    independent before y is seen.
    """
    s, m = solve(kernel, tau, y, y_sd), len(at)
    offset, columns, _, _ = at_times(kernel, s.design, at)
    prior = np.zeros((m * len(parts), m * len(parts)))
    for p, (k, _) in enumerate(parts):
        prior[p * m : (p + 1) * m, p * m : (p + 1) * m] = k.covariance(np.abs(at[:, None] - at))
    cross = np.hstack([k.covariance(np.abs(tau[:, None] - at)) for k, _ in parts])
    offsets = np.concatenate([with_trend * offset for _, with_trend in parts])
    return _condition(s, cross, prior, offsets, np.vstack([with_trend * columns for _, with_trend in parts]))


def predict_pointwise(
    kernel: Kernel, tau: Array, y: Array, y_sd: Array, at: Array, parts: Sequence[tuple[Stationary, bool]]
) -> tuple[Array, Array]:
    """Mean and variance at each of the times ``at`` by itself: two arrays (2P, M), value and rate of each of P parts.

    Parts as in ``predict_parts``; [(kernel.stationary, True)] is the whole curve. The diagonals of ``predict_joint``
    without the matrices. NaN where a part has no rate.
    """
    s = solve(kernel, tau, y, y_sd)
    offset, columns, offset_rate, columns_rate = at_times(kernel, s.design, at)
    lag, beta = tau[:, None] - at, s.integrated.coefficients
    weights = s.A @ np.concatenate([[1.0], -beta])
    means, variances = np.full((2, 2 * len(parts), len(at)), np.nan)
    for p, (k, with_trend) in enumerate(parts):
        slope, _ = k.lag_derivatives(np.abs(lag))
        _, bend = k.lag_derivatives(np.zeros(1))
        for row, cross, prior, start, trend in (
            (2 * p, k.covariance(np.abs(lag)), k.covariance(np.zeros(1)), offset, columns),
            (2 * p + 1, -slope * np.sign(lag), -bend, offset_rate, columns_rate),
        )[: 1 + k.differentiable]:
            X = with_trend * trend
            whitened = scipy.linalg.solve_triangular(s.L, cross, lower=True, check_finite=False)
            D = X - cross.T @ s.A[:, 1:]
            spread = np.einsum("ij,jk,ik->i", D, s.integrated.covariance, D)
            means[row] = with_trend * start + X @ beta + cross.T @ weights
            variances[row] = np.maximum(prior - np.einsum("ij,ij->j", whitened, whitened) + spread, 0.0)
    return means, variances


def _condition(s: Solved, cross: Array, prior: Array, offset: Array, columns: Array) -> tuple[Array, Array]:
    """Mean and covariance of g given y, where g = offset + columns beta + zero-mean part, Eq. (46).

    cross = C = cov(y, g), shape (N, M). With the trend columns X of the rows, D = columns - C' K^-1 X.
    """
    beta = s.integrated.coefficients
    whitened = scipy.linalg.solve_triangular(s.L, cross, lower=True, check_finite=False)
    mean = offset + columns @ beta + cross.T @ (s.A @ np.concatenate([[1.0], -beta]))
    D = columns - cross.T @ s.A[:, 1:]
    return mean, prior - whitened.T @ whitened + D @ s.integrated.covariance @ D.T
