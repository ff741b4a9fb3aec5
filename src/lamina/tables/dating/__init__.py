"""The input of each row: its scale (BP or CE), its number and error, a date of another kind, or radiocarbon."""

import re
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...dates import Date, SplitNormal, StudentT, Uniform
from ...support.calendars import runs, spelled, without_calendar, words
from ..columns import MADE, Reading
from ..headers import Header
from ..messages import listing, option
from ..numbers import Array, Mask, blanks, values
from ..sigma import Errors, standard_deviations
from .calibration import calibrated

_RUNS = {"BP": "larger is older", "CE": "larger is younger"}
_WAYS = {"BP": "backwards", "CE": "forwards"}
#: Words for a side that distinguish older from younger, not larger from smaller.
_OLDER = re.compile("old|young|bottom|top", re.IGNORECASE)
_THOUSANDS = re.compile(r"\b(?:ka|kyrs?)\b", re.IGNORECASE)
_LATEST_CE = 2100.0
_LEAST_BP = -150.0


class Inputs(NamedTuple):
    """t and t_sd, shape (rows,), NaN and inf where there is no date; and the dates that are not Gaussian, by row."""

    t: Array
    t_sd: Array
    dates: list[Date | None]


# --- scale -----------------------------------------------------------------------------------------------------------


def with_scale(reading: Reading) -> Reading:
    """The reading with the scale of its input known, which may turn the sides of its errors.

    Raises TableError if headers mix BP and CE, or count years BC.
    """
    scale = _find_scale(reading)
    columns = replace(reading.columns, t_errors=[_sided(header, scale) for header in reading.columns.t_errors])
    return replace(reading, columns=columns, scale=scale)


def _find_scale(reading: Reading) -> str | None:
    """ "BP", "CE" or None."""
    t, errors, set_scale = reading.columns.t, reading.columns.t_errors, reading.options.scale
    others = {h.scale for h in errors if h.scale is not None}
    if t.scale is not None and others - {t.scale}:
        mixed = listing([t, *(h for h in errors if h.scale not in (None, t.scale))])
        raise reading.header_problem(f"BP and CE are mixed: {mixed}", "give the input and its error in one scale")
    if t.scale == "BC" and set_scale is None:
        do = f"write years before CE as negative numbers and name the column year, or say {option('scale', 'BP or CE')}"
        raise reading.header_problem("years BC or BCE count back from the year 1", do, t)
    scale, why = _decide(reading, others)
    if set_scale and t.scale and set_scale != t.scale:
        reading.warn(f"the header {t} says {t.scale}, but --scale says {set_scale}; {set_scale} is used.")
    if scale is None:
        why = f"nothing says BP or CE; give it with {option('scale', 'BP or CE')}"
        reading.fact("scale", "no scale known", why)
    else:
        name = "b2k" if "b2k" in words(unit_of(t, scale)) else scale
        reading.fact("scale", f"{name}: {_RUNS[scale]}", why)
    return scale


def _decide(reading: Reading, others: set[str]) -> tuple[str | None, str]:
    t, options = reading.columns.t, reading.options
    if options.scale is not None:
        return options.scale, reading.set_by("scale")
    if t.scale is not None and runs(options.t_unit or "") is not None:
        return t.scale, reading.set_by("t_unit")
    if t.index == MADE and t.scale is not None:
        return t.scale, "what radiocarbon ages are calibrated to" if t.unit == "cal BP" else "the limits say so"
    if t.scale is not None and reading.program:
        return t.scale, f"as always in {reading.program}'s tables"
    if t.scale is not None and t.text.strip().lower() in ("age", "ages"):  # known, but not from its name
        in_unit = runs(t.unit) is not None
        return t.scale, f"its unit, {t.unit}, says so" if in_unit else "as radiocarbon ages beside it"
    if t.scale is not None:
        return t.scale, f"the header {t} says so"
    if others:
        return next(iter(others)), "the header of its error says so"
    if re.search(r"\b(?:ka|kyrs?|ma)\b", t.unit, flags=re.IGNORECASE):
        return "BP", f"ages in {t.unit} count back from the present"
    if t.word in ("year", "years", "yr", "date"):
        return "CE", f"the column is called {t}"
    return None, ""


def unit_of(t: Header, scale: str | None) -> str:
    """The user's own unit, which names the scale: figures and rates read from it which way time runs."""
    if scale is None:
        return t.unit
    if runs(t.unit) == _WAYS[scale]:
        return spelled(t.unit)
    return " ".join([*without_calendar(t.unit), scale])


def _sided(error: Header, scale: str | None) -> Header:
    """An error of the input, up being towards larger numbers: in years CE that is the younger side."""
    if scale == "CE" and error.side is not None and _OLDER.search(error.text):
        return replace(error, side="low" if error.side == "up" else "up")
    return error


# --- dates -----------------------------------------------------------------------------------------------------------


def read_inputs(reading: Reading) -> Inputs:
    """The inputs of all rows. Cells that cannot be used become faults."""
    columns, options = reading.columns, reading.options
    empty = _without_input(reading)
    raw = blanks(reading, columns.radiocarbon[0]) if columns.radiocarbon else np.ones_like(empty)
    by_radiocarbon = empty & ~raw
    ignored = np.isin(reading.lines, options.ignore_date or ())
    absent = by_radiocarbon | (empty & (ignored | options.incomplete))
    t = _calendar_ages(reading, absent)
    if absent.all() or (columns.t.index == MADE and not columns.t_errors):
        errors = Errors(np.full(t.size, np.nan))
    else:
        errors = standard_deviations(reading, "t", t, absent=empty)
    t_sd = np.where(absent, np.inf, errors.sd)
    dates = _kinds(reading, t, errors, absent)
    if by_radiocarbon.any():
        for i, date in calibrated(reading, by_radiocarbon).items():
            dates[i] = date
    elif options.curve is not None:
        found = f"{option('curve', options.curve)} calibrates radiocarbon ages, but all rows have calendar ages"
        do = f"leave it out, or name the column to calibrate with {option('t', 'COLUMN')}"
        raise reading.header_problem(found, do)
    for i, kind in enumerate(dates):
        if kind is not None:
            t[i], t_sd[i] = kind.mean, kind.sd
    return Inputs(t, t_sd, dates)


def needs_radiocarbon(reading: Reading) -> bool:
    """Whether some row has a radiocarbon age and no calendar age."""
    columns = reading.columns
    if columns.t.index == MADE or not columns.radiocarbon:
        return bool(columns.radiocarbon)
    return bool((blanks(reading, columns.t) & ~blanks(reading, columns.radiocarbon[0])).any())


def _without_input(reading: Reading) -> Mask:
    """Rows whose calendar age is empty."""
    columns = reading.columns
    headers = columns.t_errors if columns.t.index == MADE else [columns.t]
    everywhere = np.ones(len(reading.cells), dtype=bool)
    return np.logical_and.reduce([everywhere, *(blanks(reading, header) for header in headers)])


def _calendar_ages(reading: Reading, absent: Mask) -> Array:
    """Calendar ages; NaN where there are none. Not all that are empty may be absent."""
    columns = reading.columns
    if columns.t.index != MADE:
        t = values(reading, columns.t, "input", blank=absent)
    elif columns.t_errors:
        t = np.mean([values(reading, h, "input", blank=absent) for h in columns.t_errors], axis=0)
    else:
        t = np.full(absent.size, np.nan)
        do = "fill it in, or say --incomplete (incomplete=True in Python) to keep the row as a layer without a date"
        for i in np.flatnonzero(~absent):
            reading.fault("the radiocarbon age is empty", do, i, columns.radiocarbon[0])
    _note_impossible(reading, t)
    return t


def _note_impossible(reading: Reading, t: Array) -> None:
    """A year CE or BP that lies in the future is a fault: the other scale was meant, in all rows or some."""
    header, scale = reading.columns.t, reading.scale
    years = t * (1000.0 if _THOUSANDS.search(header.unit) else 1.0)
    wrong = {"CE": years > _LATEST_CE, "BP": years < _LEAST_BP}.get(scale or "", np.zeros(0, dtype=bool))
    if not wrong.any():
        return
    other = "BP" if scale == "CE" else "CE"
    do, rows = f"say {option('scale', other)}", np.flatnonzero(wrong)
    first = f"{t[rows[0]]:g} {scale}"
    if wrong.all():
        reading.ask(f"{first} lies in the future", do, rows[0], header, scale=other)
        return
    found = f"{first} lies in the future" if rows.size == 1 else f"{rows.size} dates lie in the future, such as {first}"
    check = "their signs" if scale == "BP" else "the numbers"
    reading.fault(found, f"check {check}, and whether BP and CE are mixed in the column, or {do}", rows, header)


def _kinds(reading: Reading, t: Array, errors: Errors, absent: Mask) -> list[Date | None]:
    """Dates of the kind that the user has chosen, None for Gaussian and exact ones."""
    kind = reading.options.t_errors
    dates: list[Date | None] = [None] * t.size
    sd, low, up = errors
    for i in np.flatnonzero(~absent & np.isfinite(t) & (sd > 0.0)):
        if kind == "student":
            dates[i] = StudentT(t[i], sd[i])
        elif kind == "uniform" and low is not None and up is not None and low[i] >= 0.0 and up[i] >= 0.0:
            dates[i] = Uniform(t[i] - low[i], t[i] + up[i])
        elif kind == "split" and low is not None and up is not None and low[i] != up[i]:
            if low[i] > 0.0 and up[i] > 0.0:
                dates[i] = SplitNormal(t[i], low[i], up[i])
            elif low[i] == 0.0 or up[i] == 0.0:
                do = "give both sides an error above 0, or both 0 for an exact input"
                reading.fault("the error of the input is 0 on one side only", do, i, reading.columns.t_errors[0])
    if kind == "student" and any(dates):
        reading.fact("dates", "Student-t with a = 3 and b = 4, as in Bacon", reading.set_by("t_errors"))
    return dates
