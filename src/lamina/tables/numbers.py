"""Cells to numbers: decimal points and commas, empty cells, and text where a number should be."""

import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from .facts import Notes
from .grid import Grid
from .headers import Header
from .problems import Faults, name_lines, option, problem, quote

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_COMMA = re.compile(r"[-+]?\d+,\d+(?:[eE][-+]?\d+)?")
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(?:,\d{3})+")
_MISSING = {"nan", "na", "n/a", "null", "none", "-", "--", "?", "missing", "#n/a", "inf", "-inf"}
#: What a row is without that has an empty cell.
_LACKING = {"input": "date", "output": "value"}
#: Numbers that stand for a missing value in many databases.
_CODE = re.compile(r"-9{3,}(?:[.,](?:0+|9+))?")
_SCALED = re.compile(r".*\d\s*(?:cal\.?\s*)?(?:(?:yrs?|years|ka|a)\.?\s*)?(BP|CE|AD|BCE|BC)", re.IGNORECASE)
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATE = re.compile(
    r"(?:\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{4}[-/]\d{1,2}"
    rf"|(?:\d{{1,2}}\.?[\s-]*)?{_MONTH}[\s,-]*(?:\d{{1,2}},?\s+)?\d{{2,4}}|\d{{4}}[\s-]+{_MONTH}(?:[\s-]+\d{{1,2}})?)"
    r"(?:[T\s]\d{1,2}:\d{2}.*)?",
    re.IGNORECASE,
)


def decimal_comma(grid: Grid, headers: Iterable[Header]) -> bool:
    """Whether numbers in these columns are written with a decimal comma. Raises TableError if that is unclear."""
    commas, points = [], 0
    for header in headers:
        for cell, line in zip(grid.column(header), grid.lines, strict=True):
            if _COMMA.fullmatch(_plain(cell)):
                commas.append((cell, line, header))
            points += "." in cell and _NUMBER.fullmatch(_plain(cell)) is not None
    if not commas:
        return False
    cell, line, header = commas[0]
    if points:
        do = "write all numbers in one way, with a point"
        raise problem(grid.path, f"found {quote(cell)}, but other numbers have a decimal point", do, line, header.text)
    if all(_THOUSANDS.fullmatch(_plain(cell)) for cell, _, _ in commas):
        do = "write thousands without a separator and decimals with a point"
        raise problem(grid.path, f"found {quote(cell)}, which may be thousands or decimals", do, line, header.text)
    return True


def values(
    grid: Grid, header: Header, comma: bool, what: str, faults: Faults, blank: bool | NDArray[np.bool_] = False
) -> NDArray[np.float64]:
    """The numbers in a column, shape (rows,); NaN for an empty cell where `blank`, one or one a row, allows it.

    A cell that is no number is NaN too, and added to the faults, which call the content `what`.
    """
    column = np.full(len(grid.cells), np.nan)
    may_be_blank = np.broadcast_to(blank, column.shape)
    scales = {match[1].upper() for cell in grid.column(header) if (match := _SCALED.fullmatch(_plain(cell)))}
    for i, cell in enumerate(grid.column(header)):
        plain = _plain(cell)
        if comma:
            plain = plain.replace(",", ".")
        if _NUMBER.fullmatch(plain) and np.isfinite(float(plain)):
            column[i] = float(plain)
        elif not (may_be_blank[i] and is_blank(cell)):
            faults.add(*_no_number(cell, what, scales), grid.lines[i], header.text)
    return column


def note_codes(grid: Grid, header: Header, notes: Notes) -> None:
    """Warn of numbers that look like a code for a missing value, such as -999, which are read as numbers."""
    rows = [i for i, cell in enumerate(grid.column(header)) if _CODE.fullmatch(_plain(cell))]
    if rows:
        notes.warn(
            f"{quote(grid.cells[rows[0]][header.index])} in {quote(header.text)} looks like a code for a missing value "
            f"({name_lines([grid.lines[i] for i in rows])}), and is read as a number. If it is a code, leave the row "
            "out or mark it in a column named reject."
        )


def is_blank(cell: str) -> bool:
    """Whether a cell is empty, or says that there is nothing in it."""
    return not cell.strip() or _plain(cell).lower() in _MISSING


def _plain(cell: str) -> str:
    return cell.strip().replace("−", "-").replace("–", "-")


def _no_number(cell: str, what: str, scales: set[str]) -> tuple[str, str]:
    """What was found instead of a number, and what to do. `scales` are those named in the cells of the column."""
    if is_blank(cell):
        found = f"the {what} is missing ({quote(cell)})" if cell.strip() else f"the {what} is empty"
        do = "fill it in, leave the row out, or mark it in a column named reject"
        if what in _LACKING:
            do += f"; --incomplete (incomplete=True in Python) keeps it as a layer without a {_LACKING[what]}"
    elif "BP" in scales and len(scales) > 1:
        found = f"BP and {min(scales - {'BP'})} are mixed in one column"
        do = "write all in one scale, as plain numbers"
    elif scales:
        found = f"found the text {quote(cell)}"
        do = f"write plain numbers and name the scale in the header or with {option('scale', 'BP')}"
    elif "±" in cell or "+/-" in cell:
        found, do = f"found a value with its error, {quote(cell)}", "put the error into a column of its own"
    elif cell.strip()[0] in "<>~":
        found, do = f"found the limit {quote(cell)}", "give a number, or mark the row in a column named reject"
    elif _DATE.fullmatch(_plain(cell)):
        found, do = f"found the date {quote(cell)}", "give decimal years, such as 1998.36 for 12 May 1998"
    else:
        found, do = f"found the text {quote(cell)} where the {what} should be a number", "correct the cell"
    return found, do
