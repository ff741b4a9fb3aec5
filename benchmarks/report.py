"""What the benchmark scripts share: a line about the machine, and writing a table into a page of the docs."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path


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


def fill_section(page: Path, name: str, text: str) -> None:
    """Replace what stands between <!-- name --> and <!-- /name --> in a page."""
    before, after = f"<!-- {name} -->", f"<!-- /{name} -->"
    whole = page.read_text()
    if before not in whole or after not in whole:
        raise SystemExit(f"{page} has no section {before} ... {after}")
    head, rest = whole.split(before, 1)
    page.write_text(f"{head}{before}\n{text.strip()}\n{after}{rest.split(after, 1)[1]}")
