"""Files and folders that are written whole or not at all."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..errors import LaminaError
from .leftovers import create_folder, create_partial, remove_stale

#: Folders in which this process has looked for temporary files of others that were killed.
_tidied: set[Path] = set()


class WriteError(LaminaError):
    """A file or folder cannot be written."""


def joined_checksum(first: str, *more: str) -> str:
    """The checksum of a table and of those that were joined to it; that of one table is its own."""
    for one in more:
        first = hashlib.sha256(f"{first}{one}".encode()).hexdigest()
    return first


def make_folder(path: str | Path) -> Path:
    """The folder ``path``, made if need be, into which files can be written. Raises WriteError."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        remove_stale(folder)
        create_partial(folder).unlink()
    except FileExistsError:
        raise WriteError(f"{folder} is a file, not a folder. Choose another place for the results.") from None
    except UnicodeEncodeError as error:
        raise WriteError(
            f"cannot make the folder {folder}: file names on this system are {error.encoding}. Set the locale to a "
            "UTF-8 one, or choose another name."
        ) from None
    except OSError as error:
        raise WriteError(
            f"cannot write into the folder {folder}: {error.strerror or error}. Choose another place for the results."
        ) from None
    return folder


def check_writable(path: str | Path) -> Path:
    """The folder ``path``, into which files could be written. Raises WriteError if not.

    If it is not there it is made for the trial and removed again, so that what fails later leaves nothing behind.
    """
    with made_if_needed(path) as folder:
        return folder


@contextmanager
def made_if_needed(path: str | Path) -> Iterator[Path]:
    """The folder ``path``, made if need be. What was made for nothing, because it is empty at the end, is removed."""
    folder = Path(path)
    try:
        missing = [one for one in (folder, *folder.parents) if not one.exists()]
    except OSError as error:
        raise _unseen(folder, error) from None
    try:
        yield make_folder(folder)
    finally:
        with suppress(OSError):
            for one in missing:
                one.rmdir()


def existing(folder: Path, names: Iterable[str]) -> list[str]:
    """Which of these files a folder holds. Raises WriteError if it cannot be read."""
    try:
        return [name for name in names if (folder / name).exists()]
    except OSError as error:
        raise _unseen(folder, error) from None


def check_empty(folder: Path) -> None:
    """Raise WriteError if a folder holds anything, hidden files aside."""
    try:
        found = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    except OSError as error:
        raise _unseen(folder, error) from None
    there = sorted(name for name in found if not name.startswith("."))
    if there:
        more = f" and {len(there) - 1} more" if len(there) > 1 else ""
        raise WriteError(
            f"the folder {folder} is not empty: it holds {there[0]}{more}. Choose another, or write into it with "
            "--force, which leaves files of other names alone."
        )


def _unseen(folder: Path, error: OSError) -> WriteError:
    return WriteError(
        f"cannot read the folder {folder}: {error.strerror or error}. Choose another place for the results."
    )


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A name beside ``path`` to write to; it takes the place of ``path`` when all went well, and vanishes if not."""
    path = Path(path)
    if not path.parent.is_dir():
        raise WriteError(f"cannot write {path}: there is no folder {path.parent}. Make it first.")
    partial = None
    try:
        if path.parent not in _tidied:
            remove_stale(path.parent)
            _tidied.add(path.parent)
        partial = create_partial(path.parent, path.suffix)
        yield partial
        os.replace(partial, path)
    except OSError as error:
        raise WriteError(f"cannot write {path}: {error.strerror or error}. Choose another place.") from None
    finally:
        if partial is not None:
            partial.unlink(missing_ok=True)


class _Patient(io.FileIO):
    """A file that never fails: it keeps the first error for later."""

    failed: OSError | None = None

    def write(self, data: Any) -> int:
        """The number of bytes, as if all had been written. A disk that fills up takes the first few only."""
        left = memoryview(data).cast("B")
        try:
            while left:
                left = left[super().write(left) :]
        except OSError as error:
            self.failed = self.failed or error
        return memoryview(data).nbytes

    def truncate(self, size: int | None = None) -> int:
        """The new size, as if there were room for it."""
        try:
            return super().truncate(size)
        except OSError as error:
            self.failed = self.failed or error
            return self.tell() if size is None else size

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """Its name: xarray, on a Dask worker, names a lock after the file and sends the name to the scheduler."""
        return str, (str(self.name),)


@contextmanager
def replacing_stream(path: str | Path) -> Iterator[io.FileIO]:
    """As ``replacing``, but a file to write to, for libraries that do not survive a full disk, such as HDF5."""
    with replacing(path) as partial, _Patient(partial, "w+") as file:
        try:
            yield file
        except Exception:
            if file.failed is None:
                raise
        if file.failed is not None:
            raise file.failed


def write_text(path: str | Path, text: str) -> None:
    """Write UTF-8 text with plain line ends. Bytes of a file name that are not UTF-8 become escapes such as \\udcff."""
    with replacing(path) as partial:
        partial.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder for temporary files, removed at the end. Raises WriteError if there is no place for one."""
    try:
        above = Path(tempfile.gettempdir())
        remove_stale(above)
        folder = create_folder(above)
    except OSError as error:
        raise WriteError(
            f"cannot make a temporary folder: {error.strerror or error}. Set TMPDIR to a folder with free space."
        ) from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
