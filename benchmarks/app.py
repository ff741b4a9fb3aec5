"""Seconds until ``lamina app`` has started, shows its first page, and shows 2,000 rows as understood, in Chromium.

python benchmarks/app.py [--markdown docs/benchmarks.md]
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from report import fill_section, machine

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from browser import Tab, chromium  # it belongs to the tests

ROWS, REPETITIONS = 2000, 5
#: Seconds that each step may take.
LIMITS = {"the app starts": 1.5, "first page": 0.5, f"{ROWS:,} rows understood and shown": 1.0}
#: Whether a table is shown with what was understood.
READ = "document.documentElement?.dataset.read && document.querySelectorAll('#grid td').length"
#: Drops a table on the page.
DROP = """(() => {
    const files = new DataTransfer();
    files.items.add(new File([%s], "long.csv"));
    const event = new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: files });
    document.getElementById("drop").dispatchEvent(event);
})()"""


def table() -> str:
    """A table of a core: depths, ages, values and their errors."""
    rows = [f"{k},{10 * k + 7 * (k % 3)},25,{-0.001 * k:.3f},0.1" for k in range(1, ROWS + 1)]
    return "\n".join(["depth (cm),age (cal BP),age_sd,rsl (m),rsl_sd", *rows]) + "\n"


def wait(tab: Tab, script: str) -> float:
    """The time at which a piece of JavaScript was true first; asked often, since each answer ends a step."""
    until = time.perf_counter() + 60.0
    while time.perf_counter() < until:
        try:
            if tab.ask(script):
                return time.perf_counter()
        except RuntimeError:  # between two pages
            pass
        time.sleep(0.005)
    raise SystemExit(f"not true after a minute: {script}")


def measure(tab: Tab, folder: Path) -> list[float]:
    """Seconds of each step, with a new server. The browser runs already."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "lamina", "app", "--no-browser", "--folder", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as app:
        try:
            assert app.stdout is not None
            found = re.search(r"http://\S+", app.stdout.readline())
            assert found, "the app has not started"
            started = time.perf_counter()
            tab.visit(found[0])
            shown = wait(tab, "location.search === '' && document.querySelectorAll('#records li').length")
            time.sleep(2.0)  # someone looks for a table; meanwhile the process that reads tables starts
            dropped = time.perf_counter()
            tab.ask(DROP % json.dumps(table()))
            understood = wait(
                tab, "document.documentElement?.dataset.read && document.querySelectorAll('#grid td').length"
            )
            return [started - began, shown - started, understood - dropped]
        finally:
            app.terminate()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", type=Path, help="write the table into this page, between its markers")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home, chromium(Path(home, "profile"), offline=False) as tab:
        Path(home, "runs").mkdir()
        runs = [measure(tab, Path(home, "runs")) for _ in range(REPETITIONS)]
    lines = ["| step | seconds, median | slowest | limit |", "|:--|--:|--:|--:|"]
    for (name, limit), seconds in zip(LIMITS.items(), zip(*runs, strict=True), strict=True):
        lines.append(f"| {name} | {median(seconds):.2f} | {max(seconds):.2f} | < {limit:g} |")
    print("\n".join(lines))
    if options.markdown:
        packages = ("lamina", "starlette", "uvicorn")
        command = "python benchmarks/app.py --markdown docs/benchmarks.md"
        text = f"{machine(packages)}\n\nCommand: `{command}`, {REPETITIONS} times\n\n" + "\n".join(lines)
        fill_section(options.markdown, "app", text)


if __name__ == "__main__":
    main()
