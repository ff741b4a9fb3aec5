"""Undatable's table of dates, which is read by the place of its columns, whatever they are called."""

from dataclasses import replace

from ..file import Table
from ..headers import Header, squash
from ..messages import Fact, Notes
from .ages import named_curves, with_curves, with_meanings, without_role

#: label, depth 1, depth 2, age, age error, date type, calibration curve, reservoir age, its error, bootstrap
_COLUMNS = 10
_CALENDAR = frozenset({"none", "", "na"})


def from_undatable(table: Table) -> Table:
    """A table of Undatable with the headers and cells of other tables; any other table as it is.

    Depth 2 is the other end of the sample, or, if it is smaller than depth 1, the standard deviation of depth 1. Raises
    TableError where a depth is not a number.
    """
    columns = table.headers
    if len(columns) != _COLUMNS or table.options.t is not None or not _is_undatable(columns):
        return table
    _, first, second, age, error, kind, curve, offset, offset_sd, boot = columns
    cells = [list(row) for row in table.cells]
    for row, middle in zip(cells, _middles(table, first, second), strict=True):
        row[first.index] = f"{middle:.10g}"
    words: dict[Header | None, str] = {
        columns[0]: "sample id",
        first: "depth",
        offset: "delta R",
        offset_sd: "delta R error",
    }
    curves = named_curves(table, curve, age, _CALENDAR)
    table = without_role(with_meanings(replace(table, cells=cells), words), second, kind, boot)
    table = with_curves(table, age, error, curve, curves)
    table = replace(table, form=f"{table.form}, as Undatable has it", program="Undatable")
    return table.noting(Fact("order", f"by the middle of {first} and {second}", "their extent is not used"))


def _is_undatable(columns: list[Header]) -> bool:
    """Whether headers are about what Undatable expects in their place."""
    words = [squash(header.text) for header in columns]
    expected = ("", "depth", "depth", "age", "", "", "curve", "res", "", "boot")
    return all(part in word for part, word in zip(expected, words, strict=True))


def _middles(table: Table, first: Header, second: Header) -> list[float]:
    notes, found = Notes(), []
    for a, b, line in zip(table.column(first), table.column(second), table.lines, strict=True):
        try:
            one, other = float(a), float(b or a)
        except ValueError:
            notes.fault("a depth is not a number", "give both depths of the sample", [line], first.text)
            continue
        found.append(one if other < one else 0.5 * (one + other))
    notes.refuse(table.path)
    return found
