"""Measurements and dates of one core in two files, joined by depth."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from ...support.files import joined_checksum
from ..checks.listing import AGAIN, begins_again, not_listed, turns_back
from ..file import Table
from ..headers import Header
from ..messages import Fact, Line, option, problem
from .depths import conversion, find_depth, numbers

#: Roles of what is measured, and of dates. Each file keeps its own.
_VALUES = frozenset({"y"})
_DATES = frozenset({"t", "radiocarbon age", "radiocarbon error", "curve", "delta r"})
#: Roles of which a record has one column, so that both files share it.
_SHARED = ("core", "site", "label", "limiting", "thickness", "tie", "hiatus")


def join_dates(table: Table, dates: Table) -> Table:
    """One table with the measurements of `table`, without its ages, and the dates of the other one.

    A row has a value or a date. Rows at one depth are one layer. Raises TableError if the depths cannot be joined.
    """
    table, depth = find_depth(without(table, _DATES))
    dates, other = find_depth(without(dates, _VALUES))
    if depth.role != other.role:
        found = f"{other} is a {other.role}, but {depth} in {table.path.name} is a {depth.role}"
        raise dates.header_problem(found, "give both files depths, or both heights")
    places = [numbers(table, depth), conversion(other.unit, depth.unit) * numbers(dates, other)]
    table, dates = _listed_by_depth(table, depth, places[0]), _listed_by_depth(dates, other, places[1])
    _refuse_apart(table, dates, depth, places)
    headers, cells = _side_by_side(table, dates, depth, other, places[1])
    at = np.concatenate(places)
    along = np.argsort(at, kind="stable").tolist()  # NaN, the rows without a depth, come last
    lines = [*table.lines, *(Line(line, dates.path.name) for line in dates.lines)]
    why = "a value and a date at one depth belong to one layer"
    options = replace(table.options, depth=None, incomplete=True, equal_depth=table.options.equal_depth or "tie")
    facts = Fact("dates", f"{dates.path.name}: {dates.form}, {len(dates.cells)} rows", "joined by depth")
    return replace(
        table,
        sha256=joined_checksum(table.sha256, dates.sha256),
        headers=headers,
        cells=[cells[i] for i in along],
        lines=[lines[i] for i in along],
        options=options,
        program=dates.program,
        facts=(*table.facts, facts, *dates.facts),
        warnings=(*table.warnings, *dates.warnings),
        assumed={**table.assumed, **({} if table.options.equal_depth else {"equal_depth": why})},
    )


def without(table: Table, roles: Collection[str]) -> Table:
    """The same table, where columns of these roles, and errors without a name beside them, are not used."""
    headers, beside = [], False
    for header in table.headers:
        nameless = header.role == "error"
        beside = (header.role or "") in roles or (beside and nameless)
        headers.append(replace(header, role=None) if beside else header)
    return replace(table, headers=headers)


def _listed_by_depth(table: Table, header: Header, at: np.ndarray) -> Table:
    """The table, with a warning if its depths turn back. Raises TableError if they may hide a second core.

    No message is needed if cores are named, or the user names the column.
    """
    if table.options.depth is not None or any(h.role in ("core", "site") for h in table.headers):
        return table
    known = np.flatnonzero(~np.isnan(at))
    again, turns = begins_again(at[known]), turns_back(at[known])
    if again is not None:
        do = f"name the cores in a column core, or say {option('depth', header.text)} if it is one core"
        raise table.problem(AGAIN, do, int(known[again]), header)
    if not turns.size:
        return table
    return replace(table, warnings=(*table.warnings, not_listed(table, header, known[turns].tolist())))


def _refuse_apart(table: Table, dates: Table, depth: Header, places: list[np.ndarray]) -> None:
    """Two files whose depths have nothing in common are of two cores, or in two units."""
    (low, high), (first, last) = ((np.nanmin(at), np.nanmax(at)) if not np.isnan(at).all() else (1, 0) for at in places)
    if low > high or first > last or low > last or first > high:
        raise problem(
            dates.path,
            f"its depths ({first:g} to {last:g}) and those of {table.path.name} ({low:g} to {high:g}) do not overlap",
            "give two files of one core, with depths in one unit, or name the units in the headers",
            column=depth.text,
        )


def _side_by_side(
    table: Table, dates: Table, depth: Header, other: Header, at: np.ndarray
) -> tuple[list[Header], list[list[str]]]:
    """The columns of both files, with those that they share in one, and the rows of both."""
    width = len(table.headers)
    shared = {other.index: depth.index}
    for role in _SHARED:
        ours, theirs = (_of_role(one, role) for one in (table, dates))
        if ours is not None and theirs is not None:
            shared[theirs.index] = ours.index
        elif (ours is None) != (theirs is None) and role in ("core", "site"):
            _refuse_nameless(table, dates, ours, theirs)
    headers = [replace(h, role=depth.role) if h.index == depth.index else h for h in table.headers]
    if not any(_of_role(table, role) for role in ("core", "site")):
        dates = without(dates, ("core", "site"))
    elif not any(_of_role(dates, role) for role in ("core", "site")):
        headers = [replace(h, role=None) if h.role in ("core", "site") else h for h in headers]
    for header in dates.headers:
        moved = replace(header, index=width + header.index)
        headers.append(replace(moved, text="", role=None) if header.index in shared else moved)
    cells = [[*row, *[""] * len(dates.headers)] for row in table.cells]
    for row, place in zip(dates.cells, at.tolist(), strict=True):
        new = [*[""] * width, *row]
        for source, target in shared.items():
            new[target], new[width + source] = row[source], ""
        new[depth.index] = "" if np.isnan(place) else f"{place:.10g}"
        cells.append(new)
    return headers, cells


def _of_role(table: Table, role: str) -> Header | None:
    return min((h for h in table.headers if h.role == role and not h.error), key=lambda h: h.rank, default=None)


def _refuse_nameless(table: Table, dates: Table, ours: Header | None, theirs: Header | None) -> None:
    """If one file has several cores, the other must name them too."""
    named, nameless = (table, dates) if ours is not None else (dates, table)
    header = ours or theirs
    if header is None:
        return
    names = {cell for cell in named.column(header) if cell}
    if named.options.site is not None and ours is not None:
        return
    if len(names) > 1:
        found = f"{named.path.name} has {len(names)} cores or sites, and this file does not name them"
        raise nameless.header_problem(found, f"add a column {header.text}")
