"""What a field cannot distinguish: the trend of the common curve, and the mean of the rates of the sites.

The curve of a site is always identified. How its long trend is divided between what is common and the rates of the
sites is decided by the prior of the common curve's length: a curve that is short compared with the record has no trend.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ...engine.quantiles import LEVELS, QUANTILES
from ...errors import MethodError
from ...field.prediction import Place, parts_of
from ...support.checks import argument
from ...support.numbers import number
from ..intervals import checked
from . import NO_COMMON, is_outside, problem_of, samples

if TYPE_CHECKING:
    import pandas as pd

    from ..posterior import Posterior

Array = np.ndarray
Period = tuple[float, float]

#: Draws of the field, and times of each, from which trends are computed.
DRAWS, TIMES = 200, 40
#: Times of each period whose mean is computed.
TIMES_A_PERIOD = 21
#: Above this correlation, in size, trends are called hard to distinguish, and above the second one impossible.
HARD, IMPOSSIBLE = 0.7, 0.95


def trend_correlation(posterior: Posterior, draws: int = DRAWS, seed: int = 0) -> float:
    """The posterior correlation of two trends: that of the common curve, and the mean of the rates of all sites.

    The former is the least-squares line through the curve over the times of the data. NaN where the kernel has no
    common curve or no rates, or where the draws do not vary.
    """
    field = problem_of(posterior)
    parts = parts_of(field.field.kernel)
    if "common" not in parts or "linear" not in parts:
        return float("nan")
    centre = posterior.input_means
    at = np.linspace(centre.min(), centre.max(), TIMES)
    places = [Place(s) for s in range(len(field.places))]
    drawn = samples(posterior, at, places, draws, seed, [parts["common"], parts["linear"]])
    off = at - at.mean()
    common = drawn[:, 0, 0, 0] @ off / (off @ off)
    rates = drawn[:, :, 1, 1, 0].mean(axis=1)
    if min(np.ptp(common), np.ptp(rates)) <= 0.0:
        return float("nan")
    return float(np.corrcoef(common, rates)[0, 1])


def explain_trends(posterior: Posterior) -> str:
    """What cannot be distinguished, in plain words."""
    found = posterior.trend_correlation
    if np.isnan(found):
        return "The field has no common curve or no rates of sites: there is nothing to distinguish."
    size = f"Their posterior correlation is {number(found, 2)}."
    if found > -HARD:
        return f"The trend of the common curve and the mean rate of the sites can be distinguished. {size}"
    if found > -IMPOSSIBLE:
        return (
            "The trend of the common curve and the mean rate of the sites are hard to distinguish: a faster common "
            "rise with slower rates of the sites would fit nearly as well. "
            f"{size} Curves and rates at sites are not affected."
        )
    return (
        "The trend of the common curve cannot be distinguished from the mean rate of the sites: only the prior divides "
        f"them. {size} Curves and rates at sites are not affected. Look at the common curve as departures from a "
        "straight line, or set two periods in which it has equal means (equal_means)."
    )


def common_with_equal_means(
    posterior: Posterior, at: ArrayLike, rate: bool, periods: tuple[Period, Period], draws: int = 1000, seed: int = 0
) -> pd.DataFrame:
    """The common curve, or its rate, less the straight line that makes its means over two periods equal, draw by draw.

    What is subtracted belongs to the rates of the sites, so that their curves are as before.
    """
    import pandas as pd

    if len(periods) != 2:
        raise MethodError(f"equal_means takes two periods such as ((-100, 100), (1600, 1800)), got {periods!r}.")
    times, parts = argument("at", at), parts_of(problem_of(posterior).field.kernel)
    if "common" not in parts:
        raise MethodError(NO_COMMON)
    inside = [np.linspace(a, b, TIMES_A_PERIOD) for a, b in checked(periods)]
    everything = np.concatenate([times, *inside])
    drawn = samples(posterior, everything, [Place()], draws, seed, [parts["common"]])[:, 0, 0]
    level = [part.mean(axis=1) for part in np.split(drawn[:, 0, len(times) :], 2, axis=1)]
    slope = (level[1] - level[0]) / (inside[1].mean() - inside[0].mean())
    values = drawn[:, 1, : len(times)] - slope[:, None] if rate else (
        drawn[:, 0, : len(times)] - slope[:, None] * (times - inside[1].mean())
    )  # fmt: skip
    columns = {"at": times, "mean": values.mean(axis=0), "sd": values.std(axis=0)}
    columns |= dict(zip(QUANTILES, np.quantile(values, LEVELS, axis=0), strict=True))
    beyond = posterior.extrapolated(times) | is_outside(posterior, Place())
    return pd.DataFrame(columns | {"extrapolated": beyond})
