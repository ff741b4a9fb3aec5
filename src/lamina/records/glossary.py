"""Parameters and units of a record in words, for tables, summaries and reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..kernels import Constant, EachSite, Kernel, Linear, SpaceTime, TrendTerm, WhiteNoise
from .axes import describe

if TYPE_CHECKING:
    from ..record import Record

PARAMETERS = {
    "length": "length scale",
    "sd": "standard deviation of the curve",
    "alpha": "regularity of the spacing",
    "memory": "{along} over which the memory of the accumulation rate decays by a factor e",
    "shape": "shape of the rational-quadratic kernel",
    "period": "period",
    "t_scale": "factor on the reported errors of the dates",
    "y_scale": "factor on the reported errors of the outputs",
}


def parameter(record: Record, name: str, kernel: Kernel | None = None) -> tuple[str, str]:
    """What a parameter is, in words, and its unit. kernel: that of the fit, whose terms have names in a field."""
    terms = [] if kernel is None else [term for term in kernel.terms if not isinstance(term, TrendTerm)]
    kind, _, number = name.rpartition("_")
    if number.isdigit() and any(isinstance(term, SpaceTime) for term in terms):
        return _of_field(record, kind, terms[int(number) - 1])
    plain, _, place = name.partition("_") if name not in PARAMETERS else (name, "", "")
    if name == "memory":
        along = "number of rows" if record.depth is None else "depth"
        return PARAMETERS["memory"].format(along=along), "" if record.depth is None else record.depth_unit
    duration = describe(record).duration
    units = {"length": duration, "period": duration, "sd": record.y_unit}
    text = PARAMETERS.get(plain, plain) + (f", kernel {place}" if place else "")
    return text, units.get(plain, "")


def _of_field(record: Record, kind: str, term: Kernel) -> tuple[str, str]:
    """A parameter of one term of a field: "length", "sd" or "length_km", in words, and its unit."""
    time, duration = getattr(term, "time", term), describe(record).duration
    if isinstance(time, Linear):
        of, unit = "rates of the sites", f"{record.y_unit or '1'}/{duration.removesuffix('s') or 'unit of time'}"
    elif isinstance(time, Constant):
        of, unit = "offsets of the sites", record.y_unit
    elif isinstance(time, WhiteNoise):
        of, unit = "scatter of rows beyond their errors", record.y_unit
    else:
        local = isinstance(term, SpaceTime) and isinstance(term.space, EachSite)
        of, unit = "local curves" if local else "regional curves", record.y_unit
        of = of if isinstance(term, SpaceTime) else "common curve"
    words = {"length": "length scale in time", "sd": "standard deviation", "length_km": "length scale in space"}
    return f"{words.get(kind, kind)} of the {of}", {"length": duration, "sd": unit, "length_km": "km"}.get(kind, "")


def rate_unit(record: Record) -> str:
    """The unit of rate.csv and intervals.csv, with the direction of time that rates follow."""
    axes = describe(record)
    step = axes.duration.removesuffix("s") or f"unit of {record.t_name}"
    direction = f"as {record.t_name} grows" if axes.runs is None else "forward in time"
    return f"{record.y_unit or '1'}/{step}, {direction}"


def with_unit(text: str, unit: str) -> str:
    """ "time, in cal a BP"; the text alone where there is no unit."""
    unit = " ".join(unit.split())
    return f"{' '.join(text.split())}, in {unit}" if unit else " ".join(text.split())
