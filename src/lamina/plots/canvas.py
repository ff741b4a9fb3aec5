"""What figures with Matplotlib share: axes of one's own, text as it stands, and the mark of unfinished fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    """Say at the top of a figure that its fit was interrupted or has not converged, where that is so."""
    facts = posterior.draws.diagnostics
    if facts["interrupted"] or not facts["converged"]:
        said = "INTERRUPTED" if facts["interrupted"] else "NOT CONVERGED"
        figure.suptitle(f"{said}: not to be used as it is", color=ALERT, fontsize="medium", weight="bold")


def plain(text: str) -> str:
    """Text of the record as it stands: a dollar sign would begin a formula, a leading underscore hide a legend."""
    text = " ".join(text.split()).replace("$", r"\$")
    return f"\u200b{text}" if text.startswith("_") else text
