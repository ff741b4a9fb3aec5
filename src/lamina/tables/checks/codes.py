"""Numbers that stand for a missing value, such as -999."""

import math
import re
from dataclasses import replace

import numpy as np

from ..columns import Reading
from ..headers import Header
from ..messages import counted, flag, quote
from ..numbers import number_in, numbers_in

#: How databases write a missing value: nines, and what programs put into empty cells.
_CODE = re.compile(r"[-+]?9{2,}(?:[.,](?:0+|9+|25))?")
#: What one of these has in it, for a quick look.
_SIGNS = ("99", "e", "E", "3276", "2147")
_FILLS = (1e20, 1e30, 1e35, 1e36, 9.96921e36, -1e34, -32768.0, 32767.0, -2147483648.0)
#: An error is isolated if it is larger than all others by this factor.
_FACTOR = 5.0
#: No age BP is below this one: it lies in the future.
_YOUNGEST_BP = -80.0
_FEWEST = 2


def without_codes(reading: Reading, headers: list[Header]) -> Reading:
    """The reading, in which cells with a number that the user calls missing are empty. Asks about other codes."""
    codes = {float(code) for code in reading.options.missing or () if code != "none"}
    cells = reading.cells
    if codes:
        cells = [list(row) for row in cells]
        emptied: list[int] = []
        for header in headers:
            rows = np.flatnonzero(np.isin(numbers_in(reading.column(header), reading.comma), list(codes))).tolist()
            for i in rows:
                cells[i][header.index] = ""
            emptied += rows
        where = f" ({reading.name_lines(sorted(set(emptied)))})" if emptied else ""
        reading.fact("missing", f"{counted(len(emptied), 'cell')} emptied{where}", reading.set_by("missing"))
    elif reading.options.missing is None:
        for header in headers:
            _ask_about_codes(reading, header)
    return replace(reading, cells=cells)


def _ask_about_codes(reading: Reading, header: Header) -> None:
    """Ask about an isolated number that looks like a code. Among its like it is a number; if negative, warn."""
    cells = reading.column(header)
    signs = [sign for sign in _SIGNS if sign in "\n".join(cells)]
    seen = {cell for sign in signs for cell in cells if sign in cell and _is_code(cell)}
    found = {i: number_in(cell, reading.comma) for i, cell in enumerate(cells) if cell in seen} if seen else {}
    if not found:
        return
    others = np.delete(numbers_in(cells, reading.comma), list(found))
    others = others[np.isfinite(others)]
    for code in dict.fromkeys(found.values()):
        rows = [i for i, value in found.items() if value == code]
        if _is_isolated(reading, header, code, others):
            reading.ask(
                f"{quote(cells[rows[0]])} looks like a code for a missing value",
                f"say {flag('missing')} {code:.15g} to read it as an empty cell, or {flag('missing')} none if it was "
                "measured (missing= in Python)",
                rows,
                header,
                missing=(*reading.notes.answers.get("missing", ()), f"{code:.15g}"),
            )
        elif code < 0.0 and "999" in cells[rows[0]]:
            reading.warn(
                f"{quote(cells[rows[0]])} in {header} looks like a code for a missing value "
                f"({reading.name_lines(rows)}), and is read as a number. If it is a code, say {flag('missing')} "
                f"{code:.15g}."
            )


def _is_code(cell: str) -> bool:
    if not cell or cell[-1] not in "0123456789":
        return False
    if "9" in cell and _CODE.fullmatch(cell.replace("−", "-")):
        return True
    if "e" in cell.lower() or "3276" in cell or "2147" in cell:
        number = number_in(cell, False)
        return any(math.isclose(number, fill, rel_tol=1e-3) for fill in _FILLS)
    return False


def _is_isolated(reading: Reading, header: Header, code: float, others: np.ndarray) -> bool:
    """Whether a number lies so far from all others of its column that it does not belong to them."""
    if others.size < _FEWEST:
        return False
    if header.error and header.side is None:
        return bool(code > _FACTOR * others.max() or code < 0.0)
    if header.index == reading.columns.t.index and reading.scale == "BP" and code < _YOUNGEST_BP:
        return True
    return bool(np.abs(others - code).min() > np.ptp(others))
