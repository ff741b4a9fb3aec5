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
#: Layers nearer to each other than this part of the length of a core are at one depth.
AT_ONE_DEPTH = 1e-5
#: A section whose accumulation is shown is at least this part of the usual distance of dates long.
SHORTEST_SECTION = 0.5
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


def sections(record: Record, sequence: Hashable | None = None) -> tuple[Array, Array]:
    """Depths (L,) that divide a core into sections, and which of the sections (L - 1,) contain a hiatus.

    They are the depths of its dates, its ends, and its hiatuses, and do not depend on layers without a date: a gamma
    process in depth has no rate in the limit of short steps, most of which take next to no time.
    Raises RecordError as ``layers_of``.
    """
    rows, depth = layers_of(record, sequence)
    depth, length = depth[rows], float(np.ptp(depth[rows]))
    hiatus = np.zeros(len(rows), dtype=bool) if record.hiatus is None else record.hiatus[rows]
    gaps = [sorted(depth[[k, k + 1]]) for k in np.flatnonzero(hiatus[:-1])]
    fixed = set(depth[:-1][hiatus[:-1]].tolist())
    # Where the depth of a hiatus is known, a section begins below it; otherwise, at the next date.
    fixed |= {float(one) for pair in gaps if np.ptp(pair) < AT_ONE_DEPTH * length for one in pair}
    ends = {float(depth.min()), float(depth.max())}
    dated = np.unique(depth[record.dated[rows]])
    least = SHORTEST_SECTION * usual_step(record) if len(dated) > 1 else 0.0
    found = _apart(np.unique([*dated, *fixed, *ends]), fixed, least)
    has_hiatus = np.zeros(len(found) - 1, dtype=bool)
    for low, high in gaps:
        has_hiatus |= (found[:-1] < high) & (low < found[1:])
    return found, has_hiatus


def _apart(depths: Array, fixed: set[float], least: float) -> Array:
    """Increasing depths without those that lie too close to another one; ``fixed`` and the outermost ones stay."""
    first, last = float(depths[0]), float(depths[-1])
    stay = np.array(sorted({first, last, *fixed}))
    kept = [first]
    for one in depths[1:].tolist():
        if one in stay or (one - kept[-1] >= least and stay[np.searchsorted(stay, one)] - one >= least):
            kept.append(one)
    return np.array(kept)


def accumulation(posterior: Posterior, sequence: Hashable | None = None) -> tuple[Array, Array]:
    """Time per unit of depth in each section: their depths (L,), and draws (S, L - 1) of age difference over distance.

    In a section with a hiatus it is NaN.
    """
    depths, has_hiatus = sections(posterior.record, sequence)
    pace = np.abs(np.diff(times_at(posterior, depths, sequence), axis=1) / np.diff(depths))
    pace[:, has_hiatus] = np.nan
    return depths, pace


def accumulation_quantiles(posterior: Posterior, sequence: Hashable | None = None) -> pd.DataFrame:
    """Time per unit of depth in each section of a core: from, to (depths), mean, sd and quantiles over the draws."""
    import pandas as pd

    (depths, pace), weight = accumulation(posterior, sequence), posterior.draws.weight
    mean = weight @ pace
    columns = {"from": depths[:-1], "to": depths[1:], "mean": mean, "sd": np.sqrt(weight @ (pace - mean) ** 2)}
    columns.update(zip(QUANTILES, weighted_quantiles(pace, weight), strict=True))
    return pd.DataFrame(columns)


def describe_accumulation(posterior: Posterior, table: pd.DataFrame | None = None) -> str:
    """How long a unit of depth took, in a sentence: the medians of the sections, and the whole core without hiatuses.

    table: that of ``accumulation_quantiles``, if it has been computed before. No text if hiatuses are everywhere.
    """
    table = accumulation_quantiles(posterior) if table is None else table
    known, (depths, pace) = table["q50"].notna().to_numpy(), accumulation(posterior)
    if not known.any():
        return ""
    axes, length = describe(posterior.record), np.diff(depths)[known]
    whole = pace[:, known] @ length / length.sum()
    low, middle, high = weighted_quantiles(whole[:, None], posterior.draws.weight, (0.025, 0.5, 0.975))[:, 0]
    took = with_range(middle, low, high, axes.duration or "units of time")
    unit = posterior.record.depth_unit or f"unit of {axes.along}"
    if known.sum() == 1:
        return f"1 {unit} took {took} to accumulate."
    medians, n = table["q50"][known], count(int(known.sum()), "section")
    return (
        f"1 {unit} took {took} to accumulate on average, and between {number(medians.min())} and "
        f"{number(medians.max())} in different parts (medians of the {n} between dates)."
    )


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

    Where its depth is known only to lie between two layers, the time between them has sediment in it too.
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
            beside = "" if is_known else ", with the sediment between these depths,"
            found.append(f"{where}{beside} took {with_range(middle, low, high, unit)}.")
    return found


def width_grid(record: Record) -> Array:
    """Even depths from the first to the last of a core, and those of its layers."""
    rows, depth = layers_of(record, None)
    return np.unique([*np.linspace(depth[rows].min(), depth[rows].max(), CORE_POINTS), *depth[rows]])
