"""What every kernel can do, and kernels made of others: sums and products."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from ..engine.blocks import NullBlock
from ..engine.statespace import Process, make_process
from ..errors import KernelError

Array = np.ndarray


class Kernel:
    """The base of all kernels. Kernels are immutable: ``with_theta``, ``+`` and ``*`` return new ones."""

    #: Whether the kernel has an exact state-space form, so that the O(N) engine can run it.
    has_state_space: ClassVar[bool] = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters, in the order of ``theta``."""
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
        return all(term.has_state_space for term in self.terms)

    @property
    def has_rate(self) -> bool:
        """Whether the curve, or the field, has a rate of change."""
        kinds = [getattr(term, "time", term) for term in self.terms]  # of a product in space and time, that in time
        return all(kind.differentiable for kind in kinds if isinstance(kind, Stationary))

    def check_differentiable(self) -> None:
        """Raise KernelError unless the curve has a rate of change."""
        if not self.has_rate:
            raise KernelError(
                "The curve has no rate of change: with Matern12 it is nowhere differentiable. "
                "Use Matern32 or Matern52 if you need the rate."
            )

    @cached_property
    def _is_in_time(self) -> bool:
        return all(isinstance(term, Stationary | TrendTerm) for term in self.terms)

    def check_in_time(self) -> None:
        """Raise KernelError for terms in space and white noise, which one curve cannot have."""
        if not self._is_in_time:
            raise KernelError(
                "The kernel has terms in space (Nearby, EachSite) or white noise, which are for fields, and the record "
                "has no places. Give it site, latitude and longitude, or leave these terms out to fit one curve (for "
                'errors that may be too small: estimate="y_scale").'
            )

    def blocks(self) -> tuple[Any, ...]:
        """The compiled state-space blocks of the stationary part."""
        return self._blocks

    @cached_property
    def process(self) -> Process:
        """The stationary part as the compiled engine takes it, for one column of data."""
        return make_process(self.blocks())

    @cached_property
    def _blocks(self) -> tuple[Any, ...]:
        if not self.is_markov:
            kinds = sorted({type(term).__name__ for term in self.terms if not term.has_state_space})
            raise KernelError(
                f"{' and '.join(kinds)} has no exact state-space form, so the Markov engine cannot run it. "
                'Use engine="dense", or a Matérn kernel or a sum of them.'
            )
        found = tuple(term.block() for term in self.terms if isinstance(term, Stationary))
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

    def block(self) -> Any:
        """The state-space form for the compiled engine, where ``has_state_space``."""
        raise NotImplementedError

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


class TrendTerm(Kernel):
    """coefficient times column(t), where the coefficient has a normal prior, or a flat one if sd is infinite.

    Trend terms have no entry in theta: their coefficient is integrated out exactly (``lamina.model.trend``).
    """

    has_state_space: ClassVar[bool] = True

    mean: float
    sd: float
    names: tuple[str, ...] = ()

    @property
    def theta(self) -> Array:
        return np.empty(0)

    def with_theta(self, theta: Array) -> Self:
        checked_theta(self, theta)
        return self

    def column(self, t: Array) -> Array:
        """The regression column at times t."""
        raise NotImplementedError

    def slope(self) -> float:
        """d column / d t."""
        raise NotImplementedError

    def __post_init__(self) -> None:
        if not (np.isfinite(as_number(self.mean)) and as_number(self.sd) > 0):
            raise KernelError(
                f"{type(self).__name__}: mean must be finite and sd positive (or inf for a flat prior), "
                f"got mean={self.mean!r}, sd={self.sd!r}."
            )


def _joined_names(parts: tuple[Kernel, ...]) -> tuple[str, ...]:
    """The names of several kernels in one list, numbered if two are equal."""
    plain = [name for part in parts for name in part.names]
    if len(set(plain)) == len(plain):
        return tuple(plain)
    numbered = [part for part in parts if part.names]
    return tuple(f"{name}_{number}" for number, part in enumerate(numbered, start=1) for name in part.names)


def _split_theta(parts: tuple[Kernel, ...], theta: Array) -> list[Array]:
    """theta in pieces, one for each kernel."""
    edges = np.cumsum([len(part.names) for part in parts])
    return np.split(theta, edges[:-1])


class _Composite(Stationary):
    """A kernel made of several. Its theta is the concatenation of theirs."""

    parts: tuple[Any, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        return _joined_names(self.parts)

    @property
    def theta(self) -> Array:
        return np.concatenate([part.theta for part in self.parts])

    def with_theta(self, theta: Array) -> Self:
        pieces = _split_theta(self.parts, checked_theta(self, theta))
        return type(self)(tuple(part.with_theta(piece) for part, piece in zip(self.parts, pieces, strict=True)))  # type: ignore[call-arg]


@dataclass(frozen=True)
class Sum(_Composite):
    """The sum of kernels. The curve is a sum of independent curves."""

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
            if not isinstance(part, Stationary):
                raise KernelError("A product in space and time takes no further factor: multiply those in time first.")

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


def checked_theta(kernel: Kernel, theta: Array) -> Array:
    """theta as an array (p,). Raises KernelError for another shape."""
    theta = np.asarray(theta, dtype=float)
    if theta.shape != (len(kernel.names),):
        raise KernelError(
            f"{type(kernel).__name__}: theta must hold {len(kernel.names)} log-parameters "
            f"({', '.join(kernel.names) or 'none'}), got an array of shape {theta.shape}."
        )
    return theta


def as_number(value: Any) -> float:
    """value as a float; NaN if it is not a number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return np.nan
