"""Tables that were dropped on the page. They go into the folder of the runs when one is fitted, and not before."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import LaminaError
from .embedded import EMBEDDED

#: Bytes of a table: as many as ``lamina.tables`` reads.
MOST_TABLE_BYTES = 100_000_000
#: Tables that are kept; with one more, the oldest is forgotten. One upload more than this is forgotten in turn.
MOST_TABLES = 60
LONGEST_NAME = 100
#: Files in the folder that may be tables.
ENDINGS = (".csv", ".txt", ".tsv", ".dat", ".tab", ".xlsx", ".xlsm", ".lpd", ".rlr")
#: Names that Windows gives to devices.
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)


class ShelfError(LaminaError):
    """A table cannot be taken, or is not there."""


@dataclass
class Shelved:
    """A table: its name, where it lies, and how the user wants it read and fitted."""

    key: str
    name: str
    path: Path
    sha256: str
    choices: dict[str, Any] = field(default_factory=dict)


class Shelf:
    """The tables of one session, in a folder for temporary files, and those that lie in the folder of the runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.spool = Path(tempfile.mkdtemp(prefix="lamina-app-"))
        self.tables: dict[str, Shelved] = {}

    def close(self) -> None:
        """Forget all tables."""
        shutil.rmtree(self.spool, ignore_errors=True)

    def get(self, key: str) -> Shelved:
        """A table by its key. Raises ShelfError if there is none."""
        if key not in self.tables:
            raise ShelfError("This table is no longer here. Choose it again.")
        return self.tables[key]

    async def receive(self, name: str, chunks: AsyncIterator[bytes]) -> Shelved:
        """Take a table that is sent in pieces. Raises ShelfError if it is too large or empty."""
        key = secrets.token_urlsafe(9)
        path = self._place(key, safe_name(name))
        size, digest = 0, hashlib.sha256()
        with path.open("wb") as file:
            async for chunk in chunks:
                size += len(chunk)
                if size > MOST_TABLE_BYTES:
                    break
                digest.update(chunk)
                file.write(chunk)
        if not 0 < size <= MOST_TABLE_BYTES:
            shutil.rmtree(path.parent, ignore_errors=True)
            what = "is empty" if size == 0 else f"has more than {MOST_TABLE_BYTES / 1e6:.0f} MB"
            raise ShelfError(f"The file {what}. Choose a table of measurements.")
        return self._add(Shelved(key, path.name, path, digest.hexdigest()))

    def embed(self, name: str) -> Shelved:
        """A table that comes with lamina. Raises ShelfError for an unknown one."""
        if name not in EMBEDDED:
            raise ShelfError(f"There is no embedded table {name!r}.")
        key = secrets.token_urlsafe(9)
        file, text = EMBEDDED[name]
        path = self._place(key, file)
        path.write_text(text(), encoding="utf-8")
        return self._add(Shelved(key, path.name, path, _checksum(path)))

    def open(self, name: str) -> Shelved:
        """A table in the folder of the runs. Raises ShelfError if there is no such file directly in it."""
        if not self.has(name):
            raise ShelfError(f"There is no table {name!r} in the folder {self.folder}.")
        path = self.folder / name
        for known in self.tables.values():
            if known.path == path and known.sha256 == _checksum(path):
                return known
        return self._add(Shelved(secrets.token_urlsafe(9), name, path, _checksum(path)))

    def has(self, name: str) -> bool:
        """Whether a file of this name, with whatever ending, lies directly in the folder of the runs."""
        return Path(name).name == name and not name.startswith(".") and os.path.isfile(self.folder / name)

    def listed(self) -> list[str]:
        """The names of the files in the folder of the runs that may be tables."""
        try:
            there = [one for one in self.folder.iterdir() if one.suffix.lower() in ENDINGS]
            return sorted(one.name for one in there if one.is_file() and not one.name.startswith("."))
        except OSError:
            return []

    def keep(self, table: Shelved) -> str:
        """Copy a table into the folder of the runs without replacing any file, and return its name there."""
        if table.path.parent == self.folder:
            return table.name
        for count in range(1, 1000):
            stem, ending = Path(table.name).stem, Path(table.name).suffix
            path = self.folder / (table.name if count == 1 else f"{stem}-{count}{ending}")
            if not path.exists():
                shutil.copyfile(table.path, path)
            if path.is_file() and _checksum(path) == table.sha256:
                return path.name
        raise ShelfError(f"The folder {self.folder} has too many tables named {table.name}. Rename the table.")

    def _place(self, key: str, name: str) -> Path:
        (self.spool / key).mkdir()
        return self.spool / key / name

    def _add(self, table: Shelved) -> Shelved:
        self.tables[table.key] = table
        while len(self.tables) > MOST_TABLES:
            oldest = self.tables.pop(next(iter(self.tables)))
            if oldest.path.is_relative_to(self.spool):
                shutil.rmtree(oldest.path.parent, ignore_errors=True)
        return table


def safe_name(name: str) -> str:
    """The name of a file without folders, and without what a file system, a shell or a terminal stumbles over."""
    last = re.split(r"[/\\]", name)[-1]
    kept = "".join(one if one.isalnum() or one in " ._-+()" else "_" for one in last).strip(" .-_")
    stem, dot, ending = kept.rpartition(".")
    short = f"{stem[: LONGEST_NAME - 10]}.{ending[:9]}" if dot and stem else kept[:LONGEST_NAME]
    while len(short.encode()) > 2 * LONGEST_NAME:  # file systems count bytes
        short = short[1:]
    return f"table-{short}" if not short or _DEVICES.fullmatch(short) else short


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
