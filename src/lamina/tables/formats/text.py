"""Text tables: encoding, separators, quotes and comments. Dispatches to the formats that begin with prose."""

import codecs
import csv
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

from ...support.text import from_cell, is_number
from ..messages import Fact, problem
from . import noaa, pangaea, psmsl
from .cells import LONGEST_CELL, LONGEST_LINE, LONGEST_PROSE, MOST_PROSE, Rows

_SAMPLE = 60
_SEPARATORS = {"\t": "tab", ";": "semicolon", ",": "comma"}
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig", "UTF-8"),
    (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16", "UTF-16"),
)
#: Between columns that are aligned with spaces: two or more, or any.
_WIDE, _ANY = "  ", " "
#: Of a comment; a quote before it may open the first name.
_MARK = re.compile(r'^\s*("?)[\s#]*')
_GAPS = {_WIDE: re.compile(r"(?:\s\s+|\t)"), _ANY: re.compile(r"\s+")}
Numbered = list[tuple[int, str]]


def read_text(path: Path, data: bytes) -> Rows:
    """The rows of a text table. Raises TableError for anything that is not one."""
    text, encoding = decode(data)
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    everything = [(i, line) for i, line in enumerate(plain.split("\n"), start=1) if line.strip()]
    for i, line in everything:
        if len(line) > LONGEST_LINE:
            do = "give a table with one row per measurement"
            raise problem(path, f"the line has {len(line):,} characters, more than {LONGEST_LINE:,}", do, i)
    if pangaea.is_pangaea(everything):
        return pangaea.read(path, everything, encoding)
    if psmsl.is_psmsl(path, everything):
        return psmsl.read(path, everything)
    comments = [(i, line) for i, line in everything if "#" in line and _is_comment(line)]
    left_out = {i for i, _ in comments}
    numbered = [one for one in everything if one[0] not in left_out] if left_out else everything
    separator = _separator([line for _, line in numbered[:_SAMPLE]])
    header = _commented_header(comments, numbered, separator) if comments and numbered and separator else None
    if header is not None:
        comments = [one for one in comments if one[0] != header[0]]
        numbered = [header, *numbered]
    if numbered and separator is None:
        raise problem(
            path, "no comma, semicolon, tab or space between the columns",
            "save the table as CSV, with commas between the columns", numbered[0][0],
        )  # fmt: skip
    separator = separator or ","
    cells, lines = split_lines(path, numbered, separator)
    if not cells:
        raise problem(path, "the file is empty", "give a table with a header line and one row per measurement")
    named = _SEPARATORS.get(separator)
    form = f"{encoding} text, {f'{named} separated' if named else 'separated by spaces'}"
    prose = tuple(line[:LONGEST_PROSE].strip(' #"\t') for _, line in comments[:MOST_PROSE])
    rows = Rows(cells, lines, form, [(i, _width(line, separator)) for i, line in comments], prose=prose)
    if header is not None:
        fact = Fact("header", "a comment above the rows", "it has a name for each column, and they have none")
        rows = replace(rows, facts=(fact,))
    return noaa.describe(rows, [line for _, line in comments])


def _is_comment(line: str) -> bool:
    return line.lstrip().lstrip('"').lstrip().startswith("#")


def _commented_header(comments: Numbered, numbered: Numbered, separator: str) -> tuple[int, str] | None:
    """The comment above the rows, without its mark, if it alone names their columns, and their first row does not."""
    first, row = numbered[0]
    cells = _split(row, separator)
    if 2 * sum(map(is_number, cells)) < len(cells):
        return None
    above = [(i, _MARK.sub(r"\1", line).rstrip()) for i, line in comments if i < first]
    fitting = [(i, line) for i, line in above if line and _names(line, separator, len(cells))]
    return fitting[0] if len(fitting) == 1 else None


def _names(line: str, separator: str, width: int) -> bool:
    """Whether a line may hold the names of so many columns."""
    if _width(line, separator) != width:
        return False
    names = _split(line, separator)
    return all(names) and not any(map(is_number, names))


def _split(line: str, separator: str) -> list[str]:
    if separator in _GAPS:
        return _GAPS[separator].split(line.strip())
    return [cell.strip() for cell in next(csv.reader([line], delimiter=separator, skipinitialspace=True))]


def _width(line: str, separator: str) -> int:
    """How many cells a comment would have; a line too long for a row is prose."""
    if len(line) > LONGEST_CELL:
        return 0
    return len(_split(line, separator))


def decode(data: bytes) -> tuple[str, str]:
    """Bytes as text, and the name of its encoding."""
    for bom, codec, name in _BOMS:
        if data.startswith(bom):
            return data.decode(codec, errors="replace"), name
    try:
        return data.decode("utf-8"), "UTF-8"
    except UnicodeDecodeError:
        # Programs that write "Latin-1" mean Windows-1252, which differs only in the control characters.
        return data.decode("cp1252", errors="replace"), "Latin-1"


def _separator(sample: list[str]) -> str | None:
    """The separator under which most lines have one common number of cells, more than one.

    Spaces separate columns only where they do better than all others.
    """
    best, agreed = None, 0
    sample = [line for line in sample if len(line) <= LONGEST_CELL]
    for separator in _SEPARATORS:
        agree = _agree([len(row) for row in csv.reader(sample, delimiter=separator, skipinitialspace=True)])
        padded = best == "\t" and separator == "," and all("\t" not in re.sub(",\\s+", ",", line) for line in sample)
        if agree > agreed or (agree == agreed and padded):  # Bacon writes a tab after each comma
            best, agreed = separator, agree
    if best in ("\t", ";") or any(re.search(r",(?:\s|$)|\s,", line) for line in sample):
        return best
    for separator in _ANY, _WIDE:
        agree = _agree([len(_GAPS[separator].split(line.strip())) for line in sample])
        if agree > max(agreed, 1, len(sample) // 2):  # in prose, lines have any number of words
            best, agreed = separator, agree
    return best


def _agree(widths: list[int]) -> int:
    """How many rows have the commonest width above one."""
    return max((count for width, count in Counter(widths).items() if width > 1), default=0)


def split_lines(path: Path, numbered: Numbered, separator: str) -> tuple[list[list[str]], list[int]]:
    """The stripped cells of each line that has some, and its number. Raises TableError for a stray quote."""
    if separator in _GAPS:
        split = _GAPS[separator].split
        return [[cell.strip('"') for cell in split(line.strip())] for _, line in numbered], [i for i, _ in numbered]
    texts = [line for _, line in numbered]
    if '"' not in "".join(texts):
        rows = [_strip(line.split(separator)) for line in texts]
        return [row for row in rows if any(row)], [i for row, (i, _) in zip(rows, numbered, strict=True) if any(row)]
    reader = csv.reader((line + "\n" for line in texts), delimiter=separator, skipinitialspace=separator != "\t")
    cells: list[list[str]] = []
    lines: list[int] = []
    start = 0
    try:
        for row in reader:
            # A quote that is never closed swallows the lines after it; a closed one has an even number of them.
            if reader.line_num > start + 1 and "".join(texts[start : reader.line_num]).count('"') % 2:
                raise problem(path, "a quote is opened and not closed", 'close it with "', numbered[start][0])
            stripped = _strip(row)
            if any(stripped):
                cells.append(stripped)
                lines.append(numbered[start][0])
            start = reader.line_num
    except csv.Error:
        found = f"the line cannot be split into cells of at most {csv.field_size_limit():,} characters"
        raise problem(path, found, "look for a stray quote", numbered[start][0]) from None
    return cells, lines


def _strip(row: list[str]) -> list[str]:
    """Cells without the blanks around them, as they were before they were written for spreadsheets."""
    return [from_cell(cell) if cell[:1] == "'" else cell for cell in map(str.strip, row)]
