"""The records of a batch in words: how they ended, their conflicts and warnings, and the requested rates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..output.batch import OUTCOMES, SEPARATOR, intervals
from ..posterior.diagnosis import count_conflicts
from ..records.axes import shown_rate_unit
from ..support.numbers import count, with_range

Row = Mapping[str, Any]
#: Records that are listed one by one; the others are in summary.csv.
MOST_LISTED = 60
#: Records whose warnings are printed.
MOST_WARNED = 10


def headline(rows: Sequence[Row]) -> str:
    """The records in one line: how many there are in each state, with how many conflicts and warnings."""
    states = [row["state"] for row in rows]
    parts = [f"{states.count(state)} {state}" for state in OUTCOMES if state in states]
    conflicts, warnings = (sum(row[name] for row in rows) for name in ("conflicts", "warnings"))
    within = count(sum(row["warnings"] > 0 for row in rows), "record")
    parts += [count_conflicts(conflicts)] if conflicts else []
    parts += [f"{count(warnings, 'warning')} in {within}"] if warnings else []
    return f"{count(len(rows), 'record')}: {', '.join(parts)}"


def lines(rows: Sequence[Row]) -> list[str]:
    """One line for each record that was fitted, in columns."""
    fitted = [row for row in rows if row["state"] not in ("failed", "not done")]
    cells = [[row["name"], row["state"], *_counts(row), *rates(row)] for row in fitted[:MOST_LISTED]]
    width = max(map(len, cells), default=0)
    cells = [one + [""] * (width - len(one)) for one in cells]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    found = ["  ".join(f"{cell:<{n}}" for cell, n in zip(one, widths, strict=True)).rstrip() for one in cells]
    return found if len(fitted) <= MOST_LISTED else [*found, f"and {len(fitted) - MOST_LISTED} more: see summary.csv"]


def _counts(row: Row) -> list[str]:
    return [count_conflicts(row["conflicts"]), count(row["warnings"], "warning")]


def rates(row: Row) -> list[str]:
    """The mean rates of a record over the requested intervals, forward in time and as ``fit`` shows them."""
    unit, factor = shown_rate_unit(str(row.get("rate_unit", "")))
    found = []
    for name, first, last in intervals(row):
        mean, low, high = (factor * row[f"{name}{end}"] for end in ("", "_q2.5", "_q97.5"))
        if not math.isnan(mean):
            found.append(f"{first} to {last}: {with_range(mean, low, high, unit)}")
    return found


def warnings(rows: Sequence[Row]) -> list[str]:
    """The warnings of the first records that have some, one line each, and how many more there are."""
    warned = [row for row in rows if row["warnings"]]
    found = [f"{row['name']}: {text}" for row in warned[:MOST_WARNED] for text in row["warning_text"].split(SEPARATOR)]
    more = len(warned) - MOST_WARNED
    return found if more <= 0 else [*found, f"{count(more, 'more record')} with warnings: see summary.csv"]
