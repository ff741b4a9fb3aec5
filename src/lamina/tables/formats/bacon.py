"""Bacon: its table of dates (labID, age, error, depth, cc), the iterations of a run (.out) and its summary of ages."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..file import Table
from ..headers import Header, is_calibrated, squash
from ..messages import Notes, flag, problem, quote
from .ages import names_other_ages, undated, with_curves, with_meanings

_Array = NDArray[np.float64]

#: What Bacon's column cc means: calendar ages, or the curve that calibrates.
_CALENDAR = "0"
_CURVES = {"1": "IntCal20", "2": "Marine20", "3": "SHCal20"}
_KINDS = "write 0 for calendar ages, 1 for IntCal20, 2 for Marine20 or 3 for SHCal20"
#: What may follow the name of a column: its unit, or what it is.
_AFTER = r"(?:14c|c14|rc|cal|yrs?|years?|a|bp|cm|mm|m|no|units?|unitless|none|curve|code|id)*"
#: The columns of Bacon's tables, without case, spaces and punctuation.
_COLUMNS = {
    "label": re.compile(r"(?:lab|sample)?(?:id|code|number|no)|lab|sample|name"),
    "age": re.compile(rf"(?:14c|c14|rc)?ages?{_AFTER}"),
    "error": re.compile(rf"(?:[12]s(?:d|igma)?)?(?:age|14cage|14c|c14)?(?:err|error|sd)(?:[12]s(?:d|igma)?)?{_AFTER}"),
    "depth": re.compile(rf"depths?{_AFTER}"),
    "cc": re.compile(rf"cc{_AFTER}"),
    "delta R": re.compile(rf"(?:d|delta)r{_AFTER}"),
    "delta R error": re.compile(rf"(?:d|delta)(?:r?std|rsd|rerr|rerror){_AFTER}"),
    "student a": re.compile(rf"(?:student)?ta{_AFTER}"),
    "student b": re.compile(rf"(?:student)?tb{_AFTER}"),
}
#: Their names as Bacon has them: beside such a column, "age unit" and "cc_unit" hold something else.
_NAMES = {
    "age": {"age", "14cage", "c14age"},
    "error": {"error"},
    "depth": {"depth"},
    "cc": {"cc"},
    "delta R": {"dr", "deltar"},
    "delta R error": {"dstd", "deltastd"},
}
#: The last line of a .bacon file: Bacon 0: FixT, K, MinAge, MaxAge, th0, th0p, w.a, w.b, alpha, beta, dmin, dmax;
_SETTINGS = re.compile(r"^Bacon 0:([^;\n]{1,500});", re.MULTILINE)
_SUMMARY = ["depth", "min", "max", "median", "mean"]
#: Members made of a summary: quantiles that run through the whole core.
_MEMBERS = 400


def bacon_columns(headers: Iterable[Header]) -> dict[str, Header]:
    """The columns that a table has of Bacon's, by what they hold; without those that several columns may be."""
    return {kind: alike[0] for kind, alike in _by_kind(headers).items() if len(alike) == 1}


def _by_kind(headers: Iterable[Header]) -> dict[str, list[Header]]:
    """The columns that may be each of Bacon's; those with its very name, if there are any."""
    found: dict[str, list[Header]] = {}
    for header in headers:
        kinds = [kind for kind, pattern in _COLUMNS.items() if pattern.fullmatch(squash(header.text))]
        for kind in kinds[:1]:
            found.setdefault(kind, []).append(header)
    exact = {kind: [h for h in alike if squash(h.text) in _NAMES.get(kind, ())] for kind, alike in found.items()}
    return {kind: exact[kind] or alike for kind, alike in found.items()}


def curves_column(table: Table) -> Header | None:
    """The column cc of a table with ages and depths, if it has Bacon's numbers and some row has a curve; else None."""
    found = _by_kind(table.headers)
    if not found.keys() >= {"age", "depth", "cc"} or len(found["cc"]) > 1:
        return None
    cc = found["cc"][0]
    kinds = {cell.strip().removesuffix(".0") for cell in table.column(cc)} - {""}
    return cc if kinds <= {_CALENDAR, *_CURVES} and kinds & set(_CURVES) else None


def is_bacon_without_cc(headers: Iterable[Header]) -> bool:
    """Whether all columns are those of Bacon's tables, but for cc, without which all ages are radiocarbon ages."""
    named = [header for header in headers if squash(header.text)]
    found = bacon_columns(named)
    if len(found) < len(named) or "cc" in found or not found.keys() >= {"label", "age", "error", "depth"}:
        return False
    return squash(found["error"].text).startswith("err")  # its word, which "age_sd" is not


def from_bacon(table: Table) -> Table:
    """A table with Bacon's column cc, which says what kind of age each is, with the headers and cells of other tables.

    Read as any other table, its radiocarbon ages would be taken for calendar ages. Any other table, and one whose ages
    the user calls calendar ages, stays as it is.

    Raises TableError where cc is none of Bacon's numbers, or contradicts the header of the ages.
    """
    found = bacon_columns(table.headers)
    age, error, cc = (found.get(kind) for kind in ("age", "error", "cc"))
    if age is None or error is None or cc is None or names_other_ages(table, age):
        return table
    kinds = [cell.strip().removesuffix(".0") for cell in table.column(cc)]
    empty = undated(table, age)
    _check_kinds(table, cc, kinds, empty)
    _check_header(table, age, cc, kinds)
    meanings = {kind: found.get(kind) for kind in ("delta R", "delta R error")}
    table = with_meanings(table, {header: words for words, header in meanings.items()})
    table = _with_student(table, found)
    table = with_curves(
        table, age, error, cc, ["" if none else _CURVES.get(kind) for kind, none in zip(kinds, empty, strict=True)]
    )
    return replace(table, form=f"{table.form}, with Bacon's column cc", program="Bacon")


def _with_student(table: Table, found: Mapping[str, Header]) -> Table:
    """The table, where both parameters of the Student-t errors have their roles."""
    kinds = [kind for kind in ("student a", "student b") if kind in found]
    headers = list(table.headers)
    for kind in kinds if len(kinds) == 2 else ():
        headers[found[kind].index] = replace(found[kind], role=kind)
    return replace(table, headers=headers)


def _check_kinds(table: Table, cc: Header, kinds: list[str], empty: list[bool]) -> None:
    notes, do = Notes(), _KINDS
    for kind, line, none in zip(kinds, table.lines, empty, strict=True):
        if none:
            continue
        if kind == "4":
            notes.fault("cc is 4, a curve of your own, which lamina does not have", do, [line], cc.text)
        elif kind != _CALENDAR and kind not in _CURVES:
            notes.fault(f"cc is {quote(kind)}, which is none of Bacon's kinds of ages", do, [line], cc.text)
    notes.refuse(table.path)


def _check_header(table: Table, age: Header, cc: Header, kinds: list[str]) -> None:
    """Ages that are calibrated by their header, but not by cc, could be either."""
    raw = [i for i, kind in enumerate(kinds) if kind in _CURVES]
    if is_calibrated(age.text) and raw and table.options.age_type is None:
        found = f"the header {age} says calendar ages, but cc says radiocarbon ages"
        do = f"say {flag('age_type')} calendar or radiocarbon (age_type= in Python), or correct cc: {_KINDS}"
        raise table.problem(found, do, raw, cc).suggesting(age_type="calendar")


# --- the result of a run ---------------------------------------------------------------------------------------------


def is_out(path: Path) -> bool:
    """Whether a file holds the iterations of a run, by its name."""
    return path.suffix.lower() == ".out"


def ages_of_out(path: Path, iterations: _Array) -> tuple[_Array, _Array]:
    """Depths, (K + 1,), and the ages of each iteration there, (members, K + 1), from the rows of a .out file.

    A row holds the age of the top, the accumulation rates of K sections of equal thickness (years per unit of depth),
    the memory, and minus the log of the target. The depths come from the .bacon file beside it.

    Raises TableError if there is none, or it does not belong to the rows.
    """
    first, last = _section_depths(path, iterations.shape[1] - 3)
    sections = iterations.shape[1] - 3
    depths = np.linspace(first, last, sections + 1)
    thickness = (last - first) / sections
    ages = np.cumsum(np.hstack([iterations[:, :1], thickness * iterations[:, 1 : sections + 1]]), axis=1)
    return depths, ages


def _section_depths(path: Path, sections: int) -> tuple[float, float]:
    """The depths between which the sections of a run lie."""
    beside = path.with_suffix(".bacon")
    do = f"put {beside.name} of the same run next to it, which names the depths of the sections"
    try:
        text = beside.read_text(encoding="utf-8", errors="replace")
    except OSError:
        raise problem(path, f"there is no {beside.name} in the same folder", do) from None
    if re.search(r"^Hiatus ", text, re.MULTILINE):
        found = "the run has a hiatus, across which the rows of this file do not add up"
        raise problem(path, found, "write the ages of all iterations with Bacon.Age.d in R, one column for each")
    match = _SETTINGS.search(text)
    parts = match[1].split(",") if match else []
    try:
        k, first, last = int(parts[1]), float(parts[10]), float(parts[11])
    except (IndexError, ValueError):
        raise problem(beside, "the line that begins with Bacon 0: is missing or cannot be read", do) from None
    if k != sections or not last > first:
        found = f"{beside.name} is of a run with {k} sections, but this file has {sections}"
        raise problem(path, found, do)
    return first, last


def is_summary(names: list[str]) -> bool:
    """Whether headers are those of Bacon's file of ages: 95 % range, median and mean, but no members."""
    return [name.strip().lower() for name in names] == _SUMMARY


def members_of_summary(table: _Array) -> _Array:
    """Members, (400, depths), from the rows of a file of ages: each is one quantile of the ages at all depths.

    The summary does not say how errors at different depths are correlated. Here they are shared by all depths. The two
    sides of the median are halves of normal densities with the given 2.5 and 97.5 % points.
    """
    low, high, median = table[:, 1], table[:, 2], table[:, 3]
    z = _normal_quantiles((np.arange(_MEMBERS) + 0.5) / _MEMBERS)[:, None] / 1.959964
    return median + np.where(z < 0.0, z * (median - low), z * (high - median))


def _normal_quantiles(p: _Array) -> _Array:
    from scipy.special import ndtri

    return np.asarray(ndtri(p), dtype=np.float64)
