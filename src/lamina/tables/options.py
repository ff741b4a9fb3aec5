"""The options for reading a table.

Each field carries the metadata of its command-line option. This module imports quickly: it does not need NumPy.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any

from ..errors import RecordError
from ..support.curves import curve_name
from .messages import TableError, flag

#: Options that only a field has; one of them makes a table a field.
OF_FIELDS = ("site_column", "latitude", "longitude", "gia", "gia_unit")
#: More sigmas than any table has.
_MOST_SIGMAS = 10


def _option(text: str, *choices: Any, default: Any = None, metavar: str | None = None, also: str | None = None) -> Any:
    """A field with the help text of its option, its choices, the word for its value, and a second name."""
    metadata = {"help": text, "choices": choices, "metavar": metavar, "also": also}
    return field(default=default, metadata=metadata)


@dataclass(frozen=True)
class Options:
    """Settings that override what lamina finds in a table; None means automatic.

    t, y: names of the input and output columns.
    t_sd, y_sd: names of their error columns, or one number (as text) for all rows.
    t_sigma, y_sigma: how many standard deviations the errors are: 1, 2, or another number such as 1.645.
    t_sides, y_sides: whether upper and lower columns hold "errors" or "limits".
    t_name, y_name, t_unit, y_unit: names and units of input and output, in place of those in the headers. The unit is
        that of the numbers in the column; errors in another unit are converted to it.
    age_type: whether ages are "radiocarbon" ages, to be calibrated, or "calendar" ages; a column age_type says it for
        each row.
    scale: "BP" (years before present, larger is older) or "CE" (calendar years, larger is younger; also "AD").
    depth: the column with the depth of each row; deeper is older.
    dates: another file with the dates of the core, joined by depth. dates_sheet: its sheet.
    order: the column that defines the order, "rows" for the order of the rows, or "none".
    order_direction: whether t is "increasing" or "decreasing" along the order.
    sequence: the column that names the core or site of each row, or "none" for one sequence.
    pool: whether rows of several places may share one curve.
    fill_down: whether an empty cell for the core or site repeats the one above, as in merged cells.
    site: read only the rows of this site or core.
    places: whether the rows are a field: each has a site with a latitude and a longitude, and sites have curves of
        their own. The record then has ``places``.
    site_column, latitude, longitude: names of these columns, for a field.
    gia: another file with the rate of glacial isostasy at each site, or on a grid of latitudes and longitudes.
    gia_unit: the unit of these rates, such as "mm/yr".
    sheet: the sheet of an Excel file.
    t_errors: "split" (unequal upper and lower errors of the input), "uniform" (its limits as a uniform range),
        "student" (Student-t dates as in Bacon) or "normal" (normal dates, also for radiocarbon).
    curve: calibration curve of radiocarbon ages whose row names none; "IntCal20" by default. It also says that the
        ages are radiocarbon ages.
    gaps_by: whether the gap prior describes the time per unit of "depth" (or height), or treats all "rows" alike.
    equal_depth: whether rows of a core at the same depth are one layer with one true input ("tie"), or rows of unknown
        order ("block").
    thickness: the column with the thickness of the slice of core that each row was sampled from, in the unit of the
        depth; one number (as text) for all rows; or "none" to take all rows as horizons.
    hiatus: depths or heights at which there is a hiatus.
    least_gap: the minimum gap between neighbours, in the unit of the input.
    limiting: whether limiting dates whose side is known bound the curve ("use") or are left out ("drop"), or the
        column that names them is not used ("ignore").
    incomplete: whether rows with an empty input or output are kept, as layers without a date or a value.
    missing: numbers that stand for an empty cell, such as -999; "none" if all numbers are measured.
    flags: whether columns such as reject, include, status and quality leave rows out ("use") or not ("ignore").
    skip_bad_rows: whether rows with cells that cannot be used are left out, and listed.
    leave_out: lines of the file whose rows are left out.
    ignore_date: lines of the file whose dates are not used: their rows are layers without a date.

    Raises TableError for a value that an option cannot have.
    """

    t: str | None = _option("Column with the input (age or year).")
    t_sd: str | None = _option("Column with its error, or one number for all rows.")
    y: str | None = _option("Column with the output.")
    y_sd: str | None = _option("Column with its error, or one number for all rows.")
    t_sigma: float | None = _option("How many sigma input errors are, such as 1 or 2.", metavar="NUMBER")
    y_sigma: float | None = _option("How many sigma output errors are, such as 1 or 2.", metavar="NUMBER")
    t_sides: str | None = _option("Whether upper and lower input columns are errors or limits.", "errors", "limits")
    y_sides: str | None = _option("Whether upper and lower output columns are errors or limits.", "errors", "limits")
    age_type: str | None = _option("Whether ages are radiocarbon or calendar ages.", "radiocarbon", "calendar")
    scale: str | None = _option("Time scale: ages BP or years CE (AD is CE).", "BP", "CE", "AD")
    depth: str | None = _option("Column with the depth; deeper is older.")
    dates: str | None = _option("File with the dates of the core, joined by depth.", metavar="FILE")
    dates_sheet: str | None = _option("Sheet of the file with the dates.", metavar="NAME")
    order: str | None = _option('Column that defines the order, "rows" for the order of the lines, or "none".')
    order_direction: str | None = _option("Direction of the inputs along the order.", "increasing", "decreasing")
    sequence: str | None = _option('Column with the core of each row, or "none".')
    pool: bool = _option("Fit rows of several places as one curve.", default=False)
    fill_down: bool = _option("An empty core or site repeats the one above, as in merged cells.", default=False)
    site: str | None = _option("Read only this site or core.")
    places: bool = _option("Read sites and coordinates: the rows are a field.", default=False)
    site_column: str | None = _option("Column with the site of each row, for a field.", metavar="COLUMN")
    latitude: str | None = _option("Column with the latitude, for a field.", metavar="COLUMN")
    longitude: str | None = _option("Column with the longitude, for a field.", metavar="COLUMN")
    gia: str | None = _option("File with the rate of glacial isostasy at each site, for a field.", metavar="FILE")
    gia_unit: str | None = _option("Unit of these rates, such as mm/yr.", metavar="UNIT")
    sheet: str | None = _option("Sheet of an Excel file.")
    t_errors: str | None = _option(
        "Input errors: unequal upper and lower errors, limits as a uniform range, Student-t, or normal.",
        *("split", "uniform", "student", "normal"),
    )
    curve: str | None = _option("Calibration curve for radiocarbon ages, such as IntCal20.")
    gaps_by: str | None = _option("Gap prior per unit of depth (default), or equal for all rows.", "depth", "rows")
    equal_depth: str | None = _option("Rows at the same depth: one layer, or rows of unknown order.", "tie", "block")
    thickness: str | None = _option(
        'Column with the thickness of the samples, one number for all rows, or "none".', metavar="COLUMN"
    )
    hiatus: tuple[float, ...] | None = _option("Depth of a hiatus; can be repeated.", metavar="DEPTH")
    least_gap: float | None = _option(
        "Minimum gap between neighbours, in the unit of the input.", metavar="TIME", also="minimum_gap"
    )
    limiting: str | None = _option(
        "Use limiting dates as limits (default), leave them out, or ignore the column.", "use", "drop", "ignore"
    )
    incomplete: bool = _option(
        "Keep rows without an input or output, as layers without a date or value.", default=False
    )
    missing: tuple[str, ...] | None = _option(
        'Number that stands for an empty cell, or "none"; can be repeated.', metavar="NUMBER"
    )
    flags: str | None = _option("Leave out rows that a column such as reject marks (default).", "use", "ignore")
    skip_bad_rows: bool = _option("Leave out rows with cells that cannot be used, and list them.", default=False)
    leave_out: tuple[int, ...] | None = _option("Line of the file to leave out; can be repeated.", metavar="LINE")
    ignore_date: tuple[int, ...] | None = _option(
        "Line of the file whose date is not used, as if it were empty; can be repeated.", metavar="LINE"
    )
    t_name: str | None = _option("Name of the input, for figures and report.")
    t_unit: str | None = _option("Unit of the input, such as cal BP.")
    y_name: str | None = _option("Name of the output, for figures and report.")
    y_unit: str | None = _option("Unit of the output, such as m.")

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if value is None:
                continue
            if one.metadata["choices"]:
                value = self._chosen(one.name, value, one.metadata["choices"])
            elif one.type == str | None:
                value = self._text(one.name, value)
            elif one.type is bool and not isinstance(value, bool):
                raise _wrong(one.name, value, "True or False")
            object.__setattr__(self, one.name, value)
        if any(getattr(self, name) is not None for name in OF_FIELDS):
            object.__setattr__(self, "places", True)
        if self.least_gap is not None:
            object.__setattr__(self, "least_gap", _number("least_gap", self.least_gap))
            if self.least_gap <= 0.0:
                raise _wrong("least_gap", self.least_gap, "a time above 0")
        for name in "t_sigma", "y_sigma":
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _sigma(name, getattr(self, name)))
        if self.hiatus is not None:
            depths = tuple(_number("hiatus", one) for one in _several(self.hiatus))
            object.__setattr__(self, "hiatus", depths or None)
        for name in "leave_out", "ignore_date":
            if getattr(self, name) is not None:
                lines = tuple(_line(name, one) for one in _several(getattr(self, name)))
                object.__setattr__(self, name, lines or None)
        if self.missing is not None:
            codes = tuple(_code(one) for one in _several(self.missing))
            object.__setattr__(self, "missing", codes or None)

    @classmethod
    def of(cls, **values: Any) -> "Options":
        """Options by name. Raises TableError for an unknown name."""
        second = {one.metadata["also"]: one.name for one in fields(cls) if one.metadata["also"]}
        known = [one.name for one in fields(cls)]
        unknown = [name for name in values if name not in known and name not in second]
        if unknown:
            raise TableError(f"option {unknown[0]}: unknown option; choose from {', '.join(known)}.")
        return cls(**{second.get(name, name): value for name, value in values.items()})

    @staticmethod
    def _text(name: str, value: Any) -> str:
        if name in ("t_sd", "y_sd", "thickness") and isinstance(value, int | float) and not isinstance(value, bool):
            return repr(value)
        if not isinstance(value, str) or not value.strip():
            raise _wrong(name, value, "text, such as the name of a column")
        if name != "curve":
            return value
        try:
            return curve_name(value)
        except RecordError as error:
            raise TableError(f"option curve (--curve): {error}") from None

    @staticmethod
    def _chosen(name: str, value: Any, choices: tuple[Any, ...]) -> Any:
        if name == "scale" and isinstance(value, str):
            value = value.strip().upper()
            value = "CE" if value == "AD" else value
        if isinstance(value, bool) or value not in choices:
            raise _wrong(name, value, " or ".join(map(str, choices)))
        return value


def _number(name: str, value: Any) -> float:
    """A number, which the command line gives as text."""
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise _wrong(name, value, "a number")
    return number


def _several(value: Any) -> Iterable[Any]:
    """The values of an option that can be repeated."""
    return value if isinstance(value, Iterable) and not isinstance(value, str) else [value]


def _sigma(name: str, value: Any) -> float:
    """A number of sigmas, an int if it is whole."""
    number = _number(name, value)
    if not 0.0 < number <= _MOST_SIGMAS:
        raise _wrong(name, value, f"a number above 0 and up to {_MOST_SIGMAS}, such as 1 or 2")
    return int(number) if number.is_integer() else number


def _line(name: str, value: Any) -> int:
    """The number of a line, counted from 1."""
    number = _number(name, value)
    if number < 1 or not number.is_integer():
        raise _wrong(name, value, "the number of a line, counted from 1")
    return int(number)


def _code(value: Any) -> str:
    """A number for a missing value, as text; "none" for none."""
    text = str(value).strip()
    return "none" if text.lower() == "none" else f"{_number('missing', text):.15g}"


def _wrong(name: str, value: Any, wanted: str) -> TableError:
    return TableError(f"option {name} ({flag(name)}): found {value!r}; give {wanted}.")
