"""What stands on the axes of figures and tables: names and units of the record, and which way time runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..support.calendars import runs, without_calendar, words

if TYPE_CHECKING:
    from ..record import Record

_YEAR = {"a", "y", "yr", "yrs", "year", "years"}


@dataclass(frozen=True)
class Axes:
    """Texts for the axes of one record, as plain text. Made by ``describe``."""

    time: str  #: "Year (CE)"
    value: str  #: "Relative sea level (m)"
    rate: str  #: "Rate (mm/year)"
    rate_unit: str  #: "mm/year"
    duration: str  #: unit of a difference in time: "years"
    depth: str  #: "Depth (cm)"
    pace: str  #: "Time per cm (years)"
    runs: str | None  #: "backwards" for ages before present, "forwards" for years; None if the record does not say
    rate_factor: float  #: what ``Posterior.rate`` is multiplied by to be in ``rate_unit``, forward in time

    @property
    def backwards(self) -> bool:
        """Ages before present: the axis of time is turned, so that it runs from old to young."""
        return self.runs == "backwards"

    @property
    def time_sign(self) -> float:
        """+1 where larger numbers are later, or nobody knows, -1 where they are earlier."""
        return -1.0 if self.backwards else 1.0


def describe(record: Record) -> Axes:
    """Names and units for the axes of a record.

    Metres a year are shown as millimetres a year, as is the custom. With ages before present ("BP", "b2k" or "ago" in
    ``t_unit``, in any spelling) the time axis runs from old to young, and rates are told forward in time: the sign is
    turned, and the label says so.
    """
    called_year = record.t_name.strip().lower() in _YEAR
    way = runs(record.t_unit) or ("forwards" if called_year else None)
    backwards = way == "backwards"
    step = _step(record.t_unit, called_year)
    unit, factor = _per(record.y_unit, step, record.t_name), 1.0
    if record.y_unit == "m" and step == "year":
        unit, factor = "mm/year", 1000.0
    duration = "years" if step == "year" else step
    return Axes(
        time=_label(record.t_name, record.t_unit),
        value=_label(record.y_name, record.y_unit),
        rate=_label("Rate forward in time" if backwards else "Rate", unit),
        rate_unit=unit,
        duration=duration,
        depth=_label("Depth", record.depth_unit),
        pace=_label(f"Time per {record.depth_unit or 'unit of depth'}", duration),
        runs=way,
        rate_factor=-factor if backwards else factor,
    )


def _label(name: str, unit: str) -> str:
    name, unit = " ".join(name.split()), " ".join(unit.split())
    return f"{name} ({unit})" if unit else name


def _step(unit: str, called_year: bool) -> str:
    """The unit in which differences of time are told: "year" for all calendars in years, empty if not known."""
    rest = without_calendar(unit)
    if rest:
        return "year" if " ".join(rest).lower() in _YEAR else " ".join(rest)
    if [word.lower() for word in words(unit)] in ([], ["ago"]):
        return "year" if called_year else ""
    return "year"


def _per(unit: str, step: str, t_name: str) -> str:
    if step:
        return f"{' '.join(unit.split()) or '1'}/{step}"
    return f"{' '.join(unit.split())} per unit of {' '.join(t_name.split())}" if unit else ""
