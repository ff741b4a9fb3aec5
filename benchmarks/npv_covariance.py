"""How often 90 % intervals of npv contain the truth, with a diagonal and with an isotropic covariance.

    python benchmarks/npv_covariance.py [--repetitions 40] [--markdown docs/methods.md]

Records are drawn from the model: gamma gaps of mean 1, a Matérn-3/2 curve, errors of the inputs and of the outputs.
mcmc on the same records shows what can be reached.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from report import fill_section, machine

import lamina

METHODS: dict[str, dict[str, Any]] = {
    "npv, diagonal": {"method": "npv", "covariance": "diagonal"},
    "npv, isotropic": {"method": "npv", "covariance": "isotropic"},
    "mcmc": {"method": "mcmc"},
}
SHAPE, LENGTH, SD = 3.0, 6.0, 1.0
#: Times, as parts of the span, at which the curve is compared with the truth.
AT = np.linspace(0.0, 1.0, 41)


class Setting(NamedTuple):
    """A kind of record."""

    rows: int
    t_sd: float
    y_sd: float


SETTINGS = [Setting(25, 0.5, 0.1), Setting(25, 2.0, 0.1), Setting(25, 2.0, 0.5), Setting(100, 2.0, 0.2)]


def simulate(setting: Setting, seed: int) -> tuple[lamina.Record, np.ndarray, np.ndarray, np.ndarray]:
    """A record, its true inputs, times and the true curve at them."""
    rng = np.random.default_rng([seed, setting.rows, round(1000 * setting.t_sd), round(1000 * setting.y_sd)])
    tau = np.cumsum(rng.gamma(SHAPE, 1.0 / SHAPE, setting.rows))
    at = tau[0] + AT * (tau[-1] - tau[0])
    apart = np.sqrt(3.0) * np.abs(np.subtract.outer(np.r_[tau, at], np.r_[tau, at])) / LENGTH
    covariance = SD**2 * (1.0 + apart) * np.exp(-apart)
    curve = rng.multivariate_normal(np.zeros(len(covariance)), covariance, method="eigh")
    t = tau + setting.t_sd * rng.standard_normal(setting.rows)
    y = curve[: setting.rows] + setting.y_sd * rng.standard_normal(setting.rows)
    return lamina.Record(t=t, t_sd=setting.t_sd, y=y, y_sd=setting.y_sd), tau, at, curve[setting.rows :]


def score(options: dict[str, Any], setting: Setting, seed: int) -> np.ndarray:
    """Parts of the inputs and of the curve inside their 90 % intervals, and mean absolute errors of both."""
    record, tau, at, truth = simulate(setting, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lamina.NotConverged)
        posterior = lamina.fit(record, seed=seed, **options)
    found = []
    for table, true in (posterior.inputs(), tau), (posterior.curve(at), truth):
        found.append([np.mean((table["q5"] <= true) & (true <= table["q95"])), np.abs(table["mean"] - true).mean()])
    return np.ravel(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=40)
    parser.add_argument("--markdown", type=Path, help="write the table into this page, between its markers")
    options = parser.parse_args()
    lines = [
        "| rows | input error | output error | method | inputs in 90 % | curve in 90 % | input MAE | curve MAE |",
        "|--:|--:|--:|:--|--:|--:|--:|--:|",
    ]
    for setting in SETTINGS:
        for name, chosen in METHODS.items():
            scores = np.array([score(chosen, setting, seed) for seed in range(options.repetitions)])
            mean, error = scores.mean(axis=0), scores.std(axis=0, ddof=1) / np.sqrt(len(scores))
            cover = [f"{mean[k]:.2f} ± {error[k]:.2f}" for k in (0, 2)]
            cells = [*(f"{one:g}" for one in setting), name, *cover, f"{mean[1]:.2f}", f"{mean[3]:.3f}"]
            lines.append(f"| {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    if options.markdown:
        command = f"python benchmarks/npv_covariance.py --repetitions {options.repetitions} --markdown docs/methods.md"
        text = f"{machine()} {options.repetitions} records a row.\n\nCommand: `{command}`\n\n" + "\n".join(lines)
        fill_section(options.markdown, "npv-covariance", text)


if __name__ == "__main__":
    main()
