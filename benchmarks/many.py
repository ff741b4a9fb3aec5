"""A batch of many records, on one worker process and on two; and long records, with their memory.

python benchmarks/many.py [--records 200] [--rows 50] [--markdown docs/benchmarks.md]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from report import fill_section, machine, peak_memory

import lamina
from lamina.results import Asked, write


def short_record(seed: int, rows: int) -> lamina.Record:
    """A made-up core."""
    rng = np.random.default_rng(seed)
    tau = np.cumsum(rng.gamma(4.0, 10.0, rows))
    y = np.sin(tau / 300.0) + 0.3 * np.sin(tau / 90.0) + 0.1 * rng.standard_normal(rows)
    return lamina.Record(t=tau + 40.0 * rng.standard_normal(rows), t_sd=40.0, y=y, y_sd=0.1)


def run_batch(count: int, rows: int) -> str:
    """Seconds of a batch on one and on two workers, and that both gave the same."""
    records = {f"record {k}": short_record(k, rows) for k in range(count)}
    seconds, curves, converged = {}, {}, 0
    with tempfile.TemporaryDirectory() as folder:
        lamina.batch({"warm": short_record(0, rows)}, Path(folder) / "warm", workers=1)
        for workers in (2, 1):
            out = Path(folder) / str(workers)
            began = time.perf_counter()
            summary = lamina.batch(records, out, workers=workers)
            seconds[workers] = time.perf_counter() - began
            converged = int((summary["state"] == "converged").sum())
            curves[workers] = [path.read_bytes() for path in sorted(out.glob("*/curve.csv"))]
    same = "the same" if curves[1] == curves[2] else "DIFFERENT"
    ratio = seconds[1] / seconds[2]
    return (
        f"{count} records of {rows} rows, default fits with tables and report: {seconds[1]:.0f} s on one worker, "
        f"{seconds[2]:.0f} s on two, {ratio:.2f} times faster; {converged} converged; results {same} to the bit."
    )


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
    ("npv", 100_000, {"restarts": 1, "max_steps": 3, "draws": 50}),
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
    facts, told = posterior.diagnostics, {"fit": seconds}
    for points in (1000, 100_000):
        began = time.perf_counter()
        posterior.curve(np.linspace(posterior.record.t.min(), posterior.record.t.max(), points))
        told[f"curve {points}"] = time.perf_counter() - began
    told |= {key: facts[key] for key in ("sweeps", "steps", "evaluations") if key in facts}
    return told | {"ess": facts.get("ess_theta", {}), "memory": peak_memory()}


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
        write(posterior, Path(folder), Asked())
        seconds, size = time.perf_counter() - began, (Path(folder) / "report.html").stat().st_size
    return {"seconds": seconds, "size": size / 1e6, "memory": peak_memory()}


def alone(*arguments: str) -> dict[str, Any]:
    """What this script prints with these arguments, in a process of its own, so that its memory can be told."""
    done = subprocess.run([sys.executable, __file__, *arguments], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr.strip().splitlines()[-1][:80]}


def run_long() -> str:
    head = "| method | rows | work | fit, s | curve at 1,000 times, s | at 100,000 | peak memory, MB |"
    lines = [head, "|:--|--:|:--|--:|--:|--:|--:|"]
    for k, (method, rows, options) in enumerate(LONG):
        found = alone("--one", str(k))
        if "failed" in found:
            lines.append(f"| {method} | {rows:,} | failed: {found['failed']} | | | | |")
        else:
            work = ", ".join(f"{found[key]:,} {key}" for key in ("sweeps", "steps", "evaluations") if key in found)
            if method == "mcmc":
                ess = ", ".join(f"{name} {value:.0f}" for name, value in found["ess"].items())
                work += f" of {options['chains']} chains; effective draws: {ess}"
            numbers = (found["fit"], found["curve 1000"], found["curve 100000"])
            told = " | ".join(f"{value:.1f}" for value in numbers)
            lines.append(f"| {method} | {rows:,} | {work} | {told} | {found['memory']:,.0f} |")
        print(lines[-1], flush=True)
    return "\n".join([*lines, "", _growth_told(alone("--growth")), "", _report_told(alone("--report"))])


def _growth_told(found: dict[str, Any]) -> str:
    if "failed" in found:
        return f"Growth: failed: {found['failed']}"
    rows = np.array([int(key) for key in found["each"]], dtype=float)
    each = np.array(list(found["each"].values()))
    power = np.polyfit(np.log(rows), np.log(each * rows), 1)[0]
    told = ", ".join(f"{value:.2f} at {int(n):,}" for n, value in zip(rows, each, strict=True))
    ratio = found["both"]["1"] / found["both"]["2"]
    return (
        f"A sweep of one chain takes, in microseconds a row: {told} rows; time a sweep grows as N to the power "
        f"{power:.2f}. Two chains of 100,000 rows on two cores are {ratio:.2f} times as fast as on one."
    )


def _report_told(found: dict[str, Any]) -> str:
    if "failed" in found:
        return f"Report: failed: {found['failed']}"
    return (
        f"All files of a record of 100,000 rows with 200 draws, figures and report among them, take "
        f"{found['seconds']:.0f} s; the report has {found['size']:.1f} MB, and the process held {found['memory']:,.0f} "
        "MB at most."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
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
    text = run_batch(options.records, options.rows)
    print(text, flush=True)
    text = f"{text}\n\n{run_long()}"
    if options.markdown:
        command = f"python benchmarks/many.py --records {options.records} --rows {options.rows}"
        fill_section(options.markdown, "many", f"{machine()}\n\nCommand: `{command}`\n\n{text}")


if __name__ == "__main__":
    main()
