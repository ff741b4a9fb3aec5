"""Units of an error and of what it is the error of: millimetres beside metres, years beside thousands of years."""

from ..support.calendars import without_calendar, words
from .grid import Grid
from .headers import Header
from .problems import TableError, problem, quote

_LENGTHS = {"m": 1.0, "metre": 1.0, "meter": 1.0, "cm": 0.01, "mm": 0.001, "km": 1000.0}
_TIMES = {"a": 1.0, "y": 1.0, "yr": 1.0, "year": 1.0, "ka": 1e3, "kyr": 1e3, "ky": 1e3, "ma": 1e6, "myr": 1e6}
_PARTS = ("%", "percent")


def factor(grid: Grid, role: str, of: Header, error: Header) -> float:
    """What the numbers of an error column are multiplied by to be in the unit of the column `of`: 1 if not known.

    Raises TableError for an error in percent of something that is not.
    """
    if error.unit.lower() in _PARTS and of.unit.lower() not in _PARTS:
        raise _relative(grid, of, error)
    units = [_in_family(role, header.unit) for header in (error, of)]
    return 1.0 if None in units else units[0] / units[1]  # type: ignore[operator]


def _in_family(role: str, unit: str) -> float | None:
    """A unit in metres (of the output) or years (of the input); None for any other."""
    if role == "y":
        first = words(unit)[:1]
        return _LENGTHS.get(_one(first[0])) if first else None
    rest = without_calendar(unit)
    if not rest:
        return 1.0 if words(unit) else None  # a calendar alone, such as BP, counts years
    return _TIMES.get(_one(rest[0]))


def _one(word: str) -> str:
    """A unit in lower case and in the singular."""
    return word.lower().removesuffix("s") if len(word) > 1 else word.lower()


def _relative(grid: Grid, of: Header, error: Header) -> TableError:
    unit = of.unit or f"the unit of {quote(of.text)}"
    found = f"the error is in percent, which {quote(of.text)} is not"
    return problem(grid.path, found, f"give it in {unit}", grid.header_line, error.text)
