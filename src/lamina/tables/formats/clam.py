"""clam's table of dates: lab_ID, C14_age, cal_age, error, reservoir, depth, thickness."""

from dataclasses import replace

from ..file import Table
from ..headers import Header
from ..messages import Notes
from .ages import called, meaning, with_meanings


def from_clam(table: Table) -> Table:
    """A table of clam with the headers and cells of other tables; any other table as it is.

    A row has a radiocarbon age or a calendar age, and one column holds the errors of both. Raises TableError for a row
    with both.
    """
    raw, age, error = called(table, "C14_age"), called(table, "cal_age"), called(table, "error")
    if raw is None or age is None or error is None or table.options.t is not None:
        return table
    _refuse_both(table, raw, age)
    offset = called(table, "reservoir")
    table = with_meanings(table, {raw: "14C age", age: "age (cal BP)", error: "age error (cal BP)", offset: "delta R"})
    headers, cells = list(table.headers), [list(row) for row in table.cells]
    headers.append(replace(meaning(error, "14C error"), index=len(headers)))
    for row in cells:
        of_raw = _filled(row[raw.index])
        row.append(row[error.index] if of_raw else "")
        row[error.index] = "" if of_raw else row[error.index]
    if not any(_filled(row[age.index]) for row in cells):
        headers[age.index] = replace(headers[age.index], role=None)
        headers[error.index] = replace(headers[error.index], role=None)
    return replace(table, headers=headers, cells=cells, form=f"{table.form}, as clam has it", program="clam")


def _filled(cell: str) -> bool:
    return cell.strip().lower() not in ("", "na", "nan")


def _refuse_both(table: Table, raw: Header, age: Header) -> None:
    notes = Notes()
    for row, line in zip(table.cells, table.lines, strict=True):
        if _filled(row[raw.index]) and _filled(row[age.index]):
            do = "keep the radiocarbon age, or the calendar age"
            notes.fault("the row has a radiocarbon age and a calendar age", do, [line], raw.text)
    notes.refuse(table.path)
