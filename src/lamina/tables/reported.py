"""Reported dates against the known order: exact ones, reversals, and whether they are too good to be measured."""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..record import Record
from .facts import Notes
from .grid import Grid
from .headers import Header
from .order import Arrangement
from .problems import Faults, name_lines, option, quote
from .ranks import rank_correlation

_FEWEST = 5
_UNLIKELY = 0.01
#: Dates whose rank correlation with the order is below this run the other way.
_AGAINST = -0.5


def refuse_exact_reversals(
    grid: Grid, t_column: Header, arranged: Arrangement, t: NDArray[np.float64], t_sd: NDArray[np.float64]
) -> None:
    """Raise TableError if exact inputs of one sequence run against its order. t and t_sd are arranged already."""
    sign = 1.0 if arranged.order == "increasing" else -1.0
    last: dict[str, int] = {}
    faults = Faults()
    for i in np.flatnonzero(t_sd == 0.0):
        name = "" if arranged.sequence is None else arranged.sequence[i]
        if name is None:
            continue
        if name in last and sign * (t[i] - t[last[name]]) < 0.0:
            lines = [grid.lines[arranged.rows[k]] for k in (last[name], i)]
            faults.add(
                f"the inputs {t[last[name]]:g} and {t[i]:g} are exact (error 0), but against the order",
                "correct them or their depths, or give them an error above 0",
                lines,
                t_column.text,
            )
        last[name] = int(i)
    faults.refuse(grid.path)


def _together(record: Record, first: int, last: int) -> bool:
    """Whether two rows of a sequence are one layer, or have no known order."""
    tied = record.tie is not None and record.tie[first] is not None and record.tie[first] == record.tie[last]
    return tied or (record.depth is not None and bool(record.depth[first] == record.depth[last]))


def note_exact(record: Record, lines: Sequence[int], notes: Notes) -> None:
    """Say which rows have exact inputs."""
    exact = sorted(line for line, is_exact in zip(lines, record.exact, strict=True) if is_exact)
    where = f" ({name_lines(exact)})" if exact else ""
    notes.fact("exact rows", f"{len(exact)}{where}", "an input error of 0 means exact")


def note_reversals(record: Record, lines: Sequence[int], modelled: bool, notes: Notes) -> None:
    """Say how many neighbours are reported against the order, and warn if the dates run the other way as a
    whole, or none is reversed where many should be.

    For neighbours with independent errors the chance of being reported in order is Φ(d / √(s₁² + s₂²)) at most, d
    the reported distance. If the product over all is below 1 %, the dates are not independent measurements.
    """
    reversed_at: list[int] = []
    backwards: list[str] = []
    pairs, chance = 0, 0.0
    for name, rows in record.sequences:
        before = len(reversed_at)
        rows = rows[record.dated[rows]]
        neighbours = [pair for pair in pairwise(rows) if not _together(record, *pair)]
        for first, last in neighbours:
            step = record.sign * (record.t[last] - record.t[first])
            sd = math.hypot(record.t_sd[first], record.t_sd[last])
            pairs += 1
            reversed_at += [lines[last]] if step < 0.0 else []
            chance += math.log(0.5 * math.erfc(-step / (sd * math.sqrt(2.0)))) if sd > 0.0 and step >= 0.0 else 0.0
        turned = len(reversed_at) - before
        along = rank_correlation(np.arange(len(rows), dtype=float), record.sign * record.t[rows])
        if len(rows) > 2 and along < _AGAINST:
            inside = "" if record.sequence is None else f" of {quote(str(name))}"
            backwards.append(f"{turned} of {len(neighbours)} neighbours{inside}")
    if not pairs:
        return
    where = f" ({name_lines(sorted(reversed_at))})" if reversed_at else ""
    notes.fact("reversals", f"{len(reversed_at)} of {pairs} neighbours are reported against the order{where}")
    if backwards:
        notes.warn(
            f"the dates run against the order ({', '.join(backwards)}), which may be stated the wrong way round: check "
            f"whether it is depth or height, whether the dates are BP or CE ({option('scale', 'BP or CE')}), "
            f"or turn it with {option('order_direction', 'WAY')}."
        )
    improbable = not reversed_at and pairs >= _FEWEST and chance < math.log(_UNLIKELY)
    if improbable or modelled:
        why = (
            f"no date is reversed, which has a chance of {math.exp(chance):.1g}" if improbable else "the header says so"
        )
        notes.warn(
            f"the dates look like the output of an age-depth model, or sorted ({why}); imposing the order again "
            "would count it twice. Use the dates as measured, or fit without order (--order none)."
        )
