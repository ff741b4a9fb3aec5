"""The same table in other dress, or with its rows shuffled, is the same record."""

import random
import sys
from dataclasses import replace

import pytest
from numpy.testing import assert_allclose

from lamina.tables import Options, TableError, read

HEADER = ["Depth (cm)", "Age (CE)", "Age error", "RSL (m)", "RSL error", "Core", "Note"]
ROWS = [
    ["1.5", "1990", "5", "-0.05", "0.06", "Ä", "top"],
    ["10", "1900.5", "20", "-0.15", "0.06", "Ä", "±, fine"],
    ["20", "1925", "0", "-0.25", "0.07", "Ä", ""],
    ["31.25", "1700", "30", "-0.35", "0.06", "Ä", "peat; wet"],
    ["5", "1950", "8", "-0.1", "0.05", "B", ""],
    ["7", "1890", "25", "-0.2", "0.05", "B", ""],
]


def dress(separator=",", end="\n", decimal=".", encoding="utf-8", quote=False, rows=None, last_end=True, pad=""):
    """The table as bytes."""

    def cell(text):
        text = text.replace(".", decimal) if text.lstrip("-").replace(".", "").isdigit() else text
        return f'{pad}"{text}"{pad}' if quote or separator in text or (decimal == separator) else f"{pad}{text}{pad}"

    lines = [separator.join(cell(text) for text in row) for row in (HEADER, *(ROWS if rows is None else rows))]
    return (end.join(lines) + (end if last_end else "")).encode(encoding)


def with_comments(data: bytes) -> bytes:
    lines = data.split(b"\n")
    return b"# a core\n\n" + lines[0] + b"\n# between, rows\n" + b"\n\n".join(lines[1:])


DRESSINGS = {
    "semicolon": dress(";"),
    "tab": dress("\t"),
    "CRLF": dress(end="\r\n"),
    "CR": dress(end="\r"),
    "no last line end": dress(last_end=False),
    "BOM": b"\xef\xbb\xbf" + dress(),
    "Latin-1": dress(encoding="latin-1"),
    "UTF-16": dress(encoding="utf-16"),
    "decimal comma": dress(";", decimal=","),
    "decimal comma, tab": dress("\t", decimal=","),
    "decimal comma, quoted": dress(",", decimal=","),
    "all quoted": dress(quote=True),
    "quoted and padded": dress(quote=True, pad=" "),
    "padded": dress(pad="  "),
    "comments and blank lines": with_comments(dress()),
    "header repeated": dress(rows=[*ROWS[:3], HEADER, *ROWS[3:]]),
    "trailing separators": dress().replace(b"\n", b",,\n") + b",,,,,,,,\n",
    "minus sign": dress().replace(b"-0.", "−0.".encode()),
}


@pytest.mark.parametrize("data", DRESSINGS.values(), ids=DRESSINGS)
def test_dress_does_not_matter(table, data):
    assert read(table(data, "dressed.csv")).record == read(table(dress(), "plain.csv")).record


@pytest.mark.parametrize("seed", range(5))
def test_row_order_does_not_matter_when_depth_gives_the_order(table, seed):
    shuffled = random.Random(seed).sample(ROWS, len(ROWS))
    understood = read(table(dress(rows=shuffled)))
    assert understood.record == read(table(dress(), "plain.csv")).record
    assert [shuffled[line - 2][1] for line in understood.lines] == [f"{t:g}" for t in understood.record.t]


def test_height_is_depth_upside_down(table):
    rows = [[str(100 - float(row[0])), *row[1:]] for row in ROWS]
    by_height = dress(rows=rows).replace(b"Depth (cm)", b"Height (cm)")
    up, down = read(table(by_height)).record, read(table(dress(), "plain.csv")).record
    assert_allclose(up.depth, 100 - down.depth)
    assert replace(up, depth=down.depth) == down


def test_two_sigma_is_twice_one_sigma(table):
    rows = [[*row[:2], str(2 * float(row[2])), row[3], str(2 * float(row[4])), *row[5:]] for row in ROWS]
    plain = read(table(dress(), "plain.csv")).record
    by_header = dress(rows=rows).replace(b"Age error", "Age error (2σ)".encode()).replace(b"RSL error", b"RSL 2s")
    assert read(table(by_header)).record == plain
    assert read(table(dress(rows=rows)), Options(t_sigma=2, y_sigma=2)).record == plain


def test_bp_is_ce_counted_back(table):
    rows = [[row[0], f"{1950 - float(row[1]):g}", *row[2:]] for row in ROWS]
    bp = read(table(dress(rows=rows).replace(b"Age (CE)", b"Age (cal a BP)"))).record
    ce = read(table(dress(), "plain.csv")).record
    assert_allclose(1950 - bp.t, ce.t)
    assert (bp.order, ce.order) == ("increasing", "decreasing")
    assert (bp.t_unit, ce.t_unit) == ("cal a BP", "CE")


def test_text_is_never_evaluated(table):
    hostile = [ROWS[0], ["10", "1900", "5", "-0.1", "0.1", "<script>alert(1)</script>", "=1+1"]]
    understood = read(table(dress(rows=hostile)))
    assert len(understood.sha256) == 64
    assert "<script>alert(1)</script>" in understood.record.sequence


@pytest.fixture
def workbook(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "Core"
    number = lambda text: float(text) if text.lstrip("-").replace(".", "").isdigit() else text  # noqa: E731
    for row in (HEADER, *ROWS):
        book.active.append([number(text) for text in row])
    return book, tmp_path / "core.xlsx"


def test_excel(table, workbook):
    book, path = workbook
    book.save(path)
    assert read(path).record == read(table(dress())).record


def test_excel_with_several_sheets_needs_a_name(table, workbook):
    book, path = workbook
    book.create_sheet("Other")
    book.save(path)
    with pytest.raises(
        TableError, match=r'core.xlsx: there are 2 sheets: "Core", "Other"; choose one with --sheet NAME'
    ):
        read(path)
    with pytest.raises(TableError, match='no sheet "Cores"'):
        read(path, Options(sheet="Cores"))
    with pytest.raises(TableError, match="the sheet is empty"):
        read(path, Options(sheet="Other"))
    for name in "Core", "core":
        assert read(path, Options(sheet=name)).record == read(table(dress())).record


def test_excel_without_openpyxl_says_what_to_install(table, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(TableError, match=r"core.xlsx: reading Excel files needs openpyxl; run pip install openpyxl"):
        read(table(b"PK\x03\x04", "core.xlsx"))


def test_damaged_excel(table):
    pytest.importorskip("openpyxl")
    with pytest.raises(TableError, match=r"core.xlsx: this is not a readable Excel file"):
        read(table(b"PK\x03\x04 and then nonsense", "core.xlsx"))
