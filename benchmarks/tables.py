"""Reads large tables: seconds of CPU, and with --memory the peak memory, for 100,000 rows of several kinds.

Run: python benchmarks/tables.py [ROWS] [--memory]
"""

import sys
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

from lamina.tables import Options, read

HEAD = "depth (cm),age (cal BP),age_sd,rsl (m),rsl_sd"


def row(i: int, depth: float | None = None) -> str:
    """One measurement: deeper is older, with some reversals."""
    return f"{i if depth is None else depth:g},{100 + 10 * i + 17 * (i % 5)},25,{-0.01 * i:.2f},0.1"


def tables(n: int) -> Iterator[tuple[str, str, Options]]:
    """Name, content and options of each table."""
    yield "plain", "\n".join([HEAD, *(row(i) for i in range(n))]), Options()
    cores = (f"site {i // 100:04d},{row(i % 100)}" for i in range(n))
    yield "1 core per 100 rows", "\n".join([f"core,{HEAD}", *cores]), Options(sequence="core")
    ties = (f"k{i // 2},{row(i)}" for i in range(n))
    yield "ties", "\n".join([f"tie,{HEAD}", *ties]), Options()
    equal = (row(i, i // 2) for i in range(n))
    yield "equal depths", "\n".join([HEAD, *equal]), Options(equal_depth="tie")
    limiting = (f"{'marine' if i % 3 == 0 else ''},{row(i)}" for i in range(n))
    yield "limiting", "\n".join([f"type,{HEAD}", *limiting]), Options()
    undated = (row(i) if i % 3 else f"{i},,,{-0.01 * i:.2f},0.1" for i in range(n))
    yield "undated rows", "\n".join([HEAD, *undated]), Options(incomplete=True)
    spaces = (row(i).replace(",", "  ") for i in range(n))
    yield "between spaces", "\n".join([HEAD.replace(",", "  "), *spaces]), Options()


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    measure_memory = "--memory" in sys.argv
    read(_write(Path(tempfile.mkdtemp()), next(tables(10))[1]), Options())  # imports
    print(f"{'table':<22}{'seconds':>9}{'peak MB':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for name, content, options in tables(n):
            path = _write(Path(folder), content)
            began = time.process_time()
            read(path, options)
            seconds = time.process_time() - began
            peak = f"{_peak(path, options) / 1e6:.0f}" if measure_memory else ""
            print(f"{name:<22}{seconds:>9.2f}{peak:>9}", flush=True)


def _peak(path: Path, options: Options) -> int:
    """Peak memory of reading, in bytes; measuring it makes reading several times slower."""
    tracemalloc.start()
    read(path, options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def _write(folder: Path, content: str) -> Path:
    path = folder / "table.csv"
    path.write_text(content + "\n")
    return path


if __name__ == "__main__":
    main()
