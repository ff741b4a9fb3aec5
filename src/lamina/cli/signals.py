"""SIGTERM and SIGHUP end a command as Ctrl-C does: results are kept, summaries written, and the exit code says why."""

from __future__ import annotations

import signal
from types import FrameType
from typing import Any

#: Signals by which others end a program; Windows has no SIGHUP.
ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
_received: list[int] = []


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
