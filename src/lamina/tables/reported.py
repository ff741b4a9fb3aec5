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
from .problems import name_lines, problem

_FEWEST = 5
_UNLIKELY = 0.01


def refuse_exact_reversals(
    grid: Grid, t_column: Header, arranged: Arrangement, t: NDArray[np.float64], t_sd: NDArray[np.float64]
) -> None:
    """Raise TableError if exact inputs of one sequence run against its order. t and t_sd are arranged already."""
    sign = 1.0 if arranged.order == "increasing" else -1.0
    last: dict[str, int] = {}
    for i in np.flatnonzero(t_sd == 0.0):
        name = "" if arranged.sequence is None else arranged.sequence[i]
        if name is None:
            continue
        if name in last and sign * (t[i] - t[last[name]]) < 0.0:
            lines = [grid.lines[arranged.rows[k]] for k in (last[name], i)]
            raise problem(
                grid.path,
                f"the inputs {t[last[name]]:g} and {t[i]:g} are exact (error 0), but against the order",
                "correct them or their depths, or give them an error above 0",
                lines,
                t_column.text,
            )
        last[name] = int(i)


def note_exact(record: Record, lines: Sequence[int], notes: Notes) -> None:
    """Say which rows have exact inputs."""
    exact = sorted(line for line, is_exact in zip(lines, record.exact, strict=True) if is_exact)
    where = f" ({name_lines(exact)})" if exact else ""
    notes.fact("exact rows", f"{len(exact)}{where}", "an input error of 0 means exact")


def note_reversals(record: Record, lines: Sequence[int], modelled: bool, notes: Notes) -> None:
    """Say how many neighbours are reported against the order, and warn if none is where many should be.

    For neighbours with independent errors the chance of being reported in order is Φ(d / √(s₁² + s₂²)) at most, d
    the reported distance. If the product over all is below 1 %, the dates are not independent measurements.
    """
    reversed_at: list[int] = []
    pairs, chance = 0, 0.0
    for _, rows in record.sequences:
        for first, last in pairwise(rows):
            step = record.sign * (record.t[last] - record.t[first])
            sd = math.hypot(record.t_sd[first], record.t_sd[last])
            pairs += 1
            reversed_at += [lines[last]] if step < 0.0 else []
            chance += math.log(0.5 * math.erfc(-step / (sd * math.sqrt(2.0)))) if sd > 0.0 and step >= 0.0 else 0.0
    if not pairs:
        return
    where = f" ({name_lines(sorted(reversed_at))})" if reversed_at else ""
    notes.fact("reversals", f"{len(reversed_at)} of {pairs} neighbours are reported against the order{where}")
    improbable = not reversed_at and pairs >= _FEWEST and chance < math.log(_UNLIKELY)
    if improbable or modelled:
        why = (
            f"no date is reversed, which has a chance of {math.exp(chance):.1g}" if improbable else "the header says so"
        )
        notes.warn(
            f"the dates look like the output of an age-depth model, or sorted ({why}); imposing the order again "
            "would count it twice. Use the dates as measured, or fit without order (--order none)."
        )
