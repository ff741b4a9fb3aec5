"""Temporary files and folders under names that nobody can guess, and the removal of those that are left over."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import secrets
import shutil
import time
from contextlib import suppress
from pathlib import Path

#: A temporary file whose process cannot be asked for, because it ran on another machine, is left alone for a day.
KEPT_SECONDS = 86_400.0
_NAME = re.compile(r"\.lamina-([0-9a-f]{8})-(\d+)-[0-9a-f]{16}\.part(\..*)?")


def create_partial(folder: Path, suffix: str = "") -> Path:
    """A new empty file in ``folder``: its name ends in ``suffix``, by which some libraries choose the format.

    It is created exclusively, so that no link that waits under its name is followed.
    """
    path = folder / _new_name(suffix)
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    return path


def create_folder(folder: Path) -> Path:
    """A new empty folder in ``folder``, which only this user can read."""
    path = folder / _new_name()
    path.mkdir(mode=0o700)
    return path


def remove_stale(folder: Path) -> None:
    """Remove the temporary files of processes that have ended from a folder."""
    with suppress(OSError), os.scandir(folder) as found:
        stale = [Path(entry) for entry in found if _is_stale(entry)]
        for path in stale:
            with suppress(OSError):
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink()


def _new_name(suffix: str = "") -> str:
    return f".lamina-{_host()}-{os.getpid()}-{secrets.token_hex(8)}.part{suffix}"


def _host() -> str:
    """This machine in a few letters: the number of a process means nothing elsewhere."""
    return hashlib.sha256(platform.node().encode(errors="replace")).hexdigest()[:8]


def _is_stale(entry: os.DirEntry[str]) -> bool:
    """Whether a file is a temporary one of lamina whose process has ended."""
    named = _NAME.fullmatch(entry.name)
    if named is None:
        return False
    try:
        facts = entry.stat(follow_symlinks=False)
    except OSError:
        return False
    if hasattr(os, "getuid") and facts.st_uid != os.getuid():
        return False
    if named[1] == _host() and has_ended(int(named[2])):
        return True
    return time.time() - facts.st_mtime > KEPT_SECONDS


def has_ended(pid: int) -> bool:
    """Whether there is no process of this number on this machine; False where the system cannot be asked."""
    if os.name == "nt":  # there, os.kill would end it
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:
        return False
    return False
