"""Bytes to cells: encoding, separator, line ends, comments and quotes of a text table."""

import codecs
import csv
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from .problems import option, problem

CHUNK = 65_536
LARGEST = 100_000_000
_SAMPLE = 60
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
class Rows:
    """The cells of a file, stripped, without blank rows and comments; `lines` are their lines in the file.

    comments: the lines that begin with #, and how many cells each would have.
    """

    cells: list[list[str]]
    lines: list[int]
    form: str
    comments: list[tuple[int, int]]


def read_text(path: Path, data: bytes) -> Rows:
    """The rows of a text table. Raises TableError for anything that is not one."""
    refuse_other_files(path, data[:CHUNK])
    text, encoding = _decode(data)
    everything = [(i, line) for i, line in enumerate(re.split(r"\r\n|\n|\r", text), start=1) if line.strip()]
    numbered = [(i, line) for i, line in everything if not _is_comment(line)]
    if not numbered:
        raise problem(path, "the file is empty", "give a table with a header line and one row per measurement")
    separator = _separator([line for _, line in numbered[:_SAMPLE]])
    if separator is None:
        first = numbered[0]
        spaced = ", only spaces" if re.search(r"\S\s+\S", first[1]) else ""
        raise problem(
            path,
            f"no comma, semicolon or tab{spaced} between the columns",
            "save the table as CSV, with commas between the columns",
            line=first[0],
        )
    cells, lines = _split(path, numbered, separator)
    # A line too long for a row is prose.
    comments = [(i, line) for i, line in everything if _is_comment(line) and len(line) < CHUNK]
    widths = [(i, len(next(csv.reader([line], delimiter=separator)))) for i, line in comments]
    return Rows(cells, lines, f"{encoding} text, {_SEPARATORS[separator]} separated", widths)


def _is_comment(line: str) -> bool:
    return line.lstrip().lstrip('"').lstrip().startswith("#")


def refuse_other_files(path: Path, chunk: bytes) -> None:
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
    if len(chunk) == CHUNK and not re.search(rb"[\r\n]", chunk):
        raise problem(path, f"the first line does not end within {CHUNK} bytes", "give a table with a header line")


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
                raise problem(path, "a quote is opened and not closed", 'close it with "', line=numbered[start][0])
            stripped = [cell.strip() for cell in row]
            if any(stripped):
                cells.append(stripped)
                lines.append(numbered[start][0])
            start = reader.line_num
    except csv.Error as error:
        raise problem(
            path, f"the line cannot be split into cells ({error})", "look for a stray quote", line=numbered[start][0]
        ) from None
    if not cells:
        raise problem(path, "the file is empty", "give a table with a header line and one row per measurement")
    return cells, lines


def too_large(path: Path, size: int) -> None:
    """Raise TableError if a file is larger than any table of measurements."""
    if size > LARGEST:
        raise problem(
            path,
            f"the file has {size / 1e6:.0f} MB, more than a table of measurements ({LARGEST / 1e6:.0f} MB at most)",
            f"give only the columns and rows to fit, or split it by site, and see {option('site', 'NAME')}",
        )
