"""The interactive figures, as plain data for Plotly.

Colours are names of the page's style sheet, which has one set for light and one for dark; the page's script puts them
in. All text of the record goes through ``safe``, because Plotly reads a few tags in it; it is given as ``hovertext``,
never as a template.
"""

from __future__ import annotations

import math
from html import escape
from typing import Any

import numpy as np

from ..posterior.shown import boxes, groups, size_of, thinning, time_range
from ..support.numbers import decimals, number, percent, plain, with_range, with_sd
from .answer import row_name, when
from .content import Content
from .methods import meaning

Array = np.ndarray
Trace = dict[str, Any]
Figure = dict[str, Any]

#: Names of colours for groups of rows.
GROUPS = tuple(f"group-{k}" for k in range(7))
BINS = 10
LONGEST_TITLE = 44


def safe(text: object) -> str:
    """Text as Plotly shows it letter by letter."""
    return escape(" ".join(str(text).split()), quote=False)


def title(text: str) -> str:
    """Text for an axis, cut where it would run out of the figure."""
    text = " ".join(text.split())
    return safe(text if len(text) <= LONGEST_TITLE else f"{text[: LONGEST_TITLE - 1]}…")


def curve(content: Content) -> Figure:
    """The measurements as boxes, the curve with its bands, and joint draws."""
    table, record = content.curve, content.posterior.record
    lows, highs = table["q2.5"], table["q97.5"]
    said = [
        f"{safe(when(content, at))}<br>{safe(with_range(mean, low, high, record.y_unit))}"
        for at, mean, low, high in zip(table["at"], table["mean"], lows, highs, strict=True)
    ]
    traces = [*_boxes(content), *_bands(table["at"], table["mean"], table["sd"], lows, highs)]
    for k, line in enumerate(content.curves):
        look = {"line": {"color": "draw", "width": 0.8}, "legendgroup": "draws", "showlegend": k == 0}
        traces.append(_line(table["at"], line, name=f"{len(content.curves)} draws", hoverinfo="skip", **look))
    traces.append(_mean(table["at"], table["mean"], said))
    figure = {"data": traces, "layout": _layout(content, content.axes.value)}
    return _noted(figure, thinning(len(content.rows), int(record.measured.sum())))


def parts(content: Content) -> Figure:
    """The parts that the curve is the sum of, each with its 95 % band. Only where there are several."""
    assert content.parts is not None
    traces = []
    for (name, table), colour in zip(content.parts.groupby("component", sort=False), GROUPS, strict=False):
        at, lows, highs = (table[column].to_numpy() for column in ("at", "q2.5", "q97.5"))
        there_and_back, edge = np.concatenate([at, at[::-1]]), np.concatenate([highs, lows[::-1]])
        look: dict[str, Any] = {"fill": "toself", "fillcolor": f"{colour}-fill", "line": {"width": 0, "color": colour}}
        look |= {"legendgroup": str(name), "showlegend": False, "hoverinfo": "skip"}
        said = [
            f"{safe(str(name))}<br>{safe(when(content, one))}<br>"
            f"{safe(with_range(mean, low, high, content.posterior.record.y_unit))}"
            for one, mean, low, high in zip(at, table["mean"], lows, highs, strict=True)
        ]
        told = {"hovertext": said, "hoverinfo": "text", "legendgroup": str(name), "name": safe(str(name))}
        traces += [_line(there_and_back, edge, **look), _line(at, table["mean"], line={"color": colour}, **told)]
    layout = _layout(content, content.axes.value)
    layout["shapes"] = [_level(0.0)]
    return {"data": traces, "layout": layout}


def rate(content: Content, trend: bool = True) -> Figure:
    """The rate, with or without the trend, with its bands and the line at zero. Only where there is one."""
    table, axes = content.rate if trend else content.without_trend, content.axes
    assert table is not None
    factor = axes.rate_factor
    mean, sd = factor * table["mean"], abs(factor) * table["sd"]
    lows, highs = np.sort([factor * table["q2.5"], factor * table["q97.5"]], axis=0)
    said = [
        f"{safe(when(content, at))}<br>{safe(with_range(m, low, high, axes.rate_unit))}"
        for at, m, low, high in zip(table["at"], mean, lows, highs, strict=True)
    ]
    layout = _layout(content, axes.rate)
    layout["shapes"] = [_level(0.0)]
    return {"data": [*_bands(table["at"], mean, sd, lows, highs), _mean(table["at"], mean, said)], "layout": layout}


def inputs(content: Content) -> Figure:
    """How far each uncertain input moved: reported range in grey, posterior range as a bar."""
    found = content.inputs[content.inputs["t_sd"] > 0.0]
    unit = content.axes.duration
    said = [
        f"{safe(row_name(content, int(row)))}<br>reported {with_sd(one['t'], one['t_sd'])}<br>"
        f"found {with_sd(one['mean'], one['sd'])}<br>moved by {number(one['shift'], 2)} {safe(unit)}, "
        f"sd now {percent(one['kept'])}"
        for row, one in found.iterrows()
    ]
    wide, narrow = 2.0 * found["t_sd"], 2.0 * found["sd"]
    x, y = _sticks(found["t"], -wide, wide)
    thick = 6 if len(found) <= 100 else 3
    reported = _line(x, y, name="reported ± 2 sd", hoverinfo="skip", line={"color": "pale", "width": thick})
    x, y = _sticks(found["t"], found["shift"] - narrow, found["shift"] + narrow)
    group: dict[str, Any] = {"legendgroup": "posterior"}
    posterior = _line(x, y, hoverinfo="skip", showlegend=False, line={"color": "accent", "width": 1.5}, **group)
    points = _points(found["t"], found["shift"], said, name="posterior ± 2 sd", marker={"color": "accent", "size": 6})
    layout = _layout(content, f"Moved by ({unit})" if unit else "Moved by")
    layout["shapes"] = [_level(0.0)]
    figure = {"data": [reported, posterior, points | group], "layout": layout}
    return _noted(figure, thinning(len(content.inputs), len(content.posterior.record)))


def residuals(content: Content) -> Figure:
    """Residuals in standard deviations against time."""
    record, table = content.posterior.record, content.residuals
    traces = []
    for group, colour in zip(groups(record, table.index.to_numpy()), GROUPS, strict=False):
        part = table.loc[group.rows]
        said = [
            f"{safe(row_name(content, int(row)))}<br>measured {number(one['y'], 4)} {safe(record.y_unit)}, curve "
            f"{number(one['fitted'], 4)}<br>{number(one['scaled'], 2)} standard deviations"
            for row, one in part.iterrows()
        ]
        look = {"color": colour, "size": 5}
        traces.append(_points(part["at"], part["scaled"], said, name=safe(group.name), marker=look))
    layout = _layout(content, "Residual (sd)")
    layout["shapes"] = [_level(0.0), _level(2.0, "dot"), _level(-2.0, "dot")]
    reach = max(2.5, 1.1 * float(table["scaled"].abs().max()))
    layout["yaxis"]["range"] = [-reach, reach]
    return _noted({"data": traces, "layout": layout}, thinning(len(content.rows), int(record.measured.sum())))


def check(content: Content) -> Figure:
    """Where each value lies in what was foretold of it: even bars if the model is right."""
    n = len(content.residuals)
    bins = BINS if n >= 5 * BINS else 5
    counts, edges = np.histogram(content.residuals["loo_pit"], bins, (0.0, 1.0))
    middle = 0.5 * (edges[1:] + edges[:-1])
    said = [
        f"{100 * a:.0f} to {100 * b:.0f} %: {k} values" for a, b, k in zip(edges[:-1], edges[1:], counts, strict=True)
    ]
    bars = {
        "type": "bar", "x": _list(middle), "y": counts.tolist(), "width": 0.96 / bins, "marker": {"color": "accent"},
        "hovertext": said, "hoverinfo": "text", "showlegend": False,
    }  # fmt: skip
    mean, sd = n / bins, math.sqrt(n / bins * (1.0 - 1.0 / bins))
    layout = _layout(content, "Values")
    ticks: dict[str, Any] = {"tickvals": [0, 0.5, 1], "ticktext": ["0 %", "50 %", "100 %"]}
    ticks |= {"ticklabeloverflow": "allow"}
    layout["xaxis"] |= {"title": {"text": "Position in the range foretold"}, "range": [0, 1], **ticks}
    layout["margin"]["r"] = 30
    layout["yaxis"]["rangemode"] = "tozero"
    band = {"type": "rect", "xref": "paper", "x0": 0, "x1": 1, "y0": max(mean - 2 * sd, 0.0), "y1": mean + 2 * sd}
    layout["shapes"] = [band | {"fillcolor": "pale", "opacity": 0.5, "line": {"width": 0}, "layer": "below"}]
    layout["shapes"].append(_level(mean, "dot"))
    return {"data": [bars], "layout": layout}


def parameter(content: Content, name: str) -> Figure:
    """Prior and posterior of one parameter, on a logarithmic axis."""
    problem = content.posterior.problem
    i = problem.names.index(name)
    values, weight = content.posterior.theta[name].to_numpy(), content.posterior.draws.weight
    z = np.linspace(-3.0, 3.0, 121)
    x = problem.to_theta(problem.prior_mean + z[:, None] * problem.prior_sd)[name]
    # Density per factor e; alpha = 1 + e^phi, so that d phi = alpha / (alpha - 1) d log alpha.
    stretch = x / (x - 1.0) if name == "alpha" else 1.0
    density = np.exp(-0.5 * z * z) / (math.sqrt(2.0 * math.pi) * problem.prior_sd[i]) * stretch
    prior = _line(x, density, name="prior", hoverinfo="skip", line={"color": "muted", "width": 1.5, "dash": "dot"})
    _, unit = meaning(content, name)
    layout = _layout(content, "")
    layout["xaxis"] |= {
        "type": "log",
        "exponentformat": "power",
        "title": {"text": title(f"{name} ({unit})" if unit else name)},
        "nticks": 6,
    }
    layout["yaxis"] |= {"visible": False, "rangemode": "tozero"}
    if np.ptp(values) > 0.0:
        low, high = np.log(values.min()), np.log(values.max())
        heights, edges = np.histogram(np.log(values), 30, (low, high), weights=weight, density=True)
        shape = {"fill": "tozeroy", "fillcolor": "band-95", "line": {"color": "accent", "width": 1.5, "shape": "hvh"}}
        middle = np.exp(0.5 * (edges[1:] + edges[:-1]))
        found = _line(middle, heights, name="posterior", hoverinfo="skip", **shape)
        layout["xaxis"]["range"] = _log_range(np.minimum(values.min(), x[30]), np.maximum(values.max(), x[90]))
    else:
        height = float(np.max(density))
        found = _line([values[0]] * 2, [0.0, height], name="estimate", hoverinfo="skip", line={"color": "accent"})
        layout["xaxis"]["range"] = _log_range(min(values[0], x[10]), max(values[0], x[110]))
    return {"data": [found, prior], "layout": layout}


def _log_range(low: float, high: float) -> list[float]:
    return [math.log10(low) - 0.03, math.log10(high) + 0.03]


def _list(values: Any) -> list[float | None]:
    """Numbers for JSON, to a ten-thousandth of their range; None where there is none."""
    values = np.asarray(values, dtype=float)
    finite = values[np.isfinite(values)]
    spread = float(np.ptp(finite)) if finite.size else 0.0
    places = decimals(spread) + 3 if spread > 0.0 else 9
    return [round(value, places) if math.isfinite(value) else None for value in values.tolist()]


def _line(x: Any, y: Any, **look: Any) -> Trace:
    return {"type": "scatter", "mode": "lines", "x": _list(x), "y": _list(y), **look}


def _points(x: Any, y: Any, said: list[str], **look: Any) -> Trace:
    told = {"hovertext": said, "hoverinfo": "text"}
    return {"type": "scatter", "mode": "markers", "x": _list(x), "y": _list(y), **told, **look}


def _mean(at: Any, mean: Any, said: list[str]) -> Trace:
    return _line(at, mean, name="mean", hovertext=said, hoverinfo="text", line={"color": "accent", "width": 2.5})


def _bands(at: Any, mean: Any, sd: Any, low: Any, high: Any) -> list[Trace]:
    there_and_back = np.concatenate([at, at[::-1]])
    return [
        _line(
            there_and_back, np.concatenate([top, bottom[::-1]]), name=name, hoverinfo="skip", fill="toself",
            fillcolor=colour, line={"width": 0, "color": colour},
        )
        for name, bottom, top, colour in (("95 %", low, high, "band-95"), ("68 %", mean - sd, mean + sd, "band-68"))
    ]  # fmt: skip


def _boxes(content: Content) -> list[Trace]:
    """Two traces a group: the boxes, and a point in each that tells what it is."""
    record = content.posterior.record
    traces, drawn = [], boxes(content.posterior)
    for group, colour in zip(groups(record, content.rows), GROUPS, strict=False):
        left, right, low, high = (side[group.rows] for side in drawn[2:])
        gap = np.full(len(left), np.nan)
        x = np.stack([left, right, right, left, left, gap], 1).ravel()
        y = np.stack([low, low, high, high, low, gap], 1).ravel()
        look = {"fill": "toself", "fillcolor": f"{colour}-fill", "line": {"color": colour, "width": 0.6}}
        name = safe(f"{group.name} {size_of(content.posterior)}")
        traces.append(_line(x, y, name=name, legendgroup=group.name, hoverinfo="skip", opacity=0.7, **look))
        said = [_told(content, int(row)) for row in group.rows]
        marker = {"color": colour, "size": 3, "opacity": 0.7}
        if record.limit is not None and record.limit[group.rows].any():  # limits point to where the curve is
            up = bool(record.limit[group.rows[0]] > 0)
            marker |= {"size": 9, "symbol": "triangle-up-open" if up else "triangle-down-open"}
        points = _points(drawn.t[group.rows], drawn.y[group.rows], said, marker=marker, showlegend=False)
        traces.append(points | {"legendgroup": group.name})
    return traces


def _told(content: Content, row: int) -> str:
    record, found = content.posterior.record, content.inputs.loc[row]
    t = with_sd(record.t[row], record.t_sd[row]) if record.t_sd[row] else f"{plain(record.t[row])} (exact)"
    limit = 0 if record.limit is None else int(record.limit[row])
    side = {0: "", 1: "above ", -1: "below "}[limit]
    lines = [
        safe(row_name(content, row)),
        safe(f"{t} {record.t_unit}" if record.dated[row] else "no date"),
        safe(f"{side}{with_sd(record.y[row], record.y_sd[row])} {record.y_unit}"),
    ]
    if record.t_sd[row] and not content.as_measured:
        lines.append(f"found at {with_sd(found['mean'], found['sd'])}")
    return "<br>".join(lines)


def _sticks(x: Any, low: Any, high: Any) -> tuple[Array, Array]:
    """Vertical sticks as one broken line."""
    gap = np.full(len(x), np.nan)
    return np.stack([x, x, gap], 1).ravel(), np.stack([low, high, gap], 1).ravel()


def _level(y: float, dash: str = "solid") -> dict[str, Any]:
    """A level line across the figure."""
    line = {"color": "muted", "width": 1, "dash": dash}
    return {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": y, "y1": y, "line": line}


def _layout(content: Content, y_title: str) -> dict[str, Any]:
    """What the figures share: no frame, a thin grid, the legend above, time running the field's way."""
    axis = {"gridcolor": "grid", "linecolor": "muted", "zeroline": False, "automargin": True, "ticks": "outside"}
    axis |= {"tickcolor": "muted", "exponentformat": "power", "separatethousands": False}
    low, high = time_range(content.posterior, content.curve["at"])
    ends = [high, low] if content.axes.backwards else [low, high]
    return {
        "xaxis": axis | {"title": {"text": title(content.axes.time)}, "range": ends, "exponentformat": "none"},
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


def _noted(figure: Figure, note: str) -> Figure:
    """With a note in the corner, if there is something to note."""
    if note:
        place = {"xref": "paper", "yref": "paper", "x": 1, "y": 0, "xanchor": "right", "yanchor": "bottom"}
        look = {"showarrow": False, "font": {"color": "muted", "size": 11}}
        figure["layout"]["annotations"] = [{"text": note, **place, **look}]
    return figure
