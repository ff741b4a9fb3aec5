"""References to the equations of docs/theory.md, and the script that numbers them."""

import re
import runpy
import tokenize
from pathlib import Path

import pytest

HOOK = runpy.run_path(str(Path(__file__).resolve().parents[2] / "docs" / "hooks" / "equations.py"))
PAGE = r"""See (9), and `f(2)`. O(1) of $x(9)$ is
$$ f(9) = 1, \tag{9} $$
as (2) says:
$$ g(2) = 2. \tag{2} $$
"""


def test_every_equation_that_is_cited_exists():
    known = set(HOOK["new_numbers"](HOOK["PAGE"].read_text(encoding="utf-8")))
    missing = {path: HOOK["cited"](path.read_text(encoding="utf-8")) - known for path in HOOK["sources"]()}
    assert not {path: numbers for path, numbers in missing.items() if numbers}


def test_every_reference_in_the_code_can_be_renumbered():
    """The script finds ``Eq. (7)``; a bare number in a docstring or a comment would go out of date."""
    bare = re.compile(r"(?<![\w)\]'])\(\d{1,2}\)")
    found = []
    for path in HOOK["sources"]():
        if path.suffix == ".py":
            with tokenize.open(path) as file:
                for token in tokenize.generate_tokens(file.readline):
                    if token.type == tokenize.COMMENT or token.string.startswith('"""'):
                        found += [(path, token.start[0])] * bool(bare.search(HOOK["_CITED"].sub("", token.string)))
    assert not found


def test_the_equations_of_the_page_are_numbered_in_its_order():
    numbers = HOOK["new_numbers"](HOOK["PAGE"].read_text(encoding="utf-8"))
    assert all(old == new for old, new in numbers.items())


def test_numbers_rise_and_references_follow():
    new = HOOK["new_numbers"](PAGE)
    assert new == {9: 1, 2: 2}
    page = HOOK["renumbered_page"](PAGE, {9: 5, 2: 6})
    assert page == PAGE.replace("(9), and", "(5), and").replace("{9}", "{5}").replace("as (2)", "as (6)").replace(
        "{2}", "{6}"
    )
    text = "f(2) of Eqs. (2), (9) and\n    (2), Eq. (9); equations 2 to 9 of (2)"
    expected = "f(2) of Eqs. (6), (5) and\n    (6), Eq. (5); equations 6 to 5 of (2)"
    assert HOOK["renumbered_source"](text, {9: 5, 2: 6}) == expected


def test_two_equations_with_one_number_are_refused():
    with pytest.raises(ValueError, match=r"numbers \[9\]"):
        HOOK["new_numbers"](PAGE.replace("{2}", "{9}"))
