"""What a user may say about a table to override what is found in it."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

from ..dates.curves import curve_name
from ..errors import RecordError
from .problems import TableError

_CHOICES: dict[str, tuple[Any, ...]] = {
    "t_sigma": (1, 2),
    "y_sigma": (1, 2),
    "scale": ("BP", "CE"),
    "order_direction": ("increasing", "decreasing"),
    "gaps_by": ("depth", "rows"),
    "equal_depth": ("tie", "block"),
    "limiting": ("use", "drop"),
    "t_errors": ("split", "uniform", "student", "normal"),
}
_TEXTS = ("t", "t_sd", "y", "y_sd", "order", "sequence", "sheet", "site", "curve")


@dataclass(frozen=True)
class Options:
    """Explicit overrides; None leaves the choice to the reader.

    t, y: names of the input and output columns.
    t_sd, y_sd: names of their error columns, or one number (as text) for all rows.
    t_sigma, y_sigma: whether the errors are 1 or 2 standard deviations.
    scale: "BP" (years before present, larger is older) or "CE" (calendar years, larger is younger).
    order: the column that defines the order, "rows" for the order of the rows, or "none".
    order_direction: whether t is "increasing" or "decreasing" along the order.
    sequence: the column that names the core or site of each row, or "none" for one sequence.
    site: read only the rows of this site or core.
    sheet: the sheet of an Excel file.
    t_errors: "split" (upper and lower errors of the input as they are), "uniform" (its limits as a range without
        preference), "student" (Student-t dates as in Bacon) or "normal" (no Student-t for radiocarbon either).
    curve: calibration curve of radiocarbon ages whose row names none, "IntCal20" without one.
    gaps_by: whether the prior of the gaps is one of the time per unit of "depth" or height, or treats all "rows" alike.
    equal_depth: rows of a core at one depth are one layer with one true input ("tie"), or rows whose order is not
        known ("block").
    hiatus: depths or heights at which there is a hiatus.
    least_gap: how far apart neighbours are at least, in the unit of the input.
    limiting: whether limiting dates whose side is told bound the curve ("use") or are left out ("drop").
    incomplete: whether rows with an empty input or output are kept, as layers without a date or a value.

    Raises TableError for a value that an option cannot have.
    """

    t: str | None = None
    t_sd: str | None = None
    y: str | None = None
    y_sd: str | None = None
    t_sigma: int | None = None
    y_sigma: int | None = None
    scale: str | None = None
    order: str | None = None
    order_direction: str | None = None
    sequence: str | None = None
    site: str | None = None
    sheet: str | None = None
    t_errors: str | None = None
    curve: str | None = None
    gaps_by: str | None = None
    equal_depth: str | None = None
    hiatus: tuple[float, ...] | None = None
    least_gap: float | None = None
    limiting: str | None = None
    incomplete: bool = False

    def __post_init__(self) -> None:
        for name in _TEXTS:
            value = getattr(self, name)
            if isinstance(value, int | float) and not isinstance(value, bool) and name in ("t_sd", "y_sd"):
                object.__setattr__(self, name, repr(value))
            elif value is not None and (not isinstance(value, str) or not value.strip()):
                raise _wrong(name, value, "text, such as the name of a column")
        if isinstance(self.scale, str):
            object.__setattr__(self, "scale", self.scale.strip().upper())
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or value not in choices):
                raise _wrong(name, value, " or ".join(map(str, choices)))
        if self.curve is not None:
            try:
                object.__setattr__(self, "curve", curve_name(self.curve))
            except RecordError as error:
                raise TableError(f"option curve (--curve): {error}") from None
        if not isinstance(self.incomplete, bool):
            raise _wrong("incomplete", self.incomplete, "True or False")
        if self.least_gap is not None:
            object.__setattr__(self, "least_gap", _number("least_gap", self.least_gap))
            if self.least_gap <= 0.0:
                raise _wrong("least_gap", self.least_gap, "a time above 0")
        if self.hiatus is not None:
            many = isinstance(self.hiatus, Iterable) and not isinstance(self.hiatus, str)
            depths = tuple(_number("hiatus", one) for one in (self.hiatus if many else [self.hiatus]))
            object.__setattr__(self, "hiatus", depths or None)

    @classmethod
    def of(cls, **values: Any) -> "Options":
        """Options by name. Raises TableError for a name that is none."""
        known = [field.name for field in fields(cls)]
        unknown = [name for name in values if name not in known]
        if unknown:
            raise TableError(f"option {unknown[0]}: there is none of this name; choose from {', '.join(known)}.")
        return cls(**values)


def _number(name: str, value: Any) -> float:
    """A number, which the command line gives as text."""
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise _wrong(name, value, "a number")
    return number


def _wrong(name: str, value: Any, wanted: str) -> TableError:
    return TableError(f"option {name} (--{name.replace('_', '-')}): found {value!r}; give {wanted}.")
