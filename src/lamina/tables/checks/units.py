"""Units of values and of their errors: whether one can be turned into the other."""

from ...support.calendars import without_calendar, words
from ..columns import Reading
from ..headers import Header
from ..messages import option, quote

_LENGTHS = {"m": 1.0, "metre": 1.0, "meter": 1.0, "dm": 0.1, "cm": 0.01, "mm": 0.001, "km": 1000.0}
_LENGTHS |= {"ft": 0.3048, "foot": 0.3048, "feet": 0.3048, "in": 0.0254, "inch": 0.0254, "inche": 0.0254}
_TIMES = {"a": 1.0, "y": 1.0, "yr": 1.0, "year": 1.0, "ka": 1e3, "kyr": 1e3, "ky": 1e3, "ma": 1e6, "myr": 1e6}
_PARTS = {"%": 1e-2, "percent": 1e-2, "‰": 1e-3, "permil": 1e-3, "permille": 1e-3, "ppm": 1e-6, "ppb": 1e-9}
_DEGREES = dict.fromkeys(("°c", "degc", "c", "celsiu", "celsius", "k", "kelvin", "deg"), 1.0)
_KINDS = (_LENGTHS, _PARTS, _DEGREES)
#: Words of one letter or two in brackets are units; longer ones may be remarks.
_LONGEST = 2
_PERCENT = ("%", "percent")


def factor(reading: Reading, role: str, of: Header, error: Header) -> float:
    """What the numbers of an error column are multiplied by to be in the unit of the column `of`.

    It is 1 if one of the two names no unit. Raises TableError for units of two kinds, and for an error in percent of
    something that is not; asks about units that are not known.
    """
    if error.unit.lower() in _PERCENT and (role == "t" or not _known(_PARTS, of.unit)):
        found = f"the error is in percent, which {of} is not"
        raise reading.header_problem(found, f"give it in {of.unit or f'the unit of {of}'}", error)
    if role == "t":
        unit, unit_of = _in_years(error.unit), _in_years(of.unit)
        return 1.0 if unit is None or unit_of is None else unit / unit_of
    if not error.unit or not of.unit or _first(error.unit) == _first(of.unit):
        return 1.0
    for kind in _KINDS:
        if _known(kind, error.unit) and _known(kind, of.unit):
            return kind[_first(error.unit)] / kind[_first(of.unit)]
    known = [any(_known(kind, header.unit) for kind in (*_KINDS, _TIMES)) for header in (error, of)]
    if all(known):
        found = f"the error is in the unit {quote(error.unit)}, but {of} is in {quote(of.unit)}"
        raise reading.header_problem(found, "give both in one unit, or correct the headers", error)
    if len(error.unit) <= _LONGEST and not error.unclear:
        found = (
            f"the error is in the unit {quote(error.unit)} and {of} in {quote(of.unit)}, which lamina cannot convert"
        )
        do = f"give both in one unit, or say {option('y_unit', error.unit)} if the values are in {error.unit} too"
        reading.ask(found, do, None, error, y_unit=error.unit)
    return 1.0


def length_factor(of: Header | None, header: Header) -> float:
    """What lengths in the column ``header`` are multiplied by to be in the unit of the column ``of``.

    It is 1 if one of the two names no unit of length.
    """
    if of is None or not (_known(_LENGTHS, of.unit) and _known(_LENGTHS, header.unit)):
        return 1.0
    return _LENGTHS[_first(header.unit)] / _LENGTHS[_first(of.unit)]


def _known(kind: dict[str, float], unit: str) -> bool:
    return _first(unit) in kind


def _first(unit: str) -> str:
    """The first word of a unit, in lower case and in the singular: "m" for "m MSL"."""
    found = words(unit.replace("deg C", "degC").replace("per mil", "permil").replace("° C", "°C"))
    return _singular(found[0]) if found else ""


def _in_years(unit: str) -> float | None:
    """A unit of time in years; None for any other."""
    rest = without_calendar(unit)
    if not rest:
        return 1.0 if words(unit) else None  # a calendar alone, such as BP, counts years
    return _TIMES.get(_singular(rest[0]))


def _singular(word: str) -> str:
    """A unit in lower case and in the singular."""
    return word.lower().removesuffix("s") if len(word) > 1 else word.lower()
