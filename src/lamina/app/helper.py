"""The server's end of a helper process, which is started when first asked and again when it has died."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from pathlib import Path
from typing import Any

from ..errors import LaminaError

#: Bytes of an answer.
MOST_ANSWER_BYTES = 200_000_000


class HelperError(LaminaError):
    """A helper process has no answer."""


class Helper:
    """A process that runs ``python -m MODULE`` and answers one question after another."""

    def __init__(self, module: str, seconds: float, folder: Path) -> None:
        self.module, self.seconds, self.folder = module, seconds, folder
        self.process: asyncio.subprocess.Process | None = None
        self.lock = asyncio.Lock()

    async def ask(self, task: str, **arguments: Any) -> Any:
        """The answer. Raises HelperError with the reason if there is none; the next question finds a new process."""
        async with self.lock:
            try:
                found = await asyncio.wait_for(self._answer({"task": task, "with": arguments}), self.seconds)
            except TimeoutError:
                await self.close()
                raise HelperError(f"This takes longer than {self.seconds:g} s. It was stopped.") from None
            except asyncio.LimitOverrunError:
                await self._drop()
                raise HelperError(f"The answer has more than {MOST_ANSWER_BYTES / 1e6:g} MB.") from None
            except (OSError, ValueError, asyncio.IncompleteReadError):
                await self.close()
                raise HelperError("The process that reads this has crashed. The app itself goes on.") from None
        if "error" in found:
            raise HelperError(found["error"])
        return found["answer"]

    async def _answer(self, question: dict[str, Any]) -> dict[str, Any]:
        process = await self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(question).encode() + b"\n")
        await process.stdin.drain()
        found: dict[str, Any] = json.loads(await process.stdout.readuntil(b"\n"))
        return found

    async def _started(self) -> asyncio.subprocess.Process:
        if self.process is None or self.process.returncode is not None:
            self.process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", self.module),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                limit=MOST_ANSWER_BYTES,
                cwd=self.folder,
                env=os.environ,
            )
        return self.process

    async def _drop(self) -> None:
        """End the process in the middle of its answer: it is over only when its output has been read to the end."""
        assert self.process is not None
        assert self.process.stdout is not None
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        await self.process.stdout.read()
        await self.close()

    async def close(self) -> None:
        """End the process at once: it holds nothing that is worth keeping."""
        if self.process is not None and self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self.process.kill()
            await self.process.wait()
        self.process = None
