"""The page that compares lamina shows the numbers of the committed run of the peers, and no others."""

import runpy
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_what_the_script_makes_of_the_committed_run(tmp_path, monkeypatch):
    page = tmp_path / "comparison.md"
    shutil.copy(ROOT / "docs" / "comparison.md", page)
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    script = runpy.run_path(str(ROOT / "benchmarks" / "comparison_page.py"))
    script["main"](page)
    sys.modules.pop("report", None)
    assert page.read_text() == (ROOT / "docs" / "comparison.md").read_text()
