"""A fit as files in a folder: tables, figures, the report, and how it was made. Each file is whole or not there."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .. import __version__, plots, report
from ..methods.draws import affordable
from ..posterior import export as ensemble
from ..posterior.boxes import has_parts, has_rate, has_trend
from ..posterior.functionals import DRAWS, POINTS, events
from ..posterior.intervals import interval_rates
from ..posterior.times import default_times, too_coarse
from ..records import axes
from ..records.glossary import rate_unit
from ..support.files import WriteError, check_empty, check_writable, make_folder, replacing, those_there, write_text
from .glossary import columns_text

if TYPE_CHECKING:
    import pandas as pd

    from ..posterior.posterior import Posterior
    from ..tables import Understanding

#: The file that tells a folder of results from any other, and is written last.
RUN = "run.json"
CHECKPOINT = "checkpoint.npz"
#: Joint draws behind interval rates: at most, at least, and in between so many that draws times rows stay below this.
MOST_DRAWS, FEWEST_DRAWS, DRAWS_TIMES_ROWS = 4000, 100, 50_000_000
FIGURES = ("figure.png", "figure.pdf", "figure.svg")
COLUMNS = "columns.txt"
#: Tables that a run has only where they are asked for, or where the model has them.
OPTIONAL = ("rate.csv", "components.csv", "offsets.csv", "intervals.csv", "events.csv", "ensemble.csv")
#: What ``lamina agedepth`` writes in their place.
AGES = ("ages.csv", "age-depth.png", "age-depth.pdf", "age-depth.svg")
#: On which side of its value a row has the curve.
_LIMITS = {1: "above", -1: "below", 0: ""}
FILES = ("curve.csv", "inputs.csv", "theta.csv", *OPTIONAL, *AGES, COLUMNS, "posterior.nc", *FIGURES, "report.html",
         CHECKPOINT, RUN)  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """What a user asked for, beside the fit itself."""

    at: ArrayLike | None = None  #: times of curve.csv and rate.csv
    intervals: Sequence[tuple[float, float]] = ()
    command: str = ""
    seed: int = 0
    settings: dict[str, Any] = field(default_factory=dict)  #: of the fit, as run.json tells them
    table: str = ""  #: name of the table or of the embedded record
    warnings: Sequence[str] = ()  #: beside those of the table
    levels: Sequence[float] = ()  #: of the curve, and
    rates: Sequence[float] = ()  #: of its rate forward in time: when each was first exceeded
    extremes: bool = False  #: size and time of the maximum and the minimum
    members: int = 0  #: of ensemble.csv; 0 for no such file


def check_folder(path: Path, force: bool = False) -> Path:
    """A folder that can take results; if it is not there, it is not made yet.

    Raises WriteError if it holds some, or files of others, unless ``force``.
    """
    there = those_there(path, FILES)
    if there and not force:
        what = "the results of another run" if RUN in there else f"a file {there[0]} already"
        raise WriteError(f"the folder {path} holds {what}. Choose another, or overwrite with --force.")
    if not force:
        check_empty(path)
    return check_writable(path)


def write(
    posterior: Posterior,
    folder: Path,
    asked: Asked,
    understanding: Understanding | None = None,
    *,
    figures: bool = True,
    timings: dict[str, float] | None = None,
) -> dict[str, Any]:
    """Write everything, with or without figures as files of their own, and return what run.json says.

    ``timings`` are the seconds of what came before.
    """
    began = time.perf_counter()
    times = default_times(posterior)
    tables = _tables(posterior, times)
    if coarse := too_coarse(posterior, times):
        asked = replace(asked, warnings=[*asked.warnings, coarse])
    at_tables = None if asked.at is None else _tables(posterior, asked.at)
    make_folder(folder)
    remove_run(folder, keep=[CHECKPOINT])  # from which that run can go on, until there is another
    _write_tables(posterior, folder, at_tables or tables)
    rates = _rates(posterior, asked)
    if rates is not None:
        _csv(rates, folder / "intervals.csv")
    _csv(inputs_table(posterior, understanding), folder / "inputs.csv")
    found = _events(posterior, asked)
    if len(found):
        _csv(found, folder / "events.csv")
    if asked.members:
        ensemble.write(posterior, folder / "ensemble.csv", asked.members, asked.seed)
    write_text(folder / COLUMNS, columns_text(posterior, folder))
    posterior.save(folder / "posterior.nc")
    drawn_tables = {f"{name}_table": table for name, table in tables.items()}
    if figures:
        _draw(posterior, folder, drawn_tables)
    reporting = time.perf_counter()
    run_facts = report.Run(asked.command, asked.seed, asked.table, understanding, asked.warnings)
    known = report.Tables(**tables, intervals=rates, events=found, at=at_tables)
    report.write(folder / "report.html", posterior, intervals=asked.intervals, at=asked.at, run=run_facts, tables=known)
    _checkpoint(posterior, folder / CHECKPOINT)
    done = time.perf_counter()
    seconds = {**(timings or {}), "report": done - reporting, "write": done - began}
    run = describe(posterior, asked, understanding, {name: round(value, 3) for name, value in seconds.items()})
    run["intervals"] = [] if rates is None else rates.to_dict("records")
    run["events"] = found.to_dict("records")
    run["files"] = {name: (folder / name).stat().st_size for name in those_there(folder, FILES)}
    write_text(folder / RUN, json_text(run, indent=2) + "\n")
    return run


def remove_run(folder: Path, keep: Sequence[str] = ()) -> None:
    """Remove the files of an earlier run, but those to ``keep``: run.json first, which vouches for them.

    Raises WriteError if one cannot be removed.
    """
    for name in reversed(FILES):
        if name not in keep:
            try:
                (folder / name).unlink(missing_ok=True)
            except OSError as error:
                raise WriteError(
                    f"cannot remove {folder / name} of an earlier run: {error.strerror or error}. Remove it, or choose "
                    "another place for the results."
                ) from None


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


def _tables(posterior: Posterior, at: ArrayLike) -> dict[str, pd.DataFrame]:
    """The curve, and the rate where there is one."""
    if not has_rate(posterior):
        return {"curve": posterior.curve(at)}
    return dict(zip(("curve", "rate"), posterior.curve_and_rate(at), strict=True))


def _write_tables(posterior: Posterior, folder: Path, tables: dict[str, pd.DataFrame]) -> None:
    """Curve, rate and parameters."""
    forward = axes.describe(posterior.record).forward
    for name, table in tables.items():
        _csv(forward(table) if name == "rate" else table, folder / f"{name}.csv")
    _csv(posterior.theta, folder / "theta.csv")
    if posterior.model.offsets is not None:
        _csv(posterior.offsets(), folder / "offsets.csv")
    if has_parts(posterior):
        _csv(components_table(posterior, tables["curve"]["at"]), folder / "components.csv")


def components_table(posterior: Posterior, at: ArrayLike) -> pd.DataFrame:
    """The parts of the curve and their rates, forward in time, and both without the trend where there is a linear one.

    Columns: component, quantity ("curve", "rate"), then those of ``Posterior.components``.
    """
    import pandas as pd

    forward = axes.describe(posterior.record).forward
    tables = []
    for quantity in ("curve", "rate") if has_rate(posterior) else ("curve",):
        table = posterior.components(at, rate=quantity == "rate")
        if has_trend(posterior):
            whole = posterior.rate if quantity == "rate" else posterior.curve
            table = pd.concat([table, whole(at, trend=False).assign(component="without trend")], ignore_index=True)
        table = forward(table) if quantity == "rate" else table
        table.insert(1, "quantity", quantity)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def _events(posterior: Posterior, asked: Asked) -> pd.DataFrame:
    draws = affordable(len(posterior.record) + POINTS, DRAWS, FEWEST_DRAWS, DRAWS_TIMES_ROWS)
    return events(posterior, asked.levels, asked.rates, asked.extremes, draws=draws, seed=asked.seed)


def _rates(posterior: Posterior, asked: Asked) -> pd.DataFrame | None:
    """The rates over the intervals asked for, forward in time."""
    if not asked.intervals:
        return None
    draws = affordable(len(posterior.record), MOST_DRAWS, FEWEST_DRAWS, DRAWS_TIMES_ROWS)
    forward = axes.describe(posterior.record).time_sign
    return interval_rates(posterior, asked.intervals, draws, asked.seed, scale=forward)


def _draw(posterior: Posterior, folder: Path, tables: dict[str, pd.DataFrame]) -> None:
    figure = plots.summary(posterior, **tables)
    for name in FIGURES:
        with replacing(folder / name) as partial:
            figure.savefig(partial, dpi=200)
        figure.set_layout_engine("none")  # where everything goes was found the first time


def inputs_table(posterior: Posterior, understanding: Understanding | None = None) -> pd.DataFrame:
    """The inputs in the order of the user's file, with its lines, labels, sequences and outputs.

    Depths, ties, limits and the probability of being an outlier are there where the record or the fit has them.
    """
    table, record = posterior.inputs(), posterior.record
    table["y"], table["y_sd"] = record.y, record.y_sd
    if record.limit is not None:
        table["limit"] = [_LIMITS[side] for side in record.limit.tolist()]
    if posterior.model.outliers is not None:
        table["outlier"] = posterior.outliers().to_numpy()
    if record.depth is not None:
        table.insert(0, "depth", record.depth)
    for name in "tie", "label", "sequence":
        values = getattr(record, name)
        if values is not None:
            table.insert(0, name, ["" if value is None else str(value) for value in values])
    if understanding is not None:
        table.insert(0, "line", list(understanding.lines))
        table = table.sort_values("line", kind="stable")
    return table


def state(posterior: Posterior) -> str:
    """How the fit ended, in a word or two."""
    facts = posterior.draws.diagnostics
    if facts["interrupted"]:
        return "interrupted"
    return "converged" if facts["converged"] else "not converged"


def describe(
    posterior: Posterior, asked: Asked, understanding: Understanding | None, seconds: dict[str, float]
) -> dict[str, Any]:
    """What run.json says."""
    facts = posterior.diagnostics
    told = {name: value for name, value in facts.items() if not isinstance(value, np.ndarray) and name != "history"}
    return {
        "lamina": __version__,
        "command": asked.command,
        "table": asked.table,
        "sha256": None if understanding is None else understanding.sha256,
        "seed": asked.seed,
        "settings": asked.settings,
        "state": state(posterior),
        "rows": len(posterior.record),
        "units": {
            "time": posterior.record.t_unit,
            "curve": posterior.record.y_unit,
            "rate": rate_unit(posterior.record),
        },
        "time_runs": axes.describe(posterior.record).runs or "not known",
        "understood": [] if understanding is None else [list(fact) for fact in understanding.facts],
        "warnings": [*(() if understanding is None else understanding.warnings), *asked.warnings],
        "diagnostics": told,
        "seconds": seconds,
    }


def read_checkpoint(folder: Path) -> dict[str, Any] | None:
    """The checkpoint that a run has left, if it has."""
    path = folder / CHECKPOINT
    if not path.is_file():
        return None
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        return dict(arrays)


def _checkpoint(posterior: Posterior, path: Path) -> None:
    if posterior.checkpoint is None:
        path.unlink(missing_ok=True)
        return
    with replacing(path) as partial:
        np.savez(partial, allow_pickle=False, **posterior.checkpoint)


def _csv(table: pd.DataFrame, path: Path) -> None:
    write_text(path, table.to_csv(index=False, float_format="%.10g", lineterminator="\n"))
