"""The input of each row: a number with its standard deviation, a date of another kind, or nothing."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..dates import Date, SplitNormal, StudentT, Uniform
from .aliases import MADE, Columns
from .calibration import calibrated
from .facts import Notes
from .grid import Grid
from .numbers import is_blank, values
from .options import Options
from .problems import Faults, name_lines, option
from .scale import note_impossible
from .sigma import Errors, standard_deviations


class Inputs(NamedTuple):
    """t and t_sd, shape (rows,), NaN and inf where there is no date; and the dates that are not Gaussian, by row."""

    t: NDArray[np.float64]
    t_sd: NDArray[np.float64]
    dates: list[Date | None]


def read_inputs(
    grid: Grid, columns: Columns, scale: str | None, comma: bool, options: Options, notes: Notes, faults: Faults
) -> Inputs:
    """The inputs of the rows of a grid. Cells that cannot be used are added to the faults."""
    empty = _without_input(grid, columns)
    raw = np.zeros(empty.size, dtype=bool)
    if columns.radiocarbon:
        raw = ~_blank(grid, columns.radiocarbon[0].index)
    by_radiocarbon = empty & raw
    absent = by_radiocarbon | (empty & options.incomplete)
    t, errors = _with_calendar(grid, columns, scale, comma, empty, absent, options, notes, faults)
    t_sd = np.where(absent, np.inf, errors.sd)
    dates: list[Date | None] = _kinds(grid, columns, t, errors, absent, options, notes, faults)
    if by_radiocarbon.any():
        rows = np.flatnonzero(by_radiocarbon)
        for i, date in calibrated(grid, columns, rows, scale, comma, options, notes, faults).items():
            dates[i] = date
    elif options.curve is not None:
        notes.warn(f"{option('curve', options.curve)} plays no part: no row is dated by its radiocarbon age.")
    for i, kind in enumerate(dates):
        if kind is not None:
            t[i], t_sd[i] = kind.mean, kind.sd
    return Inputs(t, t_sd, dates)


def note_absent(grid: Grid, absent: NDArray[np.bool_], what: str, notes: Notes) -> None:
    """Say which rows have no date or no value."""
    if absent.any():
        lines = name_lines([grid.lines[i] for i in np.flatnonzero(absent)])
        notes.fact(f"without a {what}", lines, "the cell is empty")


def _blank(grid: Grid, index: int) -> NDArray[np.bool_]:
    return np.array([is_blank(row[index]) for row in grid.cells])


def _without_input(grid: Grid, columns: Columns) -> NDArray[np.bool_]:
    """Rows whose calendar age is empty."""
    if columns.t.index != MADE:
        return _blank(grid, columns.t.index)
    return np.logical_and.reduce([np.ones(len(grid.cells), bool), *(_blank(grid, h.index) for h in columns.t_errors)])


def _with_calendar(
    grid: Grid,
    columns: Columns,
    scale: str | None,
    comma: bool,
    empty: NDArray[np.bool_],
    absent: NDArray[np.bool_],
    options: Options,
    notes: Notes,
    faults: Faults,
) -> tuple[NDArray[np.float64], Errors]:
    """Calendar ages and their errors; NaN where there are none. Not all that are empty may be absent."""
    if columns.t.index != MADE:
        t = values(grid, columns.t, comma, "input", faults, blank=absent)
    elif columns.t_errors:
        t = np.mean([values(grid, h, comma, "input", faults, blank=absent) for h in columns.t_errors], axis=0)
    else:
        t = np.full(absent.size, np.nan)
        do = "fill it in, or say --incomplete (incomplete=True in Python) to keep the row as a layer without a date"
        for i in np.flatnonzero(~absent):
            faults.add("the radiocarbon age is empty", do, grid.lines[i], columns.radiocarbon[0].text)
    note_impossible(grid, columns.t, t, scale, faults)
    if absent.all() or (columns.t.index == MADE and not columns.t_errors):
        return t, Errors(np.full(t.size, np.nan))
    return t, standard_deviations(
        grid, "t", columns.t, t, columns.t_errors, options, comma, notes, faults, absent=empty
    )


def _kinds(
    grid: Grid,
    columns: Columns,
    t: NDArray[np.float64],
    errors: Errors,
    absent: NDArray[np.bool_],
    options: Options,
    notes: Notes,
    faults: Faults,
) -> list[Date | None]:
    """Dates of the kind that the user asked for, None for Gaussian and exact ones."""
    dates: list[Date | None] = [None] * t.size
    sd, low, up = errors
    for i in np.flatnonzero(~absent & np.isfinite(t) & (sd > 0.0)):
        if options.t_errors == "student":
            dates[i] = StudentT(t[i], sd[i])
        elif options.t_errors == "uniform" and low is not None and up is not None and low[i] >= 0.0 and up[i] >= 0.0:
            dates[i] = Uniform(t[i] - low[i], t[i] + up[i])
        elif options.t_errors == "split" and low is not None and up is not None and low[i] != up[i]:
            if low[i] > 0.0 and up[i] > 0.0:
                dates[i] = SplitNormal(t[i], low[i], up[i])
            elif low[i] == 0.0 or up[i] == 0.0:
                do = "give both sides an error above 0, or both 0 for an exact input"
                faults.add("the error of the input is 0 on one side only", do, grid.lines[i], columns.t_errors[0].text)
    if options.t_errors == "student" and any(dates):
        notes.fact("dates", "Student-t with a = 3 and b = 4, as in Bacon", "you said so")
    return dates
