"""Bchron's table of dates: id, ages, ageSds, position, thickness, calCurves."""

from dataclasses import replace

from ..file import Grid
from ..messages import Fact
from .ages import called, named_curves, names_other_ages, with_curves, with_meanings, without_role

_CALENDAR = frozenset({"normal"})


def from_bchron(grid: Grid) -> Grid:
    """A table of Bchron with the headers and cells of other tables; any other table as it is.

    Positions are depths. A curve called "normal" means a calendar age. If the user says so, all ages are.
    """
    age, error = called(grid, "ages"), called(grid, "ageSds")
    curve = called(grid, "calCurves")
    if age is None or error is None or curve is None:
        return grid
    thickness = called(grid, "thickness", "positionThicknesses")
    depth = called(grid, "position", "positions")
    grid = without_role(with_meanings(grid, {depth: "depth"}), thickness)
    if not names_other_ages(grid, age):
        grid = with_curves(grid, age, error, curve, named_curves(grid, curve, age, _CALENDAR))
    return replace(grid, form=f"{grid.form}, as Bchron has it", program="Bchron").noting(*unused_thickness(thickness))


def unused_thickness(thickness: object | None) -> tuple[Fact, ...]:
    """A note that the thickness of samples plays no part."""
    if thickness is None:
        return ()
    return (Fact("thickness", f"{thickness} is not used", "a date counts for the middle of its sample"),)
