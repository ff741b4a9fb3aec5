"""The age-depth model of a core: times at depths between its layers, and layers to carry it between dates."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .errors import RecordError
from .record import Record

if TYPE_CHECKING:
    from .posterior import Posterior

Array = np.ndarray

#: A core is cut into about so many steps, and no dated layers are further apart than one step.
STEPS = 60


class _Place(NamedTuple):
    """A row of a record with layers."""

    along: float  #: way along its sequence
    row: int  #: of the record before, or -1
    hiatus: bool  #: and
    least: float  #: of the gap after it


def with_layers(record: Record, steps: int = STEPS, hiatus: Sequence[float] = ()) -> Record:
    """The record with layers of neither date nor value added, at even depths between its own, in each sequence.

    They carry the pace of accumulation from date to date. hiatus: depths of those hiatuses that the record has; others
    follow the row that they are told of. Raises RecordError without depths.
    """
    if record.depth is None:
        raise RecordError("an age-depth model needs depths: give the record a depth for each row.")
    depth, old, new_depth, names = record.depth, [], [], []
    flags, least = [], []
    for name, rows in record.sequences:
        way = np.sign(depth[rows[-1]] - depth[rows[0]])
        places = _places(record, rows, steps, [way * (one - depth[rows[0]]) for one in hiatus])
        old += [place.row for place in places]
        new_depth += [depth[rows[0]] + way * place.along for place in places]
        names += [name] * len(places)
        flags += [place.hiatus for place in places]
        least += [place.least for place in places]
    loose = record.unordered.tolist()
    return _laid_out(
        record,
        np.array(old + loose),
        depth=np.array([*new_depth, *depth[loose]]),
        sequence=None if record.sequence is None else [*names, *[None] * len(loose)],
        hiatus=None if record.hiatus is None else np.array([*flags, *[False] * len(loose)]),
        least_gap=None if record.least_gap is None else np.array([*least, *[0.0] * len(loose)]),
    )


def _places(record: Record, rows: Array, steps: int, hiatus: list[float]) -> list[_Place]:
    """The rows of one sequence, and the new ones between them."""
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
        edges = np.unique([here, *inside, *known])
        at = known[0] if known else here  # where the hiatus is
        # The least gap is shared by the steps that it is made of.
        share = np.diff([*edges, then]) / (then - here) if then > here else np.ones(len(edges))
        for n, one in enumerate(edges):
            found.append(_Place(float(one), int(row) if n == 0 else -1, flag and one == at, least * float(share[n])))
    return found


def _laid_out(record: Record, old: Array, **changes: Any) -> Record:
    """A record with the rows ``old`` of another, new ones where that is -1."""
    new = old < 0
    for name, missing in {"t": np.nan, "t_sd": np.inf, "y": np.nan, "y_sd": np.inf}.items():
        changes[name] = np.where(new, missing, getattr(record, name)[old])
    for name in "label", "dates", "tie":
        values = getattr(record, name)
        if values is not None:
            changes[name] = [None if row < 0 else values[row] for row in old]
    if record.limit is not None:
        changes["limit"] = np.where(new, 0, record.limit[old])
    return replace(record, **changes)


def layers_of(record: Record, sequence: Hashable | None) -> tuple[Array, Array]:
    """The rows of a sequence, the only one if none is named, and all depths (N,). Raises RecordError without them."""
    if record.depth is None:
        raise RecordError("there is no age-depth model without depths: give the record a depth for each row.")
    known = dict(record.sequences)
    if sequence is None and len(known) == 1:
        sequence = next(iter(known))
    if sequence not in known:
        raise RecordError(
            f"there is no sequence {sequence!r}: say which of {', '.join(map(repr, known))} with sequence=..."
        )
    return known[sequence], record.depth


def times_at(posterior: Posterior, depths: Array, sequence: Hashable | None = None) -> Array:
    """Draws of the time at each depth, shape (S, M), on the user's time scale."""
    rows, depth = layers_of(posterior.record, sequence)
    along = np.abs(depth[rows] - depth[rows[0]])
    way = np.sign(depth[rows[-1]] - depth[rows[0]])
    at = way * (depths - depth[rows[0]])
    layers = np.unique(along)
    if len(layers) < 2:
        raise RecordError("there is no age-depth model of a single depth: give layers at two depths or more.")
    # Rows of one depth are one layer here: the middle of what they say.
    order = np.argsort(along, kind="stable")
    drawn = posterior.tau_of(rows[order])
    first = np.searchsorted(along[order], layers)
    times = np.add.reduceat(drawn, first, axis=1) / np.diff([*first, len(rows)])
    right = np.clip(np.searchsorted(layers, at), 1, len(layers) - 1)
    share = (at - layers[right - 1]) / (layers[right] - layers[right - 1])
    return times[:, right - 1] * (1.0 - share) + times[:, right] * share


def age_depth(
    record: Record, steps: int = STEPS, seed: int = 0, *, hiatus: Sequence[float] = (), **options: Any
) -> Posterior:
    """An age-depth model of the cores of a record: ``Posterior.ages`` tells the time at any depth.

    Values are not used, so that none need be measured: give ``y=nan, y_sd=inf``. With values, a fit of
    ``with_layers(record)`` finds ages and curve together. The prior is that of the time per unit of depth, the same
    for all steps of a sequence, with its mean and its spread (alpha) unknown.

    steps: into how many a core is cut; hiatus: depths of the hiatuses that the record has; options: of ``lamina.fit``.
    """
    from .fitting import fit

    n = len(record)
    alone = replace(record, y=np.full(n, np.nan), y_sd=np.full(n, np.inf), limit=None)
    return fit(with_layers(alone, steps, hiatus), seed=seed, **options)


def accumulation(posterior: Posterior, sequence: Hashable | None = None) -> tuple[Array, Array]:
    """Time per unit of depth in each step between layers: depths of the layers (L,), and draws (S, L - 1)."""
    rows, depth = layers_of(posterior.record, sequence)
    depths = np.unique(depth[rows])
    pace = np.abs(np.diff(times_at(posterior, depths, sequence), axis=1) / np.diff(depths))
    return depths, pace
