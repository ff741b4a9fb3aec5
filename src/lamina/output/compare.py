"""``lamina compare``: one record through several methods; how far apart their curves are."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import plots
from ..errors import MethodError
from ..fitting import Fit, NotConverged, prepare
from ..methods.registry import METHODS
from ..posterior.diagnosis import state_of
from ..posterior.times import default_times
from ..tables import Options, read
from . import tables
from .folder import COMPARE_FIGURE, begin_folder, check_folder, claimed, write_figure, write_tables
from .run import OutputRequest, describe_run, diagnostics_of, write_run
from .settings import fit_arguments, kernel_by_name

if TYPE_CHECKING:
    from ..posterior.posterior import Posterior
    from ..tables import TableReading

#: How compare.csv words the state of a fit.
CONVERGED = {"converged": "yes", "not converged": "no", "interrupted": "interrupted"}


@dataclass(frozen=True, eq=False)
class ComparisonPlan:
    """Fits that have been checked and not begun: nothing is written yet."""

    fits: dict[str, Fit]  #: by the name of the method
    request: OutputRequest
    reading: TableReading

    def run(self, progress: Callable[[int, int], None] | None = None) -> Comparison:
        """Fit and write. Raises KeyboardInterrupt if the user interrupts before there are two curves."""
        with claimed(self.request.folder, self.request.force):
            return self._write(self._fit(progress))

    def _fit(self, progress: Callable[[int, int], None] | None) -> dict[str, Posterior]:
        posteriors: dict[str, Posterior] = {}
        for k, (method, fit) in enumerate(self.fits.items()):
            if progress is not None:
                progress(k, len(self.fits))
            posterior = _run(fit)
            if posterior is None:
                break
            posteriors[method] = posterior
            if posterior.draws.diagnostics["interrupted"]:
                break
        if len(posteriors) < 2:
            raise KeyboardInterrupt("interrupted before there were two curves to compare. No files were written.")
        return posteriors

    def _write(self, posteriors: dict[str, Posterior]) -> Comparison:
        began, request, record = time.perf_counter(), self.request, self.reading.record
        times = default_times(next(reversed(posteriors.values()))) if request.at is None else request.at
        curves = {name: posterior.curve(times) for name, posterior in posteriors.items()}
        parts = {name: _part(posterior) for name, posterior in posteriors.items()}
        states = {name: part["state"] for name, part in parts.items()}
        words = {name: CONVERGED[state] for name, state in states.items()}
        made = [tables.differences_table(record, curves, words), tables.curves_table(posteriors, curves)]
        begin_folder(request.folder)
        write_tables(request.folder, made)
        failed = write_figure(
            lambda: plots.compare(posteriors, curves), request.folder, COMPARE_FIGURE, formats=["png"], dpi=160
        )
        request = replace(request, warnings=[*request.warnings, *failed])
        left_out = [name for name in self.fits if name not in posteriors]
        seconds = {name: part["seconds"] for name, part in parts.items()} | {"write": time.perf_counter() - began}
        run = describe_run(
            "compare", request, record, self.reading,
            state="interrupted" if left_out else _worst(list(states.values())), parts=parts, seconds=seconds,
        )  # fmt: skip
        return Comparison(made[0], words, left_out, write_run(request.folder, run), failed)


@dataclass(frozen=True, eq=False)
class Comparison:
    """A comparison that is written."""

    differences: tables.Table
    converged: dict[str, str]  #: of each method: "yes", "no" or "interrupted"
    left_out: list[str]  #: methods that the user did not wait for
    run: dict[str, Any]  #: what run.json holds
    late_warnings: list[str]  #: that were not known before the fits

    def describe(self, folder: Path) -> str:
        """The table of differences and what its columns are."""
        shown = self.differences.frame.to_string(index=False, float_format=lambda value: f"{value:.4g}")
        columns = tables.list_columns(self.differences.columns)
        return f"{shown}\n\n{columns}\n\nFigure and tables are in {folder}."


def plan_compare(table: Path, options: Options, request: OutputRequest) -> ComparisonPlan:
    """Read a table and check that each of the methods in its settings can fit it."""
    names = _names(request.settings["methods"])
    kernel = kernel_by_name(request.settings["kernel"])
    reading = read(table, options)
    arguments = fit_arguments(request.settings, kernel, reading.record)
    with reading.naming_lines():
        fits = {name: prepare(reading.record, name, seed=request.seed, **arguments) for name in names}
    check_folder(request.folder, request.force)
    return ComparisonPlan(fits, request, reading)


def _names(methods: str) -> list[str]:
    names = [name.strip() for name in methods.split(",") if name.strip()]
    known = [name for name, method in METHODS.items() if not method.needs]  # no table holds ages of another model
    wrong = [name for name in names if name not in known]
    if wrong:
        raise MethodError(f"--methods: there is no method {wrong[0]!r}; there are {', '.join(known)}.")
    if len(set(names)) < 2:
        raise MethodError(f"--methods: give at least two different methods of {', '.join(known)}, separated by commas.")
    return list(dict.fromkeys(names))


def _run(fit: Fit) -> Posterior | None:
    """The posterior of one method; None if the user interrupted before there were draws to keep."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        try:
            posterior = fit.run()
        except KeyboardInterrupt:
            return None
    in_warmup = posterior.draws.diagnostics["interrupted"] and fit.method.chains and posterior.checkpoint is None
    return None if in_warmup else posterior


def _part(posterior: Posterior) -> dict[str, Any]:
    facts = diagnostics_of(posterior)
    return {
        "state": state_of(facts),
        "rows": len(posterior.record),
        "seconds": facts["seconds"],
        "diagnostics": facts,
    }


def _worst(states: Sequence[str]) -> str:
    return next((state for state in ("interrupted", "not converged") if state in states), "converged")
