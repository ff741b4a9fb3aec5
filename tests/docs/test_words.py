"""The words of code and pages: each has one meaning, and common ones are preferred."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("src/lamina/**/*.py", "src/lamina/**/*.html", "tests/**/*.py", "benchmarks/*.py", "docs/*.md", "*.md")
#: Phrases that readers stumble over, and what to write instead.
RATHER = {
    r"(?:is|are|was|were|be|been|being)\s+(?:told|said|foretold)": "is reported, computed or predicted",
    r"told\s+from": "computed from, or distinguished from",
    r"fore(?:tell|told)\w*": "predicted",
    r"reckoned\s+with": "between 1e-100 and 1e100, for example",
    r"available_cores": "available_cpus: a core is sediment",
}


@pytest.mark.parametrize("phrase", RATHER)
def test_common_words_are_used(phrase):
    pattern = re.compile(rf"\b(?:{phrase})\b", re.IGNORECASE)
    files = [path for pattern in FOLDERS for path in ROOT.glob(pattern) if path != Path(__file__).resolve()]
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if pattern.search(line)
    ]
    assert not found, f"write {RATHER[phrase]}"


def test_the_glossary_has_every_word_once():
    words = re.findall(
        r"^\| \*\*(.+?)\*\* \|", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(words) > 30
    assert len(set(words)) == len(words)
