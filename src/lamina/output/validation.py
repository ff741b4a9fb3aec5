"""A validation as files: validation.csv, and what run.json holds of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.quantiles import QUANTILES
from ..records.axes import describe
from ..records.glossary import with_unit
from ..support.numbers import percent
from ..validation import COVERAGE_LEVELS, Validation
from .tables import Table, distribution

if TYPE_CHECKING:
    from ..record import Record
    from ..tables import TableReading


def validation_table(record: Record, validation: Validation, reading: TableReading | None = None) -> Table:
    """The dates that were left out, with their lines in the user's table."""
    frame, step = validation.table.copy(), describe(record).duration or record.t_unit
    for level in COVERAGE_LEVELS:
        frame[f"inside_{percent(level).split()[0]}"] = np.where(validation.inside(level), "yes", "no")
    frame["fold"] += 1
    if reading is not None:
        frame["row"] = [int(reading.lines[row]) for row in frame["row"]]
        frame = frame.rename(columns={"row": "line"})
    frame = frame.drop(columns="sequence") if record.sequence is None else frame
    known = {
        "line": "line of the date in your table",
        "row": "row of the date, counted from 0",
        "dates": "number of dates of its layer, which were left out together and count as one",
        "sequence": "core or section that the row belongs to; empty for none",
        "depth": with_unit("depth of the date", record.depth_unit),
        "t": with_unit(f"reported date, {record.t_name}", record.t_unit),
        "t_sd": with_unit("its standard deviation (1 sigma)", step),
        **distribution("age at its depth, from the model without it", record.t_unit, step),
        "pit": "probability that this model gives to a date below the reported one, with the error of the date "
        "included; uniform from 0 to 1 if the bands are right",
        "fold": "part of the dates that it was left out with, counted from 1",
    }
    known |= {name: f'"yes" if the date lies in its {name[7:]} % range' for name in frame if name.startswith("inside")}
    columns = {name: known[name] for name in frame if name not in QUANTILES[1:]}
    return Table("validation.csv", "dates left out and predicted, one line for each", frame, columns)


def validation_facts(found: Validation | None) -> dict[str, Any]:
    """What run.json holds of a validation."""
    if found is None:
        return {}
    facts = {"verdict": found.verdict, "folds": found.folds, "unconverged": found.unconverged, "power": found.power}
    return {"validation": {**facts, "interrupted": found.interrupted, "coverage": found.coverage().to_dict("records")}}
