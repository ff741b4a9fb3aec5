"""Coverage of age-depth models of thick samples: dates that are each of some part of a slice of core.

Cores have 16 slices of 4 cm, one every 6 cm, and a mean pace of 20 years per cm; dates have errors of 15 years. What is
dated lies anywhere in its slice. Accumulation is either drawn from the default priors of age-depth models, shape and
memory alike, or irregular: a gamma process of shape 1 per cm, without memory. The same cores are fitted with the
thickness, as if it were zero, and with dates that really are of the middle of their slices.

    python benchmarks/thickness.py [--cores 60] [--first 1000] [--markdown docs/benchmarks.md]
"""

from __future__ import annotations

import argparse
import math
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from report import fill_section, machine
from scipy.signal import lfilter

import lamina
from lamina.model.priors import MEMORY_FACTOR, MEMORY_PART, SHAPE_FACTOR, SHAPE_MEDIAN

LENGTH, DATES, THICKNESS, PACE, ERROR = 100.0, 16, 4.0, 20.0, 15.0
#: Parts of the core in which accumulation is simulated.
PARTS = 4000
ACCUMULATION = ("drawn from the priors", "irregular")
ERRORS = {"student": "Student-t", "normal": "normal"}
WAYS = ("with thickness", "thickness ignored", "horizons")
COMMAND = "Command: `python benchmarks/thickness.py --markdown docs/benchmarks.md`"

Array = np.ndarray


class Core(NamedTuple):
    """A simulated core: depths of the middles of its slices, their ages, those of the dated parts, errors of dates."""

    depth: Array
    age: Array
    part_age: Array
    error: Array


def pace(kind: str, usual: float, rng: np.random.Generator) -> Array:
    """Time per unit of depth in each part of a core, from its top: Eq. (84). usual: the usual distance of dates."""
    step = LENGTH / PARTS
    if kind == "irregular":
        return rng.gamma(step, PACE / step, PARTS)
    shape = SHAPE_MEDIAN * SHAPE_FACTOR ** rng.standard_normal() * step / usual
    memory = MEMORY_PART * usual * MEMORY_FACTOR ** rng.standard_normal()
    carry, burnt = math.exp(-step / memory), int(6.0 * memory / step)
    new = rng.gamma(shape, PACE / shape, PARTS + burnt)
    return lfilter([1.0 - carry], [1.0, -carry], new)[burnt:][::-1]


def simulate(kind: str, errors: str, seed: int) -> Core:
    """A core, whose memory counts from the bottom."""
    rng = np.random.default_rng([seed, ACCUMULATION.index(kind)])
    depth = np.linspace(5.0, 95.0, DATES) + rng.uniform(-1.0, 1.0, DATES)
    steps = pace(kind, float(np.median(np.diff(depth))), rng) * LENGTH / PARTS
    edges, time = np.linspace(0.0, LENGTH, PARTS + 1), np.concatenate([[0.0], np.cumsum(steps)])
    parts = depth + THICKNESS * rng.uniform(-0.5, 0.5, DATES)
    error = rng.standard_normal(DATES) if errors == "normal" else math.sqrt(4.0 / 3.0) * rng.standard_t(6, DATES)
    return Core(depth, np.interp(depth, edges, time), np.interp(parts, edges, time), ERROR * error)


def one_core(kind: str, errors: str, seed: int) -> Array:
    """Coverage and mean width of the 95 % bands at the slices, in each of the three ways: (3, 2)."""
    core, found = simulate(kind, errors, seed), []
    for way in WAYS:
        dated = core.age if way == "horizons" else core.part_age
        thickness = THICKNESS if way == "with thickness" else None
        record = lamina.Record(dated + core.error, ERROR, np.nan, np.inf, depth=core.depth, thickness=thickness)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            posterior = lamina.age_depth(record, steps=5, draws=600, cores=1, t_errors=errors, max_sweeps=20_000)
        table = posterior.ages(core.depth)
        low, high = table["q2.5"].to_numpy(), table["q97.5"].to_numpy()
        found.append([((low <= core.age) & (core.age <= high)).mean(), (high - low).mean()])
    return np.array(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cores", type=int, default=60)
    parser.add_argument("--first", type=int, default=1000, help="the first seed")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--markdown", type=Path, help="write the table into this page, between its markers")
    options = parser.parse_args()
    lines = [
        f"| accumulation | errors of dates | {' | '.join(WAYS)} | mean widths, years |",
        "|:--|:--|--:|--:|--:|--:|",
    ]
    seeds = range(options.first, options.first + options.cores)
    for kind in ACCUMULATION:
        for errors, words in ERRORS.items():
            found = np.array(Parallel(options.jobs)(delayed(one_core)(kind, errors, seed) for seed in seeds))
            mean, error = found.mean(axis=0), found.std(axis=0) / math.sqrt(len(found))
            cells = [f"{m:.3f} ± {e:.3f}" for m, e in zip(mean[:, 0], error[:, 0], strict=True)]
            widths = ", ".join(f"{one:.0f}" for one in mean[:, 1])
            lines.append(f"| {kind} | {words} | {' | '.join(cells)} | {widths} |")
            print(lines[-1], flush=True)
    if options.markdown:
        summary = f"{options.cores} cores, seeds from {options.first}. {machine()}"
        fill_section(options.markdown, "thickness", "\n".join([COMMAND, "", *lines, "", summary]))


if __name__ == "__main__":
    main()
