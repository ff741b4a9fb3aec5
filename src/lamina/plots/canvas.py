"""What the figures share: axes, text drawn as it is, and the mark of unfinished fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..posterior.diagnosis import state_of

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


def mark_unfinished(figure: Figure, posterior: Posterior) -> None:
    """Write at the top of a figure that its fit was interrupted or has not converged, if so."""
    state = state_of(posterior.draws.diagnostics)
    if state != "converged":
        figure.suptitle(f"{state.upper()}: not to be used as it is", color=ALERT, fontsize="medium", weight="bold")


def plain(text: str) -> str:
    """Text of the record, drawn as it is: a dollar sign would begin a formula, a leading underscore hide a legend."""
    text = " ".join(text.split()).replace("$", r"\$")
    return f"\u200b{text}" if text.startswith("_") else text
