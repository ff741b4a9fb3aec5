"""Pieces of interactive figures, as plain data for Plotly.

Colours are names of the page's style sheet, which has one set for light and one for dark; the page's script replaces
them. All text of the record goes through ``safe``, because Plotly interprets a few tags; it is given as ``hovertext``,
never as a template.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from ..support.numbers import decimals, short

Array = np.ndarray
Trace = dict[str, Any]
Figure = dict[str, Any]
Look = dict[str, Any]

#: Names of colours for groups of rows.
GROUPS = tuple(f"group-{k}" for k in range(7))
LONGEST_TITLE = 44


def safe(text: object) -> str:
    """Text that Plotly shows letter by letter."""
    return escape(" ".join(str(text).split()), quote=False)


def title(text: str) -> str:
    """Text for an axis, cut where it would run out of the figure."""
    text = " ".join(text.split())
    return safe(text if len(text) <= LONGEST_TITLE else f"{text[: LONGEST_TITLE - 1]}…")


def hover(*lines: str) -> str:
    """Lines of text for pointing at something."""
    return "<br>".join(safe(line) for line in lines if line)


def numbers(values: Any) -> list[float | None]:
    """Numbers for JSON, to a ten-thousandth of their range; None where there is none."""
    values = np.asarray(values, dtype=float)
    finite = values[np.isfinite(values)]
    spread = float(np.ptp(finite)) if finite.size else 0.0
    places = decimals(spread) + 3 if spread > 0.0 else 9
    return [round(value, places) if math.isfinite(value) else None for value in values.tolist()]


def line(x: Any, y: Any, hovers: Sequence[str] | None = None, **look: Any) -> Trace:
    """A line, with a text for each of its points or none."""
    pointed = {"hoverinfo": "skip"} if hovers is None else {"hovertext": list(hovers), "hoverinfo": "text"}
    return {"type": "scatter", "mode": "lines", "x": numbers(x), "y": numbers(y), **pointed, **look}


def points(x: Any, y: Any, hovers: Sequence[str], **look: Any) -> Trace:
    """Points, with a text each."""
    return line(x, y, hovers, **look) | {"mode": "markers"}


def places(rows: Any, lines: Sequence[int | None] | None) -> dict[str, Any]:
    """Which row of the record each point shows, and its line in the table, None if it has none: for other programs."""
    found = [None if lines is None else lines[row] for row in rows]
    own = [None if line is None or hasattr(line, "file") else int(line) for line in found]
    return {"customdata": [[int(row), line] for row, line in zip(rows, own, strict=True)]}


def centre(x: Any, y: Any, hovers: Sequence[str], name: str = "mean") -> Trace:
    """The line in the middle of a band."""
    return line(x, y, hovers, name=name, line={"color": "accent", "width": 2.5})


def band(x: Any, low: Any, high: Any, colour: str, **look: Any) -> Trace:
    """The area between two lines."""
    there_and_back, edge = np.concatenate([x, x[::-1]]), np.concatenate([high, low[::-1]])
    look = {"fill": "toself", "fillcolor": colour, "line": {"width": 0, "color": colour}} | look
    return line(there_and_back, edge, **look)


def bands(x: Any, wide: tuple[Any, Any], narrow: tuple[Any, Any]) -> list[Trace]:
    """The bands that hold 95 and 68 %, each given by its lower and upper edge."""
    return [band(x, *wide, "band-95", name="95 %"), band(x, *narrow, "band-68", name="68 %")]


def hatched(x: Any, low: Any, high: Any, **look: Any) -> Trace:
    """The area between two lines, hatched."""
    pattern = {"shape": "/", "fgcolor": "muted", "bgcolor": "clear", "size": 7, "solidity": 0.25}
    return band(x, low, high, "clear", fillpattern=pattern, legendgroup="extrapolated", **look)


def sticks(x: Any, low: Any, high: Any, **look: Any) -> Trace:
    """Vertical sticks as one broken line."""
    gap = np.full(len(x), np.nan)
    return line(np.stack([x, x, gap], 1).ravel(), np.stack([low, high, gap], 1).ravel(), **look)


def level(y: float, dash: str = "solid", upright: bool = False) -> dict[str, Any]:
    """A line across the figure at y, or from bottom to top at x."""
    along, across = ("y", "x") if upright else ("x", "y")
    ends = {f"{along}ref": "paper", f"{along}0": 0, f"{along}1": 1, f"{across}0": y, f"{across}1": y}
    return {"type": "line", **ends, "line": {"color": "muted", "width": 1, "dash": dash}}


def layout(x_title: str, y_title: str, x_range: Sequence[float] | None = None) -> dict[str, Any]:
    """What the figures share: no frame, a thin grid, the legend above."""
    axis = {"gridcolor": "grid", "linecolor": "muted", "zeroline": False, "automargin": True, "ticks": "outside"}
    axis |= {"tickcolor": "muted", "exponentformat": "power", "separatethousands": False}
    ends = {} if x_range is None else {"range": list(x_range)}
    return {
        "xaxis": axis | {"title": {"text": title(x_title)}, "exponentformat": "none", **ends},
        "yaxis": axis | {"title": {"text": title(y_title)}},
        "font": {"color": "ink", "size": 13},
        "paper_bgcolor": "clear",
        "plot_bgcolor": "clear",
        "margin": {"l": 10, "r": 10, "t": 10, "b": 10},
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "bgcolor": "clear"},
        "modebar": {"bgcolor": "clear", "color": "muted", "activecolor": "ink"},
        "hoverlabel": {"bgcolor": "card", "bordercolor": "muted", "font": {"color": "ink"}, "align": "left"},
        "hovermode": "closest",
        "separators": ".",
    }


def logarithmic(low: float, high: float) -> dict[str, Any]:
    """A logarithmic axis from low to high. Ticks are plain numbers: those of Plotly would show 20 as a small 2."""
    first, last = math.log10(max(low, 1e-9 * high)), math.log10(high)
    axis = {"type": "log", "range": [first, last]}
    if last - first < 0.5:  # here Plotly's own are plain
        return axis
    steps = (1.0, 2.0, 5.0) if last - first < 1.5 else (1.0,)
    ticks = [step * 10.0**power for power in range(math.floor(first), math.ceil(last) + 1) for step in steps]
    return axis | {"tickvals": ticks, "ticktext": [short(one) for one in ticks]}


def with_note(figure: Figure, note: str) -> Figure:
    """The figure with a note in its corner, if there is one."""
    if note:
        place = {"xref": "paper", "yref": "paper", "x": 1, "y": 0, "xanchor": "right", "yanchor": "bottom"}
        look = {"showarrow": False, "font": {"color": "muted", "size": 11}}
        figure["layout"]["annotations"] = [{"text": note, **place, **look}]
    return figure
