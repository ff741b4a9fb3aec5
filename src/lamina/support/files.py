"""Files and folders that are written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import LaminaError


class WriteError(LaminaError):
    """A file or folder cannot be written."""


def make_folder(path: str | Path) -> Path:
    """The folder ``path``, made if need be, into which files can be written. Raises WriteError."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        trial = folder / f".{os.getpid()}.part"
        trial.touch()
        trial.unlink()
    except FileExistsError:
        raise WriteError(f"{folder} is a file, not a folder. Choose another place for the results.") from None
    except OSError as error:
        raise WriteError(
            f"cannot write into the folder {folder}: {error.strerror or error}. Choose another place for the results."
        ) from None
    return folder


def check_writable(path: str | Path) -> Path:
    """The folder ``path``, into which files could be written. Raises WriteError if not.

    If it is not there it is made for the trial and removed again, so that what fails later leaves nothing behind.
    """
    folder = Path(path)
    try:
        missing = [one for one in (folder, *folder.parents) if not one.exists()]
    except OSError as error:
        raise _unseen(folder, error) from None
    try:
        return make_folder(folder)
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
        f"cannot look into the folder {folder}: {error.strerror or error}. Choose another place for the results."
    )


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A name beside ``path`` to write to; it takes the place of ``path`` when all went well, and vanishes if not."""
    path = Path(path)
    if not path.parent.is_dir():
        raise WriteError(f"cannot write {path}: there is no folder {path.parent}. Make it first.")
    # The ending stays the last: some libraries take the format from it.
    partial = path.with_name(f".{path.stem}.{os.getpid()}.part{path.suffix}")
    try:
        yield partial
        os.replace(partial, path)
    except OSError as error:
        raise WriteError(f"cannot write {path}: {error.strerror or error}. Choose another place.") from None
    finally:
        partial.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Write UTF-8 text with plain line ends."""
    with replacing(path) as partial:
        partial.write_text(text, encoding="utf-8", newline="\n")
