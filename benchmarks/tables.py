"""How long a table of many rows takes to read: python benchmarks/tables.py [ROWS]."""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from lamina.tables import Options, read


def write(path: Path, rows: int) -> Path:
    """A core of so many rows, with errors, laboratory remarks, flags and coordinates."""
    rng = np.random.default_rng(1)
    depth = np.arange(rows)
    age = 0.1 * depth + rng.normal(0.0, 5.0, rows)
    lines = ["Sample,Depth (mm),Age (cal BP),Age 2s,d18O,d18O_sd,reject,latitude,longitude"]
    lines += [f"S{k},{k},{a:.1f},10,{np.sin(0.001 * k):.3f},0.1,no,44.1,-68.2" for k, a in zip(depth, age, strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return path


def main(rows: int = 100_000) -> None:
    """Print the seconds that reading takes."""
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder, "core.csv"), rows)
        read(write(Path(folder, "small.csv"), 10), Options())
        start, used = time.perf_counter(), time.process_time()
        found = read(path)
        print(
            f"{len(found.record)} rows: {time.perf_counter() - start:.2f} s, {time.process_time() - used:.2f} s of CPU"
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
