"""Names and units on the axes of figures and tables, and the direction of time in them.

This is the only place that knows in which direction the times of a record run. Rates are shown forward in time: on a
scale of ages before present a rise towards the present is positive.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from ..engine.quantiles import QUANTILES
from ..support.calendars import runs, without_calendar, words

if TYPE_CHECKING:
    import pandas as pd

    from ..record import Record

_YEAR = {"a", "y", "yr", "yrs", "year", "years"}
_LENGTHS = {"mm", "cm", "dm", "m", "ft"}


@dataclass(frozen=True)
class Axes:
    """Texts for the axes of one record, as plain text. Made by ``describe``."""

    time: str  #: "Year (CE)"
    value: str  #: "Relative sea level (m)"
    rate: str  #: "Rate (mm/year)"
    rate_unit: str  #: "mm/year"
    duration: str  #: unit of a difference in time: "years"
    depth: str  #: "Depth (cm)", or "Height (cm)"
    along: str  #: "depth", or "height" where larger numbers are younger
    pace: str  #: "Time per cm (years)"
    runs: str | None  #: "backwards" for ages before present, "forwards" for years; None if the record does not say
    unit_factor: float  #: 1000 where metres a year are shown as millimetres a year, else 1

    @property
    def backwards(self) -> bool:
        """Whether larger numbers are older (ages before present). The axis of time then runs from large to small."""
        return self.runs == "backwards"

    @property
    def time_sign(self) -> float:
        """The factor that turns a rate per unit of t into one forward in time, and back: -1 for ages, else +1."""
        return -1.0 if self.backwards else 1.0

    @property
    def rate_factor(self) -> float:
        """The factor that turns a rate per unit of t into one forward in time, in ``rate_unit``."""
        return self.time_sign * self.unit_factor

    def forward(self, rates: pd.DataFrame) -> pd.DataFrame:
        """A table of rates, such as ``Posterior.rate`` returns, forward in time."""
        return _scaled(rates, self.time_sign)

    def in_rate_unit(self, rates: pd.DataFrame) -> pd.DataFrame:
        """A table of rates, such as ``Posterior.rate`` returns, forward in time and in ``rate_unit``."""
        return _scaled(rates, self.rate_factor)

    def oldest_first(self, times: Any) -> Any:
        """Increasing times in the order in which they passed."""
        return times[::-1] if self.backwards else times


def describe(record: Record) -> Axes:
    """Names and units for the axes of a record.

    Metres a year are shown as millimetres a year, and a rate does not name the datum of a height ("m NAVD88"). With
    ages before present ("BP", "b2k" or "ago" in ``t_unit``, in any spelling) the time axis runs from old to
    young, and rates are forward in time: their sign changes, and the label says so.
    """
    called_year = record.t_name.strip().lower() in _YEAR
    way = runs(record.t_unit) or ("forwards" if called_year else None)
    backwards = way == "backwards"
    step = _step(record.t_unit, called_year)
    unit, factor = _rate(record.y_unit, step, record.t_name)
    duration = "years" if step == "year" else step
    along = "height" if _is_height(record, way) else "depth"
    return Axes(
        time=_label(record.t_name, record.t_unit),
        value=_label(record.y_name, record.y_unit),
        rate=_label("Rate forward in time" if backwards else "Rate", unit),
        rate_unit=unit,
        duration=duration,
        depth=_label(along.capitalize(), record.depth_unit),
        along=along,
        pace=_label(f"Time per {record.depth_unit or f'unit of {along}'}", duration),
        runs=way,
        unit_factor=factor,
    )


def shown_rate_unit(unit: str) -> tuple[str, float]:
    """How a rate is shown, and the factor that turns it into that: ("mm/year", 1000) for "m/year, forward in time"."""
    value, slash, step = unit.partition(",")[0].rpartition("/")
    return _rate(value, step, "") if slash else (unit.partition(",")[0], 1.0)


def _rate(y_unit: str, step: str, t_name: str) -> tuple[str, float]:
    """The unit of a rate, without the datum of a height, and the factor that turns it into that."""
    height = y_unit.split()[:1]
    if height == ["m"] and step == "year":
        return "mm/year", 1000.0
    return _per(height[0] if set(height) <= _LENGTHS and height else y_unit, step, t_name), 1.0


def _is_height(record: Record, way: str | None) -> bool:
    """Whether the depths of a record are heights: they grow from old to young. False if that is not known."""
    if record.depth is None or way is None:
        return False
    down = record.sign if way == "backwards" else -record.sign  # +1 if rows get older down a sequence
    ends = [record.depth[rows[-1]] - record.depth[rows[0]] for _, rows in record.sequences]
    return any(end * down < 0.0 for end in ends)


def latest_time(record: Record) -> float | None:
    """The present year on the scale of a record in years BP or CE; later times are in the future. None if unknown."""
    if describe(record).duration != "years" or "ago" in record.t_unit.lower() or "b2k" in record.t_unit.lower():
        return None
    now = float(date.today().year)
    return {"backwards": 1950.0 - now, "forwards": now}.get(describe(record).runs or "")


def _scaled(rates: pd.DataFrame, factor: float) -> pd.DataFrame:
    """Mean, sd and quantiles times a factor. Where that is negative, the quantiles swap places."""
    found, names = rates.copy(), [name for name in QUANTILES if name in rates]
    found["mean"], found["sd"] = factor * rates["mean"], abs(factor) * rates["sd"]
    found[names] = factor * rates[names if factor > 0.0 else names[::-1]].to_numpy()
    return found


def _label(name: str, unit: str) -> str:
    name, unit = " ".join(name.split()), " ".join(unit.split())
    return f"{name} ({unit})" if unit else name


def _step(unit: str, called_year: bool) -> str:
    """The unit of a difference in time: "year" for all calendars in years, empty if not known."""
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
