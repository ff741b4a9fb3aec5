"""Progress on a terminal; in a pipe or a log, a line now and then."""

from __future__ import annotations

import json
import logging
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .terminal import complain

#: The bar is full when the slowest quantity has this many effective draws: ``lamina.support.convergence.ESS``, written
#: again because importing it takes time, for which --help should not wait.
ESS = 400.0
#: Seconds between two lines where standard error is not a terminal.
EVERY = 30.0
#: With this environment variable set to "json", progress is written for programs: one line of JSON at a time.
FOR_PROGRAMS = "LAMINA_PROGRESS"


class _Notes(logging.Handler):
    """Shows what lamina logs, such as that code is compiled."""

    def __init__(self, show: Callable[[str], None]) -> None:
        super().__init__()
        self.show = show

    def emit(self, record: logging.LogRecord) -> None:
        self.show(record.getMessage())


@contextmanager
def _notes(show: Callable[[str], None] | None) -> Iterator[None]:
    """Inside, notes are shown, unless nobody wants to see them."""
    if show is None:
        yield
        return
    log, handler = logging.getLogger("lamina"), _Notes(show)
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before)


@contextmanager
def bar(title: str, quiet: bool = False) -> Iterator[Callable[[int, int], None] | None]:
    """A function of (done, all) that moves a bar on standard error, or writes a line now and then; None if quiet."""
    if quiet or not sys.stderr.isatty():
        with _notes(None if quiet else complain):
            write = _now_and_then()
            yield None if quiet else lambda done, total: write(f"{title}: {done:,} of {total:,}")
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with (
        Progress(*columns, console=Console(stderr=True), transient=True) as shown,
        _notes(lambda note: shown.console.print(note)),
    ):
        task = shown.add_task(title)
        yield lambda done, total: shown.update(task, completed=done, total=total)


@contextmanager
def sampling(quiet: bool = False) -> Iterator[Callable[[dict[str, Any]], None] | None]:
    """A function for ``fit(progress=...)`` that shows sweeps, R-hat and effective draws.

    On a terminal it moves a bar; elsewhere it writes a line now and then, or JSON for a program (``FOR_PROGRAMS``).
    None if quiet.
    """
    if os.environ.get(FOR_PROGRAMS) == "json":
        with _notes(lambda note: write_line({"stage": "compiling", "note": note})):
            yield write_line
        return
    if quiet or not sys.stderr.isatty():
        with _notes(None if quiet else complain):
            write = _now_and_then()
            yield None if quiet else lambda state: write(f"{state['stage']}, {_text(state)}")
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("warm-up", total=None, state="starting")

        def show(state: dict[str, Any]) -> None:
            if "note" in state:
                shown.console.print(state["note"])
            done = min(state.get("ess", 0.0), ESS)
            shown.update(task, description=state["stage"], total=ESS, completed=done, state=_text(state))

        yield show


def _text(state: dict[str, Any]) -> str:
    """Where the sampler is, in words."""
    text = f"{state['sweeps']:,} sweeps"
    if "ess" in state:
        text += f", R-hat {state['r_hat']:.3f}, {state['ess']:.0f} effective draws of {ESS:.0f}"
    return text


def _now_and_then() -> Callable[[str], None]:
    """A function that writes a line to standard error, each once, and none for a while after the start or another."""
    begun = last = time.monotonic()
    before = ""

    def write(text: str) -> None:
        nonlocal last, before
        now = time.monotonic()
        if now - last >= EVERY and text != before:
            complain(f"{text} ({now - begun:.0f} s)")
            last, before = now, text

    return write


def write_line(state: dict[str, Any]) -> None:
    """Write progress to standard error as one line of JSON: stage, sweeps, r_hat, ess and the ess that is enough.

    If nobody reads it any more, the run is interrupted: the program that has started it has ended.
    """
    known = {name: value for name, value in state.items() if not isinstance(value, float) or math.isfinite(value)}
    try:
        print(json.dumps({**known, "enough_ess": ESS}, default=str), file=sys.stderr, flush=True)
    except BrokenPipeError:
        raise KeyboardInterrupt from None
