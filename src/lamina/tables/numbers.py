"""Cells to numbers: decimal points and commas, thousands, empty cells, and text where a number should be."""

import contextlib
import math
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .columns import Reading
from .headers import Header
from .messages import option, quote

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
_COMMA = re.compile(r"[-+]?\d+,\d+(?:[eE][-+]?\d+)?")
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(?:,\d{3})+")
#: Numbers with a point and three decimals, and whole numbers as large as thousands usually are.
_POINTED = re.compile(r"[-+]?[1-9]\d{0,2}(?:\.\d{3})+")
#: Points for thousands and a decimal comma.
_BOTH = re.compile(r"[-+]?\d{1,3}(?:\.\d{3})+,\d+")
_WHOLE = re.compile(r"[-+]?\d{3,}")
_LONGEST = 100
_MISSING = {"nan", "na", "n/a", "null", "none", "-", "--", "?", "missing", "#n/a", "inf", "-inf"}
#: The characters of plain numbers, and what is empty among them.
_PLAIN = re.compile(r"[0-9.eE+\-\n]*")
_PLAIN_BLANKS = {"", "-", "--"}
#: What a row is without that has an empty cell.
_LACKING = {"input": "date", "output": "value"}
_SCALED = re.compile(r".*\d\s*(?:cal\.?\s*)?(?:(?:yrs?|years|ka|a)\.?\s*)?(BP|CE|AD|BCE|BC)", re.IGNORECASE)
_RANGE = re.compile(r"\d{2,}(?:\.\d+)?\s*(?:-|—|to)\s*\d{3,}(?:\.\d+)?")
#: An upper and a lower error: "+20/-15".
_SIDES = re.compile(r"\+\s?\d+(?:[.,]\d+)?\s?[/,;]?\s?-\s?\d+(?:[.,]\d+)?")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATE = re.compile(
    r"(?:\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{4}[-/]\d{1,2}"
    rf"|(?:\d{{1,2}}\.?[\s-]*)?{_MONTH}[\s,-]*(?:\d{{1,2}},?\s+)?\d{{2,4}}|\d{{4}}[\s-]+{_MONTH}(?:[\s-]+\d{{1,2}})?)"
    r"(?:[T\s]\d{1,2}:\d{2}.*)?",
    re.IGNORECASE,
)


def decimal_comma(reading: Reading, headers: Iterable[Header]) -> bool:
    """Whether numbers in these columns are written with a decimal comma. Raises TableError if that is unclear."""
    headers = list(headers)
    columns = {header.index: reading.column(header) for header in headers}
    _refuse_pointed_thousands(reading, headers)
    if not any("," in "\n".join(column) for column in columns.values()):
        return False
    cells = [(cell, i, header) for header in headers for i, cell in enumerate(columns[header.index])]
    if any("," in cell and "." in cell and _BOTH.fullmatch(_plain(cell)) for cell, _, _ in cells):
        return True  # these cells are no numbers, and become faults
    commas = [one for one in cells if "," in one[0] and _COMMA.fullmatch(_plain(one[0]))]
    if not commas:
        return False
    first, row, column = commas[0]
    points = [one for one in cells if "." in one[0] and _NUMBER.fullmatch(_plain(one[0]))]
    if points and all(_POINTED.fullmatch(_plain(cell)) for cell, _, _ in points):
        thousand, where, header = points[0]
        found = f"found {quote(thousand)} beside {quote(first)}, which may be thousands or decimals"
        raise reading.problem(found, "write thousands without a separator, and decimals in one way", where, header)
    if points and all(_THOUSANDS.fullmatch(_plain(cell)) for cell, _, _ in commas):
        found = f"found {quote(first)} beside {quote(points[0][0])}, which may be thousands or decimals"
        raise reading.problem(found, "write thousands without a separator, and decimals with a point", row, column)
    if points:
        do = "write all numbers in one way, with a point"
        raise reading.problem(f"found {quote(first)}, but other numbers have a decimal point", do, row, column)
    if all(_THOUSANDS.fullmatch(_plain(cell)) for cell, _, _ in commas):
        do = "write thousands without a separator and decimals with a point"
        raise reading.problem(f"found {quote(first)}, which may be thousands or decimals", do, row, column)
    return True


def has_decimal_commas(cells: Iterable[str]) -> bool:
    """Whether some of these cells are numbers with a comma, and none is one with a point."""
    numbers = [one for one in map(_plain, cells) if "," in one or "." in one]
    return any(map(_COMMA.fullmatch, numbers)) and not any(map(_NUMBER.fullmatch, numbers))


def _refuse_pointed_thousands(reading: Reading, headers: Iterable[Header]) -> None:
    """Raise TableError if a column may have points for thousands, as 980 above 1.234 shows."""
    for header in headers:
        column = reading.column(header)
        if "." not in "\n".join(column):
            continue
        pointed = [cell for cell in column if "." in cell]
        if not pointed or len(pointed) == len(column) or not all(map(_POINTED.fullmatch, pointed)):
            continue
        cells = [cell for cell in column if not is_blank(cell)]
        whole = [cell for cell in cells if _WHOLE.fullmatch(cell)]
        if whole and len(whole) + len(pointed) == len(cells):
            row = column.index(pointed[0])
            found = f"found {quote(pointed[0])} beside {quote(whole[0])}, which may be thousands or decimals"
            do = "write thousands without a separator, or give all numbers of the column as many decimals"
            raise reading.problem(found, do, row, header)


def values(reading: Reading, header: Header, what: str, blank: bool | Mask = False, faults: bool = True) -> Array:
    """The numbers in a column, shape (rows,); NaN for an empty cell where `blank`, one or one a row, allows it.

    A cell that is not a number is NaN too, and added to the `faults`, which call the content `what`.
    """
    cells = reading.column(header)
    column = numbers_in(cells, reading.comma)
    may_be_blank = np.broadcast_to(blank, column.shape)
    wrong = [i for i in np.flatnonzero(np.isnan(column)).tolist() if not (may_be_blank[i] and is_blank(cells[i]))]
    if wrong and faults:
        scales = {match[1].upper() for cell in cells if (match := _SCALED.fullmatch(_plain(cell)))}
        for i in wrong:
            layer: dict[str, Any] = {"incomplete": True} if what == "output" and is_blank(cells[i]) else {}
            reading.fault(*_no_number(cells[i], what, scales), i, header, **layer)
    return column


def blanks(reading: Reading, header: Header) -> Mask:
    """Which rows have nothing in a column."""
    cells = reading.column(header)
    if _is_plain(cells):
        return np.array([cell in _PLAIN_BLANKS for cell in cells])
    return np.array([is_blank(cell) for cell in cells])


def is_blank(cell: str) -> bool:
    """Whether a cell is empty, or says that there is nothing in it."""
    return not cell.strip() or _plain(cell).lower() in _MISSING


def _plain(cell: str) -> str:
    """A cell with plain signs. What is too long for a number or a date is cut, so that matching stays fast."""
    if len(cell) > _LONGEST:
        return f"{cell[:_LONGEST]}…"
    return cell.strip().replace("−", "-").replace("–", "-")


def numbers_in(cells: list[str], comma: bool) -> Array:
    """The numbers in cells, shape (rows,); NaN for anything else."""
    if _is_plain(cells):
        with contextlib.suppress(ValueError):
            column = np.array([cell or "nan" for cell in cells], dtype=np.float64)
            return np.where(np.isfinite(column), column, np.nan)
    return np.array([number_in(cell, comma) for cell in cells])


def _is_plain(cells: list[str]) -> bool:
    """Whether cells have only characters of numbers with a decimal point: these are read at once."""
    return _PLAIN.fullmatch("\n".join(cells)) is not None


def number_in(cell: str, comma: bool) -> float:
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
    elif scales & {"BC", "BCE"}:
        found = f"found the text {quote(cell)}"
        do = f"write plain numbers, years BCE as negative ones, and say {option('scale', 'CE')}"
    elif scales:
        found = f"found the text {quote(cell)}"
        scale = "BP" if "BP" in scales else "CE"
        do = f"write plain numbers and name the scale in the header or with {option('scale', scale)}"
    elif re.fullmatch(r"[-+]?\d{1,3}(?:[., ’']\d{3})+(?:[.,]\d+)?", _plain(cell)):
        found, do = f"found {quote(cell)}", "write thousands without a separator, and decimals with a point"
    elif _SIDES.fullmatch(_plain(cell)):
        found = f"found two errors in one cell, {quote(cell)}"
        do = "put them into two columns, such as age error + and age error -"
    elif "±" in cell or "+/-" in cell:
        found, do = f"found a value with its error, {quote(cell)}", "put the error into a column of its own"
    elif cell.strip()[0] in "<>~":
        found, do = f"found the limit {quote(cell)}", "give a number, or mark the row in a column named reject"
    elif _RANGE.fullmatch(_plain(cell)):
        found, do = f"found the range {quote(cell)}", "put its ends into two columns, such as age_min and age_max"
    elif _DATE.fullmatch(_plain(cell)):
        found, do = f"found the date {quote(cell)}", "give decimal years, such as 1998.36 for 12 May 1998"
    else:
        found, do = f"found the text {quote(cell)} where the {what} should be a number", "correct the cell"
    return found, do
