"""Radiocarbon ages as dates: the likelihood of each calendar year under a calibration curve."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..errors import RecordError
from ..support.curves import curve_name
from .curves import Curve, load_curve
from .kinds import Date, number, positive, shape
from .table import MOST, REACH, STUDENT_REACH, ZERO, Array, DateTable, highest, normalised, student

#: An age is refused if it lies further than this below its whole curve, in standard deviations.
_TOO_YOUNG = 3.0


@dataclass(frozen=True)
class Radiocarbon(Date):
    """A radiocarbon age, calibrated.

    The density of the calendar year x is the likelihood of ``age - delta_r`` given the radiocarbon age μ(x) that the
    curve has in that year. With the standard deviation s(x) = √(age_sd² + delta_r_sd² + curve_sd(x)²) and
    d = (age - delta_r - μ(x)) / s(x):

        density(x) ∝ (b + d²/2)^-(a + 1/2) / s(x)     student=True (the default)
        density(x) ∝ exp(-d²/2) / s(x)                student=False

    and zero before and after the curve. The curves of 2013 and 2020 end in 1950 CE. Curves come from the package
    iosacal: ``pip install "lamina[radiocarbon]"``.

    age, age_sd: the conventional radiocarbon age (years BP) and its laboratory error.
    curve: "IntCal20", "SHCal20", "Marine20", or an older one of these families, such as "IntCal13".
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

    def table(self) -> DateTable:
        """The log-density on a regular grid of whole years, coarser than one year if the date is very wide."""
        step = math.ceil(self._fine.log_density.size / MOST)
        return self._fine if step == 1 else self._tabulate(step)

    def _tabulate(self, step: int = 1) -> DateTable:
        curve = load_curve(self.curve)
        s = self._total_sd(curve)
        d = (self.age - self.delta_r - curve.age) / s
        log_p = (student(d, self.a, self.b) if self.student else -0.5 * d**2) - np.log(s)
        some = np.flatnonzero(log_p > log_p.max() - self._depth())
        kept = np.arange(some[0], some[-1] + 1, step)
        ends = kept[[0, -1]]
        # One more entry at each end sets the slope of the tails: steep where the curve ends. Elsewhere as if each year
        # beyond were one radiocarbon year, because the next wiggle of the curve may go up.
        d_end, s_end = np.abs(d[ends]), s[ends]
        fall = step * ((self.a + 0.5) * d_end / (self.b + 0.5 * d_end**2) if self.student else d_end) / s_end
        fall[(ends < step) | (ends >= curve.year.size - step)] = -ZERO
        entries = np.concatenate([log_p[ends[:1]] - fall[0], log_p[kept], log_p[ends[1:]] - fall[1]])
        first, last = curve.year[ends] + np.array([-step, step])
        if self.scale == "BP":
            return normalised(first, step, entries)
        return normalised(1950.0 - last, step, entries[::-1])

    def _highest(self, mass: float) -> list[tuple[float, float]]:
        # Curves hold whole numbers, so several years can have exactly the density of the level. iosacal drops them.
        year = load_curve(self.curve).year
        ends = sorted(float(year[k]) if self.scale == "BP" else 1950.0 - float(year[k]) for k in (0, -1))
        found = highest(self._fine, mass, ties=False)
        return [(max(first, ends[0]), min(last, ends[1])) for first, last in found]

    def _total_sd(self, curve: Curve) -> Array:
        return np.sqrt(self.age_sd**2 + self.delta_r_sd**2 + curve.sd**2)

    def _depth(self) -> float:
        """How far below its maximum the log-density is tabulated."""
        if self.student:
            return (self.a + 0.5) * math.log1p(0.5 * STUDENT_REACH**2 / self.a)
        return 0.5 * REACH**2

    def _check_range(self) -> None:
        curve = load_curve(self.curve)
        age = self.age - self.delta_r
        youngest = max(float(np.min(curve.age - _TOO_YOUNG * self._total_sd(curve))), 0.0)
        if youngest <= age <= curve.age.max():
            return
        given = f"{self.age:g} ± {self.age_sd:g}" + (f" with delta_r={self.delta_r:g}" if self.delta_r else "")
        what, remedy = (
            ("younger", "It holds post-bomb carbon (after 1950), or its curve or delta_r is wrong. ")
            if age < youngest
            else ("older", "It has no calendar age on this curve. ")
        )
        raise RecordError(
            f"the radiocarbon age {given} is {what} than {self.curve}, which has "
            f"radiocarbon ages from {curve.age.min():.0f} to {curve.age.max():.0f}, calendar ages "
            f"{curve.year[0]:g} to {curve.year[-1]:g} BP. {remedy}"
            "Correct it, leave the date out, or calibrate it elsewhere and give a Tabulated date."
        )
