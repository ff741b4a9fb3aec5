"""Dates of samples of some thickness: what the unknown depth within a slice adds to their errors, Eqs. (81) and (82).

The difference of time between the dated part of a slice and its middle depends on the accumulation near it. That is
estimated from the dates alone, before the fit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..dates.widened import Widened
from ..errors import RecordError
from ..record import Record

Array = np.ndarray

#: Dated layers whose slopes give the pace at a slice.
NEAREST = 7
#: The share of standardised steps whose square is below 1, if they are normal.
BELOW_ONE = 0.6826895
BISECTIONS = 60
#: A width below this part of the error of a date changes nothing.
NEGLIGIBLE = 1e-3


def with_thickness(record: Record) -> Record:
    """The record as if all samples had no thickness, with wider dates where they had one.

    Raises RecordError for a slice in a sequence with dates at one depth only.
    """
    thickness = record.thickness
    if thickness is None:
        return record
    changes: dict[str, Any] = {"thickness": None}
    thick = np.flatnonzero((thickness > 0.0) & record.dated & ~record.exact)
    if thick.size:
        pace, variance = accumulation_at(record, thick)
        h, t_sd, dates = thickness[thick], record.t_sd.copy(), list(record.dates or [None] * len(record))
        width, sd = pace * h, np.sqrt(0.25 * variance * h)
        for row, w, s in zip(thick, width, sd, strict=True):
            date = dates[row]
            if date is None:
                t_sd[row] = np.sqrt(t_sd[row] ** 2 + w**2 / 12.0 + s**2)  # Eq. (82)
            elif max(w, s) > NEGLIGIBLE * t_sd[row]:
                dates[row] = Widened(date, float(w), float(s))
        changes |= {"t_sd": t_sd, "dates": tuple(dates) if record.dates is not None else None}
    return replace(record, **changes)


def accumulation_at(record: Record, rows: Array) -> tuple[Array, Array]:
    """The time per unit of depth near some rows, and the variance of that which a unit takes, each of their shape."""
    pace, variance = np.empty(len(rows)), np.empty(len(rows))
    for _, members in record.sequences:
        here = np.isin(rows, members)
        if here.any():
            layers = _Layers(record, members)
            pace[here] = [layers.pace_at(row) for row in rows[here]]
            variance[here] = layers.variance()
    return pace, variance


class _Layers:
    """The dated layers of one sequence down its order: depth from the first, time along the order, variance, part.

    A part lies between two hiatuses.
    """

    def __init__(self, record: Record, members: Array) -> None:
        assert record.depth is not None
        dated = members[record.dated[members]]
        hiatus = np.zeros(len(record), dtype=bool) if record.hiatus is None else record.hiatus
        part = dict(zip(members.tolist(), np.concatenate([[0], np.cumsum(hiatus[members])[:-1]]), strict=True))
        along = np.abs(record.depth - record.depth[members[0]])
        self.depth = np.unique(along[dated])
        which = np.searchsorted(self.depth, along[dated])
        n = np.bincount(which)
        self.time = np.bincount(which, record.sign * record.t[dated]) / n
        self.var = np.bincount(which, record.t_sd[dated] ** 2) / n**2
        thickness = np.zeros(len(record)) if record.thickness is None else record.thickness
        self.thickness = np.bincount(which, thickness[dated]) / n
        self.part = np.zeros(len(self.depth), dtype=int)
        self.part[which] = [part[row] for row in dated.tolist()]
        self.along = along
        if len(self.depth) < 2:
            raise RecordError(
                "the thickness of {rows} needs the pace of accumulation, but its sequence has dates at one depth only. "
                "Leave thickness out, or give a date at another depth.",
                rows=dated,
            )

    def pace_at(self, row: int) -> float:
        """The weighted median of the slopes between the nearest dated layers of a row's part of the core.

        A median, because a wrong date must not matter. Where it is not positive, that of all layers counts.
        """
        at = int(np.argmin(np.abs(self.depth - self.along[row])))
        same = np.flatnonzero(self.part == self.part[at])
        near = np.sort(same[np.argsort(np.abs(self.depth[same] - self.along[row]), kind="stable")[:NEAREST]])
        found = self._median_slope(near) if len(near) > 1 else 0.0
        return found if found > 0.0 else max(self._median_slope(self._some()), 0.0)

    def variance(self) -> float:
        """The variance per unit of depth with which as many standardised steps are below 1 as of normal ones.

        Steps are those between the dated parts of neighbours, less what the median pace gives, so that their variance
        is that of the process over them, of the dates, and of the depths of both parts. A quantile, because wrong
        dates must not matter.
        """
        together, pace = np.diff(self.part) == 0, max(self._median_slope(self._some()), 0.0)
        if not together.any():
            return 0.0
        var, step = self.var + (pace * self.thickness) ** 2 / 12.0, np.diff(self.depth)[together]
        square = (np.diff(self.time)[together] - pace * step) ** 2
        known = (var[1:] + var[:-1])[together]
        low, high = 0.0, float(np.max(square / step))
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            above = np.quantile(square - (middle * step + known), BELOW_ONE) > 0.0
            low, high = (middle, high) if above else (low, middle)
        return low

    def _some(self) -> Array:
        """At most a few hundred layers, evenly spaced: there are as many slopes as pairs."""
        return np.unique(np.linspace(0, len(self.depth) - 1, 200).astype(int))

    def _median_slope(self, which: Array) -> float:
        """The median of the slopes between pairs of layers, of one part if there are such, weighted by precision."""
        a, b = np.triu_indices(len(which), 1)
        a, b = which[a], which[b]
        same = self.part[a] == self.part[b]
        a, b = (a[same], b[same]) if same.any() else (a, b)
        apart = self.depth[b] - self.depth[a]
        slope = (self.time[b] - self.time[a]) / apart
        sd = np.sqrt(self.var[a] + self.var[b])
        weight = apart / np.where(sd > 0.0, sd, max(float(sd.max()), 1.0) * 1e-3)  # exact dates count most
        order = np.argsort(slope)
        half = np.searchsorted(np.cumsum(weight[order]), 0.5 * weight.sum())
        return float(slope[order][min(half, len(order) - 1)])
