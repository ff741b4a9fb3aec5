"""Tied rows, which share one true input, are merged into one layer before a fit and separated again after it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..dates import Date, SplitNormal
from ..dates.joint import Joint
from ..errors import MethodError, OrderError, RecordError
from ..support.checks import rows_by_label

if TYPE_CHECKING:
    from ..record import Record

Array = np.ndarray


def merge_ties(record: Record) -> tuple[Record, Array]:
    """The record with one row for each layer, and the layer (N,) of each row of the original record.

    The densities of the dates of a layer are multiplied, and so are those of its values; both are exact. Raises
    OrderError if a tie contradicts the order, RecordError if its rows cannot be merged.
    """
    layer = np.arange(len(record))
    if record.tie is None:
        return record, layer
    columns = {name: getattr(record, name).copy() for name in ("t", "t_sd", "y", "y_sd")}
    rows_of = _RowsOf.record(record)
    dates = list(record.dates or [None] * len(record))
    keep, last = np.ones(len(record), dtype=bool), np.arange(len(record))
    ties = {name: rows for name, rows in rows_by_label(record.tie).items() if len(rows) > 1}
    _check_sites(record, ties)
    for name, rows in _merge_plain(record, rows_of, ties, columns).items():
        first = rows[0]
        columns["t"][first], columns["t_sd"][first], dates[first] = _one_date(record, rows_of, name, rows)
        columns["y"][first], columns["y_sd"][first] = _one_value(record, rows_of, name, rows)
    for rows in ties.values():
        keep[rows[1:]], layer[rows[1:]], last[rows[0]] = False, rows[0], rows[-1]
    changes: dict[str, Any] = {name: values[keep] for name, values in columns.items()}
    # There is no gap within a layer: a hiatus or a minimum gap of its last row counts.
    for name in "label", "sequence", "depth", "thickness", "hiatus", "least_gap":
        values, at = getattr(record, name), last[keep] if name in ("hiatus", "least_gap") else keep
        if values is not None:
            changes[name] = np.array(values, dtype=object)[at] if isinstance(values, tuple) else values[at]
    if record.places is not None:
        changes["places"] = record.places.of_rows(keep)
    if record.limit is not None:
        changes["limit"] = np.bincount(layer, record.limit, minlength=len(record))[keep].astype(record.limit.dtype)
    if record.dates is not None or any(date is not None for date in dates):
        changes["dates"] = [date for date, kept in zip(dates, keep, strict=True) if kept]
    return replace(record, tie=None, **changes), (np.cumsum(keep) - 1)[layer]


def bottom_up(record: Record, layer: Array) -> tuple[Record, Array]:
    """The record with its rows reversed, and the new ``layer``, if all sequences go down the core.

    Memory carries the pace of a gap over to the next. In a core it comes from below.
    """
    depth, n = record.depth, len(record)
    long = [rows for _, rows in record.sequences if len(rows) > 1]
    if depth is None or not all(depth[rows[-1]] > depth[rows[0]] for rows in long):
        return record, layer
    changes: dict[str, Any] = {"order": "decreasing" if record.order == "increasing" else "increasing"}
    for name in ("t", "t_sd", "y", "y_sd", "depth", "thickness", "limit", "sequence", "label", "dates"):
        values = getattr(record, name)
        changes[name] = None if values is None else values[::-1]
    changes["places"] = None if record.places is None else record.places.of_rows(slice(None, None, -1))
    for name in ("hiatus", "least_gap"):  # stored with the row before the gap
        values = getattr(record, name)
        if values is not None:
            turned = np.zeros_like(values)
            for _, rows in record.sequences:
                turned[rows[1:]] = values[rows[:-1]]
            changes[name] = turned[::-1]
    return replace(record, **changes), n - 1 - layer


class _RowsOf(NamedTuple):
    """What is known of each row of a record, computed once for all ties."""

    sequences: list[Array]  #: the rows of each sequence
    sequence: Array  #: the sequence of each row, -1 for none
    place: Array  #: its position there
    exact: Array
    dated: Array
    measured: Array

    @classmethod
    def record(cls, record: Record) -> _RowsOf:
        sequences = [rows for _, rows in record.sequences]
        sequence, place = np.full(len(record), -1), np.zeros(len(record), dtype=int)
        for k, rows in enumerate(sequences):
            sequence[rows], place[rows] = k, np.arange(len(rows))
        return cls(sequences, sequence, place, record.exact, record.dated, record.measured)


def _merge_plain(
    record: Record, rows_of: _RowsOf, ties: dict[Hashable, Array], columns: dict[str, Array]
) -> dict[Hashable, Array]:
    """Merge all layers whose dates and values are Gaussian, in the first row of each; return the other ties.

    Raises RecordError or OrderError for a tie that contradicts the order.
    """
    if not ties:
        return {}
    names, groups = list(ties), list(ties.values())
    rows, counts = np.concatenate(groups), np.array([len(one) for one in groups])
    starts, group = np.cumsum(counts) - counts, np.repeat(np.arange(len(groups)), counts)
    owner, place = rows_of.sequence[rows], rows_of.place[rows]
    split = np.minimum.reduceat(owner, starts) != np.maximum.reduceat(owner, starts)
    apart = np.maximum.reduceat(place, starts) - np.minimum.reduceat(place, starts) >= counts
    for k in np.flatnonzero(split | (apart & (owner[starts] >= 0))):
        _check_place(rows_of, names[k], groups[k])
    odd = rows_of.exact.copy()
    if record.dates is not None:
        odd |= np.array([date is not None for date in record.dates])
    if record.limit is not None:
        odd |= record.limit != 0
    plain = ~np.logical_or.reduceat(odd[rows], starts)
    with np.errstate(divide="ignore", invalid="ignore"):
        for name, known in ("t", rows_of.dated), ("y", rows_of.measured):
            value, sd = getattr(record, name)[rows], getattr(record, f"{name}_sd")[rows]
            precision = np.where(known[rows], sd**-2.0, 0.0)
            total = np.bincount(group, precision)
            mean = np.bincount(group, precision * np.where(known[rows], value, 0.0)) / total
            first = rows[starts[plain]]
            columns[name][first], columns[f"{name}_sd"][first] = mean[plain], total[plain] ** -0.5
    return {name: one for name, one, is_plain in zip(names, groups, plain, strict=True) if not is_plain}


def _check_sites(record: Record, ties: dict[Hashable, Array]) -> None:
    """Tied rows are merged into one value, so they must be from one site."""
    site = np.zeros(len(record)) if record.places is None else record.places.index
    for name, rows in ties.items():
        if np.any(site[rows] != site[rows[0]]):
            raise RecordError(
                f"{{rows}} are tied ({name!r}) but from different sites. Tie rows of one site only; a horizon that "
                "several sites share can be given to each of them with its own date.",
                rows=rows,
            )


def _check_place(rows_of: _RowsOf, name: Hashable, rows: Array) -> None:
    """Tied rows must be next to each other in one sequence, or have no order at all."""
    owner, place = rows_of.sequence[rows], np.sort(rows_of.place[rows])
    if np.any(owner != owner[0]):
        raise RecordError(
            f"{{rows}} are tied ({name!r}) but belong to different sequences. Tie rows of one sequence "
            "only; a horizon that several cores share can be given to each of them with its own date.",
            rows=rows,
        )
    if owner[0] >= 0 and place[-1] - place[0] >= len(rows):
        between = np.setdiff1d(rows_of.sequences[owner[0]][place[0] : place[-1]], rows)
        raise OrderError(
            f"{{rows}} are tied ({name!r}), but {{between}} lies between them in the same "
            "sequence and would have to be older and younger at once. Correct the tie or the order.",
            rows=rows,
            between=between,
        )


def _one_date(record: Record, rows_of: _RowsOf, name: Hashable, rows: Array) -> tuple[float, float, Date | None]:
    """t, t_sd and the date of a layer: the product of the dates of its rows."""
    exact = rows[rows_of.exact[rows]].tolist()
    if exact:
        if len({record.t[i] for i in exact}) > 1:
            raise OrderError(
                f"{{rows}} are tied ({name!r}), but their exact inputs (t_sd = 0) differ. Correct t or the tie.",
                rows=exact,
            )
        return float(record.t[exact[0]]), 0.0, None
    dated = rows[rows_of.dated[rows]].tolist()
    if not dated:
        return np.nan, np.inf, None
    kinds = ((i, record.dates[i] if record.dates else None) for i in dated)
    special = {i: date for i, date in kinds if date is not None}
    t, sd = record.t[dated], record.t_sd[dated]
    if not special:
        precision = sd**-2.0
        return float(precision @ t / precision.sum()), float(precision.sum() ** -0.5), None
    if len(dated) == 1:
        return float(t[0]), float(sd[0]), special[dated[0]]
    try:
        product = Joint(tuple(special.get(i, SplitNormal(record.t[i], record.t_sd[i], record.t_sd[i])) for i in dated))
    except RecordError:
        raise OrderError(
            f"{{rows}} are tied ({name!r}), but their dates have no time in common. Correct the tie.", rows=rows
        ) from None
    return product.mean, product.sd, product


def _one_value(record: Record, rows_of: _RowsOf, name: Hashable, rows: Array) -> tuple[float, float]:
    """y and y_sd of a layer."""
    measured = rows[rows_of.measured[rows]]
    if len(measured) == 0:
        return np.nan, np.inf
    if record.limit is not None and record.limit[rows].any() and len(measured) > 1:
        raise RecordError(
            f"{{rows}} are tied ({name!r}) and one of them is a limit, which cannot be merged with other "
            "values. Leave the tie out, or the limit.",
            rows=rows,
        )
    precision = record.y_sd[measured] ** -2.0
    return float(precision @ record.y[measured] / precision.sum()), float(precision.sum() ** -0.5)


def check_single_dates(record: Record, layer: Array) -> None:
    """Raise MethodError where a layer has several dates, one of them Gaussian: merged, they have no common scale."""
    uncertain = record.dated & ~record.exact
    counts = np.bincount(layer[uncertain], minlength=layer.max() + 1)
    several = np.flatnonzero(uncertain & (counts[layer] > 1))
    if several.size:
        raise MethodError(
            'estimate="t_scale" needs dates one by one, but those of {rows} are tied and merged. Leave the tie out.',
            rows=several,
        )


def check_single_values(record: Record, layer: Array, what: str) -> None:
    """Raise MethodError where a layer has several values: merged, they no longer show how much they differ."""
    counts = np.bincount(layer[record.measured], minlength=layer.max() + 1)
    several = np.flatnonzero(record.measured & (counts[layer] > 1))
    if several.size:
        raise MethodError(
            f"{what} needs values one by one, but those of {{rows}} are tied and merged. Leave the tie out.",
            rows=several,
        )
