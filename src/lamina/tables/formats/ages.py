"""Columns in which some ages are radiocarbon ages and others are calendar ages, as age-depth programs have them."""

from collections.abc import Sequence
from dataclasses import replace

from ...support.curves import curve_name
from ..file import Table
from ..headers import Header, parse, squash
from ..matching.curves import CURVES_TO_WRITE, is_curve, no_curves
from ..messages import Notes


def called(table: Table, *names: str) -> Header | None:
    """The only column of one of these names."""
    squashed = {squash(name) for name in names}
    alike = [header for header in table.headers if squash(header.text) in squashed]
    return alike[0] if len(alike) == 1 else None


def names_other_ages(table: Table, age: Header) -> bool:
    """Whether the user names another column of ages."""
    named = table.options.t
    return named is not None and table.find(named) != age


def meaning(header: Header, words: str) -> Header:
    """A header that means what these words do, and keeps the name that the user gave it and its number of sigmas."""
    return replace(parse(header.index, words), text=header.text, sigma=header.sigma, unclear=header.unclear)


def with_meanings(table: Table, meanings: dict[Header | None, str]) -> Table:
    """The same table, where columns that exist mean what these words do."""
    headers = list(table.headers)
    for header, words in meanings.items():
        if header is not None:
            headers[header.index] = meaning(header, words)
    return replace(table, headers=headers)


def without_role(table: Table, *columns: Header | None) -> Table:
    """The same table, where these columns are not used."""
    unused = {column.index for column in columns if column is not None}
    return replace(table, headers=[replace(h, role=None) if h.index in unused else h for h in table.headers])


def with_curves(table: Table, age: Header, error: Header, at: Header, curves: Sequence[str | None]) -> Table:
    """A table whose ages of one column are calendar ages (cal BP), where the curve of the row is None, and radiocarbon
    ages elsewhere; the curve of a row without an age is empty.

    at: the column that says so, whose cells become the curves.
    """
    if table.options.t is not None:  # which names this column, of which there may be two after this
        table = replace(table, options=replace(table.options, t=None, t_sd=None))
    if table.options.age_type == "calendar":
        curves = [None] * len(table.cells)
    headers, cells = list(table.headers), [list(row) for row in table.cells]
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
    return replace(table, headers=headers, cells=cells)


def undated(table: Table, age: Header) -> list[bool]:
    """Whether each row has no age."""
    return [cell.strip().lower() in ("", "na", "nan") for cell in table.column(age)]


def named_curves(table: Table, at: Header, age: Header, calendar: frozenset[str]) -> list[str | None]:
    """The curve of each row by its name; None for the words that mean `calendar` ages, "" for a row without an age.

    Raises TableError for other words.
    """
    names = [cell.strip().strip("'\"") for cell in table.column(at)]
    dated = [not empty for empty in undated(table, age)]
    unknown = {
        line: name
        for name, line, is_dated in zip(names, table.lines, dated, strict=True)
        if is_dated and name.lower() not in calendar and not is_curve(name)
    }
    if unknown:
        notes, do = Notes(), f"{CURVES_TO_WRITE}, or {min(calendar, key=len)} for a calendar age"
        notes.fault(no_curves(unknown.values()), do, unknown, at.text)
        notes.refuse(table.path)
    return [
        "" if not is_dated else None if name.lower() in calendar else curve_name(name)
        for name, is_dated in zip(names, dated, strict=True)
    ]
