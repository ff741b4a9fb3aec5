"""clam's table of dates: lab_ID, C14_age, cal_age, error, reservoir, depth, thickness."""

from dataclasses import replace

from ..file import Grid
from ..headers import Header
from ..messages import Notes
from .ages import called, meaning, with_meanings, without_role
from .bchron import unused_thickness


def from_clam(grid: Grid) -> Grid:
    """A table of clam with the headers and cells of other tables; any other table as it is.

    A row has a radiocarbon age or a calendar age, and one column holds the errors of both. Raises TableError for a row
    with both.
    """
    raw, age, error = called(grid, "C14_age"), called(grid, "cal_age"), called(grid, "error")
    if raw is None or age is None or error is None or grid.options.t is not None:
        return grid
    _refuse_both(grid, raw, age)
    thickness = called(grid, "thickness", "thicknesses")
    offset = called(grid, "reservoir")
    grid = with_meanings(grid, {raw: "14C age", age: "age (cal BP)", error: "age error (cal BP)", offset: "delta R"})
    grid = without_role(grid, thickness)
    headers, cells = list(grid.headers), [list(row) for row in grid.cells]
    headers.append(replace(meaning(error, "14C error"), index=len(headers)))
    for row in cells:
        of_raw = _filled(row[raw.index])
        row.append(row[error.index] if of_raw else "")
        row[error.index] = "" if of_raw else row[error.index]
    if not any(_filled(row[age.index]) for row in cells):
        headers[age.index] = replace(headers[age.index], role=None)
        headers[error.index] = replace(headers[error.index], role=None)
    grid = replace(grid, headers=headers, cells=cells, form=f"{grid.form}, as clam has it", program="clam")
    return grid.noting(*unused_thickness(thickness))


def _filled(cell: str) -> bool:
    return cell.strip().lower() not in ("", "na", "nan")


def _refuse_both(grid: Grid, raw: Header, age: Header) -> None:
    notes = Notes()
    for row, line in zip(grid.cells, grid.lines, strict=True):
        if _filled(row[raw.index]) and _filled(row[age.index]):
            do = "keep the radiocarbon age, or the calendar age"
            notes.fault("the row has a radiocarbon age and a calendar age", do, [line], raw.text)
    notes.refuse(grid.path)
