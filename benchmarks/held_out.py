"""Age-depth models whose bands hold: dates left out, the number of steps, Bacon's own core, and the time it takes.

Left out: dates of two real cores, every third in turn, and a third of the depths of simulated cores, whose truth comes
from three models of accumulation: Bacon's autoregressive gamma sections (Blaauw & Christen 2011), a compound
Poisson-gamma process with lines between its knots (Haslett & Parnell 2008), and a log-Gaussian accumulation rate (an
Ornstein-Uhlenbeck process). Simulated dates have Gaussian errors.

    python benchmarks/held_out.py [--cores 100] [--memory] [--markdown docs/benchmarks.md]
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from report import fill_section, machine

import lamina
from lamina.dates import Radiocarbon
from lamina.dates.curves import load_curve
from lamina.posterior.agedepth import times_at

FOLDER = Path(__file__).parent / "cores"
COMMAND = "Command: `python benchmarks/held_out.py --markdown docs/benchmarks.md`"
LENGTH, YEARS, FOLDS, STEPS = 100.0, 20.0, 3, (20, 80, 320)
#: How an age-depth model is computed here.
FIT = {"draws": 1000, "cores": 1, "max_sweeps": 30_000}

Array = np.ndarray


def bacon(rng: np.random.Generator) -> tuple[Array, Array]:
    """Depths and ages: sections of 2.5 with gamma rates of shape 1.5, and memory of Bacon's default prior."""
    thick = 2.5
    n, w = round(LENGTH / thick), rng.beta(5.0, 5.0) ** thick
    rate = rng.gamma(1.5, YEARS / 1.5, n)
    for j in range(n - 2, -1, -1):
        rate[j] = w * rate[j + 1] + (1.0 - w) * rate[j]
    return np.linspace(0.0, LENGTH, n + 1), np.concatenate([[0.0], np.cumsum(rate * thick)])


def bchron(rng: np.random.Generator) -> tuple[Array, Array]:
    """Depths and ages: knots of a Poisson process, gamma times between them."""
    density, shape = rng.uniform(0.15, 0.6), rng.uniform(0.7, 2.0)
    knots = np.sort(rng.uniform(0.0, LENGTH, rng.poisson(density * LENGTH)))
    times = rng.gamma(shape, YEARS / density / shape, len(knots) + 1)
    return np.array([0.0, *knots, LENGTH]), np.concatenate([[0.0], np.cumsum(times)])


def log_gaussian(rng: np.random.Generator) -> tuple[Array, Array]:
    """Depths and ages: the logarithm of the rate has a standard deviation of 0.3 to 0.8 and a length of 5 to 20."""
    n, length, sd = 1000, rng.uniform(5.0, 20.0), rng.uniform(0.3, 0.8)
    step = LENGTH / n
    w, z = math.exp(-step / length), sd * rng.standard_normal(n)
    for j in range(1, n):
        z[j] = w * z[j - 1] + math.sqrt(1.0 - w * w) * z[j]
    return np.linspace(0.0, LENGTH, n + 1), np.concatenate([[0.0], np.cumsum(YEARS * np.exp(z) * step)])


MODELS = {
    "Bacon's autoregressive gamma": bacon,
    "Bchron's compound Poisson-gamma": bchron,
    "log-Gaussian": log_gaussian,
}


def simulated(name: str, seed: int) -> tuple[lamina.Record, Array]:
    """A core of 12 to 29 dates, and its true ages."""
    rng = np.random.default_rng([seed, list(MODELS).index(name)])
    depth = np.sort(rng.uniform(0.0, LENGTH, int(rng.integers(12, 30))))
    truth = np.interp(depth, *MODELS[name](rng))
    sd = math.exp(rng.uniform(math.log(15.0), math.log(80.0)))
    return lamina.Record(truth + sd * rng.standard_normal(len(depth)), sd, np.nan, np.inf, depth=depth), truth


def real(name: str) -> lamina.Record:
    """One of the real cores."""
    if name == "Sluggan":
        table = pd.read_csv(FOLDER / "Sluggan_bchron.csv")
        age, sd, depth = table["ages"], table["ageSds"], table["position"]
    else:
        table = pd.read_csv(FOLDER / "MSB2K.csv", sep=r",\s*", engine="python")
        age, sd, depth = table["age"], table["error"], table["depth"]
    dates = [Radiocarbon(*one) for one in zip(age, sd, strict=True)]
    return lamina.Record(None, None, np.nan, np.inf, dates=dates, depth=depth)


def model_of(record: lamina.Record, memory: bool, **options: object) -> lamina.Posterior:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return lamina.age_depth(record, memory=memory, **{**FIT, **options})


def some(record: lamina.Record, rows: Array) -> lamina.Record:
    """The record with some of its rows."""
    dates = None if record.dates is None else [record.dates[row] for row in rows]
    columns = {name: getattr(record, name)[rows] for name in ("t", "t_sd", "y", "y_sd", "depth")}
    return replace(record, dates=dates, **columns)


def left_out_simulated(name: str, seed: int, memory: bool) -> tuple[Array, Array]:
    """Whether the bands hold the true ages at the depths left out, and their widths."""
    record, truth = simulated(name, seed)
    rows = np.arange(len(record))
    out = rows[1:-1][rows[1:-1] % FOLDS == 0]
    table = model_of(some(record, np.setdiff1d(rows, out)), memory, steps=10).ages(record.depth[out])
    low, high = table["q2.5"].to_numpy(), table["q97.5"].to_numpy()
    return (low <= truth[out]) & (truth[out] <= high), high - low


def left_out_real(name: str, fold: int, memory: bool) -> tuple[Array, Array]:
    """Whether the predicted 95 % ranges hold the radiocarbon ages left out, and the widths of the bands."""
    record, rng, curve = real(name), np.random.default_rng(fold), load_curve("IntCal20")
    depths = np.unique(record.depth)
    inside = depths[1:-1][np.arange(len(depths) - 2) % FOLDS == fold]
    out = np.flatnonzero(np.isin(record.depth, inside))
    posterior = model_of(some(record, np.setdiff1d(np.arange(len(record)), out)), memory, steps=10)
    table, held = posterior.ages(inside), []
    for row in out:
        age = times_at(posterior, record.depth[[row]])[:, 0]
        sd = np.hypot(record.dates[row].age_sd, np.interp(age, curve.year, curve.sd))
        predicted = np.interp(age, curve.year, curve.age) + sd * math.sqrt(4.0 / 3.0) * rng.standard_t(6, len(age))
        low, high = np.quantile(predicted, [0.025, 0.975])
        held.append(low <= record.dates[row].age <= high)
    return np.array(held), (table["q97.5"] - table["q2.5"]).to_numpy()


def with_empty_layers(record: lamina.Record, rng: np.random.Generator) -> lamina.Record:
    """The record with 50 layers at random depths."""
    depth = np.concatenate([record.depth, rng.uniform(record.depth.min(), record.depth.max(), 50)])
    order = np.argsort(depth, kind="stable")
    columns = {
        name: np.concatenate([getattr(record, name), np.full(50, empty)])[order]
        for name, empty in (("t", np.nan), ("t_sd", np.inf), ("y", np.nan), ("y_sd", np.inf))
    }
    dates = None if record.dates is None else [[*record.dates, *[None] * 50][k] for k in order]
    return replace(record, depth=depth[order], dates=dates, **columns)


def refinement(name: str, memory: bool) -> float:
    """The largest change of mean and width at nine depths, as a share of the width."""
    record = real(name) if name in ("Sluggan", "MSB2K") else simulated(name, 1000)[0]
    at = np.linspace(record.depth.min(), record.depth.max(), 11)[1:-1]
    options = {"draws": 40_000, "max_sweeps": 40_000}
    tables = [model_of(record, memory, steps=steps, **options).ages(at) for steps in STEPS]
    tables.append(model_of(with_empty_layers(record, np.random.default_rng(0)), memory, steps=20, **options).ages(at))
    width = [(one["q97.5"] - one["q2.5"]).to_numpy() for one in tables]
    mean = [one["mean"].to_numpy() for one in tables]
    pairs = zip(mean, width, strict=True)
    change = [np.maximum(np.abs(m - mean[0]), np.abs(w - width[0])) / width[0] for m, w in pairs]
    return float(np.max(change))


def against_bacon(memory: bool) -> tuple[float, float]:
    """Mean absolute difference from Bacon's means on MSB2K, and the mean ratio of the widths."""
    table = pd.read_csv(FOLDER / "MSB2K_21_ages.txt", sep=r"\s+")
    ours = model_of(real("MSB2K"), memory, draws=4000).ages(table["depth"])
    ratio = (ours["q97.5"] - ours["q2.5"]).to_numpy() / (table["max"] - table["min"]).to_numpy()
    return float(np.abs(ours["mean"].to_numpy() - table["mean"].to_numpy()).mean()), float(ratio.mean())


def seconds(memory: bool) -> float:
    """CPU seconds of a core of 40 dates and 200 steps, of a second fit: the first compiles."""
    rng = np.random.default_rng(0)
    depth = np.sort(rng.uniform(0.0, LENGTH, 40))
    truth = np.interp(depth, *log_gaussian(rng))
    record = lamina.Record(truth + 40.0 * rng.standard_normal(40), 40.0, np.nan, np.inf, depth=depth)
    lamina.age_depth(record, steps=200, memory=memory)
    began = time.process_time()
    lamina.age_depth(record, steps=200, memory=memory)
    return time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cores", type=int, default=100, help="simulated cores of each model")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--markdown", type=Path, help="write the table into this page, between its markers")
    options = parser.parse_args()
    memory = options.memory
    lines = ["| dates left out | cores | dates | coverage of 95 % | mean width, years |", "|:--|--:|--:|--:|--:|"]
    for name in ("Sluggan", "MSB2K", *MODELS):
        is_real = name not in MODELS
        work = left_out_real if is_real else left_out_simulated
        found = Parallel(2)(delayed(work)(name, k, memory) for k in range(FOLDS if is_real else options.cores))
        held, width = (np.concatenate(one) for one in zip(*found, strict=True))
        cores = 1 if is_real else options.cores
        lines.append(f"| {name} | {cores} | {len(held)} | {held.mean():.3f} | {width.mean():.0f} |")
        print(lines[-1], flush=True)
    changes = {name: refinement(name, memory) for name in ("Sluggan", "MSB2K", *MODELS)}
    off, ratio = against_bacon(memory)
    facts = [
        f"Largest change at nine depths between {', '.join(map(str, STEPS))} steps and with 50 empty layers, as a "
        f"share of the 95 % width: {', '.join(f'{name} {change:.1%}' for name, change in changes.items())}.",
        f"MSB2K: our means are {off:.0f} years from Bacon's on average, and our 95 % ranges {ratio:.2f} times as wide.",
        f"A core of 40 dates and 200 steps takes {seconds(memory):.1f} s of CPU time.",
    ]
    print("\n".join([*lines, "", *facts]))
    if options.markdown:
        summary = f"{'With' if memory else 'Without'} memory. {machine()}"
        text = "\n".join([COMMAND, "", *lines, "", *facts, "", summary])
        fill_section(options.markdown, "held-out", text)


if __name__ == "__main__":
    main()
