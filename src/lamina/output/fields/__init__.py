"""``lamina field``: the curves of many sites, what they have in common, rates, maps, figures, a report and run.json."""

from __future__ import annotations

import time
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import datasets, report
from ...errors import MethodError
from ...fitting import prepare
from ...kernels import Matern32
from ...posterior.diagnosis import line_names
from ...records.axes import describe
from ...report.fields.answers import Answers, compute
from ...support.files import replacing
from ...support.numbers import count, plain, probability, with_range
from ...tables import Options, read
from .. import tables as shared
from ..checkpoint import resume, write_checkpoint
from ..fit import beyond_data, report_run
from ..folder import CHECKPOINT, FIELD, POSTERIOR, REPORT, begin_folder, check_folder, write_tables
from ..plan import Plan, Result
from ..run import OutputRequest, describe_run, diagnostics_of, read_run, write_run
from ..settings import check_settings
from . import tables
from .figures import write_figures

if TYPE_CHECKING:
    from ...posterior.posterior import Posterior
    from ...record import Record

#: The embedded field, and what the demonstration shows of it.
FIELD_DEMO, FIELD_DEMO_TABLE = "atlantic", "Atlantic coast"
FIELD_DEMO_INTERVALS = [(0.0, 1700.0), (1700.0, 1900.0), (1900.0, 2000.0)]
FIELD_DEMO_MAPS = (1000.0, 1950.0)
FIELD_DEMO_NOTE = (
    "The ages come from age-depth models, which have used the order of the layers: it is not used again.\n"
    "All 43 places are fitted together, which takes some minutes on two CPUs. Ctrl-C keeps what there is so "
    "far,\nand --resume continues it."
)


def plan_field(table: Path, options: Options, request: OutputRequest) -> Plan:
    """Read a table with places and check everything that can be checked before the fit begins."""
    check_settings(request, Matern32())
    began = time.perf_counter()
    reading = read(table, replace(options, places=True))
    seconds = {"read": time.perf_counter() - began}
    arguments = dict(request.settings)
    if request.resume:
        arguments["checkpoint"] = resume(request.folder, reading.sha256, request)
    with reading.naming_lines():
        fit = prepare(reading.record, seed=request.seed, **arguments)
    check_site(reading.record, request.shown_site)
    check_folder(request.folder, request.force or request.resume)
    request = replace(request, warnings=[*request.warnings, *beyond_data(reading.record, request)])
    return Plan(fit, request, write_field, describe_field, reading, reading.describe(), seconds)


def plan_field_demo(request: OutputRequest) -> Plan:
    """The field of the Atlantic coast. Overwrites the last demonstration, but no other run."""
    record = datasets.load(FIELD_DEMO)
    request = replace(
        request, intervals=FIELD_DEMO_INTERVALS, map_at=FIELD_DEMO_MAPS, table=FIELD_DEMO_TABLE,
        sources=("Upton", "PSMSL", "Peltier"),
    )  # fmt: skip
    arguments: dict[str, Any] = {"checkpoint": resume(request.folder, None, request)} if request.resume else {}
    before = read_run(request.folder)
    request = replace(request, force=request.force or (before is not None and before.get("table") == FIELD_DEMO_TABLE))
    check_folder(request.folder, request.force)
    text = f"Relative sea level on the Atlantic coast of North America: {record!r}\n\n{FIELD_DEMO_NOTE}"
    fit = prepare(record, seed=request.seed, **arguments)
    return Plan(fit, request, write_field, describe_field, introduction=text)


def check_site(record: Record, name: str | None) -> None:
    """Raise MethodError if the site that is to be shown is none of the record."""
    names = record.places.names if record.places else ()
    if name is not None and name not in names:
        near = get_close_matches(name, names, n=1, cutoff=0.0)[0]
        raise MethodError(f"--show-site: there is no site {name!r}. Did you mean {near!r}?")


def write_field(posterior: Posterior, plan: Plan) -> dict[str, Any]:
    """Write all files of a field and return what run.json holds."""
    began, request, folder = time.perf_counter(), plan.request, plan.request.folder
    begin_folder(folder, keep=[CHECKPOINT])  # until there is a new one
    posterior.save(folder / POSTERIOR)  # before maps are computed, which may take long
    answers = compute(
        posterior, request.at, request.intervals, request.map_at, request.grid, request.shown_site, request.seed
    )
    write_tables(folder, _tables(posterior, answers, plan))
    with replacing(folder / FIELD) as partial:
        answers.maps.to_netcdf(partial)
    failed = write_figures(posterior, answers, folder)
    request = replace(request, warnings=[*request.warnings, *failed])
    reporting = time.perf_counter()
    report.write(
        folder / REPORT, posterior, run=replace(report_run(request, plan.reading), sources=request.sources),
        field=answers, plotly=request.plotly,
    )  # fmt: skip
    write_checkpoint(posterior, folder)
    done = time.perf_counter()
    run = describe_run(
        "field", request, posterior.record, plan.reading, model=posterior.model.to_dict(),
        diagnostics=diagnostics_of(posterior) | {"identifiability": list(answers.apart)},
        intervals=answers.rates.to_dict("records"),
        seconds={**plan.seconds, "report": done - reporting, "write": done - began},
    )  # fmt: skip
    return write_run(folder, run)


def _tables(posterior: Posterior, answers: Answers, plan: Plan) -> list[shared.Table]:
    """All tables of a field."""
    record = posterior.record
    return [
        tables.curves_table(record, answers.curves),
        tables.rates_table(record, answers.curve_rates),
        tables.common_table(record, answers.common, answers.common_rate),
        tables.components_table(record, answers.components),
        tables.intervals_table(record, answers.rates),
        tables.sites_table(record),
        shared.inputs_table(posterior, plan.reading),
        shared.theta_table(posterior),
    ]


def describe_field(result: Result) -> str:
    """The summary of the fit, the rate of each site over the last interval, and where the report is."""
    posterior, run = result.posterior, result.run
    axes, rows = describe(posterior.record), run["intervals"]
    lines = [posterior.summary(line_names(posterior.record, result.plan.reading)), ""]
    lines += [*run["diagnostics"]["identifiability"], ""]
    last = [one for one in rows if (one["from"], one["to"]) == (rows[-1]["from"], rows[-1]["to"])]
    forward = " forward in time" if axes.backwards else ""
    between = f"{plain(rows[-1]['from'])} to {plain(rows[-1]['to'])}"
    lines.append(f"mean rate{forward} of {count(len(last), 'site')}, {between}:")
    width = max(len(one["site"]) for one in last)
    for one in last:
        mean, low, high = (axes.unit_factor * one[name] for name in ("mean", "q2.5", "q97.5"))
        shown = with_range(mean, low, high, axes.rate_unit)
        lines.append(f"  {one['site']:<{width}}  {shown}, above zero with probability {probability(one['p>0'])}")
    return "\n".join([*lines, "", f"Report: {result.folder / REPORT}"])
