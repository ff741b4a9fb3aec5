"""Stationary kernels: functions of the lag r = |t - t'|. A new kernel is one class here."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from ..engine.blocks import Matern12Block, Matern32Block, Matern52Block
from ..errors import KernelError
from .base import Array, Stationary, as_number, checked_theta


@dataclass(frozen=True)
class Parametric(Stationary):
    """A kernel whose dataclass fields are its parameters, all positive."""

    def __post_init__(self) -> None:
        _check_positive(self, self.names)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(field.name for field in fields(self))

    @property
    def theta(self) -> Array:
        return np.log([getattr(self, name) for name in self.names])

    def with_theta(self, theta: Array) -> Self:
        with np.errstate(over="ignore"):  # a parameter of exp(1000) raises KernelError below
            values = np.exp(checked_theta(self, theta))
        return replace(self, **dict(zip(self.names, values.tolist(), strict=True)))


@dataclass(frozen=True)
class Scaled(Parametric):
    """k(r) = sd² g(r / length): the derivative in log length is -r k'(r), in log sd it is 2 k(r)."""

    length: float = 1.0
    sd: float = 1.0

    def theta_derivatives(self, lag: Array) -> list[Array]:
        slope, _ = self.lag_derivatives(lag)
        return [-lag * slope, 2.0 * self.covariance(lag)]


@dataclass(frozen=True)
class Matern(Scaled):
    """Matérn kernel of half-integer order nu, with x = sqrt(2 nu) r / length."""

    has_state_space: ClassVar[bool] = True
    rate_factor: ClassVar[float]
    block_type: ClassVar[type]

    @property
    def rate(self) -> float:
        """lambda = sqrt(2 nu) / length, the decay rate of the state; ``rate_factor`` is sqrt(2 nu)."""
        return self.rate_factor / self.length

    def block(self) -> Any:
        return self.block_type(self.rate, self.sd * self.sd)


@dataclass(frozen=True)
class Matern12(Matern):
    """k(r) = sd² exp(-x): continuous, nowhere differentiable (Ornstein-Uhlenbeck)."""

    rate_factor: ClassVar[float] = 1.0
    block_type: ClassVar[type] = Matern12Block

    def covariance(self, lag: Array) -> Array:
        return self.sd**2 * np.exp(-self.rate * lag)

    def lag_derivatives(self, lag: Array) -> tuple[Array, Array]:
        k = self.covariance(lag)
        return -self.rate * k, self.rate**2 * k


@dataclass(frozen=True)
class Matern32(Matern):
    """k(r) = sd² (1 + x) exp(-x): once differentiable. The default, and the kernel of the paper."""

    rate_factor: ClassVar[float] = float(np.sqrt(3.0))
    block_type: ClassVar[type] = Matern32Block

    def covariance(self, lag: Array) -> Array:
        x = self.rate * lag
        return self.sd**2 * (1.0 + x) * np.exp(-x)

    def lag_derivatives(self, lag: Array) -> tuple[Array, Array]:
        x = self.rate * lag
        decay = self.sd**2 * np.exp(-x)
        return -self.rate * x * decay, self.rate**2 * (x - 1.0) * decay


@dataclass(frozen=True)
class Matern52(Matern):
    """k(r) = sd² (1 + x + x²/3) exp(-x): twice differentiable."""

    rate_factor: ClassVar[float] = float(np.sqrt(5.0))
    block_type: ClassVar[type] = Matern52Block

    def covariance(self, lag: Array) -> Array:
        x = self.rate * lag
        return self.sd**2 * (1.0 + x + x * x / 3.0) * np.exp(-x)

    def lag_derivatives(self, lag: Array) -> tuple[Array, Array]:
        x = self.rate * lag
        decay = self.sd**2 * np.exp(-x) / 3.0
        return -self.rate * x * (1.0 + x) * decay, self.rate**2 * (x * x - x - 1.0) * decay


@dataclass(frozen=True)
class SquaredExponential(Scaled):
    """k(r) = sd² exp(-r² / 2 length²). Dense engine only."""

    def covariance(self, lag: Array) -> Array:
        return self.sd**2 * np.exp(-0.5 * (lag / self.length) ** 2)

    def lag_derivatives(self, lag: Array) -> tuple[Array, Array]:
        k = self.covariance(lag)
        z = lag / self.length
        return -z / self.length * k, (z * z - 1.0) / self.length**2 * k


@dataclass(frozen=True)
class RationalQuadratic(Scaled):
    """k(r) = sd² (1 + r² / (2 shape length²))^(-shape). Dense engine only."""

    shape: float = 1.0

    def _excess(self, lag: Array) -> Array:
        """The base of the power minus 1, which may be far below rounding if ``shape`` is large."""
        return (lag / self.length) ** 2 / (2.0 * self.shape)

    def covariance(self, lag: Array) -> Array:
        return self.sd**2 * np.exp(-self.shape * np.log1p(self._excess(lag)))

    def lag_derivatives(self, lag: Array) -> tuple[Array, Array]:
        base, k = 1.0 + self._excess(lag), self.covariance(lag)
        z = lag / self.length
        first = -z / self.length / base * k
        second = (z * z * (1.0 + 1.0 / self.shape) / base - 1.0) / (self.length**2 * base) * k
        return first, second

    def theta_derivatives(self, lag: Array) -> list[Array]:
        excess, k = self._excess(lag), self.covariance(lag)
        in_shape = self.shape * k * (excess / (1.0 + excess) - np.log1p(excess))
        return [*super().theta_derivatives(lag), in_shape]


@dataclass(frozen=True)
class Periodic(Scaled):
    """k(r) = sd² exp(-2 sin²(pi r / period) / length²); ``length`` has no unit. Dense engine only."""

    period: float = 1.0

    def covariance(self, lag: Array) -> Array:
        return self.sd**2 * np.exp(-2.0 * (np.sin(np.pi * lag / self.period) / self.length) ** 2)

    def lag_derivatives(self, lag: Array) -> tuple[Array, Array]:
        k = self.covariance(lag)
        phase = 2.0 * np.pi / self.period
        # k = sd² exp(u), u' = -(phase / length²) sin(phase r), u'' = -(phase / length)² cos(phase r)
        first = -phase / self.length**2 * np.sin(phase * lag)
        second = -((phase / self.length) ** 2) * np.cos(phase * lag)
        return first * k, (first * first + second) * k

    def theta_derivatives(self, lag: Array) -> list[Array]:
        k = self.covariance(lag)
        in_length = 4.0 * (np.sin(np.pi * lag / self.period) / self.length) ** 2 * k
        slope, _ = self.lag_derivatives(lag)
        return [in_length, 2.0 * k, -lag * slope]


def _check_positive(kernel: Any, names: tuple[str, ...]) -> None:
    for name in names:
        value = getattr(kernel, name)
        number = as_number(value)
        if not (np.isfinite(number) and number > 0):
            raise KernelError(
                f"{type(kernel).__name__}: {name} must be a positive finite number, got {value!r}. "
                f"Give {name} in the units of the data."
            )
        object.__setattr__(kernel, name, number)
