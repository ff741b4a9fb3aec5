"""The report of a curve, as plain data for the templates: the answer first, detail below."""

from __future__ import annotations

from typing import Any

from ..posterior.diagnosis import row_name
from ..support.numbers import (
    capitalised,
    count,
    number,
    percent,
    plain,
    probability,
    value_and_range,
    with_range,
    with_sd,
)
from . import answer, common, cores, events, figures
from .common import Data, Page
from .content import Content, Run


def build(content: Content, run: Run) -> Page:
    """All sections, in their order."""
    record, lead = content.posterior.record, " ".join(answer.answer(content))
    drawn = {"curve": figures.curve(content)}
    page = Page(
        title=f"{record.y_name} from {run.table}" if run.table else f"{record.y_name} against {record.t_name}",
        top="curve.html",
        lead=lead,
        alt=f"{capitalised(record.y_name)}: measurements and the curve with its bands. {lead}",
        figures=drawn,
    )
    page.add("rate", "Rate of change", _rate(content, drawn))
    if content.parts is not None:
        page.add("parts", "Components of the curve and trend", _parts(content, drawn))
    page.add("inputs", "Dates, reported and corrected", _inputs(content, drawn))
    page.add("check", "Does the model fit?", _check(content, drawn))
    page.add("parameters", "Parameters", common.parameters(content.posterior, content.theta, drawn))
    page.add("intervals", "Rates over intervals", _intervals(content))
    if len(content.events):
        rows = [list(events.in_words(record, one)) for one in content.events.to_dict("records")]
        page.add("events", "Events", {"rows": rows})
    common.add_shared(page, content.posterior, content.names, run)
    return page


def _rate(content: Content, drawn: dict[str, Any]) -> Data:
    if content.rate is not None:
        drawn["rate"] = figures.rate(content)
    summary = " ".join(answer.fastest(content))
    return {"figure": content.rate is not None, "summary": summary, "backwards": content.axes.backwards}


def _parts(content: Content, drawn: dict[str, Any]) -> Data:
    drawn["parts"] = figures.parts(content)
    if content.without_trend is not None:
        drawn["rate-without-trend"] = figures.rate(content, trend=False)
    return {"trend": answer.trend(content), "without_trend": content.without_trend is not None}


def _inputs(content: Content, drawn: dict[str, Any]) -> Data:
    record, table = content.posterior.record, content.inputs
    as_measured = content.posterior.as_measured
    figure = bool((table["t_sd"] > 0.0).any()) and not as_measured
    if figure:
        drawn["inputs"] = figures.inputs(content)
    shown = table.head(common.MOST_LINES)
    title = f"All {count(len(record), 'row')} as a table"
    if len(shown) < len(record):
        title = f"{len(shown):,} of {len(record):,} rows as a table; inputs.csv has all"
    return {
        "as_measured": as_measured,
        "summary": " ".join(answer.inputs(content)),
        "figure": figure,
        "title": title,
        "rows": [_input_row(content, int(str(row)), one) for row, one in shown.iterrows()] if figure else [],
    }


def _input_row(content: Content, row: int, one: Any) -> list[str]:
    record, found = content.posterior.record, with_sd(one["mean"], one["sd"])
    name = row_name(record, row, content.names)
    if not record.dated[row]:
        return [name, "no date", found, "–", "–", "–"]
    if one["t_sd"] == 0.0:
        return [name, f"{plain(one['t'])} (exact)", plain(one["mean"]), "–", "–", "–"]
    shift, scaled = number(one["shift"], 2), number(one["shift"] / one["t_sd"], 2)
    return [name, with_sd(one["t"], one["t_sd"]), found, shift, scaled, percent(one["kept"])]


def _check(content: Content, drawn: dict[str, Any]) -> Data:
    drawn |= {"residuals": figures.residuals(content), "check": figures.check(content)}
    return {"outliers": cores.outliers(content), "summary": " ".join(answer.check(content))}


def _intervals(content: Content) -> Data:
    unit, table = content.axes.rate_unit, content.intervals
    whole = ""
    if len(content.whole):
        one = content.whole.iloc[0]
        whole = with_range(one["mean"], one["q2.5"], one["q97.5"], unit)
    others = [name for name in table.columns if name.startswith("p>") and name != "p>0"] if len(table) > 1 else []
    head = ["from", "to", f"mean rate ({unit})" if unit else "mean rate", "95 %", "above 0"]
    rows = [
        [
            *(plain(one["from"]), plain(one["to"])),
            *value_and_range(one["mean"], one["q2.5"], one["q97.5"]),
            *(probability(one[name]) for name in ("p>0", *others)),
        ]
        for _, one in table.iterrows()
    ]
    head += [f"above {name[2:].replace(':', ' to ')}" for name in others]
    return {"whole": whole, "head": head, "rows": rows, "at": _at(content)}


def _at(content: Content) -> Data | None:
    """The requested times."""
    if content.at is None:
        return None
    axes, table = content.axes, content.at
    columns, head = [("mean", "low", "high")], [axes.time, axes.value, "95 %"]
    if "rate" in table:
        columns.append(("rate", "rate_low", "rate_high"))
        head += [axes.rate, "95 %"]
    rows = [
        [plain(one["at"]), *(cell for names in columns for cell in value_and_range(*(one[name] for name in names)))]
        for _, one in table.head(common.MOST_LINES).iterrows()
    ]
    note = common.cut(len(table), f"times of {content.posterior.record.t_name} are shown; curve.csv has all.")
    return {"head": head, "rows": rows, "note": note}
