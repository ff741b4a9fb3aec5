"""The table of dates that Bacon reads: labID, age, error, depth, cc, where cc says what kind of age it is.

Read as any other table, its radiocarbon ages would be taken for calendar ages.
"""

from dataclasses import replace

from .grid import Grid
from .headers import Header, parse, squash
from .options import Options
from .problems import Faults, quote

#: What cc means: calendar ages, or the curve that calibrates.
_CALENDAR = "0"
_CURVES = {"1": "IntCal20", "2": "Marine20", "3": "SHCal20"}
_NAMES = {"d.R": "delta R", "d.STD": "delta R error", "delta.R": "delta R", "delta.STD": "delta R error"}


def from_bacon(grid: Grid, options: Options) -> Grid:
    """A table with Bacon's column cc understood as those of other tables are; any other table as it is.

    So is one whose input the user has named.

    Raises TableError where cc is none of Bacon's numbers.
    """
    age, error, cc = (_called(grid, name) for name in ("age", "error", "cc"))
    if age is None or error is None or cc is None or options.t is not None:
        return grid
    kinds = [row[cc.index].strip().removesuffix(".0") for row in grid.cells]
    _check(grid, cc, kinds)
    calendar = [kind == _CALENDAR for kind in kinds]
    headers, cells = list(grid.headers), [list(row) for row in grid.cells]
    for name, new in _NAMES.items():
        there = _called(grid, name)
        if there is not None:
            headers[there.index] = _meaning(there, new)
    headers[cc.index] = _meaning(cc, "calibration curve")
    for row, kind in zip(cells, kinds, strict=True):
        row[cc.index] = _CURVES.get(kind, "")
    for old, raw, plain in (age, "14C age", "age (cal BP)"), (error, "14C error", "age error (cal BP)"):
        headers[old.index] = _meaning(old, plain if any(calendar) else raw)
        if not any(calendar) or all(calendar):
            continue
        headers.append(replace(_meaning(old, raw), index=len(headers)))
        for row, is_calendar in zip(cells, calendar, strict=True):
            row.append("" if is_calendar else row[old.index])
            row[old.index] = row[old.index] if is_calendar else ""
    return replace(grid, headers=headers, cells=cells, form=f"{grid.form}, with Bacon's column cc")


def _called(grid: Grid, name: str) -> Header | None:
    """The only column of this name."""
    alike = [header for header in grid.headers if squash(header.text) == squash(name)]
    return alike[0] if len(alike) == 1 else None


def _meaning(header: Header, words: str) -> Header:
    """A header that means what these words do, and is still called what the user calls it."""
    return replace(parse(header.index, words), text=header.text)


def _check(grid: Grid, cc: Header, kinds: list[str]) -> None:
    faults, do = Faults(), "write 0 for calendar ages, 1 for IntCal20, 2 for Marine20 or 3 for SHCal20"
    for kind, line in zip(kinds, grid.lines, strict=True):
        if kind == "4":
            faults.add("cc is 4, a curve of one's own, which lamina has not", do, line, cc.text)
        elif kind != _CALENDAR and kind not in _CURVES:
            faults.add(f"cc is {quote(kind)}, which is none of Bacon's kinds of ages", do, line, cc.text)
    faults.refuse(grid.path)
