"""The depths of a table, by which it is joined to another file."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..file import Grid
from ..headers import Header
from ..messages import option

_Array = NDArray[np.float64]
#: Units of depth, in metres.
_METRES = {"m": 1.0, "cm": 0.01, "mm": 0.001, "mbsf": 1.0, "mcd": 1.0, "meter": 1.0, "metre": 1.0, "km": 1000.0}


def find_depth(grid: Grid) -> tuple[Grid, Header]:
    """The column of depths or heights, and the grid, to which the middle of two depths may be added as a column.

    Raises TableError if there is none.
    """
    chosen = None if grid.options.depth is None else grid.find(grid.options.depth)
    if chosen is not None:
        return grid, replace(chosen, role="depth")
    for role in "depth", "height":
        alike = [h for h in grid.headers if h.role == role and not h.error and h.side is None]
        best = [h for h in alike if h.rank == min(one.rank for one in alike)]
        if best:
            what = f"the {role}, by which the two files are joined"
            return grid, grid.only(best, what, f"choose one with {option('depth', 'COLUMN')}")
    limits = [h for h in grid.headers if h.role == "depth" and h.side is not None]
    if len(limits) != 2:
        found = f"no column of depths, by which the two files are joined; the columns are {grid.listed}"
        raise grid.header_problem(found, f"name it with {option('depth', 'COLUMN')}")
    middle = 0.5 * (numbers(grid, limits[0]) + numbers(grid, limits[1]))
    header = Header(len(grid.headers), "depth", role="depth", word="depth", unit=limits[0].unit)
    cells = [[*row, "" if np.isnan(d) else f"{d:.10g}"] for row, d in zip(grid.cells, middle.tolist(), strict=True)]
    others = [replace(h, role=None) if h in limits else h for h in grid.headers]
    return replace(grid, headers=[*others, header], cells=cells), header


def numbers(grid: Grid, header: Header) -> _Array:
    """The numbers in a column, NaN for an empty cell. Raises TableError for text."""
    cells = grid.column(header)
    found = np.full(len(cells), np.nan)
    for i, cell in enumerate(cells):
        plain = cell.strip().replace("−", "-")
        try:
            found[i] = float(plain.replace(",", ".")) if plain and plain.lower() not in ("na", "nan") else np.nan
        except ValueError:
            raise grid.problem("a depth is no number", "correct the cell", i, header) from None
    return found


def conversion(unit: str, to: str) -> float:
    """What depths in a unit are multiplied by to be in another; 1 if either is not known."""
    one, other = (_METRES.get(text.strip().lower()) for text in (unit, to))
    return 1.0 if one is None or other is None else one / other
