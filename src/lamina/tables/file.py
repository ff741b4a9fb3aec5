"""A file as a grid of cells: encoding, separator, quotes and comments of text, Excel sheets, and the header row."""

import codecs
import csv
import hashlib
import io
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from .headers import Header, parse, squash
from .messages import Notes, TableError, listing, option, problem, quote
from .options import Options

_CHUNK = 65_536
_LARGEST = 100_000_000
_WIDEST = 1000
_SAMPLE = 60
_HEADER_WITHIN = 30
_EXCEL = (".xlsx", ".xlsm")
_SEPARATORS = {"\t": "tab", ";": "semicolon", ",": "comma"}
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig", "UTF-8"),
    (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16", "UTF-16"),
)
_MAGIC = (
    (b"PK\x03\x04", "a zip or Excel file under another name", "save the sheet as CSV or name the file .xlsx"),
    (b"\xd0\xcf\x11\xe0", "an old Excel file (.xls)", "save it as .xlsx or CSV"),
    (b"%PDF", "a PDF document", "save the table as CSV"),
    (b"\x1f\x8b", "a compressed file (gzip)", "unpack it first"),
    (b"{\\rtf", "a rich text document", "save the table as CSV"),
)
_PAGE = re.compile(rb"\s*<(?:!doctype|html|\?xml)", re.IGNORECASE)


@dataclass(frozen=True)
class Grid:
    """A rectangular table of text: the headers, the rows below them, and the line of each in the file.

    skipped: lines above the header. commented: comments below the header with as many cells as it.
    """

    path: Path
    sha256: str
    form: str
    options: Options
    headers: list[Header]
    header_line: int
    cells: list[list[str]]
    lines: list[int]
    skipped: list[int]
    commented: list[int]

    def column(self, header: Header) -> list[str]:
        """The cells below a header."""
        return [row[header.index] for row in self.cells]

    def keep(self, rows: list[int]) -> Self:
        """The same grid with only these rows."""
        return replace(self, cells=[self.cells[i] for i in rows], lines=[self.lines[i] for i in rows])

    def lines_of(self, rows: ArrayLike) -> list[int]:
        """The lines of one row or several."""
        return [self.lines[i] for i in np.atleast_1d(rows).tolist()]

    def differ(self, headers: Iterable[Header]) -> bool:
        """Whether the columns below these headers do not all hold the same cells."""
        return any(self.column(a) != self.column(b) for a, b in pairwise(headers))

    def only(self, headers: list[Header], what: str, do: str = "rename all but one") -> Header:
        """The first of several columns, which must hold the same. Raises TableError, which says `what` they hold."""
        if self.differ(headers):
            raise self.ambiguous(headers, what, do)
        return headers[0]

    def ambiguous(self, headers: list[Header], what: str, do: str) -> TableError:
        """The error to raise about several columns that do not hold the same."""
        return self.header_problem(f"{len(headers)} columns may hold {what}: {listing(headers)}", do)

    def find(self, name: str) -> Header | None:
        """The column that the user calls `name`: the very header, or the same without case and punctuation.

        Raises TableError if several columns have this name and do not hold the same.
        """
        for as_compared in (str.strip, lambda text: text.strip().lower(), squash):
            alike = [header for header in self.headers if as_compared(header.text) == as_compared(name)]
            if self.differ(alike):
                texts = [header.text for header in alike]
                found = f"{len(alike)} columns may be meant by {quote(name)}: {listing(texts)}"
                do = "give the whole header" if len(set(texts)) == len(texts) else "rename all but one"
                raise self.header_problem(found, do)
            if alike:
                return alike[0]
        return None

    def require(self, name: str, option: str) -> Header:
        """As `find`, but raises TableError, which says to correct the option, if there is no such column."""
        header = self.find(name)
        if header is None:
            found = f"there is no such column; the columns are {self.listed}"
            raise problem(self.path, found, f"correct {option}", column=name)
        return header

    @property
    def listed(self) -> str:
        """All columns by name."""
        return listing(header for header in self.headers if header.text)

    def problem(self, found: str, do: str, rows: ArrayLike | None = None, column: Header | None = None) -> TableError:
        """The error to raise about some rows of the grid, or about none."""
        lines = None if rows is None else self.lines_of(rows)
        return problem(self.path, found, do, lines, None if column is None else column.text)

    def header_problem(self, found: str, do: str, column: Header | None = None) -> TableError:
        """The error to raise about the headers."""
        return problem(self.path, found, do, self.header_line, None if column is None else column.text)


def read_grid(path: Path, options: Options) -> Grid:
    """The table in a file. Raises TableError if there is none."""
    data = _bytes(path)
    excel = path.suffix.lower() in _EXCEL
    rows = _read_excel(path, data, options.sheet) if excel else _read_text(path, data)
    if options.sheet is not None and not excel:
        raise problem(path, "there are no sheets, as this is no .xlsx file", f"leave out {option('sheet', 'NAME')}")
    if max(map(len, rows.cells)) > _WIDEST:
        raise problem(path, f"there are more than {_WIDEST} columns", "give a table with one row per measurement")
    names = {"t": options.t, "y": options.y}
    roles = {squash(name): role for role, name in names.items() if name is not None and squash(name)}
    at = _header_row(rows, roles)
    _refuse_numbers_as_header(path, rows, at)
    texts = rows.cells[at]
    while texts and not texts[-1]:
        texts = texts[:-1]
    headers = [parse(i, text, roles) for i, text in enumerate(texts)]
    cells, lines = _below(path, rows, at, texts)
    commented = [line for line, width in rows.comments if line > rows.lines[at] and width == len(texts)]
    digest = hashlib.sha256(data).hexdigest()
    return Grid(path, digest, rows.form, options, headers, rows.lines[at], cells, lines, rows.lines[:at], commented)


def _bytes(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise problem(path, "this is a folder", "give a file")
        size = path.stat().st_size
        with path.open("rb") as file:
            chunk = file.read(_CHUNK)
            if path.suffix.lower() not in _EXCEL:
                _refuse_other_files(path, chunk)
            if size > _LARGEST:
                most = f"more than a table of measurements ({_LARGEST / 1e6:.0f} MB at most)"
                do = f"give only the columns and rows to fit, or split it by site, and see {option('site', 'NAME')}"
                raise problem(path, f"the file has {size / 1e6:.0f} MB, {most}", do)
            return chunk + file.read()
    except FileNotFoundError:
        raise problem(path, "there is no such file", "check the name and the folder") from None
    except OSError as error:
        raise problem(path, f"the file cannot be read ({error.strerror})", "check that you may read it") from None


def _refuse_other_files(path: Path, chunk: bytes) -> None:
    """Raise TableError if the first bytes of a file are not those of a text table."""
    for start, what, do in _MAGIC:
        if chunk.startswith(start):
            raise problem(path, f"this is {what}", do)
    if _PAGE.match(chunk):
        raise problem(path, "this is a web page, not a table", "download the table itself and save it as CSV")
    if chunk.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return
    odd = sum(byte < 32 and byte not in b"\t\n\r\f\v" for byte in chunk)
    if b"\0" in chunk or odd > len(chunk) // 50:
        raise problem(path, "this is a binary file, not text", "save the table as CSV or .xlsx")
    if len(chunk) == _CHUNK and not re.search(rb"[\r\n]", chunk):
        raise problem(path, f"the first line does not end within {_CHUNK} bytes", "give a table with a header line")


# --- text and Excel to rows of cells ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Rows:
    """The cells of a file, stripped, without blank rows and comments; `lines` are their lines in the file.

    comments: the lines that begin with #, and how many cells each would have.
    """

    cells: list[list[str]]
    lines: list[int]
    form: str
    comments: list[tuple[int, int]]


def _read_text(path: Path, data: bytes) -> _Rows:
    """The rows of a text table. Raises TableError for anything that is not one."""
    text, encoding = _decode(data)
    everything = [(i, line) for i, line in enumerate(re.split(r"\r\n|\n|\r", text), start=1) if line.strip()]
    numbered = [(i, line) for i, line in everything if not _is_comment(line)]
    separator = _separator([line for _, line in numbered[:_SAMPLE]])
    if numbered and separator is None:
        line, first = numbered[0]
        spaced = ", only spaces" if re.search(r"\S\s+\S", first) else ""
        found = f"no comma, semicolon or tab{spaced} between the columns"
        raise problem(path, found, "save the table as CSV, with commas between the columns", line)
    cells, lines = _split(path, numbered, separator or ",")
    if not cells:
        raise problem(path, "the file is empty", "give a table with a header line and one row per measurement")
    # A line too long for a row is prose.
    comments = [(i, line) for i, line in everything if _is_comment(line) and len(line) < _CHUNK]
    widths = [(i, len(next(csv.reader([line], delimiter=separator or ",")))) for i, line in comments]
    return _Rows(cells, lines, f"{encoding} text, {_SEPARATORS[separator or ',']} separated", widths)


def _is_comment(line: str) -> bool:
    return line.lstrip().lstrip('"').lstrip().startswith("#")


def _decode(data: bytes) -> tuple[str, str]:
    for bom, codec, name in _BOMS:
        if data.startswith(bom):
            return data.decode(codec, errors="replace"), name
    try:
        return data.decode("utf-8"), "UTF-8"
    except UnicodeDecodeError:
        # Programs that write "Latin-1" mean Windows-1252, which differs only in the control characters.
        return data.decode("cp1252", errors="replace"), "Latin-1"


def _separator(sample: list[str]) -> str | None:
    """The separator under which most lines have one common number of cells, more than one."""
    best, agreed = None, 0
    for separator in _SEPARATORS:
        widths = Counter(len(row) for row in csv.reader(sample, delimiter=separator, skipinitialspace=True))
        agree = max((count for width, count in widths.items() if width > 1), default=0)
        if agree > agreed:
            best, agreed = separator, agree
    return best


def _split(path: Path, numbered: list[tuple[int, str]], separator: str) -> tuple[list[list[str]], list[int]]:
    texts = [line for _, line in numbered]
    reader = csv.reader((line + "\n" for line in texts), delimiter=separator, skipinitialspace=separator != "\t")
    cells: list[list[str]] = []
    lines: list[int] = []
    start = 0
    try:
        for row in reader:
            # A quote that is never closed swallows the lines after it; a closed one has an even number of them.
            if reader.line_num - start > 1 and "".join(texts[start : reader.line_num]).count('"') % 2:
                raise problem(path, "a quote is opened and not closed", 'close it with "', numbered[start][0])
            stripped = [cell.strip() for cell in row]
            if any(stripped):
                cells.append(stripped)
                lines.append(numbered[start][0])
            start = reader.line_num
    except csv.Error as error:
        found = f"the line cannot be split into cells ({error})"
        raise problem(path, found, "look for a stray quote", numbered[start][0]) from None
    return cells, lines


def _read_excel(path: Path, data: bytes, sheet: str | None) -> _Rows:
    """The rows of one sheet of an .xlsx file, as text.

    Raises TableError if openpyxl is missing, the file is damaged, or the sheet is not clear.
    """
    import pandas as pd  # here, because importing it takes longer than importing lamina

    try:
        book = pd.ExcelFile(io.BytesIO(data), engine="openpyxl")
    except ImportError:
        do = "run pip install 'lamina[excel]', or save the sheet as CSV"
        raise problem(path, "reading Excel files needs openpyxl", do) from None
    except (zipfile.BadZipFile, ValueError, KeyError, OSError):
        raise problem(path, "this is no readable Excel file", "open it in Excel and save it again") from None
    with book:
        name = _choose_sheet(path, [str(name) for name in book.sheet_names], sheet)
        frame = pd.read_excel(book, sheet_name=name, header=None, dtype=object, na_filter=False)
    rows = _Rows([], [], "Excel sheet", [])
    for line, values in enumerate(frame.itertuples(index=False), start=1):
        row = [_text(value) for value in values]
        if row[0].startswith("#"):
            rows.comments.append((line, max(k for k, cell in enumerate(row, start=1) if cell)))
        elif any(row):
            rows.cells.append(row)
            rows.lines.append(line)
    if not rows.cells:
        raise problem(path, "the sheet is empty", f"choose another with {option('sheet', 'NAME')}")
    return rows


def _choose_sheet(path: Path, names: list[str], sheet: str | None) -> str:
    if sheet in names or (sheet is None and len(names) == 1):
        return sheet or names[0]
    what = f"there are {len(names)} sheets:" if sheet is None else f'there is no sheet "{sheet}", but'
    raise problem(path, f"{what} {listing(names)}", f"choose one with {option('sheet', 'NAME')}")


def _text(value: object) -> str:
    """A cell as text; whole numbers without the ".0" that Excel's floating point gives them."""
    if value is None or value != value:  # NaN, an empty cell, differs from itself
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value).strip()


# --- the header, and the rows below it -------------------------------------------------------------------------------


def _header_row(rows: _Rows, roles: Mapping[str, str]) -> int:
    """The first row that names an input and something measured or its error; else the first row."""
    for i, cells in enumerate(rows.cells[:_HEADER_WITHIN]):
        headers = [parse(k, text, roles) for k, text in enumerate(cells)]
        known = {header.role for header in headers if not header.error}
        if "t" in known and ("y" in known or any(header.error for header in headers)):
            return i
    return 0


def _refuse_numbers_as_header(path: Path, rows: _Rows, at: int) -> None:
    cells = [cell for cell in rows.cells[at] if cell]
    if all(re.fullmatch(r"[-+]?\d+(?:[.,]\d+)?(?:[eE][-+]?\d+)?", cell) for cell in cells):
        found = "there is no header: the first row holds only numbers"
        do = "put a line with the names of the columns above it (without # in front)"
        raise problem(path, found, do, rows.lines[at])


def _below(path: Path, rows: _Rows, at: int, names: list[str]) -> tuple[list[list[str]], list[int]]:
    """The rows below the header, all of its width, without repetitions of the header."""
    width = len(names)
    again = [name.casefold() for name in names]
    cells: list[list[str]] = []
    lines: list[int] = []
    notes, do = Notes(), "look for a missing cell, or a separator inside a text without quotes"
    if all(len(row) == width + 1 for row in rows.cells[at + 1 :]):
        do = "give the first column, which seems to hold row names, a name too"
    for row, line in zip(rows.cells[at + 1 :], rows.lines[at + 1 :], strict=True):
        if [cell.casefold() for cell in row[:width]] == again:
            continue
        if len(row) < width or any(row[width:]):
            found = f"the row has {len(row)} cells, but the header in line {rows.lines[at]} has {width}"
            notes.fault(found, do, [line])
        cells.append(row[:width])
        lines.append(line)
    notes.refuse(path)
    if not cells:
        raise problem(path, "there is a header, but no row below it", "add the measurements", rows.lines[at])
    return cells, lines
