"""The thickness of the slices of core that rows were sampled from."""

import numpy as np

from ...record import Record
from ...records.consistency import overlapping_slices
from ...support.text import is_number
from ..checks.units import length_factor
from ..columns import Reading
from ..messages import Fact, flag, name_lines, option
from ..numbers import Array, Mask, values


def read_thickness(reading: Reading, exact: Mask) -> Array | None:
    """The thickness of each row of the table, in the unit of the depth; 0 for exact rows; None if no row has any.

    Negative ones, and cells that hold no number, become faults.
    """
    header, given = reading.columns.thickness, reading.options.thickness
    if header is None and (given is None or not is_number(given)):
        return None
    if not reading.columns.places:
        if given is not None:
            raise reading.problem(f"{option('thickness', given)} needs a column of depths", "leave it out, or name one")
        reading.fact("thickness", f"{header} is not used", "there are no depths")
        return None
    if header is None:
        found = np.full(len(reading.cells), float(str(given)))
    else:
        found = values(reading, header, "thickness", blank=True)
        found *= length_factor(reading.columns.depth or reading.columns.height, header)
    for i in np.flatnonzero(found < 0.0).tolist():
        reading.fault("the thickness is negative", "correct it, or leave the cell empty", i, header)
    horizons = np.flatnonzero(exact & (found > 0.0))
    if horizons.size and header is not None:
        reading.warn(
            f"the thickness of {reading.name_lines(horizons)} is not used, because the input is exact there: a horizon "
            "has none."
        )
    return np.where(exact, 0.0, np.nan_to_num(found))


def note_thickness(reading: Reading, record: Record, lines: tuple[int, ...]) -> Fact | None:
    """What was understood of the thickness, if some row has one; warns of slices that overlap."""
    if record.thickness is None:
        return None
    header, thick = reading.columns.thickness, record.thickness[record.thickness > 0.0]
    low, high = f"{thick.min():g}", f"{thick.max():g} {record.depth_unit}".rstrip()
    span = high if thick.min() == thick.max() else f"{low} to {high}"
    pairs = overlapping_slices(record)
    if pairs:
        named = sorted({lines[row] for pair in pairs for row in pair})
        reading.warn(
            f"the slices of {name_lines(named)} overlap those of their neighbours. Check that the thickness is in the "
            f"unit of the depth. {flag('thickness')} none takes all rows as horizons."
        )
    why = reading.set_by("thickness") if header is None else f"the column {header}; {option('thickness', 'none')} "
    why += "" if header is None else "takes all rows as horizons"
    return Fact("thickness", f"{span}, in {len(thick)} rows: a date is of some part of its slice", why)
