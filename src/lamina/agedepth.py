"""The age-depth model of a core: times at depths between its layers, and layers to carry it between dates."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import RecordError
from .record import Record

if TYPE_CHECKING:
    from .posterior import Posterior

Array = np.ndarray

#: A core is cut into about so many steps, and no dated layers are further apart than one step.
STEPS = 60


def with_layers(record: Record, steps: int = STEPS) -> Record:
    """The record with layers of neither date nor value added, at even depths between its own, in each sequence.

    They carry the pace of accumulation from date to date. Raises RecordError without depths.
    """
    if record.depth is None:
        raise RecordError("an age-depth model needs depths: give the record a depth for each row.")
    place: list[tuple[int, float, Any, int]] = []  # sequence, way along it, label, row or -1
    for s, (name, rows) in enumerate(record.sequences):
        along = np.abs(record.depth[rows] - record.depth[rows[0]])
        step = float(np.ptp(along)) / steps
        for k, row in enumerate(rows):
            place.append((s, float(along[k]), name, int(row)))
            if k + 1 < len(rows) and along[k + 1] - along[k] > 1.5 * step > 0.0:
                inside = np.linspace(along[k], along[k + 1], round((along[k + 1] - along[k]) / step) + 1)[1:-1]
                place += [(s, float(one), name, -1) for one in inside]
    return _laid_out(record, place)


def _laid_out(record: Record, place: list[tuple[int, float, Any, int]]) -> Record:
    """A record with these rows of the old one, new ones in between, and the rows without order at the end."""
    old = np.array([row for *_, row in place] + record.unordered.tolist())
    new = old < 0
    changes: dict[str, Any] = {}
    for name, missing in {"t": np.nan, "t_sd": np.inf, "y": np.nan, "y_sd": np.inf}.items():
        changes[name] = np.where(new, missing, getattr(record, name)[old])
    depth = record.depth if record.depth is not None else np.full(len(record), np.nan)
    changes["depth"] = depth[old]
    firsts = [rows[0] for _, rows in record.sequences]
    ways = [np.sign(depth[rows[-1]] - depth[rows[0]]) for _, rows in record.sequences]
    for k, (s, along, _, row) in enumerate(place):
        if row < 0:
            changes["depth"][k] = depth[firsts[s]] + ways[s] * along
    if record.sequence is not None:
        changes["sequence"] = [name for _, _, name, _ in place] + [None] * len(record.unordered)
    for name in "label", "dates", "tie":
        values = getattr(record, name)
        if values is not None:
            changes[name] = [None if row < 0 else values[row] for row in old]
    if record.limit is not None:
        changes["limit"] = np.where(new, 0, record.limit[old])
    if record.least_gap is not None:
        changes["least_gap"] = np.where(new, 0.0, record.least_gap[old])
    if record.hiatus is not None:
        changes["hiatus"] = ~new & record.hiatus[old]
    return replace(record, **changes)


def _sequence(record: Record, sequence: Hashable | None) -> Hashable | None:
    """The sequence that is meant: the only one, or the one named. Raises RecordError if there is none."""
    known = [name for name, _ in record.sequences]
    if sequence is None and len(known) == 1:
        return known[0]
    if sequence not in known:
        raise RecordError(
            f"there is no sequence {sequence!r}: say which of {', '.join(map(repr, known))} with sequence=..."
        )
    return sequence


def times_at(posterior: Posterior, depths: Array, sequence: Hashable | None = None) -> Array:
    """Draws of the time at each depth, shape (S, M), on the user's time scale."""
    record = posterior.record
    if record.depth is None:
        raise RecordError("there is no age-depth model without depths: give the record a depth for each row.")
    rows = dict(record.sequences)[_sequence(record, sequence)]
    along = np.abs(record.depth[rows] - record.depth[rows[0]])
    way = np.sign(record.depth[rows[-1]] - record.depth[rows[0]])
    at = way * (depths - record.depth[rows[0]])
    layers = np.unique(along)
    if len(layers) < 2:
        raise RecordError("there is no age-depth model of a single depth: give layers at two depths or more.")
    # Rows of one depth are one layer here: the middle of what they say.
    drawn = posterior.tau[:, rows]
    times = np.stack([drawn[:, along == one].mean(axis=1) for one in layers], axis=1)
    right = np.clip(np.searchsorted(layers, at), 1, len(layers) - 1)
    share = (at - layers[right - 1]) / (layers[right] - layers[right - 1])
    return times[:, right - 1] * (1.0 - share) + times[:, right] * share


def age_depth(record: Record, steps: int = STEPS, seed: int = 0, **options: Any) -> Posterior:
    """An age-depth model of the cores of a record: ``Posterior.ages`` tells the time at any depth.

    Values are not used, so that none need be measured: give ``y=nan, y_sd=inf``. With values, a fit of
    ``with_layers(record)`` finds ages and curve together. The prior is that of the time per unit of depth, the same
    for all steps of a sequence, with its mean and its spread (alpha) unknown.

    steps: into how many a core is cut; options: of ``lamina.fit``.
    """
    from .fitting import fit

    n = len(record)
    alone = replace(record, y=np.full(n, np.nan), y_sd=np.full(n, np.inf), limit=None)
    return fit(with_layers(alone, steps), seed=seed, **options)


def accumulation(posterior: Posterior, sequence: Hashable | None = None) -> tuple[Array, Array]:
    """Time per unit of depth in each step between layers: depths of the layers (L,), and draws (S, L - 1)."""
    record = posterior.record
    rows = dict(record.sequences)[_sequence(record, sequence)]
    depths = np.unique(record.depth[rows])  # type: ignore[index]
    pace = np.abs(np.diff(times_at(posterior, depths, sequence), axis=1) / np.diff(depths))
    return depths, pace
