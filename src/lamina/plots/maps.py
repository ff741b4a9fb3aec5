"""Maps over the coast: a value at each site, or on a grid."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import MethodError
from .canvas import own_axes, place_labels, plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Array = np.ndarray

COAST = "#666666"
#: The map reaches this part of its extent beyond the sites, and at least so many degrees.
MARGIN, SMALLEST_MARGIN = 0.12, 0.5
#: The areas of markers, in square points, from the least to the most certain. USUAL_AREA is for unknown certainty.
SMALLEST_AREA, LARGEST_AREA, USUAL_AREA = 18.0, 110.0, 55.0
#: Most of a map lies between these quantiles of its values. Colours reach at most this part of their distance beyond.
MOST_OF_MAP, BEYOND_MOST = (0.02, 0.98), 0.5
#: Near the poles a degree of longitude would be endlessly narrow.
NARROWEST_DEGREE = 0.1


@lru_cache(maxsize=1)
def coastline() -> tuple[Array, ...]:
    """The coastlines of the world, each (n, 2): longitude and latitude in degrees."""
    text = resources.files(__package__).joinpath("coastline.txt").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return tuple(0.01 * np.array(line.split(), dtype=float).reshape(-1, 2) for line in lines)


def sites(table: pd.DataFrame, ax: Axes | None = None, *, label: str = "", names: bool = True) -> Axes:
    """A map of sites, coloured by a value.

    table: one row per site: site, latitude, longitude, value, and sd if it is known. Markers grow with certainty.
        Where values have both signs, the colours are symmetrical about zero.
    label: what the value is, with its unit.
    names: whether sites are labelled. Labels that would cover another one are left out, with a note in the corner.
        They are placed for the layout of the figure at this call: draw the other panels first.

    Raises MethodError if a column is missing.
    """
    missing = [name for name in ("site", "latitude", "longitude", "value") if name not in table]
    if missing:
        raise MethodError(f"a map needs the columns site, latitude, longitude and value; {missing[0]} is missing.")
    ax = own_axes(ax)
    longitude, latitude = table["longitude"].to_numpy(float), table["latitude"].to_numpy(float)
    _frame(ax, region(longitude, latitude))
    value = table["value"].to_numpy(float)
    size = _sizes(table["sd"].to_numpy(float)) if "sd" in table else np.full(len(table), USUAL_AREA)
    drawn = ax.scatter(
        longitude, latitude, size, value, edgecolors="#222222", linewidths=0.5, zorder=3, **_colours(value)
    )
    ax.figure.colorbar(drawn, ax=ax, label=plain(label), shrink=0.75)
    if names:
        where, radius = np.stack([longitude, latitude], 1), 0.5 * np.sqrt(size)
        place_labels(ax, [plain(str(name)) for name in table["site"]], where, radius, "sites")
    return ax


def surface(
    longitude: Array, latitude: Array, value: Array, ax: Axes | None = None, *, label: str = "", beyond: Any = None
) -> Axes:
    """A map of values on a grid, over the coast.

    longitude, latitude: of the grid, (m,) and (n,). value: (n, m). label: what it is, with its unit.
    beyond: (n, m), True where the grid lies beyond the region of the data, which is hatched. Colours are those of the
        values within (``coloured``); the bar has an arrow where others go beyond its end.
    """
    ax = own_axes(ax)
    look: dict[str, Any] = {"shading": "nearest", "zorder": 0, "rasterized": True}
    value = np.asarray(value, dtype=float)
    drawn = ax.pcolormesh(longitude, latitude, value, **look, **_colours(coloured(value, beyond)))
    if beyond is not None and np.any(beyond):
        hidden = ax.contourf(longitude, latitude, np.asarray(beyond, float), [0.5, 1.5], colors="none", hatches=["///"])
        hidden.set_edgecolor("#666666")
        hidden.set_linewidth(0.0)
    _frame(ax, (np.min(longitude), np.max(longitude), np.min(latitude), np.max(latitude)))
    low, high = drawn.get_clim()
    under, over = bool((value < low).any()), bool((value > high).any())
    extend = {(False, False): "neither", (True, False): "min", (False, True): "max", (True, True): "both"}[under, over]
    ax.figure.colorbar(drawn, ax=ax, label=plain(label), shrink=0.75, extend=extend)
    return ax


def coloured(value: Array, beyond: Any = None) -> Array:
    """The values (n, m) of a map that its colours show, (k,), with extreme ones cut.

    Those are the ones within the region of the data: far from it, the numbers are those of the prior, and would take
    most of the colours. All are, where nothing is within.
    """
    within = np.isfinite(value) if beyond is None else np.isfinite(value) & ~np.asarray(beyond, dtype=bool)
    known = value[within] if within.any() else value[np.isfinite(value)]
    if not known.size:
        return known
    low, high = np.quantile(known, MOST_OF_MAP)
    more = BEYOND_MOST * (high - low)
    return np.clip(known, low - more, high + more)


def region(longitude: Array, latitude: Array) -> tuple[float, float, float, float]:
    """West, east, south and north of a map that shows places with some margin."""
    ends: list[float] = []
    for column in longitude, latitude:
        margin = max(MARGIN * float(np.ptp(column)), SMALLEST_MARGIN)
        ends += [float(column.min()) - margin, float(column.max()) + margin]
    return ends[0], ends[1], ends[2], ends[3]


def _frame(ax: Axes, ends: tuple[float, float, float, float]) -> None:
    """Draw the coast of a region, with a degree as long to the east as to the north in the middle of the map."""
    west, east, south, north = ends
    for line in coastline():
        ax.plot(*line.T, color=COAST, linewidth=0.6, zorder=1)
    ax.set_xlim(west, east)
    ax.set_ylim(south, north)
    ax.set_aspect(1.0 / max(float(np.cos(np.radians(0.5 * (south + north)))), NARROWEST_DEGREE))
    ax.set_xlabel("Longitude (° E)")
    ax.set_ylabel("Latitude (° N)")


def _sizes(sd: Array) -> Array:
    """Areas of markers, in proportion to one over the sd, within what can be seen."""
    certain = np.nanmin(sd) / sd
    return np.nan_to_num(np.clip(LARGEST_AREA * certain, SMALLEST_AREA, LARGEST_AREA), nan=SMALLEST_AREA)


def _colours(value: Array) -> dict[str, Any]:
    known = value[np.isfinite(value)]
    if known.size and known.min() < 0.0 < known.max():
        most = float(np.abs(known).max())
        return {"cmap": "RdBu_r", "vmin": -most, "vmax": most}
    return {"cmap": "viridis", "vmin": float(known.min()), "vmax": float(known.max())} if known.size else {}
