"""The paper's application: relative sea level at Nassau Landing, northeastern Florida.

65 rows of a core with uncertain ages, 12 decades of a tide gauge with exact years; four methods, and lamina's default.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import datasets
from ..errors import MethodError
from ..fitting import NotConverged, fit
from ..posterior.comparison import differences
from ..posterior.intervals import interval_rates
from ..posterior.posterior import Posterior
from .functions import METHODS
from .trials import Progress

if TYPE_CHECKING:
    import pandas as pd

#: The paper's four methods, npv with the prior that mcmc has there, and lamina's default.
COMPARED = ("npv", "mcmc", "nigp", "gp", "npv mixture, uniform", "lamina")
#: The years at which predictions are compared: the paper's range.
YEARS = np.arange(-700.0, 2011.0, 10.0)
#: Table 1 of the paper: (a) mean absolute difference, in a unit it does not name, (b) symmetrised KL divergence.
PAPER_TABLE = {
    ("npv", "mcmc"): (1.23, 0.71),
    ("npv", "nigp"): (3.49, 3.2),
    ("npv", "gp"): (3.42, 3.02),
    ("mcmc", "nigp"): (2.80, 0.98),
    ("mcmc", "gp"): (2.73, 0.88),
    ("nigp", "gp"): (0.069, 0.003),
}
#: The mean rate over these years is computed for each method, from joint draws of the curve.
INTERVAL = (1900.0, 2000.0)


@dataclass(frozen=True)
class SeaLevel:
    """The results of ``sealevel``. Levels in metres, rates in millimetres a year, years CE."""

    posteriors: dict[str, Posterior]
    curve: pd.DataFrame  #: method, at, mean, sd and quantiles
    rate: pd.DataFrame  #: the same for the rate
    inputs: pd.DataFrame  #: method, row, and the columns of ``Posterior.inputs``
    pairs: pd.DataFrame  #: first, second, difference (mm), divergence, and the paper's
    interval: pd.DataFrame  #: method; the rate over INTERVAL; the probability of a rise; converged


def sealevel(methods: Sequence[str] = COMPARED, seed: int = 0, progress: Progress | None = None) -> SeaLevel:
    """Fit the record with each method and compare the predictions.

    Raises MethodError for a method that is not in ``lamina.paper.functions.METHODS``.
    """
    import pandas as pd

    unknown = [name for name in methods if name not in METHODS]
    if unknown:
        raise MethodError(f"there is no method {unknown[0]!r} in this experiment; there are: {'; '.join(METHODS)}.")
    record, posteriors = datasets.load("nassau"), {}
    for k, name in enumerate(methods):
        if progress is not None:
            progress(k, len(methods))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)
            posteriors[name] = fit(record, seed=seed, **METHODS[name])
    if progress is not None:
        progress(len(methods), len(methods))
    curves = {name: posterior.curve(YEARS) for name, posterior in posteriors.items()}
    rates = {name: _in_mm(posterior.rate(YEARS)) for name, posterior in posteriors.items()}
    inputs = {
        name: posterior.inputs().rename_axis("row").reset_index()
        for name, posterior in posteriors.items()
        if not posterior.as_measured
    }
    return SeaLevel(
        posteriors=posteriors,
        curve=_stacked(curves),
        rate=_stacked(rates),
        inputs=_stacked(inputs) if inputs else pd.DataFrame(),
        pairs=_pairs(curves),
        interval=pd.DataFrame([{"method": name, **_interval(one, seed)} for name, one in posteriors.items()]),
    )


def _stacked(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    return pd.concat(tables, names=["method"]).reset_index(level=0).reset_index(drop=True)


def _in_mm(rate: pd.DataFrame) -> pd.DataFrame:
    return rate.assign(**{name: 1000.0 * rate[name] for name in rate.columns if name != "at"})


def _pairs(curves: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Differences in millimetres, and the paper's where it has them."""
    found = differences(curves)
    paper = [PAPER_TABLE.get((a, b), (float("nan"),) * 2) for a, b in zip(found["first"], found["second"], strict=True)]
    return found.assign(
        difference=1000.0 * found["difference"],
        paper_difference=[difference for difference, _ in paper],
        paper_divergence=[divergence for _, divergence in paper],
    )


def _interval(posterior: Posterior, seed: int) -> dict[str, Any]:
    rate = interval_rates(posterior, [INTERVAL], seed=seed, scale=1000.0).iloc[0]
    found = {name: float(rate[name]) for name in ("mean", "sd", "q5", "q95")}
    return {**found, "positive": float(rate["p>0"]), "converged": bool(posterior.diagnostics["converged"])}
