"""The tables that commands write, each with the meaning of its columns: columns.txt is made of these.

Headers are plain words without units, which every program reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..engine.quantiles import QUANTILES
from ..posterior import export
from ..posterior.agedepth import accumulation_quantiles
from ..posterior.boxes import has_rate, has_trend
from ..posterior.comparison import differences
from ..records.axes import describe
from ..records.glossary import parameter, rate_unit, with_unit
from ..support.text import to_cell

if TYPE_CHECKING:
    import pandas as pd

    from ..posterior.posterior import Posterior
    from ..record import Record
    from ..tables import TableReading

LINE_WIDTH = 110
HEADING = """\
The columns of the tables, and their units. Quantiles are in percent: 95 % of the probability lies between
q2.5 and q97.5."""
#: On which side of its value a row has the curve.
_LIMITS = {1: "above", -1: "below", 0: ""}


@dataclass(frozen=True, eq=False)
class Table:
    """A table, its file, and what it holds in words: as a whole, and column by column.

    Several columns may share one meaning: "first, second", "1 ... 50", or the first of the quantiles for all.
    """

    file: str
    title: str
    frame: pd.DataFrame
    columns: Mapping[str, str]
    digits: int = 10  #: significant digits of its numbers

    def to_csv(self) -> str:
        """The text of the file. Text that a spreadsheet would take for a formula has an apostrophe before it."""
        texts = [name for name in self.frame if self.frame[name].dtype.kind not in "biufM"]
        escaped = {name: [to_cell(one) if isinstance(one, str) else one for one in self.frame[name]] for name in texts}
        return self.frame.assign(**escaped).to_csv(index=False, float_format=f"%.{self.digits}g", lineterminator="\n")


def describe_columns(tables: Iterable[Table]) -> str:
    """The text of columns.txt."""
    parts = [f"{table.file}: {table.title}\n{list_columns(table.columns)}" for table in tables]
    return "\n\n".join([HEADING, *parts]) + "\n"


def list_columns(columns: Mapping[str, str]) -> str:
    """Columns and their meanings, one a line."""
    names = {name: f"{name} ... {QUANTILES[-1]}" if name == QUANTILES[0] else name for name in columns}
    width = max(map(len, names.values()))
    lines = (
        fill(text, LINE_WIDTH, initial_indent=f"  {names[column]:<{width}}  ", subsequent_indent=" " * (width + 4))
        for column, text in columns.items()
    )
    return "\n".join(lines)


def distribution(what: str, unit: str, sd_unit: str | None = None) -> dict[str, str]:
    """The columns that every distribution has; ``sd_unit`` where differences have a unit of their own."""
    return {
        "mean": with_unit(f"mean of the {what}", unit),
        "sd": with_unit(f"standard deviation (1 sigma) of the {what}", unit if sd_unit is None else sd_unit),
        QUANTILES[0]: with_unit(f"quantiles of the {what}", unit),
    }


def curve_table(posterior: Posterior, frame: pd.DataFrame) -> Table:
    """What ``Posterior.curve`` gave; times beyond the data are marked."""
    record = posterior.record
    columns = {"at": with_unit("time", record.t_unit), **distribution("curve", record.y_unit)}
    frame, columns = _marked(frame, columns, posterior.extrapolated(frame["at"]))
    return Table("curve.csv", "the curve, one line for each time", frame, columns)


def rate_table(posterior: Posterior, frame: pd.DataFrame) -> Table:
    """What ``Posterior.rate`` gave, turned to be forward in time; times beyond the data are marked."""
    record = posterior.record
    columns = {"at": with_unit("time", record.t_unit), **distribution("rate", rate_unit(record))}
    frame, columns = _marked(describe(record).forward(frame), columns, posterior.extrapolated(frame["at"]))
    return Table("rate.csv", "its rate of change, one line for each time", frame, columns)


def _marked(
    frame: pd.DataFrame, columns: dict[str, str], beyond: np.ndarray, what: str = "time"
) -> tuple[pd.DataFrame, dict[str, str]]:
    """A table with a column ``extrapolated`` where some of its lines, ``beyond`` (N,), lie beyond the data."""
    if not beyond.any():
        return frame, columns
    found = frame.assign(extrapolated=np.where(beyond, "yes", "no"))
    means = f'"yes" where the {what} lies beyond the data: the numbers are those of the prior more than of the data'
    return found, {**columns, "extrapolated": means}


def components_table(posterior: Posterior, at: ArrayLike) -> Table:
    """The parts of the curve and their rates, forward in time, and both without the trend where there is a linear one.

    Columns: component, quantity ("curve", "rate"), then those of ``Posterior.components``.
    """
    import pandas as pd

    record, frames = posterior.record, []
    for quantity in ("curve", "rate") if has_rate(posterior) else ("curve",):
        frame = posterior.components(at, rate=quantity == "rate")
        if has_trend(posterior):
            whole = posterior.rate if quantity == "rate" else posterior.curve
            frame = pd.concat([frame, whole(at, trend=False).assign(component="without trend")], ignore_index=True)
        frame = describe(record).forward(frame) if quantity == "rate" else frame
        frame.insert(1, "quantity", quantity)
        frames.append(frame)
    columns = {
        "component": 'kernel or "trend"; "without trend": the sum of all others',
        "quantity": 'what the numbers are: "curve" or "rate"',
        "at": with_unit("time", record.t_unit),
        **distribution("part", f"{record.y_unit or '1'}; of rates in {rate_unit(record)}"),
    }
    title = "the parts whose sum is the curve, and their rates, one line for each part and time"
    frame = pd.concat(frames, ignore_index=True)
    return Table("components.csv", title, *_marked(frame, columns, posterior.extrapolated(frame["at"])))


def offsets_table(posterior: Posterior) -> Table:
    """The vertical offset of each core."""
    columns = {
        "sequence": "core or section that the row belongs to; empty for none",
        **distribution("offset", posterior.record.y_unit),
    }
    return Table("offsets.csv", "the vertical offset of each core, one line for each", posterior.offsets(), columns)


def inputs_table(posterior: Posterior, reading: TableReading | None = None) -> Table:
    """The inputs in the order of the user's file, with its lines, labels, sequences and outputs.

    Depths, ties, limits and the probability of being an outlier are there where the record or the fit has them.
    """
    frame, record = posterior.inputs(), posterior.record
    frame["y"], frame["y_sd"] = record.y, record.y_sd
    if record.limit is not None:
        frame["limit"] = [_LIMITS[side] for side in record.limit.tolist()]
    if posterior.model.outliers is not None:
        frame["outlier"] = posterior.outliers().to_numpy()
    if record.depth is not None:
        frame.insert(0, "depth", record.depth)
    for name in "tie", "label", "sequence":
        values = getattr(record, name)
        if values is not None:
            frame.insert(0, name, ["" if value is None else str(value) for value in values])
    if reading is not None:
        frame.insert(0, "line", [int(line) for line in reading.lines])
        frame = frame.sort_values("line", kind="stable")
        files = [getattr(line, "file", "") for line in reading.lines]
        if any(files):
            frame.insert(0, "file", [files[row] for row in frame.index])
            frame = frame.sort_values("file", kind="stable")
    return _inputs(posterior, frame, "the inputs (dates), one line for each row of the record")


def dates_table(posterior: Posterior) -> Table:
    """The dates of an age-depth model with their depths: its other rows have none."""
    frame, record = posterior.inputs(), posterior.record
    frame.insert(0, "depth", record.depth)
    return _inputs(posterior, frame[record.dated], "the dates, one line for each")


def _inputs(posterior: Posterior, frame: pd.DataFrame, title: str) -> Table:
    record = posterior.record
    step = describe(record).duration or record.t_unit
    what = "input as reported, as this method infers none" if posterior.as_measured else "true input"
    known = {
        "file": "file with the dates, for its rows; empty for rows of your table",
        "line": "line in your table, or in the file with the dates",
        "site": "site of the row",
        "sequence": "core or section that the row belongs to; empty for none",
        "label": "name of the row",
        "tie": "layer that the row shares with others; empty for none",
        "depth": with_unit("depth of the row", record.depth_unit),
        "t": with_unit(f"reported input, {record.t_name}", record.t_unit),
        "t_sd": with_unit("its standard deviation (1 sigma), 0 for exact, inf for a row without a date", step),
        **distribution(what, record.t_unit, step),
        "date_outlier": "probability that the date is an outlier, that is, that its error is more than twice the "
        "reported one, from 0 to 1; empty for dates without tails",
        "y": with_unit(f"measured output, {record.y_name}", record.y_unit),
        "y_sd": with_unit("its standard deviation (1 sigma), inf for a row without a value", record.y_unit),
        "limit": '"above" or "below": where the curve lies beside y, which is a limit; empty if y is measured',
        "outlier": "probability that y is an outlier, from 0 to 1",
    }
    return Table("inputs.csv", title, frame, {name: known[name] for name in frame if name not in QUANTILES[1:]})


def theta_table(posterior: Posterior, digits: int = 10) -> Table:
    """Draws of the parameters."""
    frame = posterior.theta
    columns = {
        name: with_unit(*parameter(posterior.record, name, posterior.problem.kernel)) for name in map(str, frame)
    }
    title = "draws of the parameters, one a line; a method that gives an estimate repeats it"
    return Table("theta.csv", title, frame, columns, digits)


def intervals_table(record: Record, frame: pd.DataFrame) -> Table:
    """What ``interval_rates`` gave, forward in time."""
    columns = {
        "from": with_unit("beginning of the interval", record.t_unit),
        "to": with_unit("end of the interval", record.t_unit),
        **distribution("rate over the interval", rate_unit(record)),
    }
    for name in frame:
        if name.startswith("p>"):
            other = "zero" if name == "p>0" else f"that over {name[2:]}"
            columns[name] = f"probability that the rate is above {other}, from 0 to 1"
    return Table("intervals.csv", "mean rates over the requested intervals", frame, columns)


def events_table(frame: pd.DataFrame) -> Table:
    """What ``lamina.functionals.events`` gave."""
    columns = {
        "event": '"first above" a level, "maximum" or "minimum"',
        "of": 'of the "curve", or of its "rate" of change forward in time',
        "level": "the requested level, of the curve or of the rate",
        "p": "probability that it ever was above the level between the first and the last input",
        "p_start": "probability that it was so from the beginning; the time is then that of the first input",
        "p_end": "probability that the extreme lies at an end of the record, beyond which it may continue",
        "quantity": '"time" or "size"; times of a level are from the draws that exceed it',
        **distribution("quantity", ""),
    }
    return Table("events.csv", "when levels were first exceeded, and the extremes of the curve", frame, columns)


def ensemble_table(posterior: Posterior, members: int, seed: int) -> Table:
    """Joint draws of the inputs, row by member."""
    frame, record = export.ages(posterior, members, seed), posterior.record
    rows = {
        "row": "row of the record, counted from 0",
        "depth": with_unit("depth of the row", record.depth_unit),
    }
    drawn = with_unit("members: the input of the row in each draw", record.t_unit)
    columns = {frame.columns[0]: rows[frame.columns[0]], f"1 ... {members}": drawn}
    return Table("ensemble.csv", "joint draws of the inputs, one line for each row of the record", frame, columns)


def ages_table(posterior: Posterior, depths: ArrayLike | None = None) -> Table:
    """The age-depth model at some depths, by default at those of all layers."""
    record = posterior.record
    frame = posterior.ages(np.unique(record.depth) if depths is None else depths)  # type: ignore[arg-type]
    step = describe(record).duration or record.t_unit
    columns = {"depth": with_unit("depth", record.depth_unit), **distribution("age", record.t_unit, step)}
    known = np.asarray(record.depth)
    beyond = (frame["depth"] < known.min()) | (frame["depth"] > known.max())
    frame, columns = _marked(frame, columns, beyond.to_numpy(), "depth")
    return Table("ages.csv", "the age-depth model, one line for each depth", frame, columns)


def accumulation_table(posterior: Posterior) -> Table:
    """The time per unit of depth in the sections of a core between its dates; empty where there is a hiatus."""
    record, frame = posterior.record, accumulation_quantiles(posterior)
    axes = describe(record)
    unit = f"{axes.duration or 'units of time'} per {record.depth_unit or f'unit of {axes.along}'}"
    columns = {
        "from, to": with_unit("depths of the two ends of the section", record.depth_unit),
        **distribution("time per unit of depth", unit),
    }
    title = (
        "the accumulation, one line for each section between dates: the difference of the ages of its ends over their "
        "distance; empty where there is a hiatus"
    )
    return Table("accumulation.csv", title, frame, columns)


def differences_table(
    record: Record, curves: Mapping[str, pd.DataFrame], converged: Mapping[str, str] | None = None
) -> Table:
    """How far apart the curves of several methods are."""
    columns = {
        "first, second": "the two methods",
        "difference": with_unit(
            "how far apart their mean curves are: the absolute difference, averaged over the times", record.y_unit
        ),
        "divergence": "how far apart they are as probabilities, uncertainty included: the symmetric Kullback-Leibler "
        "divergence, averaged over the times, without unit. 0 means the same; 1, for bands of one width, that they are "
        "one standard deviation apart",
        "first_converged, second_converged": "whether each method has converged (yes, no, interrupted); do not rely on "
        "one that has not",
    }
    title = "how far apart the curves of each two methods are, one line for each pair"
    return Table("compare.csv", title, differences(curves, converged), columns, digits=6)


def curves_table(posteriors: Mapping[str, Posterior], curves: Mapping[str, pd.DataFrame]) -> Table:
    """The curves of several methods in one table; times beyond the data, as each method has them, are marked."""
    import pandas as pd

    record = next(iter(posteriors.values())).record
    frame = pd.concat([curve.assign(method=name) for name, curve in curves.items()])
    beyond = np.concatenate([posteriors[name].extrapolated(curve["at"]) for name, curve in curves.items()])
    columns = {
        "at": with_unit("time", record.t_unit),
        **distribution("curve", record.y_unit),
        "method": "the method that gave the curve",
    }
    frame, columns = _marked(frame, columns, beyond)
    return Table("curves.csv", "the curve of each method, one line for each method and time", frame, columns)
