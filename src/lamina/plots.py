"""Figures for papers, with Matplotlib: curve, rate, inputs, residuals, all of them in one, and several fits in one.

Each function draws into the axes it is given, or into new ones, and returns them. Nothing is shown and no setting of
Matplotlib is changed. Blue is the curve; groups of rows have colours that colour-blind readers can tell apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .axes import describe
from .grid import default_times
from .residuals import residuals as residual_table
from .shown import boxes, evenly, groups, has_rate, inputs_as_measured, moved, thinning, time_range

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .posterior import Posterior

#: Blue and vermilion of the palette of Okabe & Ito.
CURVE, ALERT = "#0072B2", "#D55E00"
#: Groups of rows, in order.
GROUPS = ("#555555", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#000000", "#8C6D31")
#: Fits that are compared: colours, and where these are used up, styles of line.
METHODS, STYLES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00"), ("-", "--")
#: More boxes, or more bars, could not be told apart.
MOST_BOXES, MOST_BARS = 2000, 400


def curve(
    posterior: Posterior,
    ax: Axes | None = None,
    *,
    at: ArrayLike | None = None,
    table: pd.DataFrame | None = None,
    draws: int = 10,
    seed: int = 0,
) -> Axes:
    """The measurements as boxes of two sd, the curve with its 68 and 95 % bands, and a few joint draws of it.

    at: times to draw at, by default a grid over the record; table: what ``posterior.curve(at)`` gave, if it is at hand.
    """
    ax = _axes(ax)
    names = describe(posterior.record)
    table = posterior.curve(default_times(posterior) if at is None else at) if table is None else table
    _boxes(posterior, ax)
    _bands(ax, table, 1.0)
    if draws:
        lines = posterior.sample_curves(table["at"], n=draws, seed=seed)
        label = f"{draws} draw{'s' if draws > 1 else ''}"
        for k, line in enumerate(lines):
            ax.plot(table["at"], line, color="#003E63", linewidth=0.5, alpha=0.55, zorder=3, label="" if k else label)
    _time_axis(ax, posterior, table["at"])
    ax.set_ylabel(_plain(names.value))
    _legend(ax)
    return ax


def rate(
    posterior: Posterior, ax: Axes | None = None, *, at: ArrayLike | None = None, table: pd.DataFrame | None = None
) -> Axes:
    """The rate of change with its 68 and 95 % bands and a line at zero; in mm/year where the record is in m and years.

    With ages before present the rate is forward in time, and the label says so. ``table``: what ``posterior.rate(at)``
    gave. Raises KernelError where the curve has no rate (Matern12).
    """
    names = describe(posterior.record)
    table = posterior.rate(default_times(posterior) if at is None else at) if table is None else table
    ax = _axes(ax)
    _bands(ax, table, names.rate_factor)
    ax.axhline(0.0, color="#555555", linewidth=0.8, zorder=1)
    _time_axis(ax, posterior, table["at"])
    ax.set_ylabel("\n(".join(_plain(names.rate).rsplit(" (", 1)) if names.backwards else _plain(names.rate))
    return ax


def inputs(posterior: Posterior, ax: Axes | None = None) -> Axes:
    """How far each input moved from its report: two reported sd about zero in grey, two posterior sd as a line."""
    ax = _axes(ax)
    record, names = posterior.record, describe(posterior.record)
    uncertain = np.flatnonzero(~record.exact)
    rows = uncertain[evenly(len(uncertain), MOST_BARS)]
    found = moved(posterior, rows)
    bar = 3.5 if len(rows) <= 100 else 2.0
    said = "taken as measured" if inputs_as_measured(posterior) else "posterior ± 2 sd"
    wide, narrow = 2.0 * found["t_sd"], 2.0 * found["sd"]
    ax.vlines(found["t"], -wide, wide, color="#BBBBBB", linewidth=bar, label="reported ± 2 sd")
    ax.errorbar(found["t"], found["shift"], narrow, fmt="o", color=CURVE, markersize=2.5, elinewidth=1.0, label=said)
    ax.axhline(0.0, color="#555555", linewidth=0.8, zorder=1)
    _time_axis(ax, posterior)
    ax.set_ylabel(_plain(f"Moved by ({names.duration})" if names.duration else "Moved by"))
    _legend(ax)
    _note(ax, thinning(len(rows), len(uncertain)))
    return ax


def residuals(posterior: Posterior, ax: Axes | None = None, *, table: pd.DataFrame | None = None) -> Axes:
    """Each measurement less the curve at its own input, in its sd, with lines at zero and two sd.

    ``table``: what ``lamina.residuals.residuals`` gave, if it is at hand.
    """
    ax = _axes(ax)
    record = posterior.record
    rows = evenly(len(record), MOST_BOXES)
    table = residual_table(posterior, rows) if table is None else table
    for group, colour in zip(groups(record, table.index.to_numpy()), GROUPS, strict=False):
        part = table.loc[group.rows]
        ax.plot(part["at"], part["scaled"], "o", color=colour, markersize=3, alpha=0.7, label=_plain(group.name))
    for level, style in (0.0, "-"), (-2.0, ":"), (2.0, ":"):
        ax.axhline(level, color="#555555", linewidth=0.8, linestyle=style, zorder=1)
    _time_axis(ax, posterior)
    ax.set_ylabel("Residual (sd)")
    _legend(ax)
    _note(ax, thinning(len(table), len(record)))
    return ax


def summary(
    posterior: Posterior, *, curve_table: pd.DataFrame | None = None, rate_table: pd.DataFrame | None = None
) -> Figure:
    """One figure for the paper: data and curve, the rate below, and how the inputs moved.

    curve_table, rate_table: what ``posterior.curve(at)`` and ``posterior.rate(at)`` gave, if they are at hand. A curve
    without a rate, and inputs that were taken as measured, have no panel. A fit that has not converged says so.
    """
    from matplotlib.figure import Figure

    at = default_times(posterior)
    panels: list[tuple[float, Callable[[Any], Any]]] = [
        (2.2, lambda ax: curve(posterior, ax, at=at, table=curve_table))
    ]
    if has_rate(posterior):
        panels.append((1.1, lambda ax: rate(posterior, ax, at=at, table=rate_table)))
    if not inputs_as_measured(posterior) and not posterior.record.exact.all():
        panels.append((1.1, lambda ax: inputs(posterior, ax)))
    heights = [height for height, _ in panels]
    figure = Figure(figsize=(7.2, 1.2 + 1.75 * sum(heights)), layout="constrained")
    all_axes = figure.subplots(len(panels), 1, sharex=True, height_ratios=heights, squeeze=False)[:, 0]
    for ax, (_, draw) in zip(all_axes, panels, strict=True):
        draw(ax)
    for ax in all_axes[:-1]:
        ax.set_xlabel("")
    figure.align_ylabels(all_axes)
    facts = posterior.draws.diagnostics
    if facts["interrupted"] or not facts["converged"]:
        said = "INTERRUPTED" if facts["interrupted"] else "NOT CONVERGED"
        figure.suptitle(f"{said}: not to be used as it is", color=ALERT, fontsize="medium", weight="bold")
    return figure


def compare(posteriors: Mapping[str, Posterior], curves: Mapping[str, pd.DataFrame] | None = None) -> Figure:
    """One figure of several fits of one record: the measurements, and each fit's mean and 95 % band.

    posteriors: by the name that the legend gives them; curves: what each one's ``curve(at)`` gave, if it is at hand.
    """
    from matplotlib.figure import Figure

    first = next(iter(posteriors.values()))
    if curves is None:
        at = default_times(first)
        curves = {name: posterior.curve(at) for name, posterior in posteriors.items()}
    figure = Figure(figsize=(7.2, 4.6), layout="constrained")
    ax = figure.subplots()
    _boxes(first, ax)
    for k, (name, table) in enumerate(curves.items()):
        colour, style = METHODS[k % len(METHODS)], STYLES[k // len(METHODS) % len(STYLES)]
        ax.fill_between(table["at"], table["q2.5"], table["q97.5"], color=colour, alpha=0.12, linewidth=0, zorder=2)
        for edge in "q2.5", "q97.5":
            ax.plot(table["at"], table[edge], color=colour, linewidth=0.7, linestyle=style, alpha=0.8, zorder=3)
        ax.plot(
            table["at"],
            table["mean"],
            color=colour,
            linewidth=1.6,
            linestyle=style,
            zorder=4,
            label=_plain(f"{name}, 95 %"),
        )
    _time_axis(ax, first, np.concatenate([table["at"] for table in curves.values()]))
    ax.set_ylabel(_plain(describe(first.record).value))
    _legend(ax)
    return figure


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(layout="constrained")[1]


def _plain(text: str) -> str:
    """Text of the record as it stands: a dollar sign would begin a formula, a leading underscore hide a legend."""
    text = " ".join(text.split()).replace("$", r"\$")
    return f"\u200b{text}" if text.startswith("_") else text


def _bands(ax: Axes, table: pd.DataFrame, factor: float) -> None:
    at, mean, sd = table["at"], factor * table["mean"], abs(factor) * table["sd"]
    look: dict[str, Any] = {"color": CURVE, "linewidth": 0, "zorder": 2}
    ax.fill_between(at, factor * table["q2.5"], factor * table["q97.5"], alpha=0.2, label="95 %", **look)
    ax.fill_between(at, mean - sd, mean + sd, alpha=0.35, label="68 % (± 1 sd)", **look)
    ax.plot(at, mean, color=CURVE, linewidth=1.6, zorder=4, label="mean")


def _boxes(posterior: Posterior, ax: Axes) -> None:
    from matplotlib.collections import PolyCollection

    record = posterior.record
    rows = evenly(len(record), MOST_BOXES)
    for group, colour in zip(groups(record, rows), GROUPS, strict=False):
        left, right, low, high = boxes(record, group.rows)
        corners = np.stack([np.stack([left, right, right, left], 1), np.stack([low, low, high, high], 1)], 2)
        face, edge = (0.12, 0.45) if len(rows) <= 200 else (0.04, 0.15)
        ax.add_collection(
            PolyCollection(
                list(corners),
                facecolors=(colour, face),
                edgecolors=(colour, edge),
                linewidths=0.5,
                zorder=1.5,
                label=_plain(f"{group.name} (± 2 sd)"),
            )
        )
    ax.autoscale_view()
    _note(ax, thinning(len(rows), len(record)))


def _legend(ax: Axes) -> None:
    """Above the axes: there it hides no data, and need not look for room among thousands of boxes."""
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.2}
    ax.legend(**place, frameon=False, fontsize="small", ncols=3, columnspacing=1.5)


def _time_axis(ax: Axes, posterior: Posterior, at: Any = None) -> None:
    names = describe(posterior.record)
    ax.set_xlabel(_plain(names.time))
    if at is not None:
        ax.set_xlim(*time_range(posterior.record, at))
    # Axes may share their time, so it is turned only where that has not been done.
    if names.backwards and not ax.xaxis_inverted():
        ax.invert_xaxis()


def _note(ax: Axes, text: str) -> None:
    if text:
        ax.text(0.99, 0.02, text, transform=ax.transAxes, ha="right", va="bottom", fontsize="x-small", color="#555555")
