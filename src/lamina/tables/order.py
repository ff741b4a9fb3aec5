"""What defines the order of the rows: depth, height, a column or the rows, never the dates."""

import math
from dataclasses import dataclass

import numpy as np

from ..record import Order
from .checks.listing import check_listing
from .columns import Reading
from .headers import Header
from .matching.sequences import or_sequence, stacked
from .matching.suggestions import likely_depth
from .messages import TableError, flag, option, quote
from .numbers import Array, values

#: Rank correlation of dates with the order that shows which way time runs, and the rows it takes to turn a core round.
_CLEAR = 0.5
_FEWEST_TO_TURN = 4
#: What an order against depth or height means.
_UPSIDE_DOWN = {"depth": "deeper rows are younger", "height": "higher rows are older"}

Labels = list[str | None]
Groups = dict[str, list[int]]


@dataclass(frozen=True)
class Arrangement:
    """Rows in the order of a record: positions in the table, the sequence of each (or None), and the direction of t.

    places: of each row of the record, a number that grows along the order, NaN for none. by: what the order is by.
    """

    rows: list[int]
    sequence: Labels | None
    order: Order
    by: str
    places: Array


@dataclass(frozen=True)
class Key:
    """A number per row that grows along the order; NaN where it is not known. older: whether it grows with age."""

    values: Array
    header: Header | None
    by: str
    older: bool


def find_key(reading: Reading) -> Key | None:
    """What defines the order; None if the user has chosen none. Raises TableError if nothing does."""
    columns, chosen = reading.columns, reading.options.order
    if chosen is not None and chosen.lower() == "none":
        reading.fact("order", "none: every row stands alone", reading.set_by("order"))
        return None
    if chosen is not None and chosen.lower() == "rows":
        reading.fact("order", "the rows of the file", reading.set_by("order"))
        return Key(np.arange(len(reading.cells), dtype=float), None, "rows", older=False)
    if chosen is not None:
        return _column(
            reading, reading.require(chosen, option("order", "COLUMN, rows or none")), reading.set_by("order")
        )
    for found in columns.places:
        if any(reading.column(found)):
            by_option = found is columns.depth and reading.options.depth is not None
            return _column(reading, found, reading.set_by("depth") if by_option else "found by its name")
    if len(columns.depth_limits) == 2:
        top, bottom = columns.depth_limits
        depth: Array = np.mean([values(reading, h, "depth", blank=True) for h in (top, bottom)], axis=0)
        reading.fact("order", f"the middle of {top} and {bottom}: deeper is older", "their names")
        return Key(depth, top, "depth", older=True)
    reading.refuse()  # several places are the first question
    used = {h.index for h in (*columns.measured, *columns.of_radiocarbon)}
    likely = likely_depth(reading, used)
    nothing = "nothing says which row is older: no column for depth, height or position"
    rows = "--order rows if the rows are in their known order, or --order none to fit without order"
    never = "sorting by the dates does not give the order"
    if likely is not None:
        do = f"{likely} may be one: say {option('depth', quote(likely.text))}, or another {option('order', 'COLUMN')}"
        raise reading.header_problem(nothing, f"{do}, {rows}; {never}").suggesting(depth=likely.text)
    cores = stacked(reading)
    rows += "" if cores is None else f", and {option('sequence', quote(cores.text))} if {cores} names cores or sites"
    do = f"add one, or say {option('order', 'COLUMN')}, {rows}; {never}"
    raise reading.header_problem(nothing, do).suggesting(order="none")


def _column(reading: Reading, header: Header, why: str) -> Key:
    """The order by a column."""
    by = header.role if header.role in ("depth", "height") else "column"
    key = values(reading, header, "place in the order" if by == "column" else by, blank=True)
    way = {"depth": ": deeper is older", "height": ": higher is younger"}.get(by, "")
    way = way if reading.options.order_direction is None else ""  # which may say something else
    reading.fact("order", f"the column {header}{way}", why)
    return Key(-key if by == "height" else key, header, by, older=by != "column")


def arrange(reading: Reading, key: Key | None, labels: Labels | None, ties: Labels, t: Array) -> Arrangement:
    """Bring the rows of each sequence into order. Raises TableError if it is not clear.

    labels: the sequence of each row. ties: the layer of each row, for rows that may share their place.
    """
    if key is None:
        return Arrangement(list(range(t.size)), [None] * t.size, "increasing", "none", np.full(t.size, np.nan))
    if key.header is not None and np.isnan(key.values).all():
        raise reading.problem("no row has a number here", "fill the column in or choose another", column=key.header)
    groups, loose = _groups(key, labels)
    if loose:
        why = "their place in the order, or their core, is empty"
        reading.fact("rows without order", f"{len(loose)} ({reading.name_lines(loose)})", why)
    if key.header is not None and reading.options.equal_depth is None:
        _refuse_equal(reading, key.values, key.header, groups, ties)
    check_listing(reading, key.values, key.header, key.by, groups)
    order = _direction(reading, key, groups, t)
    rows, along = [], key.values.tolist()
    for name in sorted(groups):
        members = sorted(groups[name], key=lambda i: (along[i], ties[i] or ""))
        back = _runs_back(reading, key, _dated(members, t), t, order)
        if back:
            inside = f" of {quote(name)}" if len(groups) > 1 else ""
            way = option("order_direction", "WAY")
            why = f"their dates run against those of the longest sequence; say {way} if not"
            reading.fact("turned round", f"the {len(members)} rows{inside}, listed from the other end", why)
        rows += members[::-1] if back else members
    sequence = None
    if labels is not None or loose:
        place = {i: name for name, members in groups.items() for i in members}
        sequence = [place.get(i) for i in (*rows, *loose)]
    return Arrangement(rows + loose, sequence, order, key.by, key.values[rows + loose])


def _groups(key: Key, labels: Labels | None) -> tuple[Groups, list[int]]:
    """Rows of each sequence, and the rows that have no order."""
    groups: Groups = {}
    loose = []
    for i, value in enumerate(key.values.tolist()):
        label = "core" if labels is None else labels[i]
        if label is None or math.isnan(value):
            loose.append(i)
        else:
            groups.setdefault(label, []).append(i)
    return groups, loose


def _refuse_equal(reading: Reading, key: Array, header: Header, groups: Groups, ties: Labels) -> None:
    """Rows of one place must be one layer, unless the user has set what they are."""
    for name, members in groups.items():
        if np.unique(key[members]).size == len(members):
            continue
        places: dict[float, list[int]] = {}
        for i in members:
            places.setdefault(key[i], []).append(i)
        for rows in places.values():
            if len(rows) == 1 or (ties[rows[0]] is not None and len({ties[i] for i in rows}) == 1):
                continue
            inside = f" of {quote(name)}" if len(groups) > 1 else ""
            count = "two" if len(rows) == 2 else len(rows)
            place = quote(reading.cells[rows[-1]][header.index])
            first, answers = or_sequence(reading, equal_depth="block")
            reading.ask(
                f"{count} rows{inside} have the same place in the order, {place}",
                f"{first}say --equal-depth tie (equal_depth= in Python) if they are one layer with one "
                "true input, or --equal-depth block if their order is not known; or average them, tell them apart by "
                "their exact depths, name their cores in a column core, or leave the cell of one empty, which takes it "
                "out of the order",
                rows,
                header,
                **answers,
            )
    reading.refuse()


def _direction(reading: Reading, key: Key, groups: Groups, t: Array) -> Order:
    """Whether t increases or decreases along the order."""
    chosen, scale = reading.options.order_direction, reading.scale
    longest = max(groups.values(), key=len, default=[])
    if chosen is None and len(longest) < 2:
        return "increasing"  # no two rows to put in order
    dated = _dated(longest, t)
    trend = rank_correlation(key.values[dated], t[dated])
    if chosen is not None:
        increasing, why = chosen == "increasing", reading.set_by("order_direction")
        if key.older and scale is not None and increasing != (scale == "BP"):
            reading.warn(
                f"with {flag('order_direction')} {chosen}, and dates read as {scale}, {_UPSIDE_DOWN[key.by]}. Leave "
                "the option out if that is wrong."
            )
    elif key.older and scale is not None:
        increasing, why = scale == "BP", f"{scale}, from young to old"
        if (trend if increasing else -trend) <= -_CLEAR and len(longest) > 3:
            raise _upside_down(reading, key, t[dated])
    else:
        increasing, way = trend > 0, option("order_direction", "WAY")
        why = f"the trend of the dates (rank correlation {trend:.2f}); change it with {way}"
        if abs(trend) < _CLEAR:
            found = f"the dates do not show which way time runs along the order (rank correlation {trend:.2f})"
            do = f"say it with {option('order_direction', 'increasing or decreasing')}"
            do += f" or {option('scale', 'BP or CE')}" if key.older else ""
            first, answers = or_sequence(reading, order_direction="increasing")
            raise reading.problem(found, first + do, column=key.header).suggesting(**answers)
    order: Order = "increasing" if increasing else "decreasing"
    reading.fact("direction", f"t is {order} along the order", why)
    return order


def _upside_down(reading: Reading, key: Key, t: Array) -> TableError:
    """The error to raise if the dates `t` contradict depth or height. The order itself is never turned round by guess.

    What gets larger with age under a header of years CE is most likely an age BP; else no order is safe.
    """
    scale = reading.scale
    may_be_bp = scale == "CE" and reading.options.scale is None and bool((t >= 0.0).all())
    other, way = ("CE", "decreasing") if scale == "BP" else ("BP", "increasing")
    likely = "the dates are most likely ages BP" if may_be_bp else f"the dates may be {other}"
    instead = "height or elevation" if key.by == "depth" else "depth"
    first, answers = or_sequence(reading, order="none")
    return reading.problem(
        f"the dates, read as {scale}, get younger where they should get older",
        f"{first}{likely} ({option('scale', other)}), the column may be a {instead} (name it so), or one "
        f"of the two may be listed from the other end; say {option('order', 'none')} to fit without order, or "
        f"{option('order_direction', way)} if {_UPSIDE_DOWN[key.by]}",
        column=key.header,
    ).suggesting(**({"scale": "BP"} if may_be_bp else answers))


def _dated(rows: list[int], t: Array) -> list[int]:
    found = np.array(rows, dtype=int)
    return found[~np.isnan(t[found])].tolist()


def _runs_back(reading: Reading, key: Key, members: list[int], t: Array, order: Order) -> bool:
    """With the order of the rows, one core may be listed from the top and another from the bottom.

    Only a clear trend of several dates shows it; two or three may be reversed by their errors.
    """
    if key.by != "rows" or reading.options.order_direction is not None or len(members) < _FEWEST_TO_TURN:
        return False
    trend = rank_correlation(key.values[members], t[members])
    return trend <= -_CLEAR if order == "increasing" else trend >= _CLEAR


def is_clear(correlation: float) -> bool:
    """Whether a rank correlation shows which way dates run."""
    return correlation > _CLEAR


def rank_correlation(a: Array, b: Array) -> float:
    """Spearman's rank correlation, with mean ranks for ties; 0 if one of the two does not vary."""
    if a.size < 2:
        return 0.0
    ranks_a, ranks_b = _ranks(a), _ranks(b)
    spread_a, spread_b = ranks_a.std(), ranks_b.std()
    if min(spread_a, spread_b) == 0.0:
        return 0.0
    return float(np.mean((ranks_a - ranks_a.mean()) * (ranks_b - ranks_b.mean())) / (spread_a * spread_b))


def _ranks(values: Array) -> Array:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2.0)[inverse], dtype=np.float64)


# --- reported dates against the known order --------------------------------------------------------------------------


def refuse_exact_reversals(reading: Reading, arranged: Arrangement, t: Array, t_sd: Array) -> None:
    """Raise TableError if exact inputs of one sequence run against its order. t and t_sd are arranged already."""
    sign = 1.0 if arranged.order == "increasing" else -1.0
    last: dict[str, int] = {}
    for i in np.flatnonzero(t_sd == 0.0).tolist():
        name = "" if arranged.sequence is None else arranged.sequence[i]
        if name is None:
            continue
        before = last.get(name, i)
        if sign * (t[i] - t[before]) < 0.0:
            found = f"the inputs {t[before]:g} and {t[i]:g} are exact (error 0), but against the order"
            do = "correct them or their depths, or give them an error above 0"
            reading.fault(found, do, [arranged.rows[before], arranged.rows[i]], reading.columns.t)
        last[name] = i
    reading.refuse()
