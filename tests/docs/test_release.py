"""The number of the version, its date and the changelog agree wherever they stand."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


def field(text: str, name: str) -> str:
    return re.search(rf"^{name}: (\S+)$", text, re.MULTILINE)[1]


def releases() -> list[tuple[str, str]]:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    return re.findall(r"^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)$", text, re.MULTILINE)


def test_the_newest_release_of_the_changelog_is_this_version():
    assert releases()[0][0] == VERSION


def test_the_citation_is_of_this_version_and_of_its_day():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert field(text, "version") == VERSION
    assert field(text, "date-released") == releases()[0][1]


@pytest.mark.parametrize("name", ["cff-version", "message", "title", "type", "license"])
def test_the_citation_has_what_the_format_asks_for(name):
    assert re.search(rf"^{name}: .", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)


def test_the_checklist_of_a_release_names_this_version():
    assert f"v{VERSION}" in (ROOT / "docs" / "releasing.md").read_text(encoding="utf-8")
