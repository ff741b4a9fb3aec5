"""What a report tells, as numbers: everything is computed here, once, and drawn and worded elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from ..methods.draws import affordable
from ..posterior import functionals
from ..posterior.intervals import interval_rates
from ..posterior.residuals import residuals
from ..posterior.shown import drawn_rows, evenly, has_parts, has_rate, has_trend, input_shifts
from ..posterior.summary import parameters
from ..posterior.times import default_times
from ..records.axes import Axes, describe

if TYPE_CHECKING:
    import pandas as pd

    from ..posterior.posterior import Posterior

Array = np.ndarray

#: Rows that are drawn and looked at one by one.
MOST_ROWS = 1000
#: Joint draws behind interval rates: at most, at least, and in between so many that draws times rows stay below this.
MOST_DRAWS, FEWEST_DRAWS, DRAWS_TIMES_ROWS = 4000, 100, 20_000_000
CURVES = 10


class Understanding(Protocol):
    """What was understood of a table."""

    @property
    def facts(self) -> Sequence[tuple[str, str, str]]:
        """What, how it was understood, and why."""

    @property
    def warnings(self) -> Sequence[str]:
        """What the user should look at."""

    @property
    def lines(self) -> Sequence[int]:
        """The line of the file that each row of the record was read from."""


@dataclass(frozen=True, eq=False)
class Content:
    """The numbers of a report. Rates are those of ``Posterior``; ``axes`` says how they are shown."""

    posterior: Posterior
    axes: Axes
    facts: dict[str, Any]  #: diagnostics
    curve: pd.DataFrame
    rate: pd.DataFrame | None
    curves: Array  #: (CURVES, len(curve)) joint draws
    rows: Array  #: the rows that are drawn
    inputs: pd.DataFrame  #: of these rows and of those without a value: ``lamina.posterior.shown.input_shifts``
    residuals: pd.DataFrame  #: of these rows, without limits
    values: int  #: that the record has, without limits
    theta: pd.DataFrame  #: one line per parameter
    whole: pd.DataFrame  #: the rate over the whole record, as shown
    intervals: pd.DataFrame  #: rates over the intervals asked for, as shown
    asked: pd.DataFrame | None  #: curve and rate at the times asked for
    parts: pd.DataFrame | None  #: ``Posterior.components``, where there is more than one part to tell
    trend: pd.DataFrame | None  #: ``Posterior.trend``, where there is a linear one
    without_trend: pd.DataFrame | None  #: the rate without the trend, where there are both
    events: pd.DataFrame  #: ``lamina.functionals.events``
    names: Sequence[str] | None  #: what to call each row; None for its position
    as_measured: bool  #: inputs were not inferred

    @cached_property
    def span(self) -> float:
        """Of the times that are drawn."""
        return float(np.ptp(self.curve["at"].to_numpy()))

    @property
    def ok(self) -> bool:
        """Whether the fit ran to its end and converged."""
        return bool(self.facts["converged"]) and not self.facts["interrupted"]


def compute(
    posterior: Posterior,
    understanding: Understanding | None = None,
    intervals: Sequence[tuple[float, float]] = (),
    at: ArrayLike | None = None,
    curve_table: pd.DataFrame | None = None,
    rate_table: pd.DataFrame | None = None,
    interval_table: pd.DataFrame | None = None,
    seed: int = 0,
    events: pd.DataFrame | None = None,
    at_tables: Mapping[str, pd.DataFrame] | None = None,
) -> Content:
    """All numbers of a report; arguments as in ``lamina.report.html``."""
    axes = describe(posterior.record)
    curve = posterior.curve(default_times(posterior)) if curve_table is None else curve_table
    rate = None
    if has_rate(posterior):
        rate = posterior.rate(curve["at"]) if rate_table is None else rate_table
    record, n = posterior.record, len(posterior.record)
    rows = drawn_rows(posterior.record, MOST_ROWS)
    draws = affordable(n, MOST_DRAWS, FEWEST_DRAWS, DRAWS_TIMES_ROWS)
    centre = posterior.input_means
    ends = [(float(centre.min()), float(centre.max()))] if np.ptp(centre) > 0 else []
    if interval_table is None:
        rates = interval_rates(posterior, intervals, draws, seed, scale=axes.rate_factor)
    else:
        rates = _as_shown(interval_table, abs(axes.rate_factor))
    return Content(
        posterior=posterior,
        axes=axes,
        facts=posterior.diagnostics,
        curve=curve,
        rate=rate,
        curves=posterior.sample_curves(curve["at"], n=CURVES),
        rows=rows,
        inputs=input_shifts(posterior, np.union1d(rows, evenly(n, MOST_ROWS))),
        residuals=residuals(posterior, rows),
        values=int(np.count_nonzero(record.measured & (True if record.limit is None else record.limit == 0))),
        theta=parameters(posterior),
        whole=interval_rates(posterior, ends, draws, seed, scale=axes.rate_factor),
        intervals=rates,
        parts=posterior.components(curve["at"]) if has_parts(posterior) else None,
        trend=posterior.trend() if has_trend(posterior) else None,
        without_trend=None if rate is None or not has_trend(posterior) else posterior.rate(curve["at"], trend=False),
        events=functionals.events(posterior) if events is None else events,
        asked=None if at is None else _at_times(posterior, at, axes, at_tables),
        names=None if understanding is None else [f"line {line}" for line in understanding.lines],
        as_measured=posterior.as_measured,
    )


def _as_shown(table: pd.DataFrame, factor: float) -> pd.DataFrame:
    """Rates in the unit of the report."""
    shown = table.copy()
    numbers = [name for name in table.columns if name in ("mean", "sd") or name.startswith("q")]
    shown[numbers] *= factor
    return shown


def _at_times(
    posterior: Posterior, at: ArrayLike, axes: Axes, tables: Mapping[str, pd.DataFrame] | None
) -> pd.DataFrame:
    """Curve and rate (as shown) with their 95 % intervals at the times asked for."""
    import pandas as pd

    curve = posterior.curve(at) if tables is None else tables["curve"]
    columns = {"at": curve["at"], "mean": curve["mean"], "low": curve["q2.5"], "high": curve["q97.5"]}
    if has_rate(posterior):
        rate, k = posterior.rate(at) if tables is None else tables["rate"], axes.rate_factor
        ends = ("q2.5", "q97.5") if k > 0 else ("q97.5", "q2.5")
        columns |= {"rate": k * rate["mean"], "rate_low": k * rate[ends[0]], "rate_high": k * rate[ends[1]]}
    return pd.DataFrame(columns)
