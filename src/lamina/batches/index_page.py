"""The page of a batch: a small picture of every record, with a link to its report."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

import numpy as np

from ..posterior.shown import evenly

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


PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>lamina: {title}</title><style>
:root {{ color-scheme: light dark; --ink: #1c1c1c; --soft: #5f6368; --paper: #ffffff; --card: #f6f6f4; --band: #0072b2;
  --bad: #b3261e; }}
@media (prefers-color-scheme: dark) {{ :root {{ --ink: #ececec; --soft: #a3a8ad; --paper: #16181a; --card: #212427;
  --band: #56b4e9; --bad: #ff8a80; }} }}
body {{ margin: 0 auto; max-width: 90rem; padding: 1.5rem; font: 16px/1.45 system-ui, sans-serif; color: var(--ink);
  background: var(--paper); }}
h1 {{ font-size: 1.4rem; }}
ul {{ list-style: none; padding: 0; display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fill, minmax(16.5rem, 1fr)); }}
li {{ background: var(--card); border-radius: .5rem; padding: .75rem; overflow-wrap: anywhere; }}
a {{ color: inherit; }} h2 {{ font-size: 1rem; margin: 0 0 .3rem; }} p {{ margin: .3rem 0 0; font-size: .85rem;
  color: var(--soft); }} .bad {{ color: var(--bad); font-weight: 600; }}
svg {{ width: 100%; height: auto; display: block; }} .band {{ fill: var(--band); opacity: .25; }}
.mean {{ fill: none; stroke: var(--band); stroke-width: 1.5; }} .row {{ fill: var(--soft); opacity: .6; }}
</style></head><body><h1>{title}</h1><ul>
{cards}
</ul></body></html>
"""


def render(entries: list[Entry]) -> str:
    """The page as text. Names are shown letter by letter, whatever they hold."""
    states = [entry.row["state"] for entry in entries]
    told = ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(states))
    count = f"{len(entries)} record{'' if len(entries) == 1 else 's'}"
    return PAGE.format(title=escape(f"{count}: {told}"), cards="\n".join(_card(entry) for entry in entries))


def _card(entry: Entry) -> str:
    row = entry.row
    name, bad = escape(str(row["name"])), row["state"] != "converged"
    state = f'<span class="bad">{escape(row["state"])}</span>' if bad else "converged"
    if entry.curve is None or entry.inputs is None:
        why = f": {escape(row['error'])}" if row["error"] else ""
        return f"<li><h2>{name}</h2><p>{state}{why}</p></li>"
    conflicts = row["conflicts"]
    dates = f", {conflicts} date{'' if conflicts == 1 else 's'} in conflict" if conflicts else ""
    link = quote(f"{row['folder']}/report.html")
    picture = _picture(entry.curve, entry.inputs, row["time_runs"] == "backwards", name)
    return (
        f'<li><h2><a href="{link}">{name}</a></h2><a href="{link}">{picture}</a>'
        f"<p>{row['rows']} rows, {state}{dates}</p></li>"
    )


def _picture(curve: pd.DataFrame, inputs: pd.DataFrame, backwards: bool, name: str) -> str:
    """The curve with its band and the measurements; ages before present (``backwards``) run from old to young.

    The curve has the times that were asked for, in any order, which may be far fewer or reach less far than the rows.
    """
    curve, inputs = _thinned(curve.sort_values("at")), _thinned(inputs[inputs["y"].notna()])
    at, t = curve["at"].to_numpy(dtype=float), inputs["mean"].to_numpy(dtype=float)
    low, high = curve["q2.5"].to_numpy(dtype=float), curve["q97.5"].to_numpy(dtype=float)
    y = inputs["y"].to_numpy(dtype=float)
    (left, right), (bottom, top) = _ends(at, t), _ends(low, high, y)

    def points(x: np.ndarray, values: np.ndarray) -> list[str]:
        across = (x - left) / ((right - left) or 1.0) * WIDTH
        across = WIDTH - across if backwards else across
        up = HEIGHT - 4.0 - (values - bottom) / ((top - bottom) or 1.0) * (HEIGHT - 8.0)
        return [f"{a:.1f},{b:.1f}" for a, b in zip(across, up, strict=True)]

    band = " ".join(points(at, low) + points(at, high)[::-1])
    mean = " ".join(points(at, curve["mean"].to_numpy(dtype=float)))
    dots = "".join('<circle class="row" r="2" cx="{}" cy="{}"/>'.format(*point.split(",")) for point in points(t, y))
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="Curve of {name} with its 95 % band">'
        f'<polygon class="band" points="{band}"/>{dots}<polyline class="mean" points="{mean}"/></svg>'
    )


def _ends(*values: np.ndarray) -> tuple[float, float]:
    every = np.concatenate(values)
    return float(every.min()), float(every.max())


def _thinned(table: pd.DataFrame) -> pd.DataFrame:
    return table.iloc[evenly(len(table), MOST_POINTS)]
