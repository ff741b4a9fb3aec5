"""One row for each record of a batch, done, failed or not done, and the page that shows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import LaminaError
from ..output.batch import RATE, SEPARATOR, rate_column, write_batch
from ..output.run import OutputRequest, read_run
from .index_page import Entry, render
from .tasks import Task

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]


def row_of(name: str, run: Mapping[str, Any]) -> Row:
    """The row of a record that is fitted, from what its run.json holds."""
    facts = run["diagnostics"]
    return {
        "name": name,
        "rows": run["rows"],
        "state": run["state"],
        "seconds": run["seconds"]["fit"],
        "r_hat": facts.get("r_hat", np.nan),
        "ess": facts.get("ess", np.nan),
        "conflicts": len(facts["conflicts"]),
        **_warned(run["warnings"]),
        "error": "",
        "time_runs": run["time_runs"],
        **_rates(run),
    }


def _rates(run: Mapping[str, Any]) -> Row:
    """The mean rates over the requested intervals, and their unit."""
    found = {
        f"{rate_column(one['from'], one['to'])}{end}": one[name]
        for one in run["intervals"]
        for end, name in RATE.items()
    }
    return found | ({"rate_unit": run["units"]["rate"]} if found else {})


def _warned(texts: Sequence[str]) -> Row:
    """The number of warnings, and their texts."""
    return {"warnings": len(texts), "warning_text": SEPARATOR.join(" ".join(text.split()) for text in texts)}


def failed_row(name: str, error: Exception) -> Row:
    """The row of a record that cannot be fitted."""
    text = str(error) if isinstance(error, LaminaError) else f"{type(error).__name__}: {error}"
    return _empty_row(name, "failed", " ".join(text.split()))


def _empty_row(name: str, state: str, error: str = "") -> Row:
    nothing = {"rows": 0, "seconds": np.nan, "r_hat": np.nan, "ess": np.nan, "conflicts": 0}
    return {"name": name, **nothing, **_warned([]), "state": state, "error": error}


def finished_rows(folder: Path, folders: Mapping[str, str], tasks: Iterable[Task]) -> dict[str, Row]:
    """The rows of those records that are on disk, complete, with the same data, settings and version of lamina."""
    return {task.name: row for task in tasks if (row := _read_row(folder / folders[task.name], task))}


def _read_row(folder: Path, task: Task) -> Row | None:
    """The row of one of them, or None."""
    run = read_run(folder)
    try:
        if run is None:
            return None
        row, made = row_of(task.name, run), (run["lamina"], run["settings"], run["seed"])
        complete = all((folder / name).stat().st_size == size for name, size in run["files"].items())
    except (OSError, KeyError, TypeError, AttributeError):
        return None  # damaged
    same = made == (version("lamina"), task.request.settings, task.request.seed)
    return row if same and complete and row["state"] == "converged" else None


def write_summary(
    folder: Path, folders: Mapping[str, str], found: Mapping[str, Row], request: OutputRequest, seconds: float
) -> pd.DataFrame:
    """Write the table and the page of all records; those that were not ``found`` are not done."""
    rows = [{**found.get(name, _empty_row(name, "not done")), "folder": own} for name, own in folders.items()]
    return write_batch(folder, rows, render([_entry(folder, row) for row in rows]), request, seconds)


def _entry(folder: Path, row: Row) -> Entry:
    import pandas as pd

    if row["state"] in ("failed", "not done"):
        return Entry(row, None, None)
    own = folder / row["folder"]
    return Entry(row, pd.read_csv(own / "curve.csv"), pd.read_csv(own / "inputs.csv"))
