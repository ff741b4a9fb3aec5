"""Layers without date or value, which carry an age-depth model between dates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import RecordError

if TYPE_CHECKING:
    from ..record import Record

Array = np.ndarray

#: The approximate number of steps that a core is cut into. No two neighbouring layers are further apart than one.
STEPS = 60


#: A layer right below a hiatus is deeper than it by this part of the distance of its neighbours.
BELOW_HIATUS = 1e-6


class _Place(NamedTuple):
    """A row of a record with layers."""

    along: float  #: distance from the first row of its sequence
    row: int  #: the row of the original record, or -1
    hiatus: bool  #: whether a hiatus follows
    least: float  #: the minimum gap after it


def add_layers(record: Record, steps: int = STEPS, hiatus: Sequence[float] = ()) -> tuple[Record, list[int]]:
    """The record with layers of neither date nor value added, at even depths between its own, in each sequence; and
    for each of its rows the row of the record as it was, or the one above a new layer.

    The layers carry the pace of accumulation from date to date. hiatus: depths of those hiatuses that the record has;
    others lie right after the row that has the flag. Raises RecordError without depths.
    """
    if record.depth is None:
        raise RecordError("an age-depth model needs depths: give the record a depth for each row.")
    depth, new_depth, names = record.depth, [], []
    flags, least = [], []
    old: list[int] = []
    for name, rows in record.sequences:
        way = np.sign(depth[rows[-1]] - depth[rows[0]])
        places = _places(record, rows, steps, [way * (one - depth[rows[0]]) for one in hiatus])
        old += [place.row for place in places]
        new_depth += [depth[rows[0]] + way * place.along for place in places]
        names += [name] * len(places)
        flags += [place.hiatus for place in places]
        least += [place.least for place in places]
    loose = record.unordered.tolist()
    above = np.maximum.accumulate(np.where(np.array(old) < 0, 0, np.arange(len(old))))
    source = [*np.array(old)[above].tolist(), *loose]
    layered = _laid_out(
        record,
        np.array(old + loose),
        depth=np.array([*new_depth, *depth[loose]]),
        sequence=None if record.sequence is None else [*names, *[None] * len(loose)],
        hiatus=None if record.hiatus is None else np.array([*flags, *[False] * len(loose)]),
        least_gap=None if record.least_gap is None else np.array([*least, *[0.0] * len(loose)]),
        places=None if record.places is None else record.places.of_rows(np.array(source)),
    )
    return layered, source


def mark_hiatuses(record: Record, depths: Sequence[float]) -> Record:
    """The record with a hiatus between the two rows of a sequence that lie around each of some depths.

    Raises RecordError for a depth that lies between no two rows of any sequence.
    """
    if record.depth is None or not len(depths):
        return record
    flags = np.zeros(len(record), dtype=bool) if record.hiatus is None else record.hiatus.copy()
    for one in depths:
        found = False
        for _, rows in record.sequences:
            first, last = record.depth[rows[:-1]], record.depth[rows[1:]]
            here = np.flatnonzero((np.minimum(first, last) < one) & (one < np.maximum(first, last)))
            flags[rows[here]], found = True, found or bool(here.size)
        if not found:
            low, high = np.nanmin(record.depth), np.nanmax(record.depth)
            raise RecordError(
                f"hiatus: {one:g} lies between no two rows; the rows have depths from {low:g} to {high:g}. Give a "
                "depth between two rows."
            )
    return replace(record, hiatus=flags)


def keep_rows(record: Record, keep: Array) -> Record:
    """The record with those rows only; ``keep`` (N,) is a mask. What is left out between two rows is one gap.

    Its minimum is the sum of the minima. There must be no hiatus within it.
    """
    old = np.flatnonzero(keep)
    least = np.zeros(len(record)) if record.least_gap is None else record.least_gap.copy()
    for _, rows in record.sequences:
        owner = np.maximum.accumulate(np.where(keep[rows], np.arange(len(rows)), 0))  # the last row kept before each
        least[rows] = np.bincount(owner, least[rows], minlength=len(rows))
    return _laid_out(
        record,
        old,
        depth=None if record.depth is None else record.depth[old],
        sequence=None if record.sequence is None else [record.sequence[row] for row in old],
        hiatus=None if record.hiatus is None else record.hiatus[old],
        least_gap=None if record.least_gap is None else least[old],
        places=None if record.places is None else record.places.of_rows(old),
    )


def tie_equal_depths(record: Record) -> Record:
    """The record with the rows of a sequence that have one depth tied: a process in depth has one time there."""
    if record.depth is None:
        return record
    tie: list[Any] = list(record.tie or [None] * len(record))
    for s, (_, rows) in enumerate(record.sequences):
        depth = record.depth[rows]
        for one in np.unique(depth[1:][np.diff(depth) == 0.0]):
            for row in rows[depth == one]:
                tie[row] = f"depth {one:.17g} of sequence {s}"
    return replace(record, tie=tuple(tie)) if any(name is not None for name in tie) else record


def _places(record: Record, rows: Array, steps: int, hiatus: list[float]) -> list[_Place]:
    """The rows of one sequence, with new ones between them."""
    depth = record.depth if record.depth is not None else np.zeros(len(record))
    along = np.abs(depth[rows] - depth[rows[0]])
    step = float(np.ptp(along)) / steps
    found: list[_Place] = []
    for k, row in enumerate(rows):
        here, then = along[k], along[k + 1] if k + 1 < len(rows) else along[k]
        flag = bool(record.hiatus[row]) if record.hiatus is not None else False
        least = float(record.least_gap[row]) if record.least_gap is not None else 0.0
        between = then - here > 1.5 * step > 0.0
        inside = np.linspace(here, then, round((then - here) / step) + 1)[1:-1] if between else np.empty(0)
        known = [one for one in hiatus if flag and here < one < then][:1]
        at = known[0] if known else here  # where the hiatus is
        # If its depth is known, all of it is there, and not on the way to the next layer.
        below = [at + BELOW_HIATUS * (then - here)] if known else []
        edges = np.unique([here, *inside, *known, *below])
        # The minimum gap is divided among the steps.
        share = np.diff([*edges, then]) / (then - here) if then > here else np.ones(len(edges))
        for n, one in enumerate(edges):
            found.append(_Place(float(one), int(row) if n == 0 else -1, flag and one == at, least * float(share[n])))
    return found


def _laid_out(record: Record, old: Array, **changes: Any) -> Record:
    """A record with the rows ``old`` of another, and new rows where ``old`` is -1."""
    new = old < 0
    for name, missing in {"t": np.nan, "t_sd": np.inf, "y": np.nan, "y_sd": np.inf}.items():
        changes[name] = np.where(new, missing, getattr(record, name)[old])
    for name in "label", "dates", "tie":
        values = getattr(record, name)
        if values is not None:
            changes[name] = [None if row < 0 else values[row] for row in old]
    for name in "limit", "thickness":
        values = getattr(record, name)
        if values is not None:
            changes[name] = np.where(new, 0, values[old])
    return replace(record, **changes)
