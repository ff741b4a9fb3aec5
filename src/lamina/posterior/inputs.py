"""The true inputs: their means, standard deviations and quantiles, row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from ..engine.quantiles import LEVELS, QUANTILES, weighted_quantiles

if TYPE_CHECKING:
    import pandas as pd

    from .posterior import Posterior

Array = np.ndarray

#: The number of rows that are summarised at once, to save memory in very long records.
ROWS_AT_ONCE = 1000


def moments(posterior: Posterior, rows: Array) -> tuple[Array, Array, Array]:
    """Draws of the inputs of some rows, shape (S, len(rows)), their means and their standard deviations.

    A sampler may have accumulated the mean and sd of more draws than it kept. They are then used, and the draws that
    were kept are shifted and scaled to match them.
    """
    problem, draws = posterior.problem, posterior.draws
    layer = problem.layer[rows]
    tau = draws.tau[:, layer].astype(float)
    mean = draws.weight @ tau
    sd = np.sqrt(draws.weight @ (tau - mean) ** 2)
    if draws.moments is not None:
        all_mean, all_sd = draws.moments[:, layer]
        tau = all_mean + np.divide(all_sd, sd, out=np.ones_like(sd), where=sd > 0.0) * (tau - mean)
        mean, sd = all_mean, all_sd
    return problem.to_user(tau), problem.to_user(mean), sd


def means(posterior: Posterior) -> Array:
    """The mean of each input, shape (N,)."""
    problem, draws = posterior.problem, posterior.draws
    if draws.moments is None:
        firsts = range(0, draws.tau.shape[1], ROWS_AT_ONCE)
        mean = np.concatenate([draws.weight @ draws.tau[:, first : first + ROWS_AT_ONCE] for first in firsts])
    else:
        mean = draws.moments[0]
    return problem.to_user(mean)[problem.layer]


def table(posterior: Posterior) -> pd.DataFrame:
    """One row per measurement: t, t_sd, then mean, sd and quantiles of the true input."""
    import pandas as pd

    record = posterior.record
    found = np.empty((len(record), 2 + len(LEVELS)))
    for first in range(0, len(found), ROWS_AT_ONCE):
        rows = np.arange(first, min(first + ROWS_AT_ONCE, len(found)))
        tau, found[rows, 0], found[rows, 1] = moments(posterior, rows)
        found[rows, 2:] = weighted_quantiles(tau, posterior.draws.weight).T
    if posterior.as_measured:
        found[:, 1] = record.t_sd
        found[:, 2:] = found[:, :1] + record.t_sd[:, None] * ndtri(LEVELS)
    exact = record.exact
    found[exact], found[exact, 1] = record.t[exact, None], 0.0  # without rounding
    columns = {"t": record.t, "t_sd": record.t_sd}
    columns.update(zip(("mean", "sd", *QUANTILES), found.T, strict=True))
    return pd.DataFrame(columns)
