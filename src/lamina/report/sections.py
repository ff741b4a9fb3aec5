"""The report of a curve, as plain data for the templates: the answer first, detail below."""

from __future__ import annotations

from typing import Any

from ..posterior.diagnosis import row_name
from ..support.numbers import capitalised
from . import answer, common, events, figures
from .common import Data, Page
from .content import Content, Run

#: A value that is an outlier with more than this probability is listed.
OUTLIER = 0.5


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
    posterior, table, rows = content.posterior, content.inputs, []
    if (table["t_sd"] > 0.0).any() and not posterior.as_measured:
        drawn["inputs"] = figures.inputs(content)
        rows = common.date_rows(posterior, table, content.names)
    return {"summary": " ".join(answer.inputs(content)), "rows": rows, "n": len(posterior.record)}


def _check(content: Content, drawn: dict[str, Any]) -> Data:
    drawn |= {"residuals": figures.residuals(content), "check": figures.check(content)}
    return {"outliers": _outliers(content), "summary": " ".join(answer.check(content))}


def _outliers(content: Content) -> list[tuple[str, float]] | None:
    """The likely outliers and their probabilities; None if outliers were not modelled."""
    posterior = content.posterior
    if posterior.model.outliers is None:
        return None
    found = posterior.outliers()
    likely = found[found > OUTLIER].sort_values(ascending=False)
    return [(row_name(posterior.record, int(str(row)), content.names), p) for row, p in likely.items()]


def _intervals(content: Content) -> Data:
    table, at = content.intervals, [] if content.at is None else content.at.to_dict("records")
    others = [name for name in table.columns if name.startswith("p>") and name != "p>0"] if len(table) > 1 else []
    rows, whole = table.to_dict("records"), content.whole.to_dict("records")
    return {"rows": rows, "others": others, "whole": whole, "at": at[: common.MOST_LINES], "n_at": len(at)}
