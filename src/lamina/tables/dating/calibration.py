"""Radiocarbon ages of a table: their errors, curves and reservoir offsets, and the dates that these make."""

import re
from functools import cache
from typing import Any

import numpy as np

from ...dates import Date, Radiocarbon
from ...errors import RecordError
from ...support.calendars import words
from ...support.curves import ZONES, curve_name
from ..checks.limits import are_limits, refuse_odd_errors, warn_of_uneven
from ..checks.radiocarbon import materials, other_curve
from ..columns import MADE, Reading
from ..headers import Header
from ..matching.curves import CURVES_TO_WRITE, is_curve, no_curves
from ..messages import flag, option
from ..numbers import Array, Mask, blanks, values

_THOUSANDS_OR_MILLIONS = re.compile(r"\b(?:ka|kyrs?|ma|myrs?)\b", re.IGNORECASE)
_CURVE = "IntCal20"


def calibrated(reading: Reading, here: Mask) -> dict[int, Date]:
    """The dates of the rows `here`, from their radiocarbon ages. Cells that cannot be used become faults."""
    columns, scale = reading.columns, reading.scale
    age = reading.only(columns.radiocarbon, "radiocarbon ages")
    _check_time(reading, age)
    ages = values(reading, age, "radiocarbon age", blank=~here)
    sd, sd_header = _laboratory_errors(reading, age, ages)
    curves = _curves(reading, np.flatnonzero(here).tolist())
    offset, offset_sd = (_offsets(reading, headers) for headers in (columns.delta_r, columns.delta_r_errors))
    if columns.delta_r:
        reading.fact("reservoir offset", f"the column {columns.delta_r[0]}", "subtracted from the ages")
    if columns.delta_r_errors:
        why = "1 sigma, added to the laboratory errors in squares"
        reading.fact("reservoir error", f"the column {columns.delta_r_errors[0]}", why)
    marine = _warn_of_materials(reading, curves, offset)
    normal = reading.options.t_errors == "normal"
    shapes = [_shapes(reading, kind, usual) for kind, usual in (("student a", 3.0), ("student b", 4.0))]
    dates: dict[int, Date] = {}
    make = cache(Radiocarbon)  # rows with the same age share their date, which is calibrated once
    for i, curve in curves.items():
        if not np.isfinite(ages[i] + sd[i] + offset[i] + offset_sd[i] + sum(s[i] for s in shapes)) or curve is None:
            continue  # a fault already
        if sd[i] <= 0.0:
            reading.fault("the error of the radiocarbon age is not above 0", "correct it", i, sd_header)
            continue
        try:
            dates[i] = make(
                ages[i], sd[i], curve, offset[i], offset_sd[i], scale or "BP", not normal, *(s[i] for s in shapes)
            )
        except RecordError as error:
            found, _, do = str(error).rstrip(".").partition(". ")
            # A zone would be set for all rows.
            zone = {} if marine or ages[i] >= offset[i] else _likely_zone(curve, found)
            reading.fault(found, do[:1].lower() + do[1:], i, age, **zone)
    _refuse_twice(reading, {i for i, curve in curves.items() if (curve or "").startswith("Marine")}, offset)
    why = "normal errors" if normal else "Student-t errors, as in Bacon"
    why += f"; of {reading.name_lines(list(curves))}"
    if columns.t.index != MADE and columns.t.text != age.text:  # Bacon has both in one column
        why += f", where {columns.t} is empty"
    reading.fact("radiocarbon", f"{len(curves)} ages of the column {age} are calibrated", why)
    return dates


def _shapes(reading: Reading, kind: str, usual: float) -> Array:
    """A parameter of the Student-t errors in each row, from the column of its role; the usual one where it is empty."""
    shapes = np.full(len(reading.cells), usual)
    for header in (h for h in reading.headers if h.role == kind):
        found = values(reading, header, "shape of the errors", blank=True)
        shapes = np.where(blanks(reading, header), usual, found)
        reading.fact("shape of errors", f"the column {header}", "of Bacon's Student-t errors, of radiocarbon ages only")
    return shapes


def _likely_zone(curve: str, found: str) -> dict[str, Any]:
    """The zone of post-bomb carbon that the curve of an age that is too young for it suggests."""
    zones = [zone for zone, base in ZONES.items() if base[:2] == curve[:2]]
    return {"curve": zones[0]} if zones and curve not in ZONES and "younger than" in found else {}


def _refuse_twice(reading: Reading, marine: set[int], offset: Array) -> None:
    """A whole reservoir age beside a marine curve, which has one already, would be subtracted twice."""
    for header in reading.columns.delta_r[:1]:
        for i in sorted(marine & set(np.flatnonzero(offset).tolist())) if header.rank > 0 else ():
            found = "a reservoir age beside a marine curve, which has one already, would be subtracted twice"
            reading.fault(found, "call the column delta_r if it is the offset from this curve", i, header)


def _check_time(reading: Reading, age: Header) -> None:
    """Calendar ages beside which dates are calibrated must be in years BP or CE."""
    t = reading.columns.t
    if _THOUSANDS_OR_MILLIONS.search(age.unit):
        found = f"radiocarbon ages are calibrated in years, but these are in {age.unit}"
        raise reading.header_problem(found, "give radiocarbon ages and their errors in years", age)
    if reading.scale is None:
        found = f"{age} is to be calibrated, but nothing says whether {t} is BP or CE"
        raise reading.header_problem(found, f"say {option('scale', 'BP or CE')}").suggesting(scale="BP")
    if _THOUSANDS_OR_MILLIONS.search(t.unit) or "b2k" in words(t.unit):
        found = f"{age} is calibrated in years BP or CE, but {t} is in {t.unit}"
        raise reading.header_problem(found, "give calendar ages in years BP or CE")


def _laboratory_errors(reading: Reading, age: Header, ages: Array) -> tuple[Array, Header | None]:
    """Standard deviations of the radiocarbon ages, (rows,), and their column."""
    columns, options = reading.columns, reading.options
    alone = columns.t.index == MADE and not columns.t_errors
    if not columns.radiocarbon_errors:
        if alone and options.t_sd is not None:
            one = float(options.t_sd) / (options.t_sigma or 1)
            reading.fact("radiocarbon error", f"{one:g} in all rows, 1 sigma", reading.set_by("t_sd"))
            return np.full(ages.size, one), None
        do = "add a column 14C error" + (f", or say {option('t_sd', 'COLUMN or NUMBER')}" if alone else "")
        raise reading.header_problem("no column holds the errors of the radiocarbon ages", do, age)
    sd, header, limits = _one_error(reading, ages)
    shared = alone or header.text in {one.text for one in columns.t_errors}
    chosen = options.t_sigma if shared else None
    if limits and not (chosen or header.sigma):
        found = "these limits of radiocarbon ages may be 1 or 2 standard deviations from them"
        do = "say --t-sigma 1 or --t-sigma 2 (t_sigma= in Python)"
        reading.ask(found, do, None, header, t_sigma=1)
    sigma = chosen or header.sigma or 1
    why = reading.set_by("t_sigma") if chosen else f"the header {header} says so" if header.sigma else "as is usual"
    reading.fact("radiocarbon error", f"the column {header}, {sigma:g} sigma", why)
    return refuse_odd_errors(reading, header, sd / sigma, ages), header


def _one_error(reading: Reading, ages: Array) -> tuple[Array, Header, bool]:
    """The errors of the radiocarbon ages, their column, and whether they are the half range of limits."""
    headers = reading.columns.radiocarbon_errors
    upper, lower = ([h for h in headers if h.side == side] for side in ("up", "low"))
    if not (upper and lower):
        header = reading.only(headers, "errors of radiocarbon ages")
        return values(reading, header, "error", blank=np.isnan(ages)), header, False
    up, low = (values(reading, one[0], "error", blank=np.isnan(ages)) for one in (upper, lower))
    if are_limits(reading, "t", (upper[0], lower[0]), up, low, ages):
        return np.abs(up - low) / 2.0, upper[0], True
    pair = upper[0], lower[0]
    warn_of_uneven(reading, pair, np.abs(up), np.abs(low), "errors of the radiocarbon ages", "", limits=False)
    return (np.abs(up) + np.abs(low)) / 2.0, upper[0], False


def _curves(reading: Reading, rows: list[int]) -> dict[int, str | None]:
    """The calibration curve of each row; None for an unknown name, which is a fault."""
    headers, chosen = reading.columns.curve, reading.options.curve
    header = reading.only(headers, "calibration curves") if headers else None
    found: dict[int, str | None] = {}
    named: list[int] = []
    for i in rows:
        cell = "" if header is None else reading.cells[i][header.index].strip()
        named += [i] if cell else []
        found[i] = curve_name(cell or chosen or _CURVE) if is_curve(cell or _CURVE) else None
        if chosen is not None and ZONES.get(chosen) == found[i]:
            found[i] = chosen  # which continues the curve of the table after 1950
    unknown = {i: reading.cells[i][header.index].strip() for i in named if found[i] is None} if header else {}
    if unknown:
        reading.fault(no_curves(unknown.values()), CURVES_TO_WRITE, list(unknown), header)
    if named:
        names = sorted({str(found[i]) for i in named if found[i] is not None})
        reading.fact("calibration", ", ".join(names), f"the column {header}")
    if len(named) < len(rows):
        if not chosen:
            _doubt_curve(reading, sorted(set(rows) - set(named)))
        why = reading.set_by("curve") if chosen else f"assumed; change it with {option('curve', 'NAME')}"
        reading.fact("calibration", chosen or _CURVE, why + (", where none is named" if named else ""))
    elif chosen is not None:
        # With a row that names none the option says which it is; here it can only contradict.
        for i in named:
            if found[i] not in (None, chosen):
                what = f"the table says {found[i]}, but {option('curve', chosen)} says another curve"
                reading.fault(what, "leave the option out, or correct the table", i, header)
    return found


def _doubt_curve(reading: Reading, rows: list[int]) -> None:
    """Ask for the curve of rows that name none if something suggests another than the usual one; else warn."""
    other = other_curve(reading, rows)
    if other is None:
        reading.warn(
            f"no curve is named for the radiocarbon ages; {_CURVE} is for land plants of the northern hemisphere. Set "
            f"another with {option('curve', 'NAME')}."
        )
        return
    name, why = other
    if name is None:
        found = f"no curve is named for the radiocarbon ages, and one curve does not suit them all: {why}"
        do = "name the curve of each row in a column curve, such as Marine20 for shells and IntCal20 for wood"
        reading.ask(found, do, None, reading.columns.radiocarbon[0])
        reading.refuse()
        return
    found = f"no curve is named for the radiocarbon ages, and {_CURVE} may be wrong: {why}"
    do = f"say {flag('curve')} {name}, or {option('curve', _CURVE)}"
    reading.ask(found, do, None, reading.columns.radiocarbon[0], curve=name)


def _warn_of_materials(reading: Reading, curves: dict[int, str | None], offset: Array) -> bool:
    """Warn of marine material with a curve of the atmosphere, and of other material with a marine one.

    A marine age from which a reservoir age is subtracted may have any curve. Returns whether some rows are marine.
    """
    marine, land = materials(reading, list(curves))
    in_air = [i for i in marine if curves[i] and not str(curves[i]).startswith("Marine") and offset[i] == 0.0]
    in_sea = [i for i in land if str(curves[i]).startswith("Marine")]
    for rows, why, what in (in_air, marine, "the atmosphere"), (in_sea, land, "the ocean"):
        if rows:
            reading.warn(
                f"{curves[rows[0]]} is a curve of {what}, but {why[rows[0]]} ({reading.name_lines(rows)}). Name "
                f"the curve of each row in a column curve, or set another with {option('curve', 'NAME')}."
            )
    return bool(marine)


def _offsets(reading: Reading, headers: list[Header]) -> Array:
    """Reservoir offsets, or their errors; 0 where there is none."""
    if not headers:
        return np.zeros(len(reading.cells))
    header = reading.only(headers, "reservoir offsets")
    found = values(reading, header, "reservoir offset", blank=True)
    return np.where(np.isnan(found) & np.array([not cell.strip() for cell in reading.column(header)]), 0.0, found)
