"""Tables of the documentation come from the scripts as they are: none has changed since its table was written."""

import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))


@pytest.fixture(scope="module")
def report():
    return runpy.run_path(str(ROOT / "benchmarks" / "report.py"))


@pytest.fixture(scope="module")
def evidence():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        yield runpy.run_path(str(ROOT / "benchmarks" / "evidence.py"))
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))


def test_no_script_has_changed_since_it_wrote_its_table(report):
    stamps = {(page.name, name): one for page in PAGES for name, one in report["read_stamps"](page).items() if one}
    changed = [key for key, one in stamps.items() if report["digest"](ROOT / one.script) != one.digest]
    assert changed == [], "run these again: python benchmarks/evidence.py"


def test_every_section_of_the_pages_belongs_to_a_part(report, evidence):
    sections = {(f"docs/{page.name}", name) for page in PAGES for name in report["read_stamps"](page)}
    assert sections == {(part.page, name) for part in evidence["PARTS"] for name in part.sections}


def test_a_changed_script_is_noticed(report, tmp_path):
    (tmp_path / "one.py").write_text("from other import x\n")
    (tmp_path / "other.py").write_text("x = 1\n")
    before = report["digest"](tmp_path / "one.py")
    assert report["digest"](tmp_path / "one.py") == before
    (tmp_path / "other.py").write_text("x = 2\n")
    assert report["digest"](tmp_path / "one.py") != before


def test_a_section_is_stamped_with_its_script(report, tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text("above\n<!-- one -->\nold\n<!-- /one -->\nbetween\n<!-- two -->\n<!-- /two -->\n")
    monkeypatch.setattr(sys, "argv", [str(ROOT / "benchmarks" / "fits.py")])
    report["fill_section"](page, "one", "new")
    stamps = report["read_stamps"](page)
    assert stamps["two"] is None
    assert stamps["one"].script == "benchmarks/fits.py"
    assert stamps["one"].digest == report["digest"](ROOT / "benchmarks" / "fits.py")
    assert page.read_text().startswith("above\n<!-- one -->\nnew\n")
