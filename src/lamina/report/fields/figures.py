"""The interactive figures of the report of a field. They draw tables that have been computed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...plots.maps import coastline, coloured, region
from ...posterior.diagnosis import TableLines, line_names, line_numbers, row_name
from ...records.axes import Axes
from ...support.numbers import fixed, plain, with_range, with_sd
from .. import drawing as draw
from ..drawing import GROUPS, Figure, Trace

if TYPE_CHECKING:
    import pandas as pd

    from ...record import Record

Array = np.ndarray

#: Colours of values on a map: blue, white and red where they have both signs; from dark to bright otherwise.
BOTH_SIGNS = [[0, "#2166ac"], [0.5, "#f7f7f7"], [1, "#b2182b"]]
ONE_SIGN = [[0, "#440154"], [0.25, "#3b528b"], [0.5, "#21918c"], [0.75, "#5ec962"], [1, "#fde725"]]


def site_map(sites: pd.DataFrame, unit: str) -> Figure:
    """The sites over the coast, coloured by their rates: columns site, latitude, longitude, mean, q2.5, q97.5, rows."""
    hovers = [
        draw.hover(
            str(one["site"]),
            with_range(one["mean"], one["q2.5"], one["q97.5"], unit),
            f"{one['rows']} rows, {fixed(one['latitude'], 2)}° N, {fixed(one['longitude'], 2)}° E",
        )
        for one in sites.to_dict("records")
    ]
    value = sites["mean"].to_numpy(float)
    marker = {"size": 13, "color": draw.numbers(value), "line": {"color": "ink", "width": 0.8}, **_scale(value, unit)}
    points = draw.points(sites["longitude"], sites["latitude"], hovers, marker=marker, showlegend=False)
    ends = region(sites["longitude"].to_numpy(), sites["latitude"].to_numpy())
    return {"data": [*_coast(ends), points], "layout": _geography(ends)}


def surface(
    longitude: Array, latitude: Array, value: Array, beyond: Array, unit: str, sites: pd.DataFrame | None = None
) -> Figure:
    """A map of values (n, m) on a grid of latitudes (n,) and longitudes (m,), with crosses ``beyond`` the data.

    Colours are those of the values within. sites: site, latitude and longitude of points to draw over it.
    """
    scale = _scale(coloured(value, beyond), unit)
    heat = {
        "type": "heatmap", "x": draw.numbers(longitude), "y": draw.numbers(latitude),
        "z": [draw.numbers(line) for line in value], "hovertemplate": "%{y}° N, %{x}° E<br>%{z}<extra></extra>",
        "colorscale": scale["colorscale"], "colorbar": scale["colorbar"], "zmin": scale["cmin"], "zmax": scale["cmax"],
    }  # fmt: skip
    rows, columns = np.nonzero(beyond)
    look = {"size": 5, "symbol": "x-thin", "color": "muted", "line": {"color": "muted", "width": 1}}
    crosses = draw.points(longitude[columns], latitude[rows], ["beyond the data"] * len(rows), marker=look,
                          name="beyond the data", showlegend=bool(len(rows)))  # fmt: skip
    ends = (longitude.min(), longitude.max(), latitude.min(), latitude.max())
    over = [] if sites is None else [_points_of(sites)]
    return {"data": [heat, *_coast(ends), crosses, *over], "layout": _geography(ends)}


def _points_of(sites: pd.DataFrame) -> Trace:
    """A point for each site, with its name."""
    look = {"size": 7, "color": "ink", "line": {"color": "#ffffff", "width": 1.2}}
    names = [draw.hover(str(one)) for one in sites["site"]]
    return draw.points(sites["longitude"], sites["latitude"], names, marker=look, name="sites")


def _scale(value: Array, unit: str) -> dict[str, Any]:
    """How numbers become colours: symmetrical about zero where they have both signs."""
    known = value[np.isfinite(value)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    both = low < 0.0 < high
    if both:
        low, high = -max(-low, high), max(-low, high)
    bar = {"title": {"text": draw.title(unit)}, "thickness": 14, "outlinewidth": 0}
    return {"colorscale": BOTH_SIGNS if both else ONE_SIGN, "cmin": low, "cmax": high, "colorbar": bar}


def _coast(ends: tuple[float, float, float, float]) -> list[Trace]:
    """The coastlines of a region, as one broken line."""
    west, east, south, north = ends
    parts = []
    for line in coastline():
        x, y = line.T
        if x.max() >= west and x.min() <= east and y.max() >= south and y.min() <= north:
            parts.append(np.concatenate([line, [[np.nan, np.nan]]]))
    if not parts:
        return []
    every = np.concatenate(parts)
    return [draw.line(every[:, 0], every[:, 1], line={"color": "muted", "width": 1}, showlegend=False)]


def _geography(ends: tuple[float, float, float, float]) -> dict[str, Any]:
    """A map: a degree is as long to the east as to the north in its middle."""
    west, east, south, north = ends
    frame = draw.layout("Longitude (° E)", "Latitude (° N)", (west, east))
    wide = max(math.cos(math.radians(0.5 * (south + north))), 0.1)
    frame["yaxis"] |= {"range": [south, north], "scaleanchor": "x", "scaleratio": 1.0 / wide, "constrain": "domain"}
    frame["xaxis"] |= {"constrain": "domain"}
    return frame


def band(axes: Axes, table: pd.DataFrame, y_title: str, unit: str, *more: Trace) -> Figure:
    """A curve or a rate with its bands, hatched where the table says that it is extrapolated."""
    columns = ("at", "mean", "q2.5", "q97.5", "q16", "q84")
    at, mean, low, high, *narrow = (table[name].to_numpy(float) for name in columns)
    hovers = [draw.hover(plain(t), with_range(m, a, b, unit)) for t, m, a, b in zip(at, mean, low, high, strict=True)]
    traces = [*draw.bands(at, (low, high), (narrow[0], narrow[1])), draw.centre(at, mean, hovers)]
    for k, part in enumerate(_runs(table)):
        look = {"name": "extrapolated", "showlegend": k == 0}
        traces.append(draw.hatched(at[part], low[part], high[part], **look))
    ends = axes.oldest_first((float(at.min()), float(at.max())))
    return {"data": [*traces, *more], "layout": draw.layout(axes.time, y_title, ends)}


def _runs(table: pd.DataFrame) -> list[slice]:
    """The stretches of a table that are extrapolated."""
    if "extrapolated" not in table:
        return []
    marked = np.concatenate([[False], (table["extrapolated"] == "yes").to_numpy(), [False]])
    edges = np.flatnonzero(marked[1:] != marked[:-1])
    return [slice(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def site_curve(
    axes: Axes, record: Record, table: pd.DataFrame, rows: Array, inputs: pd.DataFrame, lines: TableLines | None = None
) -> Figure:
    """The curve of one site, with its rows at their corrected times; a line leads to where each was reported.

    lines: the table that the record was read from.
    """
    names = line_names(record, lines)
    y, y_sd = record.y[rows], record.y_sd[rows]
    mean, sd = inputs["mean"].to_numpy()[rows], inputs["sd"].to_numpy()[rows]
    reported = np.where(record.dated[rows], record.t[rows], mean)
    gap = np.full(len(rows), np.nan)
    moved = draw.line(np.stack([reported, mean, gap], 1).ravel(), np.stack([y, y, gap], 1).ravel(),
                      line={"color": "pale", "width": 1.5}, showlegend=False)  # fmt: skip
    look = {"color": "group-0", "size": 4}
    hovers = [
        draw.hover(
            row_name(record, int(row), names),
            f"reported {with_sd(record.t[row], record.t_sd[row])}" if record.t_sd[row] else f"{plain(mean[k])} (exact)",
            f"corrected {with_sd(mean[k], sd[k])}" if sd[k] else "",
            f"{with_sd(y[k], y_sd[k])} {record.y_unit}",
        )
        for k, row in enumerate(rows)
    ]
    bars = draw.sticks(mean, y - 2.0 * y_sd, y + 2.0 * y_sd, line={"color": "group-0", "width": 0.8}, showlegend=False)
    points = draw.points(mean, y, hovers, marker=look, showlegend=False)
    points |= draw.places(rows, line_numbers(record, lines))
    figure = band(axes, table, "", record.y_unit, moved, bars, points)
    frame = figure["layout"]
    if len(rows):  # a site without any value has its curve over all times
        low, high = float(np.min([mean - 2 * sd, reported])), float(np.max([mean + 2 * sd, reported]))
        margin = 0.03 * (high - low or 1.0)
        frame["xaxis"] |= {"range": list(axes.oldest_first((low - margin, high + margin)))}
        # The band may be far outside where the site has no rows.
        frame["yaxis"]["range"] = _around(table, low - margin, high + margin, y, y_sd)
    frame["xaxis"]["title"] = {"text": ""}
    frame["showlegend"] = False
    return figure


def _around(table: pd.DataFrame, first: float, last: float, y: Array, y_sd: Array) -> list[float]:
    """A range that holds the rows of a site, and its band at their times."""
    near = table[table["at"].between(first, last)]
    finite = np.isfinite(y_sd)
    low = min([*near["q2.5"].tolist(), *(y - 2.0 * y_sd)[finite].tolist()])
    high = max([*near["q97.5"].tolist(), *(y + 2.0 * y_sd)[finite].tolist()])
    margin = 0.05 * (high - low or 1.0)
    return [low - margin, high + margin]


def parts(axes: Axes, record: Record, table: pd.DataFrame) -> Figure:
    """The parts of one site's curve, each with its 95 % band."""
    traces: list[Trace] = []
    for (key, part), colour in zip(table.groupby("component", sort=False), GROUPS, strict=False):
        at, mean, low, high = (part[column].to_numpy() for column in ("at", "mean", "q2.5", "q97.5"))
        hovers = _part_hovers(str(key), at, mean, low, high, record.y_unit)
        look = {"legendgroup": str(key)}
        traces.append(draw.band(at, low, high, f"{colour}-fill", showlegend=False, **look))
        traces.append(draw.line(at, mean, hovers, line={"color": colour}, name=draw.safe(str(key)), **look))
    ends = axes.oldest_first((float(table["at"].min()), float(table["at"].max())))
    frame = draw.layout(axes.time, axes.value, ends)
    return {"data": traces, "layout": frame | {"shapes": [draw.level(0.0)]}}


def _part_hovers(name: str, at: Any, mean: Any, low: Any, high: Any, unit: str) -> Sequence[str]:
    every = zip(at, mean, low, high, strict=True)
    return [draw.hover(name, plain(t), with_range(m, a, b, unit)) for t, m, a, b in every]
