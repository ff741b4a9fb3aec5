"""Text of users on terminals, in figures and in spreadsheets."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from lamina.support.text import REPLACE, from_cell, to_cell, visible


@given(some.text())
def test_no_control_character_is_left(text):
    shown = visible(text)
    assert not any(ord(one) < 32 and one not in "\t\n" for one in shown)
    assert not any(127 <= ord(one) < 160 or one in "\u202e\u2066\u2028" for one in shown)


def test_control_characters_are_written_out_and_others_stay():
    assert visible("\x1b]0;owned\x07 m \u202eabc\nδ18O (‰)") == "\\x1b]0;owned\\x07 m \\u202eabc\nδ18O (‰)"


@pytest.mark.parametrize("text", ["=1+1", "+cmd|' /C calc'!A0", "-x", "@SUM(A1)", "\t=1", "'=1", "''-a"])
def test_no_cell_begins_like_a_formula(text):
    assert to_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["-5", "+1.5e3", "-inf", "A-1", "", "'quoted'", "δ"])
def test_numbers_and_other_text_stay(text):
    assert to_cell(text) == text


@given(some.text(alphabet="'=+-@\ta1. \r"))
def test_cells_are_read_back_as_they_were(text):
    assert from_cell(to_cell(text)) == text


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_every_encoding_shows_something(encoding):
    shown = "1σ ± 0.2 ‰, −5 × 10⁻³ 漢 \udcff".encode(encoding, REPLACE)
    if encoding == "ascii":
        assert shown == b"1sigma +/- 0.2 permil, -5 x 10-3 \\u6f22 \\udcff"
