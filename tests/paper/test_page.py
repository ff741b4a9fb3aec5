"""The page about the paper shows the numbers of the committed run, and no others."""

import runpy
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_is_what_the_script_makes_of_the_committed_run(tmp_path, monkeypatch):
    page = tmp_path / "paper.md"
    shutil.copy(ROOT / "docs" / "paper.md", page)
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    script = runpy.run_path(str(ROOT / "benchmarks" / "paper_page.py"))
    script["main"](page)
    sys.modules.pop("report", None)
    assert page.read_text() == (ROOT / "docs" / "paper.md").read_text()
