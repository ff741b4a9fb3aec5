"""Lines that the user leaves out, and lines whose dates the user does not trust."""

from collections.abc import Sequence
from dataclasses import replace

from ..columns import Reading
from ..file import Table
from ..messages import Fact, name_lines, option, problem, set_by


def leave_out(table: Table) -> Table:
    """The table without the lines that the user leaves out. Raises TableError for a line that is no row."""
    lines = table.options.leave_out
    if lines is None:
        return table
    _require(table, "leave_out", lines)
    kept = table.keep([i for i, line in enumerate(table.lines) if line not in lines])
    if not kept.cells:
        raise problem(table.path, "every row is left out", f"give fewer lines with {option('leave_out', 'LINE')}")
    return kept.noting(Fact("left out", name_lines(lines), set_by("leave_out")))


def ignore_dates(reading: Reading) -> Reading:
    """The reading with empty cells for the dates that the user does not trust: their rows are layers without a date.

    Raises TableError for a line that is no row.
    """
    lines = reading.options.ignore_date
    if lines is None:
        return reading
    columns = reading.columns
    dated = [columns.t, *columns.t_errors, *columns.radiocarbon, *columns.radiocarbon_errors]
    emptied = {header.index for header in dated}
    cells = [
        ["" if k in emptied else cell for k, cell in enumerate(row)] if line in lines else row
        for row, line in zip(reading.cells, reading.lines, strict=True)
    ]
    reading.fact("dates ignored", name_lines(lines), set_by("ignore_date"))
    return replace(reading, cells=cells)


def check_ignored(table: Table) -> Table:
    """The table itself. Raises TableError if a date to ignore is in a line that is no row, or in a file of dates."""
    if table.options.ignore_date is not None:
        if table.options.dates is not None:
            found = "the dates come from another file, and these are lines of this table"
            do = "leave it out, and empty the cells of the date, or remove its row, in the file of dates"
            raise problem(table.path, f"{option('ignore_date', 'LINE')}: {found}", do)
        _require(table, "ignore_date", table.options.ignore_date)
    return table


def _require(table: Table, name: str, lines: Sequence[int]) -> None:
    missing = [line for line in lines if line not in table.lines]
    if missing:
        found = f"there is no row of the table in {name_lines(missing)}"
        raise problem(table.path, found, f"correct {option(name, 'LINE')}")
