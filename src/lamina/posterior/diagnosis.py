"""Can a fit be trusted? Convergence, interruptions and dates in conflict are computed and worded here only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from scipy.special import ndtri

from ..methods.registry import METHODS
from ..record import Record
from ..records.axes import describe
from ..support.numbers import count, number, percent, with_sd

if TYPE_CHECKING:
    from .posterior import Posterior

Array = np.ndarray
State = Literal["converged", "not converged", "interrupted"]

#: A date is in conflict with the order or the curve if its posterior mean lies more than this many standard deviations
#: from the reported date. In long records, where chance alone would move some dates that far, the limit is higher: on
#: average CONFLICTS_BY_CHANCE dates exceed it by chance.
CONFLICT, CONFLICTS_BY_CHANCE = 3.0, 0.27
#: A date that is an outlier with more than this probability is named and marked.
LIKELY_OUTLIER = 0.5
#: If at least this part of the dates, and at least so many, contradict the others, the whole table is doubtful.
MANY_DATES, FEWEST_MANY = 0.2, 2
#: Conflicts that are listed one by one.
MOST_CONFLICTS = 20
#: What a method may report about itself that shows how far it is from convergence.
EVIDENCE = {
    "r_hat": "worst R-hat",
    "ess": "fewest effective draws",
    "effective_members": "effective members",
    "sweeps": "sweeps",
    "objective": "objective",
    "steps": "steps",
    "last_change": "last change",
    "divergent": "divergent transitions",
}


class TableLines(Protocol):
    """A record that was read from a table: the line of the file that each row comes from."""

    @property
    def record(self) -> Record: ...

    @property
    def lines(self) -> Sequence[int]: ...


@dataclass(frozen=True)
class Conflict:
    """A date that the order or the curve contradicts."""

    row: int
    name: str  #: "line 5, Beta-6, depth 30 cm"
    t: float  #: as reported, with
    t_sd: float
    mean: float  #: as found, with
    sd: float
    unit: str

    @property
    def distance(self) -> float:
        """How far the date moved, in its reported standard deviations."""
        return abs(self.mean - self.t) / self.t_sd

    def __str__(self) -> str:
        dated, found = with_sd(self.t, self.t_sd), f"{with_sd(self.mean, self.sd)} {self.unit}".rstrip()
        return f"{self.name}: dated {dated}, found {found}, {number(self.distance, 2)} standard deviations away"


def state_of(facts: Mapping[str, Any]) -> State:
    """How a fit ended, from its diagnostics."""
    if facts["interrupted"]:
        return "interrupted"
    return "converged" if facts["converged"] else "not converged"


def evidence(facts: Mapping[str, Any]) -> str:
    """The numbers that convergence is judged on: "worst R-hat 1.003, fewest effective draws 812, sweeps 4000"."""
    return ", ".join(
        f"{label} {facts[key]:.0f}"
        if isinstance(facts[key], int) or key == "ess"
        else f"{label} {number(facts[key], 4)}"
        for key, label in EVIDENCE.items()
        if key in facts
    )


def explain_convergence(posterior: Posterior) -> list[str]:
    """How the fit ended, and what the method reports about itself, in sentences."""
    facts, draws = posterior.draws.diagnostics, len(posterior.draws.tau)
    ended = {
        "converged": "The fit has converged.",
        "not converged": "The fit has NOT converged.",
        "interrupted": "The fit was interrupted and is not complete.",
    }
    kept = [f"{count(draws, 'draw')} from the posterior were kept."] if draws > 1 else []
    return [ended[state_of(facts)], METHODS[facts["method"]].words.evidence(facts), *kept]


def banner(posterior: Posterior) -> tuple[str, str] | None:
    """A heading and what to do, for a fit that should not be used as it is; None for one that may be."""
    facts = posterior.draws.diagnostics
    state = state_of(facts)
    if state == "interrupted":
        return (
            "This fit was interrupted",
            "It shows the results at the time it was stopped. Do not publish these numbers: run it to the end.",
        )
    if state == "not converged":
        remedy = METHODS[facts["method"]].words.remedy
        return "This fit has not converged", f"Do not publish these numbers. {remedy}"
    return None


def conflict_limit(record: Record) -> float:
    """The number of reported standard deviations beyond which a date that moved is in conflict."""
    dates = max(int(np.count_nonzero(record.dated & ~record.exact)), 1)
    return max(CONFLICT, -float(ndtri(0.5 * CONFLICTS_BY_CHANCE / dates)))


def rows_in_conflict(record: Record, input_means: Array) -> list[int]:
    """The rows whose posterior mean input, shape (N,), is further from the reported one than ``conflict_limit``."""
    uncertain = record.dated & ~record.exact
    shift = np.abs(np.where(uncertain, input_means - record.t, 0.0))
    return [int(i) for i in np.flatnonzero(uncertain & (shift > conflict_limit(record) * record.t_sd))]


def line_names(record: Record, table: TableLines | None) -> list[str] | None:
    """What to call each row of a record that was read from a table: "line 5"; None without a table.

    An age-depth model has layers of its own between the dated rows of the table, in the same order.
    """
    lines = line_numbers(record, table)
    return None if lines is None else ["added layer" if line is None else f"line {line}" for line in lines]


def line_numbers(record: Record, table: TableLines | None) -> list[int | None] | None:
    """The line of each row in the table that it was read from, None for an added layer; None without a table."""
    if table is None:
        return None
    if len(table.lines) == len(record):
        return list(table.lines)
    dated = (line for line, known in zip(table.lines, table.record.dated, strict=True) if known)
    return [next(dated) if known else None for known in record.dated]


def row_name(record: Record, row: int, names: Sequence[str] | None = None) -> str:
    """A row as the user knows it: its line in the table, or its position counted from 0, and its label."""
    place = f"row {row}" if names is None else names[row]
    return place if record.label is None or record.label[row] is None else f"{place}, {record.label[row]}"


def conflicts(posterior: Posterior, names: Sequence[str] | None = None) -> list[Conflict]:
    """The dates in conflict; none where the method takes the inputs as measured.

    names: what to call each row (``line_names``); by default its position, counted from 0.
    """
    record = posterior.record
    rows = posterior.rows_in_conflict
    _, means, sds = posterior.input_moments(np.array(rows, dtype=int))
    found = []
    for row, mean, sd in zip(rows, means, sds, strict=True):
        name = row_name(record, row, names)
        if record.depth is not None:
            name = f"{name}, {describe(record).along} {record.depth[row]:g} {record.depth_unit}".rstrip()
        dated = float(record.t[row]), float(record.t_sd[row])
        found.append(Conflict(row, name, *dated, float(mean), float(sd), record.t_unit))
    return found


def likely_outliers(posterior: Posterior, names: Sequence[str] | None = None) -> list[str]:
    """The dates that are more likely outliers than not, with their probability: "line 5, Beta-6 (97 %)"."""
    found = posterior.date_outliers().to_numpy()
    return [
        f"{row_name(posterior.record, int(row), names)} ({percent(found[row])})"
        for row in np.flatnonzero(found > LIKELY_OUTLIER)
    ]


def many_disagree(posterior: Posterior, names: Sequence[str] | None = None) -> tuple[str, str] | None:
    """A heading, and which dates and what to check, where many dates contradict the others; otherwise None.

    Those are dates in conflict and likely outliers. A few of them are wrong dates; many are more likely a table, a
    calibration curve or an order that is wrong for all of them.
    """
    record = posterior.record
    uncertain = record.dated & ~record.exact
    wrong = uncertain & (posterior.date_outliers().to_numpy() > LIKELY_OUTLIER)
    wrong[posterior.rows_in_conflict] = True
    n, dates = int(wrong.sum()), int(uncertain.sum())
    if n < max(FEWEST_MANY, MANY_DATES * dates):
        return None
    named = [row_name(record, int(row), names) for row in np.flatnonzero(wrong)]
    more = f" and {n - MOST_CONFLICTS} more" if n > MOST_CONFLICTS else ""
    return (
        "Many dates contradict the others",
        f"{n} of {dates} dates ({percent(n / dates)}): {'; '.join(named[:MOST_CONFLICTS])}{more}. So many are rarely "
        "wrong one by one: check their units, 1 or 2 sigma, the kind of date and its calibration curve or reservoir "
        "age, the order of the depths, and whether there is a hiatus or reworked material, before you use these ages.",
    )


def conflict_summary(posterior: Posterior, found: Sequence[Conflict]) -> str:
    """One sentence, without full stop: how many dates are in conflict, and with what."""
    contradicts = "the order or the curve" if posterior.record.measured.any() else "the order"
    if not found:
        return f"no date is in conflict with {contradicts}"
    limit = number(posterior.conflict_limit, 2)
    return f"{count_conflicts(len(found))} with {contradicts} (moved by more than {limit} reported standard deviations)"


def explain_conflicts(posterior: Posterior, found: Sequence[Conflict]) -> str:
    """The same as full sentences, with what to do."""
    if posterior.as_measured:
        return "The inputs were taken as measured, so none can be in conflict with the order."
    summary = conflict_summary(posterior, found)
    if not found:
        limit = number(posterior.conflict_limit, 2)
        return f"N{summary[1:]}: none moved by more than {limit} reported standard deviations."
    return f"{summary}. A sample may be reworked, mislabelled or out of place, or its error too small: please check."


def count_conflicts(n: int) -> str:
    """ "2 dates in conflict"."""
    return f"{count(n, 'date')} in conflict" if n else "no date in conflict"


def list_conflicts(found: Sequence[Conflict], most: int = MOST_CONFLICTS) -> list[str]:
    """One line for each conflict, and how many were left out."""
    lines = [str(one) for one in found[:most]]
    return lines if len(found) <= most else [*lines, f"and {len(found) - most} more: see diagnostics['conflicts']"]
