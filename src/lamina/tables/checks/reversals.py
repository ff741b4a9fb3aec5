"""Reported dates against the known order: reversals too large to be errors, two runs, and too few of them."""

import math
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...record import Record
from ..columns import Reading
from ..headers import NO_OUTPUT
from ..messages import flag, name_lines, option, quote
from ..numbers import Array
from ..order import Arrangement, is_clear, rank_correlation

#: Combined standard deviations from which a reversal is named.
_LARGE = 4.0
#: Rows that make a run, and the rank correlation of its dates with its order.
_RUN, _STRAIGHT = 3, 0.8
#: Neighbours from which the number of reversals says something, and how improbable it must be.
_FEWEST_NEIGHBOURS, _UNLIKELY = 5, 0.01
#: Neighbours over which the time between two rows is averaged.
_WINDOW = 7
_NAMED = 5


class Neighbours(NamedTuple):
    """Pairs of neighbours along a sequence: their rows in the record, the step in time from one to the next (negative
    if reversed), and the standard deviation of the step.
    """

    first: NDArray[np.intp]
    last: NDArray[np.intp]
    step: Array
    sd: Array

    @property
    def large(self) -> NDArray[np.intp]:
        """Pairs that are reversed by more than their errors allow."""
        return np.flatnonzero(-self.step > _LARGE * np.maximum(self.sd, 1e-300))


def neighbours(record: Record, members: NDArray[np.intp]) -> Neighbours:
    """The dated neighbours of a sequence that are two layers."""
    rows = members[record.dated[members]]
    first, last = rows[:-1], rows[1:]
    apart = np.ones(first.size, dtype=bool)
    if record.tie is not None:
        tie = np.array(record.tie, dtype=object)
        apart &= (tie[first] == None) | (tie[first] != tie[last])  # noqa: E711, element by element
    if record.depth is not None:
        apart &= record.depth[first] != record.depth[last]
    first, last = first[apart], last[apart]
    step = record.sign * (record.t[last] - record.t[first])
    return Neighbours(first, last, step, np.hypot(record.t_sd[first], record.t_sd[last]))


def note_reversals(reading: Reading, record: Record, arranged: Arrangement, lines: Sequence[int]) -> None:
    """Note how many neighbours are reported against the order; warn if the dates run the other way as a whole, if a
    reversal is larger than the errors allow, and if there are fewer than independent errors would give. Ask if two runs
    look like two cores.
    """
    found = {name: neighbours(record, members) for name, members in record.sequences}
    pairs = sum(one.step.size for one in found.values())
    if not pairs:
        return
    turned = sorted(lines[i] for one in found.values() for i in one.last[one.step < 0.0].tolist())
    where = name_lines(turned) if turned else "by their dates as measured"
    reading.fact("reversals", f"{len(turned)} of {pairs} neighbours are reported against the order", where)
    backwards = _backwards(record, found)
    if backwards:
        reading.warn(
            f"the dates run against the order ({', '.join(backwards)}), which may be reversed: check "
            f"whether it is depth or height, whether the dates are BP or CE ({option('scale', 'BP or CE')}), "
            f"or reverse it with {option('order_direction', 'WAY')}."
        )
    else:
        for name, one in found.items():
            _ask_about_runs(reading, record, arranged, one, str(name))
        reading.refuse()
        _warn_of_large(reading, record, list(found.values()), lines)
    _warn_of_few(reading, list(found.values()), len(turned), pairs)


def _backwards(record: Record, found: dict[Hashable, Neighbours]) -> list[str]:
    """The sequences whose dates run against the order as a whole, in words."""
    worded = []
    for name, members in record.sequences:
        rows, one = members[record.dated[members]], found[name]
        if len(rows) > 2 and is_clear(
            -rank_correlation(np.arange(len(rows), dtype=float), record.sign * record.t[rows])
        ):
            inside = "" if record.sequence is None else f" of {quote(str(name))}"
            worded.append(f"{int((one.step < 0.0).sum())} of {one.step.size} neighbours{inside}")
    return worded


def _warn_of_large(reading: Reading, record: Record, found: list[Neighbours], lines: Sequence[int]) -> None:
    """Name the reversals that errors do not explain."""
    large = [
        (one.step[k] / one.sd[k], one.first[k], one.last[k]) for one in found for k in one.large if one.sd[k] > 0.0
    ]
    if not large:
        return
    large.sort()
    named = [
        f"{record.t[j]:g} in line {lines[j]} after {record.t[i]:g} in line {lines[i]}, {-z:.1f} combined sigma"
        for z, i, j in large[:_NAMED]
    ]
    more = f"; and {len(large) - _NAMED} more" if len(large) > _NAMED else ""
    # Radiocarbon dates have Student-t errors already, and age-depth models give them to the others by default.
    normal = reading.columns.y.text != NO_OUTPUT or reading.options.t_errors == "normal"
    plain = record.dates is None or any(record.dates[row] is None for _, i, j in large for row in (i, j))
    hint = f" ({option('t_errors', 'student')})" if normal and plain else ""
    reading.warn(
        f"reversals that the errors do not explain: {'; '.join(named)}{more}. A date may be an outlier{hint}, its "
        "error too small, or rows of two cores may be under one name."
    )


def _ask_about_runs(reading: Reading, record: Record, arranged: Arrangement, one: Neighbours, name: str) -> None:
    """Two cores under one name show as two runs, of dates down the rows or of depths in the file."""
    if reading.options.pool or reading.options.sequence is not None or not one.large.size:
        return
    rows = np.unique(np.concatenate([one.first, one.last]))
    if arranged.by == "rows":
        start = _second_run(one, record, rows) if one.large.size == 1 else None
        what = "the dates begin again"
    else:
        start = _second_depths(arranged, rows)
        what = "the depths begin again"
    if start is None:
        return
    worst = one.large[np.argmin(one.step[one.large] / one.sd[one.large])]
    sigma = -one.step[worst] / one.sd[worst] if one.sd[worst] > 0.0 else math.inf
    inside = f" of {quote(name)}" if record.sequence is not None else ""
    reading.ask(
        f"{what} here, as if the rows{inside} were two cores: read as one, a date is reversed by {sigma:.1f} combined "
        "sigma",
        f"name the cores in a column and say {option('sequence', 'COLUMN')}; say {flag('pool')} (pool=True in Python) "
        "if they are one core; or fit without order with --order none",
        arranged.rows[start],
        reading.columns.t,
        order="none",
    )


def _second_run(one: Neighbours, record: Record, rows: NDArray[np.intp]) -> int | None:
    """The row at which the dates run a second time through the same years."""
    start = int(one.last[one.large[0]])
    before, after = rows[rows < start], rows[rows >= start]
    if min(before.size, after.size) < _RUN:
        return None
    for run in before, after:
        if rank_correlation(np.arange(run.size, dtype=float), record.sign * record.t[run]) < _STRAIGHT:
            return None
    shared = min(record.t[before].max(), record.t[after].max()) - max(record.t[before].min(), record.t[after].min())
    return start if shared > 0.25 * min(np.ptp(record.t[before]), np.ptp(record.t[after])) else None


def _second_depths(arranged: Arrangement, rows: NDArray[np.intp]) -> int | None:
    """The row at which the depths run a second time down the file."""
    in_file = rows[np.argsort([arranged.rows[i] for i in rows])]
    step = np.diff(arranged.places[in_file])
    turns = np.flatnonzero(step < 0.0)
    if turns.size == 1 and _RUN <= turns[0] + 1 <= in_file.size - _RUN:
        return int(in_file[turns[0] + 1])
    return None


# --- order that was used already -------------------------------------------------------------------------------------


def _warn_of_few(reading: Reading, found: list[Neighbours], seen: int, pairs: int) -> None:
    """Warn if there are fewer reversals than independent errors would give, or a header says that ages are modelled."""
    chances = np.concatenate([_reversal_chances(one) for one in found])
    expected, odds = float(chances.sum()), _at_most(chances, seen)
    if pairs >= _FEWEST_NEIGHBOURS and odds < _UNLIKELY:
        what = f"{seen} of {pairs} neighbours are reversed, where independent errors would give about {expected:.0f}"
        _warn_of_modelled(reading, f"{what}, odds of 1 in {1.0 / max(odds, 1e-99):.2g}")
    elif reading.columns.t.modelled:
        _warn_of_modelled(reading, "the header says so")


def _reversal_chances(one: Neighbours) -> Array:
    """The chance of each pair with errors to be reported reversed if errors are independent.

    That is Φ(-D / s) for a true step D ≥ 0 and the standard deviation s. D is taken as the mean of the steps around,
    because a single one holds the very errors in question. Φ(-D / s) is convex in D, so that uneven steps would give
    more reversals, not fewer: the number expected is a cautious one.
    """
    step, sd = one.step[one.sd > 0.0], one.sd[one.sd > 0.0]
    if not step.size:
        return np.empty(0)
    width = min(_WINDOW, step.size)
    ones = np.ones(width)
    mean = np.convolve(step, ones, mode="same") / np.convolve(np.ones(step.size), ones, mode="same")
    z = np.maximum(mean, 0.0) / sd
    return np.array([0.5 * math.erfc(value / math.sqrt(2.0)) for value in z.tolist()])


def _at_most(chances: Array, seen: int) -> float:
    """The chance of at most `seen` successes among independent trials with these chances.

    Neighbouring pairs share a date and rarely are both reversed, which makes few reversals even less probable.
    """
    some = chances[chances > 1e-12]
    if seen >= some.sum():
        return 1.0
    if some.size > 20_000:  # the Poisson distribution has the heavier tail
        mean = float(some.sum())
        logs = [k * math.log(mean) - mean - math.lgamma(k + 1.0) for k in range(seen + 1)]
        largest = max(logs)
        return math.exp(largest) * sum(math.exp(value - largest) for value in logs)
    found = np.zeros(seen + 1)
    found[0] = 1.0
    for chance in some.tolist():
        found[1:] = found[1:] * (1.0 - chance) + found[:-1] * chance
        found[0] *= 1.0 - chance
    return float(found.sum())


def _warn_of_modelled(reading: Reading, why: str) -> None:
    reading.warn(
        f"the dates look like the output of an age-depth model, or sorted ({why}); imposing the order again "
        "would count it twice. Use the dates as measured, or fit without order (--order none)."
    )
