"""Which claims of the paper about npv hold under which reading of it.

The paper leaves some choices open, or makes them in passing: "we choose V_i to be an isotropic covariance matrix" (one
variance a component) in a prior that is flat in the log-gaps, and predictions from one estimate of the inputs. Each
reading is one combination of covariance, prior and prediction; the paper's own is the first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from .functions import averages, by_function

if TYPE_CHECKING:
    import pandas as pd

SMALL_ERROR, LARGE_ERROR = 0.05, 1.0
#: Readings of npv by what distinguishes them, as names of ``functions.METHODS``.
READINGS = {
    ("isotropic", "log-uniform", "plug-in"): "npv",
    ("isotropic", "log-uniform", "mixture"): "npv mixture",
    ("isotropic", "uniform", "plug-in"): "npv, uniform",
    ("isotropic", "uniform", "mixture"): "npv mixture, uniform",
    ("diagonal", "log-uniform", "plug-in"): "npv, diagonal",
    ("diagonal", "log-uniform", "mixture"): "npv mixture, diagonal",
    ("diagonal", "uniform", "plug-in"): "npv, diagonal, uniform",
    ("diagonal", "uniform", "mixture"): "npv mixture, diagonal, uniform",
}


class Found(NamedTuple):
    """Whether a claim holds, and the number that says so."""

    holds: bool
    number: str


class Experiment(NamedTuple):
    """The results as the claims need them."""

    results: pd.DataFrame
    mean: pd.Series  #: average RMSE by y_sd and method
    small: pd.DataFrame  #: RMSE by function and method, at the small output error
    large: pd.DataFrame  #: the same at the large one


def on_par(of: Experiment, name: str) -> Found:
    """Within 10 % of mcmc."""
    ratio = of.mean[SMALL_ERROR, name] / of.mean[SMALL_ERROR, "mcmc"]
    return Found(bool(ratio <= 1.1), f"{of.mean[SMALL_ERROR, name]:.2f}")


def best_everywhere(of: Experiment, name: str) -> Found:
    """Better than gp and nigp on every function."""
    wins = int(((of.small[name] < of.small["gp"]) & (of.small[name] < of.small["nigp"])).sum())
    return Found(wins == len(of.small), f"{wins} of {len(of.small)}")


def inputs_nearer(of: Experiment, name: str) -> Found:
    """Inputs nearer to the truth than they were measured, at every input error of 0.5 and more."""
    part = of.results[
        (of.results["y_sd"] == SMALL_ERROR) & (of.results["method"] == name) & (of.results["t_sd"] >= 0.5)
    ]
    by_error = part.groupby("t_sd")[["mae", "baseline"]].mean()
    nearer = int((by_error["mae"] < by_error["baseline"]).sum())
    return Found(nearer == len(by_error), f"{nearer} of {len(by_error)}")


def advantage_shrinks(of: Experiment, name: str) -> Found:
    """The advantage over gp is smaller where the output error is large."""
    gain = [1.0 - of.mean[y_sd, name] / of.mean[y_sd, "gp"] for y_sd in (SMALL_ERROR, LARGE_ERROR)]
    return Found(bool(gain[1] < gain[0]), f"{gain[0]:.0%} to {gain[1]:.0%}")


def beats_gp_on_three(of: Experiment, name: str) -> Found:
    """At the large output error, clearly better than gp on at least three functions: by more than a twentieth."""
    wins = int((of.large[name] < 0.95 * of.large["gp"]).sum())
    return Found(wins >= 3, f"{wins} of {len(of.large)}")


def loses_the_last(of: Experiment, name: str) -> Found:
    """At the large output error, nigp is better on the last function."""
    last = of.large.iloc[-1]
    return Found(bool(last["nigp"] < last[name]), f"{last[name]:.2f}")


CLAIMS: dict[str, Callable[[Experiment, str], Found]] = {
    "small σ_y: on par with mcmc": on_par,
    "small σ_y: better than gp and nigp on every function": best_everywhere,
    "small σ_y: inputs nearer than measured": inputs_nearer,
    "advantage over gp shrinks with σ_y": advantage_shrinks,
    "large σ_y: clearly better than gp on three functions": beats_gp_on_three,
    "large σ_y: nigp better on the last function": loses_the_last,
}


def readings(results: pd.DataFrame) -> pd.DataFrame:
    """One row for each reading and claim: covariance, prior, prediction, claim, holds, number."""
    import pandas as pd

    cases = by_function(results)
    of = Experiment(results, averages(results)["rmse"], cases.loc[SMALL_ERROR], cases.loc[LARGE_ERROR])
    return pd.DataFrame(
        {"covariance": covariance, "prior": prior, "prediction": prediction, "claim": claim} | test(of, name)._asdict()
        for (covariance, prior, prediction), name in READINGS.items()
        for claim, test in CLAIMS.items()
    )
