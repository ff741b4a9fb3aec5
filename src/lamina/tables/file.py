"""A file as a table of cells: the header row, and the rows below it, whatever the format of the file."""

import codecs
import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Self, cast

import numpy as np
from numpy.typing import ArrayLike

from ..support.text import is_number
from .formats import lipd
from .formats.cells import LARGEST_FILE, LONGEST_HEADER, LONGEST_PROSE, Rows, check_size
from .formats.excel import SUFFIXES as EXCEL
from .formats.excel import read_excel
from .formats.text import read_text
from .headers import NO_OUTPUT, Header, parse, squash
from .messages import Fact, Notes, TableError, flag, listing, name_lines, option, problem, quote, set_by
from .options import Options
from .shapes.units_row import with_units

_CHUNK = 65_536
_HEADER_WITHIN = 30
_MAGIC = (
    (b"PK\x03\x04", "a zip or Excel file under another name", "save the sheet as CSV or name the file .xlsx"),
    (b"\xd0\xcf\x11\xe0", "an old Excel file (.xls)", "save it as .xlsx or CSV"),
    (b"%PDF", "a PDF document", "save the table as CSV"),
    (b"\x1f\x8b", "a compressed file (gzip)", "unpack it first"),
    (b"{\\rtf", "a rich text document", "save the table as CSV"),
)
_PAGE = re.compile(rb"\s*<(?:!doctype|html|\?xml)", re.IGNORECASE)


class Cells(list[list[str]]):
    """The rows of a table, which do not change any more, so that each column is collected once."""

    def __init__(self, rows: Iterable[list[str]]):
        super().__init__(rows)
        self._columns: dict[int, list[str]] = {}

    def column(self, index: int) -> list[str]:
        """The cells of one column."""
        if index not in self._columns:
            self._columns[index] = [row[index] for row in self]
        return self._columns[index]


@dataclass(frozen=True)
class Table:
    """A rectangular table of text: the headers, the rows below them, and the line of each in the file.

    skipped: lines above the header. commented: comments below the header with as many cells as it.
    program: whose table this is, "" if it is not known. facts, warnings: what the file says about itself.
    assumed: why an option that the user has not set has its value, by the name of the option.
    prose: comments, and lines above the header.
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
    program: str = field(default="", kw_only=True)
    facts: tuple[Fact, ...] = field(default=(), kw_only=True)
    warnings: tuple[str, ...] = field(default=(), kw_only=True)
    assumed: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    prose: tuple[str, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.cells, Cells):
            object.__setattr__(self, "cells", Cells(self.cells))

    def set_by(self, name: str) -> str:
        """Why something was read as it was: who or what has set the option."""
        return self.assumed.get(name) or set_by(name)

    def noting(self, *facts: Fact) -> Self:
        """The same table with more facts."""
        return replace(self, facts=(*self.facts, *facts))

    def column(self, header: Header) -> list[str]:
        """The cells below a header, not to be changed."""
        return cast(Cells, self.cells).column(header.index)

    def keep(self, rows: list[int]) -> Self:
        """The same table with only these rows, which stay in their order."""
        if len(rows) == len(self.cells):
            return self
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
        """The column that the user calls `name`: exactly the header, or the same without case and punctuation.

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
        return listing(header for header in self.headers if header.text not in ("", NO_OUTPUT))

    def problem(self, found: str, do: str, rows: ArrayLike | None = None, column: Header | None = None) -> TableError:
        """The error to raise about some rows of the table, or about none."""
        lines = None if rows is None else self.lines_of(rows)
        return problem(self.path, found, do, lines, None if column is None else column.text)

    def header_problem(self, found: str, do: str, column: Header | None = None) -> TableError:
        """The error to raise about the headers."""
        return problem(self.path, found, do, self.header_line, None if column is None else column.text)


def read_table(path: Path, options: Options, dates: bool = False) -> Table:
    """The table in a file; of a file with several, that of its `dates` or that of its measurements.

    Raises TableError if there is none.
    """
    data = _bytes(path)
    rows = _read_rows(path, data, options, dates)
    check_size(path, rows)
    assumed = {name: one for name, one in rows.assumed.items() if getattr(options, name) is None}
    options = replace(options, **{name: one.value for name, one in assumed.items()})
    names = {"t": options.t, "y": options.y}
    roles = {squash(name): role for role, name in names.items() if name is not None and squash(name)}
    at = _header_row(rows, roles) if rows.header is None else rows.header
    _refuse_numbers_as_header(path, rows, at)
    rows = with_units(rows, at)
    texts = rows.cells[at]
    while texts and not texts[-1]:
        texts = texts[:-1]
    headers = _headers(path, rows, at, texts, roles)
    cells, lines, ragged = _below(path, rows, at, texts, options)
    if ragged:
        left_out = f"rows whose number of cells differs from the header's are left out ({name_lines(ragged)})."
        rows = replace(rows, warnings=(*rows.warnings, left_out))
    above = tuple(" ".join(row)[:LONGEST_PROSE] for row in rows.cells[:at])
    return Table(
        path, hashlib.sha256(data).hexdigest(), rows.form, options, headers, rows.lines[at], cells, lines,
        rows.lines[:at], [line for line, width in rows.comments if line > rows.lines[at] and width == len(texts)],
        facts=rows.facts, warnings=rows.warnings, assumed={name: one.why for name, one in assumed.items()},
        prose=(*rows.prose, *above),
    )  # fmt: skip


def read_rows(path: Path, options: Options) -> Rows:
    """All rows of a file, also of one in which there is no table. Raises TableError if it cannot be read at all."""
    return _read_rows(path, _bytes(path), options, dates=False)


def _read_rows(path: Path, data: bytes, options: Options, dates: bool) -> Rows:
    if lipd.is_lipd(path):
        return lipd.read(path, data, options.sheet, dates)
    if path.suffix.lower() in EXCEL:
        return read_excel(path, data, options.sheet)
    if options.sheet is not None:
        found = "there are no sheets, as this is not an .xlsx or .lpd file"
        raise problem(path, found, f"leave out {option('sheet', 'NAME')}")
    return read_text(path, data)


def _bytes(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise problem(path, "this is a folder", "give a file")
        size = path.stat().st_size
        with path.open("rb") as file:
            chunk = file.read(_CHUNK)
            if path.suffix.lower() not in (*EXCEL, lipd.SUFFIX):
                _refuse_other_files(path, chunk)
            if size > LARGEST_FILE:
                most = f"more than a table of measurements ({LARGEST_FILE / 1e6:.0f} MB at most)"
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


# --- the header, and the rows below it -------------------------------------------------------------------------------


def _header_row(rows: Rows, roles: Mapping[str, str]) -> int:
    """The first row that names an input and something measured or its error; else the first of several cells."""
    for i, cells in enumerate(rows.cells[:_HEADER_WITHIN]):
        headers = [parse(k, text, roles) for k, text in enumerate(cells) if len(text) <= LONGEST_HEADER]
        known = {header.role for header in headers if not header.error}
        if "t" in known and ("y" in known or any(header.error for header in headers)):
            return i
    several = (i for i, cells in enumerate(rows.cells[:_HEADER_WITHIN]) if sum(map(bool, cells)) > 1)
    return next(several, 0)


def _headers(path: Path, rows: Rows, at: int, texts: list[str], roles: Mapping[str, str]) -> list[Header]:
    """The headers taken apart. A column that the user names has the role that goes with it."""
    headers = []
    for i, text in enumerate(texts):
        if len(text) > LONGEST_HEADER:
            found = f"a header has {len(text):,} characters, more than {LONGEST_HEADER:,} ({quote(text)})"
            raise problem(path, found, "give the columns short names", rows.lines[at])
        header = parse(i, text, roles)
        if i in rows.meanings:
            meant = parse(i, rows.meanings[i], roles)
            mine = replace(header, unit=header.unit or meant.unit, scale=header.scale or meant.scale)
            header = mine if header.word in roles else replace(meant, text=text)
        headers.append(header)
    return headers


def _refuse_numbers_as_header(path: Path, rows: Rows, at: int) -> None:
    cells = [cell for cell in rows.cells[at] if cell]
    numbers = [cell for cell in cells if re.fullmatch(r"[-+]?\d+(?:[.,]\d+)?(?:[eE][-+]?\d+)?", cell)]
    if len(numbers) == len(cells):
        found = "there is no header: the first row holds only numbers"
    elif 2 * len(numbers) >= len(cells) and all(parse(k, cell).role is None for k, cell in enumerate(cells)):
        found = f"there is no header: the first row seems to hold measurements ({listing(cells)})"
    else:
        return
    do = "put a line with the names of the columns above it (without # in front)"
    raise problem(path, found, do, rows.lines[at])


def _names_only(row: list[str]) -> bool:
    """Whether a row holds words and no number."""
    return any(row) and not any(is_number(cell.replace(",", ".")) for cell in row)


def _below(
    path: Path, rows: Rows, at: int, names: list[str], options: Options
) -> tuple[list[list[str]], list[int], list[int]]:
    """The rows below the header, all of its width, without repetitions of the header; and the lines of others.

    These are left out if bad rows are skipped, unless they are most of the table. Else raises TableError. Lines that
    the user leaves out may have any number of cells.
    """
    width, body = len(names), rows.cells[at + 1 :]
    widths, again = set(map(len, body)), [name.casefold() for name in names]
    cells: list[list[str]] = []
    lines: list[int] = []
    notes, do = Notes(), "look for a missing cell, or a separator inside a text without quotes"
    do += f", or leave the row out with {flag('leave_out')} LINE" * (width in widths)
    if body and _names_only(body[0]) and not all(map(_names_only, body[1:2])):
        do = f"write the header, which seems to go on in line {rows.lines[at + 1]}, in one line"
    elif widths == {width + 1}:
        do = "give the first column, which seems to hold row names, a name too"
    for row, line in zip(body, rows.lines[at + 1 :], strict=True):
        if row[0].casefold() == again[0] and [cell.casefold() for cell in row[:width]] == again:
            continue
        if len(row) != width:
            if len(row) < width and rows.ragged:
                row = row + [""] * (width - len(row))
            if (len(row) < width or any(row[width:])) and line not in (options.leave_out or ()):
                beyond = [cell for cell in row[width:] if cell and width in widths]
                more = f" (beyond it: {listing(beyond)})" if beyond else ""
                found = f"the row has {len(row)} cells, but the header in line {rows.lines[at]} has {width}{more}"
                notes.fault(found, do, [line])
            row = [*row, *[""] * (width - len(row))][:width]
        cells.append(row)
        lines.append(line)
    ragged = sorted(line for fault in notes.faults.values() for line in fault)
    if not options.skip_bad_rows or 2 * len(ragged) > len(lines):
        notes.refuse(path)
    if ragged:
        kept = [i for i, line in enumerate(lines) if line not in set(ragged)]
        cells, lines = [cells[i] for i in kept], [lines[i] for i in kept]
    if not cells:
        raise problem(path, "there is a header, but no row below it", "add the measurements", rows.lines[at])
    return cells, lines, ragged
