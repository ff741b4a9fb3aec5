"""Figures for papers, with Matplotlib: curve, rate, inputs, residuals, several fits, and maps of sites.

Each function draws into the axes it is given, or into new ones, and returns them. It calls no ``show`` and changes no
setting of Matplotlib. Blue is the curve; groups of rows have colours that colour-blind readers can distinguish.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..methods.draws import evenly
from ..methods.registry import DEFAULT
from ..posterior.boxes import (
    Boxes,
    beyond,
    boxes,
    drawn_rows,
    groups,
    has_rate,
    input_shifts,
    size_of,
    thinning,
    time_range,
)
from ..posterior.residuals import residuals as residual_table
from ..posterior.times import default_times
from ..records.axes import describe
from ..support.numbers import count
from .canvas import legend, mark_unfinished, own_axes, plain
from .cores import accumulation, age_depth
from .maps import sites
from .validation import calibration, left_out

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..posterior.posterior import Posterior

__all__ = [
    "accumulation", "age_depth", "calibration", "compare", "curve", "inputs", "left_out", "rate", "residuals", "sites",
    "summary",
]  # fmt: skip

#: Blue of the palette of Okabe & Ito.
CURVE = "#0072B2"
#: Groups of rows, in order.
GROUP_COLOURS = ("#555555", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#000000", "#8C6D31")
#: Fits that are compared: the colour and the line style of each.
STYLES = (
    ("#0072B2", (0, (6, 2))),
    ("#D55E00", (0, (2, 1.5))),
    ("#009E73", (0, (7, 2, 1.5, 2))),
    ("#CC79A7", (0, (1, 1))),
    ("#E69F00", (0, (10, 2, 1.5, 2, 1.5, 2))),
)
#: Panels side by side, and the look of the band of the fit that others are compared with.
MOST_COLUMNS = 3
GREY: dict[str, Any] = {"color": "#AAAAAA", "alpha": 0.6, "linewidth": 0, "zorder": 1.2}
#: Hatching of what lies beyond the data.
EXTRAPOLATED = "#666666"
#: More boxes, or more bars, could not be distinguished.
MOST_BOXES, MOST_BARS = 2000, 400


def curve(
    posterior: Posterior,
    ax: Axes | None = None,
    *,
    at: ArrayLike | None = None,
    table: pd.DataFrame | None = None,
    draws: int = 5,
    seed: int = 0,
) -> Axes:
    """The measurements as boxes of two sd, the curve with its 68 and 95 % bands, and a few joint draws of it.

    at: times to draw at, by default a grid over the record. Beyond the data the band is hatched.
    table: the result of ``posterior.curve(at)``, if known.
    """
    ax = own_axes(ax)
    names = describe(posterior.record)
    table = posterior.curve(default_times(posterior) if at is None else at) if table is None else table
    _boxes(posterior, ax)
    _bands(ax, posterior, table)
    if draws:
        for k, line in enumerate(posterior.sample_curves(table["at"], n=draws, seed=seed)):
            label = "" if k else count(draws, "draw")
            ax.plot(table["at"], line, color="#003E63", linewidth=0.5, alpha=0.35, zorder=3, label=label)
    _time_axis(ax, posterior, table["at"])
    ax.set_ylabel(plain(names.value))
    legend(ax)
    return ax


def rate(
    posterior: Posterior, ax: Axes | None = None, *, at: ArrayLike | None = None, table: pd.DataFrame | None = None
) -> Axes:
    """The rate of change with its 68 and 95 % bands and a line at zero; in mm/year where the record is in m and years.

    With ages before present the rate is forward in time, and the label says so. ``table``: the result of
    ``posterior.rate(at)``, if known. Raises KernelError where the curve has no rate (Matern12).
    """
    names = describe(posterior.record)
    table = posterior.rate(default_times(posterior) if at is None else at) if table is None else table
    ax = own_axes(ax)
    _bands(ax, posterior, names.in_rate_unit(table))
    ax.axhline(0.0, color="#555555", linewidth=0.8, zorder=1)
    _time_axis(ax, posterior, table["at"])
    ax.set_ylabel("\n(".join(plain(names.rate).rsplit(" (", 1)) if names.backwards else plain(names.rate))
    return ax


def inputs(posterior: Posterior, ax: Axes | None = None) -> Axes:
    """How far each input moved from its reported value: two reported sd in grey, two posterior sd as a line."""
    ax = own_axes(ax)
    record, names = posterior.record, describe(posterior.record)
    uncertain = np.flatnonzero(record.dated & ~record.exact)
    rows = uncertain[evenly(len(uncertain), MOST_BARS)]
    found = input_shifts(posterior, rows)
    bar = 3.5 if len(rows) <= 100 else 2.0
    label = "taken as measured" if posterior.as_measured else "posterior ± 2 sd"
    wide, narrow = 2.0 * found["t_sd"], 2.0 * found["sd"]
    ax.vlines(found["t"], -wide, wide, color="#BBBBBB", linewidth=bar, label="reported ± 2 sd")
    ax.errorbar(found["t"], found["shift"], narrow, fmt="o", color=CURVE, markersize=2.5, elinewidth=1.0, label=label)
    ax.axhline(0.0, color="#555555", linewidth=0.8, zorder=1)
    _time_axis(ax, posterior)
    ax.set_ylabel(plain(f"Shift ({names.duration})" if names.duration else "Shift"))
    legend(ax)
    _note(ax, thinning(len(rows), len(uncertain)))
    return ax


def residuals(posterior: Posterior, ax: Axes | None = None, *, table: pd.DataFrame | None = None) -> Axes:
    """Each measurement minus the curve at its own input, in its sd, with lines at zero and two sd.

    ``table``: the result of ``lamina.posterior.residuals.residuals``, if known.
    """
    ax = own_axes(ax)
    record = posterior.record
    rows = drawn_rows(record, MOST_BOXES)
    table = residual_table(posterior, rows) if table is None else table
    for group, colour in zip(groups(record, table.index.to_numpy()), GROUP_COLOURS, strict=False):
        part = table.loc[group.rows]
        ax.plot(part["at"], part["scaled"], "o", color=colour, markersize=3, alpha=0.7, label=plain(group.name))
    for level, style in (0.0, "-"), (-2.0, ":"), (2.0, ":"):
        ax.axhline(level, color="#555555", linewidth=0.8, linestyle=style, zorder=1)
    _time_axis(ax, posterior)
    ax.set_ylabel("Residual (sd)")
    legend(ax)
    _note(ax, thinning(len(table), int(record.measured.sum())))
    return ax


def summary(
    posterior: Posterior, *, curve_table: pd.DataFrame | None = None, rate_table: pd.DataFrame | None = None
) -> Figure:
    """One figure for the paper: data and curve, the rate below, and how the inputs moved.

    curve_table, rate_table: the results of ``posterior.curve(at)`` and ``posterior.rate(at)``, if known. A curve
    without a rate, and inputs that were taken as measured, have no panel. A fit that has not converged is marked.
    """
    from matplotlib.figure import Figure

    at = default_times(posterior)
    panels: list[tuple[float, Callable[[Any], Any]]] = [
        (2.2, lambda ax: curve(posterior, ax, at=at, table=curve_table))
    ]
    if has_rate(posterior):
        panels.append((1.1, lambda ax: rate(posterior, ax, at=at, table=rate_table)))
    if not posterior.as_measured and not posterior.record.exact.all():
        panels.append((1.1, lambda ax: inputs(posterior, ax)))
    heights = [height for height, _ in panels]
    figure = Figure(figsize=(7.2, 1.2 + 1.75 * sum(heights)), layout="constrained")
    all_axes = figure.subplots(len(panels), 1, sharex=True, height_ratios=heights, squeeze=False)[:, 0]
    for ax, (_, draw) in zip(all_axes, panels, strict=True):
        draw(ax)
    for ax in all_axes[:-1]:
        ax.set_xlabel("")
    figure.align_ylabels(all_axes)
    mark_unfinished(figure, posterior)
    return figure


def compare(posteriors: Mapping[str, Posterior], curves: Mapping[str, pd.DataFrame] | None = None) -> Figure:
    """One figure of several fits of one record: their means, and how far each one's band is from the reference's.

    Above, the measurements, the mean of each fit, and the 95 % band of the reference in grey. Below, a panel for each
    other fit: its mean and its 95 % band (thin) minus the mean of the reference, over the same grey band. The reference
    is "mcmc", or the last fit where that is not among them.

    posteriors: by the name to use in the figure; curves: the result of each one's ``curve(at)``, if known.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    first = next(iter(posteriors.values()))
    if curves is None:
        at = default_times(first)
        curves = {name: posterior.curve(at) for name, posterior in posteriors.items()}
    reference = DEFAULT if DEFAULT in curves else list(curves)[-1]
    others = [name for name in curves if name != reference]
    columns = min(len(others), MOST_COLUMNS) or 1
    rows = -(-len(others) // columns)
    figure = Figure(figsize=(7.2, 4.2 + 1.9 * rows), layout="constrained")
    grid = figure.add_gridspec(1 + rows, columns, height_ratios=[2.2] + [1.0] * rows)
    top, panel = figure.add_subplot(grid[0, :]), None
    _means(top, first, {name: curves[name] for name in (reference, *others)})
    for k, name in enumerate(others):
        panel = figure.add_subplot(grid[1 + k // columns, k % columns], sharey=panel)
        _difference(panel, curves[name], curves[reference], *STYLES[k % len(STYLES)])
        panel.set_title(plain(f"{name} minus {reference}"), fontsize="small")
        panel.set_ylabel(plain(f"Difference ({first.record.y_unit})" if first.record.y_unit else "Difference"))
        panel.set_xlabel(plain(describe(first.record).time))
        panel.label_outer()
        # The same times as above, but as many labels as a panel of this width has room for.
        panel.set_xlim(top.get_xlim())
        panel.xaxis.set_major_locator(MaxNLocator(12 // columns, steps=[1, 2, 5, 10]))
    return figure


def _means(ax: Axes, posterior: Posterior, curves: dict[str, pd.DataFrame]) -> None:
    """The measurements, the mean of each curve, and the band of the first, the reference."""
    reference, *others = curves
    base = curves[reference]
    looks: dict[str, Any] = {reference: ("#000000", "-")}
    looks |= {name: STYLES[k % len(STYLES)] for k, name in enumerate(others)}
    _boxes(posterior, ax)
    ax.fill_between(base["at"], base["q2.5"], base["q97.5"], label=plain(f"{reference}, 95 %"), **GREY)
    hatch(ax, posterior, base)
    for name, (colour, style) in looks.items():
        at, mean = curves[name]["at"], curves[name]["mean"]
        ax.plot(at, mean, color=colour, linewidth=1.6, linestyle=style, zorder=4, label=plain(name))
    _time_axis(ax, posterior, np.concatenate([table["at"] for table in curves.values()]))
    ax.set_ylabel(plain(describe(posterior.record).value))
    legend(ax)


def _difference(ax: Axes, table: pd.DataFrame, base: pd.DataFrame, colour: str, style: Any) -> None:
    """Mean and 95 % band of a curve minus the mean of another, over the band of that one."""
    at, centre = table["at"], base["mean"]
    ax.fill_between(at, base["q2.5"] - centre, base["q97.5"] - centre, **GREY)
    ax.axhline(0.0, color="#555555", linewidth=0.8, zorder=2)
    for edge, width in ("q2.5", 0.9), ("q97.5", 0.9), ("mean", 1.8):
        ax.plot(at, table[edge] - centre, color=colour, linewidth=width, linestyle=style, zorder=3)
    ax.tick_params(labelsize="small")


def _bands(ax: Axes, posterior: Posterior, table: pd.DataFrame) -> None:
    """Mean and bands; beyond the data they are hatched."""
    at = table["at"]
    look: dict[str, Any] = {"color": CURVE, "linewidth": 0, "zorder": 2}
    ax.fill_between(at, table["q2.5"], table["q97.5"], alpha=0.2, label="95 %", **look)
    ax.fill_between(at, table["q16"], table["q84"], alpha=0.35, label="68 %", **look)
    ax.plot(
        at, table["mean"], color="white", linewidth=3.2, alpha=0.6, zorder=3.5
    )  # rough draws must not hide the mean
    ax.plot(at, table["mean"], color=CURVE, linewidth=1.6, zorder=4, label="mean")
    hatch(ax, posterior, table)


def hatch(ax: Axes, posterior: Posterior, table: pd.DataFrame) -> None:
    """Hatch the 95 % band of a curve where it lies beyond the data."""
    at = table["at"].to_numpy()
    for k, part in enumerate(beyond(at, posterior.extrapolated(at))):
        x, low, high = (table[name].to_numpy()[part] for name in ("at", "q2.5", "q97.5"))
        look: dict[str, Any] = {"facecolor": "none", "edgecolor": EXTRAPOLATED, "hatch": "////", "linewidth": 0.0}
        ax.fill_between(x, low, high, zorder=4.5, label="" if k else "extrapolated", **look)


def _arrows(drawn: Boxes, limit: np.ndarray, ax: Axes, rows: np.ndarray) -> None:
    """Limits point to where the curve is."""
    for side, marker in (1, "^"), (-1, "v"):
        some = rows[limit[rows] == side]
        ax.plot(drawn.t[some], drawn.y[some], marker, color="#333333", markersize=5, fillstyle="none", zorder=3.5)


def _boxes(posterior: Posterior, ax: Axes) -> None:
    from matplotlib.collections import PolyCollection

    record, drawn = posterior.record, boxes(posterior)
    rows = drawn_rows(record, MOST_BOXES)
    if record.limit is not None:
        _arrows(drawn, record.limit, ax, rows)
    for group, colour in zip(groups(record, rows), GROUP_COLOURS, strict=False):
        left, right, low, high = (side[group.rows] for side in drawn[2:])
        corners = np.stack([np.stack([left, right, right, left], 1), np.stack([low, low, high, high], 1)], 2)
        face, edge = (0.12, 0.45) if len(rows) <= 200 else (0.04, 0.15)
        ax.add_collection(
            PolyCollection(
                list(corners),
                facecolors=(colour, face),
                edgecolors=(colour, edge),
                linewidths=0.5,
                zorder=1.5,
                label=plain(f"{group.name} ({size_of(posterior)})"),
            )
        )
    ax.autoscale_view()
    _note(ax, thinning(len(rows), int(record.measured.sum())))


def _time_axis(ax: Axes, posterior: Posterior, at: Any = None) -> None:
    names = describe(posterior.record)
    ax.set_xlabel(plain(names.time))
    if at is not None:
        ax.set_xlim(*time_range(posterior, at))
    # Axes may share their time, so it is turned only where that has not been done.
    if names.backwards and not ax.xaxis_inverted():
        ax.invert_xaxis()


def _note(ax: Axes, text: str) -> None:
    if text:
        ax.text(0.99, 0.02, text, transform=ax.transAxes, ha="right", va="bottom", fontsize="x-small", color="#555555")
