"""The true inputs: their means, standard deviations and quantiles, row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from ..dates import Uniform
from ..engine.quantiles import LEVELS, QUANTILES, weighted_quantiles
from ..methods.draws import evenly
from ..model.problem import Problem
from ..model.tails import as_fitted
from ..record import Record

if TYPE_CHECKING:
    import pandas as pd

    from .posterior import Posterior

Array = np.ndarray

#: The number of rows that are summarised at once, to save memory in very long records.
ROWS_AT_ONCE = 1000
#: Chances of outliers are averaged over evenly spaced draws: at least, and so that dates times draws stay below.
FEWEST_DRAWS_PER_DATE, DATES_TIMES_DRAWS = 50, 5_000_000


def ranges(problem: Problem) -> Array:
    """The smallest and the largest possible input of each layer, shape (2, L), on the user's time scale.

    Both are the input itself where that is exact, and infinite where any time is possible.
    """
    record = problem.record
    found = np.where(record.exact, record.t, np.array([[-np.inf], [np.inf]]))
    for k, date in enumerate(record.dates or ()):
        if isinstance(date, Uniform):
            found[:, k] = date.first, date.last
        elif date is not None and (table := date.table()).bounded:
            found[:, k] = table.start, table.start + table.step * (table.log_density.size - 1)
    return found


def draws_of(posterior: Posterior, rows: Array | slice) -> Array:
    """Draws of the inputs of some rows, shape (S, rows): without rounding where the input is exact."""
    layer = posterior.problem.layer[rows]
    return _within(posterior, layer, posterior.problem.to_user(posterior.draws.tau[:, layer].astype(float)))


def moments(posterior: Posterior, rows: Array) -> tuple[Array, Array, Array]:
    """Draws of the inputs of some rows, shape (S, len(rows)), their means and their standard deviations.

    A sampler may have accumulated the mean and sd of more draws than it kept. They are then used, and the draws that
    were kept are shifted and scaled to match them. A method that takes the inputs as measured has the sd of the dates.
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
    if posterior.as_measured:
        sd = problem.record.t_sd[layer]
    sd = np.where(problem.record.exact[layer], 0.0, sd)
    tau, mean = (_within(posterior, layer, problem.to_user(times)) for times in (tau, mean))
    return tau, mean, sd


def means(posterior: Posterior) -> Array:
    """The mean of each input, shape (N,)."""
    problem, draws = posterior.problem, posterior.draws
    if draws.moments is None:
        firsts = range(0, draws.tau.shape[1], ROWS_AT_ONCE)
        mean = np.concatenate([draws.weight @ draws.tau[:, first : first + ROWS_AT_ONCE] for first in firsts])
    else:
        mean = draws.moments[0]
    return _within(posterior, np.arange(len(mean)), problem.to_user(mean))[problem.layer]


def date_outliers(posterior: Posterior) -> Array:
    """The probability that the date of each row is an outlier, shape (N,); NaN for dates without tails.

    The mean of ``Date.outlier_probability`` over draws of the true input.
    """
    record = as_fitted(posterior.record, posterior.model.t_errors)
    found, dates = np.full(len(record), np.nan), record.dates or ()
    rows = [row for row, date in enumerate(dates) if date is not None and not posterior.as_measured]
    draws = posterior.draws
    some = evenly(len(draws.tau), max(FEWEST_DRAWS_PER_DATE, DATES_TIMES_DRAWS // max(len(rows), 1)))
    weight = draws.weight[some] / draws.weight[some].sum()
    for first in range(0, len(rows), ROWS_AT_ONCE):
        part = np.array(rows[first : first + ROWS_AT_ONCE])
        tau = draws_of(posterior, part)[some]
        for k, row in enumerate(part):
            probability = dates[row].outlier_probability(tau[:, k])
            found[row] = np.nan if probability is None else weight @ probability
    return found


def table(posterior: Posterior) -> pd.DataFrame:
    """One row per measurement: t, t_sd, then mean, sd and quantiles of the true input, and the chance of an outlier."""
    import pandas as pd

    record = posterior.record
    found = np.empty((len(record), 2 + len(LEVELS)))
    for first in range(0, len(found), ROWS_AT_ONCE):
        rows = np.arange(first, min(first + ROWS_AT_ONCE, len(found)))
        tau, found[rows, 0], found[rows, 1] = moments(posterior, rows)
        found[rows, 2:] = weighted_quantiles(tau, posterior.draws.weight).T
    if posterior.as_measured:
        found[:, 2:] = _quantiles_of_dates(posterior.problem.record)[posterior.problem.layer]
    columns = {"t": record.t, "t_sd": record.t_sd}
    columns.update(zip(("mean", "sd", *QUANTILES), found.T, strict=True))
    outliers = date_outliers(posterior)
    if np.isfinite(outliers).any():
        columns["date_outlier"] = outliers
    if record.places is not None:
        columns = {"site": np.array(record.places.names, dtype=object)[record.places.index]} | columns
    return pd.DataFrame(columns)


def _quantiles_of_dates(record: Record) -> Array:
    """The quantiles of each date, shape (N, len(LEVELS))."""
    found = record.t[:, None] + record.t_sd[:, None] * ndtri(LEVELS)
    for k, date in enumerate(record.dates or ()):
        if date is not None:
            found[k] = date.quantile(LEVELS)
    return found


def _within(posterior: Posterior, layer: Array, times: Array) -> Array:
    """Times (..., len(layer)) of layers, moved into their ranges, which rounding or scaling may have left."""
    low, high = posterior.input_ranges[:, layer]
    return np.clip(times, low, high) if (np.isfinite(low) | np.isfinite(high)).any() else times
