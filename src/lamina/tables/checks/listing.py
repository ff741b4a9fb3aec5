"""Rows that are not listed by depth: out of their place, against an order by rows, or of another core."""

import shlex
from itertools import pairwise

import numpy as np

from ..columns import Reading
from ..file import Table
from ..headers import Header
from ..matching.sequences import or_sequence
from ..messages import name_lines, option
from ..numbers import Array, values

#: What is found where a run goes through the same depths once more.
AGAIN = "the depths begin again here, as if another core began"
#: Rows that make a run, the part of its depths that it shares with another core, and the most runs per row.
_RUN, _SHARED, _RUNS_PER_ROW = 3, 0.5, 0.25


def check_listing(reading: Reading, key: Array, header: Header | None, by: str, groups: dict[str, list[int]]) -> None:
    """Warn of rows that are put in the order of their depths. Raises TableError if two runs down the same depths may be
    two cores, and if the depths contradict an order by rows.

    key: the place of each row, of the column `header`, by depth, height, rows or another column. groups: the rows of
    each sequence. No message is needed if the user has named the column of depths.
    """
    depth = reading.columns.depth or reading.columns.height
    named = reading.options.order is not None or reading.options.depth is not None
    if depth is None or by not in ("rows", "depth", "height") or (named and by != "rows"):
        return
    places = key if depth is header else values(reading, depth, "depth", blank=True)
    reading.refuse()
    out_of_place: list[int] = []
    for members in groups.values():
        known = np.array([i for i in members if not np.isnan(places[i])], dtype=int)
        turns = turns_back(places[known])
        if not turns.size:
            continue
        if by == "rows":
            found = f"here the depths reverse, against {option('order', 'rows')}"
            do = "leave the option out to order by depth, or correct the depth"
            raise reading.problem(found, do, known[turns[0]], depth).suggesting(order=depth.text)
        again = begins_again(places[known])
        if again is not None:
            say = f"say --order {shlex.quote(depth.text)} to put the rows in the order of this column"
            first, answers = or_sequence(reading, order=depth.text)
            name = first or "name the cores in a column core, or "
            raise reading.problem(AGAIN, name + say, known[again], depth).suggesting(**answers)
        out_of_place += known[turns].tolist()
    if out_of_place:
        reading.warn(not_listed(reading, depth, out_of_place))


def not_listed(table: Table, depth: Header, rows: list[int]) -> str:
    """The warning about rows at which the depths turn back."""
    return (
        f"the rows are not listed by depth: {depth} reverses in {name_lines(table.lines_of(sorted(rows)))}. They are "
        "put in the order of their depths. Check these, and name the cores in a column core if there are several."
    )


def turns_back(places: Array) -> np.ndarray:
    """The rows at which places turn back against the way in which most of them run."""
    steps = np.sign(np.diff(places))
    way = 1.0 if steps.sum() >= 0.0 else -1.0
    return np.flatnonzero(steps == -way) + 1


def begins_again(places: Array) -> int | None:
    """The row at which a run goes through the depths of the one before once more; None if no run does."""
    turns = turns_back(places)
    if len(turns) + 1 > max(2.0, _RUNS_PER_ROW * places.size):
        return None  # rows in no order at all
    runs = [run for run in np.split(np.arange(places.size), turns) if run.size >= _RUN]
    for before, after in pairwise(runs):
        (low, high), (top, bottom) = ((places[run].min(), places[run].max()) for run in (before, after))
        if min(high, bottom) - max(low, top) >= _SHARED * min(high - low, bottom - top):
            return int(after[0])
    return None
