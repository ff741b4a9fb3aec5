"""What the server holds: the folder of the runs, the tables, the queue, and the helper processes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from pathlib import Path

from .commands import Command
from .helper import Helper, HelperError
from .jobs import Jobs
from .shelf import Shelf

#: Seconds that reading a table, and a question to a posterior, may take.
READING, ASKING = 60.0, 120.0


class State:
    """Everything that lives as long as the server."""

    def __init__(self, folder: Path, commands: Mapping[str, Command], token: str) -> None:
        self.folder, self.commands, self.token = folder, commands, token
        self.shelf = Shelf(folder)
        self.jobs = Jobs(folder)
        self.tables = Helper("lamina.app.helpers.understanding", READING, folder)
        self.posteriors = Helper("lamina.app.helpers.answers", ASKING, folder)
        self.waking: set[asyncio.Task[None]] = set()

    def wake(self, helper: Helper) -> None:
        """Start a helper process, so that the first question need not wait for it."""
        if helper.process is None:
            task = asyncio.create_task(_wake(helper))
            self.waking.add(task)
            task.add_done_callback(self.waking.discard)

    def free_folder(self, table: str, command: Command) -> str:
        """A name for the results of a run that no folder has: that of the command line, with a number if need be."""
        first = f"{Path(table).stem}-{command.ending}"
        taken = self.jobs.taken()
        names = (first if count == 1 else f"{first}-{count}" for count in range(1, 100_000))
        return next(name for name in names if name not in taken and not (self.folder / name).exists())

    async def close(self) -> None:
        """End every process and forget the tables."""
        for task in self.waking:
            task.cancel()
        await asyncio.gather(self.jobs.close(), self.tables.close(), self.posteriors.close())
        self.shelf.close()


async def _wake(helper: Helper) -> None:
    with contextlib.suppress(HelperError):
        await helper.ask("ready")
