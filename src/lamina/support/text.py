"""Text of users where it could do harm: on terminals, in figures and in the cells of spreadsheets."""

from __future__ import annotations

import codecs
import json
import re
from typing import Any

#: Control characters, which can move the cursor, rename a window or run the text backwards; line ends and tabs aside.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
#: Spreadsheets take a cell that begins so for a formula.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_QUOTED = re.compile(r"'+[=+\-@\t\r]")
#: What an encoding without these characters shows instead.
_PLAIN = {
    **{"σ": "sigma", "δ": "delta", "Δ": "Delta", "α": "alpha", "µ": "u", "μ": "u", "τ": "tau", "θ": "theta"},
    **{"±": "+/-", "−": "-", "–": "-", "—": "-", "×": "x", "‰": "permil", "°": "deg", "∞": "inf", "…": "..."},
    **{"²": "2", "³": "3", "¹": "1", "≤": "<=", "≥": ">=", "→": "->", "·": "*", "’": "'", "“": '"', "”": '"'},
    **{"\u0302": "-hat", "⁻": "-", "⁰": "0", "⁴": "4", "⁵": "5", "⁶": "6", "⁷": "7", "⁸": "8", "⁹": "9", "½": "1/2"},
}
#: The name of the error handler for encodings that cannot show all characters.
REPLACE = "lamina.replace"


def visible(text: str) -> str:
    """The text with its control characters written out, such as \\x1b: a terminal shows them and does not obey."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def to_cell(text: str) -> str:
    """Text for a cell of a CSV file that no spreadsheet takes for a formula: an apostrophe is put before = + - @.

    Numbers stay as they are. ``from_cell`` takes the apostrophe away.
    """
    return f"'{text}" if _FORMULA.match(text) and not is_number(text) else text


def from_cell(cell: str) -> str:
    """The text that ``to_cell`` made a cell of."""
    return cell[1:] if _QUOTED.match(cell) and not is_number(cell[1:]) else cell


def script_json(value: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def is_number(text: str) -> bool:
    """Whether a text is a number with a decimal point."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _in_plain_letters(error: UnicodeError) -> tuple[str, int]:
    """For ``codecs``: what to write instead of characters that an encoding does not have."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    return "".join(_PLAIN.get(one) or one.encode("ascii", "backslashreplace").decode() for one in lost), error.end


codecs.register_error(REPLACE, _in_plain_letters)
