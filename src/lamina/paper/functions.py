"""The paper's first experiment: five functions whose 25 inputs are measured with errors.

It measures the errors of the curve and of the inputs, and how often 90 % bands contain the truth, for each method. The
paper's inputs are equally spaced, which suits some priors of the gaps better than others; other spacings can be named.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import MethodError
from ..fitting import NotConverged, fit
from ..methods.registry import METHODS as KNOWN
from ..posterior.posterior import Posterior
from ..record import Record
from ..support.checks import check_whole
from .trials import Progress, Rows, Trial, run_trials

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray

#: The five functions of the paper.
FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "5 sin x": lambda x: 5.0 * np.sin(x),
    "1.147 exp(-0.2 x) sin x": lambda x: 1.147 * np.exp(-0.2 * x) * np.sin(x),
    "0.97 tan(0.15 x) sin x": lambda x: 0.97 * np.tan(0.15 * x) * np.sin(x),
    "0.055 x² tanh(cos x)": lambda x: 0.055 * x**2 * np.tanh(np.cos(x)),
    "1.76 log(x² (sin 2x + 1) + 1)": lambda x: 1.76 * np.log(x**2 * (np.sin(2.0 * x) + 1.0) + 1.0),
}
T_SD = (0.2, 0.5, 1.0, 2.0, 3.0)
Y_SD = (0.05, 1.0)
ROWS = 25
GRID = np.linspace(-10.0, 10.0, 201)

#: npv as the paper has it: one variance a component, and prediction from one estimate of the inputs.
PAPER_NPV: dict[str, Any] = {"method": "npv", "prediction": "plugin", "covariance": "isotropic"}
_DIAGONAL: dict[str, Any] = {**PAPER_NPV, "covariance": "diagonal"}
_MIXTURE: dict[str, Any] = {"method": "npv", "prediction": "mixture"}
#: The settings that are compared: the paper's four methods (npv and mcmc with the priors of the paper), npv with other
#: priors, with a diagonal covariance and averaged over Q, and lamina's default.
METHODS: dict[str, dict[str, Any]] = {
    "npv": {**PAPER_NPV, "gaps": "log-uniform"},
    "mcmc": {"method": "mcmc", "gaps": "uniform"},
    "nigp": {"method": "nigp"},
    "gp": {"method": "gp"},
    "npv, uniform": {**PAPER_NPV, "gaps": "uniform"},
    "npv, gamma": {**PAPER_NPV, "gaps": "gamma"},
    "npv, diagonal": {**_DIAGONAL, "gaps": "log-uniform"},
    "npv, diagonal, uniform": {**_DIAGONAL, "gaps": "uniform"},
    "npv mixture": {**_MIXTURE, "covariance": "isotropic", "gaps": "log-uniform"},
    "npv mixture, uniform": {**_MIXTURE, "covariance": "isotropic", "gaps": "uniform"},
    "npv mixture, diagonal": {**_MIXTURE, "covariance": "diagonal", "gaps": "log-uniform"},
    "npv mixture, diagonal, uniform": {**_MIXTURE, "covariance": "diagonal", "gaps": "uniform"},
    "npv mixture, diagonal, gamma": {**_MIXTURE, "covariance": "diagonal", "gaps": "gamma"},
    "lamina": {"method": "mcmc", "gaps": "gamma"},
}


def _equal(rng: np.random.Generator) -> Array:
    return np.linspace(-10.0, 10.0, ROWS)


def _irregular(rng: np.random.Generator) -> Array:
    """Gaps that differ as if the points had fallen at random."""
    return _between_ends(rng.standard_exponential(ROWS - 1))


def _clustered(rng: np.random.Generator) -> Array:
    """Five groups of five: gaps between groups are ten times those within, on average, and all differ."""
    usual = np.where(np.arange(1, ROWS) % 5 == 0, 10.0, 1.0)
    return _between_ends(usual * rng.gamma(2.0, 0.5, ROWS - 1))


def _between_ends(gap: Array) -> Array:
    along = np.concatenate([[0.0], np.cumsum(gap)])
    return -10.0 + 20.0 * along / along[-1]


#: How the true inputs are spaced; the paper's are equally spaced.
SPACINGS: dict[str, Callable[[np.random.Generator], Array]] = {
    "equal": _equal,
    "irregular": _irregular,
    "clustered": _clustered,
}


def synthetic(
    functions: Sequence[str] = tuple(FUNCTIONS),
    methods: Sequence[str] = tuple(METHODS),
    t_sd: Sequence[float] = T_SD,
    y_sd: Sequence[float] = Y_SD,
    repetitions: int = 5,
    seed: int = 0,
    spacings: Sequence[str] = ("equal",),
    cores: int | None = None,
    store: Path | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """One row for each record and method.

    Columns: spacing, y_sd, function, t_sd, repetition, method; rmse of the curve on [-10, 10]; mae of the inputs and
    baseline, that of the measured ones; curve_cover and input_cover, the part of the truth inside 90 % bands; span of
    the estimated inputs (20 is true); seconds and converged.
    spacings: of the true inputs: "equal" as in the paper, "irregular" or "clustered".
    cores: CPUs to use, all by default. store: a file that keeps results, so that the next call continues.

    Raises MethodError for a function, method or spacing that is not in ``FUNCTIONS``, ``METHODS`` or ``SPACINGS``.
    """
    import pandas as pd

    every = ("function", functions, FUNCTIONS), ("method", methods, METHODS), ("spacing", spacings, SPACINGS)
    for kind, asked, known in every:
        unknown = [name for name in asked if name not in known]
        if unknown:
            raise MethodError(f"there is no {kind} {unknown[0]!r} in this experiment; there are: {'; '.join(known)}.")
    check_whole("seed", seed, 0)
    check_whole("repetitions", repetitions, 1)
    trials: list[Trial] = [
        (seed, spacing, output, function, error, repetition, method)
        for spacing in spacings
        for output in y_sd
        for function in functions
        for error in t_sd
        for repetition in range(repetitions)
        for method in methods
    ]
    return pd.DataFrame(run_trials(trials, _run, store, cores, progress))


def simulate(
    function: str, t_sd: float, y_sd: float, seed: Sequence[int], spacing: str = "equal"
) -> tuple[Array, Record]:
    """True inputs in [-10, 10], both ends included, and a record measured from them."""
    settings = [list(FUNCTIONS).index(function), round(1000 * t_sd), round(1000 * y_sd)]
    rng = np.random.default_rng([*seed, *settings, *([] if spacing == "equal" else [list(SPACINGS).index(spacing)])])
    x = SPACINGS[spacing](rng)
    t = x + t_sd * rng.standard_normal(ROWS)
    y = FUNCTIONS[function](x) + y_sd * rng.standard_normal(ROWS)
    return x, Record(t=t, t_sd=t_sd, y=y, y_sd=y_sd)


def _run(trial: Trial) -> Rows:
    seed, spacing, y_sd, function, t_sd, repetition, method = trial
    x, record = simulate(str(function), float(t_sd), float(y_sd), (int(seed), int(repetition)), str(spacing))
    options = METHODS[str(method)]
    one_cpu: dict[str, Any] = {"cores": 1} if "cores" in KNOWN[options["method"]].options else {}
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        posterior = fit(record, seed=int(repetition), **options, **one_cpu)
    took = time.perf_counter() - began
    key = {
        "spacing": spacing,
        "y_sd": y_sd,
        "function": function,
        "t_sd": t_sd,
        "repetition": repetition,
        "method": method,
    }
    state = {"seconds": took, "converged": bool(posterior.diagnostics["converged"])}
    return [key | _score(posterior, x, FUNCTIONS[str(function)](GRID)) | state]


def _score(posterior: Posterior, x: Array, truth: Array) -> dict[str, float]:
    curve, inputs = posterior.curve(GRID), posterior.inputs()
    return {
        "rmse": float(np.sqrt(np.mean((curve["mean"] - truth) ** 2))),
        "mae": float(np.abs(inputs["mean"] - x).mean()),
        "baseline": float(np.abs(inputs["t"] - x).mean()),
        "curve_cover": float(np.mean((curve["q5"] <= truth) & (truth <= curve["q95"]))),
        "input_cover": float(np.mean((inputs["q5"] <= x) & (x <= inputs["q95"]))),
        "span": float(inputs["mean"].iloc[-1] - inputs["mean"].iloc[0]),
    }


def averages(results: pd.DataFrame) -> pd.DataFrame:
    """Means over functions, input errors and repetitions, by y_sd and method."""
    columns = ["rmse", "mae", "baseline", "curve_cover", "input_cover", "seconds", "converged"]
    return results.groupby(["y_sd", "method"], sort=False)[columns].mean()


def by_function(results: pd.DataFrame, value: str = "rmse") -> pd.DataFrame:
    """Means over input errors and repetitions: a row for each y_sd and function, a column for each method."""
    return results.pivot_table(index=["y_sd", "function"], columns="method", values=value, sort=False)
