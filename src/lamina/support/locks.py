"""One process at a time writes into a folder: a lock that ends with its process, however that ends."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .files import WriteError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

#: The file that is locked; it names the process that holds the lock.
LOCK = ".lamina.lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Inside, no other process can lock ``folder``. Raises WriteError if one has done so.

    The lock of a process that has ended, even by force, does not count. A file system without locks is not locked.
    """
    path = folder / LOCK
    try:
        file = _lock(path) if fcntl else _lock_by_name(path)
    except BlockingIOError as held:
        raise WriteError(
            f"another lamina is writing into the folder {folder}{held.strerror}. Wait until it has finished, or choose "
            "another folder."
        ) from None
    except OSError as error:
        raise WriteError(
            f"cannot write into the folder {folder}: {error.strerror or error}. Choose another place for the results."
        ) from None
    try:
        yield
    finally:
        with suppress(OSError):
            if fcntl:  # removed while it is locked: others check that what they have locked is still there
                path.unlink(missing_ok=True)
                os.close(file)
            else:
                os.close(file)
                path.unlink(missing_ok=True)


def check_unlocked(folder: Path) -> None:
    """Raise WriteError if another process has locked ``folder``."""
    if os.path.exists(folder / LOCK):  # False also for a name that is too long, which others refuse
        with locked(folder):
            pass


def _lock(path: Path) -> int:
    """The locked file, open. Raises BlockingIOError with the words about who holds it."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.read(file, 200).decode(errors="replace").strip()
            os.close(file)
            raise BlockingIOError(error.errno, f" ({holder})" if holder else "") from None
        except OSError:
            return file
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file), path.stat()):
                return _signed(file)
        os.close(file)  # its holder has just removed it: lock the next one


def _lock_by_name(path: Path) -> int:
    """The same where an open file cannot be removed: a file that can be has no holder."""
    try:
        path.unlink(missing_ok=True)
        return _signed(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666))
    except (PermissionError, FileExistsError) as error:
        raise BlockingIOError(error.errno, "") from None


def _signed(file: int) -> int:
    """Write into the locked file who holds it."""
    since = time.strftime("%Y-%m-%d %H:%M:%S")
    try:
        os.ftruncate(file, 0)
        os.write(file, f"process {os.getpid()} on {platform.node()}, since {since}".encode(errors="replace"))
    except OSError:
        os.close(file)
        raise
    return file
