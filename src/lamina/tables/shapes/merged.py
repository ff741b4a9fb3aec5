"""Merged cells: a core that is named in its first row only."""

from dataclasses import replace

from ..columns import Reading
from ..headers import Header
from ..messages import counted, flag


def fill_down(reading: Reading) -> Reading:
    """The reading, in which empty cores and sites repeat the one above, if the user has chosen that; otherwise asks."""
    headers = [h for h in (reading.columns.site, reading.columns.core) if h is not None]
    if not reading.options.fill_down:
        for header in headers:
            _ask_if_merged(reading, header)
        return reading
    cells = [list(row) for row in reading.cells]
    filled = 0
    for header in headers:
        last = ""
        for row in cells:
            filled += not row[header.index] and bool(last)
            last = row[header.index] = row[header.index] or last
    reading.fact("filled", f"{counted(filled, 'empty cell')} filled with the one above", reading.set_by("fill_down"))
    return replace(reading, cells=cells)


def _ask_if_merged(reading: Reading, header: Header) -> None:
    """A name that stands in one row, and empty cells below it, comes from merged cells."""
    cells = reading.column(header)
    names = [cell for cell in cells if cell]
    empty = len(cells) - len(names)
    if not names or not cells[0] or len(set(names)) < len(names) or empty < len(names):
        return
    reading.ask(
        "each name stands in one row only, with empty cells below it, as in merged cells",
        f"say {flag('fill_down')} (fill_down=True in Python) to repeat it, or fill the cells in",
        [i for i, cell in enumerate(cells) if cell],
        header,
        fill_down=True,
    )
