"""Many records through ``fit``: one folder each, one table and one page for all.

A record is fitted by one process on one CPU. Its files come back to the process that asked, so workers need no common
disk. A record that fails does not stop the others.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import LaminaError, MethodError, RecordError
from ..output.batch import BATCH_FILES, SUMMARY
from ..output.folder import RUN, remove_run, write_files
from ..output.run import OutputRequest
from ..output.settings import check_settings, fit_arguments, kernel_by_name
from ..posterior.intervals import checked
from ..record import Record
from ..report import PLOTLY, write_plotly
from ..support.checks import check_whole, numbers
from ..support.files import WriteError, check_empty, existing, made_if_needed
from ..support.locks import check_unlocked, locked
from ..tables import Options, TableError, TableReading, read, split
from . import workers as parallel
from .summary import Row, failed_row, finished_rows, row_of, write_summary
from .tasks import Given, Task, describe_settings, fit_one, plan_tasks

if TYPE_CHECKING:
    import pandas as pd

#: Longest name of a folder.
LONGEST = 80
GO_ON = "Finished records are kept; continue with --resume (resume=True)."


def batch(
    records: Mapping[str, Given],
    out: str | Path,
    *,
    seed: int = 0,
    workers: int | None = None,
    dask: str | None = None,
    resume: bool = False,
    figures: bool = False,
    at: ArrayLike | None = None,
    intervals: list[tuple[float, float]] | None = None,
    progress: Callable[[int, int], None] | None = None,
    command: str = "",
    **options: Any,
) -> pd.DataFrame:
    """Fit each record and write its results into a folder of its own in ``out``.

    Arguments
    ---------
    records: by name. A record may also be what ``lamina.tables.read`` returns. An error that it raised is reported
        like that of a fit.
    seed: of every fit, so that a record gives the same results here as alone.
    workers: processes on this machine; by default one for each CPU. A single worker is this process.
    dask: address of a scheduler, to use its workers instead.
    resume: skip records that are finished with the same data, settings and version of lamina.
    figures: write figure.png, .pdf and .svg too; the reports have figures of their own.
    at, intervals: times of the tables, and intervals whose mean rates are computed.
    progress: a function of (done, all).
    command: how to do it again, for the reports.
    options: of ``lamina.fit``.

    Returns what summary.csv holds, one row for each record: name, folder, rows, state ("converged", "not converged",
    "failed"), seconds, r_hat, ess, conflicts, warnings, the rates over `intervals`, error, warning_text. If the user
    interrupts, the disk is full or the cluster is lost, summary.csv and index.html are written all the same; the state
    of the other records is then "not done".
    """
    _check(records, workers, dask)
    request = OutputRequest(
        at=_times(at), intervals=checked(intervals or []), figures=figures, seed=seed, command=command,
        folder=Path(out), resume=resume,
    )  # fmt: skip
    return _run(records, request, options, lambda tasks: _results(tasks, workers, dask), progress)


def batch_tables(
    tables: Sequence[Path],
    by: str | None,
    options: Options,
    request: OutputRequest,
    workers: int | None = None,
    dask: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """``lamina batch``: the same for tables, or the parts of one by the values of a column."""
    _check_workers(workers, dask)
    kernel = kernel_by_name(request.settings["kernel"])
    check_settings(request, kernel)
    records = read_records(tables, by, options)
    folder = request.folder
    check_unlocked(folder)
    if not request.force:
        begun = existing(folder, [SUMMARY, *(f"{own}/{RUN}" for own in safe_names(records).values())])
        if begun and not request.resume:
            raise WriteError(
                f"the folder {folder} already holds a batch. Choose another, continue it with --resume, or overwrite "
                "it with --force."
            )
        if not begun:
            check_empty(folder)
    arguments = fit_arguments(request.settings, kernel)
    try:
        return _run(records, request, arguments, lambda tasks: _results(tasks, workers, dask), progress)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("interrupted. Finished records are kept; continue with --resume.") from None


def read_records(tables: Sequence[Path], by: str | None, options: Options) -> dict[str, Given]:
    """What was understood of each record, or why it cannot be used."""
    if by is not None:
        if len(tables) != 1:
            raise MethodError("--by splits one table: give one.")
        return dict(split(tables[0], by, options))
    found: dict[str, Given] = {}
    for path in tables:
        if path.stem in found:
            other = next(one for one in tables if one.stem == path.stem)
            raise MethodError(f"two tables would share the folder {path.stem}: {other} and {path}. Rename one of them.")
        try:
            found[path.stem] = read(path, options)
        except TableError as error:
            found[path.stem] = error
    return found


def _run(
    records: Mapping[str, Given],
    request: OutputRequest,
    arguments: dict[str, Any],
    work: Callable[[list[Task]], Generator[tuple[int, Any]]],
    progress: Callable[[int, int], None] | None,
) -> pd.DataFrame:
    """Plan, fit and write; the summary is written whatever happens."""
    began, folder, folders = time.perf_counter(), request.folder, safe_names(records)
    tasks, refused = plan_tasks(records, replace(request, plotly=f"../{PLOTLY}"), arguments)
    found: dict[str, Row] = {name: failed_row(name, error) for name, error in refused.items()}
    if request.resume:
        found |= finished_rows(folder, folders, tasks)
        tasks = [task for task in tasks if task.name not in found]
    request = replace(request, settings=describe_settings(arguments, request))

    def summarise() -> pd.DataFrame:
        return write_summary(folder, folders, found, request, time.perf_counter() - began)

    with made_if_needed(folder), locked(folder):
        shared = (folder / PLOTLY).exists()
        try:
            if tasks:
                write_plotly(folder)
            _report(progress, len(found), len(records))
            with closing(work(tasks)) as results:
                for k, result in results:
                    name = tasks[k].name
                    found[name] = keep_result(folder / folders[name], name, result)
                    _report(progress, len(found), len(records))
        except (KeyboardInterrupt, LaminaError):
            found = finished_rows(folder, folders, tasks) | found  # one may just have been written
            if any(row["state"] != "failed" for row in found.values()):
                with suppress(WriteError):  # the disk may be full
                    summarise()
            elif not shared:
                with suppress(OSError):
                    (folder / PLOTLY).unlink(missing_ok=True)
            raise
        return summarise()


def _check(records: Any, workers: Any, dask: str | None) -> None:
    """Raise what would otherwise be raised only after the work, or less plainly."""
    if not isinstance(records, Mapping):
        raise RecordError(
            f"batch takes records by name, a dict such as {{'north': record}}, got {type(records).__name__}."
        )
    for name, given in records.items():
        if not isinstance(given, Record | TableReading | LaminaError):
            raise RecordError(
                f"the record {name!r} is of type {type(given).__name__}. Make a lamina.Record of it, or read its table "
                "with lamina.tables.read."
            )
    _check_workers(workers, dask)


def _check_workers(workers: Any, dask: str | None) -> None:
    if workers is not None and dask is not None:
        raise MethodError("workers (--workers) is for this machine, dask (--dask) for a cluster: give one of them.")
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


def _results(tasks: list[Task], workers: int | None, dask: str | None) -> Generator[tuple[int, Any]]:
    if dask is not None:
        return parallel.on_dask(fit_one, tasks, dask)
    return parallel.local(fit_one, tasks, workers)


def keep_result(folder: Path, name: str, result: Any) -> Row:
    """Write the files of a record that is done; returns its row."""
    if isinstance(result, WriteError):
        raise WriteError(f"a worker cannot write its files: {result} TMPDIR sets their folder. {GO_ON}")
    try:
        if isinstance(result, Exception):
            if (folder / RUN).is_file():  # results of another fit, with other data or settings
                remove_run(folder)
            return failed_row(name, result)
        write_files(folder, result["files"])
    except WriteError as error:
        with suppress(WriteError):
            remove_run(folder)  # what is there is incomplete, and the summary needs room
        raise WriteError(f"{error} {GO_ON}") from None
    return row_of(name, result["run"])


def safe_names(names: Mapping[str, Any] | list[str]) -> dict[str, str]:
    """A folder name for each record: letters, digits, dots, dashes and underscores, no path.

    Raises WriteError if two records would share a folder.
    """
    found: dict[str, str] = {}
    taken: dict[str, str] = {}
    for name in names:
        safe = re.sub(r"[^\w.-]+", "_", str(name)).strip("._ ")[:LONGEST] or "record"
        if safe.casefold() in BATCH_FILES:
            safe += "_"
        other = taken.get(safe.casefold())
        if other is not None:
            raise WriteError(f"the records {other!r} and {name!r} would share the folder {safe}. Rename one of them.")
        taken[safe.casefold()] = str(name)
        found[name] = safe
    return found


def _report(progress: Callable[[int, int], None] | None, done: int, total: int) -> None:
    if progress is not None:
        progress(done, total)
