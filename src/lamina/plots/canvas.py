"""What the figures share: axes, the legend, text drawn as it is, and the mark of unfinished fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..posterior.diagnosis import state_of
from ..support.text import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..posterior.posterior import Posterior

#: Vermilion of the palette of Okabe & Ito.
ALERT = "#D55E00"


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
