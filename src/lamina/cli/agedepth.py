"""``lamina agedepth``: from a table of dates and depths to the age of every layer of a core."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from . import options as given
from .fit import carry_out

READING_OPTIONS = {name: one for name, one in given.READ_CURVE.items() if not name.startswith(("y", "dates"))}


@given.bundled(
    settings=given.pick("steps acc_mean acc_shape memory seed chains max_sweeps"),
    output=given.pick("out depths ensemble validate folds force resume quiet as_json"),
    reading=READING_OPTIONS,
)
def agedepth(table: given.Table, settings: dict[str, Any], output: dict[str, Any], reading: dict[str, Any]) -> None:
    """Compute an age-depth model of a core from its dates alone: the age at every depth, a figure and a report."""
    from ..output.agedepth import plan_agedepth
    from ..tables import Options
    from .arguments import output_request

    request = output_request(output["out"] or Path(f"{table.stem}-ages"), settings, output, table.name)
    carry_out(plan_agedepth(table, Options(**reading), request), output["quiet"], output["as_json"])
