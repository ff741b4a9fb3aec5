"""F14C (fraction modern) and percent modern carbon, turned into radiocarbon ages."""

from dataclasses import replace

from ...dates.radiocarbon import age_of_f14c
from ...errors import RecordError
from ..file import Table
from ..formats.ages import meaning
from ..headers import Header, squash
from ..messages import Fact, Notes

#: Names of the column, and what its numbers are multiplied by to be F14C.
_NAMES = {
    **dict.fromkeys(("f14c", "fm14c", "fractionmodern", "fractionmoderncarbon", "fmodern", "fm"), 1.0),
    **dict.fromkeys(("pmc", "percentmodern", "percentmoderncarbon", "pm14c"), 0.01),
}
_ERRORS = ("error", "err", "sd", "uncertainty", "unc", "1s", "1sigma", "1sd", "sigma", "pm", "std")
_MISSING = ("", "na", "nan", "-")
#: In 1963 F14C was 2 at most.
_MOST = 5.0


def from_f14c(table: Table) -> Table:
    """A table with F14C and its error, and without radiocarbon ages, with these ages in their place.

    The age is -8033 log(F14C), its error 8033 error / F14C. Any other table stays as it is. Raises TableError where
    F14C is not clearly above 0.
    """
    if any(header.role == "radiocarbon age" for header in table.headers) or table.options.t is not None:
        return table
    value = next((header for header in table.headers if squash(header.text) in _NAMES), None)
    error = None if value is None else _error_of(table, value)
    if value is None or error is None:
        return table
    unit = _NAMES[squash(value.text)]
    headers, cells, notes = list(table.headers), [list(row) for row in table.cells], Notes()
    for row, line in zip(cells, table.lines, strict=True):
        if row[value.index].lower() in _MISSING:
            continue
        try:
            if unit * float(row[value.index]) > _MOST:
                found, do = "F14C is far above that of any year", "call the column pMC if it is in percent"
                notes.fault(found, do, [line], value.text)
                continue
            age, age_sd = age_of_f14c(unit * float(row[value.index]), unit * float(row[error.index] or "nan"))
        except (RecordError, ValueError) as wrong:
            found = str(wrong).rstrip(".") if isinstance(wrong, RecordError) else "F14C or its error is not a number"
            notes.fault(found.partition(". ")[0], "correct the row, or leave it out", [line], value.text)
            continue
        row[value.index], row[error.index] = f"{age:.6g}", f"{age_sd:.6g}"
    notes.refuse(table.path)
    headers[value.index], headers[error.index] = meaning(value, "14C age"), meaning(error, "14C error")
    why = "age = -8033 log(F14C)" if unit == 1.0 else "age = -8033 log(pMC / 100)"
    return replace(table, headers=headers, cells=cells).noting(
        Fact("F14C", f"{value} and {error} are turned into radiocarbon ages", why)
    )


def _error_of(table: Table, value: Header) -> Header | None:
    """The error of F14C: the column that repeats its name, or the one at its right."""
    own, after = squash(value.text), table.headers[value.index + 1 : value.index + 2]
    named = [h for h in table.headers if squash(h.text) in {f"{own}{end}" for end in _ERRORS}]
    return next(iter(named), None) or next((h for h in after if squash(h.text) in _ERRORS), None)
