"""``lamina agedepth``: the age of every layer of a core, with the usual age-depth plot, a report, and run.json."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .. import report
from ..errors import MethodError
from ..fitting import prepare_age_depth
from ..model.mean_prior import contradictions
from ..plots.cores import core_summary
from ..plots.validation import validation_summary
from ..posterior.agedepth import describe_accumulation, describe_hiatuses, describe_width
from ..posterior.boxes import Rejected
from ..posterior.diagnosis import likely_outliers, line_names
from ..records.axes import describe
from ..tables import Options, TableError, read_ages
from ..tables.messages import Fact, set_by
from ..validation import check_dates, validate
from . import tables
from .checkpoint import resume, write_checkpoint
from .fit import report_run
from .folder import (
    AGEDEPTH_FIGURE,
    CHECKPOINT,
    POSTERIOR,
    REPORT,
    VALIDATION_FIGURE,
    begin_folder,
    check_folder,
    write_figure,
    write_tables,
)
from .plan import Plan, Result
from .run import OutputRequest, describe_run, diagnostics_of, write_run
from .settings import check_ensemble
from .validation import validation_facts, validation_table

if TYPE_CHECKING:
    from ..posterior.posterior import Posterior
    from ..record import Record
    from ..tables import TableReading


def plan_agedepth(table: Path, options: Options, request: OutputRequest) -> Plan:
    """Read dates and depths and check everything that can be checked before the fit starts."""
    began = time.perf_counter()
    t_errors = "normal" if options.t_errors == "normal" else "student"
    # The model gives dates their tails, so that the record keeps the errors as they were reported.
    reading = read_ages(table, replace(options, t_errors=None) if options.t_errors == "student" else options)
    if t_errors == "student" and has_plain_dates(reading.record):
        why = "by default; --t-errors normal for normal errors" if options.t_errors is None else set_by("t_errors")
        fact = Fact("errors of dates", "Student-t with a = 3 and b = 4, as in Bacon", why)
        reading = replace(reading, facts=(*reading.facts, fact))
    seconds = {"read": time.perf_counter() - began}
    cores = [str(name) for name, _ in reading.record.sequences]
    if len(cores) > 1:
        raise MethodError(f"the table holds several cores ({', '.join(cores)}): choose one with --site NAME.")
    arguments = dict(request.settings)
    if request.resume:
        arguments["checkpoint"] = resume(request.folder, reading.sha256, request)
    with reading.naming_lines():
        fit = prepare_age_depth(reading.record, seed=request.seed, hiatus=options.hiatus or (),
                                t_errors=t_errors, **arguments)  # fmt: skip
        if request.folds:
            check_dates(reading.record)
    check_ensemble(request, len(fit.problem.source))
    check_folder(request.folder, request.force or request.resume)
    cautions = [*contradictions(fit.problem), *beyond_core(reading.record, request.depths)]
    request = replace(request, warnings=cautions)
    model = {"seed": request.seed, "hiatus": options.hiatus or (), "t_errors": t_errors, **arguments}
    model.pop("checkpoint", None)
    return Plan(
        fit, request, write_agedepth, describe_agedepth, reading, reading.describe(), seconds,
        rejected=rejected_dates(table, options, reading),
        validate=partial(validate, reading.record, request.folds, **model) if request.folds else None,
    )  # fmt: skip


def rejected_dates(table: Path, options: Options, reading: TableReading) -> Rejected | None:
    """The dates that a column such as reject marks; None if there are none, or they cannot be read."""
    if options.flags == "ignore" or not any(fact.what == "rejected" for fact in reading.facts):
        return None
    try:
        whole = read_ages(table, replace(options, flags="ignore"))
    except TableError:
        return None
    rows = [k for k, line in enumerate(whole.lines) if line not in reading.lines and whole.record.dated[k]]
    return Rejected(whole.record, np.array(rows)) if rows else None


def has_plain_dates(record: Record) -> bool:
    """Whether some date is given as t and t_sd."""
    plain = np.array([date is None for date in record.dates or [None] * len(record)])
    return bool((plain & record.dated & ~record.exact).any())


def beyond_core(record: Record, depths: ArrayLike | None) -> list[str]:
    """A warning if some of the requested depths are not within the core."""
    if depths is None or record.depth is None:
        return []
    asked, low, high = np.asarray(depths), record.depth.min(), record.depth.max()
    outside = int(((asked < low) | (asked > high)).sum())
    if not outside:
        return []
    lie, what = "lies" if outside == 1 else "lie", f"{describe(record).along}s"
    return [
        f"{outside} of the {asked.size} requested {what} {lie} beyond the core "
        f"({low:g} to {high:g}): ages there are extrapolated from its outermost step, and their bands are too narrow."
    ]


def write_agedepth(posterior: Posterior, plan: Plan) -> dict[str, Any]:
    """Write all files of an age-depth model and return what run.json holds."""
    began, request, folder = time.perf_counter(), plan.request, plan.request.folder
    ages = tables.ages_table(posterior, request.depths)
    made = [
        ages,
        tables.accumulation_table(posterior),
        tables.dates_table(posterior),
        tables.theta_table(posterior, digits=6),
    ]
    if plan.validation is not None:
        made.append(validation_table(posterior.record, plan.validation, plan.reading))
    if request.members:
        made.append(tables.ensemble_table(posterior, request.members, request.seed))
    begin_folder(folder, keep=[CHECKPOINT])  # until there is a new one
    write_tables(folder, made)
    posterior.save(folder / POSTERIOR)
    failed = write_figure(lambda: core_summary(posterior, rejected=plan.rejected), folder, AGEDEPTH_FIGURE)
    if (found := plan.validation) is not None:
        failed += write_figure(lambda: validation_summary(found, posterior.record), folder, VALIDATION_FIGURE)
    elif request.folds:
        failed.append("the dates were not left out and predicted (--validate), because the run was interrupted.")
    request = replace(request, warnings=[*request.warnings, *failed])
    reporting = time.perf_counter()
    report.write(
        folder / REPORT, posterior, at=request.depths, run=report_run(request, plan.reading),
        tables=report.Tables(ages=ages.frame, rejected=plan.rejected, validation=plan.validation),
    )  # fmt: skip
    write_checkpoint(posterior, folder)
    done = time.perf_counter()
    run = describe_run(
        "agedepth", request, posterior.record, plan.reading, model=posterior.model.to_dict(),
        diagnostics=diagnostics_of(posterior) | validation_facts(plan.validation),
        seconds={**plan.seconds, "report": done - reporting, "write": done - began},
    )  # fmt: skip
    return write_run(folder, run)


def describe_agedepth(result: Result) -> str:
    """The summary of the fit, the width of the bands, accumulation, likely outliers, the validation, and the files."""
    posterior, plan = result.posterior, result.plan
    names = line_names(posterior.record, plan.reading)
    lines = [posterior.summary(names), describe_width(posterior), *describe_hiatuses(posterior)]
    if pace := describe_accumulation(posterior):
        lines.append(pace)
    if likely := likely_outliers(posterior, names):
        lines.append(f"more likely outliers than not: {', '.join(likely)}")
    if plan.validation is not None:
        lines += ["", *plan.validation.sentences()]
    named = {"Figure": "age-depth.png", "Ages": "ages.csv", "Report": REPORT}
    files = [f"{word}: {result.folder / name}" for word, name in named.items()]
    return "\n".join([*lines, "", *files])
