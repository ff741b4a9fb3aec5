"""``python -m lamina.app.helpers.understanding``: a process that reads tables and says what ``lamina check`` says."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import LaminaError
from ...output.settings import explain_order, read_age_files
from ...record import Record
from ...support.numbers import count, decimals, fixed
from ...support.text import visible
from ...tables.checks.survey import Survey, survey
from ...tables.messages import StandIn, TableError
from ...tables.options import Options
from ...tables.preview import preview
from .lines import answer_lines

#: Rows of a table that the page gets; of a longer one it shows the first.
MOST_ROWS = 5000
LONGEST_CELL = 200
#: The options that change a conclusion, by what it is about. What is not here has none, or is named in the reason.
CONTROLS = {
    "file": ("sheet",),
    "units": ("t_unit", "y_unit"),
    "not used": ("t", "y", "depth", "sequence"),
    "table": ("sheet",),
    "input": ("t", "t_name", "t_unit"),
    "output": ("y", "y_name", "y_unit"),
    "input error": ("t_sd", "t_errors"),
    "input error unit": ("t_unit",),
    "output error unit": ("y_unit",),
    "exact rows": ("t_sd",),
    "output error": ("y_sd",),
    "input sigma": ("t_sigma",),
    "output sigma": ("y_sigma",),
    "input sides": ("t_sides",),
    "output sides": ("y_sides",),
    "age type": ("age_type",),
    "radiocarbon": ("age_type", "curve"),
    "calibration": ("curve", "age_type"),
    "radiocarbon error": ("t_sd", "t_sigma"),
    "scale": ("scale",),
    "time": ("scale",),
    "years": ("scale",),
    "depth": ("depth",),
    "thickness": ("thickness",),
    "order": ("order", "depth"),
    "rows without order": ("order", "depth"),
    "direction": ("order_direction",),
    "reversals": ("order", "order_direction"),
    "turned round": ("order_direction",),
    "sequences": ("sequence", "site"),
    "cores": ("sequence", "site"),
    "site": ("site",),
    "sites": ("site_column", "site"),
    "latitude": ("latitude",),
    "longitude": ("longitude",),
    "glacial isostasy": ("gia", "gia_unit"),
    "unit of these rates": ("gia_unit",),
    "pooled": ("pool", "site"),
    "gaps": ("gaps_by",),
    "layers": ("equal_depth",),
    "blocks": ("equal_depth",),
    "hiatus": ("hiatus",),
    "minimum gap": ("least_gap",),
    "limits": ("limiting",),
    "limiting": ("limiting",),
    "rejected": ("flags",),
    "missing": ("missing",),
    "filled": ("fill_down",),
    "without a date": ("incomplete",),
    "without a value": ("incomplete",),
    "left out": ("leave_out",),
    "dates ignored": ("ignore_date",),
    "errors of dates": ("t_errors",),
    "dates": ("dates",),
}


def understand(path: str, options: dict[str, Any], command: str, files: dict[str, str]) -> dict[str, Any]:
    """How a table is read for a command, with the cells that show it. An option that is wrong is a problem as well.

    files: the files of another age model, "ages" or "ages_covariance".
    """
    try:
        chosen = Options(**options, places=command == "field")
    except TableError as error:
        nothing = {"facts": [], "warnings": [], "works": False, "suggested": "", "span": ""}
        return {**nothing, "problems": [_problem(error)], "grid": _grid(path, Options(), Options())}
    models = {name: Path(file) for name, file in files.items()}
    if models and chosen.order is None:
        chosen = replace(chosen, order="none")  # as the command does: the age model has used it
    found = survey(path, chosen, "fit" if command == "field" else command, ages=models.get("ages"))
    reading, suggested = found.reading, _suggested(found)
    problems = [_problem(error) for error in found.asked]
    if reading is not None and models:
        try:
            _, cautions = read_age_files(models, reading)
            reading = explain_order(models, replace(reading, warnings=(*reading.warnings, *cautions)))
        except LaminaError as error:
            problems.append(_problem(error))
    if not problems and suggested != command:
        text = f"lamina {command} cannot read this table{f'; lamina {suggested} can' if suggested else ''}."
        problems.append(_problem(LaminaError(text)))
    return {
        "problems": problems,
        "facts": [] if reading is None else [_fact(*fact) for fact in reading.facts],
        "warnings": [] if reading is None else [visible(warning) for warning in reading.warnings],
        "works": not problems and reading is not None,
        "span": "" if reading is None else _span(reading.record),
        "suggested": suggested,
        "grid": _grid(path, chosen, found.options, command, () if reading is None else reading.lines),
    }


def _problem(error: LaminaError) -> dict[str, Any]:
    """What is wrong, the options that decide it, each with its most likely value or None, and the cells."""
    text, found = visible(str(error)), error if isinstance(error, TableError) else TableError(str(error))
    known = {one.name for one in fields(Options)} - {"places"}  # that is another command, which the page suggests
    answers = {name: value for name, value in found.answers.items() if name in known}
    if {"by", "places"} & set(found.answers):  # one record of several can be chosen
        answers["site"] = None
    answers |= dict.fromkeys(name for name in _named(text) if name not in answers)
    if "t" in answers and answers["t"] is None:  # another age model may date the rows
        answers["ages"] = None
    return {
        "text": text,
        "answers": {name: None if isinstance(value, StandIn) else value for name, value in answers.items()},
        "places": [[None if line is None else int(line), column] for line, column in found.places[:MOST_ROWS]],
        "choices": {name: list(map(visible, choices)) for name, choices in found.choices.items()},
    }


def _named(text: str) -> list[str]:
    """The options that a text names."""
    return [one.name for one in fields(Options) if f"--{one.name.replace('_', '-')} " in f"{text} "]


def _fact(what: str, understood: str, why: str) -> dict[str, Any]:
    controls = dict.fromkeys([*CONTROLS.get(what, ()), *_named(why)])
    return {"what": what, "understood": visible(understood), "why": visible(why), "controls": list(controls)}


def _suggested(found: Survey) -> str:
    """The command that reads the table: fit or agedepth; "batch" if it holds several records; "" for none."""
    return shlex.split(found.command)[1] if found.command else ""


def _span(record: Record) -> str:
    """How many rows there are, and between which times."""
    t, rows = record.t[record.dated], count(len(record), "row")
    if not t.size:
        return rows
    first, last = (fixed(end, decimals(np.ptp(t))) for end in (t.min(), t.max()))
    return f"{rows}, dated from {first} to {last} {record.t_unit}".rstrip()


def _grid(
    path: str, options: Options, likely: Options, command: str = "fit", used: Sequence[int] = ()
) -> dict[str, Any] | None:
    """The cells and the roles of their columns. A role that only the most likely answers give is called assumed."""
    try:
        shown = preview(path, options, command)
        assumed = shown if likely == options else preview(path, likely, command)
    except TableError:
        return None
    roles = shown.roles
    if shown.headers == assumed.headers:
        both = zip(roles, assumed.roles, strict=True)
        roles = [role or (f"{other}, assumed" if other else "") for role, other in both]
    kept = {int(line) for line in used}
    cells = [[cell[:LONGEST_CELL] for cell in row] for row in shown.cells[:MOST_ROWS]]
    width = max(map(len, [shown.headers, *cells]))  # rows that are wider than the header are shown whole
    none = [""] * (width - len(shown.headers))
    return {
        "headers": [*(text[:LONGEST_CELL] for text in shown.headers), *none],
        "columns": [*shown.headers, *none],
        "roles": [*roles, *none],
        "header_line": shown.header_line,
        "lines": shown.lines[:MOST_ROWS],
        "cells": [row + [""] * (width - len(row)) for row in cells],
        "unused": [line for line in shown.lines[:MOST_ROWS] if kept and line not in kept],
        "rows": len(shown.lines),
    }


def ready() -> bool:
    """A question that only wakes the process."""
    return True


if __name__ == "__main__":
    answer_lines({"understand": understand, "ready": ready})
