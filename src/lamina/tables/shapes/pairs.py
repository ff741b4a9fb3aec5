"""Cells with two numbers: a value with its error ("450 ± 30"), the top and the bottom of a sample ("10-12"), or a range
of ages ("1070-1260").
"""

import re
from dataclasses import replace

from ..file import Table
from ..formats.ages import meaning
from ..headers import Header, any_sigma
from ..messages import Fact, listing

_NUMBER = r"[-+−–]?\d+(?:[.,]\d+)?"
_WITH_ERROR = re.compile(rf"({_NUMBER})\s*(?:±|\+\s*/\s*[-−–])\s*(\d+(?:[.,]\d+)?)(?:\s*(?:14C\s)?(?:yrs?\s)?BP)?")
_RANGE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:[-−–—]|to)\s*(\d+(?:\.\d+)?)(?:\s*(cm|mm|m))?")
#: The ends of a range of ages. A month would be shorter than the later one.
_AGES = re.compile(r"(\d{2,}(?:\.\d+)?)\s*(?:[-−–—]|to)\s*(\d{3,}(?:\.\d+)?)")
_SIGN = re.compile(r"±|\+\s*/\s*[-−–]")
_BLANK = {"", "na", "nan", "-", "--", "n/a"}
#: Part of the cells that must be of this kind.
_MOST = 0.5


def split_pairs(table: Table) -> Table:
    """The same table, with errors and limits in columns of their own, and samples at the middle of their depths."""
    depth = None if table.options.depth is None else table.find(table.options.depth)
    for header in [h for h in table.headers if h.text]:
        table = _split_errors(table, header)
        if (header.role == "depth" and header.side is None) or (depth is not None and header.index == depth.index):
            table = _middles(table, header)
        if header.role == "t":
            table = _split_ranges(table, header)
    return table


def _matches(table: Table, header: Header, pattern: re.Pattern[str]) -> list[re.Match[str] | None]:
    """What a pattern finds in each cell of a column; [] if most of them are something else."""
    first = next((row[header.index] for row in table.cells if row[header.index].lower() not in _BLANK), "")
    if not pattern.fullmatch(first):
        return []
    cells = table.column(header)
    filled = [cell for cell in cells if cell.lower() not in _BLANK]
    found = [pattern.fullmatch(cell) for cell in cells]
    return found if sum(one is not None for one in found) > _MOST * len(filled) else []


def _split_errors(table: Table, header: Header) -> Table:
    """Values with their errors become two columns; what has none keeps an empty one."""
    found = _matches(table, header, _WITH_ERROR)
    if not found:
        return table
    cells = [[*row, "" if one is None else one[2]] for row, one in zip(table.cells, found, strict=True)]
    for row, one in zip(cells, found, strict=True):
        row[header.index] = row[header.index] if one is None else one[1]
    value = meaning(header, _SIGN.split(header.text)[0]) if header.error else header
    error = replace(
        value, index=len(table.headers), text=f"error of {header.text}", error=True, says_error=True, scale=None,
        sigma=any_sigma(header.text), role={"radiocarbon age": "radiocarbon error"}.get(value.role or "", value.role),
    )  # fmt: skip
    headers = [value if h.index == header.index else h for h in table.headers]
    table = replace(table, headers=[*headers, error], cells=cells)
    return table.noting(Fact("errors", f"the numbers after ± in {header}", "they stand in the same cells"))


def _middles(table: Table, header: Header) -> Table:
    """Depths of the top and the bottom of a sample become the depth of its middle."""
    found = _matches(table, header, _RANGE)
    units = {one[3] for one in found if one is not None and one[3]} | ({header.unit} if header.unit else set())
    if not found or len(units) > 1:
        return table
    cells = [list(row) for row in table.cells]
    for row, one in zip(cells, found, strict=True):
        if one is not None:
            row[header.index] = f"{0.5 * (float(one[1]) + float(one[2])):.10g}"
    return replace(table, cells=cells).noting(
        Fact("depth", f"the middle of the range in {listing([header])}", "its cells hold top and bottom")
    )


def _split_ranges(table: Table, header: Header) -> Table:
    """Ranges of ages become two columns of limits."""
    found = _matches(table, header, _AGES)
    if not found:
        return table
    ends = [sorted((one[1], one[2]), key=float) if one is not None else ["", ""] for one in found]
    cells = [[*row, *pair] for row, pair in zip(table.cells, ends, strict=True)]
    limit = replace(header, error=True, says_error=False, sigma=header.sigma or any_sigma(header.text), unclear="")
    n = len(table.headers)
    limits = [
        replace(limit, index=n, text=f"lower end of {header.text}", side="low"),
        replace(limit, index=n + 1, text=f"upper end of {header.text}", side="up"),
    ]
    headers = [replace(h, role=None) if h.index == header.index else h for h in table.headers]
    table = replace(table, headers=[*headers, *limits], cells=cells)
    return table.noting(Fact("limits", f"the two ends of the ranges in {header}", "they stand in the same cells"))
