"""The cells of a file, before anything is known of their meaning, and the limits on their number and size."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ..messages import Fact, problem, quote

#: Bytes of a file; cells; characters of a line, a cell (as in Excel) and a header; columns.
LARGEST_FILE = 100_000_000
MOST_CELLS = 20_000_000
LONGEST_LINE = 1_000_000
LONGEST_CELL = 32_767
LONGEST_HEADER = 1000
WIDEST = 1000
#: Lines of prose above a table that are looked at, and characters of each.
MOST_PROSE, LONGEST_PROSE = 100, 500


class Assumed(NamedTuple):
    """The value of an option that a format fixes, unless the user sets another, and why."""

    value: Any
    why: str


@dataclass(frozen=True)
class Rows:
    """The cells of a file, stripped, without blank rows and comments; `lines` are their lines in the file.

    comments: the lines that begin with #, and how many cells each would have.
    header: the row that holds the headers, where the format says so; None to look for it.
    meanings: what to read in place of the header of a column, by its position.
    ragged: whether rows leave out the empty cells at their end.
    facts, warnings: what the file says about itself. assumed: options that the format fixes.
    prose: the first comments, without the marks in front.
    """

    cells: list[list[str]]
    lines: list[int]
    form: str
    comments: list[tuple[int, int]] = field(default_factory=list)
    header: int | None = None
    meanings: Mapping[int, str] = field(default_factory=dict)
    ragged: bool = False
    facts: tuple[Fact, ...] = ()
    warnings: tuple[str, ...] = ()
    assumed: Mapping[str, Assumed] = field(default_factory=dict)
    prose: tuple[str, ...] = ()


def check_size(path: Path, rows: Rows) -> None:
    """Raise TableError if there are too many columns, or a cell holds more than a cell should."""
    if max(map(len, rows.cells)) > WIDEST:
        raise problem(path, f"there are more than {WIDEST} columns", "give a table with one row per measurement")
    for row, line in zip(rows.cells, rows.lines, strict=True):
        if sum(map(len, row)) <= LONGEST_CELL:
            continue
        for cell in row:
            if len(cell) > LONGEST_CELL:
                found = f"a cell holds {len(cell):,} characters, more than {LONGEST_CELL:,} ({quote(cell)})"
                raise problem(path, found, "shorten it, or look for a quote that is not closed", line)
