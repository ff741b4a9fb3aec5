"""Age-depth models of simulated cores with radiocarbon dates: width of the 95 % band, and how often it holds the truth.

Cores are drawn from the gamma model of accumulation (60 steps, shape 4), with 20 radiocarbon dates on IntCal20 whose
errors are Student-t as in Bacon. Each is dated in three ways: with the ages calibrated inside the posterior; with each
date taken as Gaussian, of the mean and sd of its own calibration; and by calibrating each date on its own, without
order, depths between dates by linear interpolation of independent draws.

    python benchmarks/agedepth.py [--cores 100] [--seed 0] [--markdown docs/benchmarks.md]
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from report import fill_section, machine

import lamina
from lamina.dates import Radiocarbon
from lamina.dates.curves import load_curve

STEPS, SHAPE, DEPTH, YEARS, DATES, ERROR = 60, 4.0, 600.0, 6000.0, 20, 30.0
COMMAND = "Command: `python benchmarks/agedepth.py --markdown docs/benchmarks.md`"
WAYS = ("calibrated inside the posterior", "dates taken as Gaussian", "each date on its own")

Array = np.ndarray


def simulate(rng: np.random.Generator) -> tuple[lamina.Record, Array, Array]:
    """A core with its dates, and the true age on a grid of depths."""
    edges = np.linspace(0.0, DEPTH, STEPS + 1)
    age = 300.0 + np.concatenate([[0.0], np.cumsum(rng.gamma(SHAPE, YEARS / STEPS / SHAPE, STEPS))])
    depth = np.sort(rng.choice(edges, DATES, replace=False))
    true, curve = np.interp(depth, edges, age), load_curve("IntCal20")
    mean, sd = np.interp(true, curve.year, curve.age), np.interp(true, curve.year, curve.sd)
    measured = mean + np.hypot(ERROR, sd) * np.sqrt(4.0 / 3.0) * rng.standard_t(6, DATES)
    dates = [Radiocarbon(one, ERROR) for one in measured]
    grid = edges[(edges >= depth[0]) & (edges <= depth[-1])]
    record = lamina.Record(None, None, np.nan, np.inf, dates=dates, depth=depth)
    return record, grid, np.interp(grid, edges, age)


def bands(record: lamina.Record, grid: Array, way: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """The ends of the 95 % band at the depths of the grid."""
    if way == 2:
        drawn = np.stack([date.quantile(rng.random(4000)) for date in record.dates or ()], axis=1)
        every = np.stack([np.interp(grid, record.depth, one) for one in drawn])
        low, high = np.quantile(every, [0.025, 0.975], axis=0)
        return low, high
    given = record if way == 0 else replace(record, dates=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = lamina.age_depth(given, steps=STEPS, draws=1000, max_sweeps=30_000, cores=1).ages(grid)
    return table["q2.5"].to_numpy(), table["q97.5"].to_numpy()


def one_core(seed: tuple[int, int]) -> Array:
    """Mean width and coverage, and seconds, of each way: (3, 3)."""
    rng = np.random.default_rng(seed)
    record, grid, true = simulate(rng)
    found = []
    for way in range(len(WAYS)):
        began = time.perf_counter()
        low, high = bands(record, grid, way, rng)
        took = time.perf_counter() - began
        found.append([(high - low).mean(), ((low <= true) & (true <= high)).mean(), took])
    return np.array(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cores", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--markdown", type=Path, help="write the table into this page, between its markers")
    options = parser.parse_args()
    every = Parallel(2)(delayed(one_core)((options.seed, k)) for k in range(options.cores))
    mean = np.mean(list(every), axis=0)
    lines = ["| way | mean width of the 95 % band, years | coverage | s a core |", "|:--|--:|--:|--:|"]
    lines += [f"| {way} | {w:.0f} | {c:.3f} | {s:.2f} |" for way, (w, c, s) in zip(WAYS, mean, strict=True)]
    print("\n".join(lines))
    if options.markdown:
        summary = f"{options.cores} cores, seed {options.seed}. {machine()}"
        fill_section(options.markdown, "agedepth", "\n".join([COMMAND, "", *lines, "", summary]))


if __name__ == "__main__":
    main()
