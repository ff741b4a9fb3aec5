"""What a command prints, what it does if nobody takes it, and the signals that end it.

SIGTERM and SIGHUP end a command as Ctrl-C does: results are kept, summaries written, and the exit code says why.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
from types import FrameType
from typing import Any, NoReturn

from ..support.files import WriteError
from ..support.text import REPLACE, visible

#: Signals by which others end a program; Windows has no SIGHUP.
ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
_received: list[int] = []


def open_streams() -> None:
    """Make the standard streams usable: closed ones lead nowhere, and no encoding fails on a character.

    The first file that a program opens takes the place of a closed stream, and messages would be written into it.
    """
    while (taken := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(taken)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8", closefd=False))
    for stream in sys.stdout, sys.stderr:
        stream.reconfigure(errors=REPLACE)  # type: ignore[union-attr]


def show(text: str) -> None:
    """Print to standard output, with control characters written out. Raises WriteError if that is not possible."""
    try:
        print(visible(text), flush=True)
    except OSError as error:
        if error.errno == errno.EPIPE:  # who reads it has read enough
            raise
        _lead_nowhere(1)
        raise WriteError(f"cannot print the results: {error.strerror or error}.") from None


def show_version() -> None:
    """Print the version."""
    from importlib.metadata import version  # slow to import, and seldom needed

    show(f"lamina {version('lamina')}")


def complain(text: str) -> None:
    """Print a line to standard error after the name of the program. Ignores a stream that cannot be written."""
    try:
        print(visible(f"lamina: {text}"), file=sys.stderr, flush=True)
    except OSError:
        _lead_nowhere(2)


def warn(message: Warning | str, *_: Any, **__: Any) -> None:
    """A warning of Python in one line: takes the place of ``warnings.showwarning``."""
    complain(f"warning: {' '.join(str(message).split())}")


def give_up(error: OSError) -> NoReturn:
    """End because a stream has failed in a place where neither ``show`` nor ``complain`` could know, such as a help."""
    if error.errno != errno.EPIPE:
        complain(f"cannot go on: {error.strerror or error}.")
    for number in 1, 2:
        _lead_nowhere(number)
    sys.exit(1)


def _lead_nowhere(number: int) -> None:
    """A stream that has failed fails no more, not even when Python empties its buffers at the end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)


# --- signals ----------------------------------------------------------------------------------------------------------


def end_by_interrupt() -> None:
    """Turn signals to end into interrupts. Those that are ignored, as SIGHUP is under nohup, stay so."""
    for number in ENDING:
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _interrupt)


def exit_code() -> int:
    """The exit code of a command that was interrupted: 128 and the number of the signal, 130 for Ctrl-C."""
    return 128 + (_received[0] if _received else signal.SIGINT)


def _interrupt(number: int, frame: FrameType | None) -> Any:
    if not _received:  # the second finds a command that is ending already
        _received.append(number)
        raise KeyboardInterrupt
