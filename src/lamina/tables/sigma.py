"""Errors to standard deviations: 1 or 2 sigma, upper and lower errors, upper and lower limits."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .facts import Notes
from .grid import Grid
from .headers import Header
from .numbers import values
from .options import Options
from .problems import Faults, TableError, listing, name_lines, option, problem, quote
from .units import factor

Column = Callable[[Header], NDArray[np.float64]]

_NAMES = {"t": "input", "y": "output"}
#: Upper and lower errors that differ by less than this part of their mean count as one.
_ALIKE = 0.2
#: What a kind of date is made of.
_PAIRS = {
    "split": "upper and lower errors of the input",
    "uniform": "limits of the input, such as age_min and age_max",
}


class Errors(NamedTuple):
    """Standard deviations, shape (rows,); of upper and lower errors or limits also those towards smaller numbers
    (`low`) and towards larger ones (`up`).
    """

    sd: NDArray[np.float64]
    low: NDArray[np.float64] | None = None
    up: NDArray[np.float64] | None = None


def standard_deviations(
    grid: Grid,
    role: str,
    of: Header,
    centre: NDArray[np.float64],
    columns: list[Header],
    options: Options,
    comma: bool,
    notes: Notes,
    faults: Faults,
    absent: NDArray[np.bool_],
) -> Errors:
    """The standard deviation of each row's input or output, shape (rows,), in the unit of its column `of`.

    Rows where there is none (`absent`) may have no error either. Limits that are read as a uniform range keep their
    distances from the value, in `low` and `up`. Cells that cannot be used are added to the faults. Raises TableError
    if the columns cannot.
    """
    given = getattr(options, f"{role}_sd")
    kind = options.t_errors if role == "t" else None
    if not columns:
        if kind in _PAIRS:
            raise _no_pair(grid, kind)
        if given is None:
            raise _no_errors(grid, role)
        return Errors(_constant(grid, role, float(given), options, notes))
    factors = {header.index: factor(grid, role, of, header) for header in columns}
    _note_units(role, of, [header for header in columns if factors[header.index] != 1.0], notes)

    def column(header: Header) -> NDArray[np.float64]:
        return factors[header.index] * values(grid, header, comma, "error", faults, blank=absent)

    limits, low, up = False, None, None
    single, upper, lower = _sides(columns)
    if len(single) == 1 and bool(upper) != bool(lower):
        # "Age-2s" beside "Age +2s": the hyphen was meant as a sign.
        upper, lower, single = upper or single, lower or single, []
    if single:
        sd, used = _symmetric(grid, role, single, column, faults), single[0]
        same = ", like all of its names" if len(single) > 1 else ""
        notes.fact(f"{_NAMES[role]} error", f"the column {quote(used.text)}", f"the same on both sides{same}")
    elif upper and lower:
        used = _one(grid, role, upper)
        low, up, limits = _pair(grid, role, centre, used, _one(grid, role, lower), column, kind, notes, faults)
        sd = (low + up) / 2.0
    else:
        used = _one(grid, role, upper or lower)
        notes.warn(
            f"only one side of the error of the {_NAMES[role]} is given, in {quote(used.text)}; it is used for both."
        )
        sd = _magnitude(used, column(used))
        _note_negative(grid, sd, used, faults)
    if role == "y":
        _note_zero(grid, sd, used, faults)
    if kind is not None and ((kind == "uniform" and not limits) or (kind == "split" and low is None)):
        raise _no_pair(grid, kind)
    number = 1 if kind == "uniform" else _sigma(role, used, limits, options, notes)
    return Errors(sd / number, None if low is None else low / number, None if up is None else up / number)


def _no_pair(grid: Grid, kind: str) -> TableError:
    found = f"{option('t_errors', kind)} needs {_PAIRS[kind]}, and there are none"
    return problem(grid.path, found, "add them, or leave the option out", grid.header_line)


def _note_units(role: str, of: Header, columns: list[Header], notes: Notes) -> None:
    for header in columns:
        notes.fact(
            f"{_NAMES[role]} error unit",
            f"{header.unit}, turned into {of.unit}",
            f"the headers {quote(header.text)} and {quote(of.text)} say so",
        )


def _sides(columns: list[Header]) -> tuple[list[Header], list[Header], list[Header]]:
    return tuple([h for h in columns if h.side == side] for side in (None, "up", "low"))  # type: ignore[return-value]


def _one(grid: Grid, role: str, columns: list[Header]) -> Header:
    first = columns[0]
    if any(grid.column(other) != grid.column(first) for other in columns[1:]):
        raise _ambiguous(grid, role, columns)
    return first


def _ambiguous(grid: Grid, role: str, columns: list[Header]) -> TableError:
    return problem(
        grid.path,
        f"{len(columns)} columns may hold the error of the {_NAMES[role]}: {listing(h.text for h in columns)}",
        f"choose one with {option(f'{role}_sd', 'COLUMN')}",
        grid.header_line,
    )


def _symmetric(grid: Grid, role: str, columns: list[Header], column: Column, faults: Faults) -> NDArray[np.float64]:
    """One error for both sides. Several columns will do if they say the same, as 1 and 2 sigma may."""
    first = column(columns[0])
    for other in columns[1:]:
        again = column(other) * (columns[0].sigma or 1) / (other.sigma or 1)
        known = np.isfinite(first + again)
        if not np.allclose(first[known], again[known], rtol=0.01, atol=0.0):
            raise _ambiguous(grid, role, columns)
    _note_negative(grid, first, columns[0], faults)
    return first


def _magnitude(header: Header, column: NDArray[np.float64]) -> NDArray[np.float64]:
    """Lower errors may be written with their sign, all of them."""
    return -column if header.side == "low" and header.says_error and not (column > 0.0).any() else column


def _pair(
    grid: Grid,
    role: str,
    centre: NDArray[np.float64],
    upper: Header,
    lower: Header,
    column: Column,
    kind: str | None,
    notes: Notes,
    faults: Faults,
) -> tuple[NDArray[np.float64], NDArray[np.float64], bool]:
    """Errors towards smaller and larger numbers, and whether they are distances of limits."""
    if upper.sigma != lower.sigma:
        raise problem(
            grid.path,
            f"{listing([upper.text, lower.text])} are not of the same number of sigmas",
            "correct the headers, or give one error column",
            grid.header_line,
        )
    up, low = column(upper), column(lower)
    if not (upper.says_error or lower.says_error) and _are_limits(centre, up, low):
        return *_limits(grid, role, centre, up, low, [upper, lower], kind, notes, faults), True
    low = _magnitude(lower, low)
    _note_negative(grid, up, upper, faults)
    _note_negative(grid, low, lower, faults)
    mean = (up + low) / 2.0
    uneven = np.flatnonzero(np.abs(up - low) > _ALIKE * mean)
    name = _NAMES[role]
    if uneven.size and kind != "split":
        instead = f" To read them as they are, say {option('t_errors', 'split')}." if role == "t" else ""
        lines = name_lines([grid.lines[i] for i in uneven])
        notes.warn(
            f"upper and lower errors of the {name} differ by more than 20 % ({lines}); both sides get their mean."
            + instead
        )
    how = "the mean of upper and lower" if kind != "split" else "a split normal, you said so"
    how = "equal on both sides" if np.array_equal(up, low, equal_nan=True) else how
    notes.fact(f"{name} error", f"columns {listing([upper.text, lower.text])}", how)
    return low, up, False


def _are_limits(centre: NDArray[np.float64], up: NDArray[np.float64], low: NDArray[np.float64]) -> bool:
    """Whether the columns are limits: in most rows the value lies between them (or would, if they were swapped)."""
    inside = (np.minimum(up, low) <= centre) & (centre <= np.maximum(up, low))
    return bool(inside.sum() > 0.5 * np.isfinite(centre + up + low).sum())


def _limits(
    grid: Grid,
    role: str,
    centre: NDArray[np.float64],
    up: NDArray[np.float64],
    low: NDArray[np.float64],
    columns: list[Header],
    kind: str | None,
    notes: Notes,
    faults: Faults,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The distances of the limits from the value, towards smaller and larger numbers."""
    older = any(word in columns[0].text.lower() for word in ("old", "bottom"))
    if not older or (up > low).any():
        for i in np.flatnonzero(up < low):
            found = f"the upper limit {up[i]:g} is below the lower limit {low[i]:g}"
            faults.add(found, "swap the two", grid.lines[i], columns[0].text)
    for i in np.flatnonzero((centre < np.minimum(up, low)) | (centre > np.maximum(up, low))):
        found = f"the value {centre[i]:g} is not between its limits {low[i]:g} and {up[i]:g}"
        faults.add(found, "correct the row", grid.lines[i], columns[0].text)
    how = {"uniform": "a uniform range, you said so", "split": "a split normal, you said so"}
    said = how.get(kind or "", "half of the range they span")
    notes.fact(f"{_NAMES[role]} error", f"columns {listing(h.text for h in columns)}", said)
    return centre - np.minimum(up, low), np.maximum(up, low) - centre


def _sigma(role: str, header: Header, limits: bool, options: Options, notes: Notes) -> int:
    """1 or 2, and why. `limits`: the error is half of the range of limits."""
    name = f"{_NAMES[role]} sigma"
    chosen: int | None = getattr(options, f"{role}_sigma")
    if chosen is not None:
        contrary = header.sigma is not None and header.sigma != chosen
        notes.fact(name, f"{chosen} sigma", "you said so" + (f", against {quote(header.text)}" if contrary else ""))
        return chosen
    if header.sigma is not None:
        notes.fact(name, f"{header.sigma} sigma", f"the header {quote(header.text)} says so")
        return header.sigma
    if limits:
        notes.fact(name, "2 sigma", f"limits usually span 95 %; change it with {option(f'{role}_sigma', '1')}")
        return 2
    notes.fact(
        name, "1 sigma", f"assumed, as {quote(header.text)} does not say; change it with {option(f'{role}_sigma', '2')}"
    )
    return 1


def _constant(grid: Grid, role: str, given: float, options: Options, notes: Notes) -> NDArray[np.float64]:
    if not np.isfinite(given) or given < 0.0 or (role == "y" and given == 0.0):
        found = option(f"{role}_sd", f"{given:g}")
        raise problem(grid.path, f"{found} is no standard deviation", "give a number above 0")
    number: int = getattr(options, f"{role}_sigma") or 1
    notes.fact(f"{_NAMES[role]} error", f"{given:g} in all rows", f"you said so, {number} sigma")
    return np.full(len(grid.cells), given / number)


def _note_zero(grid: Grid, column: NDArray[np.float64], header: Header, faults: Faults) -> None:
    do = "give every output an error above 0, a small one if it is precise; only inputs can be exact"
    for i in np.flatnonzero(column == 0.0):
        faults.add("the error of the output is 0", do, grid.lines[i], header.text)


def _note_negative(grid: Grid, column: NDArray[np.float64], header: Header, faults: Faults) -> None:
    for i in np.flatnonzero(column < 0.0):
        found = f"the error is negative ({quote(grid.cells[i][header.index])})"
        faults.add(found, "give errors without sign", grid.lines[i], header.text)


def _no_errors(grid: Grid, role: str) -> TableError:
    columns = listing(h.text for h in grid.headers if h.text)
    return problem(
        grid.path,
        f"no column holds the error of the {_NAMES[role]}; the columns are {columns}",
        f"name it, or give one number for all rows, with {option(f'{role}_sd', 'COLUMN or NUMBER')}",
        grid.header_line,
    )
