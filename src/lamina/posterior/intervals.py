"""The mean rate over intervals of time, and how likely it is above zero or above that of another interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.quantiles import LEVELS
from ..errors import MethodError

if TYPE_CHECKING:
    import pandas as pd

    from .posterior import Posterior

Array = np.ndarray


def interval_rates(
    posterior: Posterior,
    intervals: Sequence[tuple[float, float]],
    draws: int = 4000,
    seed: int = 0,
    *,
    scale: float = 1.0,
) -> pd.DataFrame:
    """The mean rate (f(b) - f(a)) / (b - a) over each interval (a, b), from joint draws of the curve.

    One line per interval: from, to, mean, sd, the quantiles, the probability ``p>0`` that it exceeds zero, and for
    each interval a column such as ``p>1900:2000``, the probability that it exceeds the rate there (NaN for itself).

    ``scale`` multiplies all rates: 1000 for millimetres from metres, -1 for rates forward in time on a scale of ages.
    The computing time grows as draws times rows. Raises MethodError for an invalid interval.
    """
    pairs = checked(intervals)
    curve = posterior.sample_curves(interval_ends(pairs), n=draws, seed=seed) if pairs else np.empty((0, 0))
    return rates_between(pairs, curve, scale)


def interval_ends(pairs: Sequence[tuple[float, float]]) -> Array:
    """The times at which intervals begin and end, increasing and each once."""
    return np.unique(np.array(pairs, dtype=float).reshape(-1))


def rates_between(pairs: Sequence[tuple[float, float]], curve: Array, scale: float = 1.0) -> pd.DataFrame:
    """The table of ``interval_rates`` from draws of a curve (draws, M) at the ends of the intervals."""
    import pandas as pd

    columns: dict[str, Any] = {"from": [a for a, _ in pairs], "to": [b for _, b in pairs]}
    if not pairs:
        return pd.DataFrame(columns)
    ends, place = np.unique(np.array(pairs, dtype=float).reshape(-1), return_inverse=True)
    first, last = place.reshape(-1, 2).T
    rates = scale * (curve[:, last] - curve[:, first]) / (ends[last] - ends[first])
    columns |= {"mean": rates.mean(axis=0), "sd": rates.std(axis=0)}
    columns |= {f"q{100 * level:g}": np.quantile(rates, level, axis=0) for level in LEVELS}
    columns["p>0"] = (rates > 0.0).mean(axis=0)
    for k, pair in enumerate(pairs):
        above = (rates > rates[:, k : k + 1]).mean(axis=0)
        above[k] = np.nan
        columns[f"p>{interval_name(*pair)}"] = above
    return pd.DataFrame(columns)


def interval_name(a: float, b: float) -> str:
    """An interval as it is written on the command line: "1900:2000"."""
    return f"{a:.10g}:{b:.10g}"


def checked(intervals: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The intervals as pairs of numbers. Raises MethodError for an invalid one."""
    pairs: list[tuple[float, float]] = []
    for given in intervals:
        try:
            a, b = (float(value) for value in given)
        except (TypeError, ValueError):
            raise MethodError(f"an interval is two times (from, to) such as (1900, 2000), got {given!r}.") from None
        if not (math.isfinite(a) and math.isfinite(b)):
            raise MethodError(f"an interval needs two finite times, got {a:g} to {b:g}.")
        if a >= b:
            what = "has no length" if a == b else "runs backwards"
            turned = "Give two different times" if a == b else f"Give the smaller time first: {interval_name(b, a)}"
            raise MethodError(f"the interval {interval_name(a, b)} {what}. {turned}.")
        if (a, b) in pairs:
            raise MethodError(f"the interval {interval_name(a, b)} is given twice. Give each interval once.")
        pairs.append((a, b))
    return pairs
