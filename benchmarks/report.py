"""What the benchmark scripts share: a line about the machine, and writing a table into a page of the docs.

A table that is written into a page ends with a stamp: the script, a digest of it, the commit, the day and the load of
the machine. ``evidence.py`` runs again what is out of date. A test fails if a script has changed since its table was
written.
"""

from __future__ import annotations

import datetime
import hashlib
import importlib.metadata
import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
#: How busy the machine was when the script began.
LOAD_BEFORE = os.getloadavg()[0]
STAMP = re.compile(
    r"^\*`(?P<script>[\w/.]+)` \((?P<digest>[0-9a-f]{12})\), commit (?P<commit>[0-9a-f]+|unknown)", re.MULTILINE
)


class Stamp(NamedTuple):
    """Which script wrote a section, in which state of the code."""

    script: str  #: path from the root of the project
    digest: str  #: of the script and of the scripts that it imports
    commit: str


def machine(packages: tuple[str, ...] = ("lamina", "numpy", "numba", "scipy")) -> str:
    """The processor, and the versions of the packages that are installed."""
    found = []
    for name in packages:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    cpus = len(os.sched_getaffinity(0))
    return f"{_processor()}, {cpus} CPUs; Python {platform.python_version()}, {', '.join(found)}."


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def peak_memory() -> float:
    """The most memory this process has held, in MB. (What getrusage says is that of the parent, if that held more.)"""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return float(line.split()[1]) / 1024.0
    return float("nan")


def digest(script: Path) -> str:
    """Twelve digits that change with the script or with one of the scripts that it imports, ``report`` apart."""
    found: dict[str, bytes] = {}
    waiting = [script]
    while waiting:
        path = waiting.pop()
        found[path.name] = path.read_bytes()
        names = re.findall(r"^\s*(?:from|import) (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        imported = (script.parent / f"{name}.py" for name in names if name != "report")
        waiting += [other for other in imported if other.exists() and other.name not in found]
    return hashlib.sha256(b"".join(found[name] for name in sorted(found))).hexdigest()[:12]


def stamp() -> str:
    """A line about the script that is running, for the end of a section."""
    script = Path(sys.argv[0]).resolve()
    load = f"load of the machine {LOAD_BEFORE:.1f} at the start, {os.getloadavg()[0]:.1f} at the end"
    today = datetime.date.today().isoformat()
    name = script.relative_to(HERE.parent).as_posix() if script.is_relative_to(HERE.parent) else script.name
    return f"*`{name}` ({digest(script)}), commit {_commit()}, {today}; {load}.*"


def _commit() -> str:
    try:
        asked = ["git", "-C", str(HERE), "rev-parse", "--short", "HEAD"]
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def fill_section(page: Path, name: str, text: str, stamped: bool = True) -> None:
    """Replace what stands between <!-- name --> and <!-- /name --> in a page, and stamp it."""
    before, after = f"<!-- {name} -->", f"<!-- /{name} -->"
    whole = page.read_text()
    if before not in whole or after not in whole:
        raise SystemExit(f"{page} has no section {before} ... {after}")
    head, rest = whole.split(before, 1)
    text = f"{text.strip()}\n\n{stamp()}" if stamped else text.strip()
    page.write_text(f"{head}{before}\n{text}\n{after}{rest.split(after, 1)[1]}")


def read_stamps(page: Path) -> dict[str, Stamp | None]:
    """The stamp of each section of a page, by name; None for a section without one."""
    whole = page.read_text(encoding="utf-8")
    found: dict[str, Stamp | None] = {}
    for name in re.findall(r"^<!-- /([\w-]+) -->$", whole, re.MULTILINE):
        section = whole.split(f"<!-- {name} -->", 1)[1].split(f"<!-- /{name} -->", 1)[0]
        known = list(STAMP.finditer(section))
        found[name] = Stamp(**known[-1].groupdict()) if known else None
    return found
