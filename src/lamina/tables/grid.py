"""Rows to a grid: where the header is, and that every row fits it."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from .excel import read_excel
from .headers import Header, parse, squash
from .options import Options
from .problems import Faults, option, problem
from .text import CHUNK, Rows, read_text, refuse_other_files, too_large

_HEADER_WITHIN = 30
_WIDEST = 1000


@dataclass(frozen=True)
class Grid:
    """A rectangular table of text: the headers, the rows below them, and the line of each in the file."""

    path: Path
    sha256: str
    form: str
    headers: list[Header]
    header_line: int
    cells: list[list[str]]
    lines: list[int]
    skipped: list[int] = field(default_factory=list)
    commented: list[int] = field(default_factory=list)  #: comments below the header that would fit it

    def column(self, header: Header) -> list[str]:
        """The cells below a header."""
        return [row[header.index] for row in self.cells]

    def keep(self, rows: list[int]) -> "Grid":
        """The same grid with only these rows."""
        cells, lines = [self.cells[i] for i in rows], [self.lines[i] for i in rows]
        return replace(self, cells=cells, lines=lines)


def read_grid(path: Path, options: Options) -> Grid:
    """The table in a file. Raises TableError if there is none."""
    data = _bytes(path)
    excel = path.suffix.lower() in (".xlsx", ".xlsm")
    rows = read_excel(path, data, options.sheet) if excel else read_text(path, data)
    if options.sheet is not None and not excel:
        raise problem(path, "a sheet is asked for, but this is no .xlsx file", f"leave out {option('sheet', 'NAME')}")
    if max(map(len, rows.cells)) > _WIDEST:
        raise problem(path, f"there are more than {_WIDEST} columns", "give a table with one row per measurement")
    named = user_names(options)
    at = _header_row(rows, named)
    _refuse_numbers_as_header(path, rows, at)
    names = rows.cells[at]
    while names and not names[-1]:
        names = names[:-1]
    headers = [parse(i, text, named) for i, text in enumerate(names)]
    cells, lines = _below(path, rows, at, names)
    digest = hashlib.sha256(data).hexdigest()
    commented = [line for line, width in rows.comments if line > rows.lines[at] and width == len(names)]
    return Grid(path, digest, rows.form, headers, rows.lines[at], cells, lines, rows.lines[:at], commented)


def user_names(options: Options) -> dict[str, str]:
    """Squashed names of the columns that the user gave, and the role of each."""
    names = {"t": options.t, "y": options.y}
    return {squash(name): role for role, name in names.items() if name is not None and squash(name)}


def _bytes(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise problem(path, "this is a folder", "give a file")
        too_large_first = path.stat().st_size
        with path.open("rb") as file:
            chunk = file.read(CHUNK)
            if path.suffix.lower() not in (".xlsx", ".xlsm"):
                refuse_other_files(path, chunk)
            too_large(path, too_large_first)
            return chunk + file.read()
    except FileNotFoundError:
        raise problem(path, "there is no such file", "check the name and the folder") from None
    except OSError as error:
        raise problem(path, f"the file cannot be read ({error.strerror})", "check that you may read it") from None


def _header_row(rows: Rows, named: Mapping[str, str]) -> int:
    """The first row that names an input and something measured or its error; else the first row."""
    for i, cells in enumerate(rows.cells[:_HEADER_WITHIN]):
        headers = [parse(k, text, named) for k, text in enumerate(cells)]
        roles = {header.role for header in headers if not header.error}
        if "t" in roles and ("y" in roles or any(header.error for header in headers)):
            return i
    return 0


def _refuse_numbers_as_header(path: Path, rows: Rows, at: int) -> None:
    cells = [cell for cell in rows.cells[at] if cell]
    if all(re.fullmatch(r"[-+]?\d+(?:[.,]\d+)?(?:[eE][-+]?\d+)?", cell) for cell in cells):
        raise problem(
            path,
            "there is no header: the first row holds only numbers",
            "put a line with the names of the columns above it (without # in front)",
            line=rows.lines[at],
        )


def _below(path: Path, rows: Rows, at: int, names: list[str]) -> tuple[list[list[str]], list[int]]:
    """The rows below the header, all of its width, without repetitions of the header."""
    width = len(names)
    again = [name.casefold() for name in names]
    cells: list[list[str]] = []
    lines: list[int] = []
    faults, do = Faults(), "look for a missing cell, or a separator inside a text without quotes"
    if all(len(row) == width + 1 for row in rows.cells[at + 1 :]):
        do = "give the first column, which seems to hold row names, a name too"
    for row, line in zip(rows.cells[at + 1 :], rows.lines[at + 1 :], strict=True):
        if [cell.casefold() for cell in row[:width]] == again:
            continue
        if len(row) < width or any(row[width:]):
            faults.add(f"the row has {len(row)} cells, but the header in line {rows.lines[at]} has {width}", do, line)
        cells.append(row[:width])
        lines.append(line)
    faults.refuse(path)
    if not cells:
        raise problem(path, "there is a header, but no row below it", "add the measurements", line=rows.lines[at])
    return cells, lines
