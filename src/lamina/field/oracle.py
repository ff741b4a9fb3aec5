"""The dense engine of a field: every kernel as it is written, O(N³). The chain engine is tested against it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import Kernel, Linear, SpaceTime, Stationary, TrendTerm, WhiteNoise
from ..kernels.space import great_circle_km
from ..model.trend import LOG_2PI, at_times, integrate_out
from .data import Data, gia_origin
from .layout import Field, terms_with_states

Array = np.ndarray
#: A place: the number of a site, or latitude and longitude.
Place = int | tuple[float, float]


def _in_time(kind: Kernel, t: Array, u: Array, order: tuple[int, int] = (0, 0)) -> Array:
    """Covariance over sd² of a kernel in time (n, m), differentiated ``order`` times in t and in u."""
    if isinstance(kind, Linear):
        left = t - kind.origin if order[0] == 0 else np.ones_like(t)
        right = u - kind.origin if order[1] == 0 else np.ones_like(u)
        return np.outer(left, right)
    if not isinstance(kind, Stationary):
        return np.outer(np.ones_like(t), np.ones_like(u)) if order == (0, 0) else np.zeros((len(t), len(u)))
    away = t[:, None] - u
    lag, sign = np.abs(away), np.sign(away)
    if order == (0, 0):
        return kind.covariance(lag)
    first, second = kind.lag_derivatives(lag)
    if order == (1, 1):
        return -second
    return sign * first if order == (1, 0) else -sign * first


def _parts(field: Field, theta: Array) -> list[tuple[Kernel, Kernel, Array, float]]:
    """Each term with its kernel in time, the covariance of the sites to multiply it with, and the variance in it."""
    found = []
    for term in terms_with_states(field.at(theta)):
        kind = getattr(term, "time", term)
        scale = 1.0 if isinstance(kind, TrendTerm) else _variance(kind)
        found.append((term, kind, _sites(field, term) / (scale if isinstance(term, SpaceTime) else 1.0), scale))
    return found


def _variance(kind: Any) -> float:
    return float(kind.covariance(np.zeros(1))[0])


def _sites(field: Field, term: Kernel) -> Array:
    """(S, S) covariance of sites, of a common term ones."""
    if not isinstance(term, SpaceTime):
        return np.ones((len(field.distance), len(field.distance)))
    among = term.space.among(field.distance)
    if isinstance(term.time, Stationary):
        return _variance(term.time) * among
    found = term.time.sd**2 * among
    return found + np.diag(field.sites.gia_sd**2) if term.is_linear else found


def covariance(field: Field, theta: Array, data: Data, tau: Array) -> Array:
    """K (N, N) of the rows at times tau, with their errors."""
    found = np.diag(data.y_var + sum(term.sd**2 for term in field.at(theta).terms if isinstance(term, WhiteNoise)))
    for _, kind, among, _ in _parts(field, theta):
        found = found + _in_time(kind, tau, tau) * among[np.ix_(data.site, data.site)]
    return found


def log_likelihood(field: Field, theta: Array, data: Data, tau: Array) -> float:
    """log p(y | tau, theta), coefficients of the common trend integrated out."""
    L = np.linalg.cholesky(covariance(field, theta, data, tau))
    Z = np.linalg.solve(L, data.columns(tau))
    trend = integrate_out(Z.T @ Z, data.design.prior, data.design.constant)
    return trend.value - float(np.log(np.diag(L)).sum()) - 0.5 * len(tau) * LOG_2PI


def value_and_gradient(field: Field, theta: Array, data: Data, tau: Array) -> tuple[float, Array, Array]:
    """The same, and its derivatives in tau (N,) and theta (p,)."""
    K, Z = covariance(field, theta, data, tau), data.columns(tau)
    inverse = np.linalg.inv(K)
    solved = inverse @ Z
    trend = integrate_out(Z.T @ solved, data.design.prior, data.design.constant)
    value = trend.value - 0.5 * np.linalg.slogdet(K)[1] - 0.5 * len(tau) * LOG_2PI
    d_K = -0.5 * inverse - solved @ trend.weight @ solved.T
    d_tau = 2.0 * ((solved @ trend.weight) * data.slope).sum(axis=1)
    gradient = np.zeros(len(theta))
    gradient[field.white] = 2.0 * np.exp(2.0 * theta[field.white]) * np.trace(d_K)
    for (term, kind, among, scale), piece in zip(_parts(field, theta), field.pieces, strict=True):
        d_theta = []
        mixed = among[np.ix_(data.site, data.site)]
        d_tau += 2.0 * (d_K * _in_time(kind, tau, tau, (1, 0)) * mixed).sum(axis=1)
        lag = np.abs(tau[:, None] - tau)
        own = _in_time(kind, tau, tau)
        if isinstance(kind, Stationary):
            d_theta += [float((d_K * one * mixed).sum()) for one in kind.theta_derivatives(lag)]
        else:
            among_sd = kind.sd**2 * term.space.among(field.distance)  # type: ignore[attr-defined]
            d_theta.append(float((d_K * own * 2.0 * among_sd[np.ix_(data.site, data.site)]).sum()))
            scale = 1.0 / kind.sd**2  # type: ignore[attr-defined]
        if isinstance(term, SpaceTime):
            factor = 1.0 if isinstance(kind, Stationary) else 1.0 / scale
            for change in term.space.theta_derivatives(field.distance):
                d_theta.append(float((d_K * own * factor * change[np.ix_(data.site, data.site)]).sum()))
        gradient[piece] = d_theta
    return value, d_tau, gradient


def predict(
    field: Field, theta: Array, data: Data, tau: Array, at: Array, place: Place, terms: Array | None = None
) -> tuple[Array, Array]:
    """Mean (2 M,) and covariance (2 M, 2 M) of level, then rate, at times at (M,) and one place; see ``chain``."""
    K, Z = covariance(field, theta, data, tau), data.columns(tau)
    wanted = np.ones(len(field.terms), dtype=bool) if terms is None else terms
    M = len(at)
    cross, prior, gia = np.zeros((2 * M, len(tau))), np.zeros((2 * M, 2 * M)), 0.0
    for (term, kind, among, _), is_wanted in zip(_parts(field, theta), wanted, strict=True):
        shared, own = _at_place(field, term, kind, among, place)
        if isinstance(term, SpaceTime) and term.is_linear and is_wanted:
            gia = _gia(field, term, place)
        if not is_wanted:
            continue
        cross += np.vstack([_in_time(kind, at, tau, (d, 0)) for d in (0, 1)]) * shared[data.site]
        prior += own * np.block([[_in_time(kind, at, at, (a, b)) for b in (0, 1)] for a in (0, 1)])
    solved = np.linalg.solve(K, Z)
    trend = integrate_out(Z.T @ solved, data.design.prior, data.design.constant)
    offset = np.concatenate([gia * (at - gia_origin(field)), np.full(M, gia)])
    columns = np.zeros((2 * M, Z.shape[1] - 1))
    if terms is None:
        known, value, known_rate, rate = at_times(field.kernel, data.design, at)
        offset += np.concatenate([known, known_rate])
        columns += np.concatenate([value, rate])
    left = columns - cross @ solved[:, 1:]
    mean = cross @ solved[:, 0] + offset + left @ trend.coefficients
    return mean, prior - cross @ np.linalg.solve(K, cross.T) + left @ trend.covariance @ left.T


def _at_place(field: Field, term: Kernel, kind: Kernel, among: Array, place: Place) -> tuple[Array, float]:
    """Covariance of a place with the sites (S,), and its own variance, to multiply the kernel in time with."""
    if isinstance(place, int):
        return among[place], float(among[place, place])
    if not isinstance(term, SpaceTime):
        return np.ones(len(field.distance)), 1.0
    scale = 1.0 if isinstance(kind, Stationary) else kind.sd**2  # type: ignore[attr-defined]
    own, known = scale, field.sites.gia_sd**2
    if term.is_linear:
        own = scale + min(max(_between(field, term, place, known), known.min()), known.max())
    return scale * term.space.correlation(_away(field, place))[0], float(own)


def _away(field: Field, place: tuple[float, float]) -> Array:
    return great_circle_km(np.array([place[0]]), np.array([place[1]]), field.sites.latitude, field.sites.longitude)


def _gia(field: Field, term: SpaceTime, place: Place) -> float:
    return float(field.sites.gia[place]) if isinstance(place, int) else _between(field, term, place, field.sites.gia)


def _between(field: Field, term: SpaceTime, place: tuple[float, float], known: Array) -> float:
    """What is known at the sites (S,), interpolated to a place."""
    weights = np.linalg.solve(term.space.among(field.distance), term.space.correlation(_away(field, place))[0])
    return float(known.mean() + weights @ (known - known.mean()))
