"""``lamina check``: how a table is read, what is unclear, and the command that works."""

from __future__ import annotations

from typing import Any

import typer

from . import options as given
from .terminal import complain, show


@given.bundled(reading=given.READ_ANY)
def check(table: given.Table, reading: dict[str, Any]) -> None:
    """Show how lamina reads a table, and why, without fitting it. Ends with the command that fits it."""
    from ..tables import Options, survey

    found = survey(table, Options(**reading))
    if found.reading is not None:
        show(found.reading.describe() + "\n")
    warned = found.reading is not None and found.reading.warnings
    works = "runs, but see the warnings above" if warned else "works"
    if "NUMBER" in found.command.split():  # an error that only the user knows
        works = f"{works} once you have put the error, 1 sigma, in place of NUMBER"
    if not found.questions:
        show(f"This {works}: {found.command}")
        return
    for question in found.questions:
        complain(question)
    if found.command:
        complain(f"With the most likely answers, this {works}: {found.command}")
    raise typer.Exit(given.BAD_INPUT)
