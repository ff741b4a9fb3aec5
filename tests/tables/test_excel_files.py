"""Excel workbooks that are damaged, huge or hostile: one message, in little time and memory."""

import contextlib
import io
import random
import tracemalloc
import zipfile

import pytest
from cost import cpu

from lamina.errors import LaminaError
from lamina.tables import TableError, read

openpyxl = pytest.importorskip("openpyxl")

ROWS = [
    ["depth", "age (cal BP)", "age_sd", "rsl", "rsl_sd"],
    *([i, 100.0 * i + 50, 10, -0.1 * i, 0.1] for i in range(1, 9)),
]


def workbook(path, cells=(), rows=ROWS):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for place, value in cells:
        book.active[place] = value
    book.save(path)
    return path


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def test_a_stray_cell_far_away_costs_nothing(tmp_path):
    path = workbook(tmp_path / "core.xlsx", [("ZZ100000", "x")])

    def refuse():
        with pytest.raises(TableError, match="line 100000: the row has 702 cells, but the header in line 1 has 5"):
            read(path)

    tracemalloc.start()
    refuse()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100e6
    assert cpu(refuse) < 200.0 * cpu(lambda: read(workbook(tmp_path / "near.xlsx")))


def test_cells_that_are_empty_at_the_end_of_a_row(tmp_path):
    rows = [[*ROWS[0], "note"], *ROWS[1:]]
    assert len(read(workbook(tmp_path / "core.xlsx", [("F3", "good")], rows)).record) == 8


@pytest.mark.parametrize(("row", "said"), [(b"99999999", "below the last one of Excel"), (b"2", None)])
def test_rows_beyond_the_last_one(tmp_path, row, said):
    files = members(workbook(tmp_path / "core.xlsx"))
    sheet = files["xl/worksheets/sheet1.xml"]
    files["xl/worksheets/sheet1.xml"] = sheet.replace(b'<row r="9"', b'<row r="' + row + b'"')
    path = packed(tmp_path / "other.xlsx", files)

    def refuse():
        with pytest.raises(TableError, match=said) if said else contextlib.suppress(LaminaError):
            read(path)

    assert cpu(refuse) < 200.0 * cpu(lambda: read(tmp_path / "core.xlsx"))


def test_a_workbook_that_unpacks_to_gigabytes_is_refused(tmp_path, monkeypatch):
    files = members(workbook(tmp_path / "core.xlsx"))
    files["xl/media/zeros.bin"] = bytes(3_000_000)
    path = packed(tmp_path / "bomb.xlsx", files)
    assert path.stat().st_size < 20_000
    monkeypatch.setattr("lamina.tables.formats.excel.LARGEST_FILE", 500_000)
    with pytest.raises(TableError, match=r"bomb\.xlsx: the file unpacks to .* MB, more than a table of measurements"):
        read(path)


def mutated(rng, data):
    """Some bytes of a file changed, cut out or doubled."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        at = rng.randrange(len(data))
        kind = rng.randrange(4)
        if kind == 0:
            data[at] = rng.randrange(256)
        elif kind == 1:
            del data[at : at + rng.randrange(1, 30)]
        elif kind == 2:
            data[at:at] = data[at : at + rng.randrange(1, 30)]
        else:
            data[at : at + 1] = rng.choice(
                [b"<", b">", b'"', b"&", b"9999999999", b"ZZZZ9", b"\x00", b"-1", b"e", b"</c>"]
            )
    return bytes(data)


def mutations(path, seed, count):
    """Mutations of the archive itself, and of a file in it, packed again."""
    rng, whole, files = random.Random(seed), path.read_bytes(), members(path)
    for _ in range(count):
        if rng.random() < 0.3:
            yield mutated(rng, whole)
        else:
            name = rng.choice(sorted(files))
            out = io.BytesIO()
            with zipfile.ZipFile(out, "w") as archive:
                for one, data in files.items():
                    archive.writestr(one, mutated(rng, data) if one == name else data)
            yield out.getvalue()


def survive(path, seed, count):
    """Read mutations of a workbook: each is a record or one message. Returns how many were refused."""
    other, usual = path.with_name("mutated.xlsx"), cpu(lambda: read(path))
    refused, messages = 0, []

    def attempt():
        try:
            read(other)
        except LaminaError as error:
            messages.append(str(error))

    for k, data in enumerate(mutations(path, seed, count)):
        other.write_bytes(data)
        assert cpu(attempt, repeat=1) < 200.0 * usual or cpu(attempt) < 100.0 * usual, (seed, k)
        assert all(message.startswith("mutated.xlsx") for message in messages), (seed, k)
        refused += bool(messages)
        messages.clear()
    return refused


def test_mutated_workbooks_are_read_or_refused_with_one_message(tmp_path):
    path = workbook(tmp_path / "core.xlsx")
    assert 20 < survive(path, seed=1, count=100) < 100


@pytest.mark.slow
def test_many_mutated_workbooks(tmp_path):
    path = workbook(tmp_path / "core.xlsx")
    assert survive(path, seed=2, count=3000) > 500
