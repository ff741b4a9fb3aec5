"""All sites of a field at once: curves, rates and joint draws, in little more than the time of one site."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...engine.quantiles import summed_up
from ...field.chain import Part
from ...field.prediction import Chosen
from ...field.sites import curves_of_sites, sample_sites
from ..intervals import checked, interval_ends, rates_between
from . import chosen, everything, problem_of

if TYPE_CHECKING:
    import pandas as pd

    from ..posterior import Posterior

Array = np.ndarray


def curves_and_rates(posterior: Posterior, at: Array) -> list[tuple[pd.DataFrame, pd.DataFrame]]:
    """The tables of ``curve_and_rate(at, site=...)`` of each site, in the order of ``places.names``."""
    problem, field, draws = posterior.problem, problem_of(posterior), posterior._thinned()
    f, f_var, rate, rate_var = curves_of_sites(field, chosen(draws), problem.to_internal(at))
    beyond = posterior.extrapolated(at)
    found = []
    for s in range(len(f)):
        curve = summed_up(at, f[s], f_var[s], draws.weight)
        slope = summed_up(at, problem.rate_to_user(rate[s]), rate_var[s], draws.weight)
        found.append((curve.assign(extrapolated=beyond), slope.assign(extrapolated=beyond)))
    return found


def interval_rates_of_sites(
    posterior: Posterior, intervals: Sequence[tuple[float, float]], draws: int, seed: int = 0, *, scale: float = 1.0
) -> pd.DataFrame:
    """The tables of ``lamina.interval_rates`` of all sites, one below the other, with a column for the site.

    Draws are joint: rates of two sites can be compared draw by draw.
    """
    import pandas as pd

    pairs = checked(intervals)
    levels = sampled_levels(posterior, interval_ends(pairs), draws, seed, [everything(posterior)])[:, :, 0]
    found = []
    for s, name in enumerate(problem_of(posterior).places.names):
        table = rates_between(pairs, levels[:, s], scale)
        table.insert(0, "site", name)
        found.append(table)
    return pd.concat(found, ignore_index=True)


def sampled_levels(posterior: Posterior, at: Array, n: int, seed: int, parts: Sequence[Part]) -> Array:
    """n joint draws of the level of some parts at all sites, (n, sites, parts, M)."""
    draws, rng = posterior.draws, np.random.default_rng(seed)
    again = n > len(draws.tau) or np.ptp(draws.weight) > 0.0
    which = rng.choice(len(draws.tau), size=n, p=draws.weight, replace=again)
    some = Chosen(draws.tau[which], draws.phi[which], draws.extra_var)
    return sample_sites(problem_of(posterior), some, posterior.problem.to_internal(at), list(parts), seed)
