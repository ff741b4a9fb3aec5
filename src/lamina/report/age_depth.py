"""The report of an age-depth model, as plain data for the templates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import RecordError
from ..posterior.agedepth import (
    accumulation_quantiles,
    describe_accumulation,
    describe_hiatuses,
    describe_width,
    width_grid,
)
from ..posterior.boxes import LOWEST_PACE, Rejected, date_density, date_half_width, input_shifts
from ..posterior.diagnosis import LIKELY_OUTLIER, likely_outliers, line_names, line_numbers, row_name
from ..posterior.summary import parameters
from ..records.axes import describe, latest_time
from ..support.numbers import number, percent, plain, with_range, with_sd
from . import answer, common
from . import drawing as draw
from .common import Page
from .content import Run, Tables
from .drawing import Figure, Look, Trace
from .validation import figures as validation_figures
from .validation import section as validation_section

if TYPE_CHECKING:
    import pandas as pd

    from ..posterior.posterior import Posterior
    from ..record import Record

Array = np.ndarray

#: Points of the density of a date.
DENSITY_POINTS = 60


def build(posterior: Posterior, depths: ArrayLike | None, run: Run, tables: Tables) -> Page:
    """All sections, in their order; ``depths`` are those whose ages were requested."""
    record = posterior.record
    if len(record.sequences) > 1:
        cores = ", ".join(str(name) for name, _ in record.sequences)
        raise RecordError(f"a report shows one core, and the record has several ({cores}). Fit each core by itself.")
    names = line_names(record, run.reading)
    ages, accumulation = posterior.ages(width_grid(record)), accumulation_quantiles(posterior)
    lead = [_span(posterior, ages), describe_width(posterior, ages), *describe_hiatuses(posterior), _shifts(posterior)]
    drawn = {"age-depth": _age_depth(posterior, ages, run), "accumulation": _accumulation(posterior, accumulation)}
    if tables.rejected is not None:
        drawn["age-depth"]["data"].append(_hollow(posterior, tables.rejected))
    page = Page(
        title=f"Age-depth model from {run.table}" if run.table else "Age-depth model",
        top="age_depth.html",
        lead=" ".join(lead),
        alt=f"The age-depth model with its bands and dates. {' '.join(lead)}",
        figures=drawn,
    )
    page.add("accumulation", "Accumulation", {"summary": describe_accumulation(posterior, accumulation)})
    dated = np.flatnonzero(record.dated)
    dates: dict[str, Any] = {"summary": lead[-1], "n": len(dated), "likely": likely_outliers(posterior, names)}
    dates["rows"] = common.date_rows(posterior, input_shifts(posterior, dated), names)
    page.add("dates", "Dates, reported and corrected", dates)
    if tables.validation is not None:
        page.add("validation", "Dates left out and predicted", validation_section(tables.validation))
        lines = None if run.reading is None else line_names(run.reading.record, run.reading)
        page.figures.update(validation_figures(tables.validation, posterior, lines))
    if depths is not None:
        table = posterior.ages(depths) if tables.ages is None else tables.ages
        shown = {"rows": table.head(common.MOST_LINES).to_dict("records"), "n": len(table)}
        shown["marks"] = _marks(posterior, table)
        page.add("ages", f"Ages at the requested {describe(record).along}s", shown)
    page.add("parameters", "Parameters", common.parameters(posterior, parameters(posterior), drawn))
    common.add_shared(page, posterior, names, run)
    return page


def _marks(posterior: Posterior, table: pd.DataFrame) -> list[str]:
    """What to be careful about at each depth: ages beyond the core, and ages in the future."""
    depth, axes = np.asarray(posterior.record.depth), describe(posterior.record)
    beyond = (table["depth"] < depth.min()) | (table["depth"] > depth.max())
    latest = latest_time(posterior.record)
    future = np.zeros(len(table), dtype=bool)
    if latest is not None:
        future = (table["q50"] < latest if axes.backwards else table["q50"] > latest).to_numpy()
    notes = zip(np.where(beyond, "extrapolated", ""), np.where(future, "in the future", ""), strict=True)
    return [", ".join(note for note in pair if note) for pair in notes]


def _at_depth(posterior: Posterior, depth: float) -> str:
    return f"{depth:.4g} {posterior.record.depth_unit}".rstrip()


def _span(posterior: Posterior, ages: pd.DataFrame) -> str:
    (first, low), (last, high) = (
        (_at_depth(posterior, one["depth"]), with_range(one["q50"], one["q2.5"], one["q97.5"], posterior.record.t_unit))
        for one in ages.iloc[[0, -1]].to_dict("records")
    )
    along = describe(posterior.record).along
    return f"The {posterior.record.t_name} is {low} at a {along} of {first} and {high} at {last}."


def _shifts(posterior: Posterior) -> str:
    record = posterior.record
    rows = np.flatnonzero(record.dated & ~record.exact)
    if not rows.size:
        return "All dates are exact."
    found = input_shifts(posterior, rows)
    unit = describe(record).duration
    return answer.describe_shifts("The model", found["shift"].abs().to_numpy(), unit, float(found["kept"].median()))


def _age_depth(posterior: Posterior, ages: pd.DataFrame, run: Run) -> Figure:
    """Age against depth with its bands, and the dates as their densities."""
    record, axes, x = posterior.record, describe(posterior.record), ages["depth"].to_numpy()
    middle, low, high = (ages[name].to_numpy() for name in ("q50", "q2.5", "q97.5"))
    hovers = [
        draw.hover(f"{axes.along} {number(d, 4)} {record.depth_unit}", with_range(m, a, b, record.t_unit))
        for d, m, a, b in zip(x, middle, low, high, strict=True)
    ]
    inner = ages["q16"].to_numpy(), ages["q84"].to_numpy()
    traces = [*draw.bands(x, (low, high), inner), *_densities(posterior, run)]
    traces.append(draw.centre(x, middle, hovers, "median"))
    frame = draw.layout(axes.depth, axes.time, _depth_range(posterior))
    if record.hiatus is not None and record.depth is not None:
        frame["shapes"] = [draw.level(float(one), "dash", upright=True) for one in record.depth[record.hiatus]]
    frame["yaxis"]["exponentformat"] = "none"
    return {"data": traces, "layout": frame}


def _half_width(record: Record) -> float:
    return date_half_width(np.asarray(record.depth), int(record.dated.sum()))


def _depth_range(posterior: Posterior) -> tuple[float, float]:
    """The axis of depth, with room for the densities of the outermost dates."""
    depth = posterior.record.depth
    assert depth is not None
    margin = 1.2 * _half_width(posterior.record)
    return float(depth.min()) - margin, float(depth.max()) + margin


def _densities(posterior: Posterior, run: Run) -> list[Trace]:
    """A closed outline for each date, and one point in each that says what it is."""
    record, depth = posterior.record, posterior.record.depth
    assert depth is not None
    names = line_names(record, run.reading)
    rows = np.flatnonzero(record.dated)
    found, hovers = input_shifts(posterior, rows), []
    chance, along = posterior.date_outliers().to_numpy(), describe(record).along
    for row, one in zip(rows, found.to_dict("records"), strict=True):
        place = f"{row_name(record, int(row), names)}, {along} {plain(depth[row])} {record.depth_unit}".rstrip()
        dated = f"dated {with_sd(one['t'], one['t_sd'])} {record.t_unit}"
        outlier = f"outlier with {percent(chance[row])}" if np.isfinite(chance[row]) else ""
        corrected = f"corrected {with_sd(one['mean'], one['sd'])} {record.t_unit}"
        hovers.append(draw.hover(place, dated, corrected, outlier))
    look: Look = {"fill": "toself", "fillcolor": "group-1-fill", "line": {"color": "group-1", "width": 0.8}}
    outlines = draw.line(*_outlines(record, rows, _half_width(record)), name="dates", legendgroup="dates", **look)
    look = {"marker": {"color": "group-1", "size": 5, "opacity": 0.7}, "showlegend": False, "legendgroup": "dates"}
    look |= draw.places(rows, line_numbers(record, run.reading))
    traces = [outlines, draw.points(depth[rows], record.t[rows], hovers, **look)]
    likely = [k for k, row in enumerate(rows) if chance[row] > LIKELY_OUTLIER]
    if likely:
        at, some = rows[likely], [hovers[k] for k in likely]
        look = {"color": "ink", "size": 9, "symbol": "x-thin-open"}
        traces.append(draw.points(depth[at], record.t[at], some, marker=look, name="outlier"))
    return traces


def _outlines(record: Record, rows: Array, half: float) -> tuple[Array, Array]:
    """The closed outlines of the densities of dates, one after the other."""
    depth, xs, ys = np.asarray(record.depth), [], []
    for row in rows.tolist():
        times, height = date_density(record, row, DENSITY_POINTS)
        xs.append([*(depth[row] - half * height), *(depth[row] + half * height)[::-1], np.nan])
        ys.append([*times, *times[::-1], np.nan])
    return np.concatenate(xs), np.concatenate(ys)


def _hollow(posterior: Posterior, rejected: Rejected) -> Trace:
    """The outlines of dates that the model does not use."""
    x, y = _outlines(rejected.record, rejected.rows, _half_width(posterior.record))
    return draw.line(x, y, name="rejected", line={"color": "group-1", "width": 1.2})


def _accumulation(posterior: Posterior, table: pd.DataFrame) -> Figure:
    """Time per unit of depth in each section: median and 95 % band, as stairs on a logarithmic axis."""
    axes, unit = describe(posterior.record), posterior.record.depth_unit
    known = table["q50"].notna()
    traces: list[Trace] = []
    for _, part in table[known].groupby((~known).cumsum()[known]):
        x = np.repeat([*part["from"], part["to"].iloc[-1]], 2)[1:-1]
        lows, middles, highs = (np.repeat(part[name].to_numpy(), 2) for name in ("q2.5", "q50", "q97.5"))
        hovers = [
            draw.hover(f"{axes.along} {plain(a)} to {plain(b)} {unit}", with_range(m, low, high))
            for a, b, low, m, high in part[["from", "to", "q2.5", "q50", "q97.5"]].itertuples(index=False)
        ]
        again = {"showlegend": False} if traces else {}
        traces.append(draw.band(x, lows, highs, "band-95", name="95 %", **again))
        traces.append(draw.centre(x, middles, np.repeat(hovers, 2).tolist(), "median") | again)
    frame: dict[str, Any] = draw.layout(axes.depth, axes.pace, _depth_range(posterior))
    if known.any():  # otherwise, each section has a hiatus
        low, high = float(table["q2.5"].min()), float(table["q97.5"].max())
        frame["yaxis"] |= draw.logarithmic(0.9 * max(low, float(table["q50"].min()) / LOWEST_PACE), 1.1 * high)
    return {"data": traces, "layout": frame}
