"""All sites of a field at once: curves and rates, in little more than the time of one site."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...engine.quantiles import summed_up
from ...field.prediction import Place, curves
from . import chosen, problem_of

if TYPE_CHECKING:
    import pandas as pd

    from ..posterior import Posterior

Array = np.ndarray


def curves_and_rates(posterior: Posterior, at: Array) -> list[tuple[pd.DataFrame, pd.DataFrame]]:
    """The tables of ``curve_and_rate(at, site=...)`` of each site, in the order of ``places.names``."""
    problem, field, draws = posterior.problem, problem_of(posterior), posterior.thinned()
    everywhere = [Place(s) for s in range(len(field.places))]
    f, f_var, rate, rate_var = curves(field, chosen(draws), problem.to_internal(at), everywhere)
    beyond = posterior.extrapolated(at)
    found = []
    for s in range(len(everywhere)):
        curve = summed_up(at, f[:, s], f_var[:, s], draws.weight)
        slope = summed_up(at, problem.rate_to_user(rate[:, s]), rate_var[:, s], draws.weight)
        found.append((curve.assign(extrapolated=beyond), slope.assign(extrapolated=beyond)))
    return found
