"""NOAA's template for paleoclimate data: # lines that describe the file, its variables and its missing values."""

import re
from dataclasses import replace

from ..messages import Fact, counted
from .cells import Rows

#: Units of NOAA's vocabulary in the words of other tables.
_UNITS = {
    **dict.fromkeys(("calendar year before present", "calendar year before 1950", "cal yr bp"), "cal yr BP"),
    **dict.fromkeys(("calendar kiloyear before present", "calendar kiloyear before 1950", "cal ka bp"), "cal ka BP"),
    **dict.fromkeys(("calendar year before 1950 common era",), "cal yr BP"),
    **dict.fromkeys(("calendar year common era", "year common era", "year ad", "common era"), "CE"),
    **dict.fromkeys(("carbon-14 year before present", "radiocarbon year before present"), "14C yr BP"),
    **dict.fromkeys(("centimeter", "centimetre"), "cm"),
    **dict.fromkeys(("millimeter", "millimetre"), "mm"),
    **dict.fromkeys(("meter", "metre"), "m"),
    "year": "yr",
    "degree celsius": "°C",
    "per mil": "‰",
    "percent": "%",
}
#: Kinds of errors of NOAA's vocabulary in other words; those that are no errors.
_ERRORS = {"one standard deviation": "1 sigma", "two standard deviations": "2 sigma"}
_NO_ERROR = {"", "na", "n/a", "none", "null"}
_MISSING = re.compile(r"#\s*missing[ _]values?\s*:\s*(.*)", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d{1,9}(?:\.\d{1,9})?")


def describe(rows: Rows, comments: list[str]) -> Rows:
    """The rows with the units and the missing values that the comments of a template name; others as they are."""
    variables = _variables(comments)
    missing = _missing(comments)
    if not variables and not missing:
        return rows
    header = next((k for k, row in enumerate(rows.cells) if {cell.lower() for cell in row} & set(variables)), None)
    if header is None and variables:
        return rows
    names = rows.cells[header or 0]
    meanings = {k: _meaning(name, variables[name.lower()]) for k, name in enumerate(names) if name.lower() in variables}
    emptied, cells = 0, rows.cells
    if missing:
        cells = [["" if cell in missing else cell for cell in row] for row in rows.cells]
        emptied = sum(a != b for old, new in zip(rows.cells, cells, strict=True) for a, b in zip(old, new, strict=True))
    facts = list(rows.facts)
    if emptied:
        facts.append(
            Fact("missing", f"{counted(emptied, 'cell')} with {', '.join(sorted(missing))}", "the file says so")
        )
    form = f"NOAA template, {rows.form}" if variables else rows.form
    return replace(rows, cells=cells, form=form, header=header, meanings=meanings, facts=tuple(facts))


def _variables(comments: list[str]) -> dict[str, list[str]]:
    """The parts of each variable's description (what, material, error, units, ...), by its short name."""
    found: dict[str, list[str]] = {}
    for line in comments:
        name, tab, about = line.strip().removeprefix("##").partition("\t")
        parts = [part.strip() for part in about.split(",")]
        if line.lstrip().startswith("##") and tab and len(parts) >= 5:
            found[name.strip().lower()] = parts
    return found


def _missing(comments: list[str]) -> set[str]:
    """The numbers that stand for a missing value."""
    found: set[str] = set()
    for line in comments:
        match = _MISSING.match(line.strip())
        if match:
            found |= {part for part in re.split(r"[\s,;]+", match[1].strip()) if _NUMBER.fullmatch(part)}
    return found


def _meaning(name: str, parts: list[str]) -> str:
    """The name of a column with its unit and the kind of its error, unless the name has a unit itself."""
    error, unit = parts[2].lower().strip(), parts[3]
    unit = _UNITS.get(unit.lower(), unit)
    words = name if "(" in name or not unit else f"{name} ({unit})"
    return f"{words} ({_ERRORS.get(error, error)})" if error not in _NO_ERROR else words
