"""``lamina fit``, ``lamina field`` and ``lamina demo``: from a table to tables, figures and a report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from . import options as given
from .progress import sampling
from .terminal import complain, exit_code, show

if TYPE_CHECKING:
    from ..output.plan import Plan

OF_FIELD = given.pick("out at interval") | {
    "map_at": given.option("--map-at", str | None, "Times of the maps: first:last:step, or a,b,c; by default the last "
                           "time of the record.", given.OUTPUT),
    "grid": given.option("--grid", str | None, "Region of the maps: south:north:west:east, in degrees; by default "
                         "that of the sites.", given.OUTPUT),
    "shown_site": given.option("--show-site", str | None, "Site whose components are drawn; by default the one with "
                               "most rows.", given.OUTPUT, metavar="NAME"),
    **given.pick("force resume quiet as_json"),
}  # fmt: skip


@given.bundled(
    settings=given.pick(
        "kernel gaps mean outliers offsets acc_mean acc_shape memory seed method chains draws max_sweeps "
        "npv_covariance trend ages ages_covariance"
    ),
    output=given.pick("out at interval exceeds rate_exceeds extremes ensemble force resume quiet as_json"),
    reading=given.READ_CURVE,
)
def fit(table: given.Table, settings: dict[str, Any], output: dict[str, Any], reading: dict[str, Any]) -> None:
    """Fit a curve to a table: the curve, its rate, the corrected inputs, figures and a report."""
    from ..output.fit import plan_fit
    from ..output.settings import AGE_FILES
    from ..tables import Options
    from .arguments import output_request

    files = {name: settings.pop(name) for name in AGE_FILES}
    request = output_request(output["out"] or Path(f"{table.stem}-lamina"), settings, output, table.name)
    files = {name: file for name, file in files.items() if file is not None}
    carry_out(plan_fit(table, Options(**reading), request, files), output["quiet"], output["as_json"])


@given.bundled(
    settings=given.pick("gaps seed method chains draws max_sweeps"),
    output=OF_FIELD,
    reading=given.READ_FIELD,
)
def field(table: given.Table, settings: dict[str, Any], output: dict[str, Any], reading: dict[str, Any]) -> None:
    """Fit many sites together: the curve of each, what they have in common, rates, maps, figures and a report."""
    from ..output.fields import plan_field
    from ..tables import Options
    from .arguments import output_request

    request = output_request(output["out"] or Path(f"{table.stem}-field"), settings, output, table.name)
    carry_out(plan_field(table, Options(**reading, places=True), request), output["quiet"], output["as_json"])


@given.bundled(
    output={
        "field": given.option("--field", bool, "Fit 43 places on the Atlantic coast of North America together.", None,
                              False),
        "out": given.option("--out", Path, "Folder for the results.", None, Path("lamina-demo")),
        **given.pick("seed force resume quiet"),
    }
)  # fmt: skip
def demo(output: dict[str, Any]) -> None:
    """Fit the record that comes with lamina: sea level at Nassau Landing, Florida. Overwrites an earlier run."""
    from ..output.fields import plan_field_demo
    from ..output.fit import plan_demo
    from .arguments import output_request

    plan = plan_field_demo if output["field"] else plan_demo
    carry_out(plan(output_request(output["out"], {"seed": output["seed"]}, output)), output["quiet"])


def carry_out(plan: Plan, quiet: bool, as_json: bool = False) -> None:
    """Run a plan; show what was understood before, and what was found after it. Ends with the code of its state."""
    from ..output.run import json_text

    if not (quiet or as_json):
        show(plan.introduction + "\n")
        for warning in plan.request.warnings if plan.reading else ():  # also in the report and in run.json
            complain(f"warning: {warning}")
    with sampling(quiet or as_json) as progress:
        result = plan.run(progress)
    if as_json:
        show(json_text({**result.run, "folder": str(result.folder)}))
    elif not quiet:
        show(result.describe())
        for warning in result.late_warnings:
            complain(f"warning: {warning}")
    state = result.run["state"]
    if state != "converged":
        next_step = "--resume continues it" if result.can_resume else "see the report"
        complain(f"{state.upper()}. The results are written and marked; {next_step}.")
        raise typer.Exit(exit_code() if state == "interrupted" else given.NOT_CONVERGED)
