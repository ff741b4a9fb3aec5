"""The answer in plain words: what the curve did, what happened to the inputs, and whether the model fits."""

from __future__ import annotations

import numpy as np

from ..kernels import Linear
from ..methods.registry import METHODS
from ..posterior.diagnosis import row_name
from ..posterior.residuals import Scatter, far_from_predicted, scatter
from ..support.numbers import capitalised, count, decimals, fixed, join_words, number, percent, with_range, with_sd
from .content import Content, shown_rate

#: Values that are listed one by one.
_NAMED = 5


def when(content: Content, time: float, unit: bool = True) -> str:
    """A time, to a thousandth of the span, with its unit."""
    span = content.span
    places = max(decimals(span / 100.0) - 1, 0) if span else 3
    return f"{fixed(time, places)} {content.posterior.record.t_unit if unit else ''}".rstrip()


def answer(content: Content) -> list[str]:
    """Sentences: the change over the record, where it was fastest, and what the order did to the inputs."""
    return [*_change(content), *fastest(content), *inputs(content)]


def _change(content: Content) -> list[str]:
    if not len(content.whole):
        return []
    record, axes, whole = content.posterior.record, content.axes, content.whole.iloc[0]
    first, last = axes.oldest_first((whole["from"], whole["to"]))
    span = (whole["to"] - whole["from"]) / axes.unit_factor
    change, low, high = (span * whole[name] for name in ("mean", "q2.5", "q97.5"))
    name, between = capitalised(record.y_name), f"between {when(content, first, False)} and {when(content, last)}"
    if max(whole["p>0"], 1.0 - whole["p>0"]) < 0.95:
        by = with_range(change, low, high, record.y_unit)
        return [f"{name} shows no clear change from end to end {between}: {by}."]
    average = with_range(whole["mean"], whole["q2.5"], whole["q97.5"], axes.rate_unit)
    if change >= 0.0:
        return [f"{name} rose by {with_range(change, low, high, record.y_unit)} {between}, on average at {average}."]
    return [f"{name} fell by {with_range(-change, -high, -low, record.y_unit)} {between}, on average at {average}."]


def fastest(content: Content) -> list[str]:
    """Where, within the dated part, the rate is furthest from its average in standard deviations, if it clearly is."""
    if content.rate is None or not len(content.whole):
        return []
    table, axes, whole = content.rate, content.axes, content.whole.iloc[0]
    inside = table[table["at"].between(whole["from"], whole["to"])]
    if not len(inside):
        return []
    mean, low, high = shown_rate(inside, axes)
    if not ((low > 0.0) | (high < 0.0)).any():
        return ["At no single time is the rate clearly different from zero: its 95 % band always includes zero."]
    average = whole["mean"]
    away = (low > average) | (high < average)
    if not away.any():
        return ["At no time does the rate clearly differ from its average: the 95 % band always includes it."]
    peak = ((mean - average).abs() / inside["sd"])[away].idxmax()
    rate = with_range(mean[peak], low[peak], high[peak], axes.rate_unit)
    return [f"The rate stands out most around {when(content, inside['at'][peak])}: {rate}."]


def trend(content: Content) -> str:
    """The rate of the linear trend, and its prior; nothing without one."""
    if content.trend is None:
        return ""
    axes = content.axes
    mean, low, high = shown_rate(content.trend.set_index("term").loc["rate"], axes)
    forward = " forward in time" if axes.backwards else ""
    (term,) = (term for term in content.posterior.problem.kernel.trend if isinstance(term, Linear))
    prior = "its prior is flat"
    if np.isfinite(term.sd):
        known = axes.rate_factor * content.posterior.problem.rate_to_user(term.mean)
        prior = f"its prior was {with_sd(known, axes.unit_factor * term.sd)} {axes.rate_unit}".rstrip()
    return f"The linear trend{forward} is {with_range(mean, low, high, axes.rate_unit)}; {prior}."


def inputs(content: Content) -> list[str]:
    """How far the uncertain inputs moved and how much their standard deviations shrank."""
    posterior, record = content.posterior, content.posterior.record
    if posterior.as_measured:
        n = count(len(record), "input")
        return [f"The {n} were taken as measured: this method does not use their known order."]
    found = content.inputs[content.inputs["t_sd"] > 0.0]
    if not len(found):
        return ["All inputs are exact."]
    cause = "The order and the curve" if METHODS[content.facts["method"]].has_gap_prior else "The curve"
    shift = np.abs(posterior.input_means - record.t)[record.dated & ~record.exact]
    return [describe_shifts(cause, shift, content.axes.duration, float(found["kept"].median()))]


def describe_shifts(cause: str, shift: np.ndarray, unit: str, kept: float) -> str:
    """How far dates moved, and which part of their standard deviations is left."""
    by = f"{number(float(np.median(shift)), 2)} {unit}".rstrip()
    change = f"{'shrank' if kept < 1.0 else 'grew'} to {percent(kept)}"
    return (
        f"{cause} moved the dates by {by} (median; {number(float(shift.max()), 2)} at most), and their standard "
        f"deviations {change} of those reported (median)."
    )


def check(content: Content) -> list[str]:
    """What residuals and leave-one-out predictions say."""
    found, known = scatter(content.residuals["loo_pit"].to_numpy()), content.values
    n = found.n
    ranges = [
        f"{k} of {n} lie in the {percent(level)} range ({round(level * n)} expected)"
        for level, k in ((0.5, found.middle), (0.95, found.inside))
    ]
    each = f"{n:,} of the {known:,} values, evenly chosen, were each" if n < known else "Each value was"
    text = [f"{each} predicted from all the others: {join_words(ranges)}.", scatter_words(found)]
    far = int((content.residuals["scaled"].abs() > 3.0).sum())
    if far:
        lie = "lies" if far == 1 else "lie"
        text.append(f"{count(far, 'value')} {lie} more than 3 standard deviations from the curve.")
    return [*text, *_far_values(content)]


def _far_values(content: Content) -> list[str]:
    """The values that the others make next to impossible, with what to do; nothing without any."""
    table = content.residuals.iloc[far_from_predicted(content.residuals["loo_pit"].to_numpy())]
    if table.empty:
        return []
    record = content.posterior.record
    named = [
        f"{row_name(record, int(row), content.names)} ({number(y, 3)} {record.y_unit}".rstrip() + ")"
        for row, y in table["y"].iloc[:_NAMED].items()
    ]
    more = f" and {len(table) - _NAMED} more" if len(table) > _NAMED else ""
    return [
        f"The other values make {join_words(named)}{more} next to impossible: check for a typo, a lost sign or decimal "
        'point, or another unit; outliers="mixture" gives outliers less weight.'
    ]


def scatter_words(found: Scatter) -> str:
    """What the numbers of values inside their predicted ranges mean."""
    outside, expected = found.n - found.inside, found.n - round(0.95 * found.n)
    words = {
        "as expected": "The scatter agrees with the reported errors.",
        "less": "The values scatter less than their reported errors suggest. Either the errors are too large, and the "
        "band is wider than necessary; or neighbours share errors, and the level is less certain than the band shows.",
        "more": "The values scatter more than their reported errors suggest. The errors may be too small: estimate a "
        'factor for them with estimate="y_scale", or look for outliers.',
        "less, with outliers": f"Most values lie closer to the curve than their reported errors suggest, but {outside} "
        f"lie outside the 95 % range, where {expected} are expected. A few values may be outliers: fit with "
        'outliers="mixture", and check these values.',
        "evenly": f"Fewer values than expected lie in the middle of their ranges, but only {outside} outside the 95 % "
        f"range, where {expected} are expected: the errors do not look normally distributed.",
    }
    return words[found.verdict]
