"""The cells of a table with the role of each column, for those who want to see how it was read."""

from dataclasses import dataclass, fields, replace
from os import PathLike
from pathlib import Path

from .columns import Columns, Reading, begin
from .file import Table, read_rows
from .headers import Header
from .messages import TableError
from .options import Options
from .places.sites import find_places
from .reading import open_ages_table, open_table

#: What the columns of each role are called, by the field of ``Columns`` that holds them, unless by its own name.
_ROLES = {
    "t": "input",
    "t_errors": "input error",
    "y": "output",
    "y_errors": "output error",
    "depth_limits": "depth limit",
    "rejects": "flag",
    "radiocarbon": "radiocarbon age",
    "radiocarbon_errors": "radiocarbon error",
    "curve": "calibration curve",
    "delta_r": "reservoir offset",
    "delta_r_errors": "reservoir error",
}
#: The roles that headers alone suggest, where it is not clear which column is meant.
_SUGGESTED = {"t": "input", "y": "output", "error": "", "reject": "flag", "delta r": "reservoir offset"}


@dataclass(frozen=True)
class Preview:
    """The cells of a table. ``roles`` has one for each header, "" for a column without; ``lines`` one for each row."""

    headers: list[str]
    roles: list[str]
    header_line: int
    lines: list[int]
    cells: list[list[str]]


def preview(path: str | PathLike[str], options: Options | None = None, command: str = "fit") -> Preview:
    """The cells of a table as a command reads them; those of the file where there is no table in it.

    Raises TableError if the file cannot be read at all.
    """
    options = replace(options or Options(), leave_out=None, ignore_date=None)  # these rows are shown too
    try:
        table = open_ages_table(path, options) if command == "agedepth" else open_table(path, options)
    except TableError:
        rows = read_rows(Path(path), options)
        at = rows.header or 0
        headers = rows.cells[at]
        return Preview(headers, [""] * len(headers), rows.lines[at], rows.lines[at + 1 :], rows.cells[at + 1 :])
    shown = len(table.headers) - (command == "agedepth")  # without the column that stands for an output
    headers, cells = [header.text for header in table.headers[:shown]], [row[:shown] for row in table.cells]
    return Preview(headers, _roles(table)[:shown], table.header_line, [int(line) for line in table.lines], cells)


def _roles(table: Table) -> list[str]:
    try:
        reading = begin(table)
        columns = reading.columns
        places = _places(reading) if table.options.places else {}
    except TableError:
        return [_suggested(header) for header in table.headers]
    found = [""] * len(table.headers)
    for one in fields(Columns):
        for header in _headers(columns, one.name):
            if 0 <= header.index < len(found):
                found[header.index] = found[header.index] or _ROLES.get(one.name, one.name)
    return [places.get(k, role) for k, role in enumerate(found)]


def _places(reading: Reading) -> dict[int, str]:
    """The roles of the columns that say where the rows of a field come from, by position."""
    columns = find_places(reading)
    rate, rate_sd = columns.gia
    headers = {
        "site": columns.site,
        "latitude": columns.latitude,
        "longitude": columns.longitude,
        "glacial isostasy": rate,
        "glacial isostasy error": rate_sd,
    }
    return {header.index: role for role, header in headers.items() if header is not None}


def _headers(columns: Columns, name: str) -> list[Header]:
    held = getattr(columns, name)
    return held if isinstance(held, list) else [] if held is None else [held]


def _suggested(header: Header) -> str:
    role = _SUGGESTED.get(header.role or "", header.role or "")
    return f"{role} error" if role and header.error and not role.endswith("error") else role
