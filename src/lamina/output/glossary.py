"""What the columns of the tables are, and their units: the text that is written beside them as columns.txt.

The tables themselves have plain headers, which every program reads, and no units in them.
"""

from __future__ import annotations

import csv
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from ..records.axes import describe
from ..records.glossary import parameter, rate_unit, with_unit

if TYPE_CHECKING:
    from ..posterior.posterior import Posterior

FILES = {
    "curve.csv": "the curve, one line for each time",
    "rate.csv": "its rate of change, one line for each time",
    "components.csv": "the parts that the curve is the sum of, and their rates, one line for each part and time",
    "offsets.csv": "the vertical offset of each core, one line for each",
    "inputs.csv": "the inputs (dates), one line for each row of the record",
    "theta.csv": "draws of the parameters, one a line; a method that gives an estimate repeats it",
    "intervals.csv": "mean rates over the intervals asked for",
    "events.csv": "when levels were first exceeded, and the extremes of the curve",
    "ensemble.csv": "joint draws of the inputs, one line for each row of the record",
}
WIDTH = 110


def columns_text(posterior: Posterior, folder: Path) -> str:
    """The columns of the tables that are in a folder of results."""
    parts = [
        "The columns of the tables, and their units. Quantiles are in percent: 95 % of the probability lies between\n"
        "q2.5 and q97.5."
    ]
    for name, title in FILES.items():
        if (folder / name).is_file():
            with (folder / name).open(encoding="utf-8", newline="") as file:
                columns = next(csv.reader(file))
            if name == "ensemble.csv":
                columns = [columns[0], f"1 ... {columns[-1]}"]
            told = {column: _meaning(posterior, name, column) for column in columns}
            parts.append(f"{name}: {title}\n{listed(told)}")
    return "\n\n".join(parts) + "\n"


def listed(told: dict[str, str]) -> str:
    """Columns and what they are, one a line; quantiles in one line."""
    quantiles = [column for column in told if _is_quantile(column)]
    shown = {column: text for column, text in told.items() if column not in quantiles[1:]}
    names = {column: f"{column} ... {quantiles[-1]}" if column in quantiles else column for column in shown}
    width = max(map(len, names.values()))
    lines = (
        fill(text, WIDTH, initial_indent=f"  {names[column]:<{width}}  ", subsequent_indent=" " * (width + 4))
        for column, text in shown.items()
    )
    return "\n".join(lines)


def _is_quantile(column: str) -> bool:
    return column[0] == "q" and column[1:2].isdigit()


def _meaning(posterior: Posterior, file: str, column: str) -> str:
    record = posterior.record
    time, value, rate = record.t_unit, record.y_unit, rate_unit(record)
    step = describe(record).duration or time
    what, unit = {
        "curve.csv": ("curve", value),
        "rate.csv": ("rate", rate),
        "inputs.csv": (
            "input as reported, as this method infers none" if posterior.as_measured else "true input",
            time,
        ),
        "offsets.csv": ("offset", value),
        "components.csv": ("part", f"{value or '1'}; of rates in {rate}"),
        "intervals.csv": ("rate over the interval", rate),
        "events.csv": ("quantity", ""),
    }.get(file, ("", ""))
    if file == "theta.csv":
        return with_unit(*parameter(record, column))
    if column.startswith("1 ... "):
        return with_unit("members: the input of the row in each draw", time)
    if column.startswith("p>"):
        other = "zero" if column == "p>0" else f"that over {column[2:]}"
        return f"probability that the rate is above {other}, from 0 to 1"
    if _is_quantile(column):
        return with_unit(f"quantiles of the {what}", unit)
    told = {
        "at": ("time", time),
        "from": ("beginning of the interval", time),
        "to": ("end of the interval", time),
        "component": ('kernel or "trend"; "without trend": the sum of all others', ""),
        "event": ('"first above" a level, "maximum" or "minimum"', ""),
        "of": ('of the "curve", or of its "rate" of change forward in time', ""),
        "level": ("the level asked for, of the curve or of the rate", ""),
        "p": ("probability that it ever was above the level between the first and the last input", ""),
        "p_start": ("probability that it was so from the beginning; the time is then that of the first input", ""),
        "p_end": ("probability that the extreme lies at an end of the record, beyond which it may go on", ""),
        "quantity": (
            'what the numbers are: "curve" or "rate"'
            if file == "components.csv"
            else '"time" or "size"; times of a level are among the draws that exceed it',
            "",
        ),
        "row": ("row of the record, counted from 0", ""),
        "depth": ("depth of the row", record.depth_unit),
        "tie": ("layer that the row shares with others; empty for none", ""),
        "limit": ('"above" or "below": where the curve lies beside y, which is a limit; empty if y is measured', ""),
        "outlier": ("probability that y is an outlier, from 0 to 1", ""),
        "line": ("line in your table", ""),
        "sequence": ("core or section that the row belongs to; empty for none", ""),
        "label": ("name of the row", ""),
        "t": (f"reported input, {record.t_name}", time),
        "t_sd": ("its standard deviation (1 sigma), 0 for exact, inf for a row without a date", step),
        "y": (f"measured output, {record.y_name}", value),
        "y_sd": ("its standard deviation (1 sigma), inf for a row without a value", value),
        "mean": (f"mean of the {what}", unit),
        "sd": (f"standard deviation (1 sigma) of the {what}", step if file == "inputs.csv" else unit),
    }
    return with_unit(*told[column])
