"""A kernel in space and time, and sites, as the arrays that compiled code works on.

Each term of the kernel has r independent processes, mixed by a matrix C (S, r), Eq. (72): the curve of site s is
sum_j C[s, j] z_j(t), times (t - origin) for a rate. C is a column of ones for what is common to all sites, the
Cholesky factor of the correlations for ``Nearby``, the identity for ``EachSite``; all times the standard deviation.
States are whitened, so that their stationary covariance is the identity. Constants and rates are processes that stay as
they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..errors import KernelError
from ..kernels import (
    Constant,
    EachSite,
    Kernel,
    Linear,
    Matern,
    Matern12,
    Matern32,
    Matern52,
    SpaceTime,
    Stationary,
    TrendTerm,
    WhiteNoise,
)
from ..kernels.space import great_circle_km

Array = np.ndarray

#: Numbers of components of a state by kernel.
DIMENSIONS = {Matern12: 1, Matern32: 2, Matern52: 3}


class Sites(NamedTuple):
    """Where the sites are, in degrees, and what is known of their rates beforehand (per unit of internal time)."""

    latitude: Array  #: (S,)
    longitude: Array  #: (S,)
    gia: Array  #: (S,) prior mean of the rate
    gia_sd: Array  #: (S,) and its standard deviation, beside that of the kernel


class Layout(NamedTuple):
    """The states of K terms. A term has ``size`` processes of ``dim`` components: all first ones, then all second."""

    dim: Array  #: (K,)
    size: Array  #: (K,)
    start: Array  #: (K,) where its states begin
    first: Array  #: (K,) where its columns begin in ``Values.mix``
    linear: Array  #: (K,) whether it is multiplied by t - origin
    origin: Array  #: (K,)
    low: Array  #: (K, S) the processes that a site is mixed of: from low
    high: Array  #: (K, S) to high


class Values(NamedTuple):
    """The parameters of a layout."""

    rate: Array  #: (K,) decay rate, 0 for what stays as it is
    mix: Array  #: (S, sum of sizes)


@dataclass(frozen=True)
class Field:
    """A kernel and the sites that it describes, without values of the parameters.

    Raises KernelError for terms that have no state-space form.
    """

    kernel: Kernel
    sites: Sites

    @cached_property
    def terms(self) -> tuple[Kernel, ...]:
        """The terms that have states."""
        return terms_with_states(self.kernel)

    @cached_property
    def distance(self) -> Array:
        """(S, S) in km."""
        place = self.sites.latitude, self.sites.longitude
        return great_circle_km(*place, *place)

    @cached_property
    def layout(self) -> Layout:
        S = len(self.sites.latitude)
        kinds = [getattr(term, "time", term) for term in self.terms]
        sizes = np.array([S if isinstance(term, SpaceTime) else 1 for term in self.terms], dtype=np.int64)
        dims = np.array([_dimension(kind) for kind in kinds], dtype=np.int64)
        high = np.ones((len(kinds), S), dtype=np.int64)
        low = np.zeros((len(kinds), S), dtype=np.int64)
        for k, term in enumerate(self.terms):
            if isinstance(term, SpaceTime):
                high[k] = np.arange(S) + 1
                low[k] = np.where(bool(term.space.names), 0, np.arange(S))
        return Layout(
            dim=dims,
            size=sizes,
            start=np.concatenate([[0], np.cumsum(dims * sizes)]).astype(np.int64)[:-1],
            first=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)[:-1],
            linear=np.array([isinstance(kind, Linear) for kind in kinds], dtype=np.bool_),
            origin=np.array([getattr(kind, "origin", 0.0) for kind in kinds]),
            low=low,
            high=high,
        )

    @property
    def size(self) -> int:
        """The dimension D of the state."""
        return int(self.layout.dim @ self.layout.size)

    def at(self, theta: Array) -> Kernel:
        """The kernel with these log-parameters."""
        return self.kernel.with_theta(theta)

    def values(self, theta: Array) -> Values:
        """Rates and mixing matrices at log-parameters theta (p,)."""
        rate = np.zeros(len(self.terms))
        mix = []
        for k, (term, own) in enumerate(zip(self.terms, self.split(theta), strict=True)):
            kind = getattr(term, "time", term)
            rate[k] = kind.rate_factor * np.exp(-own[0]) if isinstance(kind, Matern) else 0.0
            mix.append(self.root_at(k, own))
        return Values(rate, np.ascontiguousarray(np.concatenate([np.empty((len(self.distance), 0)), *mix], axis=1)))

    def split(self, theta: Array) -> list[Array]:
        """theta in pieces, one for each of ``terms``."""
        return [theta[part] for part in self.pieces]

    @cached_property
    def pieces(self) -> list[slice]:
        """Where the parameters of each of ``terms`` are in theta."""
        ends = np.cumsum([0, *(len(term.names) for term in self.kernel.terms)]).tolist()
        own = zip(self.kernel.terms, pairwise(ends), strict=True)
        return [slice(a, b) for term, (a, b) in own if has_states(term)]

    @cached_property
    def white(self) -> Array:
        """Where the logarithms of the standard deviations of white noise are in theta."""
        ends = np.cumsum([0, *(len(term.names) for term in self.kernel.terms)])
        return ends[[k for k, term in enumerate(self.kernel.terms) if isinstance(term, WhiteNoise)]]

    def white_var(self, theta: Array) -> float:
        """The variance that white noise adds to every row."""
        return float(np.exp(2.0 * theta[self.white]).sum())

    def root_at(self, k: int, theta: Array) -> Array:
        """C (S, r) of term k at its own log-parameters: ``root`` without a kernel, because samplers call it often."""
        term, S = self.terms[k], len(self.distance)
        if not isinstance(term, SpaceTime):
            return np.full((S, 1), np.exp(theta[-1]))
        n = len(theta) - len(term.space.names)
        sd = float(np.exp(theta[n - 1]))
        if not (term.is_linear and self.has_gia_sd):
            if isinstance(term.space, EachSite):
                return sd * np.eye(S)
            return sd * _root(term.space.with_theta(theta[n:]).among(self.distance))
        covariance = sd**2 * term.space.with_theta(theta[n:]).among(self.distance)
        return _root(covariance + np.diag(self.sites.gia_sd**2))

    @cached_property
    def has_gia_sd(self) -> bool:
        """Whether rates that are known before the fit have errors."""
        return bool(self.sites.gia_sd.any())

    def covariance(self, term: Kernel) -> Array:
        """(S, S): the covariance of the sites in one term, with the error of GIA in that of the rates."""
        S = len(self.distance)
        if not isinstance(term, SpaceTime):
            return np.full((S, S), _sd(term) ** 2)
        found = term.time.sd**2 * term.space.among(self.distance)
        return found + np.diag(self.sites.gia_sd**2) if term.is_linear else found

    def root(self, term: Kernel) -> Array:
        """C (S, r) of one term, C C' = covariance."""
        if not isinstance(term, SpaceTime):
            return np.full((len(self.distance), 1), _sd(term))
        return _root(self.covariance(term))

    def pull_gradient(self, theta: Array, d_rate: Array, d_mix: Array, d_white: float) -> Array:
        """The gradient in theta (p,) from those in ``Values``, rate (K,) and mix (S, R), and in ``white_var``."""
        gradient, layout = np.zeros(len(theta)), self.layout
        gradient[self.white] = 2.0 * np.exp(2.0 * theta[self.white]) * d_white
        for k, (term, piece) in enumerate(zip(terms_with_states(self.at(theta)), self.pieces, strict=True)):
            found = []
            part = d_mix[:, layout.first[k] : layout.first[k] + layout.size[k]]
            time = getattr(term, "time", term)
            root = self.root(term)
            if isinstance(time, Matern):
                found.append(-time.rate * d_rate[k])
            found.append(float((part * self._in_sd(term, root)).sum()))
            if isinstance(term, SpaceTime):
                for change in term.space.theta_derivatives(self.distance):
                    found.append(float((part * _cholesky_derivative(root, _sd(time) ** 2 * change)).sum()))
            gradient[piece] = found
        return gradient

    def _in_sd(self, term: Kernel, root: Array) -> Array:
        """d C / d log sd."""
        if not (isinstance(term, SpaceTime) and term.is_linear and self.sites.gia_sd.any()):
            return root
        return _cholesky_derivative(root, 2.0 * term.time.sd**2 * term.space.among(self.distance))

    def elsewhere(self, theta: Array, latitude: Array, longitude: Array) -> tuple[Array, Array]:
        """Mixing rows (T, R) of T other places, and the variance (T, K) of what no site of the field shares with them.

        w = K^-1 k* for each term; sites of ``EachSite`` share nothing with another place. The errors of GIA at sites
        are independent, so a place has its own. Its variance is interpolated, as GIA is: maps then have no steps.
        """
        away = great_circle_km(latitude, longitude, self.sites.latitude, self.sites.longitude)
        rows, own = [], []
        for term in terms_with_states(self.at(theta)):
            if not isinstance(term, SpaceTime):
                rows.append(np.full((len(away), 1), _sd(term)))
                own.append(np.zeros(len(away)))
                continue
            shared = term.time.sd**2 * term.space.correlation(away)
            root = np.linalg.solve(self.root(term), shared.T).T
            rows.append(root)
            own.append(np.maximum(term.time.sd**2 - (root**2).sum(axis=1), 0.0))
            if term.is_linear and self.has_gia_sd:
                error = self.sites.gia_sd**2
                own[-1] += np.clip(self.between(term, away, error), error.min(), error.max())
        return np.concatenate(rows, axis=1), np.array(own).T

    def between(self, term: SpaceTime, away: Array, values: Array) -> Array:
        """What is known of the sites (S,) at places ``away`` (T, S) from them: interpolated around its mean."""
        weights = np.linalg.solve(term.space.among(self.distance), term.space.correlation(away).T).T
        return values.mean() + weights @ (values - values.mean())


def _root(covariance: Array) -> Array:
    try:
        return np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        raise KernelError("The covariance of the sites is not positive definite in double precision.") from None


def _sd(kind: Any) -> float:
    return float(kind.sd)


def _dimension(kind: Kernel) -> int:
    if isinstance(kind, Constant | Linear):
        return 1
    for known, dimension in DIMENSIONS.items():
        if isinstance(kind, known):
            return dimension
    raise KernelError(
        f"{type(kind).__name__} has no exact state-space form, which a field needs. Use Matern12, Matern32 or Matern52."
    )


def _cholesky_derivative(root: Array, change: Array) -> Array:
    """d C for C C' = K and a change dK: C Phi(C^-1 dK C^-T), Phi the lower half with half the diagonal."""
    inner = np.linalg.solve(root, np.linalg.solve(root, change).T)
    lower = np.tril(inner)
    lower[np.diag_indices_from(lower)] *= 0.5
    return root @ lower


def has_states(term: Kernel) -> bool:
    """Whether a term is in the state: trends that all sites share are regression columns, white noise is an error."""
    return not isinstance(term, TrendTerm | WhiteNoise)


def terms_with_states(kernel: Kernel) -> tuple[Kernel, ...]:
    """The terms that ``has_states``."""
    return tuple(term for term in kernel.terms if has_states(term))


def is_stationary(term: Kernel) -> bool:
    """Whether a term varies in time beyond a constant and a rate."""
    return isinstance(getattr(term, "time", term), Stationary)
