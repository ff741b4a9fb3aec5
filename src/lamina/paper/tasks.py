"""Many small pieces of work on all cores, each kept as soon as it is done, so that an interrupted run goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..batches.workers import local
from ..support.files import WriteError

#: A task is told apart by what it is made of; its result is a list of rows.
Task = tuple[str | int | float, ...]
Rows = list[dict[str, Any]]
#: Called with the number of tasks done, and of all.
Progress = Callable[[int, int], None]


def run(
    tasks: Sequence[Task],
    work: Callable[[Task], Rows],
    store: Path | None = None,
    cores: int | None = None,
    progress: Progress | None = None,
) -> Rows:
    """All rows of all tasks, in the order of the tasks.

    With a ``store`` (a file of JSON lines), what it holds is not done again, and every result is added to it at once.
    """
    found = _known(store) if store else {}
    missing = [task for task in tasks if _key(task) not in found]
    done = len(tasks) - len(missing)
    if progress is not None:
        progress(done, len(tasks))
    for k, rows in local(work, missing, cores):
        if isinstance(rows, Exception):
            raise rows
        found[_key(missing[k])] = rows
        done += 1
        if store:
            _add(store, missing[k], rows)
        if progress is not None:
            progress(done, len(tasks))
    return [row for task in tasks for row in found[_key(task)]]


def _key(task: Task) -> str:
    return json.dumps(task)


def _known(store: Path) -> dict[str, Rows]:
    """What a store holds. Its last line may have been cut short."""
    found: dict[str, Rows] = {}
    if not store.is_file():
        return found
    for line in store.read_text(encoding="utf-8").splitlines():
        try:
            task, rows = json.loads(line)
        except ValueError:
            continue
        found[_key(task)] = rows
    return found


def _add(store: Path, task: Task, rows: Rows) -> None:
    try:
        with store.open("a", encoding="utf-8") as file:
            file.write("\n" + json.dumps([task, rows]))
    except OSError as error:
        raise WriteError(f"cannot write {store}: {error.strerror or error}. What is done so far is kept.") from None
