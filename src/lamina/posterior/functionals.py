"""Questions about the whole curve, answered from joint draws: first times above a level, extremes, faster periods.

Each draw is one possible curve with its own dates. A quantity is computed for each draw, and its distribution over the
draws is returned. A band cannot answer such questions, because it describes each time by itself.

"First" and rates follow time from old to young: on a scale of ages before present ("BP" in the unit of the record) from
large numbers to small ones. A rise towards the present is a positive rate.

Curves are evaluated on a grid of ``GRID_TIMES``, more in long records. Between two times a smooth curve moves by a
fraction of its uncertainty only. But the *rate* of a Matern32 curve is as rough as a random walk, so that its extremes
grow with the fineness of the grid. For extremes of the rate use Matern52, or rates over intervals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ..engine.quantiles import LEVELS, QUANTILES
from ..errors import MethodError
from ..records.axes import describe
from ..support.checks import argument
from . import fields
from .intervals import checked, interval_name, interval_rates
from .times import enough

if TYPE_CHECKING:
    import pandas as pd

    from .posterior import Posterior

Array = np.ndarray
Of = Literal["curve", "rate"]

#: The number of times at which each draw of the curve is evaluated.
GRID_TIMES = 1001
DRAWS = 2000


def first_exceeds(
    posterior: Posterior,
    level: ArrayLike,
    between: tuple[float, float] | None = None,
    *,
    of: Of = "curve",
    draws: int = DRAWS,
    seed: int = 0,
    **place: Any,
) -> pd.DataFrame:
    """When the curve, or its rate, first exceeded each ``level`` in a period: one row per level.

    Columns: level; ``p``, the probability that the level was exceeded in the period; ``p_start``, the probability that
    it was exceeded from the beginning, so that the first time lies before the period; then mean, sd and quantiles of
    the first time among the draws that have one (for ``p_start``, the beginning of the period). NaN if no draw has one.

    between: the period (from, to), by default from the first to the last input.
    of: "curve", or "rate" for levels of the rate of change, forward in time.

    place: site="..." or where=(latitude, longitude), for a record with places.

    Times between those of the grid are interpolated. Raises MethodError for invalid levels or periods.
    """
    import pandas as pd

    levels = argument("level", level)
    time, values = _drawn(posterior, between, of, (draws, seed), place)
    lines = []
    for one in levels:
        first = first_above(time, values, one)
        there = first[~np.isnan(first)]
        facts = {"level": one, "p": len(there) / len(first), "p_start": float((values[:, 0] > one).mean())}
        lines.append(facts | _summary(there))
    return pd.DataFrame(lines)


def extremes(
    posterior: Posterior,
    between: tuple[float, float] | None = None,
    *,
    of: Of = "curve",
    draws: int = DRAWS,
    seed: int = 0,
    **place: Any,
) -> pd.DataFrame:
    """Size and time of the maximum and of the minimum of the curve, or of its rate, in a period: four lines.

    Columns: extreme ("maximum", "minimum"), quantity ("size", "time"), p_end, then mean, sd and quantiles. Arguments as
    in ``first_exceeds``. Where a draw is highest at an end of the period, that end is its time, and beyond it the draw
    may be higher still; p_end is the probability of that.
    """
    import pandas as pd

    time, values = _drawn(posterior, between, of, (draws, seed), place)
    lines = []
    for name, peak in ("maximum", values.argmax(axis=1)), ("minimum", values.argmin(axis=1)):
        sizes = values[np.arange(len(values)), peak]
        p_end = float(np.mean((peak == 0) | (peak == len(time) - 1)))
        for quantity, found in ("size", sizes), ("time", time[peak]):
            lines.append({"extreme": name, "quantity": quantity, "p_end": p_end, **_summary(found)})
    return pd.DataFrame(lines)


def faster(
    posterior: Posterior,
    period: tuple[float, float],
    other: tuple[float, float],
    *,
    draws: int | None = None,
    seed: int = 0,
    **place: Any,
) -> float:
    """The probability that one ``period`` (from, to) rose faster than an ``other``: of mean rates, forward in time.

    Raises MethodError for invalid or identical periods. place: as in ``first_exceeds``.
    """
    periods = checked([period, other])
    fields.place_of(posterior, place.get("site"), place.get("where"))
    table = interval_rates(posterior, periods, draws, seed, scale=describe(posterior.record).time_sign, **place)
    return float(table[f"p>{interval_name(*periods[1])}"][0])


def events(
    posterior: Posterior,
    levels: Sequence[float] = (),
    rates: Sequence[float] = (),
    with_extremes: bool = False,
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> pd.DataFrame:
    """First times above levels and rates, and the extremes of the curve, in one table over the whole record.

    Columns: event ("first above", "maximum", "minimum"), of, level, p, p_start, p_end, quantity, mean, sd and
    quantiles.
    """
    import pandas as pd

    tables = []
    for of, wanted in ("curve", levels), ("rate", rates):
        if len(wanted):
            table = first_exceeds(posterior, wanted, of=of, draws=draws, seed=seed)  # type: ignore[arg-type]
            tables.append(table.assign(event="first above", of=of, quantity="time", p_end=math.nan))
    if with_extremes:
        table = extremes(posterior, draws=draws, seed=seed).rename(columns={"extreme": "event"})
        tables.append(table.assign(of="curve", level=math.nan, p=math.nan, p_start=math.nan))
    columns = ["event", "of", "level", "p", "p_start", "p_end", "quantity", *_summary(np.zeros(1))]
    return pd.concat(tables, ignore_index=True)[columns] if tables else pd.DataFrame(columns=columns)


def first_above(time: Array, values: Array, level: float) -> Array:
    """First time at which each draw, values (n, M) at times (M,), exceeds the level; NaN where none does, shape (n,).

    Between two times the draw is taken as straight.
    """
    above = values > level
    k = above.argmax(axis=1)
    row, before = np.arange(len(values)), np.maximum(k - 1, 0)
    low, high = values[row, before], values[row, k]
    part = np.divide(level - low, high - low, out=np.ones(len(values)), where=k > 0)
    first = time[before] + part * (time[k] - time[before])
    return np.where(above.any(axis=1), first, np.nan)


def _drawn(
    posterior: Posterior, between: tuple[float, float] | None, of: Of, draws: tuple[int, int], place: dict[str, Any]
) -> tuple[Array, Array]:
    """Times in the order in which they pass, (M,), and joint draws of the curve or the rate, (draws, M).

    draws: their number and seed. place: site or where, in a field.
    """
    if of not in ("curve", "rate"):
        raise MethodError(f"of must be 'curve' or 'rate', got {of!r}.")
    if between is None:
        centre = posterior.input_means
        between = (float(centre.min()), float(centre.max()))
    ((low, high),) = checked([between])
    axes = describe(posterior.record)
    time = axes.oldest_first(np.linspace(low, high, enough(posterior, high - low, GRID_TIMES)))
    if of == "curve":
        return time, posterior.sample_curves(time, *draws, **place)
    return time, axes.time_sign * posterior.sample_rates(time, *draws, **place)


def _summary(values: Array) -> dict[str, Any]:
    """Mean, sd and quantiles of draws; NaN without any."""
    names = ("mean", "sd", *QUANTILES)
    if not len(values):
        return dict.fromkeys(names, math.nan)
    return dict(zip(names, (values.mean(), values.std(), *np.quantile(values, LEVELS)), strict=True))
