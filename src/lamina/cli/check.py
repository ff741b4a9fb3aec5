"""``lamina check``: how a table is read."""

from __future__ import annotations

from typing import Any

from . import options as given
from .terminal import show


@given.bundled(reading=given.READ)
def check(table: given.Table, reading: dict[str, Any]) -> None:
    """Show how lamina reads a table, and why, without fitting it."""
    from ..tables import Options, read

    show(read(table, Options(**reading)).describe())
