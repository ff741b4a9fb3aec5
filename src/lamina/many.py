"""Many records through ``fit``: one folder each, one table and one page for all.

A record is fitted by one process on one core, and what is to be written comes back to the process that asked: workers
need no common disk. A record that fails does not stop the others.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from . import parallel
from .cores import at_most
from .errors import KernelError, LaminaError, MethodError
from .files import WriteError, make_folder, replacing, write_text
from .fitting import NotConverged, fit, prepare
from .index_page import Entry, render
from .intervals import checked, interval_name
from .record import Record
from .results import FILES, RUN, Asked, write

if TYPE_CHECKING:
    import pandas as pd

    from .tables import Understanding

#: Longest name of a folder.
LONGEST = 80
SUMMARY, INDEX = "summary.csv", "index.html"


@dataclass(frozen=True)
class Task:
    """One record and what to do with it."""

    name: str
    record: Record
    understanding: Understanding | None
    asked: Asked
    options: dict[str, Any]
    figures: bool


def batch(
    records: Mapping[str, Record | Understanding | LaminaError],
    out: str | Path,
    *,
    seed: int = 0,
    workers: int | None = None,
    dask: str | None = None,
    resume: bool = False,
    figures: bool = False,
    at: ArrayLike | None = None,
    intervals: list[tuple[float, float]] | None = None,
    progress: Any = None,
    **options: Any,
) -> pd.DataFrame:
    """Fit each record and write its results into a folder of its own in ``out``.

    Arguments
    ---------
    records: by name. What ``lamina.tables.read`` understood will do as well as a record, and an error that it raised is
        reported like that of a fit.
    seed: of every fit, so that a record gives the same results here as alone.
    workers: processes on this machine; by default one for each core. dask: address of a scheduler, to use its workers.
    resume: leave records alone that are finished with the same data and settings.
    figures: write figure.png, .pdf and .svg too; the reports have figures of their own.
    at, intervals: times of the tables, and intervals whose rates are told.
    progress: a function of (done, all).
    options: of ``lamina.fit``.

    Returns what summary.csv holds, one row for each record: name, folder, rows, state ("converged", "not converged",
    "failed"), seconds, r_hat, ess, conflicts, error.
    """
    import pandas as pd

    names, pairs = safe_names(records), checked(intervals or [])
    folder = Path(out)
    found: dict[str, dict[str, Any]] = {}
    tasks: list[Task] = []
    refused: list[LaminaError] = []
    for name, given in records.items():
        if isinstance(given, LaminaError):
            found[name] = _failed(name, given)
            continue
        task = _task(name, given, seed, options, at, pairs, figures)
        named = nullcontext() if task.understanding is None else task.understanding.naming_lines()
        try:
            with named:
                prepare(task.record, seed=seed, **options)
        except LaminaError as error:
            refused.append(error)
            found[name] = _failed(name, error)
            continue
        before = _finished(folder / names[name], task) if resume else None
        if before is not None:
            found[name] = before
        else:
            tasks.append(task)
    _refuse_options(refused, sum(not isinstance(given, LaminaError) for given in records.values()))
    make_folder(folder)
    _report(progress, len(found), len(records))
    for k, result in _results(tasks, workers, dask):
        task = tasks[k]
        if isinstance(result, Exception):
            found[task.name] = _failed(task.name, result)
        else:
            try:
                _write(folder / names[task.name], result["files"])
            except WriteError as error:
                raise WriteError(
                    f"{error} Records that are finished stay; go on with --resume (resume=True)."
                ) from None
            found[task.name] = result["row"]
        _report(progress, len(found), len(records))
    rows = [{**found[name], "folder": names[name]} for name in records]
    summary = pd.DataFrame(rows, columns=["name", "folder", *COLUMNS])
    write_text(folder / SUMMARY, summary.to_csv(index=False, float_format="%.6g"))
    write_text(folder / INDEX, render(_entries(folder, rows)))
    return summary


def _refuse_options(refused: list[LaminaError], read: int) -> None:
    """Raise an error of method or kernel that all records which could be read have: it is one of the options."""
    if refused and len(refused) == read and all(isinstance(error, MethodError | KernelError) for error in refused):
        raise refused[0]


COLUMNS = ("rows", "state", "seconds", "r_hat", "ess", "conflicts", "error")


def safe_names(names: Mapping[str, Any] | list[str]) -> dict[str, str]:
    """A folder name for each record: letters, digits, dots, dashes and underscores, no path.

    Raises WriteError if two records would share a folder.
    """
    found: dict[str, str] = {}
    taken: dict[str, str] = {}
    for name in names:
        safe = re.sub(r"[^\w.-]+", "_", str(name)).strip("._ ")[:LONGEST] or "record"
        other = taken.get(safe.casefold())
        if other is not None:
            raise WriteError(f"the records {other!r} and {name!r} would share the folder {safe}. Rename one of them.")
        if safe.casefold() in (SUMMARY, INDEX):
            safe += "_"
        taken[safe.casefold()] = str(name)
        found[name] = safe
    return found


def _task(name: str, given: Any, seed: int, options: dict[str, Any], at: Any, intervals: Any, figures: bool) -> Task:
    understanding = None if isinstance(given, Record) else given
    record = given if isinstance(given, Record) else given.record
    told = {key: str(value) for key, value in options.items()}
    # What makes the files of a record what they are: resume does it again if any of it is different.
    told |= {"data": fingerprint(record), "at": "" if at is None else _digest(np.asarray(at).tolist())}
    told |= {"intervals": " ".join(interval_name(*pair) for pair in intervals), "figures": str(figures)}
    return Task(name, record, understanding, Asked(at, intervals, "", seed, told, name), options, figures)


def fingerprint(record: Record) -> str:
    """Tells one record from another."""
    words = [record.order, record.t_name, record.t_unit, record.y_name, record.y_unit]
    return _digest([record.to_frame().to_csv(), *words])


def _digest(values: list[Any]) -> str:
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:16]


def _results(tasks: list[Task], workers: int | None, dask: str | None) -> Iterator[tuple[int, Any]]:
    if dask is not None:
        return parallel.on_dask(fit_one, tasks, dask)
    return parallel.local(fit_one, tasks, workers)


def fit_one(task: Task) -> dict[str, Any]:
    """Fit one record: its row of the summary, and its files as bytes. Runs on a worker."""
    # The other cores are for other records.
    with at_most(1), warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore", NotConverged)
        posterior = fit(task.record, seed=task.asked.seed, **task.options)
        facts = posterior.diagnostics
        run = write(
            posterior,
            Path(folder),
            task.asked,
            task.understanding,
            figures=task.figures,
            timings={"fit": facts["seconds"]},
        )
        files = {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}
    return {"row": _row(task.name, run), "files": files}


def _row(name: str, run: dict[str, Any]) -> dict[str, Any]:
    facts = run["diagnostics"]
    return {
        "name": name,
        "rows": run["rows"],
        "state": run["state"],
        "seconds": run["seconds"]["fit"],
        "r_hat": facts.get("r_hat", np.nan),
        "ess": facts.get("ess", np.nan),
        "conflicts": len(facts["conflicts"]),
        "error": "",
        "time_runs": run["time_runs"],
    }


def _failed(name: str, error: Exception) -> dict[str, Any]:
    said = str(error) if isinstance(error, LaminaError) else f"{type(error).__name__}: {error}"
    nothing = {"rows": 0, "seconds": np.nan, "r_hat": np.nan, "ess": np.nan, "conflicts": 0}
    return {"name": name, **nothing, "state": "failed", "error": " ".join(said.split())}


def _finished(folder: Path, task: Task) -> dict[str, Any] | None:
    """The row of a record that is finished with the same data and settings, else None."""
    try:
        run = json.loads((folder / RUN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    same = run.get("settings") == task.asked.settings and run.get("seed") == task.asked.seed
    return _row(task.name, run) if same and run.get("state") == "converged" else None


def _write(folder: Path, files: dict[str, bytes]) -> None:
    """All files of a record, run.json last: what has one is complete."""
    make_folder(folder)
    for name in reversed(FILES):  # of an earlier run, run.json first
        if name not in files or name == RUN:
            (folder / name).unlink(missing_ok=True)
    for name in sorted(files, key=lambda name: name == RUN):
        with replacing(folder / name) as partial:
            partial.write_bytes(files[name])


def _entries(folder: Path, rows: list[dict[str, Any]]) -> list[Entry]:
    import pandas as pd

    entries = []
    for row in rows:
        own = folder / row["folder"]
        curve = inputs = None
        if row["state"] != "failed":
            curve, inputs = pd.read_csv(own / "curve.csv"), pd.read_csv(own / "inputs.csv")
        entries.append(Entry(row, curve, inputs))
    return entries


def _report(progress: Any, done: int, total: int) -> None:
    if progress is not None:
        progress(done, total)
