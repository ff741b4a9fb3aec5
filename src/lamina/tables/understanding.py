"""What a table was understood to say: the record, where its rows come from, and why it was read so."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import LaminaError
from ..record import Record
from .facts import Fact
from .problems import name_lines


@dataclass(frozen=True, eq=False)
class Understanding:
    """A table and what was understood of it.

    record: the measurements, rows in the order that the record needs (each sequence from young to old, if depth or
        height orders it).
    lines: the line in the file of each row of the record; sorting by it gives back the order of the file.
    scale: "BP", "CE" or None.
    depth: the depth (or height) of each row of the record, NaN where it is empty; None without such a column.
    facts: what was understood, and why. warnings: what to be careful about.
    """

    record: Record
    lines: tuple[int, ...]
    path: Path
    sha256: str
    scale: str | None
    facts: tuple[Fact, ...]
    warnings: tuple[str, ...]
    depth: NDArray[np.float64] | None = None

    @property
    def cores(self) -> int:
        """How many cores or sites the rows belong to, whether or not their order is used."""
        told = [fact.understood.split(":")[0] for fact in self.facts if fact.what == "sequences"]
        return int(told[0]) if told and told[0].isdigit() else 1

    @contextmanager
    def naming_lines(self) -> Iterator[None]:
        """Errors about rows of the record, raised inside, are told with the file and its lines instead."""
        try:
            yield
        except LaminaError as error:
            worded = error.worded(lambda rows: name_lines(sorted(self.lines[row] for row in rows)))
            if worded == str(error):
                raise
            raise type(error)(f"{self.path.name}: {worded}", error.rows) from error

    def describe(self) -> str:
        """The facts and warnings as plain text, one a line."""
        width = max(len(fact.what) for fact in self.facts)
        lines = [
            f"{fact.what:<{width}}  {fact.understood}" + (f" ({fact.why})" if fact.why else "") for fact in self.facts
        ]
        return "\n".join([*lines, *(f"Warning: {warning}" for warning in self.warnings)])
