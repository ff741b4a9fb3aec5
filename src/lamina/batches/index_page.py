"""The page of a batch: a small picture of every record, with a link to its report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

import numpy as np

from ..methods.draws import evenly
from ..output.batch import SEPARATOR
from ..posterior.diagnosis import count_conflicts
from ..report.page import render as render_template
from ..support.numbers import count
from .overview import headline, rates

if TYPE_CHECKING:
    import pandas as pd

WIDTH, HEIGHT = 260, 130
#: A small picture needs no more points than this.
MOST_POINTS = 120


class Entry(NamedTuple):
    """One record: its row of the summary, and its tables where the fit did not fail."""

    row: dict[str, Any]
    curve: pd.DataFrame | None
    inputs: pd.DataFrame | None


def render(entries: list[Entry]) -> str:
    """The page as text. Every name is escaped, whatever it holds."""
    title = headline([entry.row for entry in entries])
    cards = [_card(entry) for entry in entries]
    return render_template("index.html", title=title, cards=cards, width=WIDTH, height=HEIGHT)


def _card(entry: Entry) -> dict[str, Any]:
    row, conflicts = entry.row, entry.row["conflicts"]
    picture = None
    if entry.curve is not None and entry.inputs is not None:
        picture = _picture(entry.curve, entry.inputs, row["time_runs"] == "backwards")
    return {
        **{key: row[key] for key in ("name", "state", "rows", "error")},
        "conflicts": count_conflicts(conflicts) if conflicts else "",
        "warned": count(row["warnings"], "warning") if row["warnings"] else "",
        "warnings": row["warning_text"].split(SEPARATOR),
        "rates": rates(row),
        "link": quote(f"{row['folder']}/report.html"),
        "picture": picture,
    }


def _picture(curve: pd.DataFrame, inputs: pd.DataFrame, backwards: bool) -> dict[str, list[Any]]:
    """The curve with its band and the measurements; ages before present (``backwards``) run from old to young.

    The curve has the requested times, in any order, which may be far fewer or reach less far than the rows.
    """
    curve, inputs = _thinned(curve.sort_values("at")), _thinned(inputs[inputs["y"].notna()])
    at, mean, low, high = (curve[name].to_numpy(dtype=float) for name in ("at", "mean", "q2.5", "q97.5"))
    t, y = inputs["mean"].to_numpy(dtype=float), inputs["y"].to_numpy(dtype=float)
    (left, right), (bottom, top) = _ends(at, t), _ends(low, high, y)

    def places(x: np.ndarray, values: np.ndarray) -> list[tuple[str, str]]:
        across = (x - left) / ((right - left) or 1.0) * WIDTH
        across = WIDTH - across if backwards else across
        up = HEIGHT - 4.0 - (values - bottom) / ((top - bottom) or 1.0) * (HEIGHT - 8.0)
        return [(f"{a:.1f}", f"{b:.1f}") for a, b in zip(across, up, strict=True)]

    outline = places(at, low) + places(at, high)[::-1]
    return {
        "band": [",".join(place) for place in outline],
        "mean": [",".join(place) for place in places(at, mean)],
        "dots": places(t, y),
    }


def _ends(*values: np.ndarray) -> tuple[float, float]:
    every = np.concatenate(values)
    return float(every.min()), float(every.max())


def _thinned(table: pd.DataFrame) -> pd.DataFrame:
    return table.iloc[evenly(len(table), MOST_POINTS)]
