"""A fit in two steps: what is planned has been read and checked; what is run is fitted and written."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..fitting import Fit, NotConverged
from .folder import CHECKPOINT
from .run import OutputRequest

if TYPE_CHECKING:
    from ..posterior.posterior import Posterior
    from ..tables import TableReading

Progress = Callable[[dict[str, Any]], None]
Writer = Callable[["Posterior", "Plan"], dict[str, Any]]


@dataclass(frozen=True, eq=False)
class Plan:
    """A fit that has been checked and not begun: nothing is written yet."""

    fit: Fit
    request: OutputRequest
    write: Writer  #: writes all files and returns what run.json holds
    describe_result: Callable[[Result], str]
    reading: TableReading | None = None
    introduction: str = ""  #: what to show before the fit begins
    seconds: dict[str, float] = field(default_factory=dict)  #: spent so far

    def run(self, progress: Progress | None = None) -> Result:
        """Fit and write. Raises KeyboardInterrupt if the user interrupts before there are draws to keep."""
        began, chains = time.perf_counter(), self.fit.method.chains
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)
            posterior = self.fit.run(**{"progress": progress} if chains else {})
        self.seconds["fit"] = time.perf_counter() - began
        if chains and posterior.draws.diagnostics["interrupted"] and posterior.checkpoint is None:
            raise KeyboardInterrupt("interrupted before there was anything to keep. Nothing is written; run it again.")
        return Result(self, posterior, self.write(posterior, self))


@dataclass(frozen=True, eq=False)
class Result:
    """A fit that is written."""

    plan: Plan
    posterior: Posterior
    run: dict[str, Any]  #: what run.json holds

    @property
    def folder(self) -> Path:
        """Where the files are."""
        return self.plan.request.folder

    @property
    def can_resume(self) -> bool:
        """Whether ``--resume`` can go on with it."""
        return (self.folder / CHECKPOINT).exists()

    def describe(self) -> str:
        """The end of a run in a few lines."""
        return self.plan.describe_result(self)
