"""Accuracy of the methods in the set-up of Tran, Pavlovic & Kopp (2015), where the truth is known.

25 equally spaced inputs in [-10, 10], five functions, input errors 0.2 to 3, output errors 0.05 and 1, several seeds
each. For every method: root-mean-square error of the curve on [-10, 10], mean absolute error of the inputs, and how
often the truth lies in the 90 % band of the curve and in the 90 % intervals of the inputs.

    python benchmarks/accuracy.py [--seeds 5] [--markdown docs/benchmarks.md] [--csv FILE]
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from report import fill_section, machine

import lamina

FUNCTIONS = {
    "5 sin x": lambda x: 5.0 * np.sin(x),
    "1.147 exp(-0.2 x) sin x": lambda x: 1.147 * np.exp(-0.2 * x) * np.sin(x),
    "0.97 tan(0.15 x) sin x": lambda x: 0.97 * np.tan(0.15 * x) * np.sin(x),
    "0.055 x² tanh(cos x)": lambda x: 0.055 * x**2 * np.tanh(np.cos(x)),
    "1.76 log(x² (sin 2x + 1) + 1)": lambda x: 1.76 * np.log(x**2 * (np.sin(2.0 * x) + 1.0) + 1.0),
}
T_SD = (0.2, 0.5, 1.0, 2.0, 3.0)
Y_SD = (0.05, 1.0)
N = 25
GRID = np.linspace(-10.0, 10.0, 201)

VARIANTS = {
    "gp": {"method": "gp"},
    "nigp": {"method": "nigp"},
    "npv plug-in, log-uniform": {"method": "npv", "prediction": "plugin", "gaps": "log-uniform"},
    "npv mixture, log-uniform": {"method": "npv", "gaps": "log-uniform"},
    "npv mixture, gamma": {"method": "npv"},
    "mcmc uniform": {"method": "mcmc", "gaps": "uniform"},
    "mcmc exponential": {"method": "mcmc", "gaps": "exponential"},
    "mcmc gamma (default)": {"method": "mcmc"},
}


def simulate(function, t_sd: float, y_sd: float, seed: int) -> tuple[np.ndarray, lamina.Record]:
    """True inputs and a record measured from them."""
    rng = np.random.default_rng([seed, int(1000 * t_sd), int(1000 * y_sd)])
    x = np.linspace(-10.0, 10.0, N)
    t = x + t_sd * rng.standard_normal(N)
    y = function(x) + y_sd * rng.standard_normal(N)
    return x, lamina.Record(t=t, t_sd=t_sd, y=y, y_sd=y_sd)


def score(posterior, x: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """How far a fit is from the truth."""
    curve, inputs = posterior.curve(GRID), posterior.inputs()
    return {
        "rmse": float(np.sqrt(np.mean((curve["mean"] - truth) ** 2))),
        "mae": float(np.abs(inputs["mean"] - x).mean()),
        "curve cover": float(np.mean((curve["q5"] <= truth) & (truth <= curve["q95"]))),
        "input cover": float(np.mean((inputs["q5"] <= x) & (x <= inputs["q95"]))),
        "span": float(inputs["mean"].iloc[-1] - inputs["mean"].iloc[0]),
    }


def experiment(variants: dict[str, dict], seeds: int) -> pd.DataFrame:
    """One row for each fit."""
    rows = []
    for y_sd in Y_SD:
        for name, function in FUNCTIONS.items():
            for t_sd in T_SD:
                for seed in range(seeds):
                    x, record = simulate(function, t_sd, y_sd, seed)
                    for variant, options in variants.items():
                        began = time.perf_counter()
                        with warnings.catch_warnings():
                            warnings.simplefilter("ignore", lamina.NotConverged)
                            posterior = lamina.fit(record, seed=seed, **options)
                        took = time.perf_counter() - began
                        found = score(posterior, x, function(GRID))
                        rows.append(
                            {"y_sd": y_sd, "function": name, "t_sd": t_sd, "seed": seed, "variant": variant, **found,
                             "seconds": took, "converged": posterior.diagnostics["converged"]}
                        )  # fmt: skip
    return pd.DataFrame(rows)


def tables(results: pd.DataFrame) -> str:
    """Averages, and the comparison of the default with the others function by function, as Markdown."""
    parts = []
    for y_sd, part in results.groupby("y_sd"):
        mean = part.groupby("variant", sort=False)[["rmse", "mae", "curve cover", "input cover", "seconds"]].mean()
        mean["converged"] = part.groupby("variant", sort=False)["converged"].mean()
        parts.append(
            f"Output error {y_sd}: averages over {part['seed'].nunique()} seeds, five functions, five input errors\n"
        )
        parts.append(mean.round(3).to_markdown() + "\n")
    by_case = results.pivot_table(index=["y_sd", "function"], columns="variant", values="rmse", sort=False)
    parts.append("RMSE of the curve, case by case (averages over input errors and seeds)\n")
    parts.append(by_case.round(3).to_markdown() + "\n")
    return "\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", help="variants to run, separated by commas", default="")
    parser.add_argument("--markdown", type=Path, help="write the tables into this page, between its markers")
    parser.add_argument("--csv", type=Path, help="write every fit as a row")
    options = parser.parse_args()
    wanted = {k: v for k, v in VARIANTS.items() if not options.only or k in options.only.split(",")}
    results = experiment(wanted, options.seeds)
    text = tables(results)
    print(text)
    if options.csv:
        results.to_csv(options.csv, index=False)
    if options.markdown:
        command = f"python benchmarks/accuracy.py --seeds {options.seeds}"
        fill_section(options.markdown, "accuracy", f"{machine()}\n\nCommand: `{command}`\n\n{text}")


if __name__ == "__main__":
    main()
