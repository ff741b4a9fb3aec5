"""The calendar in a unit of time ("cal yr BP", "CE"): how it is written, and which way time runs in it."""

import re

#: Calendars in which larger numbers are older ("ago" from a present that nobody has named), and those in which they are
#: younger.
BACKWARDS = frozenset({"bp", "b2k", "ago"})
FORWARDS = frozenset({"ce", "ad", "bce", "bc"})

_DOTTED = re.compile(r"(?<![\w.])(b\.\s*p|b\.\s*c\.\s*e|b\.\s*c|c\.\s*e|a\.\s*d)\b\.?", re.IGNORECASE)
_JOINED = re.compile(r"(?<![a-z])(cal)?(kyrs?|ka|yrs?|years?|a)?(bp|b2k)(?![a-z])", re.IGNORECASE)
_NAMES = re.compile(r"(?<![a-z])(?:bp|ce|ad|bce|bc)(?![a-z])", re.IGNORECASE)
#: Calendars in other languages.
_FOREIGN = {
    re.compile(pattern, re.IGNORECASE): name
    for pattern, name in {
        r"\bv\.?\s*(?:Chr\b|u\.\s*Z)\.?|\bav\.?\s*J\.?-?\s*C\b\.?": "BC",
        r"\bn\.?\s*Chr\b\.?|\bapr?\.?\s*J\.?-?\s*C\b\.?": "CE",
        r"\bcal\.?\s*AP\b|\b(?:antes del|vor dem?|avant le) presente?\b": "cal BP",
    }.items()
}


def spelled(unit: str) -> str:
    """A unit with its calendar in the usual letters: "cal BP" for "calBP", "yr BP" for "yr before present"."""
    for foreign, name in _FOREIGN.items():
        unit = foreign.sub(name, unit)
    unit = _DOTTED.sub(lambda found: re.sub(r"[.\s]", "", found[1]), unit)
    unit = re.sub(r"before\s+(?:the\s+)?present", "BP", unit, flags=re.IGNORECASE)
    unit = re.sub(r"before\s+(?:(?:AD|CE)\s*)?1950(?:\s*(?:AD|CE))?", "BP", unit, flags=re.IGNORECASE)
    unit = _JOINED.sub(lambda found: " ".join(filter(None, found.groups())), unit)
    return " ".join(_NAMES.sub(lambda found: found[0].upper(), unit).split())


def words(unit: str) -> list[str]:
    """The words of a unit, spelled as usual, without punctuation: ["BCE", "CE"] for "BCE/CE"."""
    return re.findall(r"[^\s.,;()/]+", spelled(unit))


def without_calendar(unit: str) -> list[str]:
    """The words of a unit that do not name a calendar: the length of a step in it, ["ka"] for "cal ka BP"."""
    return [word for word in words(unit) if word.lower() not in BACKWARDS | FORWARDS | {"cal"}]


def runs(unit: str) -> str | None:
    """ "backwards" if larger numbers are older, "forwards" if they are younger, None if the unit does not say."""
    named = {word.lower() for word in words(unit)}
    return "backwards" if named & BACKWARDS else "forwards" if named & FORWARDS else None
