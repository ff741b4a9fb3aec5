"""Runs of the ``lamina`` command, one process each, of which so many work at a time as there are CPUs for."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ..errors import LaminaError
from ..support.cpus import available_cpus
from .commands import worded

State = Literal["queued", "running", "stopping", "converged", "not converged", "interrupted", "refused", "crashed"]
#: CPUs that one run uses: by default a sampler has four chains.
CPUS_A_RUN = 4
#: Seconds that a run has to write what there is when the server ends.
PATIENCE = 5.0
MOST_WAITING, MOST_TEXT = 100, 20_000
#: How a run has ended, by the exit code of the command.
ENDS: dict[int, State] = {0: "converged", 3: "not converged", 2: "refused", 130: "interrupted", 143: "interrupted"}
OVER = ("converged", "not converged", "interrupted", "refused", "crashed")
#: The command line, which does not look for modules in the folder that it runs in.
PROGRAM = (sys.executable, "-P", "-m", "lamina")
_WINDOWS = sys.platform == "win32"


class JobError(LaminaError):
    """A run cannot begin, or is not there."""


@dataclass
class Job:
    """One run: its command, where it writes, how far it is, and what it said."""

    key: int
    words: list[str]
    folder: str
    table: str
    source: str = ""  #: the key of the table among those that were dropped
    state: State = "queued"
    progress: dict[str, Any] = field(default_factory=dict)
    said: str = ""
    written: bool = False
    began: float | None = None
    ended: float | None = None
    process: asyncio.subprocess.Process | None = None

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.state in OVER

    def public(self) -> dict[str, Any]:
        """What the page may know of it."""
        now = time.monotonic() if self.ended is None else self.ended
        return {
            "key": self.key, "command": worded(self.words), "folder": self.folder, "table": self.table,
            "source": self.source, "state": self.state, "progress": self.progress, "said": self.said, "over": self.over,
            "written": self.written, "seconds": 0.0 if self.began is None else round(now - self.began, 1),
        }  # fmt: skip


class Jobs:
    """The queue. ``changed`` is set and replaced at every change, so that any number of pages can wait for it."""

    def __init__(self, folder: Path, at_once: int | None = None, program: Sequence[str] = PROGRAM) -> None:
        self.folder, self.program = folder, program
        self.at_once = at_once or max(1, available_cpus() // CPUS_A_RUN)
        self.jobs: dict[int, Job] = {}
        self.tasks: set[asyncio.Task[None]] = set()
        self.changed = asyncio.Event()
        self.closed = False

    def get(self, key: int) -> Job:
        """A run by its key. Raises JobError if there is none."""
        if key not in self.jobs:
            raise JobError("There is no such run.")
        return self.jobs[key]

    def add(self, words: Sequence[str], out: str, table: str, *more: str, source: str = "") -> Job:
        """Queue a run that writes into the folder ``out``. Raises JobError if too many wait already."""
        if sum(not job.over for job in self.jobs.values()) >= MOST_WAITING:
            raise JobError(f"{MOST_WAITING} runs are waiting already. Stop some of them.")
        job = Job(len(self.jobs) + 1, [*words, "--out", out, *more], out, table, source)
        self.jobs[job.key] = job
        self._next()
        return job

    def stop(self, job: Job) -> None:
        """Interrupt a run, which keeps what there is; take one that waits out of the queue."""
        if job.state == "queued":
            job.state, job.said = "interrupted", "Stopped before it began. Nothing is written."
        elif job.state == "running":  # a second interrupt would keep it from writing what there is
            job.state = "stopping"
            _signal(job, signal.SIGINT)
        self._tell()

    def taken(self) -> set[str]:
        """The folders that runs write into, or will."""
        return {job.folder for job in self.jobs.values() if not job.over}

    async def watch(self) -> AsyncIterator[list[dict[str, Any]]]:
        """All runs, at once and after every change, until the server ends."""
        while not self.closed:
            changed = self.changed
            yield [job.public() for job in self.jobs.values()]
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), 15.0)

    async def close(self) -> None:
        """End every run: first by an interrupt, so that it keeps what there is, then by force."""
        self.closed = True
        for job in self.jobs.values():
            self.stop(job)
        if self.tasks:
            await asyncio.wait(self.tasks, timeout=PATIENCE)
        self.kill()
        if self.tasks:
            await asyncio.wait(self.tasks, timeout=PATIENCE)

    def kill(self) -> None:
        """End what still runs by force."""
        for job in self.jobs.values():
            if job.process is not None and job.process.returncode is None:
                _signal(job, signal.SIGTERM if _WINDOWS else signal.SIGKILL)

    def _next(self) -> None:
        working = sum(job.state in ("running", "stopping") for job in self.jobs.values())
        for job in self.jobs.values():
            if job.state == "queued" and working < self.at_once and not self.closed:
                job.state, job.began = "running", time.monotonic()
                working += 1
                task = asyncio.create_task(self._run(job))
                self.tasks.add(task)
                task.add_done_callback(self.tasks.discard)
        self._tell()

    def _tell(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()

    async def _run(self, job: Job) -> None:
        try:
            job.process = await asyncio.create_subprocess_exec(
                *(*self.program, *job.words),
                cwd=self.folder,
                env={**os.environ, "LAMINA_PROGRESS": "json"},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=not _WINDOWS,
            )
            if job.state == "stopping":  # before there was a process to interrupt
                _signal(job, signal.SIGINT)
            said, _ = await asyncio.gather(self._errors(job), _drained(job.process.stdout))
            code = await job.process.wait()
        except (OSError, ValueError) as error:  # of which the second is a text that no process can be given
            said, code = f"The run cannot begin: {getattr(error, 'strerror', None) or error}.", 1
        job.ended, job.state = time.monotonic(), ENDS.get(code, "crashed")
        job.written = job.state not in ("refused", "crashed") and (self.folder / job.folder / "run.json").is_file()
        job.said = said or ("" if job.state == "converged" else f"The run has ended with the code {code}.")
        if job.state == "crashed":
            job.said = f"The run has crashed (code {code}). {said}".strip()
        self._next()

    async def _errors(self, job: Job) -> str:
        """Read standard error to its end: lines of JSON are progress, all others are what the command says."""
        assert job.process is not None
        assert job.process.stderr is not None
        said: list[str] = []
        async for line in _lines(job.process.stderr):
            found = _progress(line)
            if found is not None:
                job.progress = found
                self._tell()
            elif sum(map(len, said)) < MOST_TEXT:
                said.append(line.removeprefix("lamina: "))
        return "\n".join(said)


async def _lines(stream: asyncio.StreamReader) -> AsyncIterator[str]:
    """The lines of a stream, of which none fails because it is long."""
    rest = b""
    while chunk := await stream.read(65_536):
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line.decode("utf-8", "replace").rstrip()
        rest = rest[-MOST_TEXT:]
    if rest:
        yield rest.decode("utf-8", "replace").rstrip()


async def _drained(stream: asyncio.StreamReader | None) -> None:
    assert stream is not None
    while await stream.read(65_536):
        pass


def _progress(line: str) -> dict[str, Any] | None:
    if not line.startswith("{"):
        return None
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _signal(job: Job, number: int) -> None:
    """To all processes of a run. Windows has no interrupts for others: there the run ends without keeping anything."""
    if job.process is None or job.process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if _WINDOWS:
            job.process.terminate()
        else:
            os.killpg(job.process.pid, number)
