"""The default times of figures and tables of the curve, and which times lie beyond the data."""

from __future__ import annotations

import math
from datetime import date
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..support.calendars import BACKWARDS, runs, without_calendar, words
from ..support.checks import check_whole

if TYPE_CHECKING:
    from .posterior import Posterior

Array = np.ndarray

#: Figures show times beyond the data that the user asks for, up to this part of the span on each side.
MOST_BEYOND = 0.25
#: The year that each calendar counts from, and the years in its units.
_ZERO = {"bp": 1950.0, "b2k": 2000.0}
_YEARS = {
    **dict.fromkeys(("", "a", "y", "yr", "yrs", "year", "years"), 1.0),
    **dict.fromkeys(("ka", "kyr", "kyrs"), 1e3),
    **dict.fromkeys(("ma", "myr", "myrs"), 1e6),
}
#: Fewer times cannot show a curve.
FEWEST_TIMES = 10
#: The usual number of times, the number per length of the kernel (rounding the step may leave four of ten), and the
#: largest number.
USUAL_TIMES, PER_LENGTH, MOST_TIMES = 400, 10, 4000


def data_range(posterior: Posterior) -> tuple[float, float]:
    """The times that the data reach: from the first to the last corrected date, and its standard deviation beyond.

    On calendars (CE, BP, b2k) it ends at the year of measurement: at the youngest date if that is exact, as the top of
    a core is, and at the present year in any case. If all inputs are at one time, it is as wide as their errors.
    """
    centre = posterior.input_means
    ends = np.array([np.argmin(centre), np.argmax(centre)])
    _, mean, sd = posterior.input_moments(ends)
    low, high = _until_measured(posterior, float(mean[0] - sd[0]), float(mean[1] + sd[1]))
    if high > low:
        return low, high
    margin = 2.0 * float(posterior.problem.scale.max()) or 1.0
    return low - margin, high + margin


def extrapolated(posterior: Posterior, times: Array) -> Array:
    """Which times (M,) lie beyond ``data_range``, rounding aside."""
    low, high = data_range(posterior)
    rounding = 1e-9 * max(abs(low), abs(high), high - low)
    return (times < low - rounding) | (times > high + rounding)


def default_times(posterior: Posterior, n: int | None = None, shown: ArrayLike | None = None) -> Array:
    """Evenly spaced round times, increasing, within ``data_range``, and its two ends; at most n of them.

    The step is 1, 2 or 5 times a power of ten, so there are between about a third of n and n times. The ends are
    rounded inwards to a tenth of it. By default n is 400, and up to 4,000 for a curve that is long compared with the
    lengths of its kernel.

    shown: other times that a figure should show. The times reach these too, up to a quarter of the range on each side.
    """
    low, high = data_range(posterior)
    if shown is not None and np.size(shown):
        beyond = MOST_BEYOND * (high - low)
        low, high = min(low, max(np.min(shown), low - beyond)), max(high, min(np.max(shown), high + beyond))
    n = enough(posterior, high - low, USUAL_TIMES) if n is None else n
    check_whole("n", n, FEWEST_TIMES)
    step, decimals = _round_step((high - low) / (n - 3))
    tenth, decimals = step / 10.0, decimals + 1
    first, last = _next_whole(low / tenth), -_next_whole(-high / tenth)
    round_times = np.arange(-(-first // 10), last // 10 + 1) * 10
    return np.round(tenth * np.unique([first, *round_times, last]), decimals)


def enough(posterior: Posterior, span: float, least: int) -> int:
    """The number of times that show the curve over a span: ``least``, or up to ``MOST_TIMES`` if it changes fast."""
    return int(min(max(least, PER_LENGTH * span / _shortest_length(posterior)), max(MOST_TIMES, least)))


def too_coarse(posterior: Posterior, times: Array) -> str:
    """A warning if the curve changes faster than these times can show; empty if it does not."""
    step, length = float(np.diff(times).max(initial=0.0)), _shortest_length(posterior)
    if step <= length:
        return ""
    unit = f" {posterior.record.t_unit}" if posterior.record.t_unit else ""
    return (
        f"the times of the curve and its rate are {step:g}{unit} apart, but they change within {length:.3g}: apparent "
        "cycles may be aliasing. Choose a part of the record with --at (at=...)."
    )


def _until_measured(posterior: Posterior, low: float, high: float) -> tuple[float, float]:
    """The range without what is younger than the measurement itself."""
    record = posterior.record
    present = _present(record.t_unit)
    if present is None:
        return low, high
    younger = -1.0 if runs(record.t_unit) == "backwards" else 1.0
    reported, limit = np.where(record.dated, younger * record.t, -np.inf), younger * present
    youngest = int(np.argmax(reported))
    if record.exact[youngest]:
        limit = min(limit, max(reported[youngest], float((younger * posterior.input_means).max())))
    limit = younger * max(limit, reported[youngest])  # reported dates are never cut off
    return (low, min(high, limit)) if younger > 0.0 else (max(low, limit), high)


def _present(unit: str) -> float | None:
    """This year in a unit of time such as "CE" or "cal ka BP"; None where the unit does not say."""
    years = _YEARS.get(" ".join(without_calendar(unit)).lower())
    named = [word.lower() for word in words(unit)]
    if years is None or runs(unit) is None or "ago" in named:
        return None
    year = float(_this_year())
    zero = next((_ZERO[word] for word in named if word in BACKWARDS), None)
    return year / years if zero is None else (zero - year) / years


def _this_year() -> int:
    return date.today().year


def _shortest_length(posterior: Posterior) -> float:
    """The shortest length or period of all kernels, averaged over the draws."""
    theta = posterior.theta
    names = [name for name in theta if is_length(name) or name.startswith("period")]
    return float(min((posterior.draws.weight @ theta[name] for name in names), default=math.inf))


def is_length(name: str) -> bool:
    """Whether a parameter of this name is a length in time; those in space are ``length_km``."""
    return name.startswith("length") and not name.startswith("length_km")


def _next_whole(x: float) -> int:
    """The smallest whole number of at least x, which may be above it by rounding."""
    return math.ceil(x - 1e-9 - 1e-15 * abs(x))


def _round_step(least: float) -> tuple[float, int]:
    """The smallest number of at least ``least`` that is 1, 2 or 5 times a power of ten, and its decimals."""
    power = math.floor(math.log10(least))
    for factor in (1.0, 2.0, 5.0):
        if factor * 10.0**power >= least:
            return factor * 10.0**power, max(-power, 0)
    return 10.0 ** (power + 1), max(-power - 1, 0)
