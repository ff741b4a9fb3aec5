"""The depths of a table, by which it is joined to another file."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..file import Table
from ..headers import Header
from ..messages import option

_Array = NDArray[np.float64]
#: Units of depth, in metres.
_METRES = {"m": 1.0, "cm": 0.01, "mm": 0.001, "mbsf": 1.0, "mcd": 1.0, "meter": 1.0, "metre": 1.0, "km": 1000.0}


def find_depth(table: Table) -> tuple[Table, Header]:
    """The column of depths or heights, and the table, to which the middle of two depths may be added as a column.

    Raises TableError if there is none.
    """
    chosen = None if table.options.depth is None else table.find(table.options.depth)
    if chosen is not None:
        return table, replace(chosen, role="depth")
    for role in "depth", "height":
        alike = [h for h in table.headers if h.role == role and not h.error and h.side is None]
        best = [h for h in alike if h.rank == min(one.rank for one in alike)]
        if best:
            what = f"the {role}, by which the two files are joined"
            return table, table.only(best, what, f"choose one with {option('depth', 'COLUMN')}")
    limits = [h for h in table.headers if h.role == "depth" and h.side is not None]
    if len(limits) != 2:
        found = f"no column of depths, by which the two files are joined; the columns are {table.listed}"
        raise table.header_problem(found, f"name it with {option('depth', 'COLUMN')}")
    middle = 0.5 * (numbers(table, limits[0]) + numbers(table, limits[1]))
    header = Header(len(table.headers), "depth", role="depth", word="depth", unit=limits[0].unit)
    cells = [[*row, "" if np.isnan(d) else f"{d:.10g}"] for row, d in zip(table.cells, middle.tolist(), strict=True)]
    others = [replace(h, role=None) if h in limits else h for h in table.headers]
    return replace(table, headers=[*others, header], cells=cells), header


def numbers(table: Table, header: Header) -> _Array:
    """The numbers in a column, NaN for an empty cell. Raises TableError for text."""
    cells = table.column(header)
    found = np.full(len(cells), np.nan)
    for i, cell in enumerate(cells):
        plain = cell.strip().replace("−", "-")
        try:
            found[i] = float(plain.replace(",", ".")) if plain and plain.lower() not in ("na", "nan") else np.nan
        except ValueError:
            raise table.problem("a depth is not a number", "correct the cell", i, header) from None
    return found


def conversion(unit: str, to: str) -> float:
    """What depths in a unit are multiplied by to be in another; 1 if either is not known."""
    one, other = (_METRES.get(text.strip().lower()) for text in (unit, to))
    return 1.0 if one is None or other is None else one / other
