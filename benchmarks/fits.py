"""Seconds of whole fits and of prediction, after compilation, on all cores there are.

python benchmarks/fits.py [--markdown docs/benchmarks.md]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from engine import SETUP, clocked
from report import fill_section, machine

import lamina
from lamina.methods import mcmc
from lamina.model.model import Model
from lamina.model.problem import build_problem
from lamina.paper.functions import simulate

REPEAT = 5


def fastest(work: Callable[[], Any]) -> tuple[float, float]:
    """Fastest and median seconds of several calls, after one to warm up."""
    work()
    took = []
    for _ in range(REPEAT):
        began = time.perf_counter()
        work()
        took.append(time.perf_counter() - began)
    return min(took), float(np.median(took))


def jobs() -> dict[str, Callable[[], Any]]:
    """What is timed."""
    _, small = simulate("5 sin x", 1.0, 0.05, (0, 0))
    nassau = lamina.datasets.load("nassau")
    rng = np.random.default_rng(0)
    x = np.linspace(0.0, 100.0, 100)
    y = np.sin(x / 5.0) + 0.1 * rng.standard_normal(100)
    hundred = lamina.Record(t=x + rng.standard_normal(100), t_sd=1.0, y=y, y_sd=0.1)
    posterior = lamina.fit(hundred, draws=1000)
    at = np.linspace(-5.0, 105.0, 500)
    found = {
        f"fit, N = 25, {method}": lambda method=method: lamina.fit(small, method=method)
        for method in ("mcmc", "npv", "nigp", "gp", "nuts")
    }
    found["fit, Nassau Landing (77 rows), mcmc"] = lambda: lamina.fit(nassau)
    found["fit, three cores of 100 rows, mcmc"] = lambda: lamina.fit(three_cores())
    drawn = len(posterior.tau)
    found[f"curve with its quantiles, {drawn:,} draws × 500 points, N = 100"] = lambda: posterior.curve(at)
    return found


def three_cores() -> lamina.Record:
    """Three cores of a hundred rows that share one curve, interleaved in time."""
    rng = np.random.default_rng(1)
    tau = np.concatenate([np.sort(rng.uniform(0.0, 3000.0, 100)) for _ in range(3)])
    y = np.sin(tau / 300.0) + 0.15 * rng.standard_normal(300)
    names = np.repeat(["A", "B", "C"], 100)
    return lamina.Record(t=tau + 40.0 * rng.standard_normal(300), t_sd=40.0, y=y, y_sd=0.15, sequence=names)


def microseconds_a_proposal(sweeps: int = 2000) -> float:
    """One chain on the three cores: time of a sweep over the inputs, parameters and all, over its proposals.

    A sweep tries to move every input, to stretch every gap but the last, and to exchange neighbours of different cores,
    which are two thirds of all.
    """
    problem = build_problem(three_cores(), Model(lamina.Matern32()))
    mcmc.run(problem, chains=1, warmup=300, max_sweeps=10, draws=100)
    began = time.perf_counter()
    mcmc.run(problem, chains=1, warmup=300, max_sweeps=sweeps, draws=100_000)
    n = len(problem.record)
    return 1e6 * (time.perf_counter() - began) / ((sweeps + 300) * (n + (n - 1) + (n - 1) * 2 / 3))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", type=Path, help="write the table into this page, between its markers")
    options = parser.parse_args()
    lines = ["| what | fastest of 5 | median |", "|:--|--:|--:|"]
    for name, work in jobs().items():
        best, median = fastest(work)
        lines.append(f"| {name} | {best:.2f} s | {median:.2f} s |")
        print(lines[-1], flush=True)
    lines += [
        "",
        f"A proposal of mcmc on the three cores takes {microseconds_a_proposal():.2f} µs, including the parameters.",
    ]
    with tempfile.TemporaryDirectory() as cache:
        first, *later = clocked(f"{SETUP}; lamina.fit(lamina.Record(t=t, t_sd=s, y=y, y_sd=s))", 4, cache)
    lines[-1] += (
        f" The first fit by mcmc after installation takes {first:.0f} s, including compilation. In later processes, a "
        f"fit of ten rows takes {min(later):.1f} s, including all imports."
    )
    print(lines[-1])
    if options.markdown:
        command = "python benchmarks/fits.py --markdown docs/benchmarks.md"
        fill_section(options.markdown, "fits", f"{machine()}\n\nCommand: `{command}`\n\n" + "\n".join(lines))


if __name__ == "__main__":
    main()
