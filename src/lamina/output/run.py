"""run.json: how a folder of results was made. One schema for all commands, in run.schema.json beside this file."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..posterior.diagnosis import state_of
from ..records.axes import describe
from ..records.glossary import rate_unit
from ..report import EMBED
from ..support.files import existing, write_text
from .folder import FILES, RUN

if TYPE_CHECKING:
    from ..posterior.posterior import Posterior
    from ..record import Record
    from ..tables import TableReading


@dataclass(frozen=True)
class OutputRequest:
    """What a user asks for beside the fit itself: tables, figures, and where they go."""

    at: ArrayLike | None = None  #: times of curve.csv and rate.csv
    intervals: Sequence[tuple[float, float]] = ()  #: whose mean rates are computed
    levels: Sequence[float] = ()  #: of the curve, and
    rates: Sequence[float] = ()  #: of its rate forward in time: when each was first exceeded
    extremes: bool = False  #: size and time of the maximum and the minimum
    depths: ArrayLike | None = None  #: of ages.csv
    map_at: ArrayLike | None = None  #: times of the maps of a field
    grid: tuple[float, float, float, float] | None = None  #: of these maps: south, north, west and east
    shown_site: str | None = None  #: the site of a field whose components are drawn
    folds: int = 0  #: parts of the dates that are left out in turn to validate an age-depth model; 0 for none
    members: int = 0  #: of ensemble.csv; 0 for no such file
    figures: bool = True  #: figures as files of their own
    plotly: str = EMBED  #: in each report, or the path of a file that several reports share
    seed: int = 0
    command: str = ""
    settings: dict[str, Any] = field(default_factory=dict)  #: of the fit, JSON-ready
    sources: Sequence[str] = ()  #: of the data, as keys of the report's references
    table: str = ""  #: name of the table or of the embedded record
    folder: Path = Path("lamina")  #: for the results
    force: bool = False  #: overwrite the results of another run
    resume: bool = False  #: continue a run that ended too early
    warnings: Sequence[str] = ()  #: in addition to those about the table


def schema() -> dict[str, Any]:
    """The JSON Schema of run.json."""
    found: dict[str, Any] = json.loads((resources.files(__package__) / "run.schema.json").read_text(encoding="utf-8"))
    return found


def diagnostics_of(posterior: Posterior) -> dict[str, Any]:
    """The diagnostics of a fit without what is long."""
    facts = posterior.diagnostics
    return {name: value for name, value in facts.items() if not isinstance(value, np.ndarray) and name != "history"}


def describe_run(
    kind: str,
    request: OutputRequest,
    record: Record | None = None,
    reading: TableReading | None = None,
    **facts: Any,
) -> dict[str, Any]:
    """What run.json holds, but for its files; ``facts`` replace what is empty otherwise."""
    axes = None if record is None else describe(record)
    names = {} if record is None else {"time": record.t_name, "curve": record.y_name}
    units = {}
    if record is not None:
        units = {"time": record.t_unit, "curve": record.y_unit, "rate": rate_unit(record), "depth": record.depth_unit}
    return {
        "lamina": version("lamina"),
        "kind": kind,
        "command": request.command,
        "table": request.table,
        "sha256": None if reading is None else reading.sha256,
        "seed": request.seed,
        "settings": request.settings,
        "model": None,
        "state": state_of(facts["diagnostics"]) if "diagnostics" in facts else "converged",
        "rows": 0 if record is None else len(record),
        "names": names,
        "units": units,
        "time_runs": (axes and axes.runs) or "not known",
        "understood": [] if reading is None else [list(fact) for fact in reading.facts],
        "warnings": [*(() if reading is None else reading.warnings), *request.warnings],
        "diagnostics": {},
        "parts": {},
        "intervals": [],
        "events": [],
        "seconds": {},
        **facts,
    }


def write_run(folder: Path, run: Mapping[str, Any], files: Sequence[str] = FILES) -> dict[str, Any]:
    """Write run.json, which comes last and vouches for the files beside it; returns what it holds."""
    sizes = {name: (folder / name).stat().st_size for name in existing(folder, files) if name != RUN}
    seconds = {name: round(value, 3) for name, value in run["seconds"].items()}
    complete = {**run, "seconds": seconds, "files": sizes}
    write_text(folder / RUN, json_text(complete, indent=2) + "\n")
    return complete


def read_run(folder: Path) -> dict[str, Any] | None:
    """What run.json of a folder holds; None if there is none, or it cannot be read."""
    try:
        run = json.loads((folder / RUN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return run if isinstance(run, dict) else None


def json_text(value: Any, indent: int | None = None) -> str:
    """JSON that every program reads: what is not a finite number is null."""
    return json.dumps(_finite(value), indent=indent, default=str, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return _finite(value.tolist())
    if isinstance(value, dict):
        return {str(key): _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
