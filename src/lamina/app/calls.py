"""What scripts of the pages ask the server: tables, runs and files, as JSON."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from ..errors import LaminaError
from ..support.files import joined_checksum
from . import history
from .commands import Command, CommandError, of_run, worded
from .guard import REPORT_POLICY
from .jobs import Job, JobError
from .shelf import ShelfError, Shelved
from .state import State

#: Bytes of a request that is not a table.
MOST_REQUEST_BYTES = 1_000_000


def state_of(request: Request) -> State:
    """What the server holds."""
    state: State = request.app.state.lamina
    return state


async def _body(request: Request) -> dict[str, Any]:
    data = b""
    async for chunk in request.stream():
        data += chunk
        if len(data) > MOST_REQUEST_BYTES:
            raise CommandError("The request is too large.")
    try:
        found = json.loads(data or b"{}")
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise CommandError("The request is not in JSON.")
    return found


def _command(state: State, name: Any) -> Command:
    if name not in state.commands:
        raise CommandError(f"The app runs {', '.join(state.commands)}.")
    return state.commands[name]


# --- tables ----------------------------------------------------------------------------------------------------------


async def take(request: Request) -> Response:
    """Take a table: the body is the file, a header its name."""
    name = unquote(request.headers.get("x-name", ""))
    table = await state_of(request).shelf.receive(name, request.stream())
    return JSONResponse({"key": table.key, "name": table.name})


async def choose(request: Request) -> Response:
    """Take a table that is embedded, or lies in the folder."""
    shelf, asked = state_of(request).shelf, await _body(request)
    chosen = shelf.embed(str(asked["embedded"])) if "embedded" in asked else shelf.open(str(asked.get("name")))
    return JSONResponse({"key": chosen.key})


async def read(request: Request) -> Response:
    """How a table is read with some options: what ``lamina check`` says, and the command that fits it."""
    state, asked = state_of(request), await _body(request)
    table, values = state.shelf.get(request.path_params["key"]), asked.get("options") or {}
    command = _command(state, asked.get("command", "fit"))
    chosen = command.chosen(values)
    reading = {name: value for name, value in chosen.items() if name in command.reading}
    others = {one.name for one in command.options if one.kind == "file"} & set(chosen)
    paths = {name: str(_other_table(state, chosen[name])) for name in others}
    reading |= {name: path for name, path in paths.items() if name in reading}
    files = {name: path for name, path in paths.items() if name not in reading}
    understood = await state.tables.ask(
        "understand", path=str(table.path), options=reading, command=command.name, files=files
    )
    table.choices = {"command": command.name, "options": chosen}
    return JSONResponse({**understood, "command": worded(command.arguments(table.name, chosen))})


def _other_table(state: State, name: str) -> Path:
    """A second table by its name: one that was dropped, or one in the folder."""
    for table in reversed(state.shelf.tables.values()):
        if table.name == name:
            return table.path
    return state.shelf.open(name).path


# --- runs ------------------------------------------------------------------------------------------------------------


async def begin(request: Request) -> Response:
    """Queue a run."""
    state, asked = state_of(request), await _body(request)
    table = state.shelf.get(str(asked.get("key")))
    command = _command(state, asked.get("command"))
    job = _queue(state, command, table, command.chosen(asked.get("options") or {}))
    return JSONResponse({"job": job.key})


def _queue(state: State, command: Command, table: Shelved, values: dict[str, Any]) -> Job:
    table.choices = {"command": command.name, "options": dict(values)}
    name = state.shelf.keep(table)
    for option in command.options:
        if option.kind == "file" and option.name in values:
            values[option.name] = _kept(state, values[option.name])
    words, out = command.arguments(name, values), state.free_folder(name, command)
    return state.jobs.add(words, out, name, source=table.key)


def _kept(state: State, name: str) -> str:
    path = _other_table(state, name)
    known = [one for one in state.shelf.tables.values() if one.path == path]
    return state.shelf.keep(known[0]) if known else name


async def again(request: Request) -> Response:
    """Continue a run, or make it again with some options changed: a list adds to what the run had."""
    state, asked = state_of(request), await _body(request)
    folder, command, table, values = _made(state, str(asked.get("name")))
    if asked.get("resume"):
        if _busy(state, folder):
            raise JobError("This run is still working, or waits to continue.")
        words, out = command.arguments(table.name, values), folder.relative_to(state.folder).as_posix()
        job = state.jobs.add(words, out, table.name, "--resume", source=table.key)
        return JSONResponse({"job": job.key})
    for name, value in dict(asked.get("change") or {}).items():
        before = values.get(name, [])
        values[name] = list(dict.fromkeys([*before, *map(str, value)])) if isinstance(value, list) else value
    return JSONResponse({"job": _queue(state, command, table, command.chosen(values)).key})


async def reopen(request: Request) -> Response:
    """The table of a run, with the options of the run chosen."""
    state, asked = state_of(request), await _body(request)
    _, command, table, values = _made(state, str(asked.get("name")))
    table.choices = {"command": command.name, "options": values}
    return JSONResponse({"key": table.key, "name": table.name})


def _made(state: State, name: str) -> tuple[Path, Command, Shelved, dict[str, Any]]:
    """How a run was made: its folder, command, table and options. Raises ShelfError if its table is not there."""
    folder = history.find(state.folder, name)
    run = history.read(folder)
    command, file, values = of_run(run, state.commands)
    names = [file, *([values["dates"]] if "dates" in values else [])]
    for one in names:
        if not state.shelf.has(one):
            raise ShelfError(
                f"The table of this run, {one}, is not in the folder {state.folder}. Drop it on the first page."
            )
    tables = [state.shelf.open(one) for one in names]
    if joined_checksum(*(table.sha256 for table in tables)) != run.get("sha256"):
        which = " or ".join(names)
        raise ShelfError(f"The table {which} has changed since this run. Open it from the first page instead.")
    return folder, command, tables[0], values


async def stop(request: Request) -> Response:
    """Stop a run."""
    state = state_of(request)
    state.jobs.stop(state.jobs.get(request.path_params["key"]))
    return JSONResponse({})


async def events(request: Request) -> Response:
    """All runs of this session, again after every change: server-sent events."""
    jobs = state_of(request).jobs

    async def stream() -> AsyncIterator[str]:
        async for one in jobs.watch():
            yield f"data: {json.dumps(one)}\n\n"
            await asyncio.sleep(0.1)  # a page need not know more often

    return StreamingResponse(stream(), media_type="text/event-stream")


async def listing(request: Request) -> Response:
    """The runs and the tables in the folder."""
    state = state_of(request)
    found = await run_in_threadpool(history.runs, state.folder)
    return JSONResponse({"runs": found, "tables": state.shelf.listed()})


# --- results ---------------------------------------------------------------------------------------------------------


async def show(request: Request) -> Response:
    """What the page of a run needs: run.json, its files, and the figures of its report."""
    state = state_of(request)
    folder = history.find(state.folder, request.query_params.get("name", ""))
    run = history.read(folder)
    files = history.files(folder, run)
    state.wake(state.posteriors)
    page = await run_in_threadpool(history.figures, folder) if history.REPORT in files else {"figures": []}
    return JSONResponse({**page, "run": run, "files": files, "busy": _busy(state, folder)})


def _busy(state: State, folder: Path) -> bool:
    """Whether a run writes into a folder, or will."""
    return folder.relative_to(state.folder).as_posix() in state.jobs.taken()


async def download(request: Request) -> Response:
    """One file of a run. Only the report and pictures open in the browser, the report in a sandbox."""
    folder = history.find(state_of(request).folder, request.query_params.get("name", ""))
    name = request.query_params.get("file", "")
    if name not in history.files(folder, history.read(folder)):
        raise history.HistoryError(f"The run has no file {name!r}.")
    inline = name == history.REPORT
    headers = {"content-security-policy": REPORT_POLICY}
    disposition = "inline" if inline else "attachment"
    return FileResponse(folder / name, filename=name, headers=headers, content_disposition_type=disposition)


async def download_all(request: Request) -> Response:
    """All files of a run as one zip."""
    folder = history.find(state_of(request).folder, request.query_params.get("name", ""))
    names = history.files(folder, history.read(folder))
    file = tempfile.NamedTemporaryFile(suffix=".zip", delete=False)  # noqa: SIM115  closed below, removed when sent
    path = Path(file.name)
    try:
        with file:
            await run_in_threadpool(history.pack, folder, names, file)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    removed = BackgroundTask(path.unlink, missing_ok=True)
    return FileResponse(path, filename=f"{folder.name}.zip", background=removed)


async def rate(request: Request) -> Response:
    """The mean rate over an interval, from the joint draws that the run has saved."""
    folder, first, last = _place(request, "from", "to")
    return JSONResponse(await state_of(request).posteriors.ask("rate", folder=folder, first=first, last=last))


async def date(request: Request) -> Response:
    """One date, reported and posterior."""
    folder, row = _place(request, "row")
    return JSONResponse(await state_of(request).posteriors.ask("date", folder=folder, row=int(row)))


def _place(request: Request, *names: str) -> tuple[Any, ...]:
    folder = history.find(state_of(request).folder, request.query_params.get("name", ""))
    try:
        return str(folder), *(float(request.query_params.get(name, "")) for name in names)
    except ValueError:
        raise CommandError(f"Give numbers for {' and '.join(names)}.") from None


def refuse(request: Request, error: Exception) -> Response:
    """An error that lamina raises on purpose is an answer."""
    assert isinstance(error, LaminaError)
    return JSONResponse({"error": str(error)}, status_code=400)


def fail(request: Request, error: Exception) -> Response:
    """The answer to an unexpected error. The server keeps running."""
    return JSONResponse({"error": f"This went wrong in the app: {type(error).__name__}."}, status_code=500)


ROUTES = [
    Route("/api/tables", take, methods=["POST"]),
    Route("/api/tables/choose", choose, methods=["POST"]),
    Route("/api/tables/{key}/read", read, methods=["POST"]),
    Route("/api/jobs", begin, methods=["POST"]),
    Route("/api/jobs/{key:int}/stop", stop, methods=["POST"]),
    Route("/api/events", events),
    Route("/api/folder", listing),
    Route("/api/run", show),
    Route("/api/run/again", again, methods=["POST"]),
    Route("/api/run/open", reopen, methods=["POST"]),
    Route("/api/run/file", download),
    Route("/api/run/zip", download_all),
    Route("/api/run/rate", rate),
    Route("/api/run/date", date),
]
