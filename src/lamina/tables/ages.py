"""A table of dates and depths alone, without anything measured: what an age-depth model needs."""

from dataclasses import replace
from os import PathLike
from pathlib import Path

import numpy as np

from .bacon import from_bacon
from .grid import Grid, read_grid
from .headers import parse
from .options import Options
from .problems import problem
from .reading import understand
from .understanding import Understanding

#: Stands for an output, which is then taken out again.
_NOTHING = "(no output)"


def read_ages(path: str | PathLike[str], options: Options | None = None) -> Understanding:
    """Read the dates and depths of a table, whatever else it holds, as a record of layers without values.

    Raises TableError, with one message, if the table cannot be used, or has no depths.
    """
    options = replace(options or Options(), y=_NOTHING, y_sd="1")
    grid = _with_nothing(from_bacon(read_grid(Path(path), options), options), options)
    found = understand(grid, options)
    if found.record.depth is None:
        raise problem(
            grid.path, "an age-depth model needs a column of depths", "add one, or name it with --order COLUMN"
        )
    n = len(found.record)
    record = replace(found.record, y=np.full(n, np.nan), y_sd=np.full(n, np.inf), y_name="", limit=None)
    facts = tuple(fact for fact in found.facts if not fact.what.startswith("output"))
    return replace(found, record=record, facts=facts)


def _with_nothing(grid: Grid, options: Options) -> Grid:
    """The grid with a column that stands for the output."""
    header = replace(parse(len(grid.headers), _NOTHING), role="y", word=_NOTHING)
    others = [replace(one, role=None) if one.role == "y" else one for one in grid.headers]
    cells = [[*row, *[""] * (len(grid.headers) - len(row)), "0"] for row in grid.cells]
    return replace(grid, headers=[*others, header], cells=cells)
