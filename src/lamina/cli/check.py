"""``lamina check``: how a table is read."""

from __future__ import annotations

from typing import Any

import typer

from . import options as given


@given.bundled(reading=given.READ)
def check(table: given.Table, reading: dict[str, Any]) -> None:
    """Show how lamina reads a table, and why, without fitting it."""
    from ..tables import Options, read

    typer.echo(read(table, Options(**reading)).describe())
