"""The scale of the input: BP or CE, its unit, and which way time runs."""

import re
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..support.calendars import runs, spelled, without_calendar, words
from .aliases import MADE
from .facts import Notes
from .grid import Grid
from .headers import Header, is_radiocarbon
from .options import Options
from .order import Arrangement
from .problems import Faults, listing, option, problem, quote

_RUNS = {"BP": "larger is older", "CE": "larger is younger"}
_WAYS = {"BP": "backwards", "CE": "forwards"}
#: Words for a side that tell older from younger, not larger from smaller.
_OLDER = re.compile("old|young|bottom|top", re.IGNORECASE)
_LATEST_CE = 2100.0
_LEAST_BP = -150.0


def find_scale(grid: Grid, t: Header, errors: list[Header], options: Options, notes: Notes) -> tuple[str | None, str]:
    """("BP", "CE" or None, the unit for axes). Raises TableError if the headers mix the two, or count years BC."""
    others = {h.scale for h in errors if h.scale is not None}
    if t.scale is not None and others - {t.scale}:
        mixed = listing([t.text, *(h.text for h in errors if h.scale not in (None, t.scale))])
        raise problem(
            grid.path, f"BP and CE are mixed: {mixed}", "give the input and its error in one scale", grid.header_line
        )
    if t.scale == "BC" and options.scale is None:
        do = f"write years before CE as negative numbers and name the column year, or say {option('scale', 'BP or CE')}"
        raise problem(grid.path, "years BC or BCE count back from the year 1", do, grid.header_line, t.text)
    if is_radiocarbon(t.text):
        notes.warn(
            f"{quote(t.text)} seems to hold radiocarbon ages, which are not calendar ages: calibrate them first."
        )
    scale, why = _decide(t, others, options)
    if options.scale and t.scale and options.scale != t.scale:
        notes.warn(f"the header {quote(t.text)} says {t.scale}, but you said {options.scale}; {options.scale} is used.")
    if scale is None:
        notes.fact("scale", "no scale known", f"nothing says BP or CE; give it with {option('scale', 'BP or CE')}")
    else:
        name = "b2k" if "b2k" in words(_unit(t, scale)) else scale
        notes.fact("scale", f"{name}: {_RUNS[scale]}", why)
    return scale, _unit(t, scale)


def _decide(t: Header, others: set[str], options: Options) -> tuple[str | None, str]:
    if options.scale is not None:
        return options.scale, "you said so"
    if t.index == MADE and t.scale is not None:
        return t.scale, "what radiocarbon ages are calibrated to" if t.unit == "cal BP" else "the limits say so"
    if t.scale is not None and t.text.strip().lower() == "age":  # of which it is known, but not from its name
        return t.scale, "as always in Bacon's tables"
    if t.scale is not None:
        return t.scale, f"the header {quote(t.text)} says so"
    if others:
        return next(iter(others)), "the header of its error says so"
    if re.search(r"\b(?:ka|kyrs?|ma)\b", t.unit, flags=re.IGNORECASE):
        return "BP", f"ages in {t.unit} count back from the present"
    if t.word in ("year", "years", "yr", "date"):
        return "CE", f"the column is called {quote(t.text)}"
    return None, ""


def sided(errors: list[Header], scale: str | None) -> list[Header]:
    """Errors of the input, up being towards larger numbers: in years CE that is the younger side."""
    other = {"up": "low", "low": "up"}
    return [
        replace(h, side=other[h.side]) if scale == "CE" and h.side is not None and _OLDER.search(h.text) else h
        for h in errors
    ]


def _unit(t: Header, scale: str | None) -> str:
    """The user's own unit, which names the scale: figures and rates know by it which way time runs."""
    if scale is None:
        return t.unit
    if runs(t.unit) == _WAYS[scale]:
        return spelled(t.unit)
    return " ".join([*without_calendar(t.unit), scale])


def unit_along(t: Header, unit: str, arranged: Arrangement, notes: Notes) -> str:
    """The unit of an input without a scale, where the order tells which way time runs: deeper is older.

    What gets larger from young to old counts back from some present, which nobody has named: "ago".
    """
    if arranged.by in ("depth", "height"):
        older = arranged.order == "increasing"
        why = f"t is {arranged.order} along the order, from young to old"
        notes.fact("time", f"larger is {'older' if older else 'younger'}", why)
        return f"{unit} ago".strip() if older else unit
    if t.word in ("age", "ages"):
        notes.warn(
            f"nothing says whether larger numbers in {quote(t.text)} are older or younger: what rises and falls is "
            f"told in the direction in which they grow. Say {option('scale', 'BP or CE')}."
        )
    return unit


def note_impossible(grid: Grid, t: Header, values: NDArray[np.float64], scale: str | None, faults: Faults) -> None:
    """A year CE or BP that lies in the future is a fault: the other scale was meant, in all rows or some."""
    per = 1000.0 if re.search(r"\b(?:ka|kyrs?)\b", t.unit, flags=re.IGNORECASE) else 1.0
    years = values * per
    wrong = {"CE": years > _LATEST_CE, "BP": years < _LEAST_BP}.get(scale or "", np.zeros(0, dtype=bool))
    if not wrong.any():
        return
    do = f"say {option('scale', 'BP' if scale == 'CE' else 'CE')}"
    if not wrong.all():
        do = f"check whether BP and CE are mixed in the column, or {do}"
    for i in np.flatnonzero(wrong)[: 1 if wrong.all() else None]:
        faults.add(f"{values[i]:g} {scale} lies in the future", do, grid.lines[i], t.text)
