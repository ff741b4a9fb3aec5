"""Excel sheets to cells, by pandas and openpyxl."""

import io
import zipfile
from pathlib import Path

from .problems import TableError, listing, option, problem
from .text import Rows


def read_excel(path: Path, data: bytes, sheet: str | None) -> Rows:
    """The rows of one sheet of an .xlsx file, as text.

    Raises TableError if openpyxl is missing, the file is damaged, or the sheet is not clear.
    """
    import pandas as pd  # here, because importing it takes longer than importing lamina

    try:
        book = pd.ExcelFile(io.BytesIO(data), engine="openpyxl")
    except ImportError:
        raise problem(
            path, "reading Excel files needs openpyxl", "run pip install 'lamina[excel]', or save the sheet as CSV"
        ) from None
    except (zipfile.BadZipFile, ValueError, KeyError, OSError):
        raise problem(path, "this is no readable Excel file", "open it in Excel and save it again") from None
    with book:
        name = _choose(path, [str(name) for name in book.sheet_names], sheet)
        frame = pd.read_excel(book, sheet_name=name, header=None, dtype=object, na_filter=False)
    cells: list[list[str]] = []
    lines: list[int] = []
    comments: list[tuple[int, int]] = []
    for line, values in enumerate(frame.itertuples(index=False), start=1):
        row = [_text(value) for value in values]
        if row[0].startswith("#"):
            comments.append((line, max(k for k, cell in enumerate(row, start=1) if cell)))
        elif any(row):
            cells.append(row)
            lines.append(line)
    if not cells:
        raise problem(path, "the sheet is empty", f"choose another with {option('sheet', 'NAME')}")
    return Rows(cells, lines, "Excel sheet", comments)


def _choose(path: Path, names: list[str], sheet: str | None) -> str:
    if sheet is None:
        if len(names) > 1:
            raise _unclear(path, f"there are {len(names)} sheets: {listing(names)}")
        return names[0]
    if sheet not in names:
        raise _unclear(path, f'there is no sheet "{sheet}", but {listing(names)}')
    return sheet


def _unclear(path: Path, found: str) -> TableError:
    return problem(path, found, f"choose one with {option('sheet', 'NAME')}")


def _text(value: object) -> str:
    """A cell as text; whole numbers without the ".0" that Excel's floating point gives them."""
    if value is None or value != value:  # NaN, an empty cell, differs from itself
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value).strip()
