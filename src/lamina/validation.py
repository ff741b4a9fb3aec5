"""validate: dates are left out of an age-depth model and predicted by it, which shows whether its bands hold."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import bdtr, bdtrc, betaincinv

from .dates.tails import normal_below
from .engine.quantiles import QUANTILES, weighted_quantiles
from .errors import RecordError
from .fitting import NotConverged, prepare_age_depth
from .model.tails import as_fitted
from .posterior.agedepth import times_at
from .posterior.posterior import Posterior
from .record import Record
from .records.layers import STEPS, mark_hiatuses, tie_equal_depths
from .records.ties import merge_ties
from .support.checks import check_whole
from .support.numbers import count, percent

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray

#: Fewer dates say nothing about a band.
FEWEST_DATES = 6
#: A core with fewer dates keeps all of them: without one or two of them it would have no age-depth model.
FEWEST_OF_A_CORE = 4
FOLDS = 5
#: The probabilities of the ranges that should hold the dates left out.
COVERAGE_LEVELS = (0.5, 0.8, 0.95)
#: A number of dates inside is unusual if a smaller (or a larger) one has less than this probability.
UNUSUAL = 0.01
#: Bands this much narrower than they should be are what a validation ought to notice.
TOO_NARROW = 0.5
#: A validation that notices such bands with less than this probability is called weak.
WEAK = 0.5
VERDICTS = {
    "too narrow": "The bands of this core are TOO NARROW: do not rely on their widths. Check for wrong dates, missing "
    "hiatuses, and reported errors that are too small.",
    "too narrow in the middle": "The 95 % range holds as many dates as it should, but the ranges inside it hold too "
    "few: rely on the 95 % range only.",
    "too wide": "The bands of this core hold more dates than they should: they can be relied on, but are wider than "
    "necessary. The reported errors may be too large.",
    "no sign of trouble": "There is no evidence against the bands of this core.",
}


@dataclass(frozen=True, eq=False, repr=False)
class Validation:
    """Dates that were left out of an age-depth model, and what it predicted for them.

    ``str`` gives the result in words.
    """

    #: One line for each date left out; several dates of one layer are one line, with their product: row (of the record,
    #: the first one), dates (their number), sequence, depth, t, t_sd; mean, sd and quantiles of the age that the model
    #: without it has at its depth; pit, the probability that the model gives to a date below the reported one, with the
    #: error of the date included; and fold. If bands are right, pit is uniform from 0 to 1.
    table: pd.DataFrame
    folds: int  #: the number of parts that were left out in turn
    kept: tuple[int, ...] = ()  #: rows with dates that were never left out: the model needs them
    unconverged: int = 0  #: the number of folds that have not converged
    interrupted: bool = False  #: whether some folds are missing

    def inside(self, level: float) -> Array:
        """Whether each date lies in the central range that should hold it with probability ``level``."""
        return np.abs(2.0 * self.table["pit"].to_numpy() - 1.0) <= level

    def coverage(self) -> pd.DataFrame:
        """How many dates lie in their 50, 80 and 95 % ranges, one row each.

        Columns: level; dates; inside; share; low and high, between which the true coverage lies with 95 % probability
        (Jeffreys' interval); usual_low and usual_high, the numbers of dates inside that are usual if the bands are
        right (95 % of the binomial distribution).
        """
        import pandas as pd

        n, rows = len(self.table), []
        for level in COVERAGE_LEVELS:
            k = int(self.inside(level).sum())
            low, high = (float(betaincinv(k + 0.5, n - k + 0.5, p)) for p in (0.025, 0.975))
            low, high = (0.0 if k == 0 else low), (1.0 if k == n else high)
            rows.append((level, n, k, k / n, low, high, *_usual(n, level)))
        names = ("level", "dates", "inside", "share", "low", "high", "usual_low", "usual_high")
        return pd.DataFrame(rows, columns=list(names))

    def calibration(self) -> pd.DataFrame:
        """The share of the dates in the range of each probability, from 0 to 1: level, share, and low and high, between
        which it lies with 95 % probability if the bands are right. On the diagonal they are.
        """
        import pandas as pd

        n, levels = len(self.table), np.linspace(0.0, 1.0, 101)
        usual = np.array([_usual(n, level) for level in levels]) / n
        share = [float(self.inside(level).mean()) for level in levels]
        return pd.DataFrame({"level": levels, "share": share, "low": usual[:, 0], "high": usual[:, 1]})

    @property
    def verdict(self) -> str:
        """ "too narrow", "too narrow in the middle", "too wide" or "no sign of trouble".

        Ranges are too narrow if they hold so few dates, and too wide if they hold so many, that right ones would do so
        with a probability below 1 %; "in the middle" if this is not true of the 95 % range.
        """
        n = len(self.table)
        inside = [(int(self.inside(level).sum()), level) for level in COVERAGE_LEVELS]
        few = [float(bdtr(k, n, level)) < UNUSUAL for k, level in inside]
        if any(few):
            return "too narrow" if few[-1] else "too narrow in the middle"
        many = (float(bdtrc(k - 1, n, level)) if k else 1.0 for k, level in inside)
        return "too wide" if min(many) < UNUSUAL else "no sign of trouble"

    @property
    def power(self) -> float:
        """The probability that bands of half the right width would have been found too narrow, from their 95 % range.

        For normal errors: they would hold 67 % of the dates.
        """
        n, level = len(self.table), COVERAGE_LEVELS[-1]
        unusual = np.flatnonzero(bdtr(np.arange(n + 1), n, level) < UNUSUAL)
        held = 2.0 * float(normal_below(np.array(TOO_NARROW * 1.959964))) - 1.0
        return float(bdtr(int(unusual[-1]), n, held)) if unusual.size else 0.0

    def sentences(self) -> list[str]:
        """The result in sentences: how many dates the ranges hold, the verdict, and how sure it is."""
        table, n = self.coverage().to_dict("records"), len(self.table)
        held = (
            f"{one['inside']} lie in their {percent(one['level'])} range ({one['usual_low']} to {one['usual_high']} "
            "are usual)"
            for one in table
        )
        sure = (
            f"With {n} dates, the coverage of the 95 % range is known to lie between {percent(table[-1]['low'])} and "
            f"{percent(table[-1]['high'])}; bands of half the right width would have been noticed with a probability "
            f"of {percent(self.power)}."
        )
        weak = ["That is a weak test."] if self.power < WEAK else []
        first = f"Of {n} dates that were left out and predicted, {', '.join(held)}."
        return [first, VERDICTS[self.verdict], sure, *weak, *self._cautions()]

    def _cautions(self) -> Iterator[str]:
        if self.kept:
            yield f"{count(len(self.kept), 'date')} could not be left out, because a part of the core has no other."
        if self.unconverged:
            yield f"{self.unconverged} of the {self.folds} fits without dates did not converge."
        if self.interrupted:
            yield "The validation was interrupted: not all dates were left out."

    def __str__(self) -> str:
        return " ".join(self.sentences())

    __repr__ = __str__


def _usual(n: int, level: float) -> tuple[int, int]:
    """The smallest and the largest number of n dates in a range that are usual, if it holds each with ``level``."""
    below = bdtr(np.arange(n + 1), n, level)
    return int(np.argmax(below > 0.025)), int(np.argmax(below >= 0.975))


def validate(
    record: Record,
    folds: int = FOLDS,
    seed: int = 0,
    *,
    steps: int = STEPS,
    hiatus: Sequence[float] = (),
    **options: Any,
) -> Validation:
    """Leave dates out of an age-depth model in turn, and compare them with what it predicts.

    Dates that are neighbours are in different parts; dates of one depth, and tied ones, are left out together. Exact
    dates stay, and so do dates without which a part of a core would have none.

    folds: the number of parts; as many as there are dates leaves them out one by one.
    seed, steps, hiatus, options: as for ``lamina.age_depth``. Values are not used.

    Raises RecordError with fewer than six dates that could be left out.
    """
    check_whole("folds", folds, 2)
    record = mark_hiatuses(record, hiatus)
    layers, kept = _layers_to_leave_out(record)
    folds = min(folds, len(layers))
    tables, unconverged, progress = [], 0, options.pop("progress", None)
    for k in range(folds):
        some = layers[k::folds]
        rows = np.sort(np.concatenate(some))
        if progress is not None:
            options["progress"] = lambda state, k=k: progress({**state, "stage": f"part {k + 1} of {folds}"})
        fitted = prepare_age_depth(_without(record, rows), steps, seed, hiatus=hiatus, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)
            posterior = fitted.run()
        facts = posterior.draws.diagnostics
        if facts["interrupted"]:
            break
        unconverged += not facts["converged"]
        tables.append(_predicted(posterior, record, rows).assign(fold=k))
    if not tables:
        raise KeyboardInterrupt("the validation was interrupted before there were results.")
    return Validation(_joined(tables), folds, kept, unconverged, interrupted=len(tables) < folds)


def check_dates(record: Record) -> None:
    """Raise RecordError if there are too few dates to leave some out."""
    _layers_to_leave_out(record)


def _layers_to_leave_out(record: Record) -> tuple[list[Array], tuple[int, ...]]:
    """The dated rows of each layer that can be left out, down each core; and the rows that stay.

    A part of a core between two hiatuses keeps its date if it has one only, and a core with few dates all of them.
    """
    if record.depth is None:
        raise RecordError("an age-depth model needs depths: give the record a depth for each row.")
    layer = merge_ties(tie_equal_depths(record))[1]
    pinned = {int(one) for one in layer[record.exact]}
    hiatus = np.zeros(len(record), dtype=bool) if record.hiatus is None else record.hiatus
    found: list[Array] = []
    for _, rows in record.sequences:
        part = np.concatenate([[0], np.cumsum(hiatus[rows])[:-1]])
        dated = record.dated[rows]
        parts = {int(one): set(part[dated & (layer[rows] == one)]) for one in np.unique(layer[rows[dated]])}
        alone = {one for one, where in parts.items() if sum(bool(where & other) for other in parts.values()) == 1}
        few = len(parts) < FEWEST_OF_A_CORE
        down = dict.fromkeys(int(one) for one in layer[rows[dated]])
        found += [rows[dated & (layer[rows] == one)] for one in down if not few and one not in alone | pinned]
    if len(found) < FEWEST_DATES:
        raise RecordError(
            f"validation leaves dates out, and {count(len(found), 'date')} could be left out here: that says nothing "
            f"about the bands. Give at least {FEWEST_DATES} dates that are not exact, at different depths."
        )
    left_out = set(np.concatenate(found).tolist())
    kept = [row for row in np.flatnonzero(record.dated & ~record.exact).tolist() if row not in left_out]
    return found, tuple(kept)


def _without(record: Record, rows: Array) -> Record:
    """The record without the dates of these rows; the rows stay."""
    t, t_sd = record.t.copy(), record.t_sd.copy()
    t[rows], t_sd[rows] = np.nan, np.inf
    out = set(rows.tolist())
    dates = record.dates and tuple(None if k in out else one for k, one in enumerate(record.dates))
    return replace(record, t=t, t_sd=t_sd, dates=dates)


def _predicted(posterior: Posterior, record: Record, rows: Array) -> pd.DataFrame:
    """The lines of ``Validation.table`` for layers whose rows the posterior has no dates of."""
    import pandas as pd

    merged, layer = merge_ties(as_fitted(tie_equal_depths(record), posterior.model.t_errors))
    weight, dates = posterior.draws.weight, merged.dates or [None] * len(merged)
    t_scale = posterior.theta["t_scale"].to_numpy() if "t_scale" in posterior.theta else 1.0
    assert merged.depth is not None
    lines = []
    for name, members in merged.sequences:
        some = np.intersect1d(layer[rows], members)
        drawn = times_at(posterior, merged.depth[some], name) if some.size else np.empty((0, 0))
        for k, tau in zip(some.tolist(), drawn.T, strict=True):
            date, (t, t_sd), own = dates[k], (merged.t[k], merged.t_sd[k]), rows[layer[rows] == k]
            below = normal_below((t - tau) / (t_sd * t_scale)) if date is None else date.probability_below(tau)
            mean = float(weight @ tau)
            found = {"row": int(own[0]), "dates": len(own), "sequence": name, "depth": merged.depth[k], "t": t}
            found |= {"t_sd": t_sd, "mean": mean, "sd": float(np.sqrt(weight @ (tau - mean) ** 2))}
            found |= dict(zip(QUANTILES, weighted_quantiles(tau[:, None], weight)[:, 0], strict=True))
            lines.append(found | {"pit": float(weight @ below)})
    return pd.DataFrame(lines)


def _joined(tables: list[pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    return pd.concat(tables).sort_values("row").reset_index(drop=True)
