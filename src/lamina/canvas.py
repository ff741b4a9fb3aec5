"""What figures with Matplotlib share: axes of one's own, and text of the record as it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def own_axes(ax: Axes | None) -> Axes:
    """These axes, or new ones."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(layout="constrained")[1]


def plain(text: str) -> str:
    """Text of the record as it stands: a dollar sign would begin a formula, a leading underscore hide a legend."""
    text = " ".join(text.split()).replace("$", r"\$")
    return f"\u200b{text}" if text.startswith("_") else text
