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
from pathlib import Path

import numpy as np
from report import fill_section, machine, peak_memory

import lamina


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
    ("mcmc", 1_000_000, {"chains": 2, "warmup": 20, "max_sweeps": 30, "draws": 20}),
]


def one(k: int) -> None:
    """One long fit, in a process of its own: prints seconds and memory."""
    import warnings

    warnings.simplefilter("ignore")
    method, rows, options = LONG[k]
    small = dict(options, max_steps=1) if method == "npv" else options
    lamina.fit(long_record(60), method=method, **small)
    record = long_record(rows)
    began = time.perf_counter()
    posterior = lamina.fit(record, method=method, **options)
    fitted = time.perf_counter()
    posterior.curve(np.linspace(record.t.min(), record.t.max(), 1000))
    facts = posterior.diagnostics
    told = {key: facts[key] for key in ("sweeps", "steps", "evaluations") if key in facts}
    ess = min(facts.get("ess_theta", {"": float("nan")}).values())
    memory = peak_memory()
    print(
        json.dumps({"fit": fitted - began, "curve": time.perf_counter() - fitted, "memory": memory, "ess": ess} | told)
    )


def run_long() -> str:
    lines = [
        "| method | rows | work | fit, s | curve at 1,000 times, s | peak memory, MB |",
        "|:--|--:|:--|--:|--:|--:|",
    ]
    for k, (method, rows, _) in enumerate(LONG):
        done = subprocess.run([sys.executable, __file__, "--one", str(k)], capture_output=True, text=True)
        if done.returncode:
            lines.append(f"| {method} | {rows:,} | failed: {done.stderr.strip().splitlines()[-1][:80]} | | | |")
        else:
            found = json.loads(done.stdout)
            work = ", ".join(f"{found[key]:,} {key}" for key in ("sweeps", "steps", "evaluations") if key in found)
            if method == "mcmc":
                work += f", fewest effective draws of theta {found['ess']:.0f}"
            numbers = f"{found['fit']:.1f} | {found['curve']:.1f} | {found['memory']:,.0f}"
            lines.append(f"| {method} | {rows:,} | {work} | {numbers} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=200)
    parser.add_argument("--rows", type=int, default=50)
    parser.add_argument("--markdown", type=Path, help="write the results into this page, between its markers")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        one(options.one)
        return
    text = run_batch(options.records, options.rows)
    print(text, flush=True)
    text = f"{text}\n\n{run_long()}"
    if options.markdown:
        command = f"python benchmarks/many.py --records {options.records} --rows {options.rows}"
        fill_section(options.markdown, "many", f"{machine()}\n\nCommand: `{command}`\n\n{text}")


if __name__ == "__main__":
    main()
