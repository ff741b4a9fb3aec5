"""Columns of latitude and longitude, and degrees as people write them: 41.331, 41.331 N, 41° 19′ 52″ N, 71.864 (°W)."""

import math
import re
from typing import NamedTuple

import numpy as np

from ..columns import Reading
from ..file import Table
from ..headers import Header, squash
from ..messages import option, quote
from ..numbers import Array, is_blank, number_in

_BEFORE, _AFTER = r"(?:site|sample|core|station|decimal|dec|geo|mean)*", r"(?:decimal|degrees?|degs?|dec|dd|wgs84)*"
_NAMES = {
    "latitude": re.compile(rf"{_BEFORE}(?:latitude|lat)s?{_AFTER}(?P<side>n|s|north|south)?{_AFTER}"),
    "longitude": re.compile(rf"{_BEFORE}(?:longitude|long|lon|lng)s?{_AFTER}(?P<side>e|w|east|west)?{_AFTER}"),
}
#: The end of a plural, unless it stands alone or is the only capital letter: lats, but lat_s and latS.
_PLURAL = "s"
#: The letters of each axis: where degrees are positive, and where negative.
_LETTERS = {"latitude": ("N", "S"), "longitude": ("E", "W")}
_SIDES = {"N": "north", "S": "south", "E": "east", "W": "west"}
_HALF_TURN = 180.0
_LETTER = re.compile(r"(?<![a-z])([nsew])(?:orth|outh|ast|est)?(?![a-z])", re.IGNORECASE)
_MARKS = re.compile(r"[°º˚'′’‘\"″”:]|deg|''")
_SEPARATORS = re.compile(r"(?:[°º˚'′’‘\"″”:\s]|deg(?:rees)?)+")
_UNSIGNED = re.compile(r"\d+(?:\.\d+)?")


class Degrees(NamedTuple):
    """A cell: degrees, NaN if it is no place on this axis, and its letter, "" for none."""

    value: float
    letter: str = ""


def find_column(table: Table, axis: str) -> Header | None:
    """The column of an axis, "latitude" or "longitude": the one that the user names, or the one with its name.

    Raises TableError if several columns have such a name and do not hold the same.
    """
    name = getattr(table.options, axis)
    if name is not None:
        return table.require(name, option(axis, "COLUMN"))
    alike = [h for h in table.headers if h.role is None and _NAMES[axis].fullmatch(squash(h.text))]
    if table.differ(alike):
        raise table.ambiguous(alike, f"the {axis}", f"choose one with {option(axis, 'COLUMN')}")
    return alike[0] if alike else None


def read_cell(cell: str, axis: str) -> Degrees:
    """The degrees in a cell: a number, or degrees, minutes and seconds, with a letter for its side of the globe.

    Two numbers without any mark or letter may mean anything, and are none.
    """
    text = cell.strip().replace("−", "-").replace("–", "-")
    letter = ""
    for place in (0, -1):
        if text and text[place].upper() in _LETTERS[axis] and not letter:
            letter, text = text[place].upper(), (text[1:] if place == 0 else text[:-1]).strip()
    sign = -1.0 if (letter in "SW" and letter) or text.startswith("-") else 1.0
    plain = number_in(text, comma=True)
    if not math.isnan(plain):
        return Degrees(sign * abs(plain), letter)
    parts = [part for part in _SEPARATORS.split(text.lstrip("+-").replace(",", ".")) if part]
    clear = letter or _MARKS.search(text) or len(parts) == 3
    if not clear or not 1 <= len(parts) <= 3 or not all(map(_UNSIGNED.fullmatch, parts)):
        return Degrees(math.nan)
    numbers = [float(part) for part in parts]
    if any(not value.is_integer() for value in numbers[:-1]) or any(value >= 60.0 for value in numbers[1:]):
        return Degrees(math.nan)
    return Degrees(sign * sum(value / 60.0**k for k, value in enumerate(numbers)), letter)


def read_column(reading: Reading, header: Header, axis: str) -> tuple[Array, str]:
    """Degrees north or east, shape (rows,), NaN for empty cells, and how the column was read.

    Cells that cannot be used become faults.
    """
    cells = reading.column(header)
    degrees, why = to_degrees(cells, header, axis)
    for i in np.flatnonzero(np.isnan(degrees)).tolist():
        if not is_blank(cells[i]):
            reading.fault(*_no_degrees(cells[i], axis), i, header)
    return degrees, why


def to_degrees(cells: list[str], header: Header, axis: str) -> tuple[Array, str]:
    """Degrees north or east, shape (rows,), NaN for what cannot be used, and how the cells were read.

    A cell without a letter counts to the side that the header names. It cannot be used where other cells have letters
    and the header names none, or where the header names west or south and other cells are negative.
    """
    found = {cell: read_cell(cell, axis) for cell in set(cells)}
    degrees = np.array([found[cell].value for cell in cells])
    bare = np.array([not found[cell].letter for cell in cells]) & np.isfinite(degrees)
    letters = sorted({one.letter for one in found.values()} - {""})
    reasons = [f"letters {' and '.join(letters)} in the cells"] if letters else []
    side, positive, negative = _header_letter(header, axis), *_LETTERS[axis]
    if side == negative and bare.any():
        signs = np.sign(degrees[bare])
        if signs.min() >= 0.0:
            degrees[bare] *= -1.0
            reasons.append(f"degrees {_SIDES[negative]}, as the header says, taken as negative")
        elif signs.max() <= 0.0:
            reasons.append(
                f"taken as degrees {_SIDES[positive]}: they are negative, and the header names {_SIDES[negative]}"
            )
        else:
            degrees[bare & (degrees < 0.0)] = np.nan
    elif bare.any() and letters and not side:
        degrees[bare] = np.nan
    elif bare.any():
        east = axis == "longitude" and degrees[bare].max() > _HALF_TURN
        usual = f"degrees {_SIDES[positive]}, negative to the {_SIDES[negative]}"
        reasons.append("degrees east from 0 to 360" if east else usual)
    return degrees, "; ".join(reasons)


def _no_degrees(cell: str, axis: str) -> tuple[str, str]:
    """What was found instead of degrees, and what to do."""
    other = next(name for name in _LETTERS if name != axis)
    if not math.isnan(read_cell(cell, axis).value):
        found = f"found {quote(cell)}, and other cells or the header count to one side with a letter or a sign"
        return found, "write all cells in one way: degrees north or east, negative to the south and the west"
    if not math.isnan(read_cell(cell, other).value):
        do = "the columns of latitude and longitude are swapped: rename them"
        return f"found {quote(cell)}, which is a {other}", do
    return f"found {quote(cell)} where the {axis} should be", "give decimal degrees, negative to the south and the west"


def _header_letter(header: Header, axis: str) -> str:
    """The side of the globe to which a header says that degrees count; "" if it does not say."""
    text = re.sub(r"[_\W]+|(?<=[a-z])(?=[A-Z])", " ", header.text)
    if "negative" in text.lower():
        return ""
    named = _NAMES[axis].fullmatch(squash(header.text))
    if named and named["side"] not in (None, _PLURAL):
        return named["side"][0].upper()
    found = {letter.upper() for letter in _LETTER.findall(text)} & set(_LETTERS[axis])
    return found.pop() if len(found) == 1 else ""
