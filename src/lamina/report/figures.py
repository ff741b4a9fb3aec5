"""The interactive figures of the report of a curve."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..posterior.boxes import beyond, boxes, groups, size_of, thinning, time_range
from ..posterior.diagnosis import row_name
from ..records.glossary import parameter as meaning
from ..support.numbers import number, percent, plain, with_range, with_sd
from . import drawing as draw
from .answer import when
from .content import Content, shown_rate
from .drawing import GROUPS, Figure, Look, Trace

if TYPE_CHECKING:
    from ..posterior.posterior import Posterior

BINS = 10


def curve(content: Content) -> Figure:
    """The measurements as boxes, the curve with its bands, and joint draws."""
    table, record = content.curve, content.posterior.record
    at, mean, low, high = (table[name] for name in ("at", "mean", "q2.5", "q97.5"))
    traces = [*_boxes(content), *draw.bands(at, (low, high), (table["q16"], table["q84"]))]
    for k, one in enumerate(content.curves):
        look: Look = {"line": {"color": "draw", "width": 0.8}, "legendgroup": "draws", "showlegend": k == 0}
        traces.append(draw.line(at, one, name=f"{len(content.curves)} draws", **look))
    traces.append(draw.centre(at, mean, _hovers(content, at, mean, low, high, record.y_unit)))
    traces += _hatched(content, at, low, high)
    figure = {"data": traces, "layout": _layout(content, content.axes.value)}
    return draw.with_note(figure, thinning(len(content.rows), int(record.measured.sum())))


def _hovers(content: Content, at: Any, mean: Any, low: Any, high: Any, unit: str, name: str = "") -> list[str]:
    return [
        draw.hover(name, when(content, t), with_range(m, a, b, unit))
        for t, m, a, b in zip(at, mean, low, high, strict=True)
    ]


def parts(content: Content) -> Figure:
    """The components of the curve, each with its 95 % band. Only where there are several."""
    assert content.parts is not None
    traces = []
    for (key, table), colour in zip(content.parts.groupby("component", sort=False), GROUPS, strict=False):
        name = str(key)
        at, mean, low, high = (table[column].to_numpy() for column in ("at", "mean", "q2.5", "q97.5"))
        hovers = _hovers(content, at, mean, low, high, content.posterior.record.y_unit, name)
        traces.append(draw.band(at, low, high, f"{colour}-fill", legendgroup=name, showlegend=False))
        traces.append(draw.line(at, mean, hovers, line={"color": colour}, legendgroup=name, name=draw.safe(name)))
    return {"data": traces, "layout": _layout(content, content.axes.value, draw.level(0.0))}


def rate(content: Content, trend: bool = True) -> Figure:
    """The rate, with or without the trend, with its bands and the line at zero. Only where there is one."""
    table, axes = content.rate if trend else content.without_trend, content.axes
    assert table is not None
    at, shown, (mean, low, high) = table["at"], axes.in_rate_unit(table), shown_rate(table, axes)
    hovers = _hovers(content, at, mean, low, high, axes.rate_unit)
    traces = [*draw.bands(at, (low, high), (shown["q16"], shown["q84"])), draw.centre(at, mean, hovers)]
    traces += _hatched(content, at, low, high)
    return {"data": traces, "layout": _layout(content, axes.rate, draw.level(0.0))}


def inputs(content: Content) -> Figure:
    """How far each uncertain input moved: reported range in grey, posterior range as a bar."""
    found, unit = content.inputs[content.inputs["t_sd"] > 0.0], content.axes.duration
    hovers = [
        draw.hover(
            row_name(content.posterior.record, int(row), content.names),
            f"reported {with_sd(one['t'], one['t_sd'])}",
            f"posterior {with_sd(one['mean'], one['sd'])}",
            f"moved by {number(one['shift'], 2)} {unit}, sd now {percent(one['kept'])}",
        )
        for row, one in found.iterrows()
    ]
    t, shift, wide, narrow = found["t"], found["shift"], 2.0 * found["t_sd"], 2.0 * found["sd"]
    thick, group = 6 if len(found) <= 100 else 3, {"legendgroup": "posterior"}
    traces = [
        draw.sticks(t, -wide, wide, name="reported ± 2 sd", line={"color": "pale", "width": thick}),
        draw.sticks(
            t, shift - narrow, shift + narrow, showlegend=False, line={"color": "accent", "width": 1.5}, **group
        ),
        draw.points(t, shift, hovers, name="posterior ± 2 sd", marker={"color": "accent", "size": 6}, **group)
        | draw.places(found.index, content.lines),
    ]
    figure = {"data": traces, "layout": _layout(content, f"Shift ({unit})" if unit else "Shift", draw.level(0.0))}
    return draw.with_note(figure, thinning(len(content.inputs), len(content.posterior.record)))


def residuals(content: Content) -> Figure:
    """Residuals in standard deviations against time."""
    record, table = content.posterior.record, content.residuals
    traces = []
    for group, colour in zip(groups(record, table.index.to_numpy()), GROUPS, strict=False):
        part = table.loc[group.rows]
        hovers = [
            draw.hover(
                row_name(record, int(row), content.names),
                f"measured {number(one['y'], 4)} {record.y_unit}, curve {number(one['fitted'], 4)}",
                f"{number(one['scaled'], 2)} standard deviations",
            )
            for row, one in part.iterrows()
        ]
        look = {"marker": {"color": colour, "size": 5}} | draw.places(part.index, content.lines)
        traces.append(draw.points(part["at"], part["scaled"], hovers, name=draw.safe(group.name), **look))
    frame = _layout(content, "Residual (sd)", draw.level(0.0), draw.level(2.0, "dot"), draw.level(-2.0, "dot"))
    reach = max(2.5, 1.1 * float(table["scaled"].abs().max()))
    frame["yaxis"]["range"] = [-reach, reach]
    return draw.with_note({"data": traces, "layout": frame}, thinning(len(content.rows), int(record.measured.sum())))


def check(content: Content) -> Figure:
    """Where each value lies in its predicted range: even bars if the model is right."""
    n = len(content.residuals)
    bins = BINS if n >= 5 * BINS else 5
    counts, edges = np.histogram(content.residuals["loo_pit"], bins, (0.0, 1.0))
    hovers = [
        f"{100 * a:.0f} to {100 * b:.0f} %: {k} values" for a, b, k in zip(edges[:-1], edges[1:], counts, strict=True)
    ]
    bars = {
        "type": "bar", "x": draw.numbers(0.5 * (edges[1:] + edges[:-1])), "y": counts.tolist(), "width": 0.96 / bins,
        "marker": {"color": "accent"}, "hovertext": hovers, "hoverinfo": "text", "showlegend": False,
    }  # fmt: skip
    mean, sd = n / bins, math.sqrt(n / bins * (1.0 - 1.0 / bins))
    frame = draw.layout("Position in the predicted range", "Values", (0, 1))
    frame["xaxis"] |= {"tickvals": [0, 0.5, 1], "ticktext": ["0 %", "50 %", "100 %"], "ticklabeloverflow": "allow"}
    frame["margin"]["r"] = 30
    frame["yaxis"]["rangemode"] = "tozero"
    area = {"type": "rect", "xref": "paper", "x0": 0, "x1": 1, "y0": max(mean - 2 * sd, 0.0), "y1": mean + 2 * sd}
    area |= {"fillcolor": "pale", "opacity": 0.5, "line": {"width": 0}, "layer": "below"}
    return {"data": [bars], "layout": frame | {"shapes": [area, draw.level(mean, "dot")]}}


def parameter(posterior: Posterior, name: str) -> Figure:
    """Prior and posterior of one parameter, on a logarithmic axis."""
    problem = posterior.problem
    values, weight = posterior.theta[name].to_numpy(), posterior.draws.weight
    z = np.linspace(-3.0, 3.0, 121)
    x = problem.to_theta(problem.prior_mean + z[:, None] * problem.prior_sd)[name]
    # Density per factor e; alpha = least + e^phi, so that d phi = alpha / (alpha - least) d log alpha.
    stretch = x / (x - problem.least_alpha) if name == "alpha" else 1.0
    prior_sd = problem.prior_sd[problem.names.index(name)]
    density = np.exp(-0.5 * z * z) / (math.sqrt(2.0 * math.pi) * prior_sd) * stretch
    if np.ptp(values) > 0.0:
        low, high = np.log(values.min()), np.log(values.max())
        heights, edges = np.histogram(np.log(values), 30, (low, high), weights=weight, density=True)
        shape: Look = {
            "fill": "tozeroy",
            "fillcolor": "band-95",
            "line": {"color": "accent", "width": 1.5, "shape": "hvh"},
        }
        found = draw.line(np.exp(0.5 * (edges[1:] + edges[:-1])), heights, name="posterior", **shape)
        ends = min(values.min(), x[30]), max(values.max(), x[90])
    else:
        found = draw.line([values[0]] * 2, [0.0, float(np.max(density))], name="estimate", line={"color": "accent"})
        ends = min(values[0], x[10]), max(values[0], x[110])
    prior = draw.line(x, density, name="prior", line={"color": "muted", "width": 1.5, "dash": "dot"})
    unit = meaning(posterior.record, name, problem.kernel)[1]
    frame = draw.layout(f"{name} ({unit})" if unit else name, "")
    frame["xaxis"] |= draw.logarithmic(ends[0] / 1.07, ends[1] * 1.07)
    frame["yaxis"] |= {"visible": False, "rangemode": "tozero"}
    return {"data": [found, prior], "layout": frame}


def _hatched(content: Content, at: Any, low: Any, high: Any) -> list[Trace]:
    """The 95 % band where it lies beyond the data."""
    x, below, above = (np.asarray(values) for values in (at, low, high))
    return [
        draw.hatched(x[part], below[part], above[part], name="extrapolated", showlegend=k == 0)
        for k, part in enumerate(beyond(x, content.posterior.extrapolated(x)))
    ]


def _layout(content: Content, y_title: str, *shapes: dict[str, Any]) -> dict[str, Any]:
    """Against time, running the usual way of the field."""
    low, high = time_range(content.posterior, content.curve["at"])
    ends = content.axes.oldest_first((low, high))
    return draw.layout(content.axes.time, y_title, ends) | ({"shapes": list(shapes)} if shapes else {})


def _boxes(content: Content) -> list[Trace]:
    """Two traces a group: the boxes, and a point in each that says what it is."""
    record, drawn, traces = content.posterior.record, boxes(content.posterior), []
    for group, colour in zip(groups(record, content.rows), GROUPS, strict=False):
        left, right, low, high = (side[group.rows] for side in drawn[2:])
        gap = np.full(len(left), np.nan)
        x = np.stack([left, right, right, left, left, gap], 1).ravel()
        y = np.stack([low, low, high, high, low, gap], 1).ravel()
        look: Look = {"fill": "toself", "fillcolor": f"{colour}-fill", "line": {"color": colour, "width": 0.6}}
        name = draw.safe(f"{group.name} {size_of(content.posterior)}")
        traces.append(draw.line(x, y, name=name, legendgroup=group.name, opacity=0.7, **look))
        marker = {"color": colour, "size": 3, "opacity": 0.7}
        if record.limit is not None and record.limit[group.rows].any():  # limits point to where the curve is
            up = bool(record.limit[group.rows[0]] > 0)
            marker |= {"size": 9, "symbol": "triangle-up-open" if up else "triangle-down-open"}
        hovers = [_box_hover(content, int(row)) for row in group.rows]
        look = {"marker": marker, "showlegend": False, "legendgroup": group.name}
        look |= draw.places(group.rows, content.lines)
        traces.append(draw.points(drawn.t[group.rows], drawn.y[group.rows], hovers, **look))
    return traces


def _box_hover(content: Content, row: int) -> str:
    record, found = content.posterior.record, content.inputs.loc[row]
    t = with_sd(record.t[row], record.t_sd[row]) if record.t_sd[row] else f"{plain(record.t[row])} (exact)"
    side = {0: "", 1: "above ", -1: "below "}[0 if record.limit is None else int(record.limit[row])]
    inferred = record.t_sd[row] and not content.posterior.as_measured
    return draw.hover(
        row_name(record, row, content.names),
        f"{t} {record.t_unit}" if record.dated[row] else "no date",
        f"{side}{with_sd(record.y[row], record.y_sd[row])} {record.y_unit}",
        f"posterior {with_sd(found['mean'], found['sd'])}" if inferred else "",
    )
