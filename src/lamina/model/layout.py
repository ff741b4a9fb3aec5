"""A record as the arrays that compiled code works on, and the checks that there is a posterior.

Rows are those of a record whose ties are merged; ``known`` (N,) is a row of the user's record for each, for errors.
"""

from __future__ import annotations

import math

import numpy as np

from ..dates.table import has_several_modes, masses
from ..errors import MethodError, OrderError, RecordError
from ..kernels import Kernel
from ..record import Record
from .priors import usual_step
from .rows import Rows
from .trend import Design

Array = np.ndarray


def guess_inputs(record: Record, t: Array) -> tuple[Array, Array]:
    """Inputs t (N,) with a guess for rows without a date, and how far each may be off (N,)."""
    t, scale = t.copy(), record.t_sd.copy()
    for _, rows in record.sequences:
        dated = record.dated[rows]
        if dated.all():
            continue
        place = np.arange(len(rows), dtype=float)
        if record.depth is not None:
            depth = record.depth[rows]
            place = np.abs(depth - depth[0])
        known, times = place[dated], t[rows[dated]]
        pace = max((times[-1] - times[0]) / (known[-1] - known[0] or 1.0), 0.0)
        guess = np.interp(place, known, times)
        guess += pace * (np.minimum(place - known[0], 0.0) + np.maximum(place - known[-1], 0.0))
        t[rows[~dated]] = guess[~dated]
        usual = np.ptp(times) / len(times) or float(scale[rows[dated]].max()) or 1.0
        scale[rows[~dated]] = usual
    return t, scale


def check_order(record: Record, rows: Rows, gaps: str, scale: Array, known: Array) -> None:
    """Raise RecordError or OrderError where dates, minimum gaps and the order leave no posterior."""
    _check_bounds(record, rows, known)
    _check_minimum_gaps(record, rows, scale, known)
    _check_proper(record, rows, gaps, known)


def _check_proper(record: Record, rows: Rows, gaps: str, known: Array) -> None:
    """Inputs without a date need dates: a gap that may have any size needs dated rows on both sides."""
    for _, members in record.sequences:
        dated = np.flatnonzero(record.dated[members])
        if len(dated) == len(members):
            continue
        flat = ~rows.regular[members[:-1]] | (gaps in ("uniform", "log-uniform"))
        place = np.arange(len(members) - 1)
        loose = flat & ((place < dated[0]) | (place >= dated[-1]))
        if loose.any():
            row = members[int(np.argmax(loose))]
            raise RecordError(
                "nothing constrains the rows without a date on one side of the gap after {rows}: it "
                "may have any size (a hiatus, rows at equal depth, or this gap prior), and no row beyond it has a "
                "date. Date a row there, or leave these rows out.",
                rows=known[[row]],
            )
        if len(dated) < 2 and gaps in ("gamma", "exponential"):
            raise RecordError(
                "one date, that of {rows}, does not determine the pace of a sequence whose "
                "other rows have none. Give it a second date, or leave the rows without one out.",
                rows=known[members[dated]],
            )


def _check_bounds(record: Record, rows: Rows, known: Array) -> None:
    """Exact inputs and dates with hard bounds must agree with the order."""
    if not rows.bounded.any():  # the record has checked exact inputs
        return
    first = np.where(record.exact, rows.t, np.where(rows.bounded, rows.first, -np.inf))
    last = np.where(record.exact, rows.t, np.where(rows.bounded, rows.first + rows.step * (rows.size - 1), np.inf))
    for _, members in record.sequences:
        least, reached, by = 0.0, -np.inf, -1
        for k, row in enumerate(members):
            least += rows.least[members[k - 1]] if k > 0 and rows.block[row] < 0 else 0.0
            same_block = by >= 0 and rows.block[row] >= 0 and rows.block[row] == rows.block[by]
            both_exact = by >= 0 and record.exact[row] and record.exact[by]  # checked by the record
            if by >= 0 and not same_block and not both_exact and last[row] - least <= reached:
                raise OrderError(
                    f"the dates of {{rows}} contradict the order: the first cannot be before "
                    f"{record.t[by] + record.sign * (first[by] - rows.t[by]):g} along it, and the second not after "
                    f"{record.t[row] + record.sign * (last[row] - rows.t[row]):g}, minimum gaps included. "
                    "Correct the dates, the order or the minimum gap (least_gap=, --minimum-gap).",
                    rows=known[[by, row]],
                )
            if first[row] - least > reached:
                reached, by = first[row] - least, int(row)


def _check_minimum_gaps(record: Record, rows: Rows, scale: Array, known: Array) -> None:
    """The minimum gaps must fit between the first and the last date of a sequence, give or take ten errors."""
    for _, members in record.sequences:
        dated = members[record.dated[members]]
        if len(dated) < 2:
            continue
        first, last = int(dated[0]), int(dated[-1])
        between = members[np.flatnonzero(members == first)[0] : np.flatnonzero(members == last)[0]]
        total, apart = float(rows.least[between].sum()), float(rows.t[last] - rows.t[first])
        if total > max(apart, 0.0) + 10.0 * math.hypot(scale[first], scale[last]):
            raise RecordError(
                f"the minimum gaps between {{rows}} add up to {total:g}, but their dates are "
                f"{apart:g} apart. Correct the minimum gap (least_gap=, --minimum-gap), or check its unit.",
                rows=known[[first, last]],
            )


def check_limits(record: Record, kernel: Kernel) -> None:
    """Limits on one side do not determine a level with a flat prior, and no limits determine a rate."""
    if record.limit is None or not record.limit.any():
        return
    flat = sum(not math.isfinite(term.sd) for term in kernel.trend)
    sides = set(record.limit[record.limit != 0].tolist())
    if (len(sides) == 1 or flat > 1) and np.count_nonzero(record.measured & (record.limit == 0)) < flat:
        what, give = (
            ("level", "a measured value, a limit on the other side,")
            if flat == 1
            else ("level and a rate", "two measured values")
        )
        raise RecordError(
            f"limits alone do not determine a {what} with a flat prior: give {give} or a kernel whose trend terms "
            "have a finite sd."
        )


def check_no_gap_is_zero(record: Record, gaps: str, known: Array) -> None:
    """Exact rows at one time, next to each other in a sequence, have a gap of zero, which some priors cannot have."""
    if gaps not in ("gamma", "log-uniform"):
        return
    for _, rows in record.sequences:
        same = (np.diff(record.t[rows]) == 0.0) & record.exact[rows[1:]] & record.exact[rows[:-1]]
        if same.any():
            k = int(np.argmax(same))
            raise MethodError(
                f'gaps="{gaps}" gives no probability to a gap of zero, but the exact inputs of '
                f"{{rows}} are equal. Take one of them out of the sequence by leaving its "
                'label empty, or use gaps="exponential" or "uniform" (--gaps on the command line).',
                rows=known[rows[k : k + 2]],
            )


def make_rows(record: Record, t: Array, origin: float, y_sd: Array, columns: Design, known: Array) -> Rows:
    """The rows of a record with their data columns. Inputs ``t`` (N,) are in internal time, counted from ``origin``."""
    n = len(record)
    return Rows(
        t=t,
        t_var=record.t_sd**2,
        base=columns.Z - np.outer(t, columns.slope),
        slope=columns.slope,
        y_var=y_sd**2,
        measured=record.measured,
        shift=np.zeros(n) if record.limit is None else record.limit * 0.5 * y_sd,
        factor=np.ones(n),
        limit=np.zeros(n, dtype=np.int64) if record.limit is None else record.limit.copy(),
        least=np.zeros(n) if record.least_gap is None else record.least_gap.copy(),
        carry=np.zeros(n),
        **_sequences(record, known),
        **_date_tables(record, origin),
    )


def _sequences(record: Record, known: Array) -> dict[str, Array]:
    """The fields of ``Rows`` about the order and the gaps."""
    n = len(record)
    number, block = np.full(n, -1), np.full(n, -1)
    before, after = np.full(n, -1), np.full(n, -1)
    unit, regular, lag = np.ones(n), np.ones(n, dtype=bool), np.full(n, np.inf)
    counts, usual = [], usual_step(record)
    for s, (_, rows) in enumerate(record.sequences):
        step = np.ones(len(rows) - 1)
        number[rows] = s
        before[rows[1:]] = rows[:-1]
        after[rows[:-1]] = rows[1:]
        if record.depth is not None and len(rows) > 1:
            step = np.abs(np.diff(record.depth[rows]))
            _find_blocks(record, s, rows, step, block, known)
            unit[rows[:-1]] = np.where(step > 0.0, step / usual, 1.0)  # within a block there is no step
            regular[rows[:-1]] = step > 0.0 if step.any() else True
        if record.hiatus is not None:
            regular[rows] &= ~record.hiatus[rows]
        carries = regular[rows[:-2]] & regular[rows[1:-1]] & (block[rows[1:-1]] < 0)
        lag[rows[1:-1]] = np.where(carries, 0.5 * (step[:-1] + step[1:]), np.inf)
        counts.append(float(unit[rows[:-1]][regular[rows[:-1]]].sum()))
    return {
        **{"sequence": number, "before": before, "after": after, "block": block},
        **{"unit": unit, "regular": regular, "lag": lag, "gaps": np.array(counts, dtype=float)},
    }


def _find_blocks(record: Record, s: int, rows: Array, step: Array, block: Array, known: Array) -> None:
    """Number the blocks of a sequence in ``block`` (N,): rows at equal depth."""
    run = np.concatenate([[0], np.cumsum(step > 0.0)])
    inside = np.bincount(run)[run] > 1
    block[rows[inside]] = s * len(record) + run[inside]
    pinned = rows[inside & record.exact[rows]]
    if pinned.size:
        raise RecordError(
            "{rows} has an exact input (t_sd = 0) and shares its depth with other rows, whose "
            "order is then unknown. Give it another depth, tie the rows if they have the same true input, or take it "
            "out of the sequence by leaving its label empty.",
            rows=known[pinned],
        )


def _date_tables(record: Record, origin: float) -> dict[str, Array]:
    """The fields of ``Rows`` for dates that are not Gaussian, in internal time."""
    n, sign = len(record), record.sign
    found: dict[str, Array] = {
        "table": np.zeros(n, dtype=np.int64),
        "size": np.zeros(n, dtype=np.int64),
        "first": np.zeros(n),
        "step": np.ones(n),
        "bounded": np.zeros(n, dtype=bool),
        "several": np.zeros(n, dtype=bool),
    }
    tables, mass, filled = [np.empty(0)], [np.empty(0)], 0
    for i, date in enumerate(record.dates or ()):
        if date is None or record.exact[i]:
            continue
        table = date.table()
        last = table.start + table.step * (len(table.log_density) - 1)
        found["table"][i] = filled
        filled += len(table.log_density)
        found["size"][i] = len(table.log_density)
        found["first"][i] = (table.start if sign > 0 else -last) - origin
        found["step"][i] = table.step
        found["bounded"][i] = table.bounded
        found["several"][i] = has_several_modes(table)
        tables.append(table.log_density[:: int(sign)])
        mass.append(np.concatenate([[0.0], np.cumsum(masses(table)[1][:: int(sign)])]))
    return found | {"log_dates": np.concatenate(tables), "cumulated": np.concatenate(mass)}
