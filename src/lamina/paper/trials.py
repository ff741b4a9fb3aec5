"""The trials of an experiment, run on all CPUs. Each result is stored at once, so an interrupted run can continue."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..batches.workers import local
from ..support.files import WriteError

#: The settings of one trial, which identify it. Its result is a list of table rows.
Trial = tuple[str | int | float, ...]
Rows = list[dict[str, Any]]
#: Called with the number of finished trials and the number of all.
Progress = Callable[[int, int], None]


def run_trials(
    trials: Sequence[Trial],
    work: Callable[[Trial], Rows],
    store: Path | None = None,
    cpus: int | None = None,
    progress: Progress | None = None,
) -> Rows:
    """All rows of all trials, in the order of the trials.

    store: a file of JSON lines. Trials in it are not run again; every new result is appended.
    """
    found = _read(store) if store else {}
    missing = [trial for trial in trials if _key(trial) not in found]
    done = len(trials) - len(missing)
    if progress is not None:
        progress(done, len(trials))
    for k, rows in local(work, missing, cpus):
        if isinstance(rows, Exception):
            raise rows
        found[_key(missing[k])] = rows
        done += 1
        if store:
            _append(store, missing[k], rows)
        if progress is not None:
            progress(done, len(trials))
    return [row for trial in trials for row in found[_key(trial)]]


def _key(trial: Trial) -> str:
    return json.dumps(trial)


def _read(store: Path) -> dict[str, Rows]:
    """The stored results. An interrupt may have cut the last line short."""
    found: dict[str, Rows] = {}
    if not store.is_file():
        return found
    for line in store.read_text(encoding="utf-8").splitlines():
        try:
            trial, rows = json.loads(line)
        except ValueError:
            continue
        found[_key(trial)] = rows
    return found


def _append(store: Path, trial: Trial, rows: Rows) -> None:
    try:
        with store.open("a", encoding="utf-8") as file:
            file.write("\n" + json.dumps([trial, rows]))
    except OSError as error:
        raise WriteError(f"cannot write {store}: {error.strerror or error}. Finished trials are kept.") from None
