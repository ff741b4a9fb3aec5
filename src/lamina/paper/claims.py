"""The claims of the paper, each with what the experiments found."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .functions import averages, by_function
from .nassau import PAPER_TABLE, SeaLevel
from .readings import LARGE_ERROR, SMALL_ERROR

if TYPE_CHECKING:
    import pandas as pd


class Claim(NamedTuple):
    """A claim of the paper, the measured numbers, and whether it holds."""

    claim: str
    measured: str
    holds: bool


def of_synthetic(results: pd.DataFrame) -> list[Claim]:
    """Claims about the five functions."""
    mean, cases, known = averages(results)["rmse"], by_function(results), set(results["y_sd"])
    found = []
    if SMALL_ERROR in known:
        found += _small_error(mean, cases.loc[SMALL_ERROR])
        found += [_inputs(results, name) for name in ("npv", "mcmc")]
    return [*found, *_large_error(mean, cases.loc[LARGE_ERROR])] if {SMALL_ERROR, LARGE_ERROR} <= known else found


def _small_error(mean: pd.Series, cases: pd.DataFrame) -> list[Claim]:
    return [
        Claim(
            "small output error: npv predicts on par with mcmc",
            f"average RMSE npv {mean[SMALL_ERROR, 'npv']:.2f}, mcmc {mean[SMALL_ERROR, 'mcmc']:.2f}; each with its own "
            "prior",
            mean[SMALL_ERROR, "npv"] <= 1.1 * mean[SMALL_ERROR, "mcmc"],
        ),
        _same_prior(mean, "uniform", "mcmc"),
        _same_prior(mean, "gamma", "lamina"),
        *(
            Claim(
                f"small output error: npv is better than gp and nigp on every function ({prior} prior)",
                f"better in {_wins(cases, name)} of {len(cases)}; on average {mean[SMALL_ERROR, name]:.2f} against "
                f"{mean[SMALL_ERROR, 'gp']:.2f} (gp) and {mean[SMALL_ERROR, 'nigp']:.2f} (nigp)",
                _wins(cases, name) == len(cases),
            )
            for name, prior in (("npv", "log-uniform"), ("npv, uniform", "uniform"))
        ),
    ]


def _large_error(mean: pd.Series, cases: pd.DataFrame) -> list[Claim]:
    gain = {y_sd: 1.0 - mean[y_sd, "npv"] / mean[y_sd, "gp"] for y_sd in (SMALL_ERROR, LARGE_ERROR)}
    last, clearly = cases.iloc[-1], int((cases["npv"] < 0.95 * cases["gp"]).sum())
    return [
        Claim(
            "large output error: the advantage of npv over gp shrinks",
            f"RMSE lower than gp's by {gain[SMALL_ERROR]:.0%} at small, {gain[LARGE_ERROR]:.0%} at large output error",
            gain[LARGE_ERROR] < gain[SMALL_ERROR],
        ),
        Claim(
            "large output error: npv is clearly better than gp in three of five functions",
            f"RMSE lower by more than a twentieth in {clearly} of {len(cases)}",
            clearly >= 3,
        ),
        Claim(
            "large output error: nigp is better than npv on the last function",
            f"RMSE nigp {last['nigp']:.2f}, npv {last['npv']:.2f}",
            bool(last["nigp"] < last["npv"]),
        ),
    ]


def _same_prior(mean: pd.Series, prior: str, sampler: str) -> Claim:
    name = f"npv mixture, diagonal, {prior}"
    ratio = mean[SMALL_ERROR, name] / mean[SMALL_ERROR, sampler]
    return Claim(
        f"small output error: npv predicts on par with mcmc (same {prior} prior, averaged over Q; within 10 %)",
        f"average RMSE {mean[SMALL_ERROR, name]:.2f} against {mean[SMALL_ERROR, sampler]:.2f}, {ratio - 1:+.0%}",
        bool(ratio <= 1.1),
    )


def _wins(cases: pd.DataFrame, name: str) -> int:
    return int(((cases[name] < cases["gp"]) & (cases[name] < cases["nigp"])).sum())


def _inputs(results: pd.DataFrame, method: str) -> Claim:
    part = results[(results["y_sd"] == SMALL_ERROR) & (results["method"] == method) & (results["t_sd"] >= 0.5)]
    by_error = part.groupby("t_sd")[["mae", "baseline"]].mean()
    shown = ", ".join(f"{row.mae:.2f} from {row.baseline:.2f} at {t_sd:g}" for t_sd, row in by_error.iterrows())
    return Claim(
        f"small output error: {method} brings the inputs nearer to the truth than they were measured (σ_t ≥ 0.5)",
        f"mean absolute error {shown}",
        bool((by_error["mae"] < by_error["baseline"]).all()),
    )


def of_timing(results: pd.DataFrame) -> list[Claim]:
    """Claims about training times."""
    fits = results[results["kind"] == "fit"].set_index(["method", "algorithm"])["seconds"]
    claims = {
        "markov": "npv trains faster than mcmc, and mcmc faster than nigp (19, 61 and 106 s; gp 0.3 s): on the O(N) "
        "engine",
        "dense": "the same, with the paper's algorithms on dense matrices",
    }
    found = []
    for engine, claim in claims.items():
        seconds = {name: fits[name, engine] for name in ("npv", "mcmc", "nigp", "gp")}
        measured = ", ".join(f"{name} {took:.2f} s" for name, took in seconds.items())
        found.append(Claim(claim, measured, bool(seconds["npv"] < seconds["mcmc"] < seconds["nigp"])))
    return found


def of_sealevel(found: SeaLevel) -> list[Claim]:
    """Claims about Table 1."""
    pairs = found.pairs.set_index(["first", "second"])
    claims = []
    for value, name in ("difference", "mean absolute difference"), ("divergence", "symmetrised KL divergence"):
        own = pairs[value].loc[[pair for pair in pairs.index if pair in PAPER_TABLE]]
        claims += [
            Claim(
                f"{name}: nigp and gp are the closest pair",
                f"nigp–gp {own['nigp', 'gp']:.3g}; the next {own.drop([('nigp', 'gp')]).min():.3g}",
                bool(own.idxmin() == ("nigp", "gp")),
            ),
            Claim(
                f"{name}: npv is closer to mcmc than to nigp and gp",
                f"npv–mcmc {own['npv', 'mcmc']:.3g}, npv–nigp {own['npv', 'nigp']:.3g}, npv–gp {own['npv', 'gp']:.3g}",
                bool(own["npv", "mcmc"] < min(own["npv", "nigp"], own["npv", "gp"])),
            ),
        ]
    return claims
