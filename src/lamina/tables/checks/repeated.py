"""Rows that count twice, and rows of one year that differ by a month which is not used."""

from ..columns import Reading
from ..headers import squash


def warn_of_repeated(reading: Reading) -> None:
    """Warn of rows that are the same as another one in every cell, and of months beside years."""
    months = [h for h in reading.headers if squash(h.text) in ("month", "mon", "mm") and h.role is None]
    if months and reading.columns.t.word in ("year", "years", "yr"):
        reading.warn(
            f"{months[0]} beside {reading.columns.t} is not used, so that all months of a year have one time. Give "
            "decimal years, such as 1998.36 for May 1998."
        )
    if any(len(set(reading.column(header))) == len(reading.cells) for header in reading.columns.measured):
        return
    rows = list(map(tuple, reading.cells))
    if len(set(rows)) == len(rows):
        return
    first: dict[tuple[str, ...], int] = {}
    again = [i for i, row in enumerate(rows) if first.setdefault(row, i) != i]
    like = sorted({first[rows[i]] for i in again})
    reading.warn(
        f"{reading.name_lines(like)} and {reading.name_lines(again)} are the same, and count twice. Leave the latter "
        "out unless both were measured."
    )
