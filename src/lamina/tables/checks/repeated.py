"""Rows that stand twice in a table, and count twice."""

from ..columns import Reading


def warn_of_repeated(reading: Reading) -> None:
    """Warn of rows that are the same as another one in every cell."""
    first: dict[tuple[str, ...], int] = {}
    again = []
    for i, row in enumerate(reading.cells):
        if first.setdefault(tuple(row), i) != i:
            again.append(i)
    if again:
        like = sorted({first[tuple(reading.cells[i])] for i in again})
        reading.warn(
            f"{reading.name_lines(like)} and {reading.name_lines(again)} are the same, and count twice. Leave the "
            "latter out unless both were measured."
        )
