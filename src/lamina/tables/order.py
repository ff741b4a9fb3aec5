"""What defines the order of the rows: depth, height, a column or the rows themselves, never the reported dates."""

import shlex
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..record import Order
from .aliases import Columns, must_be_named
from .facts import Notes
from .grid import Grid
from .headers import Header
from .numbers import values
from .options import Options
from .problems import Faults, TableError, name_lines, option, problem, quote
from .ranks import rank_correlation

#: Rank correlation of dates with the order that tells which way time runs, and the rows it takes to turn a core round.
_CLEAR = 0.5
_FEWEST_TO_TURN = 4


@dataclass(frozen=True)
class Arrangement:
    """Rows in the order of a record: positions in the grid, the sequence of each (or None), and the direction of t.

    places: of each row of the record, a number that grows along the order, NaN for none. by: what the order is by.
    """

    rows: list[int]
    sequence: list[str | None] | None
    order: Order
    by: str
    places: NDArray[np.float64]


@dataclass(frozen=True)
class Key:
    """A number per row that grows along the order; NaN where it is not known. older: whether it grows with age."""

    values: NDArray[np.float64]
    header: Header | None
    by: str
    older: bool


def arrange(
    grid: Grid,
    columns: Columns,
    labels: list[str | None] | None,
    key: Key | None,
    ties: list[str | None],
    t: NDArray[np.float64],
    scale: str | None,
    comma: bool,
    options: Options,
    notes: Notes,
) -> Arrangement:
    """Bring the rows of each sequence into order. Raises TableError if it is not clear.

    ties: the layer of each row, for rows that may share their place.
    """
    if key is None:
        return Arrangement(list(range(t.size)), [None] * t.size, "increasing", "none", np.full(t.size, np.nan))
    if key.header is not None and np.isnan(key.values).all():
        do = "fill the column in or choose another"
        raise problem(grid.path, "no row has a number here", do, column=key.header.text)
    groups, loose = _groups(key, labels)
    if loose:
        lines = name_lines([grid.lines[i] for i in loose])
        notes.fact("rows without order", f"{len(loose)} ({lines})", "their place in the order, or their core, is empty")
    if key.header is not None and options.equal_depth is None:
        _refuse_equal(grid, key.values, key.header, groups, ties)
    _compare_with_rows(grid, columns, key, groups, comma, options.order is not None)
    order = _direction(grid, key, groups, t, scale, options, notes)
    rows = []
    for name in sorted(groups):
        members = sorted(groups[name], key=lambda i: (key.values[i], ties[i] or ""))
        back = _runs_back(key, members, t, order, options)
        if back:
            inside = f" of {quote(name)}" if len(groups) > 1 else ""
            why = (
                f"their dates run against those of the longest sequence; say {option('order_direction', 'WAY')} if not"
            )
            notes.fact("turned round", f"the {len(members)} rows{inside}, listed from the other end", why)
        rows += members[::-1] if back else members
    sequence = None
    if labels is not None or loose:
        place = {i: name for name, members in groups.items() for i in members}
        sequence = [place.get(i) for i in (*rows, *loose)]
    return Arrangement(rows + loose, sequence, order, key.by, key.values[rows + loose])


def find_key(grid: Grid, columns: Columns, comma: bool, options: Options, notes: Notes, faults: Faults) -> Key | None:
    """What defines the order; None if the user wants none. Raises TableError if nothing does."""
    if options.order is not None:
        if options.order.lower() == "none":
            notes.fact("order", "none: every row stands alone", "you said so")
            return None
        if options.order.lower() == "rows":
            notes.fact("order", "the rows of the file", "you said so")
            return Key(np.arange(len(grid.cells), dtype=float), None, "rows", older=False)
        header = must_be_named(grid, options.order, option("order", "COLUMN, rows or none"))
        return _column(grid, header, comma, "you said so", notes, faults)
    for found in (columns.depth, columns.height, columns.position):
        if found is not None and any(grid.column(found)):
            return _column(grid, found, comma, "found by its name", notes, faults)
    if len(columns.depth_limits) == 2:
        top, bottom = columns.depth_limits
        depth: NDArray[np.float64] = np.mean(
            [values(grid, h, comma, "depth", faults, blank=True) for h in (top, bottom)], axis=0
        )
        notes.fact("order", f"the middle of {quote(top.text)} and {quote(bottom.text)}: deeper is older", "their names")
        return Key(depth, top, "depth", older=True)
    raise _no_order(grid)


def _column(grid: Grid, header: Header, comma: bool, why: str, notes: Notes, faults: Faults) -> Key:
    what = header.role if header.role in ("depth", "height") else "place in the order"
    key = values(grid, header, comma, what, faults, blank=True)
    if header.role == "depth":
        notes.fact("order", f"the column {quote(header.text)}: deeper is older", why)
        return Key(key, header, "depth", older=True)
    if header.role == "height":
        notes.fact("order", f"the column {quote(header.text)}: higher is younger", why)
        return Key(-key, header, "height", older=True)
    notes.fact("order", f"the column {quote(header.text)}", why)
    return Key(key, header, "column", older=False)


def _groups(key: Key, labels: list[str | None] | None) -> tuple[dict[str, list[int]], list[int]]:
    """Rows of each sequence, and the rows that have no order."""
    groups: dict[str, list[int]] = {}
    loose = []
    for i, value in enumerate(key.values):
        label = "core" if labels is None else labels[i]
        if label is None or np.isnan(value):
            loose.append(i)
        else:
            groups.setdefault(label, []).append(i)
    return groups, loose


def _refuse_equal(
    grid: Grid, key: NDArray[np.float64], header: Header, groups: dict[str, list[int]], ties: list[str | None]
) -> None:
    """Rows of one place must be one layer, unless the user has said what they are."""
    faults = Faults()
    for name, members in groups.items():
        places: dict[float, list[int]] = {}
        for i in members:
            places.setdefault(key[i], []).append(i)
        for rows in places.values():
            if len(rows) == 1 or (ties[rows[0]] is not None and len({ties[i] for i in rows}) == 1):
                continue
            inside = f" of {quote(name)}" if len(groups) > 1 else ""
            count = "two" if len(rows) == 2 else len(rows)
            faults.add(
                f"{count} rows{inside} have the same place in the order, {quote(grid.cells[rows[-1]][header.index])}",
                "say --equal-depth tie (equal_depth= in Python) if they are one layer with one true input, or "
                "--equal-depth block if their order is not known; or average them, tell them apart by their exact "
                "depths, name their cores in a column core, or leave the cell of one empty, which takes it out of "
                "the order",
                [grid.lines[i] for i in rows],
                header.text,
            )
    faults.refuse(grid.path)


def _compare_with_rows(
    grid: Grid, columns: Columns, key: Key, groups: dict[str, list[int]], comma: bool, named: bool
) -> None:
    """Depths that turn back down the rows contradict an order by rows, and may hide a second core.

    They are the order all the same if the user has ``named`` their column.
    """
    depth = columns.depth or columns.height
    if depth is None or key.by not in ("rows", "depth", "height") or (named and key.by != "rows"):
        return
    faults = Faults()
    places = values(grid, depth, comma, "depth", faults, blank=True)
    faults.refuse(grid.path)
    for members in groups.values():
        known = [i for i in members if not np.isnan(places[i])]
        steps = np.sign(np.diff(places[known]))
        turns = np.flatnonzero(steps == -steps[np.argmax(steps != 0.0)]) if steps.any() else np.empty(0, int)
        if not turns.size:
            continue
        line = grid.lines[known[int(turns[0]) + 1]]
        if key.by == "rows":
            raise problem(
                grid.path,
                "the order of the rows is asked for, but here the depths turn back",
                f"leave out {option('order', 'rows')} to order by depth, or correct the depth",
                line,
                depth.text,
            )
        raise problem(
            grid.path,
            "the depths turn back here, as if another core began or a row were out of its place",
            f"name the cores in a column core, correct the depth, or say --order {shlex.quote(depth.text)} to put the "
            "rows in the order of this column",
            line,
            depth.text,
        )


def _direction(
    grid: Grid,
    key: Key,
    groups: dict[str, list[int]],
    t: NDArray[np.float64],
    scale: str | None,
    options: Options,
    notes: Notes,
) -> Order:
    """Whether t increases or decreases along the order."""
    if options.order_direction is not None:
        notes.fact("direction", f"t is {options.order_direction} along the order", "you said so")
        return "increasing" if options.order_direction == "increasing" else "decreasing"
    if max(map(len, groups.values()), default=0) < 2:
        return "increasing"  # no two rows to put in order
    trend = _trend(key, groups, t)
    if key.older and scale is not None:
        along = 1.0 if scale == "BP" else -1.0
        if trend * along <= -_CLEAR and max(map(len, groups.values())) > 3:
            raise problem(
                grid.path,
                f"the dates, read as {scale}, get younger where they should get older",
                f"check whether this is depth or height, or correct the scale with {option('scale', 'BP or CE')}",
                column=None if key.header is None else key.header.text,
            )
        order: Order = "increasing" if along > 0 else "decreasing"
        notes.fact("direction", f"t is {order} along the order", f"{scale}, from young to old")
        return order
    if abs(trend) < _CLEAR:
        raise problem(
            grid.path,
            f"the dates do not tell which way time runs along the order (rank correlation {trend:.2f})",
            f"say it with {option('order_direction', 'increasing or decreasing')}"
            + (f" or {option('scale', 'BP or CE')}" if key.older else ""),
            column=None if key.header is None else key.header.text,
        )
    order = "increasing" if trend > 0 else "decreasing"
    why = f"the trend of the dates (rank correlation {trend:.2f}); change it with {option('order_direction', 'WAY')}"
    notes.fact("direction", f"t is {order} along the order", why)
    return order


def _trend(key: Key, groups: dict[str, list[int]], t: NDArray[np.float64]) -> float:
    """Rank correlation of t with the order, that of the longest sequence."""
    longest = _dated(max(groups.values(), key=len, default=[]), t)
    return rank_correlation(key.values[longest], t[longest])


def _dated(rows: list[int], t: NDArray[np.float64]) -> list[int]:
    return [i for i in rows if not np.isnan(t[i])]


def _runs_back(key: Key, members: list[int], t: NDArray[np.float64], order: Order, options: Options) -> bool:
    """With the order of the rows, one core may be listed from the top and another from the bottom.

    Only a clear trend of several dates tells; two or three may be reversed by their errors.
    """
    members = _dated(members, t)
    if key.by != "rows" or options.order_direction is not None or len(members) < _FEWEST_TO_TURN:
        return False
    trend = rank_correlation(key.values[members], t[members])
    return trend <= -_CLEAR if order == "increasing" else trend >= _CLEAR


def _no_order(grid: Grid) -> TableError:
    return problem(
        grid.path,
        "nothing says which row is older: no column for depth, height or position",
        f"add one, or say {option('order', 'COLUMN')}, --order rows if the rows are in their known order, or --order "
        "none to fit without order; sorting by the dates is no order",
        grid.header_line,
    )
