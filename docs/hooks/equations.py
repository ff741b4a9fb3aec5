"""Numbers the equations of docs/theory.md in the order of the page, and updates every reference to them.

Run: python docs/hooks/equations.py

A reference is ``Eq. (7)`` or ``Eqs. (7), (8) and (9)`` in the code, "equations 8 to 10" on another page, and a number
in parentheses in the prose of the page itself.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "theory.md"
TAG = re.compile(r"\\tag\{(\d+)\}")
_NUMBER = re.compile(r"\((\d+)\)")
_CITED = re.compile(r"Eqs?\.\s+\(\d+\)(?:,?\s+(?:(?:and|or|to)\s+)?\(\d+\))*")
_WORDED = re.compile(r"equations? \d+(?: (?:to|and) \d+)?")
#: On the page: formulas and code, in which a number in parentheses is something else; and references in between.
_FORMULA = re.compile(r"(\$\$.*?\$\$|\$[^$]*\$|`[^`]*`)", re.DOTALL)
_IN_PROSE = re.compile(r"(?<![\w)])\((\d+)\)")


def sources() -> Iterator[Path]:
    """The files that may refer to an equation, without the page itself."""
    for folder, pattern in ("src", "**/*.py"), ("benchmarks", "*.py"), ("docs", "*.md"), (".", "README.md"):
        yield from (path for path in sorted((ROOT / folder).glob(pattern)) if path != PAGE)


def cited(text: str) -> set[int]:
    """The equations that the text of a source refers to."""
    numbers = [n for found in _CITED.findall(text) for n in _NUMBER.findall(found)]
    return set(map(int, numbers)) | {int(n) for found in _WORDED.findall(text) for n in re.findall(r"\d+", found)}


def new_numbers(page: str) -> dict[int, int]:
    """The number of each equation by its old one. Raises ValueError if two have the same."""
    old = [int(number) for number in TAG.findall(page)]
    twice = sorted({number for number in old if old.count(number) > 1})
    if twice:
        raise ValueError(f"docs/theory.md has several equations with the numbers {twice}.")
    return {number: k for k, number in enumerate(old, start=1)}


def renumbered_page(page: str, new: dict[int, int]) -> str:
    """The page with new numbers."""
    parts = _FORMULA.split(page)
    for k, part in enumerate(parts):
        within_formula = k % 2 == 1
        pattern, around = (TAG, r"\tag{%d}") if within_formula else (_IN_PROSE, "(%d)")
        parts[k] = pattern.sub(_changed(new, around), part)
    return "".join(parts)


def renumbered_source(text: str, new: dict[int, int]) -> str:
    """A source with new numbers."""
    text = _CITED.sub(lambda found: _NUMBER.sub(_changed(new, "(%d)"), found[0]), text)
    return _WORDED.sub(lambda found: re.sub(r"(\d+)", _changed(new, "%d"), found[0]), text)


def _changed(new: dict[int, int], around: str) -> Callable[[re.Match[str]], str]:
    return lambda found: around % new.get(int(found[1]), int(found[1]))


def main() -> None:
    page = PAGE.read_text(encoding="utf-8")
    new = new_numbers(page)
    PAGE.write_text(renumbered_page(page, new), encoding="utf-8")
    for path in sources():
        text = path.read_text(encoding="utf-8")
        if renumbered_source(text, new) != text:
            path.write_text(renumbered_source(text, new), encoding="utf-8")


if __name__ == "__main__":
    main()
