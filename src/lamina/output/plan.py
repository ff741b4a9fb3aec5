"""A fit in two steps: what is planned has been read and checked; what is run is fitted and written."""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..engine.compiling.cache import watch
from ..errors import LaminaError, StorageError
from ..fitting import Fit, NotConverged
from ..posterior.storage import load_libraries
from ..support.files import WriteError
from .folder import CHECKPOINT, POSTERIOR, claimed, keeping_earlier
from .run import OutputRequest

if TYPE_CHECKING:
    from ..posterior.boxes import Rejected
    from ..posterior.posterior import Posterior
    from ..tables import TableReading
    from ..validation import Validation

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
    rejected: Rejected | None = None  #: dates that the table marks as rejected, for figures
    validate: Callable[..., Validation] | None = None  #: of ``progress``: leaves dates out, if that was asked for
    validation: Validation | None = None  #: what it found

    def run(self, progress: Progress | None = None) -> Result:
        """Fit and write. Raises KeyboardInterrupt if the user interrupts before there are draws to keep.

        From beginning to end, no other process can write into the folder.
        """
        load_libraries()  # what fails for want of memory must fail before the fit
        folder, resume = self.request.folder, self.request.resume
        with claimed(folder, self.request.force or resume), keeping_earlier(folder) if resume else nullcontext():
            posterior = self._fit(progress)
            plan = self._validated(posterior, progress)
            return plan._write(posterior)

    def _write(self, posterior: Posterior) -> Result:
        """Write all files. If that fails or is interrupted, the posterior is kept."""
        before = _version(self.request.folder / POSTERIOR)
        try:
            return Result(self, posterior, self.write(posterior, self))
        except (WriteError, StorageError) as error:
            raise WriteError(f"{error} {_rescued(posterior, self.request, before)}") from None
        except (ImportError, MemoryError) as error:  # a library finds no addresses for its code, or for its numbers
            reason = " ".join(str(error).split()) or "there is not enough memory"
            why = f"cannot write all results: {reason}. Allow more memory (ulimit -v)."
            raise WriteError(f"{why} {_rescued(posterior, self.request, before)}") from None
        except KeyboardInterrupt:
            why = "interrupted before all results were written."
            raise KeyboardInterrupt(f"{why} {_rescued(posterior, self.request, before)}") from None

    def _fit(self, progress: Progress | None) -> Posterior:
        began, chains = time.perf_counter(), self.fit.method.chains
        with warnings.catch_warnings(), watch() as compiling:
            warnings.simplefilter("ignore", NotConverged)
            posterior = self.fit.run(**{"progress": progress} if chains else {})
        self.seconds["fit"] = time.perf_counter() - began - compiling.seconds
        if compiling.seconds:
            self.seconds["compile"] = compiling.seconds
        if chains and posterior.draws.diagnostics["interrupted"] and posterior.checkpoint is None:
            raise KeyboardInterrupt("interrupted before there were results. No files were written; run it again.")
        return posterior

    def _validated(self, posterior: Posterior, progress: Progress | None) -> Plan:
        """The plan with its validation, if it was asked for. An interrupt ends the validation only."""
        if self.validate is None or posterior.draws.diagnostics["interrupted"]:
            return self
        began = time.perf_counter()
        try:
            return replace(self, validation=self.validate(progress=progress))
        except KeyboardInterrupt:
            return self
        finally:
            self.seconds["validate"] = time.perf_counter() - began


def _version(path: Path) -> tuple[int, int] | None:
    """What another file in this place would not have; None if there is no file."""
    if not path.exists():
        return None
    return path.stat().st_ino, path.stat().st_mtime_ns


def _rescued(posterior: Posterior, request: OutputRequest, before: tuple[int, int] | None) -> str:
    """Where the posterior is: in its folder, unless that holds one from ``before``, or else among temporary files."""
    path, kept = request.folder / POSTERIOR, ""
    if request.resume:
        kept = f" The earlier results are still in {request.folder}: --resume continues them."
    elif _version(path) not in (None, before) or (not path.exists() and _saved(posterior, path)):
        return f"The posterior is in {path}: lamina.load reads it."
    try:
        path = Path(tempfile.mkdtemp(prefix="lamina-"), POSTERIOR)
    except OSError:
        saved = False
    else:
        saved = _saved(posterior, path)
    if not saved:
        return f"The folder for temporary files (TMPDIR) has no space for the posterior either: it is lost.{kept}"
    return f"The posterior is in {path}: lamina.load reads it.{kept}"


def _saved(posterior: Posterior, path: Path) -> bool:
    """Whether the posterior could be saved there."""
    try:
        posterior.save(path)
    except (OSError, LaminaError):
        return False
    return True


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
        """Whether ``--resume`` can continue it."""
        return (self.folder / CHECKPOINT).exists()

    @property
    def late_warnings(self) -> list[str]:
        """Warnings that were not known before the fit."""
        known = [*self.plan.request.warnings, *(self.plan.reading.warnings if self.plan.reading else ())]
        return [warning for warning in self.run["warnings"] if warning not in known]

    def describe(self) -> str:
        """The end of a run in a few lines."""
        return self.plan.describe_result(self)
