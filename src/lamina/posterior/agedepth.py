"""The age-depth model of a core: times at depths between its layers."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np

from ..engine.quantiles import QUANTILES, weighted_quantiles
from ..errors import RecordError
from ..methods.registry import METHODS
from ..model.bridge import STREAM, divide, has_process, whole_gaps
from ..model.priors import usual_step
from ..record import Record
from ..records.axes import describe
from ..support.numbers import count, number, with_range
from .times import is_length

if TYPE_CHECKING:
    import pandas as pd

    from .posterior import Posterior

Array = np.ndarray

#: Even depths at which a core is described, beside those of its layers.
CORE_POINTS = 200
#: Steps whose pace is shown are at least this part of the length of a core.
SHORTEST_STEP = 1.0 / 120.0
#: Layers nearer to each other than this part of the length of a core are at one depth.
AT_ONE_DEPTH = 1e-5
#: A slice that takes more than this part of the length scale of the curve is long.
LONG_SLICE = 0.5


def layers_of(record: Record, sequence: Hashable | None) -> tuple[Array, Array]:
    """The rows of a sequence, or of the only one, and all depths (N,). Raises RecordError if the record has none."""
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


def table(posterior: Posterior, depths: Array, sequence: Hashable | None = None) -> pd.DataFrame:
    """The time at each depth, one row each: depth, then mean, sd and quantiles over the draws that were kept."""
    import pandas as pd

    drawn, weight = times_at(posterior, depths, sequence), posterior.draws.weight
    mean = weight @ drawn
    columns = {"depth": depths, "mean": mean, "sd": np.sqrt(weight @ (drawn - mean) ** 2)}
    columns.update(zip(QUANTILES, weighted_quantiles(drawn, weight), strict=True))
    return pd.DataFrame(columns)


def times_at(posterior: Posterior, depths: Array, sequence: Hashable | None = None) -> Array:
    """Draws of the time at each depth, shape (S, M), on the user's time scale.

    Between layers they follow the process in depth. Beyond them they continue with the pace of the outermost step.
    """
    rows, depth = layers_of(posterior.record, sequence)
    along = np.abs(depth[rows] - depth[rows[0]])
    way = np.sign(depth[rows[-1]] - depth[rows[0]])
    at = way * (depths - depth[rows[0]])
    layers = np.unique(along)
    if len(layers) < 2:
        raise RecordError("there is no age-depth model of a single depth: give layers at two depths or more.")
    # Rows of one depth are one layer, whose time is the mean of theirs.
    order = np.argsort(along, kind="stable")
    drawn = posterior.tau_of(rows[order])
    first = np.searchsorted(along[order], layers)
    times = np.add.reduceat(drawn, first, axis=1) / np.diff([*first, len(rows)])
    right = np.clip(np.searchsorted(layers, at), 1, len(layers) - 1)
    share = (at - layers[right - 1]) / (layers[right] - layers[right - 1])
    found = times[:, right - 1] * (1.0 - share) + times[:, right] * share
    method = METHODS.get(posterior.draws.diagnostics.get("method", ""))
    if has_process(posterior.problem) and (method is None or method.has_gap_prior):
        inside = np.flatnonzero((share > 0.0) & (share < 1.0))
        members, whole = rows[order], whole_gaps(posterior.problem)
        for gap in np.unique(right[inside]):
            here = inside[right[inside] == gap]
            ends = members[first[gap] - 1], members[first[gap]]
            step, around = layers[gap] - layers[gap - 1], times[:, gap - 1 : gap + 1]
            found[:, here] = _within_gap(posterior, ends, (step, whole), share[here], around)
    return found


def _within_gap(
    posterior: Posterior, ends: tuple[int, int], gap: tuple[float, Array], share: Array, times: Array
) -> Array:
    """Draws of the time at these shares of the gap between two layers, whose times are (S, 2).

    gap: its step in depth, and ``whole_gaps``.
    """
    problem = posterior.problem
    rows, layer = problem.rows, problem.layer
    k = next((int(layer[row]) for row in ends if rows.after[layer[row]] in layer[list(ends)]), -1)
    even = times[:, :1] * (1.0 - share) + times[:, 1:] * share
    if k < 0 or not rows.regular[k]:
        return even
    edges = np.unique(share)
    unit = np.diff([0.0, *edges, 1.0]) * gap[0] / usual_step(problem.record)
    rng = np.random.default_rng([STREAM, *ends])  # another one for each gap: they are independent
    drawn = divide(problem, posterior.draws.phi, unit, gap[1][k], rng)[:, np.searchsorted(edges, share)]
    time = times[:, 1:] - times[:, :1]
    spare = time - np.sign(time) * rows.least[k]
    return even + spare * (drawn - share)


def accumulation(posterior: Posterior, sequence: Hashable | None = None) -> tuple[Array, Array]:
    """Time per unit of depth between neighbouring layers: depths of the layers (L,), and draws (S, L - 1).

    Layers that are close to each other are left out, because the pace over a very short step is anything. Over a step
    with a hiatus it is NaN.
    """
    record, (rows, depth) = posterior.record, layers_of(posterior.record, sequence)
    hiatus = np.zeros(len(record), dtype=bool) if record.hiatus is None else record.hiatus
    ends = {float(depth[row]) for k in np.flatnonzero(hiatus[rows[:-1]]) for row in rows[[k, k + 1]]}
    depths = _apart(np.unique(depth[rows]), ends)
    pace = np.abs(np.diff(times_at(posterior, depths, sequence), axis=1) / np.diff(depths))
    for k in np.flatnonzero(hiatus[rows[:-1]]):
        low, high = sorted(depth[rows[[k, k + 1]]])
        pace[:, (depths[:-1] >= low) & (depths[1:] <= high)] = np.nan
    return depths, pace


def _apart(depths: Array, ends: set[float]) -> Array:
    """Increasing depths without those that lie too close to the one before; ``ends`` and the outermost ones stay."""
    least, kept = SHORTEST_STEP * np.ptp(depths), [float(depths[0])]
    for one in depths[1:-1].tolist():
        if one in ends or (one - kept[-1] >= least and depths[-1] - one >= least):
            kept.append(one)
    return np.array([*kept, float(depths[-1])])


def describe_long_slices(posterior: Posterior) -> str:
    """A warning if slices whose values are means take longer than the curve's length scale allows; or no text.

    A value is taken as the curve at the time of the middle of its slice. If the slice takes half a length scale of a
    Matérn-3/2 process, its mean differs from that by 8 % of the standard deviation of the curve.
    """
    record, lengths = posterior.record, [name for name in posterior.theta if is_length(str(name))]
    if record.thickness is None or record.depth is None or not lengths:
        return ""
    length, most, rows = float(posterior.theta[lengths].median().min()), 0.0, []
    for name, members in record.sequences:
        some = members[record.measured[members] & (record.thickness[members] > 0.0)]
        if some.size:
            half = 0.5 * record.thickness[some]
            ends = (times_at(posterior, record.depth[some] + side * half, name) for side in (1.0, -1.0))
            takes = np.abs(np.median(np.subtract(*ends), axis=0))
            rows += some[takes > LONG_SLICE * length].tolist()
            most = max(most, float(takes.max()))
    if not rows:
        return ""
    unit = describe(record).duration
    return (
        f"the slices of {count(len(rows), 'row')} took up to {number(most)} {unit}, more than half of the length scale "
        f"of the curve ({number(length)} {unit}): their values are means, which are smoother than the curve."
    ).replace("  ", " ")


def describe_width(posterior: Posterior, ages: pd.DataFrame | None = None) -> str:
    """How wide the 95 % range of the age is in the core, on average over its depth and at most, in a sentence.

    ages: the table of ``width_grid``, if it has been computed before.
    """
    record, axes = posterior.record, describe(posterior.record)
    ages = posterior.ages(width_grid(record)) if ages is None else ages
    wide = ages["q97.5"] - ages["q2.5"]
    mean, most = (f"{number(one)} {axes.duration}".rstrip() for one in (wide.mean(), wide.max()))
    widest = f"{ages['depth'][wide.idxmax()]:.4g} {record.depth_unit}".rstrip()
    return f"The 95 % range is {mean} wide on average and {most} at most, at a {axes.along} of {widest}."


def describe_hiatuses(posterior: Posterior) -> list[str]:
    """How long each hiatus took, in a sentence: median and 95 % range.

    Where its depth is known only to lie between two rows, the time between them has sediment in it too.
    """
    record = posterior.record
    if record.hiatus is None or record.depth is None:
        return []
    found: list[str] = []
    unit, along = describe(record).duration, describe(record).along
    for _, rows in record.sequences:
        length = np.ptp(record.depth[rows])
        for k in np.flatnonzero(record.hiatus[rows[:-1]]):
            pair = rows[[k, k + 1]]
            took = np.abs(np.diff(posterior.tau_of(pair), axis=1))
            low, middle, high = weighted_quantiles(took, posterior.draws.weight, (0.025, 0.5, 0.975))[:, 0]
            ends = [f"{one:.4g} {record.depth_unit}".rstrip() for one in np.sort(record.depth[pair])]
            is_known = np.ptp(record.depth[pair]) < AT_ONE_DEPTH * length
            where = f"The hiatus at a {along} of {ends[0]}" if is_known else f"The hiatus between {' and '.join(ends)}"
            beside = "" if is_known else ", with the sediment between these rows,"
            found.append(f"{where}{beside} took {with_range(middle, low, high, unit)}.")
    return found


def width_grid(record: Record) -> Array:
    """Even depths from the first to the last of a core, and those of its layers."""
    rows, depth = layers_of(record, None)
    return np.unique([*np.linspace(depth[rows].min(), depth[rows].max(), CORE_POINTS), *depth[rows]])
