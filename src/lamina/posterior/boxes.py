"""What figures show of a record: which rows, as which boxes, in which groups, and how far their inputs moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..kernels import Linear, Stationary
from ..methods.draws import evenly
from ..record import Record

if TYPE_CHECKING:
    import pandas as pd

    from .posterior import Posterior

Array = np.ndarray

#: With more sequences than this, colours could not be distinguished.
MOST_GROUPS = 5
#: A box is drawn at least this wide, as a part of the span of time, so that exact rows can be seen.
LEAST_WIDTH = 0.003
#: Beyond the outermost box, as a part of the span, so that its edge does not lie on the frame.
MARGIN = 0.005
#: Where the density of a date is highest, it is drawn as wide as this part of the depth of the core, on each side.
DATE_WIDTH = 0.035
#: The axis of the time per unit of depth ends at the smallest median, divided by this.
LOWEST_PACE = 30.0
#: The densities of all dates together, drawn side by side, are at most as wide as twice this part of the depth.
MOST_COVERED = 0.8


@dataclass(frozen=True)
class Group:
    """Rows that are drawn alike."""

    name: str
    rows: Array  #: positions in the record


def has_rate(posterior: Posterior) -> bool:
    """Whether the curve is differentiable."""
    return posterior.problem.kernel.has_rate


def has_trend(posterior: Posterior) -> bool:
    """Whether there is a linear trend below the curve."""
    return any(isinstance(term, Linear) for term in posterior.problem.kernel.terms)


def has_parts(posterior: Posterior) -> bool:
    """Whether the curve is a sum of components: several kernels, or a linear trend."""
    curves = [term for term in posterior.problem.kernel.terms if isinstance(term, Stationary)]
    return len(curves) > 1 or has_trend(posterior)


def thinning(drawn: int, n: int) -> str:
    """A note that not all rows are drawn; empty where they are."""
    return "" if drawn >= n else f"{drawn:,} of {n:,} rows drawn, evenly spaced"


def drawn_rows(record: Record, most: int) -> Array:
    """At most ``most`` of the rows that have a value, evenly spaced."""
    measured = np.flatnonzero(record.measured)
    return measured[evenly(len(measured), most)]


def groups(record: Record, rows: Array) -> list[Group]:
    """The rows by sequence, limits by themselves; those in no sequence by whether their input is exact."""
    limit = np.zeros(len(rows), dtype=int) if record.limit is None else record.limit[rows]
    kinds = [(1, "limits, curve above"), (-1, "limits, curve below")]
    apart = [Group(name, rows[limit == kind]) for kind, name in kinds if (limit == kind).any()]
    rows = rows[limit == 0]
    exact = record.exact[rows]
    if record.sequence is None:
        names = np.where(exact, "exact times", "measured") if exact.any() else np.full(len(rows), "measured")
    else:
        known = [name for name, _ in record.sequences]
        one = len(known) > MOST_GROUPS
        names_shown = {name: f"{len(known)} sequences" if one else str(name) for name in known}
        loose = np.where(exact, "exact times", "no known order")
        names = np.array([names_shown.get(record.sequence[row], loose[k]) for k, row in enumerate(rows)], dtype=object)
    return [Group(str(name), rows[names == name]) for name in dict.fromkeys(names)] + apart


class Boxes(NamedTuple):
    """Where rows are drawn, each (N,): a point, and two standard deviations about it.

    Rows without a date are drawn at their posterior mean, and the offset of its core is subtracted from a value.
    """

    t: Array
    y: Array
    left: Array
    right: Array
    low: Array
    high: Array


def boxes(posterior: Posterior) -> Boxes:
    """Of all rows of a record."""
    record, (t, t_sd) = posterior.record, _placed(posterior)
    y, width, height = record.y - _offsets(posterior), _width(t, t_sd), 2.0 * record.y_sd
    return Boxes(t, y, t - width, t + width, y - height, y + height)


def _width(t: Array, t_sd: Array) -> Array:
    return np.maximum(2.0 * t_sd, 0.5 * LEAST_WIDTH * (np.ptp(t) or 1.0))


def _offsets(posterior: Posterior) -> Array:
    """The mean offset of the core of each row, shape (N,)."""
    record, found = posterior.record, np.zeros(len(posterior.record))
    if posterior.model.offsets is not None:
        for (_, rows), offset in zip(record.sequences, posterior.offsets()["mean"], strict=True):
            found[rows] = offset
    return found


def size_of(posterior: Posterior) -> str:
    """What the boxes are, in words."""
    return "± 2 sd" if posterior.model.offsets is None else "± 2 sd, minus its offset"


def _placed(posterior: Posterior) -> tuple[Array, Array]:
    """t and t_sd of each row, shape (N,); of rows without a date, the posterior mean and sd."""
    record = posterior.record
    if record.dated.all():
        return record.t, record.t_sd
    found = input_shifts(posterior, np.arange(len(record)))
    return np.where(record.dated, record.t, found["mean"]), np.where(record.dated, record.t_sd, found["sd"])


def time_range(posterior: Posterior, at: Array) -> tuple[float, float]:
    """The ends of the axis of time: the curve and all boxes are between them.

    The box of a row whose date is as uncertain as the whole record is long would squeeze all others into a line: of
    such a row the date is between the ends, and the box is cut.
    """
    middle, t_sd = _placed(posterior)
    left, right = middle - _width(middle, t_sd), middle + _width(middle, t_sd)
    low, high = float(min(np.min(at), middle.min())), float(max(np.max(at), middle.max()))
    dated = right - left <= 2.0 * (high - low)
    low, high = float(min(low, left[dated].min(initial=low))), float(max(high, right[dated].max(initial=high)))
    margin = MARGIN * (high - low)
    return low - margin, high + margin


def beyond(at: Array, extrapolated: Array) -> list[Array]:
    """The runs of times (M,) beyond the data, each as positions in order of time, with the nearest time within them."""
    order = np.argsort(at, kind="stable")
    outside = extrapolated[order]
    ends = np.flatnonzero(np.diff(np.concatenate([[False], outside, [False]]).astype(int)))
    return [order[max(first - 1, 0) : last + 1] for first, last in ends.reshape(-1, 2)]


def date_density(record: Record, row: int, points: int) -> tuple[Array, Array]:
    """Times, and the density of a reported date there relative to its maximum, each (points,)."""
    date = None if record.dates is None else record.dates[row]
    t, sd = record.t[row], record.t_sd[row] or 1e-9
    if date is None:
        times = np.linspace(t - 3.5 * sd, t + 3.5 * sd, points)
        return times, np.exp(-0.5 * ((times - t) / sd) ** 2)
    low, high = date.quantile([0.0005, 0.9995])
    times = np.linspace(low, high, points)
    log_density = date.log_density(times)
    return times, np.exp(log_density - log_density.max())


class Rejected(NamedTuple):
    """Dates of a core that its age-depth model does not use."""

    record: Record  #: of the same core, with them
    rows: Array  #: their rows in it


def date_half_width(depth: Array, dates: int) -> float:
    """Half the width of the density of a date where it is highest, in units of depth; less if there are many dates."""
    return min(DATE_WIDTH, MOST_COVERED / max(dates, 1)) * (float(np.ptp(depth)) or 1.0)


def input_shifts(posterior: Posterior, rows: Array) -> pd.DataFrame:
    """Inputs of some rows, reported and posterior: t, t_sd, mean, sd, shift = mean - t, and kept = sd / t_sd.

    The last is NaN for exact inputs; t, t_sd, shift and kept are NaN for rows without a date.
    """
    import pandas as pd

    record = posterior.record
    _, mean, sd = posterior.input_moments(rows)
    t, t_sd = record.t[rows], np.where(record.dated, record.t_sd, np.nan)[rows]
    kept = np.divide(sd, t_sd, out=np.full(len(rows), np.nan), where=t_sd > 0.0)
    columns = {"t": t, "t_sd": t_sd, "mean": mean, "sd": sd, "shift": mean - t, "kept": kept}
    return pd.DataFrame(columns, index=pd.Index(rows, name="row"))
