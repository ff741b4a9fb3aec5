"""The server: on this machine only, until it is interrupted."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import threading
import webbrowser
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import uvicorn
from starlette.applications import Starlette

from ..errors import LaminaError
from ..support.files import WriteError, check_writable
from . import calls, pages
from .commands import Command
from .guard import Entrance, Guard
from .state import State

HOST = "127.0.0.1"


class ServerError(LaminaError):
    """The server cannot start."""


def serve(
    folder: Path, commands: Mapping[str, Command], port: int, browser: bool, announce: Callable[[str, bool], None]
) -> None:
    """Serve until interrupted; then end every process that was started.

    folder: where tables and runs are kept. port: 0 for one that is free. announce: is given an address that lets one
    browser in, and whether it is the first; it is called again when that address has been used.
    """
    folder = check_writable(folder.absolute())
    folder.mkdir(parents=True, exist_ok=True)
    listening = _socket(port)
    port = listening.getsockname()[1]

    def address(token: str) -> str:
        return f"http://{HOST}:{port}/?token={token}"

    printed = ""

    def print_address() -> None:
        nonlocal printed
        first, printed = not printed, entrance.issue()
        announce(address(printed), first)

    def ready() -> None:
        print_address()
        if browser:  # with a token of its own: others can see the arguments of a process
            threading.Thread(target=webbrowser.open, args=(address(entrance.issue()),), daemon=True).start()

    def renew(used: str) -> None:
        if used == printed:
            with contextlib.suppress(WriteError):  # nobody reads what is printed; the browser that came is let in
                print_address()

    entrance = Entrance(renew)
    state_holder: list[State] = []
    app = application(folder, commands, entrance, port, ready, state_holder)
    config = uvicorn.Config(
        app, loop="asyncio", http="h11", ws="none", lifespan="on", log_level="critical", access_log=False,
        server_header=False, timeout_graceful_shutdown=1,
    )  # fmt: skip
    try:
        uvicorn.Server(config).run(sockets=[listening])
    except KeyboardInterrupt:
        pass
    finally:
        listening.close()
        for state in state_holder:
            state.jobs.kill()


def application(
    folder: Path,
    commands: Mapping[str, Command],
    entrance: Entrance,
    port: int,
    ready: Callable[[], None] = lambda: None,
    held: list[State] | None = None,
) -> Guard:
    """The application behind its guard. ``held`` gets its state, for those who must end it from outside."""
    token = secrets.token_urlsafe(24)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        state = State(folder, commands, token)
        app.state.lamina = state
        if held is not None:
            held.append(state)
        ready()
        state.wake(state.tables)
        try:
            yield
        finally:
            await state.close()

    inner = Starlette(
        routes=[*pages.ROUTES, *calls.ROUTES],
        exception_handlers={LaminaError: pages.refuse, Exception: calls.fail},
        lifespan=lifespan,
    )
    return Guard(inner, token, entrance, port)


def _socket(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":  # there it means that connections of an earlier server may still be closing, and no more
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
    except OSError as error:
        listening.close()
        why = error.strerror or error
        raise ServerError(f"cannot serve on port {port}: {why}. Choose another with --port, or leave it out.") from None
    listening.listen(128)  # what comes before the server is ready waits
    return listening
