"""Whether the fields of a record fit together: depths, dates and exact inputs along each sequence."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..errors import OrderError, RecordError
from ..support.checks import SMALLEST, refuse

if TYPE_CHECKING:
    from ..record import Record

Array = np.ndarray


def check_consistency(record: Record) -> None:
    """Raise RecordError or OrderError where fields contradict each other or the order."""
    if record.depth is not None:
        for name, rows in record.sequences:
            _check_depth(record.depth, name, rows)
    _check_thickness(record)
    _check_dated(record)
    _check_span(record)
    exact = record.exact
    if exact.any():
        for name, rows in record.sequences:
            if np.count_nonzero(exact[rows]) > 1:
                _check_exact_rows(record, name, rows)


def _in_sequence(name: Hashable | None) -> str:
    return "" if name is None else f" in sequence {name!r}"


def _check_depth(depth: Array, name: Hashable | None, rows: Array) -> None:
    """Down a sequence every row has a depth, and depths go one way."""
    missing = rows[~np.isfinite(depth[rows])]
    if missing.size:
        raise RecordError(
            f"depth is missing, NaN or infinite in {{rows}}{_in_sequence(name)}. Give every row of a sequence "
            "its depth, or take the row out of the sequence by leaving its label empty.",
            rows=missing,
        )
    step = np.sign(np.diff(depth[rows]))
    turned = np.flatnonzero(step == -step[np.argmax(step != 0.0)]) if step.any() else np.empty(0, int)
    if turned.size:
        above, below = rows[turned[0]], rows[turned[0] + 1]
        raise OrderError(
            f"depth changes direction between {{rows}}{_in_sequence(name)}: it is {depth[above]}, then "
            f"{depth[below]}. Put the rows of a sequence in the order of their depth, or correct it.",
            rows=[above, below],
        )


def _check_thickness(record: Record) -> None:
    """A slice has its middle at a depth, and covers a time: an exact input is a horizon and has none."""
    if record.thickness is None:
        return
    thick = record.thickness > 0.0
    if record.depth is None:
        raise RecordError(
            "thickness needs depths, at which the slices have their middle. Give depth=, or leave it out."
        )
    refuse(thick & ~np.isfinite(record.depth), "{rows} has a thickness and no depth. Give its depth, or leave it out.")
    refuse(
        thick & record.exact,
        "{rows} has a thickness, but its input is exact (t_sd = 0), which that of a slice is not. Give it a thickness "
        "of 0, as a horizon has, or a t_sd above 0.",
    )
    loose = np.isin(np.arange(len(record)), record.unordered)
    refuse(thick & loose & record.dated, "{rows} has a thickness and is in no sequence. Leave the thickness out.")


def overlapping_slices(record: Record) -> list[tuple[int, int]]:
    """Pairs of rows, next to each other in a sequence at different depths, whose slices overlap."""
    depth, thickness, found = record.depth, record.thickness, []
    if depth is None or thickness is None:
        return []
    for _, rows in record.sequences:
        apart = np.abs(np.diff(depth[rows]))
        half = 0.5 * (thickness[rows[1:]] + thickness[rows[:-1]])
        overlap = (apart > 0.0) & (half > apart * (1.0 + 1e-9))
        found += [(int(rows[k]), int(rows[k + 1])) for k in np.flatnonzero(overlap)]
    return found


def _check_dated(record: Record) -> None:
    """The neighbours of a row without a date place it, so its sequence must hold dates."""
    dated = record.dated
    for name, rows in record.sequences:
        if not dated[rows].any():
            where = "the record" if name is None else f"sequence {name!r}"
            raise RecordError(f"no row of {where} has a date. Give at least one row a finite t_sd.")
    loose = np.isin(np.arange(len(record)), record.unordered)
    refuse(
        loose & ~dated,
        "{rows} has neither a date (t_sd is infinite) nor a place in a sequence. Give it one of them, or leave it out.",
    )


def _check_span(record: Record) -> None:
    """Exact inputs must differ by more than the smallest error that an input may have, or not at all."""
    dated = record.t[record.dated]
    if (record.t_sd[record.dated] == 0.0).all() and 0.0 < np.ptp(dated) < SMALLEST:
        raise RecordError(
            f"the inputs are exact and span {np.ptp(dated):.3g}, less than {SMALLEST:g}. Give t in a smaller unit."
        )


def _check_exact_rows(record: Record, name: Hashable | None, rows: Array) -> None:
    """Exact inputs of a sequence must follow its order and leave room for the rows between them."""
    least = np.zeros(len(rows)) if record.least_gap is None else record.least_gap[rows]
    place = np.flatnonzero(record.t_sd[rows] == 0.0)
    step = record.sign * np.diff(record.t[rows[place]])
    needed = np.array([least[a:b].sum() for a, b in pairwise(place)])
    squeezed = (step == 0.0) & (np.diff(place) > 1)
    for wrong, problem in (
        (step < 0.0, f"contradict order={record.order!r}"),
        (squeezed, "are equal and leave no room for the rows between them"),
        (
            (needed > 0.0) & (step <= needed),
            "leave no room for the minimum gaps (least_gap=, --minimum-gap) between them",
        ),
    ):
        if wrong.any():
            k = int(np.argmax(wrong))
            first, last = rows[place[k]], rows[place[k + 1]]
            raise OrderError(
                f"the exact inputs (t_sd = 0) of {{rows}}{_in_sequence(name)} {problem}: "
                f"t is {record.t[first]} and then {record.t[last]} (such pairs in all: {wrong.sum()}). "
                "Correct t or order, give these rows a t_sd above 0, or take them out of the "
                "sequence by leaving their label empty.",
                rows=[first, last],
            )
