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
from collections.abc import Generator, Mapping
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .. import __version__
from ..errors import KernelError, LaminaError, MethodError, RecordError
from ..fitting import NotConverged, fit, prepare
from ..output.folder import RUN, Asked, remove_run, write
from ..posterior.intervals import checked, interval_name
from ..record import Record
from ..support.checks import check_whole, numbers
from ..support.cpus import at_most
from ..support.files import WriteError, make_folder, replacing, write_text
from ..tables import Understanding
from . import workers as parallel
from .index_page import Entry, render

if TYPE_CHECKING:
    import pandas as pd

#: Longest name of a folder.
LONGEST = 80
SUMMARY, INDEX = "summary.csv", "index.html"
#: Of the summary, after the name of the record and its folder.
COLUMNS = ("rows", "state", "seconds", "r_hat", "ess", "conflicts", "error")


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
    command: str = "",
    **options: Any,
) -> pd.DataFrame:
    """Fit each record and write its results into a folder of its own in ``out``.

    Arguments
    ---------
    records: by name. What ``lamina.tables.read`` understood will do as well as a record, and an error that it raised is
        reported like that of a fit.
    seed: of every fit, so that a record gives the same results here as alone.
    workers: processes on this machine; by default one for each core, and of one this process is the worker.
    dask: address of a scheduler, to use its workers instead.
    resume: leave records alone that are finished with the same data, settings and version of lamina.
    figures: write figure.png, .pdf and .svg too; the reports have figures of their own.
    at, intervals: times of the tables, and intervals whose rates are told.
    progress: a function of (done, all).
    command: how to do it again, for the reports.
    options: of ``lamina.fit``.

    Returns what summary.csv holds, one row for each record: name, folder, rows, state ("converged", "not converged",
    "failed"), seconds, r_hat, ess, conflicts, error. If the user interrupts, the disk is full or the cluster is lost,
    summary.csv and index.html are written all the same, the state of the other records being "not done".
    """
    _check(records, workers, dask)
    names, times, pairs = safe_names(records), _times(at), checked(intervals or [])
    folder, told = Path(out), _told(options, times, pairs, figures)
    tasks, found = _prepared(records, Asked(times, pairs, command, seed, told), options, figures)
    if resume:
        found |= _finished(folder, names, tasks)
        tasks = [task for task in tasks if task.name not in found]
    new = not folder.exists()
    make_folder(folder)
    try:
        _report(progress, len(found), len(records))
        with closing(_results(tasks, workers, dask)) as results:
            for k, result in results:
                name = tasks[k].name
                found[name] = _kept(folder / names[name], name, result)
                _report(progress, len(found), len(records))
    except (KeyboardInterrupt, LaminaError):
        found = _finished(folder, names, tasks) | found  # one may just have been written
        if any(row["state"] != "failed" for row in found.values()):
            with suppress(WriteError):  # the disk may be full
                _sum_up(folder, names, {name: _row_of_nothing(name, "not done") for name in names} | found)
        elif new:
            with suppress(OSError):
                folder.rmdir()
        raise
    return _sum_up(folder, names, found)


def _check(records: Any, workers: Any, dask: str | None) -> None:
    """Raise what could be told only after the work, or not plainly, otherwise."""
    if not isinstance(records, Mapping):
        raise RecordError(
            f"batch takes records by name, a dict such as {{'north': record}}, got {type(records).__name__}."
        )
    for name, given in records.items():
        if not isinstance(given, Record | Understanding | LaminaError):
            raise RecordError(
                f"the record {name!r} is of type {type(given).__name__}. Make a lamina.Record of it, or read its table "
                "with lamina.tables.read."
            )
    if workers is not None and dask is not None:
        raise MethodError("workers is for this machine, dask for a cluster: give one of them.")
    if workers is not None:
        check_whole("workers", workers, 1)


def _times(at: ArrayLike | None) -> np.ndarray | None:
    """The times of the tables. Raises RecordError for what no table can have."""
    if at is None:
        return None
    found = numbers("at", [at] if np.isscalar(at) else at)
    if not found.size:
        raise RecordError("at holds no times. Give some, or leave it out.")
    return found


def _prepared(
    records: Mapping[str, Record | Understanding | LaminaError], asked: Asked, options: dict[str, Any], figures: bool
) -> tuple[list[Task], dict[str, dict[str, Any]]]:
    """What is to be fitted, and the rows of what cannot be.

    An error of method or kernel that all records have which could be read is one of the options, and is raised; so is
    the first error, if no record at all could be read.
    """
    tasks: list[Task] = []
    found: dict[str, dict[str, Any]] = {}
    refused: list[LaminaError] = []
    for name, given in records.items():
        if isinstance(given, LaminaError):
            found[name] = _failed(name, given)
            continue
        understanding, record = (None, given) if isinstance(given, Record) else (given, given.record)
        try:
            with nullcontext() if understanding is None else understanding.naming_lines():
                prepare(record, seed=asked.seed, **options)
        except LaminaError as error:
            refused.append(error)
            found[name] = _failed(name, error)
        else:
            settings = asked.settings | {"data": fingerprint(record)}
            own = replace(asked, settings=settings, table=_table_name(name, understanding))
            tasks.append(Task(name, record, understanding, own, options, figures))
    if refused and not tasks and all(isinstance(error, MethodError | KernelError) for error in refused):
        raise refused[0]
    unread = [given for given in records.values() if isinstance(given, LaminaError)]
    if len(unread) == len(records) == 1:
        raise unread[0]
    if unread and len(unread) == len(records):
        raise type(unread[0])(f"none of {len(unread)} records can be read. {unread[0]}")
    return tasks, found


def _table_name(name: str, understanding: Understanding | None) -> str:
    """A record as its report calls it: with the file that it is a part of."""
    if understanding is None:
        return name
    path = understanding.path
    return path.name if path.stem == name else f"{name} in {path.name}"


def _kept(folder: Path, name: str, result: Any) -> dict[str, Any]:
    """The row of a record that is done, its files written."""
    go_on = "Records that are finished stay; go on with --resume (resume=True)."
    if isinstance(result, WriteError):
        raise WriteError(f"a worker has no room for its files: {result} Its place is that of TMPDIR. {go_on}")
    try:
        if isinstance(result, Exception):
            if (folder / RUN).is_file():  # results of another fit, with other data or settings
                remove_run(folder)
            return _failed(name, result)
        _write(folder, result["files"])
    except WriteError as error:
        with suppress(WriteError):
            remove_run(folder)  # what is there is not whole, and the table of all records needs room
        raise WriteError(f"{error} {go_on}") from None
    row: dict[str, Any] = result["row"]
    return row


def _sum_up(folder: Path, names: Mapping[str, str], found: Mapping[str, dict[str, Any]]) -> pd.DataFrame:
    """Write the table and the page of the records that have been done."""
    import pandas as pd

    rows = [{**found[name], "folder": own} for name, own in names.items() if name in found]
    summary = pd.DataFrame(rows, columns=["name", "folder", *COLUMNS])
    write_text(folder / SUMMARY, summary.to_csv(index=False, float_format="%.6g"))
    write_text(folder / INDEX, render(_entries(folder, rows)))
    return summary


def safe_names(names: Mapping[str, Any] | list[str]) -> dict[str, str]:
    """A folder name for each record: letters, digits, dots, dashes and underscores, no path.

    Raises WriteError if two records would share a folder.
    """
    found: dict[str, str] = {}
    taken: dict[str, str] = {}
    for name in names:
        safe = re.sub(r"[^\w.-]+", "_", str(name)).strip("._ ")[:LONGEST] or "record"
        if safe.casefold() in (SUMMARY, INDEX):
            safe += "_"
        other = taken.get(safe.casefold())
        if other is not None:
            raise WriteError(f"the records {other!r} and {name!r} would share the folder {safe}. Rename one of them.")
        taken[safe.casefold()] = str(name)
        found[name] = safe
    return found


def _told(options: dict[str, Any], at: np.ndarray | None, intervals: Any, figures: bool) -> dict[str, str]:
    """What makes the files of a record what they are, beside its data: resume does it again if any is different."""
    told = {key: _text(value) for key, value in options.items()}
    told |= {"at": "" if at is None else _digest(at.tolist()), "figures": str(figures)}
    return told | {"intervals": " ".join(interval_name(*pair) for pair in intervals)}


def _text(value: Any) -> str:
    """A setting as text. Tables of numbers, such as members, are told by a digest: as text they would be shortened."""
    table = np.asarray(value, dtype=object)
    return _digest(table.tolist()) if table.ndim > 1 else str(value)


def fingerprint(record: Record) -> str:
    """Tells one record from another."""
    words = [record.order, record.t_name, record.t_unit, record.y_name, record.y_unit, record.depth_unit]
    return _digest([record.to_frame().to_csv(), *words])


def _digest(values: list[Any]) -> str:
    return hashlib.sha256(json.dumps(values, default=str).encode()).hexdigest()[:16]


def _results(tasks: list[Task], workers: int | None, dask: str | None) -> Generator[tuple[int, Any]]:
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
        if facts["interrupted"]:  # the fit has kept what there is, but the user wants the batch to end
            raise KeyboardInterrupt
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
    return _row_of_nothing(name, "failed", " ".join(said.split()))


def _row_of_nothing(name: str, state: str, error: str = "") -> dict[str, Any]:
    nothing = {"rows": 0, "seconds": np.nan, "r_hat": np.nan, "ess": np.nan, "conflicts": 0}
    return {"name": name, **nothing, "state": state, "error": error}


def _finished(folder: Path, names: Mapping[str, str], tasks: list[Task]) -> dict[str, dict[str, Any]]:
    """The rows of those records that are on disk, finished with the same data and settings."""
    return {task.name: row for task in tasks if (row := _read_row(folder / names[task.name], task))}


def _read_row(folder: Path, task: Task) -> dict[str, Any] | None:
    """The row of one of them, or None."""
    try:
        run = json.loads((folder / RUN).read_text(encoding="utf-8"))
        row, made = _row(task.name, run), (run["lamina"], run["settings"], run["seed"])
        whole = all((folder / name).stat().st_size == size for name, size in run["files"].items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None  # there is none, or it is damaged
    same = made == (__version__, task.asked.settings, task.asked.seed)
    return row if same and whole and row["state"] == "converged" else None


def _write(folder: Path, files: dict[str, bytes]) -> None:
    """All files of a record, run.json last: what has one is complete."""
    make_folder(folder)
    remove_run(folder, keep=[name for name in files if name != RUN])
    for name in sorted(files, key=lambda name: name == RUN):
        with replacing(folder / name) as partial:
            partial.write_bytes(files[name])


def _entries(folder: Path, rows: list[dict[str, Any]]) -> list[Entry]:
    import pandas as pd

    entries = []
    for row in rows:
        own = folder / row["folder"]
        curve = inputs = None
        if row["state"] not in ("failed", "not done"):
            curve, inputs = pd.read_csv(own / "curve.csv"), pd.read_csv(own / "inputs.csv")
        entries.append(Entry(row, curve, inputs))
    return entries


def _report(progress: Any, done: int, total: int) -> None:
    if progress is not None:
        progress(done, total)
