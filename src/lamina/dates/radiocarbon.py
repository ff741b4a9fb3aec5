"""Radiocarbon ages as dates: the likelihood of each calendar year under a calibration curve."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import RecordError
from ..support.curves import ZONES, curve_name
from .curves import COARSE_STEP, Curve, joined, load_curve, load_zone
from .kinds import Date, number, positive, shape
from .table import MOST_ENTRIES, REACH, STUDENT_REACH, ZERO, Array, DateTable, highest, normalised
from .tails import normal_below, student, student_below, student_outlier

#: An age is refused if it lies further than this below its whole curve, in standard deviations.
_TOO_YOUNG = 3.0
#: Post-bomb years play no part in a date whose density there is lower than before 1950 by this factor, in logarithms.
_NEGLIGIBLE = 12.0
#: What a bound may be wrong by.
_ROUNDING = 1e-9
#: Years, by Libby's mean life, in which F14C falls by a factor of e.
_LIBBY = 8033.0


@dataclass(frozen=True)
class Radiocarbon(Date):
    """A radiocarbon age, calibrated.

    The density of the calendar year x is the likelihood of ``age - delta_r`` given the radiocarbon age μ(x) that the
    curve has in that year. With the standard deviation s(x) = √(age_sd² + delta_r_sd² + curve_sd(x)²) and
    d = (age - delta_r - μ(x)) / s(x):

        density(x) ∝ (b + d²/2)^-(a + 1/2) / s(x)     student=True (the default)
        density(x) ∝ exp(-d²/2) / s(x)                student=False

    and zero before and after the curve. The curves of 2013 and 2020 end in 1950 CE. A zone of post-bomb carbon
    continues the curve of its hemisphere to 2019 (Hua et al. 2021); its table has steps of 0.05 years.

    age, age_sd: the conventional radiocarbon age (years BP), negative for most post-bomb carbon, and its laboratory
        error. ``Radiocarbon.from_f14c`` takes F14C instead.
    curve: "IntCal20", "SHCal20", "Marine20", or an older one of these families, such as "IntCal13"; or a zone: "NH1",
        "NH2" and "NH3" (with IntCal20), "SH1-2" and "SH3" (with SHCal20).
    delta_r, delta_r_sd: local reservoir offset ΔR and its error, in years; subtracted from the age.
    scale: the time scale of the date: "BP" (years before 1950) or "CE" (years of the Common Era).
    student: whether the age may be an outlier; False is plain calibration.
    a, b: shape of the Student-t density, see ``StudentT``.
    """

    age: float
    age_sd: float
    curve: str = "IntCal20"
    delta_r: float = 0.0
    delta_r_sd: float = 0.0
    scale: str = "BP"
    student: bool = True
    a: float = 3.0
    b: float = 4.0

    def __post_init__(self) -> None:
        self._set(age=number(self, "age", self.age), age_sd=positive(self, "age_sd", self.age_sd))
        self._set(delta_r=number(self, "delta_r", self.delta_r))
        self._set(delta_r_sd=number(self, "delta_r_sd", self.delta_r_sd))
        self._set(**shape(self, self.a, self.b))
        if self.delta_r_sd < 0.0:
            raise RecordError(f"Radiocarbon: delta_r_sd is {self.delta_r_sd:g}. Give a standard deviation, 0 for none.")
        if self.scale not in ("BP", "CE"):
            raise RecordError(f'Radiocarbon: scale must be "BP" or "CE", got {self.scale!r}.')
        if not isinstance(self.student, bool):
            raise RecordError(f"Radiocarbon: student must be True or False, got {self.student!r}.")
        self._set(curve=curve_name(self.curve))
        self._check_range()

    @classmethod
    def from_f14c(cls, f14c: float, f14c_sd: float, curve: str = "IntCal20", **options: Any) -> Radiocarbon:
        """A radiocarbon date from F14C (fraction modern, 1 in 1950): the age is -8033 log(F14C).

        options: the other arguments of ``Radiocarbon``. Raises RecordError if F14C is not clearly above 0.
        """
        age, age_sd = age_of_f14c(f14c, f14c_sd)
        return cls(age, age_sd, curve, **options)

    def outlier_probability(self, t: ArrayLike) -> Array | None:
        """The probability that the error of the age is more than twice the reported one, if the calendar year is t.

        The error includes those of ΔR and of the curve. None without Student-t tails.
        """
        return student_outlier(self._distance(t), self.a, self.b) if self.student else None

    def probability_below(self, t: ArrayLike) -> Array:
        """The probability that the radiocarbon age of a layer of the calendar year t would be measured below this one.

        On the scale "CE", where larger years are younger: above this one.
        """
        d = self._distance(t)
        below = student_below(d, self.a, self.b) if self.student else normal_below(d)
        return below if self.scale == "BP" else 1.0 - below

    def _distance(self, t: ArrayLike) -> Array:
        """How far the age lies above that of the curve in the calendar year t, in standard deviations."""
        year = np.asarray(t, dtype=float)
        year, curve = year if self.scale == "BP" else 1950.0 - year, self._curve()
        expected, sd = (np.interp(year, curve.year, values) for values in (curve.age, curve.sd))
        return np.asarray((self.age - self.delta_r - expected) / self._total_sd(sd))

    def table(self) -> DateTable:
        """The log-density on a regular grid of years, coarser if the date is very wide."""
        step = math.ceil(self._fine.log_density.size / MOST_ENTRIES)
        return self._fine if step == 1 else self._tabulate(step)

    def _tabulate(self, step: int = 1) -> DateTable:
        curve = self._curve()
        near = self._near(curve)
        log_p = self._log_likelihood(curve.part(near))
        width = step * float(curve.year[1] - curve.year[0])
        some = np.flatnonzero(log_p > log_p.max() - self._depth())
        kept = np.arange(some[0], some[-1] + 1, step)
        inside = log_p[kept]
        ends, years = near.start + kept[[0, -1]], curve.year[near.start + kept]
        if width < step and step > 1:  # a coarser grid could miss the narrow peaks of post-bomb carbon
            inside, years = _cell_means(log_p[some[0] : some[-1] + 1], step), years + 0.5 * (width - width / step)
        # One more entry at each end sets the slope of the tails: steep where the curve ends. Elsewhere as if each year
        # beyond were one radiocarbon year, because the next wiggle of the curve may go up.
        s_end = self._total_sd(curve.sd[ends])
        d_end = np.abs(self.age - self.delta_r - curve.age[ends]) / s_end
        fall = width * ((self.a + 0.5) * d_end / (self.b + 0.5 * d_end**2) if self.student else d_end) / s_end
        fall[(ends < step) | (ends >= curve.year.size - step)] = -ZERO
        entries = np.concatenate([inside[:1] - fall[0], inside, inside[-1:] - fall[1]])
        first, last = years[0] - width, years[-1] + width
        if self.scale == "BP":
            return normalised(first, width, entries)
        return normalised(1950.0 - last, width, entries[::-1])

    def _curve(self) -> Curve:
        """The curve; of a zone only what matters for this age."""
        if self.curve not in ZONES:
            return load_curve(self.curve)
        before, after = load_curve(ZONES[self.curve]), load_zone(self.curve)
        near = before.part(self._near(before))
        log_p, log_p_after = self._log_likelihood(near), self._log_likelihood(after)
        if log_p_after.max() < log_p.max() - _NEGLIGIBLE:
            return before
        least = max(log_p.max(), log_p_after.max()) - self._depth()
        oldest = near.year[log_p > least].max(initial=0.0)
        return joined(self.curve, 500.0 * math.ceil((oldest + 1.0) / 500.0))

    def _near(self, curve: Curve) -> slice:
        """A part of a curve with all years whose log-likelihood is less than ``_depth`` below the highest.

        A run of years is left out if its bound, the log-likelihood with the smallest distance of the run and the
        standard deviation that suits it best, is lower than that below the log-likelihood of some year.
        """
        age, runs = self.age - self.delta_r, curve.runs
        apart = np.maximum(np.maximum(runs.least_age - age, age - runs.most_age), 0.0)
        bound = self._log_shape(apart / self._total_sd(runs.most_sd)) - np.log(self._total_sd(runs.least_sd))
        some_years = self._log_likelihood(curve.part(slice(None, None, COARSE_STEP)))
        kept = np.flatnonzero(bound > some_years.max() - self._depth() - _ROUNDING)
        return slice(int(kept[0]) * COARSE_STEP, (int(kept[-1]) + 1) * COARSE_STEP)

    def _log_likelihood(self, curve: Curve) -> Array:
        """The log-likelihood of each year of a curve, up to a constant."""
        s = self._total_sd(curve.sd)
        return self._log_shape((self.age - self.delta_r - curve.age) / s) - np.log(s)

    def _log_shape(self, d: Array) -> Array:
        """The logarithm of the density of the age, at distances in standard deviations, up to a constant."""
        return student(d, self.a, self.b) if self.student else -0.5 * d**2

    def _highest(self, mass: float) -> list[tuple[float, float]]:
        # Curves hold whole numbers, so several years can have exactly the density of the level. iosacal drops them.
        year = self._curve().year
        ends = sorted(float(year[k]) if self.scale == "BP" else 1950.0 - float(year[k]) for k in (0, -1))
        found = highest(self._fine, mass, ties=False)
        return [(max(first, ends[0]), min(last, ends[1])) for first, last in found]

    def _total_sd(self, curve_sd: Array) -> Array:
        return np.sqrt(self.age_sd**2 + self.delta_r_sd**2 + curve_sd**2)

    def _depth(self) -> float:
        """How far below its maximum the log-density is tabulated."""
        if self.student:
            return (self.a + 0.5) * math.log1p(0.5 * STUDENT_REACH**2 / self.a)
        return 0.5 * REACH**2

    def _check_range(self) -> None:
        zone = ZONES.get(self.curve)
        curve = load_curve(zone or self.curve)
        young = load_zone(self.curve) if zone else curve
        age, oldest = self.age - self.delta_r, curve.runs.most_age.max()
        youngest = float(np.min(young.runs.least_age))
        if age < max(youngest, 0.0):
            youngest = float(np.min(young.age - _TOO_YOUNG * self._total_sd(young.sd)))
        if (youngest if zone else max(youngest, 0.0)) <= age <= oldest:
            return
        given = f"{self.age:g} ± {self.age_sd:g}" + (f" with delta_r={self.delta_r:g}" if self.delta_r else "")
        what, remedy = ("younger", "Its curve, zone or delta_r is wrong. ")
        if age > oldest:
            what, remedy = ("older", "It has no calendar age on this curve. ")
        elif not zone and not self.curve.startswith("Marine"):
            zones = ", ".join(name for name, base in ZONES.items() if base[:2] == self.curve[:2])
            remedy = f"If it holds post-bomb carbon (after 1950), name its zone as the curve ({zones}). "
            if age >= 0.0:  # that of post-bomb carbon is negative
                remedy = "Its error, curve or delta_r is wrong. "
        elif not zone:
            remedy = "It holds post-bomb carbon (after 1950), or its curve or delta_r is wrong. "
        raise RecordError(
            f"the radiocarbon age {given} is {what} than {self.curve}, which has radiocarbon ages from "
            f"{min(curve.age.min(), young.age.min()):.0f} to {oldest:.0f}, calendar ages "
            f"{young.year[0]:g} to {curve.year[-1]:g} BP. {remedy}"
            "Correct it, leave the date out, or calibrate it elsewhere and give a Tabulated date."
        )


def _cell_means(log_p: Array, step: int) -> Array:
    """The logarithm of the mean density in each run of `step` entries, finite where the density is zero."""
    starts = np.arange(0, log_p.size, step)
    sums = np.maximum(np.add.reduceat(np.exp(log_p - log_p.max()), starts), math.exp(ZERO))
    return np.log(sums / np.diff([*starts, log_p.size])) + log_p.max()


def age_of_f14c(f14c: float, f14c_sd: float) -> tuple[float, float]:
    """The radiocarbon age and its error that F14C and its error stand for. Raises RecordError."""
    if not (math.isfinite(f14c) and math.isfinite(f14c_sd)) or f14c_sd <= 0.0:
        raise RecordError(f"F14C {f14c!r} ± {f14c_sd!r} is not a number with an error above 0. Correct it.")
    if f14c <= 2.0 * f14c_sd:
        raise RecordError(f"F14C {f14c:g} ± {f14c_sd:g} is not clearly above 0: it gives no age. Leave the date out.")
    return -_LIBBY * math.log(f14c), _LIBBY * f14c_sd / f14c
