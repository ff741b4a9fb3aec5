"""Figures of a core against depth: the age-depth model with its dates, and the time per unit of depth."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..posterior.agedepth import accumulation_quantiles, layers_of
from ..posterior.boxes import LOWEST_PACE, Rejected, date_density, date_half_width
from ..posterior.diagnosis import LIKELY_OUTLIER
from ..records.axes import describe
from ..support.numbers import percent
from .canvas import legend, mark_unfinished, own_axes, place_labels, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..posterior.posterior import Posterior
    from ..record import Record

MODEL, DATES, HIATUS = "#0072B2", "#D55E00", "#555555"
#: Points of the density of a date.
DENSITY_POINTS = 400


def age_depth(
    posterior: Posterior,
    ax: Axes | None = None,
    *,
    sequence: Hashable | None = None,
    points: int = 300,
    rejected: Rejected | None = None,
) -> Axes:
    """The age-depth model against depth: median, 68 and 95 % bands, and each date as its density.

    A cross marks each date that is more likely an outlier than not, with its probability where there is space.

    sequence: which core, where the record has several.
    rejected: dates that the model does not use, whose densities are hollow.
    """
    ax = own_axes(ax)
    record = posterior.record
    rows, depths = layers_of(record, sequence)
    depth = depths[rows]
    table = posterior.ages(np.linspace(depth.min(), depth.max(), points), sequence)
    look: dict[str, Any] = {"color": MODEL, "linewidth": 0, "zorder": 2}
    ax.fill_between(table["depth"], table["q2.5"], table["q97.5"], alpha=0.2, label="95 %", **look)
    ax.fill_between(table["depth"], table["q16"], table["q84"], alpha=0.35, label="68 %", **look)
    ax.plot(table["depth"], table["q50"], color=MODEL, linewidth=1.6, zorder=4, label="median")
    for edge in "q2.5", "q97.5":  # the band is seen through the dates
        ax.plot(table["depth"], table[edge], color=MODEL, linewidth=0.5, alpha=0.7, zorder=4)
    dated = rows[record.dated[rows]]
    width = date_half_width(depth, len(dated) + (0 if rejected is None else len(rejected.rows)))
    _draw_dates(ax, record, dated, width, {"color": DATES, "alpha": 0.4}, "dates")
    if rejected is not None:
        _draw_dates(ax, rejected.record, rejected.rows, width, {"facecolor": "none", "edgecolor": DATES}, "rejected")
    chance = posterior.date_outliers().to_numpy()
    outliers = rows[chance[rows] > LIKELY_OUTLIER]
    if outliers.size:
        look = {"color": "#000000", "markersize": 6, "zorder": 5, "label": "outlier"}
        ax.plot(depths[outliers], record.t[outliers], "x", **look)
    if record.hiatus is not None:
        for k, row in enumerate(rows[record.hiatus[rows]]):
            ax.axvline(depths[row], color=HIATUS, linewidth=1.0, linestyle="--", zorder=1, label="" if k else "hiatus")
    names = describe(record)
    ax.set_xlabel(plain(names.depth))
    ax.set_ylabel(plain(names.time))
    legend(ax, 6)
    if outliers.size:
        first = outliers[np.argsort(-chance[outliers], kind="stable")]  # the most probable ones have a label
        places, radius = np.stack([depths[first], record.t[first]], 1), np.full(len(first), 4.0)
        place_labels(ax, [percent(one) for one in chance[first]], places, radius, "outliers")
    return ax


def _draw_dates(ax: Axes, record: Record, rows: np.ndarray, width: float, look: dict[str, Any], name: str) -> None:
    """The densities of dates, each on both sides of its depth."""
    for k, row in enumerate(rows.tolist()):
        times, height = date_density(record, row, DENSITY_POINTS)
        place = np.asarray(record.depth)[row]
        ax.fill_betweenx(times, place - width * height, place + width * height, linewidth=0.6, zorder=1.5,
                         label="" if k else name, **look)  # fmt: skip


def accumulation(posterior: Posterior, ax: Axes | None = None, *, sequence: Hashable | None = None) -> Axes:
    """Time per unit of depth between dates: median, and the band that holds 95 %; none at a hiatus.

    The sections depend on the dates only (``posterior.agedepth.sections``).
    """
    from matplotlib.ticker import LogLocator, NullFormatter

    ax = own_axes(ax)
    table = accumulation_quantiles(posterior, sequence)
    depths = np.append(table["from"], table["to"].iloc[-1])
    low, middle, high = (np.append(table[name], table[name].iloc[-1]) for name in ("q2.5", "q50", "q97.5"))
    ax.fill_between(depths, low, high, step="post", color=MODEL, alpha=0.2, linewidth=0, label="95 %")
    ax.step(depths, middle, where="post", color=MODEL, linewidth=1.4, label="median")
    if np.isfinite(middle).any():  # otherwise, each section has a hiatus
        ax.set_yscale("log")
        # Short sections may take next to no time: the lower edge of the band is not worth most of the panel.
        bottom = max(float(np.nanmin(low)), float(np.nanmin(middle)) / LOWEST_PACE)
        ax.set_ylim(bottom=bottom)
        ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if np.nanmax(high) < 100.0 * bottom else (1.0,)))
        ax.yaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_minor_formatter(NullFormatter())
    names = describe(posterior.record)
    ax.set_xlabel(plain(names.depth))
    ax.set_ylabel("\n(".join(plain(names.pace).rsplit(" (", 1)))  # the panel is low
    legend(ax, 4)
    return ax


def core_summary(posterior: Posterior, *, sequence: Hashable | None = None, rejected: Rejected | None = None) -> Figure:
    """One figure of a core: its age-depth model with the dates, also ``rejected`` ones, and the time per unit of depth.

    A fit that was interrupted or has not converged says so.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 6.4), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[2.4, 1.0])
    mark_unfinished(figure, posterior)
    accumulation(posterior, below, sequence=sequence)
    age_depth(posterior, above, sequence=sequence, rejected=rejected)  # last: its labels need the final layout
    above.set_xlabel("")
    return figure
