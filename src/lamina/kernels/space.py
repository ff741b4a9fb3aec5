"""Kernels in space, and their products with kernels in time.

    Matern32() * Nearby(1000)      a curve at each site; curves of neighbouring sites are alike
    Linear() * Nearby(1000)        a rate at each site; rates of neighbouring sites are alike
    Constant() * EachSite()        an offset of each site, independent of the others

Without a factor in space, a kernel is common to all sites. Kernels in space are correlations: the standard deviation is
that of the kernel in time. In a product, the sd of a ``Constant`` or ``Linear`` is a parameter that is estimated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from ..errors import KernelError
from .base import Array, Kernel, Stationary, Sum, TrendTerm, as_number, checked_theta
from .trend import Linear

EARTH_RADIUS_KM = 6371.0
#: Added to the variance of each site, so that sites at one point leave the matrix positive definite.
JITTER = 1e-10
DECAYS = ("exponential", "matern32")


def great_circle_km(latitude: Array, longitude: Array, other_latitude: Array, other_longitude: Array) -> Array:
    """Distances (S, T) in km along the surface, between S places and T others, given in degrees."""
    a, b = np.deg2rad(latitude)[:, None], np.deg2rad(other_latitude)[None, :]
    turn = np.deg2rad(np.asarray(longitude)[:, None] - np.asarray(other_longitude)[None, :])
    half = np.sin(0.5 * (a - b)) ** 2 + np.cos(a) * np.cos(b) * np.sin(0.5 * turn) ** 2
    return 2.0 * EARTH_RADIUS_KM * np.arcsin(np.sqrt(np.clip(half, 0.0, 1.0)))


class Spatial:
    """The base of kernels in space: correlations of sites. Multiply one with a kernel in time."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters, in the order of ``theta``."""
        return ()

    @property
    def theta(self) -> Array:
        """Logarithms of the parameters, shape (p,)."""
        return np.empty(0)

    def with_theta(self, theta: Array) -> Self:
        """The same kernel with other log-parameters."""
        return self

    def correlation(self, distance: Array) -> Array:
        """Correlations at distances (S, T) in km; a distance of 0 is that of a place to itself."""
        raise NotImplementedError

    def theta_derivatives(self, distance: Array) -> list[Array]:
        """d correlation / d theta_p for each log-parameter p."""
        return []

    def among(self, distance: Array) -> Array:
        """Correlations (S, S) of sites among themselves, positive definite."""
        return self.correlation(distance) + JITTER * np.eye(len(distance))

    def __mul__(self, other: Kernel) -> Kernel:
        if not isinstance(other, Kernel):
            return NotImplemented
        terms = [SpaceTime(term, self) for term in other.terms]
        return terms[0] if len(terms) == 1 else Sum(tuple(terms))

    __rmul__ = __mul__


@dataclass(frozen=True)
class Nearby(Spatial):
    """Neighbouring sites are alike: the correlation falls with the distance d along the surface of the Earth.

    decay: "exponential", exp(-d / length_km), or "matern32", (1 + x) exp(-x) with x = sqrt(3) chord / length_km. The
    latter takes the straight distance through the Earth, for which it is positive definite everywhere.
    """

    length_km: float = 1000.0
    decay: str = "exponential"

    def __post_init__(self) -> None:
        length = as_number(self.length_km)
        if not (np.isfinite(length) and length > 0.0):
            raise KernelError(f"Nearby: length_km must be a positive finite number of km, got {self.length_km!r}.")
        if self.decay not in DECAYS:
            raise KernelError(f"Nearby: decay must be one of {', '.join(DECAYS)}, got {self.decay!r}.")
        object.__setattr__(self, "length_km", length)

    @property
    def names(self) -> tuple[str, ...]:
        return ("length_km",)

    @property
    def theta(self) -> Array:
        return np.log([self.length_km])

    def with_theta(self, theta: Array) -> Self:
        return replace(self, length_km=float(np.exp(theta[0])))

    def _scaled(self, distance: Array) -> Array:
        if self.decay == "exponential":
            return distance / self.length_km
        chord = 2.0 * EARTH_RADIUS_KM * np.sin(distance / (2.0 * EARTH_RADIUS_KM))
        return np.sqrt(3.0) * chord / self.length_km

    def correlation(self, distance: Array) -> Array:
        x = self._scaled(distance)
        return np.exp(-x) if self.decay == "exponential" else (1.0 + x) * np.exp(-x)

    def theta_derivatives(self, distance: Array) -> list[Array]:
        x = self._scaled(distance)
        return [x * np.exp(-x) if self.decay == "exponential" else x * x * np.exp(-x)]


@dataclass(frozen=True)
class EachSite(Spatial):
    """Each site by itself: sites are independent of each other."""

    def correlation(self, distance: Array) -> Array:
        """None with other places, and a new place is always another one."""
        return np.zeros_like(distance)

    def among(self, distance: Array) -> Array:
        return np.eye(len(distance))


@dataclass(frozen=True)
class SpaceTime(Kernel):
    """The product of a kernel in time and one in space: one term of a field."""

    time: Any  #: a stationary kernel, or Constant or Linear
    space: Spatial

    def __post_init__(self) -> None:
        if isinstance(self.time, Sum) or not isinstance(self.time, Stationary | TrendTerm):
            raise KernelError(
                "A kernel in space is multiplied with one kernel in time, once: Matern32() * Nearby(), for example. "
                f"Got {self.time!r}. Add further terms to the product."
            )
        if isinstance(self.time, TrendTerm):
            if self.time.mean != 0.0:
                raise KernelError(
                    f"{type(self.time).__name__} * {type(self.space).__name__} has mean 0. Rates that are known before "
                    "the fit, such as those of GIA, are part of the record; add a common term for a common mean."
                )
            if not np.isfinite(self.time.sd):  # it is estimated, whatever its value here
                object.__setattr__(self, "time", replace(self.time, sd=1.0))  # type: ignore[type-var]

    @property
    def has_state_space(self) -> bool:  # type: ignore[override]
        return bool(self.time.has_state_space)

    @property
    def is_linear(self) -> bool:
        """Whether this is a rate at each site."""
        return isinstance(self.time, Linear)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return (*(("sd",) if isinstance(self.time, TrendTerm) else self.time.names), *self.space.names)

    @property
    def theta(self) -> Array:
        own = np.log([self.time.sd]) if isinstance(self.time, TrendTerm) else self.time.theta
        return np.concatenate([own, self.space.theta])

    def with_theta(self, theta: Array) -> Self:
        theta = checked_theta(self, theta)
        n = len(theta) - len(self.space.names)
        if isinstance(self.time, TrendTerm):
            time: Kernel = replace(self.time, sd=float(np.exp(theta[0])))  # type: ignore[type-var]
        else:
            time = self.time.with_theta(theta[:n])
        return replace(self, time=time, space=self.space.with_theta(theta[n:]))

    def __mul__(self, other: Any) -> Any:
        raise KernelError("A product in space and time takes no further factor: multiply the kernels in time first.")

    __rmul__ = __mul__
