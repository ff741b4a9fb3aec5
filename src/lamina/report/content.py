"""The numbers of a report: everything is computed here, once, and drawn and worded elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version as installed_version
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..methods.draws import affordable, evenly
from ..posterior import functionals
from ..posterior.boxes import Rejected, drawn_rows, has_parts, has_rate, has_trend, input_shifts
from ..posterior.diagnosis import line_names, line_numbers
from ..posterior.intervals import interval_rates
from ..posterior.residuals import residuals
from ..posterior.summary import parameters
from ..posterior.times import default_times
from ..records.axes import Axes, describe

if TYPE_CHECKING:
    import pandas as pd

    from ..posterior.posterior import Posterior
    from ..tables import TableReading
    from ..validation import Validation

Array = np.ndarray

#: Rows that are drawn and listed one by one.
MOST_ROWS = 1000
#: Joint draws behind interval rates: at most, at least, and in between as many as keep draws times rows below this.
REPORT_DRAWS = 4000, 100, 20_000_000
DRAWN_CURVES = 5


@dataclass(frozen=True)
class Run:
    """How a fit was made."""

    command: str | None = None
    seed: int | None = None  #: also draws the curves behind interval rates
    table: str | None = None  #: the name of the table
    reading: TableReading | None = None  #: how the table was read
    extra_warnings: Sequence[str] = ()  #: beside those of the reading
    sources: Sequence[str] = ()  #: of the data, by their names in references.json
    version: str = field(default_factory=lambda: installed_version("lamina"))

    @property
    def warnings(self) -> list[str]:
        """What the reader must know about the data."""
        return [*(() if self.reading is None else self.reading.warnings), *self.extra_warnings]


@dataclass(frozen=True, eq=False)
class Tables:
    """Tables that have been computed before, so that the report need not compute them again."""

    curve: pd.DataFrame | None = None  #: ``posterior.curve`` on a grid such as ``default_times``
    rate: pd.DataFrame | None = None  #: ``posterior.rate`` on the same grid
    intervals: pd.DataFrame | None = None  #: ``lamina.interval_rates`` of the intervals, forward in time
    events: pd.DataFrame | None = None  #: ``lamina.functionals.events``
    at: Mapping[str, pd.DataFrame] | None = None  #: "curve" and "rate" at the requested times
    ages: pd.DataFrame | None = None  #: ``posterior.ages`` at the requested depths
    rejected: Rejected | None = None  #: dates of the core that an age-depth model does not use
    validation: Validation | None = None  #: ``lamina.validate`` of the core


@dataclass(frozen=True, eq=False)
class Content:
    """The numbers of a report. Rates are those of ``Posterior``; ``axes`` says how they are shown."""

    posterior: Posterior
    axes: Axes
    names: Sequence[str] | None  #: what to call each row; None for its position
    lines: Sequence[int | None] | None  #: where each row is in the table; None without one
    curve: pd.DataFrame
    rate: pd.DataFrame | None
    curves: Array  #: (DRAWN_CURVES, len(curve)) joint draws
    rows: Array  #: the rows that are drawn
    inputs: pd.DataFrame  #: of these rows and of those without a value: ``input_shifts``
    residuals: pd.DataFrame  #: of these rows, without limits
    values: int  #: number of measured values in the record, without limits
    theta: pd.DataFrame  #: ``parameters``
    whole: pd.DataFrame  #: the rate over the whole record, as shown
    intervals: pd.DataFrame  #: rates over the requested intervals, as shown
    at: pd.DataFrame | None  #: curve and rate at the requested times
    parts: pd.DataFrame | None  #: ``Posterior.components``, where there are several
    trend: pd.DataFrame | None  #: ``Posterior.trend``, where there is a linear one
    without_trend: pd.DataFrame | None  #: the rate without the trend, where there are both
    events: pd.DataFrame  #: ``lamina.functionals.events``

    @cached_property
    def span(self) -> float:
        """Of the times that are drawn."""
        return float(np.ptp(self.curve["at"].to_numpy()))

    @property
    def facts(self) -> dict[str, Any]:
        """What the method reports about itself."""
        return self.posterior.draws.diagnostics


def compute(
    posterior: Posterior,
    intervals: Sequence[tuple[float, float]] = (),
    at: ArrayLike | None = None,
    run: Run | None = None,
    tables: Tables | None = None,
) -> Content:
    """All numbers of a report; arguments as in ``lamina.report.html``."""
    run, tables = run or Run(), tables or Tables()
    record, axes = posterior.record, describe(posterior.record)
    curve = posterior.curve(default_times(posterior, shown=at)) if tables.curve is None else tables.curve
    rate = None
    if has_rate(posterior):
        rate = posterior.rate(curve["at"]) if tables.rate is None else tables.rate
    trend = has_trend(posterior)
    rows = drawn_rows(record, MOST_ROWS)
    return Content(
        posterior=posterior,
        axes=axes,
        names=line_names(record, run.reading),
        lines=line_numbers(record, run.reading),
        curve=curve,
        rate=rate,
        curves=posterior.sample_curves(curve["at"], n=DRAWN_CURVES),
        rows=rows,
        inputs=input_shifts(posterior, np.union1d(rows, evenly(len(record), MOST_ROWS))),
        residuals=residuals(posterior, rows),
        values=int(np.count_nonzero(record.measured & (True if record.limit is None else record.limit == 0))),
        theta=parameters(posterior),
        whole=_whole_rate(posterior, axes, run.seed or 0),
        intervals=_interval_rates(posterior, axes, run.seed or 0, intervals, tables.intervals),
        parts=posterior.components(curve["at"]) if has_parts(posterior) else None,
        trend=posterior.trend() if trend else None,
        without_trend=posterior.rate(curve["at"], trend=False) if trend and rate is not None else None,
        events=functionals.events(posterior) if tables.events is None else tables.events,
        at=None if at is None else _at_times(posterior, at, axes, tables.at),
    )


def _whole_rate(posterior: Posterior, axes: Axes, seed: int) -> pd.DataFrame:
    """The mean rate from the first to the last input; empty if all are at one time."""
    centre = posterior.input_means
    ends = [(float(centre.min()), float(centre.max()))] if np.ptp(centre) > 0 else []
    return _interval_rates(posterior, axes, seed, ends, None)


def _interval_rates(
    posterior: Posterior, axes: Axes, seed: int, intervals: Sequence[tuple[float, float]], known: pd.DataFrame | None
) -> pd.DataFrame:
    """Rates over intervals in the unit of the report; ``known`` are those in the record's unit, forward in time."""
    if known is None:
        draws = affordable(len(posterior.record), *REPORT_DRAWS)
        return interval_rates(posterior, intervals, draws, seed, scale=axes.rate_factor)
    shown = known.copy()
    numbers = [name for name in known.columns if name in ("mean", "sd") or name.startswith("q")]
    shown[numbers] *= axes.unit_factor
    return shown


def _at_times(
    posterior: Posterior, at: ArrayLike, axes: Axes, tables: Mapping[str, pd.DataFrame] | None
) -> pd.DataFrame:
    """Curve and rate (as shown) with their 95 % intervals at the requested times."""
    import pandas as pd

    curve = posterior.curve(at) if tables is None else tables["curve"]
    columns = {"at": curve["at"], "mean": curve["mean"], "low": curve["q2.5"], "high": curve["q97.5"]}
    if has_rate(posterior):
        rate = posterior.rate(at) if tables is None else tables["rate"]
        mean, low, high = shown_rate(rate, axes)
        columns |= {"rate": mean, "rate_low": low, "rate_high": high}
    return pd.DataFrame({**columns, "extrapolated": posterior.extrapolated(curve["at"])})


def shown_rate(table: pd.DataFrame, axes: Axes) -> tuple[Any, Any, Any]:
    """Mean, 2.5 % and 97.5 % quantile of a table of ``Posterior.rate`` as they are shown, forward in time."""
    shown = axes.in_rate_unit(table)
    return shown["mean"], shown["q2.5"], shown["q97.5"]
