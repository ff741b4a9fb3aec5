"""Rows that look like slips: repeated ones, months that are not used, and single values far from their neighbours."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ...record import Record
from ..columns import Reading
from ..headers import squash

#: Values on either side that a value is compared with, and the fewest that are compared at all.
_SIDE, _FEWEST = 2, 6
#: A value is named if it is off by so many times the scatter of all values and its error; but not if more than this
#: part of them are: such a record has peaks.
_FAR, _MOST = 10.0, 0.05
_NAMED = 5


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


def warn_of_far_values(reading: Reading, record: Record, lines: Sequence[int]) -> None:
    """Warn of single measured values that lie far from their neighbours in the order, or in time without one.

    Not if the user says that all numbers were measured.
    """
    if "none" in (reading.options.missing or ()):
        return
    found = [one for rows in _series(record) for one in _far(record, rows)]
    if not found:
        return
    found.sort(key=lambda one: -one[2])
    named = [
        f"{record.y[i]:g} in line {lines[i]}, beside values of about {middle:g} ({far:.0f} times their scatter)"
        for i, middle, far in found[:_NAMED]
    ]
    more = f"; and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    reading.warn(
        f"single values far from their neighbours: {'; '.join(named)}{more}. Check for a typo, a lost sign or decimal "
        "point, or another unit."
    )


def _series(record: Record) -> Iterator[NDArray[np.intp]]:
    """The rows with a measured value: of each sequence in its order, and of all without order in time, by site."""
    measured = record.measured if record.limit is None else record.measured & (record.limit == 0)
    in_order = np.zeros(len(record), dtype=bool)
    for _, members in record.sequences:
        in_order[members] = True
        yield members[measured[members]]
    loose = np.flatnonzero(~in_order & measured & record.dated)
    loose = loose[np.argsort(record.t[loose], kind="stable")]
    if record.places is None:
        yield loose
        return
    for site in range(len(record.places)):
        yield loose[record.places.index[loose] == site]


def _far(record: Record, rows: NDArray[np.intp]) -> list[tuple[int, float, float]]:
    """The row, what is usual beside it, and how far off it is, of the values far from their neighbours."""
    n = rows.size
    if n < _FEWEST:
        return []
    y = record.y[rows]
    first = np.clip(np.arange(n) - _SIDE, 0, n - 2 * _SIDE - 1)
    beside = first[:, None] + np.arange(2 * _SIDE + 1)
    others = beside[beside != np.arange(n)[:, None]].reshape(n, 2 * _SIDE)
    middle = np.median(y[others], axis=1)
    scatter = 1.4826 * np.median(np.abs(y - middle))
    far = np.abs(y - middle) / np.hypot(scatter, record.y_sd[rows])
    found = np.flatnonzero(far > _FAR)
    if found.size > max(1.0, _MOST * n):
        return []
    return [(int(rows[k]), float(middle[k]), float(far[k])) for k in found]
