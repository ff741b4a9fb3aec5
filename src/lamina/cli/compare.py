"""``lamina compare``: one table through several methods."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from . import options as given
from .progress import bar
from .terminal import complain, exit_code, show


@given.bundled(
    settings=given.pick("kernel gaps mean offsets seed methods"),  # only mcmc has outliers and memory
    output=given.pick("out at force quiet"),
    reading=given.READ_CURVE,
)
def compare(table: given.Table, settings: dict[str, Any], output: dict[str, Any], reading: dict[str, Any]) -> None:
    """Fit the same table with several methods: one figure, and how far apart their curves are."""
    from ..output.compare import plan_compare
    from ..tables import Options
    from .arguments import output_request

    request = output_request(output["out"] or Path(f"{table.stem}-compared"), settings, output, table.name)
    plan = plan_compare(table, Options(**reading), request)
    if not output["quiet"]:
        show(plan.reading.describe() + "\n")
    with bar("methods", output["quiet"]) as progress:
        found = plan.run(progress)
    if not output["quiet"]:
        show(found.describe(request.folder))
        for warning in found.late_warnings:
            complain(f"warning: {warning}")
    for name, converged in found.converged.items():
        if converged != "yes":
            what = "has NOT converged" if converged == "no" else "was INTERRUPTED"
            complain(f"{name} {what}.")
    if found.left_out:
        complain(f"interrupted; left out: {', '.join(found.left_out)}.")
    if found.run["state"] != "converged":
        raise typer.Exit(exit_code() if found.run["state"] == "interrupted" else given.NOT_CONVERGED)
