"""Figures of a validation: the dates that were left out against their predictions, and the share that ranges hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..records.axes import describe
from ..validation import COVERAGE_LEVELS, Validation
from .canvas import legend, own_axes, plain
from .cores import DATES, HIATUS, MODEL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..record import Record


def left_out(validation: Validation, record: Record, ax: Axes | None = None) -> Axes:
    """Each date left out, with two standard deviations, less the median that the model without it has at its depth.

    The bars are the 95 % ranges of the model. Dates outside the range that includes their own error are hollow.
    """
    ax = own_axes(ax)
    table, middle = validation.table, validation.table["q50"]
    low, high = table["q2.5"] - middle, table["q97.5"] - middle
    ax.vlines(table["depth"], low, high, color=MODEL, alpha=0.3, linewidth=6, label="95 % of the prediction", zorder=1)
    inside = validation.inside(COVERAGE_LEVELS[-1])
    for which, fill, name in (inside, DATES, "dates left out, ± 2 sd"), (~inside, "white", "outside their 95 % range"):
        if which.any():
            some = table[which]
            ax.errorbar(some["depth"], some["t"] - some["q50"], 2.0 * some["t_sd"], fmt="o", markersize=4, color=DATES,
                        markerfacecolor=fill, linewidth=0.8, label=name, zorder=3)  # fmt: skip
    ax.axhline(0.0, color=HIATUS, linewidth=0.8, zorder=2)
    names = describe(record)
    ax.set_xlabel(plain(names.depth))
    ax.set_ylabel(plain(f"Date less prediction ({names.duration})" if names.duration else "Date less prediction"))
    legend(ax, 2)
    return ax


def calibration(validation: Validation, ax: Axes | None = None) -> Axes:
    """The share of the dates that the range of each probability holds; on the diagonal the bands are right.

    The grey area holds 95 % of the curves that right bands would give, at each probability.
    """
    ax = own_axes(ax)
    table = validation.calibration()
    ax.fill_between(table["level"], table["low"], table["high"], color=HIATUS, alpha=0.18, linewidth=0, label="usual")
    ax.plot([0.0, 1.0], [0.0, 1.0], color=HIATUS, linewidth=0.8)
    ax.plot(table["level"], table["share"], color=MODEL, linewidth=1.6, label="dates left out")
    known = validation.coverage()
    ax.plot(known["level"], known["share"], "o", color=MODEL, markersize=4)
    ax.set_xlabel("Probability of the range")
    ax.set_ylabel("Share of the dates inside")
    ax.set_aspect("equal")
    legend(ax, 2)
    return ax


def validation_summary(validation: Validation, record: Record) -> Figure:
    """Both figures side by side."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1.6, 1.0])
    left_out(validation, record, left)
    calibration(validation, right)
    return figure
