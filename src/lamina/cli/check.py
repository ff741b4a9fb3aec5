"""``lamina check``: what would be understood of a table."""

from __future__ import annotations

from typing import Any

import typer

from . import options as given


@given.bundled(reading=given.READ)
def check(table: given.Table, reading: dict[str, Any]) -> None:
    """Read a table, say what was understood and why, and stop."""
    from ..tables import Options, read

    typer.echo(read(table, Options(**reading)).describe())
