"""A row of units below the headers, as many workbooks have it."""

import re
from dataclasses import replace

from ..formats.cells import Rows
from ..messages import Fact

_NUMBER = re.compile(r"[-+−]?\d+(?:[.,]\d+)?(?:[eE][-+]?\d+)?")
#: The longest unit, and the part of the row that must have one.
_LONGEST, _LEAST = 30, 0.5
_NO_UNIT = {"", "-", "--", "na", "n/a", "nan", "none"}


def with_units(rows: Rows, at: int) -> Rows:
    """The rows without the row of units below the headers, which mean the same as headers with units in brackets.

    It is such a row if it holds short texts only, where the next one holds numbers. Other rows stay as they are.
    """
    if len(rows.cells) < at + 3 or rows.meanings:
        return rows
    names, units, first = rows.cells[at : at + 3]
    units = units + [""] * (len(names) - len(units))
    named = [k for k, unit in enumerate(units[: len(names)]) if unit.lower() not in _NO_UNIT and names[k]]
    if any(_NUMBER.fullmatch(unit) or len(unit) > _LONGEST for unit in units) or not named:
        return rows
    numbers = [k for k, cell in enumerate(first[: len(names)]) if _NUMBER.fullmatch(cell)]
    if not numbers or sum(k in named for k in numbers) < _LEAST * len(numbers):
        return rows
    return replace(
        rows,
        cells=[*rows.cells[: at + 1], *rows.cells[at + 2 :]],
        lines=[*rows.lines[: at + 1], *rows.lines[at + 2 :]],
        meanings={k: f"{names[k]} ({units[k].strip('()[]')})" for k in named},
        facts=(*rows.facts, Fact("units", f"in line {rows.lines[at + 1]}", "it holds short texts above numbers")),
    )
