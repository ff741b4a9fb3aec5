"""A file to what it says: each step finds one thing out and notes it."""

from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import LaminaError
from ..record import Record
from ..records.ties import merge_ties
from .aliases import MADE, Columns, assign, must_be_named
from .bacon import from_bacon
from .dating import Inputs, note_absent, read_inputs
from .facts import Notes
from .flags import limits, rows_of_site, rows_to_use
from .grid import Grid, read_grid
from .headers import squash
from .layers import layers, read_ties
from .numbers import decimal_comma, is_blank, note_codes, values
from .options import Options
from .order import Arrangement, arrange, find_key
from .problems import Faults, TableError, listing, name_lines, option, problem, quote
from .reported import note_exact, note_reversals, refuse_exact_reversals
from .scale import find_scale, sided, unit_along
from .sequences import label_rows
from .sigma import standard_deviations
from .understanding import Understanding

_FEWEST_ROWS = 2


def read(path: str | PathLike[str], options: Options | None = None) -> Understanding:
    """Read a table of measurements and say what was understood.

    Text separated by commas, semicolons or tabs, and .xlsx with the extra "excel". Columns are found by their names;
    `options` override. The order of the rows is never taken from the reported dates.

    Raises TableError, with one message, if the table cannot be used.
    """
    options = options or Options()
    return understand(from_bacon(read_grid(Path(path), options), options), options)


def split(path: str | PathLike[str], by: str, options: Options | None = None) -> dict[str, Understanding | TableError]:
    """Read one table as several, one for each value of the column ``by``, in the order in which they first appear.

    With the option ``site``, only the rows of that site are split. A part that cannot be used has its error in place of
    what was understood. Raises TableError if the table as a whole cannot be read, or a row has no value there.
    """
    options = options or Options()
    whole = from_bacon(read_grid(Path(path), options), options)
    if options.site is not None:
        whole = whole.keep(rows_of_site(whole, assign(whole, options), options, Notes()))
    header = must_be_named(whole, by, option("by", "COLUMN"))
    rows: dict[str, list[int]] = {}
    for i, name in enumerate(whole.column(header)):
        if not name:
            raise problem(whole.path, "this row belongs to no part", "fill the cell in", whole.lines[i], header.text)
        rows.setdefault(name, []).append(i)
    found: dict[str, Understanding | TableError] = {}
    for name, members in rows.items():
        try:
            found[name] = understand(whole.keep(members), options)
        except TableError as error:
            found[name] = error
    return found


def understand(whole: Grid, options: Options) -> Understanding:
    """What the rows of a grid say."""
    notes = Notes()
    columns = assign(whole, options)
    _note_columns(whole, columns, options, notes)
    grid = whole.keep(rows_of_site(whole, columns, options, notes))
    grid = grid.keep(rows_to_use(grid, columns, options, notes))
    if len(grid.cells) < _FEWEST_ROWS:
        raise problem(grid.path, "there is only one row to use", "give two rows or more", grid.lines[0])
    scale, t_unit = find_scale(grid, columns.t, columns.t_errors, options, notes)
    columns = replace(columns, t_errors=sided(columns.t_errors, scale))
    measured, depth, arranged, between = _numbers(grid, columns, scale, options, notes)
    if scale is None:
        t_unit = unit_along(columns.t, t_unit, arranged, notes)
    record = _record(grid, columns, measured, arranged, between, t_unit)
    lines = tuple(grid.lines[i] for i in arranged.rows)
    note_exact(record, lines, notes)
    note_reversals(record, lines, columns.t.modelled, notes)
    return Understanding(
        record=record,
        lines=lines,
        path=whole.path,
        sha256=whole.sha256,
        scale=scale,
        facts=tuple(notes.facts),
        warnings=tuple(notes.warnings),
        depth=None if depth is None else depth[arranged.rows],
    )


def _note_columns(grid: Grid, columns: Columns, options: Options, notes: Notes) -> None:
    above = f", below {len(grid.skipped)} other lines" if grid.skipped else ""
    notes.fact(
        "file", f"{grid.path.name}: {grid.form}, {len(grid.cells)} rows", f"header in line {grid.header_line}{above}"
    )
    if grid.commented:
        notes.warn(
            "lines that begin with # are comments and left out, but below the header some have as many cells as it "
            f"({name_lines(grid.commented)}): if these are measurements, write them without #."
        )
    if columns.t.index != MADE:
        notes.fact("input", f"the column {quote(columns.t.text)}")
    elif columns.t_errors:
        notes.fact("input", f"known by its limits, {listing(h.text for h in columns.t_errors)}")
    else:
        notes.fact("input", f"calendar ages, calibrated from the column {quote(columns.radiocarbon[0].text)}")
    notes.fact("output", f"the column {quote(columns.y.text)}")
    used = {h.index for h in (columns.t, columns.y, *columns.t_errors, *columns.y_errors, *columns.depth_limits)}
    others = [columns.depth, columns.height, columns.position, columns.core, columns.site, columns.label]
    others += [*columns.rejects, columns.limiting, columns.tie, columns.hiatus]
    used |= {h.index for h in others if h is not None}
    if _needs_radiocarbon(grid, columns):
        used |= {h.index for h in columns.of_radiocarbon}
    named = {squash(name) for name in (options.order, options.sequence) if name}
    ignored = [h.text for h in grid.headers if h.text and h.index not in used and squash(h.text) not in named]
    if ignored:
        notes.fact("not used", listing(ignored))


def _needs_radiocarbon(grid: Grid, columns: Columns) -> bool:
    """Whether some row has a radiocarbon age and no calendar age."""
    if columns.t.index == MADE or not columns.radiocarbon:
        return bool(columns.radiocarbon)
    pairs = zip(grid.column(columns.t), grid.column(columns.radiocarbon[0]), strict=True)
    return any(is_blank(age) and not is_blank(raw) for age, raw in pairs)


class Measured(NamedTuple):
    """What was measured, by row of the grid."""

    inputs: Inputs
    y: NDArray[np.float64]
    y_sd: NDArray[np.float64]
    limit: list[str | None] | None


def _numbers(
    grid: Grid, columns: Columns, scale: str | None, options: Options, notes: Notes
) -> tuple[Measured, NDArray[np.float64] | None, Arrangement, dict[str, Any]]:
    """What was measured, the depth if there is one, how to arrange the rows, and what lies between (see ``layers``)."""
    numeric = [columns.t, *columns.t_errors, columns.y, *columns.y_errors, *columns.depth_limits]
    numeric += [h for h in (columns.depth, columns.height, columns.position) if h is not None]
    if _needs_radiocarbon(grid, columns):
        numeric += [h for h in columns.of_radiocarbon if h not in columns.curve]
    numeric = [h for h in numeric if h.index != MADE]
    comma = decimal_comma(grid, numeric)
    faults = Faults()
    inputs = read_inputs(grid, columns, scale, comma, options, notes, faults)
    empty = np.array([is_blank(cell) for cell in grid.column(columns.y)])
    absent = empty & options.incomplete
    y = values(grid, columns.y, comma, "output", faults, blank=absent)
    errors = standard_deviations(grid, "y", columns.y, y, columns.y_errors, options, comma, notes, faults, empty)
    note_absent(grid, np.isinf(inputs.t_sd), "date", notes)
    note_absent(grid, absent, "value", notes)
    labels = label_rows(grid, columns, options, notes)
    key = find_key(grid, columns, comma, options, notes, faults)
    # A depth that cannot be read is a fault only where it is the key.
    places = [h for h in (columns.depth, columns.height) if h is not None][:1] or columns.depth_limits
    depths = [values(grid, header, comma, "depth", Faults(), blank=True) for header in places]
    faults.refuse(grid.path)
    for header in numeric:
        note_codes(grid, header, notes)
    ties = read_ties(grid, columns, labels, key, notes)
    arranged = arrange(grid, columns, labels, key, ties, inputs.t, scale, comma, options, notes)
    between = layers(grid, columns, key, ties, arranged, inputs.t_sd[arranged.rows] == 0.0, options, notes)
    measured = Measured(inputs, y, np.where(absent, np.inf, errors.sd), limits(grid, columns))
    return measured, np.mean(depths, axis=0) if depths else None, arranged, between


def _record(
    grid: Grid, columns: Columns, measured: Measured, arranged: Arrangement, between: dict[str, Any], t_unit: str
) -> Record:
    rows = arranged.rows
    t, t_sd = measured.inputs.t[rows], measured.inputs.t_sd[rows]
    dates, limit = [measured.inputs.dates[i] for i in rows], measured.limit
    refuse_exact_reversals(grid, columns.t, arranged, t, t_sd)
    try:
        record = Record(
            t,
            t_sd,
            measured.y[rows],
            measured.y_sd[rows],
            order=arranged.order,
            sequence=arranged.sequence,
            label=None if columns.label is None else [grid.cells[i][columns.label.index] for i in rows],
            t_name=columns.t.name,
            t_unit=t_unit,
            y_name=columns.y.name,
            y_unit=columns.y.unit,
            dates=dates if any(date is not None for date in dates) else None,
            limit=None if limit is None else [limit[i] for i in rows],
            **between,
        )
        merge_ties(record)  # says what cannot be one layer
    except LaminaError as error:
        worded = error.worded(lambda wrong: name_lines(sorted(grid.lines[rows[i]] for i in wrong)))
        raise problem(grid.path, worded.rstrip("."), "correct the table", rows=error.rows) from error
    return record
