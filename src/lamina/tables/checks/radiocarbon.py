"""Whether ages that do not say so are radiocarbon ages: the evidence for and against it."""

import re
from pathlib import Path

import numpy as np

from ..columns import MADE, Reading
from ..formats.bacon import curves_column, is_bacon_without_cc
from ..headers import Header, is_calibrated, is_radiocarbon, squash
from ..matching.laboratories import laboratory_numbers
from ..messages import listing, quote

#: Headers beside an age that only radiocarbon dates have.
_BESIDE = re.compile(
    r"fraction\s*(?:of\s*)?modern|percent\s*modern|(?<![a-z])p\s?mc(?![a-z])|(?<![a-z0-9])fm(?:dn)?(?![a-z0-9])|f\s?14\s?c"
    r"|(?<![a-z])f\s?modern|libby|(?<![a-z])ams(?![a-z])|radio-?carbon|(?<!\d)14\s?c(?![a-z])|(?<![a-z])c-?14(?!\d)"
    r"|(?<![a-z])rcy|uncal|non-?cal|conventional|(?:Δ|delta|d)[\s_.]*r(?![a-z])|reservoir",
    re.IGNORECASE,
)
#: Cells that say how a row was dated.
_DATED = re.compile(
    r"(?<![a-z])ams(?![a-z])|(?<![\d.])14\s?c(?![a-z])|(?<![a-z])c-?14(?!\d)|carbon-?\s?14|radio-?carbon|uncal",
    re.IGNORECASE,
)
_CALENDAR = re.compile(r"(?<![a-z])cal(?![a-z])|calib|calendar|median|mean|b2k|model", re.IGNORECASE)
_LIMITS = re.compile("min|max|old|young|range|hpd", re.IGNORECASE)
#: No radiocarbon age is older, in years.
_OLDEST = 55_000.0
#: Tables of any length are judged by their first rows.
_ROWS = 2000


def is_calendar(reading: Reading) -> str:
    """Why the ages are calendar ages for certain; "" if they may be radiocarbon ages."""
    t, options = reading.columns.t, reading.options
    if t.index == MADE:
        return "they are known by their limits"
    if any(fact.what == "ages" for fact in reading.facts):
        return "they come from another age model"
    if reading.program:
        return f"{reading.program}'s table says so"
    if t.scale in ("CE", "BC") or options.scale == "CE":
        return "they are years CE"
    if t.word in ("year", "years", "yr", "date") and t.scale is None:
        return f"the column is called {t}"
    if _CALENDAR.search(t.text) or _CALENDAR.search(options.t_unit or ""):
        return f"the header {t} says so"
    if _CALENDAR.search(t.unit):
        return f"the unit of {t}, {t.unit}, says so"
    if t.modelled or squash(t.text) in ("median", "mean"):
        return "they come from an age-depth model"
    named = [header for header in reading.columns.radiocarbon if is_radiocarbon(header.text)]
    if named:
        return f"the radiocarbon ages are in {named[0]}"
    limits = any(h.side and not h.says_error and _LIMITS.search(h.text) for h in reading.columns.t_errors)
    if limits and not suspicions(reading):
        return "their errors are limits"
    if _median(reading, t) > _OLDEST:
        return "they are older than radiocarbon can be"
    return ""


def suspicions(reading: Reading) -> list[str]:
    """The evidence for radiocarbon ages, one clause each; [] for nothing."""
    columns = reading.columns
    measured = {h.index for h in (columns.y, *columns.y_errors)}
    others = [h for h in reading.headers if h.index not in measured and h.text]
    found = []
    named = [h for h in others if _BESIDE.search(h.text.replace("_", " ")) and h.role != "label"]
    if named:
        found.append(f"the header{'s' if len(named) > 1 else ''} {listing(named)}")
    known = {h.index for h in columns.measured}
    for header in (h for h in others if h.index not in known):
        cells = [row[header.index] for row in reading.cells[:_ROWS]]
        numbers = laboratory_numbers(cells)
        if numbers:
            more = f" and {len(set(numbers)) - 1} more" if len(set(numbers)) > 1 else ""
            found.append(f"laboratory numbers such as {quote(numbers[0])}{more} in {header}")
        words = [cell for cell in cells if len(cell) < 40 and _DATED.search(cell) and not is_calibrated(cell)]
        if words and not numbers:
            found.append(f"{quote(words[0])} in {header}")
    beside = [h for h in reading.headers if h.role == "t" and not h.error and is_calibrated(h.text)]
    if beside and not is_calibrated(columns.t.text):
        found.append(f"{beside[0]} beside it holds calibrated ages")
    if (cc := curves_column(reading)) is not None:
        found.append(f"Bacon's numbers of curves in {cc}")
    if is_bacon_without_cc(reading.headers):
        found.append("the columns of Bacon's tables, in which ages without cc are radiocarbon ages")
    return found + _prose(reading) + _siblings(reading.path)


def _prose(reading: Reading) -> list[str]:
    """What the comments and titles of the table, or the name of its file, say about radiocarbon."""
    if any(map(is_calibrated, reading.prose)) or is_calibrated(reading.path.stem):
        return []
    lines = [line for line in reading.prose if _DATED.search(line)]
    name = [f"the name of the file, {quote(reading.path.name)}"] if _DATED.search(reading.path.stem) else []
    return [f"{quote(lines[0])} above the table"] if lines else name


def _siblings(path: Path) -> list[str]:
    """Files of Bacon beside the table."""
    try:
        ran = sorted(one.name for one in path.parent.glob(f"{_plain(path.stem)}_[0-9]*.bacon"))
        ran += sorted(one.name for one in path.parent.glob(f"{_plain(path.stem)}_[0-9]*.out"))
    except OSError:
        return []
    return [f"the file {quote(ran[0])} of Bacon beside it"] if ran else []


def _plain(stem: str) -> str:
    """A name without the signs that mean something in patterns."""
    return re.sub(r"[\[\]*?]", "?", stem)


def _median(reading: Reading, header: Header) -> float:
    """The median of a column in years, 0 if it has no numbers."""
    thousands = 1000.0 if re.search(r"\b(?:ka|kyrs?)\b", header.unit, re.IGNORECASE) else 1.0
    found = []
    for cell in reading.column(header)[:_ROWS]:
        try:
            found.append(float(cell))
        except ValueError:
            continue
    return thousands * float(np.median(found)) if found else 0.0


# --- which curve -----------------------------------------------------------------------------------------------------

_MARINE = re.compile(
    r"marine|shell|foram|mollus|coral|echin|bivalv|benthic|plankt|mytilus|oyster|pachyderma|bulloides|ruber|sacculifer"
    r"|inflata|globigerin|neogloboq|globorotal|cibicid|uvigerin|macoma|hiatella|yoldia|(?<!ant)arctica",
    re.IGNORECASE,
)


#: Materials that took their carbon from the air, or from fresh water; also some whose names sound marine.
_LAND = re.compile(
    r"wood|charcoal|twig|lea(?:f|ves)|plant|seed|macro-?fossil|peat|moss|sphagnum|bark|needle|root|rhizome|terrestr|(?<!is)land|carex"
    r"|fresh-?\s?water|lacustr|nut-?\s?shell|egg-?\s?shell|(?<!sea)(?<!sea )grass|spartina|juncus|phragmites|scirpus",
    re.IGNORECASE,
)
_MATERIALS = ("material", "materialdated", "datedmaterial", "sampletype", "species", "environment")


def materials(reading: Reading, rows: list[int]) -> tuple[dict[int, str], dict[int, str]]:
    """Rows of marine material and rows of other known material, each with the words that say so."""
    marine: dict[int, str] = {}
    land: dict[int, str] = {}
    for header in (h for h in reading.headers if squash(h.text) in _MATERIALS):
        for i in rows:
            cell = reading.cells[i][header.index]
            if _LAND.search(cell):
                land[i] = f"{header} has {quote(cell)}"
            elif _MARINE.search(cell):
                marine[i] = f"{header} has {quote(cell)}"
    return {i: why for i, why in marine.items() if i not in land}, land


def other_curve(reading: Reading, rows: list[int]) -> tuple[str | None, str] | None:
    """A curve that is more likely than IntCal20 for these rows, and why; None if nothing suggests one.

    The curve is None if some rows are marine and others are not.
    """
    marine, land = materials(reading, rows)
    if marine and land:
        return None, f"{next(iter(marine.values()))}, but also {next(iter(land.values())).partition(' has ')[2]}"
    if marine:
        return "Marine20", next(iter(marine.values()))
    for header in reading.headers:
        if squash(header.text) in ("lat", "latitude") and _median(reading, header) < 0.0:
            return "SHCal20", f"{header} is south of the equator"
    for header in reading.columns.delta_r if not reading.program else ():  # clam has whole reservoir ages
        if header.rank == 0 and any(reading.cells[i][header.index].strip("0.") for i in rows):
            return "Marine20", f"{header} is an offset from the ocean"
    return None
