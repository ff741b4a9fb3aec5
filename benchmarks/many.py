"""A batch of many records, on one worker, on two and on a Dask cluster; and long records, with their memory.

python benchmarks/many.py [--only batch | long | growth | report] [--records 200] [--rows 50]
                          [--markdown docs/benchmarks.md]
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client, LocalCluster
from engine import Target, aligned, target_table
from report import fill_section, machine, peak_memory

import lamina
from lamina.output.fit import write_fit
from lamina.output.run import OutputRequest


def short_record(seed: int, rows: int) -> lamina.Record:
    """A made-up core."""
    rng = np.random.default_rng(seed)
    tau = np.cumsum(rng.gamma(4.0, 10.0, rows))
    y = np.sin(tau / 300.0) + 0.3 * np.sin(tau / 90.0) + 0.1 * rng.standard_normal(rows)
    return lamina.Record(t=tau + 40.0 * rng.standard_normal(rows), t_sd=40.0, y=y, y_sd=0.1)


def timed_batch(records: dict[str, lamina.Record], out: Path, **options: Any) -> tuple[float, Any, list[bytes]]:
    """Seconds of a batch, its summary, and its tables as they are on disk."""
    began = time.perf_counter()
    summary = lamina.batch(records, out, **options)
    seconds = time.perf_counter() - began
    return seconds, summary, [path.read_bytes() for path in sorted(out.glob("*/*.csv"))]


def killing_half_way(workers: dict[str, int], total: int) -> Callable[[int, int], None]:
    """A function to call with (done, all) that kills the first of these processes when half of the records are done."""
    waiting = [next(iter(workers.values()))]

    def progress(done: int, _: int) -> None:
        if done >= total // 2 and waiting:
            os.kill(waiting.pop(), signal.SIGKILL)

    return progress


def run_batch(options: argparse.Namespace) -> tuple[str, list[Target]]:
    """Seconds of a batch on one worker, on two and on a Dask cluster that loses one, and that all gave the same."""
    count, rows = options.records, options.rows
    records = {f"record {k}": short_record(k, rows) for k in range(count)}
    with tempfile.TemporaryDirectory() as folder:
        lamina.batch({"warm": short_record(0, rows)}, Path(folder) / "warm", workers=1)
        two, _, expected = timed_batch(records, Path(folder) / "2", workers=2)
        one, summary, alone = timed_batch(records, Path(folder) / "1", workers=1)
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
            with Client(cluster) as client:
                workers = client.run(os.getpid)
            killing = killing_half_way(workers, count)
            dask, lost, on_dask = timed_batch(
                records, Path(folder) / "dask", dask=cluster.scheduler_address, progress=killing
            )
    converged, missing = int((summary["state"] == "converged").sum()), int((lost["state"] != "converged").sum())
    same = "the same" if expected == alone == on_dask else "DIFFERENT"
    sentence = (
        f"{count} records of {rows} rows, default fits with tables and report, take {one:.0f} s on one worker, "
        f"{two:.0f} s on two, and {dask:.0f} s on a Dask cluster of two worker processes of which one is killed "
        f"half-way. {converged} fits converged, and {missing} were lost on the cluster. All tables are {same} to the "
        "bit."
    )
    return sentence, [
        Target("times faster on two workers than on one", one / two, 1.7, at_least=True),
        Target("seconds on two workers", two, 120),
    ]


def long_record(rows: int) -> lamina.Record:
    """A layered record."""
    rng = np.random.default_rng(rows)
    tau = np.cumsum(rng.gamma(4.0, 0.25, rows))
    y = np.sin(tau / 20.0) + 0.5 * np.sin(tau / 7.0) + 0.2 * rng.standard_normal(rows)
    return lamina.Record(t=tau + 0.7 * rng.standard_normal(rows), t_sd=0.7, y=y, y_sd=0.2)


#: What is run on long records: method, rows, options.
LONG = [
    ("gp", 100_000, {}),
    ("gp", 1_000_000, {}),
    ("nigp", 100_000, {"starts": 2}),
    ("nigp", 1_000_000, {"starts": 2}),
    ("npv", 100_000, {}),
    ("npv", 1_000_000, {"restarts": 1, "max_steps": 2, "draws": 10}),
    ("mcmc", 100_000, {"chains": 2, "warmup": 200, "max_sweeps": 300, "draws": 200}),
    ("mcmc", 100_000, {"chains": 2, "warmup": 1000, "max_sweeps": 1000, "draws": 200}),
    ("mcmc", 1_000_000, {"chains": 2, "warmup": 20, "max_sweeps": 30, "draws": 20}),
]
#: Rows at which the time of a sweep is taken, and sweeps.
GROWTH = {1000: 2000, 10_000: 300, 100_000: 40, 1_000_000: 8}


def quiet_fit(rows: int, method: str = "mcmc", **options: Any) -> tuple[lamina.Posterior, float]:
    """A fit that need not converge, and its seconds."""
    record = long_record(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = time.perf_counter()
        posterior = lamina.fit(record, method, **options)
        return posterior, time.perf_counter() - began


def one(k: int) -> dict[str, Any]:
    """One long fit, and the curve at a thousand and at 100,000 times."""
    method, rows, options = LONG[k]
    quiet_fit(60, method, **(options | {"max_steps": 1} if method == "npv" else options))
    posterior, seconds = quiet_fit(rows, method, **options)
    posterior.curve([0.0])  # loads what is compiled
    facts, found = posterior.diagnostics, {"fit": seconds}
    for points in (1000, 100_000):
        began = time.perf_counter()
        posterior.curve(np.linspace(posterior.record.t.min(), posterior.record.t.max(), points))
        found[f"curve {points}"] = time.perf_counter() - began
    found |= {key: facts[key] for key in ("sweeps", "steps", "evaluations", "converged") if key in facts}
    return found | {"ess": facts.get("ess_theta", {}), "draws": len(posterior.tau), "memory": peak_memory()}


def growth() -> dict[str, Any]:
    """Microseconds a row and sweep of one chain at each size; and seconds of two chains on one core and on two."""
    quiet_fit(60, chains=1, warmup=50, max_sweeps=50)
    each = {}
    for rows, sweeps in GROWTH.items():
        # A run of twice the length less one of the length: what is done once, before and after the sweeps, is left out.
        once, twice = (
            quiet_fit(rows, chains=1, cores=1, warmup=k * sweeps // 2, max_sweeps=k * sweeps // 2, draws=20)[1]
            for k in (1, 2)
        )
        each[rows] = 1e6 * (twice - once) / (rows * sweeps)
    both = {cores: quiet_fit(100_000, chains=2, cores=cores, warmup=20, max_sweeps=20, draws=20)[1] for cores in (1, 2)}
    return {"each": each, "both": both, "memory": peak_memory()}


def report(rows: int = 100_000) -> dict[str, Any]:
    """All files of a long record: seconds, size of the report, memory."""
    posterior, _ = quiet_fit(rows, chains=2, warmup=5, max_sweeps=100, draws=200)
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        write_fit(posterior, Path(folder), OutputRequest())
        seconds, size = time.perf_counter() - began, (Path(folder) / "report.html").stat().st_size
    return {"seconds": seconds, "size": size / 1e6, "memory": peak_memory()}


def alone(*arguments: str) -> dict[str, Any]:
    """What this script prints with these arguments, in a process of its own, so that its memory can be measured."""
    done = subprocess.run([sys.executable, __file__, *arguments], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr.strip().splitlines()[-1][:80]}


def run_long(options: argparse.Namespace) -> tuple[str, list[Target]]:
    head = "| method | rows | draws kept | work | fit, s | curve at 1,000 times, s | at 100,000 | peak memory, MB |"
    lines, targets = [head, "|:--|--:|--:|:--|--:|--:|--:|--:|"], []
    for k, (method, rows, given) in enumerate(LONG):
        found = alone("--one", str(k))
        if "failed" in found:
            lines.append(f"| {method} | {rows:,} | | failed: {found['failed']} | | | | |")
        else:
            work = ", ".join(f"{found[key]:,} {key}" for key in ("sweeps", "steps", "evaluations") if key in found)
            if method == "mcmc":
                ess = ", ".join(f"{name} {value:.0f}" for name, value in found["ess"].items())
                work += f" of {given['chains']} chains; effective draws: {ess}"
            elif not found["converged"]:
                work += ", not converged"
            numbers = (found["fit"], found["curve 1000"], found["curve 100000"])
            shown = " | ".join(f"{value:.1f}" for value in numbers)
            lines.append(f"| {method} | {rows:,} | {found['draws']} | {work} | {shown} | {found['memory']:,.0f} |")
            targets += _held_to(method, rows, found)
        print(lines[-1], flush=True)
    return "\n".join(lines), targets


def _held_to(method: str, rows: int, found: dict[str, Any]) -> list[Target]:
    if (method, rows) == ("gp", 1_000_000):
        limits = {"fit": ("seconds", 300.0), "memory": ("MB", 6000.0)}
    elif (method, rows) == ("npv", 100_000):
        # one that has not converged has no seconds to show
        limits = {"fit": ("seconds to convergence", 600.0), "memory": ("MB", 3000.0)}
        found = found if found["converged"] else found | {"fit": math.inf}
    elif (method, rows, found.get("sweeps")) == ("mcmc", 100_000, 500):
        limits = {"fit": ("seconds", 180.0), "memory": ("MB", 2000.0)}
    elif (method, rows, found.get("sweeps")) == ("mcmc", 100_000, 2000):
        least = min(found["ess"].values())
        return [
            Target("fewest effective draws of a parameter, 2,000 sweeps of 100,000 rows", least, 100, at_least=True)
        ]
    else:
        return []
    return [Target(f"{unit}, {method}, {rows:,} rows", found[key], limit) for key, (unit, limit) in limits.items()]


def run_growth(options: argparse.Namespace) -> tuple[str, list[Target]]:
    found = alone("--growth")
    if "failed" in found:
        return f"Growth: failed: {found['failed']}", []
    rows = np.array([int(key) for key in found["each"]], dtype=float)
    each = np.array(list(found["each"].values()))
    power = np.polyfit(np.log(rows), np.log(each * rows), 1)[0]
    shown = ", ".join(f"{value:.2f} at {int(n):,}" for n, value in zip(rows, each, strict=True))
    ratio = found["both"]["1"] / found["both"]["2"]
    return (
        f"A sweep of one chain takes, in microseconds per row: {shown} rows. The time of a sweep grows as N to the "
        f"power {power:.2f}. Two chains of 100,000 rows are {ratio:.2f} times as fast on two CPUs as on one."
    ), [Target("growth exponent, a sweep from 1,000 to 1,000,000 rows", power, 1.1)]


def run_report(options: argparse.Namespace) -> tuple[str, list[Target]]:
    found = alone("--report")
    if "failed" in found:
        return f"Report: failed: {found['failed']}", []
    return (
        f"Writing all files of a record of 100,000 rows with 200 draws, including figures and report, takes "
        f"{found['seconds']:.0f} s. The report has {found['size']:.1f} MB, and the peak memory of the process is "
        f"{found['memory']:,.0f} MB."
    ), []


#: By the name of their section in the page.
SECTIONS = {"batch": run_batch, "long": run_long, "growth": run_growth, "report": run_report}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=list(SECTIONS), help="one section alone")
    parser.add_argument("--records", type=int, default=200)
    parser.add_argument("--rows", type=int, default=50)
    parser.add_argument("--markdown", type=Path, help="write the results into this page, between its markers")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--growth", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--report", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None or options.growth or options.report:
        print(json.dumps(growth() if options.growth else report() if options.report else one(options.one)))
        return
    for name in [options.only] if options.only else SECTIONS:
        command = f"python benchmarks/many.py --only {name} --markdown docs/benchmarks.md"
        if name == "batch":
            command += f" --records {options.records} --rows {options.rows}"
        summary, targets = SECTIONS[name](options)
        parts = [
            machine(("lamina", "numpy", "numba", "scipy", "joblib", "distributed")),
            f"Command: `{command}`",
            summary,
        ]
        parts += [aligned(target_table(targets))] if targets else []
        text = "\n\n".join(parts)
        print(text, flush=True)
        if options.markdown:
            fill_section(options.markdown, name, text)


if __name__ == "__main__":
    main()
