"""A small share of benchmarks/fuzz_tables.py, and that it notices what it looks for."""

import random
import runpy
from pathlib import Path

import pytest

import lamina
from lamina.tables import read_ages, survey

pytest.importorskip("openpyxl")

SCRIPT = runpy.run_path(str(Path(__file__).resolve().parents[2] / "benchmarks" / "fuzz_tables.py"))


@pytest.mark.parametrize("share", range(5))
def test_a_damaged_table_is_read_or_refused(tmp_path, share):
    found = {number: SCRIPT["try_case"](number, 0, tmp_path)[1] for number in range(share, 150, 5)}
    assert not {number: one for number, one in found.items() if one}


def test_the_tables_are_sound_before_they_are_damaged(tmp_path):
    texts = [(name, text.encode()) for name, texts in SCRIPT["TEXTS"].items() for text in texts if name != "ages.csv"]
    for name, data in texts:
        (tmp_path / name).write_bytes(data)
        assert survey(tmp_path / name).command or read_ages(tmp_path / name), data
    (tmp_path / "core.xlsx").write_bytes(SCRIPT["workbook"](random.Random(3)))
    assert lamina.tables.read(tmp_path / "core.xlsx").record is not None


@pytest.mark.parametrize("error", [ZeroDivisionError("by zero"), lamina.TableError("")])
def test_an_exception_without_name_or_message_is_a_finding(tmp_path, monkeypatch, error):
    def broken(*_):
        raise error

    monkeypatch.setitem(SCRIPT["try_case"].__globals__, "readers", lambda *_: [("read", broken)])
    _, found = SCRIPT["try_case"](0, 0, tmp_path)
    assert found == ["read: ZeroDivisionError: by zero" if str(error) else "read: an error without a message"]
