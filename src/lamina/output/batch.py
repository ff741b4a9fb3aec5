"""What a batch writes beside the folders of its records: summary.csv, index.html, run.json, and Plotly for all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..report import PLOTLY
from ..support.files import write_text
from .folder import COLUMNS, RUN, write_tables
from .run import OutputRequest, describe_run, write_run
from .tables import Table

if TYPE_CHECKING:
    import pandas as pd

SUMMARY, INDEX = "summary.csv", "index.html"
#: How the fit of a record can have ended, the best first.
STATES = ("converged", "not converged", "failed", "not done")
FILES = (SUMMARY, INDEX, COLUMNS, PLOTLY, RUN)
_COLUMNS = {
    "name": "the record",
    "folder": "its folder",
    "rows": "its number of rows; 0 if it failed",
    "state": '"converged", "not converged", "failed" or "not done"',
    "seconds": "time of the fit, in seconds",
    "r_hat": "worst R-hat, where the method has one",
    "ess": "fewest effective draws, where the method has them",
    "conflicts": "number of dates in conflict",
    "error": "why the record failed",
}


def write_batch(
    folder: Path, rows: Sequence[dict[str, Any]], page: str, request: OutputRequest, seconds: float
) -> pd.DataFrame:
    """Write summary, page and run.json of a batch; returns the summary."""
    import pandas as pd

    summary = pd.DataFrame(rows, columns=list(_COLUMNS))
    write_tables(folder, [Table(SUMMARY, "the records, one line for each", summary, _COLUMNS, digits=6)])
    write_text(folder / INDEX, page)
    states = set(summary["state"])
    state = "interrupted" if "not done" in states else "converged" if states <= {"converged"} else "not converged"
    run = describe_run(
        "batch", request, state=state, rows=int(summary["rows"].sum()), parts={row["name"]: _part(row) for row in rows},
        seconds={"batch": seconds},
    )  # fmt: skip
    write_run(folder, run, FILES)
    return summary


def _part(row: dict[str, Any]) -> dict[str, Any]:
    diagnostics = {name: row[name] for name in ("r_hat", "ess", "conflicts")}
    return {"diagnostics": diagnostics, **{name: row[name] for name in ("state", "rows", "seconds", "folder", "error")}}
