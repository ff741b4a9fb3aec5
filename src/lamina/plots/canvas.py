"""What the figures share: axes, the legend, text drawn as it is, and the mark of unfinished fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..posterior.diagnosis import state_of
from ..support.text import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..posterior.posterior import Posterior

#: Vermilion of the palette of Okabe & Ito.
ALERT = "#D55E00"
LABEL = "#333333"
#: Where a label may stand, in the order of preference: beside its marker in points, and how it is aligned.
SIDES = ((2, 0, "left", "center"), (-2, 0, "right", "center"), (0, 2, "center", "bottom"), (0, -2, "center", "top"))


def own_axes(ax: Axes | None) -> Axes:
    """These axes, or new ones."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(layout="constrained")[1]


def legend(ax: Axes, columns: int = 3) -> None:
    """Above the axes, where it hides no data and needs no search for space among thousands of boxes."""
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.2}
    ax.legend(**place, frameon=False, fontsize="small", ncols=columns, columnspacing=1.5)


def place_labels(ax: Axes, texts: Sequence[str], places: np.ndarray, radius: np.ndarray, what: str) -> None:
    """Label markers where there is space, on one of four sides of each, those that come first before the others.

    A label that would cover a marker or another label, or leave the axes, is left out, and a note in the corner says
    how many are shown. The layout of the figure has to be as it will be: draw everything else first.

    places: of the markers, in data coordinates (N, 2). radius: of the markers in points (N,). what: "sites".
    """
    from matplotlib.transforms import Bbox

    figure: Any = ax.figure
    while getattr(figure, "figure", figure) is not figure:  # up to the one that holds all
        figure = figure.figure
    figure.draw_without_rendering()
    inside = ax.get_window_extent()
    reach = radius[:, None] * figure.dpi / 72.0
    points = ax.transData.transform(places)
    taken = [Bbox(ends) for ends in np.stack([points - reach, points + reach], 1)]
    look: dict[str, Any] = {"textcoords": "offset points", "fontsize": "x-small", "color": LABEL, "zorder": 5}
    corner: dict[str, Any] = {"xycoords": "axes fraction", "ha": "right", "va": "bottom", "style": "italic"}
    note = ax.annotate(f"{len(texts)} of {len(texts)} {what} labelled", (1.0, 0.0), (-3, 3), **look, **corner)
    taken.append(note.get_window_extent())
    labelled = 0
    for name, place, r in zip(texts, places, radius, strict=True):
        for x, y, across, upright in SIDES:
            beside = (x + np.sign(x) * r, y + np.sign(y) * r)
            text = ax.annotate(name, tuple(place), beside, ha=across, va=upright, **look)
            box = text.get_window_extent()
            if inside.contains(box.x0, box.y0) and inside.contains(box.x1, box.y1) and not box.count_overlaps(taken):
                taken.append(box)
                labelled += 1
                break
            text.remove()
    if labelled < len(texts):
        note.set_text(f"{labelled} of {len(texts)} {what} labelled")
    else:
        note.remove()


def mark_unfinished(figure: Figure, posterior: Posterior) -> None:
    """Write at the top of a figure that its fit was interrupted or has not converged, if so."""
    state = state_of(posterior.draws.diagnostics)
    if state != "converged":
        figure.suptitle(f"{state.upper()}: not to be used as it is", color=ALERT, fontsize="medium", weight="bold")


def plain(text: str) -> str:
    """Text of the record, drawn as it is: a dollar sign would begin a formula, a leading underscore hide a legend.

    Control characters, which are not allowed in SVG, are written out.
    """
    text = visible(" ".join(text.split())).replace("$", r"\$")
    return f"\u200b{text}" if text.startswith("_") else text
