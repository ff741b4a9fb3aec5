"""The scale of the input: BP or CE, its unit, and which way time runs."""

import re

import numpy as np
from numpy.typing import NDArray

from .facts import Notes
from .grid import Grid
from .headers import Header
from .options import Options
from .problems import Faults, listing, option, problem, quote

_RUNS = {"BP": "larger is older", "CE": "larger is younger"}
_LATEST_CE = 2100.0
_LEAST_BP = -150.0


def find_scale(grid: Grid, t: Header, errors: list[Header], options: Options, notes: Notes) -> tuple[str | None, str]:
    """("BP", "CE" or None, the unit for axes). Raises TableError if the headers mix the two."""
    others = {h.scale for h in errors if h.scale is not None}
    if t.scale is not None and others - {t.scale}:
        mixed = listing([t.text, *(h.text for h in errors if h.scale not in (None, t.scale))])
        raise problem(
            grid.path, f"BP and CE are mixed: {mixed}", "give the input and its error in one scale", grid.header_line
        )
    scale, why = _decide(t, others, options)
    if options.scale and t.scale and options.scale != t.scale:
        notes.warn(f"the header {quote(t.text)} says {t.scale}, but you said {options.scale}; {options.scale} is used.")
    if scale is None:
        notes.fact("scale", "no scale known", f"nothing says BP or CE; give it with {option('scale', 'BP or CE')}")
    else:
        notes.fact("scale", f"{scale}: {_RUNS[scale]}", why)
    return scale, _unit(t, scale)


def _decide(t: Header, others: set[str], options: Options) -> tuple[str | None, str]:
    if options.scale is not None:
        return options.scale, "you said so"
    if t.scale is not None:
        return t.scale, f"the header {quote(t.text)} says so"
    if others:
        return next(iter(others)), "the header of its error says so"
    if re.search(r"\b(?:ka|kyrs?|ma)\b", t.unit, flags=re.IGNORECASE):
        return "BP", f"ages in {t.unit} count back from the present"
    if t.word in ("year", "years", "yr", "date"):
        return "CE", f"the column is called {quote(t.text)}"
    return None, ""


def _unit(t: Header, scale: str | None) -> str:
    """The user's own unit, with the scale if the header does not name it."""
    if scale is None or t.scale == scale:
        return t.unit or scale or ""
    bare = "" if t.scale is not None else t.unit
    return f"{bare} {scale}".strip()


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
