"""Columns in which some ages are radiocarbon ages and others are calendar ages, as age-depth programs have them."""

from collections.abc import Sequence
from dataclasses import replace

from ...errors import RecordError
from ...support.curves import curve_name
from ..file import Grid
from ..headers import Header, parse, squash
from ..messages import Notes


def called(grid: Grid, *names: str) -> Header | None:
    """The only column of one of these names."""
    squashed = {squash(name) for name in names}
    alike = [header for header in grid.headers if squash(header.text) in squashed]
    return alike[0] if len(alike) == 1 else None


def names_other_ages(grid: Grid, age: Header) -> bool:
    """Whether the user names another column of ages."""
    named = grid.options.t
    return named is not None and grid.find(named) != age


def meaning(header: Header, words: str) -> Header:
    """A header that means what these words do, and keeps the name that the user gave it."""
    return replace(parse(header.index, words), text=header.text)


def with_meanings(grid: Grid, meanings: dict[Header | None, str]) -> Grid:
    """The same grid, where columns that exist mean what these words do."""
    headers = list(grid.headers)
    for header, words in meanings.items():
        if header is not None:
            headers[header.index] = meaning(header, words)
    return replace(grid, headers=headers)


def without_role(grid: Grid, *columns: Header | None) -> Grid:
    """The same grid, where these columns play no part."""
    unused = {column.index for column in columns if column is not None}
    return replace(grid, headers=[replace(h, role=None) if h.index in unused else h for h in grid.headers])


def with_curves(grid: Grid, age: Header, error: Header, at: Header, curves: Sequence[str | None]) -> Grid:
    """A grid whose ages of one column are calendar ages (cal BP), where the curve of the row is None, and radiocarbon
    ages elsewhere; the curve of a row without an age is empty.

    at: the column that says so, whose cells become the curves.
    """
    if grid.options.t is not None:  # which names this column, of which there may be two after this
        grid = replace(grid, options=replace(grid.options, t=None, t_sd=None))
    if grid.options.age_type == "calendar":
        curves = [None] * len(grid.cells)
    headers, cells = list(grid.headers), [list(row) for row in grid.cells]
    headers[at.index] = meaning(at, "calibration curve")
    for row, curve in zip(cells, curves, strict=True):
        row[at.index] = curve or ""
    calendar = [curve is None for curve in curves]
    for old, raw, plain in (age, "14C age", "age (cal BP)"), (error, "14C error", "age error (cal BP)"):
        headers[old.index] = meaning(old, plain if any(calendar) else raw)
        if not any(calendar) or all(calendar):
            continue
        headers.append(replace(meaning(old, raw), index=len(headers)))
        for row, is_calendar in zip(cells, calendar, strict=True):
            row.append("" if is_calendar else row[old.index])
            row[old.index] = row[old.index] if is_calendar else ""
    return replace(grid, headers=headers, cells=cells)


def undated(grid: Grid, age: Header) -> list[bool]:
    """Whether each row has no age."""
    return [cell.strip().lower() in ("", "na", "nan") for cell in grid.column(age)]


def named_curves(grid: Grid, at: Header, age: Header, calendar: frozenset[str]) -> list[str | None]:
    """The curve of each row by its name; None for the words that mean `calendar` ages, "" for a row without an age.

    Raises TableError for other words.
    """
    notes = Notes()
    found: list[str | None] = []
    for cell, line, empty in zip(grid.column(at), grid.lines, undated(grid, age), strict=True):
        name = cell.strip().strip("'\"")
        if empty:
            found.append("")
            continue
        try:
            found.append(None if name.lower() in calendar else curve_name(name))
        except RecordError as error:
            what, _, known = str(error).rstrip(".").partition(". The curves are ")
            do = f"write one of {known}, or {min(calendar, key=len)} for a calendar age"
            notes.fault(what, do, [line], at.text)
    notes.refuse(grid.path)
    return found
