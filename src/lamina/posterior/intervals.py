"""The mean rate over intervals of time, and how likely it is above zero or above that of another interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.quantiles import LEVELS
from ..errors import MethodError
from ..records.axes import describe
from ..support.checks import check_whole
from . import fields

if TYPE_CHECKING:
    import pandas as pd

    from .posterior import Posterior

Array = np.ndarray

#: Draws of a curve, and of a field.
DRAWS, FIELD_DRAWS = 4000, 500
#: Windows begin so many times a window.
WINDOWS_OVERLAP = 6


def interval_rates(
    posterior: Posterior,
    intervals: Sequence[tuple[float, float]],
    draws: int | None = None,
    seed: int = 0,
    *,
    scale: float = 1.0,
    site: str | None = None,
    where: tuple[float, float] | None = None,
) -> pd.DataFrame:
    """The mean rate (f(b) - f(a)) / (b - a) over each interval (a, b), from joint draws of the curve.

    One line per interval: from, to, mean, sd, the quantiles, the probability ``p>0`` that it exceeds zero, and for
    each interval a column such as ``p>1900:2000``, the probability that it exceeds the rate there (NaN for itself).

    ``scale`` multiplies all rates: 1000 for millimetres from metres, -1 for rates forward in time on a scale of ages.
    draws: by default 4000, in a field 500. The computing time grows as draws times rows.
    site, where: of a record with places, one place; without them the table has all sites, one below the other, with a
        first column ``site``.
    Raises MethodError for an invalid interval.
    """
    import pandas as pd

    pairs = checked(intervals)
    if not pairs:
        return rates_between(pairs, np.empty((0, 0)), scale)
    found = []
    for name, curve in _sampled(posterior, interval_ends(pairs), draws, seed, site, where):
        table = rates_between(pairs, curve, scale)
        if name is not None:
            table.insert(0, "site", name)
        found.append(table)
    return pd.concat(found, ignore_index=True)


def field_rates(
    posterior: Posterior, intervals: Sequence[tuple[float, float]], draws: int, seed: int, *, scale: float = 1.0
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """``interval_rates`` of all sites of a field, and of the curve that all sites share, from the same joint draws.

    The second table is empty if the kernel has no term that is common to all sites, or only a constant one.
    """
    import pandas as pd

    pairs, common = checked(intervals), fields.common_part(posterior)
    names, places = fields.sites_or_place(posterior, None, None)
    parts = [fields.everything(posterior), *([] if common is None else [common])]
    drawn = fields.samples(posterior, interval_ends(pairs), places, draws, seed, parts)[:, :, :, 0]
    sites = [rates_between(pairs, drawn[:, p, 0], scale).assign(site=name) for p, name in enumerate(names)]
    varies = common is not None and np.ptp(drawn[:, 0, 1], axis=1).any()
    shared = rates_between(pairs, drawn[:, 0, 1], scale) if varies else pd.DataFrame()
    return pd.concat(sites, ignore_index=True), shared


def _sampled(
    posterior: Posterior, at: Array, draws: int | None, seed: int, site: str | None, where: tuple[float, float] | None
) -> list[tuple[str | None, Array]]:
    """Joint draws of curves at times at (M,), (draws, M) each: of one curve, of one place, or of all sites by name."""
    if posterior.record.places is None:
        fields.place_of(posterior, site, where)
        return [(None, posterior.sample_curves(at, n=draws or DRAWS, seed=seed))]
    check_whole("seed", seed, 0)
    check_whole("draws", draws or FIELD_DRAWS, 1)
    names, places = fields.sites_or_place(posterior, site, where)
    whole = [fields.everything(posterior)]
    drawn = fields.samples(posterior, at, places, draws or FIELD_DRAWS, seed, whole)[:, :, 0, 0]
    return [(name, drawn[:, p]) for p, name in enumerate(names)]


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


def emergence(
    posterior: Posterior,
    reference: tuple[float, float],
    window: float = 60.0,
    probability: float = 0.9,
    *,
    draws: int | None = None,
    seed: int = 0,
    site: str | None = None,
    where: tuple[float, float] | None = None,
    common: bool = False,
) -> pd.DataFrame:
    """The time of emergence: from when on the rate has been above that of a period of reference.

    Rates are means over windows. For each time, p is the probability that the rate of the window around it is above the
    rate of a window drawn at random from the ``reference`` (from, to), both in the same draw of the curve. The time of
    emergence is the middle of the first window from which on p stays at or above ``probability``.
    One line per curve: ``site`` in a field, ``emergence`` (NaN if there is none) and ``p_last``, p at the end.

    Walker et al. (2022, Nature Communications 13, 966) ask the same question of sea level: when did rates over 60 years
    rise above those before industry, with probabilities of 0.66, 0.9 and 0.95? A window of 60 years and a probability
    of 0.9 are the defaults here. That a window of reference is drawn at random, and that p must stay high, are
    choices of lamina, and times need not agree with theirs to the year.

    window: the length of the windows, in units of t; the last one ends with the data. Rates are forward in time. site,
    where and draws as in ``interval_rates``.
    common: of a record with places, the curve that all sites share, instead of those of the sites.
    """
    import pandas as pd

    ((low, high),) = checked([reference])
    for what, value in ("window", window), ("probability", probability):
        if not (isinstance(value, int | float) and 0.0 < value < math.inf):
            raise MethodError(f"{what} must be a positive number, got {value!r}.")
    if high - low < window:
        raise MethodError(f"the reference {interval_name(low, high)} is shorter than a window of {window:g}.")
    axes = describe(posterior.record)
    centre, step = posterior.input_means, window / WINDOWS_OVERLAP
    end = float(centre.min() if axes.backwards else centre.max())
    sign = -1.0 if axes.backwards else 1.0
    past, first = np.arange(low, high - window + 1e-9 * window, step), (low if axes.backwards else high)
    later = first + sign * np.arange(0.0, sign * (end - first) - window + 1e-9 * window, step)  # where windows begin
    if not len(later):
        raise MethodError(f"no window of {window:g} fits between the reference and {end:g}.")
    times, place = np.unique(np.concatenate([past, past + window, later, later + sign * window]), return_inverse=True)
    edges = np.split(place, np.cumsum([len(past), len(past), len(later)]))
    if common and (site is not None or where is not None):
        raise MethodError("common is the curve that all sites share: give it without site and where.")
    if common:
        curves = fields.common_draws(posterior, times, draws or FIELD_DRAWS, seed)
    drawn = [("common", curves)] if common else _sampled(posterior, times, draws, seed, site, where)
    lines = []
    for name, curve in drawn:
        before = sign * (curve[:, edges[1]] - curve[:, edges[0]]) / window
        after = (curve[:, edges[3]] - curve[:, edges[2]]) / window
        p = np.array([(after[:, k, None] > before).mean() for k in range(after.shape[1])])
        stays = np.flatnonzero(np.minimum.accumulate(p[::-1])[::-1] >= probability)
        when = later[stays[0]] + sign * 0.5 * window if stays.size else math.nan
        lines.append(({} if name is None else {"site": name}) | {"emergence": when, "p_last": float(p[-1])})
    return pd.DataFrame(lines)


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
