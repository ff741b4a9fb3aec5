"""Figures of a field: the curves of all sites, what they have in common, and the parts of one of them.

They draw tables that have been computed: one line per time, with mean and quantiles as in ``Posterior.curve``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..records.axes import describe
from .canvas import own_axes, plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..record import Record

#: Blue, vermilion, green, purple, orange and grey of the palette of Okabe & Ito.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#555555")
REPORTED = "#BBBBBB"
#: Panels side by side, and their size in inches.
ACROSS, WIDE, HIGH = 4, 2.4, 1.75
#: Of a panel, beyond the rows of its site, as a part of their span of time.
MARGIN = 0.03


def site_curves(record: Record, curves: pd.DataFrame, inputs: pd.DataFrame | None = None) -> Figure:
    """Small multiples: one panel per site, with its curve, its 95 % band and its rows at their corrected times.

    Each panel has the times of its site, which for a tide gauge are few.


    curves: one line per site and time: site, at, mean, q2.5 and q97.5, and extrapolated where some are.
    inputs: the result of ``posterior.inputs()``. Rows are drawn at their posterior mean, and a grey line leads to where
        they were reported; without it, all are drawn where they were reported.
    """
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(curves["site"]))
    across = min(ACROSS, len(names))
    down = -(-len(names) // across)
    figure = Figure(figsize=(0.6 + WIDE * across, 0.6 + HIGH * down), layout="constrained")
    panels = figure.subplots(down, across, squeeze=False).ravel()
    for ax, name in zip(panels, names, strict=False):
        _site(ax, record, str(name), curves[curves["site"] == name], inputs)
        ax.set_title(plain(str(name)), fontsize="small")
        if describe(record).backwards:
            ax.invert_xaxis()
    for ax in panels[len(names) :]:
        ax.remove()
    axes = describe(record)
    figure.supxlabel(plain(axes.time), fontsize="medium")
    figure.supylabel(plain(axes.value), fontsize="medium")
    return figure


def _site(ax: Axes, record: Record, name: str, table: pd.DataFrame, inputs: pd.DataFrame | None) -> None:
    """The panel of one site. One without any value has its curve over all times."""
    places = record.places
    rows = np.flatnonzero(record.measured & (places.index == places.names.index(name)) if places else record.measured)
    t, t_sd = record.t[rows], record.t_sd[rows]
    if np.isfinite(t).any():
        table = _around_rows(ax, table, t, t_sd)
    band(ax, table)
    if inputs is not None:
        corrected, spread = inputs["mean"].to_numpy()[rows], inputs["sd"].to_numpy()[rows]
        ax.hlines(record.y[rows], t, corrected, color=REPORTED, linewidth=0.8, zorder=1)
        t, t_sd = corrected, spread
    # A bar for an exact time, or for a row without any, would be no bar.
    bars = np.where(np.isfinite(t_sd), t_sd, 0.0)
    ax.errorbar(
        t, record.y[rows], record.y_sd[rows], bars, fmt="none", ecolor="#333333", elinewidth=0.5, alpha=0.6, zorder=3
    )
    ax.tick_params(labelsize="x-small")


def _around_rows(ax: Axes, table: pd.DataFrame, t: np.ndarray, t_sd: np.ndarray) -> pd.DataFrame:
    """The lines of a table that a panel shows, whose limits are a little beyond the rows."""
    wide = np.where(np.isfinite(t_sd), 2.0 * t_sd, 0.0)
    first, last = float(np.nanmin(t - wide)), float(np.nanmax(t + wide))
    margin = MARGIN * (last - first)
    ax.set_xlim(first - margin, last + margin)
    # One time beyond each end, so that the band does not stop short of the frame.
    at = table["at"].to_numpy()
    inside = (at >= first - margin) & (at <= last + margin)
    shown = inside.copy()
    shown[1:] |= inside[:-1]
    shown[:-1] |= inside[1:]
    return table[shown]


def band(ax: Axes, table: pd.DataFrame, colour: str = COLOURS[0], label: str = "") -> None:
    """Mean and 95 % band of a table; where it says that they are extrapolated, they are hatched."""
    at, low, high = (table[name].to_numpy(dtype=float) for name in ("at", "q2.5", "q97.5"))
    ax.fill_between(at, low, high, color=colour, alpha=0.25, linewidth=0, zorder=2)
    ax.plot(at, table["mean"], color=colour, linewidth=1.3, zorder=4, label=plain(label))
    if "extrapolated" in table:
        beyond = (table["extrapolated"] == "yes").to_numpy()
        look: dict[str, Any] = {"facecolor": "none", "edgecolor": "#666666", "hatch": "////", "linewidth": 0.0}
        ax.fill_between(at, low, high, where=beyond, zorder=4.5, **look)


def common(record: Record, table: pd.DataFrame, ax: Axes | None = None, *, rate: bool = False) -> Axes:
    """The curve that all sites share, or its rate, with its 95 % band. ``table``: of ``posterior.common(at)``.

    rate: whether the table holds rates, as they are to be shown.
    """
    ax, axes = own_axes(ax), describe(record)
    ax.axhline(0.0, color="#555555", linewidth=0.8, zorder=1)
    band(ax, table)
    ax.set_xlabel(plain(axes.time))
    ax.set_ylabel(plain(axes.rate if rate else f"Common to all sites ({record.y_unit})"))
    if axes.backwards and not ax.xaxis_inverted():
        ax.invert_xaxis()
    ax.margins(x=0.01)
    return ax


def parts(record: Record, table: pd.DataFrame, title: str = "") -> Figure:
    """The parts of one site's curve, one below the other, each with its 95 % band and on the same scale.

    table: one line per part and time: component, at, mean, q2.5 and q97.5, as of ``posterior.components(at, site=…)``.
    """
    from matplotlib.figure import Figure

    names, axes = list(dict.fromkeys(table["component"])), describe(record)
    figure = Figure(figsize=(7.2, 0.8 + 1.3 * len(names)), layout="constrained")
    panels = figure.subplots(len(names), 1, sharex=True, sharey=False, squeeze=False)[:, 0]
    for k, (ax, name) in enumerate(zip(panels, names, strict=True)):
        ax.axhline(0.0, color="#999999", linewidth=0.6, zorder=1)
        band(ax, table[table["component"] == name], COLOURS[k % len(COLOURS)])
        ax.set_title(plain(str(name)), fontsize="small", loc="left")
        ax.margins(x=0.01)
    if axes.backwards:
        panels[0].invert_xaxis()
    panels[-1].set_xlabel(plain(axes.time))
    figure.supylabel(plain(axes.value), fontsize="medium")
    if title:
        figure.suptitle(plain(title), fontsize="medium")
    return figure
