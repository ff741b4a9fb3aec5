"""Dates that are not Gaussian: what a measurement alone says about a time, as a density on the user's time scale.

Every kind is a small frozen value (``SplitNormal``, ``Uniform``, ``StudentT``, ``Tabulated``, ``Radiocarbon``) that
gives its log-density as a table on a regular grid. Everything else, here and in the methods, is computed from it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..errors import RecordError
from ..support.checks import numbers

if TYPE_CHECKING:
    from .radiocarbon import Radiocarbon

__all__ = ["Date", "DateTable", "Radiocarbon", "SplitNormal", "StudentT", "Tabulated", "Uniform"]

Array = np.ndarray

#: Entries of a table for each standard deviation, and in all.
FINENESS, MOST = 50, 4000
#: How far a table goes from the mode, in standard deviations: where the log-density is quadratic, and where the tails
#: are heavy.
REACH, STUDENT_REACH = 20.0, 40.0
#: Zero density, as a drop of the log-density. It is finite, so that whoever has strayed there finds the way back.
ZERO = -500.0


class DateTable(NamedTuple):
    """The log-density of a date at start, start + step, ...; linear in between. The density integrates to 1.

    start: time of the first entry, on the user's time scale.
    step: distance of the entries, positive.
    log_density: shape (n,), n at least 2.
    bounded: whether the density is zero outside the table. If not, the log-density goes on linearly with the slope of
        the first two and of the last two entries.
    """

    start: float
    step: float
    log_density: Array
    bounded: bool


class Date:
    """What a measurement alone says about the time of a row. Base of all kinds."""

    def table(self) -> DateTable:
        """The log-density on a regular grid, fine enough that it may be taken as linear between the entries."""
        return self._fine

    def arguments(self) -> dict[str, Any]:
        """What the class was called with, by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    @property
    def mean(self) -> float:
        """Mean of the date."""
        return _moments(self._fine)[0]

    @property
    def sd(self) -> float:
        """Standard deviation of the date."""
        return _moments(self._fine)[1]

    def log_density(self, t: ArrayLike) -> Array:
        """The logarithm of the density at t, of the shape of t."""
        return _log_density(self._fine, np.asarray(t, dtype=float))

    def quantile(self, levels: ArrayLike) -> Any:
        """The times below which the date lies with these probabilities: a float, or an array for an array."""
        p = np.asarray(levels, dtype=float)
        if not np.all((p > 0.0) & (p < 1.0)):
            raise RecordError(f"levels of quantiles lie between 0 and 1, got {levels!r}. Give 0.05 for 5 %.")
        found = _quantile(self._fine, np.atleast_1d(p))
        return found if p.ndim else float(found[0])

    def hdi(self, mass: float) -> list[tuple[float, float]]:
        """The intervals of highest density that hold this probability together, the smallest times first.

        They are where the density is above the one level for which it is so. Where it is constant at that level (a
        uniform range), all of that stretch is taken.
        """
        if not 0.0 < mass < 1.0:
            raise RecordError(f"the mass of highest-density intervals lies between 0 and 1, got {mass!r}. Give 0.95.")
        return self._highest(mass)

    @cached_property
    def _fine(self) -> DateTable:
        return self._tabulate()

    def _tabulate(self) -> DateTable:
        raise NotImplementedError

    def _highest(self, mass: float) -> list[tuple[float, float]]:
        return highest(self._fine, mass, ties=True)

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    # Tables are made again where they are needed: they are many times the size of the date.
    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]


@dataclass(frozen=True)
class SplitNormal(Date):
    """Two halves of normal densities that meet at t: for errors that differ towards smaller and larger times.

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
        step = max(min(self.sd_before, self.sd_after) / FINENESS, REACH * both / MOST)
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

    t, sd: the measured time and its reported standard deviation. The one of the density, ``date.sd``, is
        sd √(b / (a - 1)): larger, since the reported one is not trusted fully.
    a, b: how heavy the tails are; a is above 1.
    """

    t: float
    reported_sd: float
    a: float
    b: float

    # Written out, since ``sd`` of a date is that of its density.
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

    def _tabulate(self) -> DateTable:
        width = math.sqrt(self.b / self.a)  # of the standard Student-t, in units of the reported sd
        half = MOST // 2
        u = STUDENT_REACH * width * np.arange(-half, half + 1) / half
        step = self.reported_sd * STUDENT_REACH * width / half
        return normalised(self.t - half * step, step, student(u, self.a, self.b))


@dataclass(frozen=True, init=False, repr=False)
class Tabulated(Date):
    """A density of your own, given as a table: the output of another calibration, or an elicited opinion.

    t: increasing times, any distances.
    density: the density at each, zero or positive, up to a constant factor. It is taken as linear in between and zero
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
        wanted = math.ceil((x[-1] - x[0]) / min(apart.min(), spread / FINENESS) * (1.0 - 1e-9))
        n = min(wanted, max(MOST, 2 * x.size))
        grid = np.linspace(x[0], x[-1], n + 1)
        with np.errstate(divide="ignore"):
            log_p = np.maximum(np.log(np.interp(grid, x, p)), ZERO)
        return normalised(x[0], (x[-1] - x[0]) / n, log_p, bounded=True)


def __getattr__(name: str) -> Any:
    if name == "Radiocarbon":  # it builds on this module
        from .radiocarbon import Radiocarbon

        return Radiocarbon
    raise AttributeError(f"module 'lamina.dates' has no attribute {name!r}")


# --- tables --------------------------------------------------------------------------------------------------------


def normalised(start: float, step: float, log_density: Array, bounded: bool = False) -> DateTable:
    """The table whose density integrates to 1, the tails of an unbounded one included."""
    raw = DateTable(float(start), float(step), log_density - log_density.max(), bounded)
    log_p = raw.log_density - math.log(sum(part.sum() for part in _masses(raw)))
    log_p.setflags(write=False)
    return raw._replace(log_density=log_p)


def student(u: Array, a: float, b: float) -> Array:
    """The logarithm of (b + u²/2)^-(a + 1/2), u in reported standard deviations."""
    return -(a + 0.5) * np.log(b + 0.5 * u**2)


def _masses(table: DateTable) -> tuple[Array, Array, Array]:
    """The probability before the table, (1,), between its entries, (n - 1,), and after it, (1,).

    Where the log-density is linear, ∫ = step (p_k - p_{k+1}) / (log p_k - log p_{k+1}).
    """
    log_p, step = table.log_density, table.step
    drop = np.abs(np.diff(log_p))
    flat = drop < 1e-8
    mean = np.where(flat, 1.0 - 0.5 * drop, -np.expm1(-drop) / np.where(flat, 1.0, drop))
    between = step * np.exp(np.maximum(log_p[:-1], log_p[1:])) * mean
    if table.bounded:
        return np.zeros(1), between, np.zeros(1)
    up, down = _slopes(table)
    return np.exp(log_p[:1]) / up, between, np.exp(log_p[-1:]) / down


def _slopes(table: DateTable) -> tuple[float, float]:
    """How steeply an unbounded log-density falls off before and after the table, both positive."""
    log_p = table.log_density
    return float(log_p[1] - log_p[0]) / table.step, float(log_p[-2] - log_p[-1]) / table.step


def _log_density(table: DateTable, x: Array) -> Array:
    log_p, last = table.log_density, table.log_density.size - 1
    place = (x - table.start) / table.step
    inside = np.interp(place, np.arange(last + 1), log_p)
    if table.bounded:
        return np.where((place < 0.0) | (place > last), -np.inf, inside)
    up, down = (slope * table.step for slope in _slopes(table))
    return inside + np.minimum(up * place, 0.0) + np.minimum(down * (last - place), 0.0)


def _moments(table: DateTable) -> tuple[float, float]:
    """Mean and standard deviation over the table, by two Gauss-Legendre points between neighbouring entries."""
    k = np.arange(table.log_density.size - 1)
    place = np.concatenate([k + 0.5 - 0.5 / math.sqrt(3.0), k + 0.5 + 0.5 / math.sqrt(3.0)])
    x = table.start + table.step * place
    p = np.exp(np.interp(place, np.arange(k.size + 1), table.log_density))
    mean = np.average(x, weights=p)
    return float(mean), math.sqrt(np.average((x - mean) ** 2, weights=p))


def _quantile(table: DateTable, p: Array) -> Array:
    before, between, after = _masses(table)
    below = np.concatenate([before, before + np.cumsum(between)])  # the distribution function at the entries
    k = np.clip(np.searchsorted(below, p, side="right") - 1, 0, between.size - 1)
    share = np.clip((p - below[k]) / np.where(between[k] > 0.0, between[k], 1.0), 0.0, 1.0)
    rise = np.diff(table.log_density)[k]
    flat = np.abs(rise) < 1e-8
    within = np.where(flat, share, np.log1p(share * np.expm1(rise)) / np.where(flat, 1.0, rise))
    x = table.start + table.step * (k + within)
    if table.bounded:
        return x
    up, down = _slopes(table)
    end = table.start + table.step * between.size
    x = np.where(p < before, table.start + np.log(p / before) / up, x)
    return np.where(1.0 - p < after, end - np.log((1.0 - p) / after) / down, x)


def highest(table: DateTable, mass: float, ties: bool) -> list[tuple[float, float]]:
    """The intervals in which the density is above the level at which they hold ``mass``.

    The level is found by ranking the entries. With ``ties``, entries exactly at it belong to the intervals.
    """
    ranked = np.sort(np.exp(table.log_density))[::-1]
    held = np.cumsum(ranked)
    level = math.log(np.interp(mass * held[-1], held, ranked))
    height = table.log_density - level
    above = np.concatenate([[False], height >= 0.0 if ties else height > 0.0, [False]])
    turns = np.flatnonzero(np.diff(above)).reshape(-1, 2).tolist()  # the first entry above, and the first one after it

    def crossing(inner: int, outer: int) -> float:
        if not 0 <= outer < height.size:
            return table.start + table.step * inner
        share = height[inner] / (height[inner] - height[outer])
        return float(table.start + table.step * (inner + share * (outer - inner)))

    return [(crossing(first, first - 1), crossing(end - 1, end)) for first, end in turns]


# --- what is given ---------------------------------------------------------------------------------------------------


def number(date: Date, name: str, value: Any) -> float:
    """A finite number, or RecordError with the name of the argument."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real) or not math.isfinite(value):
        raise RecordError(f"{type(date).__name__}: {name} must be a finite number, got {value!r}.")
    return float(value)


def positive(date: Date, name: str, value: Any) -> float:
    """A finite number above 0, or RecordError with the name of the argument."""
    found = number(date, name, value)
    if found <= 0.0:
        raise RecordError(
            f"{type(date).__name__}: {name} must be above 0, got {found:g}. Give a standard deviation; for an exact "
            "time give t with t_sd=0 and no date."
        )
    return found


def shape(date: Date, a: Any, b: Any) -> dict[str, float]:
    """The shape of a Student-t density, whose variance is finite if a is above 1."""
    found = {"a": number(date, "a", a), "b": number(date, "b", b)}
    if found["a"] <= 1.0 or found["b"] <= 0.0:
        raise RecordError(
            f"{type(date).__name__}: a must be above 1 and b above 0, got a={found['a']:g} and b={found['b']:g}. "
            "The usual values are a=3 and b=4."
        )
    return found
