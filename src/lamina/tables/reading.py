"""A file to a record: each step finds one thing out and notes it."""

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import LaminaError
from ..record import Record
from ..records.ties import merge_ties
from .checks.age_types import with_age_types
from .checks.codes import without_codes
from .checks.pooling import ask_about_places
from .checks.reversals import note_reversals
from .checks.slips import warn_of_far_values, warn_of_repeated
from .columns import MADE, Reading, begin
from .dating import Inputs, needs_radiocarbon, read_inputs, unit_of, with_scale
from .dating.thickness import note_thickness, read_thickness
from .file import Table, read_table
from .formats.bacon import from_bacon
from .formats.bchron import from_bchron
from .formats.clam import from_clam
from .formats.undatable import from_undatable
from .headers import NO_OUTPUT, parse, squash
from .joining.ages import add_ages
from .joining.dates import join_dates
from .layers import Between, read_ties
from .messages import TableError, TableReading, counted, in_lines, listing, name_lines, option, problem
from .numbers import Array, blanks, decimal_comma, values
from .options import Options
from .order import Arrangement, arrange, find_key, refuse_exact_reversals
from .places.gia import with_gia
from .places.sites import find_places, read_sites
from .rows import label_rows, limits, rows_of_site, rows_to_use
from .shapes.chosen import check_ignored, ignore_dates, leave_out
from .shapes.f14c import from_f14c
from .shapes.merged import fill_down
from .shapes.pairs import split_pairs
from .sigma import standard_deviations

_FEWEST_ROWS = 2
#: Tables of other programs, recognised by their columns, in the words of lamina; any other table stays as it is.
_PROGRAMS = (from_bacon, from_bchron, from_clam, from_undatable)


def read_record(path: str | PathLike[str], **options: Any) -> Record:
    """The record in a table of measurements: text, .xlsx, or a file of another program.

    Text is separated by commas, semicolons or tabs; for the others see Files of other programs.

    Columns are found by their names, and `options` override what is found: the fields of `lamina.tables.Options`, such
    as ``order="rows"``, ``t_sigma=2`` or ``scale="BP"``. `lamina.tables.read` also reports how the table was read.

    Rows come in the order that the record needs, which may not be that of the file. Raises TableError, with one
    message that names file, line and column, if the table cannot be used.
    """
    return read(path, Options.of(**options)).record


def read(
    path: str | PathLike[str],
    options: Options | None = None,
    *,
    ages: str | PathLike[str] | None = None,
    assumed: Mapping[str, str] | None = None,
) -> TableReading:
    """Read a table of measurements, and report how it was read.

    The file is text separated by commas, semicolons or tabs, .xlsx with the extra "excel", or a file of another program
    (see Files of other programs). Columns are recognised by their names; ``options`` override this. The order of the
    rows never comes from the reported dates.

    ages: an ensemble of ages from another age model (see ``read_ensemble``), by depth. A table without an input then
        has the mean and the standard deviation of these ages.
    assumed: options that the user has not set, and why they have their values.

    Raises TableError, with one message, if the table cannot be used.
    """
    table = open_table(path, options, assumed=assumed)
    if ages is not None:
        table = add_ages(table, Path(ages))
    if table.options.dates is not None:
        table = join_dates(table, _dates_table(table.options))
    return _understand(table)


def split(
    path: str | PathLike[str], by: str, options: Options | None = None, *, assumed: Mapping[str, str] | None = None
) -> dict[str, TableReading | TableError]:
    """Read one table as several, one for each value of the column ``by``, in the order in which they first appear.

    With the option ``site``, only the rows of that site are split. A part that cannot be used has its error in place of
    its reading. ``assumed`` is that of ``read``. Raises TableError if the table as a whole cannot be read, or a row has
    no value there.
    """
    whole = open_table(path, options, assumed=assumed)
    if whole.options.site is not None:
        whole = whole.keep(rows_of_site(begin(whole)))
    header = whole.require(by, option("by", "COLUMN"))
    rows: dict[str, list[int]] = {}
    for i, name in enumerate(whole.column(header)):
        if not name:
            raise whole.problem("this row belongs to no part", "fill the cell in", i, header)
        rows.setdefault(name, []).append(i)
    found: dict[str, TableReading | TableError] = {}
    for name, members in rows.items():
        try:
            found[name] = _understand(whole.keep(members))
        except TableError as error:
            found[name] = error
    return found


def read_ages(
    path: str | PathLike[str], options: Options | None = None, *, assumed: Mapping[str, str] | None = None
) -> TableReading:
    """Read the dates and depths of a table, whatever else it holds, as a record of layers without values.

    That is what an age-depth model needs. Rows at one depth are one layer, and rows without a date are layers whose age
    is computed. ``assumed`` is that of ``read``. Raises TableError, with one message, if the table cannot be used, or
    has no depths.
    """
    table = open_ages_table(path, options, assumed)
    if table.options.equal_depth is None:
        why = "an age-depth model has one age at a depth"
        table = replace(
            table, options=replace(table.options, equal_depth="tie"), assumed={**table.assumed, "equal_depth": why}
        )
    found = _understand(table)
    if found.record.depth is None:
        do = f"add one, or name it with {option('depth', 'COLUMN')}"
        raise problem(table.path, "an age-depth model needs a column of depths", do)
    n = len(found.record)
    record = replace(found.record, y=np.full(n, np.nan), y_sd=np.full(n, np.inf), y_name="", limit=None)
    facts = tuple(fact for fact in found.facts if not fact.what.startswith("output"))
    return replace(found, record=record, facts=facts)


def open_ages_table(
    path: str | PathLike[str], options: Options | None, assumed: Mapping[str, str] | None = None
) -> Table:
    """The cells of a table for an age-depth model: a last column, NO_OUTPUT, stands for the output."""
    table = open_table(path, replace(options or Options(), y=NO_OUTPUT, y_sd="1", incomplete=True), True, assumed)
    header = replace(parse(len(table.headers), NO_OUTPUT), role="y", word=NO_OUTPUT)
    others = [replace(one, role=None) if one.role == "y" else one for one in table.headers]
    cells = [[*row, *[""] * (len(table.headers) - len(row)), "0"] for row in table.cells]
    return replace(table, headers=[*others, header], cells=cells)


def open_table(
    path: str | PathLike[str], options: Options | None, dates: bool = False, assumed: Mapping[str, str] | None = None
) -> Table:
    """The cells of a table, whatever program wrote it, before its columns have their meaning."""
    table = read_table(Path(path), options or Options(), dates)
    table = split_pairs(replace(table, assumed={**(assumed or {}), **table.assumed}))
    table = leave_out(check_ignored(table))  # a line may be in both
    for program in _PROGRAMS:
        table = program(table)
        if table.program:
            return table
    return from_f14c(table)


def _dates_table(options: Options) -> Table:
    """The table in the file of dates, read with the options that are about dates."""
    mine = replace(options, dates=None, dates_sheet=None, sheet=options.dates_sheet, y=None, y_sd=None)
    mine = replace(mine, leave_out=None, ignore_date=None)  # these are lines of the table
    return open_table(str(options.dates), mine, dates=True)


def _understand(table: Table) -> TableReading:
    """What the rows of a table say, without its bad rows if the user has chosen that."""
    bad: dict[int, None] = {}
    kept = table
    while True:
        try:
            found = _understand_all(kept)
        except TableError as error:
            if not (table.options.skip_bad_rows and error.bad_lines):
                raise
            bad |= dict.fromkeys(error.bad_lines)
            kept = table.keep([i for i, line in enumerate(table.lines) if line not in bad])
            if len(kept.cells) < max(_FEWEST_ROWS, len(table.cells) / 2):
                do = "correct them, or the options that say what the columns are"
                what = "more than half of the rows cannot be used, which --skip-bad-rows does not leave out"
                useless = problem(table.path, what, do, error.bad_lines)
                useless.about = "skip_bad_rows"
                raise useless from error
        else:
            break
    if not bad:
        return found
    count = "1 bad row is" if len(bad) == 1 else f"{len(bad)} bad rows are"
    left_out = f"{count} left out ({name_lines(sorted(bad))}), {table.set_by('skip_bad_rows')}."
    return replace(found, warnings=(*found.warnings, left_out))


def _understand_all(table: Table) -> TableReading:
    """What the rows of a table say."""
    reading = begin(table)
    _note_file(reading)
    reading = fill_down(reading)
    reading = reading.keep(rows_of_site(reading))
    reading = ignore_dates(reading.keep(rows_to_use(reading)))
    if len(reading.cells) < _FEWEST_ROWS:
        raise reading.problem("there is only one row to use", "give two rows or more", 0)
    reading = with_age_types(reading)
    _note_columns(reading)
    warn_of_repeated(reading)
    if not reading.options.places:
        ask_about_places(reading)
    reading = with_scale(reading)
    numeric = list(reading.columns.measured)
    if needs_radiocarbon(reading):
        numeric += [h for h in reading.columns.of_radiocarbon if h not in reading.columns.curve]
    reading = replace(reading, comma=decimal_comma(reading, numeric))
    reading = without_codes(reading, numeric)
    measured = _measure(reading)
    record = _record(reading, measured)
    lines = tuple(reading.lines_of(measured.arranged.rows))
    exact = sorted(lines[i] for i in np.flatnonzero(record.exact).tolist())
    where = f" ({name_lines(exact)})" if exact else ""
    reading.fact("exact rows", f"{len(exact)}{where}", "an input error of 0 means exact")
    if (thickness := note_thickness(reading, record, lines)) is not None:
        reading.notes.facts.append(thickness)
    note_reversals(reading, record, measured.arranged, lines)
    warn_of_far_values(reading, record, lines)
    return TableReading(
        record=record,
        lines=lines,
        path=table.path,
        sha256=table.sha256,
        scale=reading.scale,
        facts=tuple(reading.notes.facts),
        warnings=tuple(reading.notes.warnings),
        depth=None if measured.depth is None else measured.depth[measured.arranged.rows],
        cores=measured.cores,
    )


def _note_file(reading: Reading) -> None:
    above = f", below {counted(len(reading.skipped), 'other line')}" if reading.skipped else ""
    what = f"{reading.path.name}: {reading.form}, {counted(len(reading.cells), 'row')}"
    reading.fact("file", what, f"header in line {reading.header_line}{above}")
    reading.notes.facts.extend(reading.facts)
    reading.notes.warnings.extend(reading.warnings)
    if reading.commented:
        reading.warn(
            "lines that begin with # are comments and left out, but below the header some have as many cells as it "
            f"({name_lines(reading.commented)}): if these are measurements, write them without #."
        )


def _note_columns(reading: Reading) -> None:
    columns, options = reading.columns, reading.options
    by_t, by_y = (
        reading.set_by(name) if chosen is not None else "found by its name"
        for name, chosen in (("t", options.t), ("y", options.y))
    )
    if columns.t.index != MADE:
        reading.fact("input", f"the column {columns.t}", by_t)
    elif columns.t_errors:
        reading.fact("input", f"known by its limits, {listing(columns.t_errors)}", "no column holds what is between")
    else:
        reading.fact("input", f"calendar ages, calibrated from the column {columns.radiocarbon[0]}", by_t)
    reading.fact("output", f"the column {columns.y}", by_y)
    others = (columns.core, columns.site, columns.label, columns.limiting, columns.tie, columns.hiatus)
    places = find_places(reading).used if options.places else []
    used = {h.index for h in (*columns.measured, *columns.rejects, *others, *places) if h is not None}
    if needs_radiocarbon(reading):
        used |= {h.index for h in columns.of_radiocarbon}
        used |= {h.index for h in reading.headers if (h.role or "").startswith("student")}
    named = {squash(name) for name in (options.order, options.sequence) if name}
    noted = {fact.understood for fact in reading.facts}
    ignored = [h for h in reading.headers if h.text and h.index not in used and squash(h.text) not in named]
    ignored = [h for h in ignored if f"{h} is not used" not in noted]
    if ignored:
        reading.fact("not used", listing(ignored), "neither their names nor options give them a role")


class _Measured(NamedTuple):
    """What was measured, by row of the table; how to arrange the rows; and what lies between them (see `Between`).

    sites: site, latitude and longitude of each row of the table, in a field.
    """

    inputs: Inputs
    y: Array
    y_sd: Array
    depth: Array | None
    thickness: Array | None
    arranged: Arrangement
    between: dict[str, Any]
    cores: int
    sites: dict[str, Any]


def _measure(reading: Reading) -> _Measured:
    columns = reading.columns
    inputs = read_inputs(reading)
    empty = blanks(reading, columns.y)
    absent = empty & reading.options.incomplete
    y = values(reading, columns.y, "output", blank=absent)
    y_sd = np.where(absent, np.inf, standard_deviations(reading, "y", y, absent=empty).sd)
    for without, what in (np.isinf(inputs.t_sd), "date"), (absent, "value"):
        if without.any():
            reading.fact(f"without a {what}", reading.name_lines(np.flatnonzero(without)), "the cell is empty")
    labels = label_rows(reading)
    key = find_key(reading)
    # A depth that cannot be read is a fault only where it is the key.
    places = [h for h in (columns.depth, columns.height) if h is not None][:1] or columns.depth_limits
    depths = [values(reading, header, "depth", blank=True, faults=False) for header in places]
    thickness = read_thickness(reading, inputs.t_sd == 0.0)
    sites = read_sites(reading, find_places(reading)) if reading.options.places else {}
    reading.refuse()
    ties = read_ties(reading, labels, key)
    arranged = arrange(reading, key, labels, ties, inputs.t)
    rows = arranged.rows
    between = Between(reading, key, arranged, [ties[i] for i in rows], inputs.t_sd[rows] == 0.0).fields()
    cores = 1 if labels is None else len(set(labels) - {None})
    depth = np.mean(depths, axis=0) if depths else None
    return _Measured(inputs, y, y_sd, depth, thickness, arranged, between, cores, sites)


def _record(reading: Reading, measured: _Measured) -> Record:
    columns, arranged, rows = reading.columns, measured.arranged, measured.arranged.rows
    t, t_sd = measured.inputs.t[rows], measured.inputs.t_sd[rows]
    dates, limit = [measured.inputs.dates[i] for i in rows], limits(reading)
    refuse_exact_reversals(reading, arranged, t, t_sd)
    label = None if columns.label is None else reading.column(columns.label)
    try:
        record = Record(
            t,
            t_sd,
            measured.y[rows],
            measured.y_sd[rows],
            order=arranged.order,
            sequence=arranged.sequence,
            label=None if label is None else [label[i] for i in rows],
            t_name=columns.t.name,
            t_unit=_time_unit(reading, arranged),
            y_name=columns.y.name,
            y_unit=columns.y.unit,
            dates=dates if any(date is not None for date in dates) else None,
            limit=None if limit is None else [limit[i] for i in rows],
            thickness=_thickness(measured),
            **measured.between,
            **_of_rows(measured.sites, rows),
        )
        merge_ties(record)  # says what cannot be one layer
    except LaminaError as error:
        worded = in_lines(error, reading.lines_of(rows))
        raise problem(reading.path, worded.rstrip("."), "correct the table", rows=error.rows) from error
    if record.places is None:
        return record
    return with_gia(reading, measured.sites["site"], find_places(reading).gia, record)


def _thickness(measured: _Measured) -> Array | None:
    """The thickness of each row of the record; None without depths, and 0 for rows of no sequence."""
    if measured.thickness is None or "depth" not in measured.between:
        return None
    rows, sequence = measured.arranged.rows, measured.arranged.sequence
    loose = np.array([sequence is not None and sequence[k] is None for k in range(len(rows))])
    return np.where(loose, 0.0, measured.thickness[rows])


def _of_rows(columns: dict[str, Any], rows: list[int]) -> dict[str, Any]:
    """Columns of the table in the order of the record."""
    return {name: [column[i] for i in rows] for name, column in columns.items()}


def _time_unit(reading: Reading, arranged: Arrangement) -> str:
    """The unit of the input. Without a scale the order may show which way time runs: deeper is older.

    What gets larger from young to old counts back from some unnamed present: "ago".
    """
    t = reading.columns.t
    unit = unit_of(t, reading.scale)
    if reading.scale is not None:
        return unit
    if arranged.by in ("depth", "height"):
        older = arranged.order == "increasing"
        why = f"t is {arranged.order} along the order, from young to old"
        reading.fact("time", f"larger is {'older' if older else 'younger'}", why)
        return f"{unit} ago".strip() if older else unit
    if t.word in ("age", "ages"):
        reading.warn(
            f"nothing says whether larger numbers in {t} are older or younger: what rises and falls is "
            f"reported in the direction in which they grow. Say {option('scale', 'BP or CE')}."
        )
    return unit
