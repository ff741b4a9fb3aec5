"""What stands on the axes of figures and tables: names and units of the record, and which way time runs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .record import Record

#: Words that name a calendar and not the length of a step in it.
_CALENDAR = {"bp", "ce", "bce", "ad", "bc", "cal", "b2k"}
_YEAR = {"a", "y", "yr", "yrs", "year", "years"}


@dataclass(frozen=True)
class Axes:
    """Texts for the axes of one record, as plain text. Made by ``describe``."""

    time: str  #: "Year (CE)"
    value: str  #: "Relative sea level (m)"
    rate: str  #: "Rate (mm/year)"
    rate_unit: str  #: "mm/year"
    duration: str  #: unit of a difference in time: "years"
    backwards: bool  #: ages before present: the axis of time is turned, so that it runs from old to young
    rate_factor: float  #: what ``Posterior.rate`` is multiplied by to be in ``rate_unit``, forward in time

    @property
    def time_sign(self) -> float:
        """+1 where larger numbers are later, -1 where they are earlier."""
        return -1.0 if self.backwards else 1.0


def describe(record: Record) -> Axes:
    """Names and units for the axes of a record.

    Metres a year are shown as millimetres a year, as is the custom. With ages before present ("BP" in ``t_unit``) the
    time axis runs from old to young, and rates are told forward in time: the sign is turned, and the label says so.
    """
    backwards = "BP" in record.t_unit
    step = _step(record)
    unit, factor = _per(record.y_unit, step, record.t_name), 1.0
    if record.y_unit == "m" and step == "year":
        unit, factor = "mm/year", 1000.0
    return Axes(
        time=_label(record.t_name, record.t_unit),
        value=_label(record.y_name, record.y_unit),
        rate=_label("Rate forward in time" if backwards else "Rate", unit),
        rate_unit=unit,
        duration="years" if step == "year" else step,
        backwards=backwards,
        rate_factor=-factor if backwards else factor,
    )


def _label(name: str, unit: str) -> str:
    name, unit = " ".join(name.split()), " ".join(unit.split())
    return f"{name} ({unit})" if unit else name


def _step(record: Record) -> str:
    """The unit in which differences of time are told: "year" for all calendars in years, empty if not known."""
    words = re.findall(r"[^\s.,()]+", record.t_unit)
    rest = [word for word in words if word.lower() not in _CALENDAR]
    if not words:
        return "year" if record.t_name.strip().lower() in _YEAR else ""
    if not rest or " ".join(rest).lower() in _YEAR:
        return "year"
    return " ".join(rest)


def _per(unit: str, step: str, t_name: str) -> str:
    if step:
        return f"{' '.join(unit.split()) or '1'}/{step}"
    return f"{' '.join(unit.split())} per unit of {' '.join(t_name.split())}" if unit else ""
