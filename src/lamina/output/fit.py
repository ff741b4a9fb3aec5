"""``lamina fit`` and ``lamina demo``: tables, figures, the report, and run.json."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .. import datasets, plots, report
from ..fitting import prepare
from ..methods.draws import affordable
from ..model.mean_prior import contradictions
from ..posterior.agedepth import describe_long_slices
from ..posterior.boxes import has_parts, has_rate
from ..posterior.diagnosis import line_names
from ..posterior.functionals import DRAWS, GRID_TIMES, events
from ..posterior.intervals import interval_rates
from ..posterior.times import default_times, too_coarse
from ..records.axes import describe
from ..report import events as event_words
from ..support.numbers import plain, probability, short, with_range
from ..tables import Options, TableReading, read
from . import tables
from .checkpoint import resume, write_checkpoint
from .folder import CHECKPOINT, FIT_FIGURE, POSTERIOR, REPORT, begin_folder, check_folder, write_figure, write_tables
from .plan import Plan, Result
from .run import OutputRequest, describe_run, diagnostics_of, read_run, write_run
from .settings import (
    check_ensemble,
    check_settings,
    explain_order,
    fit_arguments,
    kernel_by_name,
    read_age_files,
    use_age_model,
)

if TYPE_CHECKING:
    import pandas as pd

    from ..posterior.posterior import Posterior
    from ..record import Record

#: Joint draws behind interval rates: at most, at least, and in between so many that draws times rows stay below this.
TABLE_DRAWS = 4000, 100, 50_000_000
#: A little beyond the data, as a part of their span, is not worth a warning.
SLACK = 0.05
#: The embedded record, and the interval whose rate the demonstration shows.
DEMO, DEMO_TABLE, DEMO_INTERVAL = "nassau", "Nassau Landing", (1900.0, 2000.0)
DEMO_WARNING = (
    "The ages of this core come from an age-depth model, which already used the order. Using it again, as the paper "
    "did, counts it twice: take the narrowing of the ages as a demonstration, not as a result."
)


def plan_fit(
    table: Path, options: Options, request: OutputRequest, age_files: Mapping[str, Path] | None = None
) -> Plan:
    """Read a table and check everything that can be checked before the fit starts.

    age_files: "ages" or "ages_covariance", a file of another age model.
    """
    files, order_given = age_files or {}, options.order is not None
    request, options = use_age_model(files, request, options)
    kernel = kernel_by_name(request.settings["kernel"])
    check_settings(request, kernel)
    began = time.perf_counter()
    reading = read(table, options, ages=files.get("ages"))
    if not order_given:
        reading = explain_order(files, reading)
    seconds = {"read": time.perf_counter() - began}
    record = reading.record
    ages, cautions = read_age_files(files, reading)
    arguments = fit_arguments(request.settings, kernel, record) | ages
    if request.resume:
        arguments["checkpoint"] = resume(request.folder, reading.sha256, request)
    with reading.naming_lines():
        fit = prepare(record, seed=request.seed, **arguments)
    check_ensemble(request, len(record))
    check_folder(request.folder, request.force or request.resume)
    cautions += [*contradictions(fit.problem), *beyond_data(record, request)]
    request = replace(request, warnings=[*request.warnings, *cautions])
    introduction = reading.describe() + _note_exact(record, request)
    return Plan(fit, request, _write, describe_fit, reading, introduction, seconds)


def _note_exact(record: Record, request: OutputRequest) -> str:
    """That a simpler method would do if all inputs are exact; "" if not."""
    if request.settings["method"] != "mcmc" or not record.exact.all():
        return ""
    return "\nAll inputs are exact, so that there are none to correct: --method gp fits the curve without sampling."


def plan_demo(request: OutputRequest) -> Plan:
    """The fit of the embedded record. Overwrites the last demonstration, but no other run."""
    record = datasets.load(DEMO)
    request = replace(request, intervals=[DEMO_INTERVAL], table=DEMO_TABLE, warnings=[DEMO_WARNING])
    arguments: dict[str, Any] = {"checkpoint": resume(request.folder, None, request)} if request.resume else {}
    before = read_run(request.folder)
    request = replace(request, force=request.force or (before is not None and before.get("table") == DEMO_TABLE))
    check_folder(request.folder, request.force)
    note = textwrap.fill(f"Warning: {DEMO_WARNING}", width=110)
    text = f"Relative sea level at Nassau Landing, Florida: {record!r}\n\n{note}"
    fit = prepare(record, seed=request.seed, **arguments)
    return Plan(fit, request, _write, describe_fit, introduction=text)


def beyond_data(record: Record, request: OutputRequest) -> list[str]:
    """Warnings about times and intervals beyond the data, where the curve returns to its mean."""
    t, t_sd = record.t[record.dated], record.t_sd[record.dated]
    low, high = float((t - 2 * t_sd).min()), float((t + 2 * t_sd).max())
    low, high = low - SLACK * (high - low), high + SLACK * (high - low)
    where = "beyond the data, where the curve returns to its mean and the band is that of the prior"
    between = f"{short(low)} to {short(high)}"
    found = [
        f"the interval {plain(a)}:{plain(b)} reaches {where} ({between})."
        for a, b in request.intervals
        if a < low or b > high
    ]
    at = np.asarray([] if request.at is None else request.at, dtype=float)
    outside = int(((at < low) | (at > high)).sum())
    if outside:
        lie = "lies" if outside == 1 else "lie"
        found.append(f"{outside} of the {at.size} requested times {lie} {where} ({between}).")
    return found


def _write(posterior: Posterior, plan: Plan) -> dict[str, Any]:
    return write_fit(posterior, plan.request.folder, plan.request, plan.reading, plan.seconds)


def write_fit(
    posterior: Posterior,
    folder: Path,
    request: OutputRequest,
    reading: TableReading | None = None,
    seconds: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """Write all files of a fit and return what run.json holds. ``seconds``: spent on the steps before."""
    began = time.perf_counter()
    times = default_times(posterior, shown=request.at)
    drawn = _curves(posterior, times)
    if coarse := too_coarse(posterior, times):
        request = replace(request, warnings=[*request.warnings, coarse])
    if long := describe_long_slices(posterior):
        request = replace(request, warnings=[*request.warnings, long])
    at_times = None if request.at is None else _curves(posterior, request.at)
    rates, found = _interval_rates(posterior, request), _events(posterior, request)
    begin_folder(folder, keep=[CHECKPOINT])  # until there is a new one
    write_tables(folder, _tables(posterior, request, reading, at_times or drawn, rates, found))
    posterior.save(folder / POSTERIOR)
    if request.figures:
        curves = {f"{name}_table": table for name, table in drawn.items()}
        failed = write_figure(lambda: plots.summary(posterior, **curves), folder, FIT_FIGURE)
        request = replace(request, warnings=[*request.warnings, *failed])
    reporting = time.perf_counter()
    known = report.Tables(**drawn, intervals=rates, events=found, at=at_times)
    report.write(
        folder / REPORT, posterior, intervals=request.intervals, at=request.at, run=report_run(request, reading),
        tables=known, plotly=request.plotly,
    )  # fmt: skip
    write_checkpoint(posterior, folder)
    done = time.perf_counter()
    run = describe_run(
        "fit", request, posterior.record, reading, model=posterior.model.to_dict(),
        diagnostics=diagnostics_of(posterior),
        intervals=[] if rates is None else rates.to_dict("records"), events=found.to_dict("records"),
        seconds={**(seconds or {}), "report": done - reporting, "write": done - began},
    )  # fmt: skip
    return write_run(folder, run)


def report_run(request: OutputRequest, reading: TableReading | None) -> report.Run:
    """How the fit was made, for the report."""
    return report.Run(request.command, request.seed, request.table, reading, request.warnings)


def _curves(posterior: Posterior, at: ArrayLike) -> dict[str, pd.DataFrame]:
    """The curve, and the rate where there is one."""
    if not has_rate(posterior):
        return {"curve": posterior.curve(at)}
    return dict(zip(("curve", "rate"), posterior.curve_and_rate(at), strict=True))


def _tables(
    posterior: Posterior,
    request: OutputRequest,
    reading: TableReading | None,
    curves: dict[str, pd.DataFrame],
    rates: pd.DataFrame | None,
    found: pd.DataFrame,
) -> list[tables.Table]:
    """All tables of a fit."""
    record = posterior.record
    made = [tables.curve_table(posterior, curves["curve"])]
    if "rate" in curves:
        made.append(tables.rate_table(posterior, curves["rate"]))
    if has_parts(posterior):
        made.append(tables.components_table(posterior, curves["curve"]["at"]))
    if posterior.model.offsets is not None:
        made.append(tables.offsets_table(posterior))
    made += [tables.inputs_table(posterior, reading), tables.theta_table(posterior)]
    if rates is not None:
        made.append(tables.intervals_table(record, rates))
    if len(found):
        made.append(tables.events_table(found))
    if request.members:
        made.append(tables.ensemble_table(posterior, request.members, request.seed))
    return made


def _interval_rates(posterior: Posterior, request: OutputRequest) -> pd.DataFrame | None:
    """The rates over the requested intervals, forward in time."""
    if not request.intervals:
        return None
    draws = affordable(len(posterior.record), *TABLE_DRAWS)
    forward = describe(posterior.record).time_sign
    return interval_rates(posterior, request.intervals, draws, request.seed, scale=forward)


def _events(posterior: Posterior, request: OutputRequest) -> pd.DataFrame:
    draws = affordable(len(posterior.record) + GRID_TIMES, DRAWS, *TABLE_DRAWS[1:])
    return events(posterior, request.levels, request.rates, request.extremes, draws=draws, seed=request.seed)


def describe_fit(result: Result) -> str:
    """The summary of the fit, and what was requested; rates are forward in time."""
    posterior, run, reading = result.posterior, result.run, result.plan.reading
    lines = [posterior.summary(line_names(posterior.record, reading)), ""]
    axes = describe(posterior.record)
    for one in run["intervals"]:
        mean, low, high = (axes.unit_factor * one[name] for name in ("mean", "q2.5", "q97.5"))
        lines.append(
            f"mean rate{' forward in time' if axes.backwards else ''}, {plain(one['from'])} to {plain(one['to'])}: "
            f"{with_range(mean, low, high, axes.rate_unit)}, above zero with probability {probability(one['p>0'])}"
        )
    lines += [event_words.line(posterior.record, one) for one in run["events"]]
    if run["intervals"] or run["events"]:
        lines.append("")
    return "\n".join([*lines, f"Report: {result.folder / REPORT}"])
