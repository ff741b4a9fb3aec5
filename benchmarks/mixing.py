"""How well mcmc mixes: effective draws a CPU second, over all inputs and parameters, and sweeps to convergence.

Records are simulated: gaps of mean 1 from a gamma distribution of shape 2, a Matérn-3/2 curve of length 10, dates with
a standard deviation t_sd and values with y_sd. One record is real: rows of five sites of New Jersey, taken together and
without order, of ages that suit two sides of a peak. The chains run one after the other on one CPU. The CPU time after
warm-up counts, until all inputs and parameters have R-hat <= 1.01 and 400 effective draws, or up to a limit; with
``--against`` at least 2,000 sweeps of each chain, because of fewer the effective draws are too uncertain.

    python benchmarks/mixing.py [--records "25 rows" ...] [--against PATH]
    python benchmarks/mixing.py --growth [--records "100 rows" ...] [--cpus 2] [--sweeps 2000]
    python benchmarks/mixing.py --growth --records "1,000,000 rows" --cpus 2 --markdown docs/benchmarks.md
    python benchmarks/mixing.py --against PATH --markdown docs/benchmarks.md
    python benchmarks/mixing.py --growth --cpus 2 --markdown docs/benchmarks.md

``--against`` runs the same records with another checkout of lamina, each in a process of its own, in turn.
``--growth`` runs records of 100 to 100,000 rows until they converge, and fits the growth of the number of sweeps.
Records of up to 1,000 rows are fitted several times, with other seeds (``--repetitions``), longer ones once. A million
rows have to be named: two chains of 400 sweeps after warm-up, for most of an hour.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shlex
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from report import fill_section, machine, peak_memory

HERE = Path(__file__).resolve().parent.parent


class Setting(NamedTuple):
    """A simulated record."""

    rows: int  #: of each core
    t_sd: float
    y_sd: float
    cores: int = 1
    sweeps: int = 20_000  #: the most after warm-up
    sites: tuple[str, ...] = ()  #: of ``atlantic.csv``, instead of a simulation
    chains: int = 4


NEW_JERSEY = ("Cape May Courthouse", "Leeds Point", "Cheesequake", "ATLANTIC CITY", "SANDY HOOK")
RECORDS = {
    "25 rows": Setting(25, 1.0, 0.05),
    "77 rows": Setting(77, 3.0, 0.1),
    "200 rows": Setting(200, 10.0, 0.1),
    "1,000 rows": Setting(1000, 10.0, 0.1, sweeps=8_000),
    "10,000 rows": Setting(10_000, 10.0, 0.1, sweeps=2_000),
    "three cores of 100 rows": Setting(100, 1.3, 0.15, cores=3),
    "New Jersey, 179 rows without order": Setting(179, np.nan, np.nan, sites=NEW_JERSEY),
}
GROWTH = {f"{rows:,} rows": Setting(rows, 10.0, 0.1) for rows in (100, 1000, 10_000, 100_000)}
#: Run by name only.
LONGEST = {"1,000,000 rows": Setting(1_000_000, 10.0, 0.1, sweeps=400, chains=2)}
LENGTH, SHAPE = 10.0, 2.0
#: Of all chains together, where effective draws are compared: of fewer, they would be too uncertain.
FEWEST_SWEEPS = 8000
#: Longer records are fitted once.
MOST_ROWS_REPEATED, REPETITIONS = 1000, 3


def simulate(setting: Setting, seed: int = 1) -> Any:
    """A record, and its curve drawn by the state-space form of the kernel."""
    import lamina

    rng = np.random.default_rng(seed)
    tau = [np.cumsum(rng.gamma(SHAPE, 1.0 / SHAPE, setting.rows)) for _ in range(setting.cores)]
    every = np.concatenate(tau)
    order = np.argsort(every)
    y, rate = np.empty(len(every)), np.sqrt(3.0) / LENGTH
    state = rng.standard_normal(2)
    for k, i in enumerate(order):
        if k > 0:
            z = rate * (every[i] - every[order[k - 1]])
            A = np.exp(-z) * np.array([[1.0 + z, z], [-z, 1.0 - z]])
            state = A @ state + np.linalg.cholesky(np.eye(2) - A @ A.T + 1e-12 * np.eye(2)) @ rng.standard_normal(2)
        y[i] = state[0]
    t = every + setting.t_sd * rng.standard_normal(len(every))
    y += setting.y_sd * rng.standard_normal(len(every))
    names = np.repeat([f"core {k}" for k in range(setting.cores)], setting.rows)
    sequence = {"sequence": list(names)} if setting.cores > 1 else {}
    return lamina.Record(t=t, t_sd=setting.t_sd, y=y, y_sd=setting.y_sd, **sequence)


def read(sites: tuple[str, ...]) -> Any:
    """All rows of these sites as one record without order. (An older lamina has no such dataset.)"""
    import lamina

    with (HERE / "src" / "lamina" / "datasets" / "atlantic.csv").open() as lines:
        rows = [
            row for row in csv.DictReader(line for line in lines if not line.startswith("#")) if row["site"] in sites
        ]
    t, t_sd, y, y_sd = (
        np.array([float(row[name]) for row in rows]) for name in ("age_ce", "age_sd", "rsl_m", "rsl_sd_m")
    )
    return lamina.Record(t=t, t_sd=t_sd, y=y, y_sd=y_sd, sequence=[None] * len(rows))


def measure(setting: Setting, seed: int = 0, cpus: int = 1, draws: int = 2000) -> dict[str, Any]:
    """One fit: effective draws a CPU second after warm-up, of the slowest input and of each parameter.

    It makes at least ``draws`` sweeps in all.
    """
    import lamina

    record, began = read(setting.sites) if setting.sites else simulate(setting), [time.process_time()]

    def watch(report: dict[str, Any]) -> None:
        if (
            report["stage"] == "warm-up"
        ):  # a report comes after the sweeps that it counts: the last one ends the warm-up
            began[0] = time.process_time()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that chains have not converged is part of the result
        lamina.fit(record, chains=1, draws=20, cores=1, warmup=10, max_sweeps=20)  # compiles
        start, clock = time.process_time(), time.perf_counter()
        options = {"chains": setting.chains, "draws": draws, "cores": cpus, "progress": watch}
        found = lamina.fit(record, seed=seed, max_sweeps=setting.sweeps, **options).diagnostics
    seconds, sweeps = time.process_time() - began[0], found["sweeps"] - found["warmup"]
    ess = {"inputs": float(np.min(found["ess_inputs"])), **found["ess_theta"]}
    return {
        "a second": {name: value / seconds for name, value in ess.items()},
        "least": min(ess.values()),
        "sweeps": sweeps,
        "microseconds": 1e6 * seconds / (setting.chains * sweeps * setting.rows * setting.cores),
        "CPU seconds": time.process_time() - start,
        "seconds": time.perf_counter() - clock,
        "converged": bool(found["converged"]),
        "r_hat": found["r_hat"],
        "megabytes": peak_memory(),
    }


def run_in(checkout: Path, name: str, options: argparse.Namespace, seed: int | None = None) -> dict[str, Any]:
    """``measure`` in a process of its own, with the lamina of a checkout."""
    environment = os.environ | {"PYTHONPATH": str(checkout / "src")}
    seed = options.seed if seed is None else seed
    command = [sys.executable, __file__, "--one", name, "--seed", str(seed), "--cpus", str(options.cpus)]
    command += ["--sweeps", str(options.sweeps)] if options.sweeps else []
    command += ["--growth"] if options.growth else []
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def seeds(name: str, options: argparse.Namespace) -> range:
    """Of the fits of a record."""
    setting = (RECORDS | GROWTH | LONGEST)[name]
    return range(options.seed, options.seed + (options.repetitions if setting.rows <= MOST_ROWS_REPEATED else 1))


def slowest(found: dict[str, Any]) -> tuple[str, float]:
    """The quantity with the fewest effective draws a second, and how many."""
    return min(found["a second"].items(), key=lambda item: item[1])


def compare(names: list[str], options: argparse.Namespace) -> str:
    """A table of effective draws, here and in the other checkout."""
    lines = [
        "| record | before | now | ratio | slowest before, now | draws a sweep, before and now | µs a row and sweep |",
        "|:--|--:|--:|--:|:--|:--|:--|",
    ]
    for name in names:
        both: list[list[dict[str, Any]]] = [[], []]
        for seed in seeds(name, options):
            for found, checkout in zip(both, (options.against, HERE), strict=True):
                found.append(run_in(checkout, name, options, seed))
        old, new = (_mean([slowest(one)[1] for one in found]) for found in both)
        slow = [", ".join(sorted({slowest(one)[0] for one in found})) for found in both]
        chains = RECORDS[name].chains
        a_sweep = [f"{_mean([one['least'] / (chains * one['sweeps']) for one in found]):.2g}" for found in both]
        cost = [f"{_mean([one['microseconds'] for one in found]):.2g}" for found in both]
        row = [
            name,
            f"{old:,.3g}",
            f"{new:,.3g}",
            f"{new / old:.1f}",
            "; ".join(slow),
            ", ".join(a_sweep),
            ", ".join(cost),
        ]
        lines.append(f"| {' | '.join(row)} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def _mean(values: list[float]) -> float:
    """The geometric mean."""
    return float(np.exp(np.mean(np.log(values))))


def grow(names: list[str], options: argparse.Namespace) -> str:
    """A table of sweeps to convergence, and how they grow with the number of rows."""
    lines = [
        "| record | fits | sweeps of each chain | CPU s | s | converged | R-hat | fewest effective draws | of | MB |",
        "|:--|--:|--:|--:|--:|:--|--:|--:|:--|--:|",
    ]
    sizes = []
    for name in names:
        found = [run_in(HERE, name, options, seed) for seed in seeds(name, options)]
        sweeps, cpu, seconds, least, memory = (
            float(np.mean([one[what] for one in found]))
            for what in ("sweeps", "CPU seconds", "seconds", "least", "megabytes")
        )
        converged = all(one["converged"] for one in found)
        if converged:
            sizes.append(((GROWTH | LONGEST)[name].rows, sweeps))
        row = [name, f"{len(found)}", f"{sweeps:,.0f}", f"{cpu:,.0f}", f"{seconds:,.0f}"]
        row += ["yes" if converged else "no", f"{max(one['r_hat'] for one in found):.3f}"]
        row += [f"{least:.0f}", ", ".join(sorted({slowest(one)[0] for one in found})), f"{memory:.0f}"]
        lines.append(f"| {' | '.join(row)} |")
        print(lines[-1], flush=True)
    if len(sizes) < 2:
        return "\n".join(lines)
    exponent = np.polyfit(*np.log(np.array(sizes, dtype=float)).T, 1)[0]
    return "\n".join(lines) + f"\n\nThe number of sweeps of fits that converged grows as N to the power {exponent:.2f}."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--records", nargs="*")
    parser.add_argument("--against", type=Path, help="another checkout of lamina")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--repetitions", type=int, default=REPETITIONS, help="fits of each record of up to 1,000 rows, with other seeds"
    )
    parser.add_argument("--cpus", type=int, default=1, help="on which the chains of a record run")
    parser.add_argument("--sweeps", type=int, help="at most so many sweeps of each chain after warm-up")
    parser.add_argument("--one", help="measure this record here, and print what was found as JSON")
    parser.add_argument("--markdown", type=Path, help="write the table into this page")
    options = parser.parse_args()
    if options.against is not None and not (options.against / "src" / "lamina" / "__init__.py").is_file():
        parser.error(f"--against: {options.against} is no checkout of lamina")
    every = GROWTH if options.growth else RECORDS
    if options.one:
        setting = (every | LONGEST)[options.one]
        setting = setting._replace(sweeps=options.sweeps or setting.sweeps)
        print(json.dumps(measure(setting, options.seed, options.cpus, 2000 if options.growth else FEWEST_SWEEPS)))
        return
    if options.against is None and not options.growth:
        for name in options.records or every:
            print(name, run_in(HERE, name, options), flush=True)
        return
    table = (grow if options.growth else compare)(options.records or list(every), options)
    if options.markdown:
        section = "mixing-growth" if options.growth else "mixing"
        section = "mixing-longest" if options.records == list(LONGEST) else section
        how = f"--growth --cpus {options.cpus}" if options.growth else "--against PATH"
        how += f" --records {shlex.join(options.records)}" if options.records else ""
        how += f" --repetitions {options.repetitions}" if options.repetitions != REPETITIONS else ""
        command = f"python benchmarks/mixing.py {how} --markdown docs/benchmarks.md"
        fill_section(options.markdown, section, f"Command: `{command}`\n\n{machine()}\n\n{table}")


if __name__ == "__main__":
    main()
