"""Excel workbooks (.xlsx, .xlsm), read row by row, with limits on what they may unpack to."""

import io
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..messages import TableError, listing, option, problem
from .cells import LARGEST_FILE, MOST_CELLS, Rows

SUFFIXES = (".xlsx", ".xlsm")
_LAST_ROW = 1_048_576


def read_excel(path: Path, data: bytes, sheet: str | None) -> Rows:
    """The rows of one sheet of a workbook, as text.

    Raises TableError if openpyxl is missing, the file is damaged or too large, or the sheet is not clear.
    """
    try:
        from openpyxl import load_workbook  # optional, and slow to import
    except ImportError:
        do = "run pip install openpyxl, or save the sheet as CSV"
        raise problem(path, "reading Excel files needs openpyxl", do) from None
    check_archive(path, data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and extensions, which play no part here
            book = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
            chosen = book[_choose_sheet(path, book.sheetnames, sheet)]
            rows = _rows(path, chosen)
            book.close()
    except TableError:
        raise
    except Exception:  # a damaged file can make the reader raise anything
        raise _damaged(path) from None
    if not rows.cells:
        raise problem(path, "the sheet is empty", f"choose another with {option('sheet', 'NAME')}")
    return rows


def check_archive(path: Path, data: bytes) -> None:
    """Raise TableError if a zip archive is damaged, or would unpack to more than a table."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            total = sum(max(one.file_size, one.compress_size) for one in archive.infolist())
    except Exception:
        raise _damaged(path) from None
    if total > 5 * LARGEST_FILE:
        found = f"the file unpacks to {total / 1e6:,.0f} MB, more than a table of measurements"
        raise problem(path, f"{found} ({5 * LARGEST_FILE / 1e6:.0f} MB at most)", "save only the sheet to read, as CSV")


def _damaged(path: Path) -> TableError:
    what = "Excel" if path.suffix.lower() in SUFFIXES else f"{path.suffix.lower()}"
    do = "open it in Excel and save it again, or save the sheet as CSV" if what == "Excel" else "get the file again"
    return problem(path, f"this is not a readable {what} file", do)


def _choose_sheet(path: Path, names: list[str], sheet: str | None) -> str:
    if sheet in names or (sheet is None and len(names) == 1):
        return sheet or names[0]
    alike = [name for name in names if sheet is not None and name.casefold() == sheet.casefold()]
    if len(alike) == 1:
        return alike[0]
    what = f"there are {len(names)} sheets:" if sheet is None else f'there is no sheet "{sheet}", but'
    error = problem(path, f"{what} {listing(names)}", f"choose one with {option('sheet', 'NAME')}")
    error.choices = {"sheet": names}
    raise error


def _rows(path: Path, sheet: Any) -> Rows:
    rows = Rows([], [], "Excel sheet", ragged=True)
    if not hasattr(sheet, "reset_dimensions"):
        return rows  # a sheet that holds a chart only
    sheet.reset_dimensions()  # which may be wrong, and would fill every row up to the widest
    for line, row in _lines(path, sheet):
        if row[0].startswith("#"):
            rows.comments.append((line, len(row)))
        else:
            rows.cells.append(row)
            rows.lines.append(line)
    return rows


def _lines(path: Path, sheet: Any) -> Iterator[tuple[int, list[str]]]:
    """The rows that have a cell with something in it, without the empty cells at their end; and their numbers."""
    cells = 0
    for line, values in enumerate(sheet.iter_rows(values_only=True), start=1):
        if line > _LAST_ROW:
            raise problem(path, f"a row lies below the last one of Excel, {_LAST_ROW:,}", "save the sheet as CSV")
        cells += len(values)
        if cells > MOST_CELLS:
            do = "look for stray cells far to the right, or save the table as CSV"
            raise problem(path, f"the sheet spans more than {MOST_CELLS:,} cells", do, line)
        row = [_text(value) for value in values]
        while row and not row[-1]:
            row.pop()
        if row:
            yield line, row


def _text(value: object) -> str:
    """A cell as text; whole numbers without the ".0" that Excel's floating point gives them."""
    if value is None or value != value:  # NaN, an empty cell, differs from itself
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value).strip()
