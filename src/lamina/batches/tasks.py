"""The records of a batch, each with what is to be done with it, and the work itself."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import KernelError, LaminaError, MethodError
from ..fitting import Fit, NotConverged, prepare
from ..methods.registry import METHODS
from ..model.problem import Problem
from ..output.fit import write_fit
from ..output.run import OutputRequest
from ..posterior.intervals import interval_name
from ..record import Record
from ..support.cpus import at_most
from ..support.files import scratch_folder
from ..tables import TableReading

Given = Record | TableReading | LaminaError


@dataclass(frozen=True)
class Task:
    """One record and what to do with it."""

    name: str
    reading: TableReading | None
    request: OutputRequest
    method: str
    problem: Problem
    options: dict[str, Any]  #: of the method


def plan_tasks(
    records: Mapping[str, Given], request: OutputRequest, arguments: dict[str, Any]
) -> tuple[list[Task], dict[str, LaminaError]]:
    """What is to be fitted, and why the other records cannot be.

    An error of method or kernel that all records have which could be read is one of the options, and is raised; so is
    the first error, if no record at all could be read.
    """
    settings = describe_settings(arguments, request)
    tasks: list[Task] = []
    refused: dict[str, LaminaError] = {}
    unread = {name: given for name, given in records.items() if isinstance(given, LaminaError)}
    for name, given in records.items():
        if isinstance(given, LaminaError):
            continue
        reading, record = (None, given) if isinstance(given, Record) else (given, given.record)
        try:
            with nullcontext() if reading is None else reading.naming_lines():
                fit = prepare(record, seed=request.seed, **arguments)
        except LaminaError as error:
            refused[name] = error
        else:
            own = replace(request, settings=settings | {"data": fingerprint(record)}, table=_table_name(name, reading))
            tasks.append(Task(name, reading, own, fit.method.name, fit.problem, fit.options))
    if refused and not tasks and all(isinstance(error, MethodError | KernelError) for error in refused.values()):
        raise next(iter(refused.values()))
    if unread and len(unread) == len(records):
        first = next(iter(unread.values()))
        raise first if len(unread) == 1 else type(first)(f"none of {len(unread)} records can be read. {first}")
    return tasks, unread | refused


def fit_one(task: Task) -> dict[str, Any]:
    """Fit one record: what its run.json holds, and its files as bytes. Runs on a worker."""
    # The other CPUs are for other records.
    with at_most(1), warnings.catch_warnings(), scratch_folder() as folder:
        warnings.simplefilter("ignore", NotConverged)
        posterior = Fit(METHODS[task.method], task.problem, task.request.seed, task.options).run()
        facts = posterior.diagnostics
        if facts["interrupted"]:  # the fit returns what it has, but the user wants the batch to end
            raise KeyboardInterrupt
        run = write_fit(posterior, folder, task.request, task.reading, {"fit": facts["seconds"]})
        files = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    return {"run": run, "files": files}


def describe_settings(arguments: Mapping[str, Any], request: OutputRequest) -> dict[str, str]:
    """What makes the files of a record what they are, beside its data: resume fits again if any of it differs."""
    settings = {key: _text(value) for key, value in arguments.items()}
    at = "" if request.at is None else _digest(np.asarray(request.at).tolist())
    intervals = " ".join(interval_name(*pair) for pair in request.intervals)
    return settings | {"at": at, "figures": str(request.figures), "intervals": intervals}


def fingerprint(record: Record) -> str:
    """Differs between records that differ in anything."""
    words = [record.order, record.t_name, record.t_unit, record.y_name, record.y_unit, record.depth_unit]
    return _digest([record.to_frame().to_csv(), *words])


def _text(value: Any) -> str:
    """A setting as text. Tables of numbers, such as members, become a digest: as text they would be shortened."""
    table = np.asarray(value, dtype=object)
    return _digest(table.tolist()) if table.ndim > 1 else str(value)


def _digest(values: list[Any]) -> str:
    return hashlib.sha256(json.dumps(values, default=str).encode()).hexdigest()[:16]


def _table_name(name: str, reading: TableReading | None) -> str:
    """A record as its report calls it: with the file that it is a part of."""
    if reading is None:
        return name
    return reading.path.name if reading.path.stem == name else f"{name} in {reading.path.name}"
