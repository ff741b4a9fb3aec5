"""Make src/lamina/plots/coastline.txt from Natural Earth's countries at 1:110 million (public domain).

    python docs/coastline.py naturalearth_lowres.shp

The shapefile is in the package geopandas, versions 0.12 to 0.14. Edges that two countries share are borders; all others
are coast. Each line of the result is a line of coast: longitude and latitude in hundredths of a degree, in turn.
"""

import itertools
import struct
import sys
from collections import Counter
from pathlib import Path

RESULT = Path(__file__).parents[1] / "src" / "lamina" / "plots" / "coastline.txt"
HEADER = "# Coastlines of the world: Natural Earth, 1:110 million (public domain), naturalearthdata.com"
Point = tuple[int, int]


def rings(data: bytes) -> list[list[Point]]:
    """The rings of all polygons of a shapefile, in hundredths of a degree."""
    found, place = [], 100
    while place < len(data):
        (words,) = struct.unpack_from(">i", data, place + 4)
        kind, start = struct.unpack_from("<i", data, place + 8)[0], place + 44
        if kind == 5:
            parts, points = struct.unpack_from("<2i", data, start)
            firsts = [*struct.unpack_from(f"<{parts}i", data, start + 8), points]
            flat = struct.unpack_from(f"<{2 * points}d", data, start + 8 + 4 * parts)
            at = [(round(100 * x), round(100 * y)) for x, y in zip(flat[::2], flat[1::2], strict=True)]
            found += [at[a:b] for a, b in itertools.pairwise(firsts)]
        place += 8 + 2 * words
    return found


def coast(all_rings: list[list[Point]]) -> list[list[Point]]:
    """The lines of edges that are in one ring only, without the edges of the map itself."""
    edges = [list(itertools.pairwise(ring)) for ring in all_rings]
    times = Counter(frozenset(edge) for own in edges for edge in own)
    lines: list[list[Point]] = []
    for own in edges:
        line: list[Point] = []
        for a, b in own:
            beside = (abs(a[0]) == abs(b[0]) == 18000) or (a[1] <= -8990 and b[1] <= -8990)
            if times[frozenset((a, b))] > 1 or beside:
                lines, line = ([*lines, line] if line else lines), []
            else:
                line = [*line, b] if line else [a, b]
        lines += [line] if line else []
    return lines


if __name__ == "__main__":
    lines = coast(rings(Path(sys.argv[1]).read_bytes()))
    texts = (" ".join(f"{x} {y}" for x, y in line) for line in lines)
    RESULT.write_text("\n".join([HEADER, *texts]) + "\n", encoding="utf-8")
