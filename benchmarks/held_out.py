"""Age-depth models whose bands hold: dates left out, the number of steps, Bacon's own core, and the time it takes.

Left out: dates of two real cores, every third in turn, and a third of the depths of simulated cores
(``simulated_cores``), whose dates have normal errors or the Student-t errors that age-depth models assume by default.
This is computed with memory, the default of age-depth models, and without, and, where errors are normal, with a model
of normal errors. The default prior of the memory was chosen on the cores 0 to 59; those of the table begin at 100.

    python benchmarks/held_out.py [--cores 100] [--keep FILE] [--markdown docs/benchmarks.md]

With --keep, each result is added to a file as soon as it is there, and a run that was interrupted goes on from it.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from report import fill_section, machine
from simulated_cores import LENGTH, MODELS, log_gaussian, simulated

import lamina
from lamina.dates import Radiocarbon
from lamina.model.tails import as_fitted
from lamina.posterior.agedepth import times_at

FOLDER = Path(__file__).parent / "cores"
COMMAND = "Command: `python benchmarks/held_out.py --markdown docs/benchmarks.md`"
REAL, FOLDS, STEPS = ("Sluggan", "MSB2K"), 3, (20, 80, 320)
#: The first simulated core: on those before it, the default priors were chosen.
FIRST = 100
#: Cores whose fits are timed.
TIMED = 5
ERRORS = {"normal": "normal", "student": "Student-t"}
#: How an age-depth model is computed here.
FIT = {"draws": 1000, "cores": 1, "max_sweeps": 30_000}

Array = np.ndarray


def real(name: str) -> lamina.Record:
    """One of the real cores."""
    if name == "Sluggan":
        table = pd.read_csv(FOLDER / "Sluggan_bchron.csv")
        age, sd, depth, thickness = table["ages"], table["ageSds"], table["position"], table["thickness"]
    else:
        table = pd.read_csv(FOLDER / "MSB2K.csv", sep=r",\s*", engine="python")
        age, sd, depth, thickness = table["age"], table["error"], table["depth"], None
    dates = [Radiocarbon(*one) for one in zip(age, sd, strict=True)]
    return lamina.Record(None, None, np.nan, np.inf, dates=dates, depth=depth, thickness=thickness)


def model_of(record: lamina.Record, memory: bool, **options: object) -> lamina.Posterior:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return lamina.age_depth(record, memory=memory, **{**FIT, **options})


def some(record: lamina.Record, rows: Array) -> lamina.Record:
    """The record with some of its rows."""
    dates = None if record.dates is None else [record.dates[row] for row in rows]
    given = [name for name in ("t", "t_sd", "y", "y_sd", "depth", "thickness") if getattr(record, name) is not None]
    columns = {name: getattr(record, name)[rows] for name in given}
    return replace(record, dates=dates, **columns)


def described(held: Array, width: Array, posterior: lamina.Posterior) -> dict[str, Any]:
    """Whether intervals hold what they should, how wide they are, and whether the chains converged."""
    converged = bool(posterior.diagnostics["converged"])
    return {"held": np.asarray(held).tolist(), "width": np.asarray(width).tolist(), "converged": converged}


def left_out_simulated(name: str, seed: int, errors: str, memory: bool, assumed: str = "student") -> dict[str, Any]:
    """Whether the bands hold the true ages at the depths left out, and their widths. assumed: errors of the model."""
    record, truth = simulated(name, seed, errors)
    rows = np.arange(len(record))
    out = rows[1:-1][rows[1:-1] % FOLDS == 0]
    posterior = model_of(some(record, np.setdiff1d(rows, out)), memory, steps=10, t_errors=assumed)
    table = posterior.ages(record.depth[out])
    low, high = table["q2.5"].to_numpy(), table["q97.5"].to_numpy()
    return described((low <= truth[out]) & (truth[out] <= high), high - low, posterior)


def left_out_real(name: str, fold: int, memory: bool) -> dict[str, Any]:
    """Whether the predicted 95 % ranges hold the radiocarbon ages left out, and the widths of the bands.

    A prediction contains the errors of the date, as the model has them, and the thickness of its sample.
    """
    record = real(name)
    fitted = as_fitted(record, "student")
    depths = np.unique(record.depth)
    inside = depths[1:-1][np.arange(len(depths) - 2) % FOLDS == fold]
    out = np.flatnonzero(np.isin(record.depth, inside))
    posterior = model_of(some(record, np.setdiff1d(np.arange(len(record)), out)), memory, steps=10)
    ages = [times_at(posterior, record.depth[[row]])[:, 0] for row in out]
    below = [float(fitted.dates[row].probability_below(age).mean()) for row, age in zip(out, ages, strict=True)]
    table = posterior.ages(inside)
    held = np.abs(2.0 * np.array(below) - 1.0) <= 0.95
    return described(held, (table["q97.5"] - table["q2.5"]).to_numpy(), posterior)


def with_empty_layers(record: lamina.Record, rng: np.random.Generator) -> lamina.Record:
    """The record with 50 layers at random depths."""
    depth = np.concatenate([record.depth, rng.uniform(record.depth.min(), record.depth.max(), 50)])
    order = np.argsort(depth, kind="stable")
    columns = {
        name: np.concatenate([getattr(record, name), np.full(50, empty)])[order]
        for name, empty in (("t", np.nan), ("t_sd", np.inf), ("y", np.nan), ("y_sd", np.inf), ("thickness", 0.0))
        if getattr(record, name) is not None
    }
    dates = None if record.dates is None else [[*record.dates, *[None] * 50][k] for k in order]
    return replace(record, depth=depth[order], dates=dates, **columns)


def refinement(name: str, memory: bool) -> float:
    """The largest change of mean and width at nine depths, as a share of the width."""
    record = real(name) if name in REAL else simulated(name, 1000)[0]
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


def seconds(memory: bool, seed: int) -> tuple[float, float, bool]:
    """Of a core of 40 dates and 200 steps: CPU seconds and seconds on all CPUs, and if it converged.

    They are those of a second fit: the first compiles.
    """
    rng = np.random.default_rng(seed)
    depth = np.sort(rng.uniform(0.0, LENGTH, 40))
    truth = np.interp(depth, *log_gaussian(rng))
    record = lamina.Record(truth + 40.0 * rng.standard_normal(40), 40.0, np.nan, np.inf, depth=depth)
    lamina.age_depth(record, steps=200, memory=memory)
    began = time.process_time(), time.perf_counter()
    posterior = lamina.age_depth(record, steps=200, memory=memory)
    cpu, clock = time.process_time() - began[0], time.perf_counter() - began[1]
    return cpu, clock, bool(posterior.diagnostics["converged"])


class Parts:
    """Results of this run, and those of earlier runs that a file has kept."""

    def __init__(self, path: Path | None, jobs: int) -> None:
        self.path, self.jobs = path, jobs
        lines = path.read_text().splitlines() if path is not None and path.exists() else []
        self.known: dict[str, Any] = {tuple(key): value for key, value in map(json.loads, lines)}

    def compute(self, work: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]) -> list[Any]:
        """The result of each task, in their order: ``work`` with its numbers and texts as arguments."""
        keys = [(work.__name__, *task) for task in tasks]
        missing = [key for key in keys if key not in self.known]
        made = Parallel(self.jobs, return_as="generator")(delayed(work)(*key[1:]) for key in missing)
        for key, value in zip(missing, made, strict=True):
            self.known[key] = value
            if self.path is not None:
                with self.path.open("a") as file:
                    file.write(json.dumps([key, value]) + "\n")
        return [self.known[key] for key in keys]


def summed_up(found: list[dict[str, Any]]) -> str:
    """Coverage, mean width and the share of fits that converged, as cells of a table."""
    held, width = (np.concatenate([one[name] for one in found]) for name in ("held", "width"))
    converged = np.mean([one["converged"] for one in found])
    return f"{held.mean():.3f} | {width.mean():.0f} | {100 * converged:.0f} %"


def left_out(parts: Parts, cores: int) -> list[str]:
    """The table of dates left out, with memory and without."""
    lines = [
        "| dates left out | errors of dates | cores | dates | coverage of 95 % | mean width, years | converged "
        "| without memory: coverage | width | converged |",
        "|:--|:--|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name in REAL:
        found = [parts.compute(left_out_real, [(name, k, m) for k in range(FOLDS)]) for m in (True, False)]
        dates = sum(len(one["held"]) for one in found[0])
        lines.append(f"| {name} | radiocarbon | 1 | {dates} | {' | '.join(map(summed_up, found))} |")
        print(lines[-1], flush=True)
    for name in MODELS:
        for errors, words in ERRORS.items():
            found = [
                parts.compute(left_out_simulated, [(name, FIRST + k, errors, memory) for k in range(cores)])
                for memory in (True, False)
            ]
            dates = sum(len(one["held"]) for one in found[0])
            lines.append(f"| {name} | {words} | {cores} | {dates} | {' | '.join(map(summed_up, found))} |")
            print(lines[-1], flush=True)
    return lines


def facts(parts: Parts, cores: int) -> list[str]:
    """What else there is to say, in sentences."""
    names = (*REAL, *MODELS)
    changes = parts.compute(refinement, [(name, True) for name in names])
    pairs = ", ".join(f"{name} {change:.1%}" for name, change in zip(names, changes, strict=True))
    found = [
        f"Largest change at nine depths between {', '.join(map(str, STEPS))} steps and with 50 empty layers, as a "
        f"share of the 95 % width, with memory: {pairs}.",
        "",
    ]
    for memory, words in (True, "With memory"), (False, "Without memory"):
        ((off, ratio),) = parts.compute(against_bacon, [(memory,)])
        times = [parts.compute(seconds, [(memory, seed)])[0] for seed in range(TIMED)]  # one after the other
        cpu, clock = (", ".join(f"{one[k]:.1f}" for one in times) for k in range(2))
        failed = sum(not one[2] for one in times)
        plain = [
            parts.compute(left_out_simulated, [(name, FIRST + k, "normal", memory, "normal") for k in range(cores)])
            for name in MODELS
        ]
        covered = (f"{name} {np.concatenate([one['held'] for one in each]).mean():.3f}"
                   for name, each in zip(MODELS, plain, strict=True))  # fmt: skip
        found += [
            f"{words}: on MSB2K, our means are {off:.0f} years from Bacon's on average, and our 95 % ranges "
            f"{ratio:.2f} times as wide. {TIMED} smooth cores of 40 dates and 200 steps take {cpu} s of CPU time, "
            f"or {clock} s by the clock; {failed or 'none'} of them did not converge. Where dates have "
            f"normal errors and the model assumes them, bands hold: {', '.join(covered)}.",
            "",
        ]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cores", type=int, default=100, help="simulated cores of each model")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="keep results in this file, and go on from those that it has")
    parser.add_argument("--markdown", type=Path, help="write the table into this page, between its markers")
    options = parser.parse_args()
    parts = Parts(options.keep, options.jobs)
    table, text = left_out(parts, options.cores), facts(parts, options.cores)
    print("\n".join(["", *text]))
    if options.markdown:
        fill_section(options.markdown, "held-out", "\n".join([COMMAND, "", *table, "", *text, machine()]))


if __name__ == "__main__":
    main()
