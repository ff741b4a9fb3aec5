"""Radiocarbon ages in a table: each with its laboratory error, its curve and its reservoir offset."""

import re

import numpy as np
from numpy.typing import NDArray

from ..dates import Radiocarbon
from ..dates.curves import curve_name
from ..errors import RecordError
from ..support.calendars import words
from .aliases import MADE, Columns
from .facts import Notes
from .grid import Grid
from .headers import Header
from .numbers import values
from .options import Options
from .problems import Faults, TableError, listing, name_lines, option, problem, quote

_CURVE = "IntCal20"


def calibrated(
    grid: Grid,
    columns: Columns,
    rows: NDArray[np.intp],
    scale: str | None,
    comma: bool,
    options: Options,
    notes: Notes,
    faults: Faults,
) -> dict[int, Radiocarbon]:
    """The dates of these rows by their position, from their radiocarbon ages. Cells that cannot be used are faults."""
    age = _one(grid, columns.radiocarbon, "radiocarbon ages")
    _check_time(grid, columns.t, age, scale)
    here = np.isin(np.arange(len(grid.cells)), rows)
    ages = values(grid, age, comma, "radiocarbon age", faults, blank=~here)
    sd, sd_header = _laboratory_errors(grid, columns, age, comma, here, options, notes, faults)
    curves = _curves(grid, columns, rows, options, notes, faults)
    offset, offset_sd = (
        _offsets(grid, headers, comma, here, faults) for headers in (columns.delta_r, columns.delta_r_errors)
    )
    if columns.delta_r:
        notes.fact("reservoir offset", f"the column {quote(columns.delta_r[0].text)}", "subtracted from the ages")
    dates: dict[int, Radiocarbon] = {}
    for i in rows.tolist():
        if not np.isfinite(ages[i] + sd[i] + offset[i] + offset_sd[i]) or curves[i] is None:
            continue  # a fault already
        if sd[i] <= 0.0:
            faults.add("the error of the radiocarbon age is not above 0", "correct it", grid.lines[i], sd_header)
            continue
        try:
            dates[i] = Radiocarbon(
                ages[i], sd[i], str(curves[i]), offset[i], offset_sd[i], scale or "BP", options.t_errors != "normal"
            )
        except RecordError as error:
            found, _, do = str(error).rstrip(".").partition(". ")
            faults.add(found, do[:1].lower() + do[1:], grid.lines[i], age.text)
    lines = name_lines([grid.lines[i] for i in rows])
    kind = "normal errors" if options.t_errors == "normal" else "Student-t errors, as in Bacon"
    why = f"{kind}; of {lines}"
    if columns.t.index != MADE and columns.t.text != age.text:  # Bacon has both in one column
        why += f", where {quote(columns.t.text)} is empty"
    notes.fact("radiocarbon", f"{len(rows)} ages of the column {quote(age.text)} are calibrated", why)
    return dates


def _check_time(grid: Grid, t: Header, age: Header, scale: str | None) -> None:
    """Calendar ages beside which dates are calibrated must be in years BP or CE."""
    if scale is None:
        found = f"{quote(age.text)} is to be calibrated, but nothing says whether {quote(t.text)} is BP or CE"
        raise problem(grid.path, found, f"say {option('scale', 'BP or CE')}", grid.header_line)
    if t.index != MADE and (re.search(r"\b(?:ka|kyrs?|ma|myrs?)\b", t.unit, re.IGNORECASE) or "b2k" in words(t.unit)):
        found = f"{quote(age.text)} is calibrated in years BP or CE, but {quote(t.text)} is in {t.unit}"
        raise problem(grid.path, found, "give calendar ages in years BP or CE", grid.header_line)


def _laboratory_errors(
    grid: Grid,
    columns: Columns,
    age: Header,
    comma: bool,
    here: NDArray[np.bool_],
    options: Options,
    notes: Notes,
    faults: Faults,
) -> tuple[NDArray[np.float64], str | None]:
    """Standard deviations of the radiocarbon ages, (rows,), and the header of their column."""
    alone = columns.t.index == MADE and not columns.t_errors
    if not columns.radiocarbon_errors:
        if alone and options.t_sd is not None:
            sd = float(options.t_sd) / (options.t_sigma or 1)
            notes.fact("radiocarbon error", f"{sd:g} in all rows, 1 sigma", "you said so")
            return np.full(here.size, sd), None
        do = "add a column 14C error" + (f", or say {option('t_sd', 'COLUMN or NUMBER')}" if alone else "")
        raise problem(grid.path, "no column holds the errors of the radiocarbon ages", do, grid.header_line, age.text)
    header = _one(grid, columns.radiocarbon_errors, "errors of radiocarbon ages")
    asked = options.t_sigma if alone else None
    sigma = asked or header.sigma or 1
    why = "you said so" if asked else f"the header {quote(header.text)} says so" if header.sigma else "as is usual"
    notes.fact("radiocarbon error", f"the column {quote(header.text)}, {sigma} sigma", why)
    return values(grid, header, comma, "error", faults, blank=~here) / sigma, header.text


def _curves(
    grid: Grid, columns: Columns, rows: NDArray[np.intp], options: Options, notes: Notes, faults: Faults
) -> dict[int, str | None]:
    """The calibration curve of each row; None for a name that is none, which is a fault."""
    header = _one(grid, columns.curve, "calibration curves") if columns.curve else None
    usual = options.curve or _CURVE
    found: dict[int, str | None] = {}
    named: list[int] = []
    for i in rows.tolist():
        cell = "" if header is None else grid.cells[i][header.index].strip()
        named += [i] if cell else []
        try:
            found[i] = curve_name(cell or usual)
        except RecordError as error:
            found[i] = None
            what, _, known = str(error).rstrip(".").partition(". The curves are ")
            faults.add(what, f"write one of {known}", grid.lines[i], None if header is None else header.text)
    if header is not None and named:
        told = sorted({str(found[i]) for i in named if found[i] is not None})
        notes.fact("calibration", ", ".join(told), f"the column {quote(header.text)}")
    if len(named) < len(rows):
        why = "you said so" if options.curve else f"assumed; change it with {option('curve', 'NAME')}"
        notes.fact("calibration", usual, why + (", where none is named" if named else ""))
    elif options.curve is not None and header is not None:
        # With a row that names none the option says which it is; here it can only contradict.
        for i in named:
            if found[i] not in (None, options.curve):
                what = f"the table says {found[i]}, but {option('curve', options.curve)} says another curve"
                faults.add(what, "leave the option out, or correct the table", grid.lines[i], header.text)
    return found


def _offsets(
    grid: Grid, headers: list[Header], comma: bool, here: NDArray[np.bool_], faults: Faults
) -> NDArray[np.float64]:
    """Reservoir offsets, or their errors; 0 where there is none."""
    if not headers:
        return np.zeros(here.size)
    header = _one(grid, headers, "reservoir offsets")
    found = values(grid, header, comma, "reservoir offset", faults, blank=True)
    return np.where(np.isnan(found) & np.array([not cell.strip() for cell in grid.column(header)]), 0.0, found)


def _one(grid: Grid, headers: list[Header], what: str) -> Header:
    """One column, or several that say the same."""
    if any(grid.column(other) != grid.column(headers[0]) for other in headers[1:]):
        raise _ambiguous(grid, headers, what)
    return headers[0]


def _ambiguous(grid: Grid, headers: list[Header], what: str) -> TableError:
    found = f"{len(headers)} columns may hold {what}: {listing(h.text for h in headers)}"
    return problem(grid.path, found, "rename all but one", grid.header_line)
