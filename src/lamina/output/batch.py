"""What a batch writes beside the folders of its records: summary.csv, index.html, run.json, and Plotly for all."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
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
OUTCOMES = ("converged", "not converged", "failed", "not done")
BATCH_FILES = (SUMMARY, INDEX, COLUMNS, PLOTLY, RUN)
_COLUMNS = {
    "name": "the record",
    "folder": "its folder",
    "rows": "its number of rows; 0 if it failed",
    "state": '"converged", "not converged", "failed" or "not done"',
    "seconds": "time of the fit, in seconds",
    "r_hat": "worst R-hat, where the method has one",
    "ess": "fewest effective draws, where the method has them",
    "conflicts": "number of dates in conflict",
    "warnings": "number of warnings about the table and the fit",
    "error": "why the record failed",
    "warning_text": "the warnings",
}
#: Between the warnings of a record.
SEPARATOR = " | "
#: Ends of the names of the columns of a rate, and what they hold.
RATE = {"": "mean", "_sd": "sd", "_q2.5": "q2.5", "_q97.5": "q97.5"}
_INTERVAL = re.compile(r"rate_([-+.e\d]+)_([-+.e\d]+)")
_TEXTS = ("error", "warning_text")


def write_batch(
    folder: Path, rows: Sequence[dict[str, Any]], page: str, request: OutputRequest, seconds: float
) -> pd.DataFrame:
    """Write summary, page and run.json of a batch; returns the summary."""
    import pandas as pd

    columns = _columns(rows)
    summary = pd.DataFrame(rows, columns=list(columns))
    write_tables(folder, [Table(SUMMARY, "the records, one line for each", summary, columns, digits=6)])
    write_text(folder / INDEX, page)
    states = set(summary["state"])
    state = "interrupted" if "not done" in states else "converged" if states <= {"converged"} else "not converged"
    run = describe_run(
        "batch", request, state=state, rows=int(summary["rows"].sum()), parts={row["name"]: _part(row) for row in rows},
        seconds={"batch": seconds},
    )  # fmt: skip
    write_run(folder, run, BATCH_FILES)
    return summary


def rate_column(first: float, last: float) -> str:
    """The name of the column with the mean rate over an interval."""
    return f"rate_{first:.10g}_{last:.10g}"


def intervals(row: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """The columns of rates in a row of the summary, and the two ends of their intervals."""
    return [(found[0], found[1], found[2]) for name in row if (found := _INTERVAL.fullmatch(name))]


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The columns of the summary and their meaning. Rates come before the texts."""
    found = {name: text for name, text in _COLUMNS.items() if name not in _TEXTS}
    every = dict.fromkeys(one for row in rows for one in intervals(row))
    for name, first, last in every:
        found[name] = f"mean rate from {first} to {last}"
        found |= {f"{name}_sd": "its standard deviation"}
        found |= {f"{name}_q2.5": "lower end of its 95 % range", f"{name}_q97.5": "upper end of its 95 % range"}
    if every:
        found["rate_unit"] = "unit of these rates"
    return found | {name: _COLUMNS[name] for name in _TEXTS}


def _part(row: dict[str, Any]) -> dict[str, Any]:
    diagnostics = {name: row[name] for name in ("r_hat", "ess", "conflicts", "warnings")}
    return {"diagnostics": diagnostics, **{name: row[name] for name in ("state", "rows", "seconds", "folder", "error")}}
