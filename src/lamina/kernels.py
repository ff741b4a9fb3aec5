"""Kernels: what is assumed about the curve before any measurement is seen.

A stationary kernel is a function of the lag r = |t - t'|. Each one gives, for arrays of lags, its value, its
first two derivatives in r (the dense engine needs them) and its derivatives in theta. The Matérn kernels also
have an exact state-space form (``block``), which is what the O(N) engine runs on: see ``lamina.engine.statespace``.

Parameters are given and shown as ``length`` and ``sd``; inside they live on the log scale (``theta``).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from .engine.statespace import Matern12Block, Matern32Block, Matern52Block, NullBlock
from .errors import KernelError

Array = np.ndarray


class Kernel:
    """What every kernel can do. Kernels are values: ``with_theta`` and ``+`` return new ones."""

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters, in the order of ``theta``."""
        raise NotImplementedError

    @property
    def theta(self) -> Array:
        """Logarithms of the parameters, shape (p,)."""
        raise NotImplementedError

    def with_theta(self, theta: Array) -> Self:
        """The same kernel with other log-parameters."""
        raise NotImplementedError

    @property
    def terms(self) -> tuple[Kernel, ...]:
        """The kernels that this one is the sum of."""
        return (self,)

    @property
    def stationary(self) -> Stationary | None:
        """The part that is a function of the lag alone, or None."""
        parts = [term for term in self.terms if isinstance(term, Stationary)]
        if not parts:
            return None
        return parts[0] if len(parts) == 1 else Sum(tuple(parts))

    @cached_property
    def trend(self) -> tuple[TrendTerm, ...]:
        """The regression terms (constant, linear) of this kernel."""
        return tuple(term for term in self.terms if isinstance(term, TrendTerm))

    @cached_property
    def is_markov(self) -> bool:
        """Whether the O(N) engine can run this kernel."""
        return all(isinstance(term, Matern | TrendTerm) for term in self.terms)

    def blocks(self) -> tuple[Any, ...]:
        """The compiled state-space blocks of the stationary part."""
        return self._blocks

    @cached_property
    def _blocks(self) -> tuple[Any, ...]:
        if not self.is_markov:
            kinds = sorted({type(term).__name__ for term in self.terms if not isinstance(term, Matern | TrendTerm)})
            raise KernelError(
                f"{' and '.join(kinds)} has no exact state-space form, so the Markov engine cannot run it. "
                'Use engine="dense", or a Matérn kernel or a sum of them.'
            )
        found = tuple(term.block() for term in self.terms if isinstance(term, Matern))
        return found or (NullBlock(0.0, 0.0),)

    def __add__(self, other: Kernel) -> Sum:
        if not isinstance(other, Kernel):
            return NotImplemented
        return Sum(self.terms + other.terms)

    def __mul__(self, other: Kernel) -> Product:
        if not isinstance(other, Kernel):
            return NotImplemented
        return Product((self, other))


class Stationary(Kernel):
    """A kernel k(r) of the lag r = |t - t'| >= 0."""

    def covariance(self, lag: Array) -> Array:
        """k(r)."""
        raise NotImplementedError

    def lag_derivatives(self, lag: Array) -> tuple[Array, Array]:
        """k'(r) and k''(r), one-sided at r = 0."""
        raise NotImplementedError

    def theta_derivatives(self, lag: Array) -> list[Array]:
        """dk/dtheta_p for each log-parameter p, in the order of ``names``."""
        raise NotImplementedError

    @property
    def differentiable(self) -> bool:
        """Whether the curve has a rate of change: k'(0) = 0."""
        slope, _ = self.lag_derivatives(np.zeros(1))
        return bool(slope[0] == 0.0)


def _number(value: Any) -> float:
    """value as a float, nan where it is not a number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return np.nan


def _check_positive(kernel: Any, names: tuple[str, ...]) -> None:
    for name in names:
        value = getattr(kernel, name)
        number = _number(value)
        if not (np.isfinite(number) and number > 0):
            raise KernelError(
                f"{type(kernel).__name__}: {name} must be a positive finite number, got {value!r}. "
                f"Give {name} in the units of the data."
            )
        object.__setattr__(kernel, name, number)


def _checked_theta(kernel: Kernel, theta: Array) -> Array:
    theta = np.asarray(theta, dtype=float)
    if theta.shape != (len(kernel.names),):
        raise KernelError(
            f"{type(kernel).__name__}: theta must hold {len(kernel.names)} log-parameters "
            f"({', '.join(kernel.names) or 'none'}), got an array of shape {theta.shape}."
        )
    return theta


@dataclass(frozen=True)
class _Plain(Stationary):
    """A stationary kernel whose dataclass fields are its positive parameters."""

    def __post_init__(self) -> None:
        _check_positive(self, self.names)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(field.name for field in fields(self))

    @property
    def theta(self) -> Array:
        return np.log([getattr(self, name) for name in self.names])

    def with_theta(self, theta: Array) -> Self:
        with np.errstate(over="ignore"):  # exp(1000) is refused as a parameter, with a message
            values = np.exp(_checked_theta(self, theta))
        return replace(self, **dict(zip(self.names, values.tolist(), strict=True)))


@dataclass(frozen=True)
class _Scaled(_Plain):
    """k(r) = sd² g(r / length): the derivative in log length is -r k'(r), in log sd it is 2 k(r)."""

    length: float = 1.0
    sd: float = 1.0

    def theta_derivatives(self, lag: Array) -> list[Array]:
        slope, _ = self.lag_derivatives(lag)
        return [-lag * slope, 2.0 * self.covariance(lag)]


@dataclass(frozen=True)
class Matern(_Scaled):
    """Matérn of half-integer order, with x = sqrt(2 nu) r / length. The subclasses are the three in use."""

    rate_factor: ClassVar[float]
    block_type: ClassVar[type]

    @property
    def rate(self) -> float:
        """lambda = sqrt(2 nu) / length, the decay rate of the state."""
        return self.rate_factor / self.length

    def block(self) -> Any:
        """The state-space form, for the compiled engine."""
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
    """k(r) = sd² (1 + x) exp(-x): once differentiable. The paper's kernel, and the default."""

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
class SquaredExponential(_Scaled):
    """k(r) = sd² exp(-r² / 2 length²). Dense engine only."""

    def covariance(self, lag: Array) -> Array:
        return self.sd**2 * np.exp(-0.5 * (lag / self.length) ** 2)

    def lag_derivatives(self, lag: Array) -> tuple[Array, Array]:
        k = self.covariance(lag)
        z = lag / self.length
        return -z / self.length * k, (z * z - 1.0) / self.length**2 * k


@dataclass(frozen=True)
class RationalQuadratic(_Scaled):
    """k(r) = sd² (1 + r² / (2 shape length²))^(-shape). Dense engine only."""

    shape: float = 1.0

    def _excess(self, lag: Array) -> Array:
        """The base of the power less 1, which may be far below rounding where ``shape`` is large."""
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
class Periodic(_Scaled):
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


class TrendTerm(Kernel):
    """coefficient times column(t), the coefficient having a normal prior, or a flat one where sd is infinite.

    Trend terms have no entry in theta: their coefficient is integrated out exactly (``lamina.model.trend``).
    """

    mean: float
    sd: float
    names: tuple[str, ...] = ()

    @property
    def theta(self) -> Array:
        return np.empty(0)

    def with_theta(self, theta: Array) -> Self:
        _checked_theta(self, theta)
        return self

    def column(self, t: Array) -> Array:
        """The regression column at times t."""
        raise NotImplementedError

    def slope(self) -> float:
        """d column / d t."""
        raise NotImplementedError

    def __post_init__(self) -> None:
        if not (np.isfinite(_number(self.mean)) and _number(self.sd) > 0):
            raise KernelError(
                f"{type(self).__name__}: mean must be finite and sd positive (or inf for a flat prior), "
                f"got mean={self.mean!r}, sd={self.sd!r}."
            )


@dataclass(frozen=True)
class Constant(TrendTerm):
    """An unknown level, with prior N(mean, sd²); flat by default."""

    sd: float = np.inf
    mean: float = 0.0

    def column(self, t: Array) -> Array:
        return np.ones_like(t)

    def slope(self) -> float:
        return 0.0


@dataclass(frozen=True)
class Linear(TrendTerm):
    """An unknown rate times (t - origin), the rate having prior N(mean, sd²); flat by default."""

    sd: float = np.inf
    mean: float = 0.0
    origin: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not np.isfinite(_number(self.origin)):
            raise KernelError(f"Linear: origin must be a finite time, got {self.origin!r}.")

    def column(self, t: Array) -> Array:
        return t - self.origin

    def slope(self) -> float:
        return 1.0


def _joined_names(parts: tuple[Kernel, ...]) -> tuple[str, ...]:
    """Names of several kernels in one list, numbered where two share a name."""
    plain = [name for part in parts for name in part.names]
    if len(set(plain)) == len(plain):
        return tuple(plain)
    numbered = [part for part in parts if part.names]
    return tuple(f"{name}_{number}" for number, part in enumerate(numbered, start=1) for name in part.names)


def _split_theta(parts: tuple[Kernel, ...], theta: Array) -> list[Array]:
    """theta of several kernels, one piece each."""
    edges = np.cumsum([len(part.names) for part in parts])
    return np.split(theta, edges[:-1])


class _Composite(Stationary):
    """Several kernels held together; theta is theirs, one after the other."""

    parts: tuple[Any, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        return _joined_names(self.parts)

    @property
    def theta(self) -> Array:
        return np.concatenate([part.theta for part in self.parts])

    def with_theta(self, theta: Array) -> Self:
        pieces = _split_theta(self.parts, _checked_theta(self, theta))
        return type(self)(tuple(part.with_theta(piece) for part, piece in zip(self.parts, pieces, strict=True)))  # type: ignore[call-arg]


@dataclass(frozen=True)
class Sum(_Composite):
    """The sum of kernels: the curve is a sum of independent curves."""

    parts: tuple[Any, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(term for part in self.parts for term in part.terms))
        trends = [type(part) for part in self.parts if isinstance(part, TrendTerm)]
        if len(set(trends)) < len(trends):
            raise KernelError("A sum may hold one Constant and one Linear at most; merge the priors into one term.")

    @property
    def terms(self) -> tuple[Kernel, ...]:
        return self.parts

    @property
    def _lag_parts(self) -> tuple[Stationary, ...]:
        return tuple(part for part in self.parts if isinstance(part, Stationary))

    def covariance(self, lag: Array) -> Array:
        return sum((part.covariance(lag) for part in self._lag_parts), np.zeros_like(lag))

    def lag_derivatives(self, lag: Array) -> tuple[Array, Array]:
        pairs = [part.lag_derivatives(lag) for part in self._lag_parts]
        return sum((p[0] for p in pairs), np.zeros_like(lag)), sum((p[1] for p in pairs), np.zeros_like(lag))

    def theta_derivatives(self, lag: Array) -> list[Array]:
        return [one for part in self._lag_parts for one in part.theta_derivatives(lag)]


@dataclass(frozen=True)
class Product(_Composite):
    """The product of stationary kernels. Dense engine only."""

    parts: tuple[Any, ...]

    def __post_init__(self) -> None:
        for part in self.parts:
            if part.trend:
                raise KernelError(
                    "A product takes stationary kernels only, and one factor holds "
                    f"{type(part.trend[0]).__name__}. Add the trend to the product, do not multiply by it."
                )

    def covariance(self, lag: Array) -> Array:
        return np.prod([part.covariance(lag) for part in self.parts], axis=0)

    def _others(self, lag: Array, left_out: tuple[int, ...]) -> Array:
        kept = [part.covariance(lag) for i, part in enumerate(self.parts) if i not in left_out]
        return np.prod(kept, axis=0) if kept else np.ones_like(lag)

    def lag_derivatives(self, lag: Array) -> tuple[Array, Array]:
        pairs = [part.lag_derivatives(lag) for part in self.parts]
        first, second = np.zeros_like(lag), np.zeros_like(lag)
        for i, (slope_i, curve_i) in enumerate(pairs):
            first += slope_i * self._others(lag, (i,))
            second += curve_i * self._others(lag, (i,))
            for j, (slope_j, _) in enumerate(pairs):
                if j != i:
                    second += slope_i * slope_j * self._others(lag, (i, j))
        return first, second

    def theta_derivatives(self, lag: Array) -> list[Array]:
        return [
            one * self._others(lag, (i,)) for i, part in enumerate(self.parts) for one in part.theta_derivatives(lag)
        ]
