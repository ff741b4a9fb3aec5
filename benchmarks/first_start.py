"""Processor time of whole processes: a first fit, whose code has to be compiled, and later ones, which load it.

python benchmarks/first_start.py [--markdown docs/benchmarks.md]

Compared with a process that compiles a one-line Numba function, in the same run. Numba's coloured messages are off, as
they are where colorama is not installed: it formats many that nobody sees.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from report import fill_section, machine

#: Later processes of each kind; the one that took least processor time counts.
LATER = 3
#: At most this many times the processor time of the one-line function, in the first process.
LIMITS = {"plain": 16.0, "every feature": 35.0}
#: Seconds that ``lamina demo`` may take in a later process.
DEMO = 3.5

ONE_LINE = """
from numba import njit
@njit
def add_one(x):
    return x + 1.0
add_one(1.0)
"""
PLAIN = """
import numpy as np, lamina
rng = np.random.default_rng(0)
tau = np.linspace(0.0, 10.0, 25)
record = lamina.Record(
    t=tau + 0.3 * rng.standard_normal(25), t_sd=0.3, y=np.sin(tau) + 0.1 * rng.standard_normal(25), y_sd=0.1
)
lamina.fit(record).curve(np.linspace(0.0, 10.0, 100))
"""
#: Two cores with depths, a hiatus, a minimum gap and rows at one depth; loose and exact rows; several kinds of
#: dates; limits; and everything that a model may have beside. It need not converge.
EVERYTHING = """
import warnings
import numpy as np, lamina
from lamina.dates import SplitNormal, StudentT, Uniform
warnings.simplefilter("ignore", lamina.NotConverged)
rng = np.random.default_rng(0)
core = np.linspace(0.0, 1000.0, 12)
tau = np.concatenate([core, core + 30.0, [200.0, 600.0], [100.0, 900.0]])
n = len(tau)
t_sd = np.array([40.0] * 26 + [0.0] * 2)
dates = [None] * n
dates[3], dates[15] = SplitNormal(tau[3], 30.0, 60.0), StudentT(tau[15], 40.0)
dates[20] = Uniform(tau[20] - 80.0, tau[20] + 80.0)
depth = np.concatenate([np.arange(12.0), np.arange(12.0), np.full(4, np.nan)])
depth[6] = depth[5]
hiatus = np.zeros(n, dtype=bool)
hiatus[8] = True
record = lamina.Record(
    t=tau + t_sd * rng.standard_normal(n), t_sd=t_sd, y=np.sin(tau / 150.0) + 0.1 * rng.standard_normal(n), y_sd=0.1,
    sequence=["A"] * 12 + ["B"] * 12 + [None] * 4, dates=dates, depth=depth, hiatus=hiatus, least_gap=1.0,
    limit=["above" if k in (2, 14) else None for k in range(n)],
)
posterior = lamina.fit(
    record, kernel=lamina.Matern32(), mean="linear", outliers="student", offsets=0.5, memory=True,
    estimate="t_scale", max_sweeps=300,
)
posterior.curve(np.linspace(0.0, 1000.0, 100))
"""


class Start(NamedTuple):
    """Seconds of a whole process."""

    processor: float  #: of all its threads
    clock: float


def start(arguments: list[str], cache: str) -> Start:
    """Run Python in a process of its own."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING": "1"}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, env=environment, stdout=subprocess.DEVNULL)
    clock, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Start(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, clock)


def first_and_later(arguments: list[str]) -> tuple[Start, Start]:
    """The first process with an empty cache, and the fastest of the later ones."""
    with tempfile.TemporaryDirectory() as cache:
        return start(arguments, cache), min(start(arguments, cache) for _ in range(LATER))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", type=Path, help="write the table into this page, between its markers")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        unit = min(start(["-c", ONE_LINE], cache) for _ in range(LATER))
    lines = [
        "| whole process | first, processor time | ÷ one-line function | limit | later, processor | later, clock |",
        "|:--|--:|--:|--:|--:|--:|",
        f"| a one-line Numba function | {unit.processor:.1f} s | 1 | | | |",
    ]
    for name, code in {"plain": PLAIN, "every feature": EVERYTHING}.items():
        first, later = first_and_later(["-c", code])
        lines.append(
            f"| `lamina.fit` and `curve`, {name} | {first.processor:.1f} s | {first.processor / unit.processor:.1f} | "
            f"≤ {LIMITS[name]:g} | {later.processor:.1f} s | {later.clock:.1f} s |"
        )
        print(lines[-1], flush=True)
    with tempfile.TemporaryDirectory() as out:
        first, later = first_and_later(["-m", "lamina", "demo", "--quiet", "--force", "--out", f"{out}/demo"])
    lines.append(
        f"| `lamina demo` | {first.processor:.1f} s | {first.processor / unit.processor:.1f} | later: ≤ {DEMO:g} s | "
        f"{later.processor:.1f} s | {later.clock:.1f} s |"
    )
    print("\n".join(lines))
    if options.markdown:
        load = f"Load of the machine at the end of the run: {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs."
        command = "python benchmarks/first_start.py --markdown docs/benchmarks.md"
        text = f"{machine()} {load}\n\nCommand: `{command}`\n\n" + "\n".join(lines)
        fill_section(options.markdown, "first-start", text)


if __name__ == "__main__":
    main()
