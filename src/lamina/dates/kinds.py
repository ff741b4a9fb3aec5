"""Kinds of dates. Each is a small frozen value that gives its log-density as a table on a regular grid (``DateTable``).

Everything else, here and in the methods, is computed from that table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import RecordError
from ..support.checks import LARGEST, SMALLEST, numbers
from . import table as tables
from .table import MOST_ENTRIES, PER_SD, REACH, STUDENT_REACH, ZERO, DateTable, normalised
from .tails import student, student_outlier

Array = np.ndarray


class Date:
    """The density of the time of a row given its measurement alone. The base of all kinds."""

    def table(self) -> DateTable:
        """The log-density on a regular grid, fine enough to be linear between the entries."""
        return self._fine

    def arguments(self) -> dict[str, Any]:
        """The arguments that the class was called with, by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    @property
    def mean(self) -> float:
        """Mean of the date."""
        return self._moments[0]

    @property
    def sd(self) -> float:
        """Standard deviation of the date."""
        return self._moments[1]

    def log_density(self, t: ArrayLike) -> Array:
        """The logarithm of the density at t, of the shape of t."""
        return tables.log_density(self._fine, np.asarray(t, dtype=float))

    def quantile(self, levels: ArrayLike) -> Any:
        """The times below which the date lies with these probabilities: a float, or an array for an array."""
        p = np.asarray(levels, dtype=float)
        if not np.all((p > 0.0) & (p < 1.0)):
            raise RecordError(f"levels of quantiles lie between 0 and 1, got {levels!r}. Give 0.05 for 5 %.")
        found = tables.quantiles(self._fine, np.atleast_1d(p))
        return found if p.ndim else float(found[0])

    def probability_below(self, t: ArrayLike) -> Array:
        """The probability that a layer of the true time t would be dated below this date, of the shape of t.

        That is the probability of a true time above t given this date: an error moves both by as much.
        """
        return tables.probability_above(self._fine, np.asarray(t, dtype=float))

    def outlier_probability(self, t: ArrayLike) -> Array | None:
        """The probability that the date is an outlier if the true time is t, of the shape of t.

        None for a date without tails, which cannot be one.
        """
        return None

    def hdi(self, mass: float) -> list[tuple[float, float]]:
        """The intervals of highest density that hold this probability together, the smallest times first.

        Inside them the density is above one level, outside below it. Where it is constant at that level (a uniform
        range), the whole range is inside.
        """
        if not 0.0 < mass < 1.0:
            raise RecordError(f"the mass of highest-density intervals lies between 0 and 1, got {mass!r}. Give 0.95.")
        return self._highest(mass)

    @cached_property
    def _moments(self) -> tuple[float, float]:
        return tables.moments(self._fine)

    @cached_property
    def _fine(self) -> DateTable:
        return self._tabulate()

    def _tabulate(self) -> DateTable:
        raise NotImplementedError

    def _highest(self, mass: float) -> list[tuple[float, float]]:
        return tables.highest(self._fine, mass, ties=True)

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    # A copy makes its table again: the table is many times the size of the date.
    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]


@dataclass(frozen=True)
class SplitNormal(Date):
    """Two half-normal densities that meet at t: for errors that differ towards smaller and larger times.

        density(x) ∝ exp(-(x - t)² / (2 sd_before²))  for x < t,  exp(-(x - t)² / (2 sd_after²))  for x > t

    t: the most probable time (the mode, not the mean).
    sd_before, sd_after: the standard deviations towards smaller and towards larger times.
    """

    t: float
    sd_before: float
    sd_after: float

    def __post_init__(self) -> None:
        self._set(t=number(self, "t", self.t))
        self._set(sd_before=positive(self, "sd_before", self.sd_before))
        self._set(sd_after=positive(self, "sd_after", self.sd_after))

    def _tabulate(self) -> DateTable:
        both = self.sd_before + self.sd_after
        step = max(min(self.sd_before, self.sd_after) / PER_SD, REACH * both / MOST_ENTRIES)
        before, after = (math.ceil(REACH * sd / step) for sd in (self.sd_before, self.sd_after))
        x = step * np.arange(-before, after + 1)  # an entry is at t, where the two halves meet
        u = x / np.where(x < 0.0, self.sd_before, self.sd_after)
        return normalised(self.t + x[0], step, -0.5 * u**2)


@dataclass(frozen=True)
class Uniform(Date):
    """Any time from first to last is as probable as any other, and no time outside is possible.

    first, last: the range; first is the smaller number.
    """

    first: float
    last: float

    def __post_init__(self) -> None:
        self._set(first=number(self, "first", self.first), last=number(self, "last", self.last))
        if not self.first < self.last:
            raise RecordError(
                f"Uniform: first must be below last, got first={self.first:g} and last={self.last:g}. "
                + ("Exchange them." if self.first > self.last else "For an exact time give t with t_sd=0 and no date.")
            )

    def _tabulate(self) -> DateTable:
        return normalised(self.first, self.last - self.first, np.zeros(2), bounded=True)


@dataclass(frozen=True, init=False, repr=False)
class StudentT(Date):
    """A Student-t density: like a normal one near t, with tails that let a date be an outlier.

        density(x) ∝ (b + (x - t)² / (2 sd²))^-(a + 1/2)

    It has 2a degrees of freedom. The form, with a = 3 and b = 4, is that of Christen & Pérez (2009) and of Bacon.

    t, sd: the measured time and its reported standard deviation. The density has the larger standard deviation
        ``date.sd`` = sd √(b / (a - 1)).
    a, b: how heavy the tails are; a is above 1.
    """

    t: float
    reported_sd: float
    a: float
    b: float

    # Written out, because ``sd`` of a date is that of its density.
    def __init__(self, t: float, sd: float, a: float = 3.0, b: float = 4.0) -> None:
        self._set(t=number(self, "t", t), reported_sd=positive(self, "sd", sd))
        self._set(**shape(self, a, b))

    def arguments(self) -> dict[str, Any]:
        return {"t": self.t, "sd": self.reported_sd, "a": self.a, "b": self.b}

    def __repr__(self) -> str:
        return f"StudentT({', '.join(f'{name}={value!r}' for name, value in self.arguments().items())})"

    @property
    def mean(self) -> float:
        """Mean of the date."""
        return self.t

    @property
    def sd(self) -> float:
        """Standard deviation of the date."""
        return self.reported_sd * math.sqrt(self.b / (self.a - 1.0))

    def outlier_probability(self, t: ArrayLike) -> Array:
        """The probability that the error is more than twice the reported one, if the true time is t."""
        return student_outlier((np.asarray(t, dtype=float) - self.t) / self.reported_sd, self.a, self.b)

    def _tabulate(self) -> DateTable:
        width = math.sqrt(self.b / self.a)  # of the standard Student-t, in units of the reported sd
        half = MOST_ENTRIES // 2
        u = STUDENT_REACH * width * np.arange(-half, half + 1) / half
        step = self.reported_sd * STUDENT_REACH * width / half
        return normalised(self.t - half * step, step, student(u, self.a, self.b))


@dataclass(frozen=True, init=False, repr=False)
class Tabulated(Date):
    """A density of your own, given as a table: the output of another calibration, or an elicited opinion.

    t: increasing times, any distances.
    density: the density at each time, zero or positive, up to a constant factor. It is linear in between and zero
        outside.
    """

    t: tuple[float, ...]
    density: tuple[float, ...]

    def __init__(self, t: ArrayLike, density: ArrayLike) -> None:
        x, p = numbers("t of a Tabulated date", t), numbers("density of a Tabulated date", density)
        if x.size != p.size:
            raise RecordError(f"Tabulated: t has {x.size} values and density {p.size}. Give one density for each time.")
        if x.size < 2:
            raise RecordError(f"Tabulated: t has {x.size} value(s). Give a table of two times or more.")
        if not np.all(np.diff(x) > 0.0):
            k = int(np.argmax(np.diff(x) <= 0.0))
            raise RecordError(
                f"Tabulated: t must increase, but {x[k + 1]:g} follows {x[k]:g}. Sort it by time, each time once."
            )
        if x[-1] - x[0] < SMALLEST:
            raise RecordError(f"Tabulated: t must span more than {SMALLEST:g}. Give it in a smaller unit.")
        if np.any(p < 0.0):
            k = int(np.argmax(p < 0.0))
            raise RecordError(f"Tabulated: density is {p[k]:g} at t = {x[k]:g}. Give densities, not their logarithms.")
        if not p.any():
            raise RecordError("Tabulated: density is zero at every time. Give a positive one at one time or more.")
        self._set(t=tuple(x.tolist()), density=tuple(p.tolist()))

    def __repr__(self) -> str:
        return f"<Tabulated: {len(self.t)} times from {self.t[0]:g} to {self.t[-1]:g}>"

    def _tabulate(self) -> DateTable:
        x, p = np.array(self.t), np.array(self.density)
        some = np.flatnonzero(p)
        inside = slice(max(some[0] - 1, 0), some[-1] + 2)  # where the density is not zero
        x, p = x[inside], p[inside] / p.max()
        apart = np.diff(x)
        mass = 0.5 * (p[1:] + p[:-1]) * apart
        middle = 0.5 * (x[1:] + x[:-1])
        centre = np.average(middle, weights=mass)
        spread = math.sqrt(np.average((middle - centre) ** 2 + apart**2 / 12.0, weights=mass))
        finest = (x[-1] - x[0]) / max(MOST_ENTRIES, 2 * x.size)
        n = math.ceil((x[-1] - x[0]) / max(min(apart.min(), spread / PER_SD), finest) * (1.0 - 1e-9))
        grid = np.linspace(x[0], x[-1], n + 1)
        with np.errstate(divide="ignore"):
            log_p = np.maximum(np.log(np.interp(grid, x, p)), ZERO)
        return normalised(x[0], (x[-1] - x[0]) / n, log_p, bounded=True)


def number(date: Date, name: str, value: Any) -> float:
    """A number of at most ``LARGEST``, or RecordError with the name of the argument."""
    size: Any = math.nan if isinstance(value, bool | np.bool_) or not isinstance(value, Real) else abs(value)
    if not size < math.inf:
        raise RecordError(f"{type(date).__name__}: {name} must be a finite number, got {value!r}.")
    if size > LARGEST:
        raise RecordError(f"{type(date).__name__}: {name} must be a number up to {LARGEST:g}. Give a larger unit.")
    return float(value)


def positive(date: Date, name: str, value: Any) -> float:
    """A number of at least ``SMALLEST``, or RecordError with the name of the argument."""
    found = number(date, name, value)
    if found < SMALLEST:
        least = "0" if found <= 0.0 else f"{SMALLEST:g}"
        raise RecordError(
            f"{type(date).__name__}: {name} must be above {least}, got {found:g}. Give a standard deviation; for an "
            "exact time give t with t_sd=0 and no date."
        )
    return found


def shape(date: Date, a: Any, b: Any) -> dict[str, float]:
    """The shape (a, b) of a Student-t density. Its variance is finite if a is above 1."""
    found = {"a": number(date, "a", a), "b": number(date, "b", b)}
    if found["a"] <= 1.0 or found["b"] <= 0.0:
        raise RecordError(
            f"{type(date).__name__}: a must be above 1 and b above 0, got a={found['a']:g} and b={found['b']:g}. "
            "The usual values are a=3 and b=4."
        )
    return found
