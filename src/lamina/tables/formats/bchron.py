"""Bchron's table of dates: id, ages, ageSds, position, thickness, calCurves."""

from dataclasses import replace

from ..file import Table
from .ages import called, named_curves, names_other_ages, with_curves, with_meanings

_CALENDAR = frozenset({"normal"})


def from_bchron(table: Table) -> Table:
    """A table of Bchron with the headers and cells of other tables; any other table as it is.

    Positions are depths. A curve called "normal" means a calendar age. If the user says so, all ages are.
    """
    age, error = called(table, "ages"), called(table, "ageSds")
    curve = called(table, "calCurves")
    if age is None or error is None or curve is None:
        return table
    depth = called(table, "position", "positions")
    table = with_meanings(table, {depth: "depth"})
    if not names_other_ages(table, age):
        table = with_curves(table, age, error, curve, named_curves(table, curve, age, _CALENDAR))
    return replace(table, form=f"{table.form}, as Bchron has it", program="Bchron")
