"""Residuals of the measurements, and the leave-one-out prediction of each from all the others.

Given one draw of (tau, theta), f(tau_i) has posterior mean m and variance V. Taking row i away leaves a normal with

    1/V' = 1/V - 1/s²,    m' = V' (m/V - y_i/s²),

s² being the variance of y_i (Rasmussen & Williams 2006, section 5.4.2), so that y_i is predicted as N(m', V' + s²).
The draws were made with y_i; each is weighted with 1 / N(y_i; m', V' + s²) to remove its influence, and weights are
truncated at sqrt(S) times their mean (Ionides 2008).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import gammaln

from ..errors import MethodError
from ..methods.draws import Draws, affordable, evenly
from ..methods.prediction import curves
from ..model.parameters import Y_SCALE

if TYPE_CHECKING:
    import pandas as pd

    from .posterior import Posterior

Array = np.ndarray

Verdict = Literal["as expected", "less", "more", "less, with outliers", "evenly"]

#: A count that is this unlikely, or less likely, is not due to chance: as three standard deviations.
BY_CHANCE = 0.0027
#: How often a record may have a value by chance that is called far from what the others predict.
FAR_BY_CHANCE = 0.01
#: Draws that are used: at most, at least, and in between as many as keep draws times rows below the third number.
SCATTER_DRAWS = 400, 10, 200_000


@dataclass(frozen=True)
class Scatter:
    """How many of n values lie inside the ranges that were predicted for them with 50 and 95 % probability."""

    n: int
    middle: int  #: inside the 50 % range
    inside: int  #: inside the 95 % range

    @property
    def verdict(self) -> Verdict:
        """How the values scatter, compared with their errors. It never contradicts a number.

        Each count has a binomial distribution if the errors are right. A count that is off with a probability of less
        than ``BY_CHANCE`` is a finding. Values scatter "less" or "more" if a count says so and the other does not
        point the other way; if it does, they scatter "less, with outliers" (many near the middle, and others outside),
        or "evenly" (few in the middle and few outside).
        """
        expected = round(0.5 * self.n), round(0.95 * self.n)
        off = np.sign([self.middle - expected[0], self.inside - expected[1]])
        found = [_unlikely(k, self.n, p) for k, p in ((self.middle, 0.5), (self.inside, 0.95))]
        if not any(found):
            return "as expected"
        if off[0] * off[1] >= 0:
            return "less" if off.sum() > 0 else "more"
        return "less, with outliers" if off[0] > 0 else "evenly"


def scatter(loo_pit: Array) -> Scatter:
    """The scatter of values from their leave-one-out probabilities (N,), the column ``loo_pit`` of ``residuals``."""
    away = np.abs(loo_pit - 0.5)
    return Scatter(len(away), int((away <= 0.25).sum()), int((away <= 0.475).sum()))


def far_from_predicted(loo_pit: Array) -> Array:
    """The positions of values that all the others make next to impossible, the least likely first.

    If the model is right, one record in 1 / ``FAR_BY_CHANCE`` has such a value by chance.
    """
    outside = 2.0 * np.minimum(loo_pit, 1.0 - loo_pit)
    found = np.flatnonzero(outside * len(loo_pit) < FAR_BY_CHANCE)
    return found[np.argsort(outside[found], kind="stable")]


def _unlikely(k: int, n: int, p: float) -> bool:
    """Whether a count k of n with probability p would be as far off less often than ``BY_CHANCE``.

    Written out because importing ``scipy.stats``, which has this test, takes as long as a fit.
    """
    at = np.arange(n + 1)
    log_p = gammaln(n + 1) - gammaln(at + 1) - gammaln(n - at + 1) + at * math.log(p) + (n - at) * math.log1p(-p)
    return bool(n > 0 and np.exp(log_p[log_p <= log_p[k] + 1e-7]).sum() < BY_CHANCE)


def residuals(posterior: Posterior, rows: Array | None = None) -> pd.DataFrame:
    """Residuals of the rows (default: all) that have a measured value, not a limit, one line each.

    Columns: at (posterior mean of the input), y, fitted (mean of the curve at the row's own input), residual = y -
    fitted, scaled = residual / sd of y, and loo_pit (leave-one-out probability integral transform) = the probability
    that a value predicted from all other rows is below y: uniform over 0 to 1 if the model is right.
    """
    import pandas as pd

    record, problem = posterior.record, posterior.problem
    if record.places is not None:
        raise MethodError("residuals are those of one curve. In a field, compare y with posterior.curve(at, site=...).")
    rows = np.arange(len(record)) if rows is None else rows
    rows = rows[record.measured[rows] & (True if record.limit is None else record.limit[rows] == 0)]
    draws, layer = _some(posterior.draws, len(record)), problem.layer[rows]
    m, V, _, _ = curves(problem, draws, draws.tau[:, layer], sequence=problem.rows.sequence[layer])
    s_var = np.exp(2.0 * draws.phi[:, Y_SCALE, None]) * record.y_sd[rows] ** 2
    if draws.extra_var is not None:
        s_var += draws.extra_var[layer]
    if draws.factor is not None:
        s_var *= draws.factor[:, layer]
    y, fitted = record.y[rows], draws.weight @ m
    columns = {
        "at": posterior.input_means[rows],
        "y": y,
        "fitted": fitted,
        "residual": y - fitted,
        "scaled": (y - fitted) / np.sqrt(draws.weight @ s_var),
        "loo_pit": _loo_pit(y, m, V, s_var, draws.weight),
    }
    return pd.DataFrame(columns, index=pd.Index(rows, name="row"))


def _some(draws: Draws, n: int) -> Draws:
    some = draws.taken(evenly(len(draws.tau), affordable(n, *SCATTER_DRAWS)))
    return replace(some, tau=some.tau.astype(float))


def _loo_pit(y: Array, m: Array, V: Array, s_var: Array, weight: Array) -> Array:
    """P(value predicted without the row < y), shape (R,), from arrays (S, R)."""
    from scipy.special import ndtr

    # A row that alone knows the curve there leaves nothing behind: its precision may round to zero or below.
    precision = np.maximum(1.0 / V - 1.0 / s_var, 1e-12 / s_var)
    mean = (m / V - y / s_var) / precision
    var = 1.0 / precision + s_var
    u = (y - mean) / np.sqrt(var)
    log_ratio = 0.5 * (np.log(var) + u * u)
    ratio = np.exp(log_ratio - log_ratio.max(axis=0))
    ratio = np.minimum(ratio, math.sqrt(len(ratio)) * (weight @ ratio)) * weight[:, None]
    return (ratio * ndtr(u)).sum(axis=0) / ratio.sum(axis=0)
