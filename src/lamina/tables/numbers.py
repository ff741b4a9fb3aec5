"""Cells to numbers: decimal points and commas, empty cells, text where a number should be, and units of errors."""

import math
import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ..support.calendars import without_calendar, words
from .columns import Reading
from .headers import Header
from .messages import option, quote

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

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
_LENGTHS = {"m": 1.0, "metre": 1.0, "meter": 1.0, "cm": 0.01, "mm": 0.001, "km": 1000.0}
_TIMES = {"a": 1.0, "y": 1.0, "yr": 1.0, "year": 1.0, "ka": 1e3, "kyr": 1e3, "ky": 1e3, "ma": 1e6, "myr": 1e6}
_PARTS = ("%", "percent")


def decimal_comma(reading: Reading, headers: Iterable[Header]) -> bool:
    """Whether numbers in these columns are written with a decimal comma. Raises TableError if that is unclear."""
    cells = [(cell, i, header) for header in headers for i, cell in enumerate(reading.column(header))]
    commas = [one for one in cells if "," in one[0] and _COMMA.fullmatch(_plain(one[0]))]
    if not commas:
        return False
    first, row, column = commas[0]
    if any("." in cell and _NUMBER.fullmatch(_plain(cell)) for cell, _, _ in cells):
        do = "write all numbers in one way, with a point"
        raise reading.problem(f"found {quote(first)}, but other numbers have a decimal point", do, row, column)
    if all(_THOUSANDS.fullmatch(_plain(cell)) for cell, _, _ in commas):
        do = "write thousands without a separator and decimals with a point"
        raise reading.problem(f"found {quote(first)}, which may be thousands or decimals", do, row, column)
    return True


def values(reading: Reading, header: Header, what: str, blank: bool | Mask = False, faults: bool = True) -> Array:
    """The numbers in a column, shape (rows,); NaN for an empty cell where `blank`, one or one a row, allows it.

    A cell that is no number is NaN too, and added to the `faults`, which call the content `what`.
    """
    cells = reading.column(header)
    column = np.array([_number(cell, reading.comma) for cell in cells])
    may_be_blank = np.broadcast_to(blank, column.shape)
    wrong = [i for i in np.flatnonzero(np.isnan(column)).tolist() if not (may_be_blank[i] and is_blank(cells[i]))]
    if wrong and faults:
        scales = {match[1].upper() for cell in cells if (match := _SCALED.fullmatch(_plain(cell)))}
        for i in wrong:
            reading.fault(*_no_number(cells[i], what, scales), i, header)
    return column


def blanks(reading: Reading, header: Header) -> Mask:
    """Which rows have nothing in a column."""
    return np.array([is_blank(cell) for cell in reading.column(header)])


def note_codes(reading: Reading, header: Header) -> None:
    """Warn of numbers that look like a code for a missing value, such as -999, which are read as numbers."""
    cells = reading.column(header)
    rows = [i for i, cell in enumerate(cells) if "999" in cell and _CODE.fullmatch(_plain(cell))]
    if rows:
        reading.warn(
            f"{quote(cells[rows[0]])} in {header} looks like a code for a missing value ({reading.name_lines(rows)}), "
            "and is read as a number. If it is a code, leave the row out or mark it in a column named reject."
        )


def is_blank(cell: str) -> bool:
    """Whether a cell is empty, or says that there is nothing in it."""
    return not cell.strip() or _plain(cell).lower() in _MISSING


def factor(reading: Reading, role: str, of: Header, error: Header) -> float:
    """What the numbers of an error column are multiplied by to be in the unit of the column `of`: 1 if not known.

    Raises TableError for an error in percent of something that is not.
    """
    if error.unit.lower() in _PARTS and of.unit.lower() not in _PARTS:
        found = f"the error is in percent, which {of} is not"
        raise reading.header_problem(found, f"give it in {of.unit or f'the unit of {of}'}", error)
    unit, unit_of = (_in_family(role, header.unit) for header in (error, of))
    return 1.0 if unit is None or unit_of is None else unit / unit_of


def _plain(cell: str) -> str:
    return cell.strip().replace("−", "-").replace("–", "-")


def _number(cell: str, comma: bool) -> float:
    """The number in a cell; NaN for anything else."""
    plain = _plain(cell)
    if comma:
        plain = plain.replace(",", ".")
    number = float(plain) if _NUMBER.fullmatch(plain) else math.nan
    return number if math.isfinite(number) else math.nan


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


def _in_family(role: str, unit: str) -> float | None:
    """A unit in metres (of the output) or years (of the input); None for any other."""
    if role == "y":
        first = words(unit)[:1]
        return _LENGTHS.get(_singular(first[0])) if first else None
    rest = without_calendar(unit)
    if not rest:
        return 1.0 if words(unit) else None  # a calendar alone, such as BP, counts years
    return _TIMES.get(_singular(rest[0]))


def _singular(word: str) -> str:
    """A unit in lower case and in the singular."""
    return word.lower().removesuffix("s") if len(word) > 1 else word.lower()
