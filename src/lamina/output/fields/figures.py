"""The figures of a field as files: the map, the common curve, all sites, and the components of one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ...plots import fields, maps
from ...plots.canvas import mark_unfinished
from ...records.axes import describe
from ...report.fields.answers import Answers, in_rate_unit, maps_of, sites
from ...support.numbers import plain
from ..folder import COMMON_FIGURE, MAP_FIGURE, PARTS_FIGURE, SITES_FIGURE, write_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ...posterior.posterior import Posterior

#: Maps side by side.
MAPS_ACROSS = 3


def write_figures(posterior: Posterior, answers: Answers, folder: Path) -> list[str]:
    """Write all figures. Returns a warning if Matplotlib cannot."""
    record = posterior.record
    own = answers.components[answers.components["site"] == answers.shown_site]
    drawn: dict[str, Callable[[], Figure]] = {
        MAP_FIGURE: lambda: _map(posterior, answers),
        COMMON_FIGURE: lambda: _common(posterior, answers),
        SITES_FIGURE: lambda: fields.site_curves(record, answers.curves, answers.inputs),
        PARTS_FIGURE: lambda: fields.parts(record, own, answers.shown_site),
    }
    failed: list[str] = []
    for name, draw in drawn.items():
        failed += write_figure(lambda draw=draw: _marked(posterior, draw()), folder, name, dpi=150)  # type: ignore[misc]
    return list(dict.fromkeys(failed))


def _marked(posterior: Posterior, figure: Figure) -> Figure:
    mark_unfinished(figure, posterior)
    return figure


def _map(posterior: Posterior, answers: Answers) -> Figure:
    """The rates of the sites over the last interval, and the rate on a grid at each of the times of the maps."""
    from matplotlib.figure import Figure

    record, axes = posterior.record, describe(posterior.record)
    last, grids = answers.last_rates, maps_of(record, answers)
    shown = in_rate_unit(record, last)
    table = sites(record).merge(shown[["site", "mean", "sd"]], on="site").rename(columns={"mean": "value"})
    across = min(1 + len(grids), MAPS_ACROSS)
    down = -(-(1 + len(grids)) // across)
    figure = Figure(figsize=(5.4 * across, 5.2 * down), layout="constrained")
    panels = figure.subplots(down, across, squeeze=False).ravel()
    between = f"{plain(last['from'].iloc[-1])} to {plain(last['to'].iloc[-1])}"
    panels[0].set_title(f"Mean rate, {between}", fontsize="medium")
    for ax, one in zip(panels[1:], grids, strict=False):
        maps.surface(one.longitude, one.latitude, one.rate, ax, label=axes.rate, beyond=one.beyond)
        ax.plot(table["longitude"], table["latitude"], "o", color="#222222", markeredgecolor="white", markersize=4.5)
        ax.set_title(f"Rate at {plain(one.at)} {record.t_unit}".rstrip(), fontsize="medium")
    for ax in panels[1 + len(grids) :]:
        ax.remove()
    maps.sites(table, panels[0], label=axes.rate)  # last: labels are placed for the layout with all panels
    return figure


def _common(posterior: Posterior, answers: Answers) -> Figure:
    from matplotlib.figure import Figure

    record = posterior.record
    figure = Figure(figsize=(7.2, 5.2), layout="constrained")
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=[1.6, 1.0])
    fields.common(record, answers.common, top)
    fields.common(record, in_rate_unit(record, answers.common_rate), bottom, rate=True)
    top.set_xlabel("")
    return figure
