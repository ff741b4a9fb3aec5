"""The report of a field, as plain data for the templates: the map first, then what sites share, and each site."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...posterior.diagnosis import line_names
from ...posterior.summary import parameters
from ...records.axes import describe
from ...support.numbers import capitalised, count, plain, with_range
from .. import common
from ..common import Data, Page
from ..content import Run
from . import figures
from .answers import Answers, in_rate_unit, maps_of, sites

if TYPE_CHECKING:
    import pandas as pd

    from ...posterior.posterior import Posterior
    from ...record import Record


def build(posterior: Posterior, answers: Answers, run: Run) -> Page:
    """All sections, in their order."""
    record, axes = posterior.record, describe(posterior.record)
    last = _of_last_interval(record, answers)
    drawn = {"map": figures.site_map(last, axes.rate_unit)}
    lead = " ".join(_lead(posterior, answers, last))
    page = Page(
        title=f"{capitalised(record.y_name)} of {count(len(last), 'site')}"
        + (f" from {run.table}" if run.table else ""),
        top="field.html",
        lead=lead,
        alt=f"Map of the sites, coloured by their rates. {lead}",
        figures=drawn,
    )
    page.add("common", "Common to all sites", _common(posterior, answers, drawn))
    page.add("apart", "What the data cannot distinguish", {"texts": list(answers.apart)})
    page.add("curves", "All sites", _curves(posterior, answers, drawn, run))
    own = answers.components[answers.components["site"] == answers.shown_site]
    drawn["parts"] = figures.parts(axes, record, own)
    page.add("components", f"Components at {answers.shown_site}", {"site": answers.shown_site})
    page.add("rates", "Rates by site and interval", _rates(record, answers))
    page.add("maps", "Maps", _maps(record, answers, drawn))
    page.add("parameters", "Parameters", common.parameters(posterior, parameters(posterior), drawn))
    common.add_shared(page, posterior, line_names(record, run.reading), run)
    return page


def _of_last_interval(record: Record, answers: Answers) -> pd.DataFrame:
    """The sites, with their rates over the last of the intervals, as they are shown."""
    last = in_rate_unit(record, answers.last_rates)
    return sites(record).merge(last[["site", "from", "to", "mean", "q2.5", "q97.5"]], on="site")


def _lead(posterior: Posterior, answers: Answers, last: pd.DataFrame) -> list[str]:
    """The answer in a few sentences."""
    record, axes = posterior.record, describe(posterior.record)
    between = f"between {plain(last['from'].iloc[0])} and {plain(last['to'].iloc[0])} {record.t_unit}".rstrip()
    low, high = last.loc[last["mean"].idxmin()], last.loc[last["mean"].idxmax()]
    said = [
        f"{with_range(one['mean'], one['q2.5'], one['q97.5'], axes.rate_unit)} at {one['site']}" for one in (low, high)
    ]
    rows = f"{count(len(record), 'row')} of {count(len(last), 'site')} were fitted together."
    return [rows, f"Mean rates {between} reach from {said[0]} to {said[1]}."]


def _common(posterior: Posterior, answers: Answers, drawn: dict[str, Any]) -> Data:
    record, axes = posterior.record, describe(posterior.record)
    drawn["common"] = figures.band(axes, answers.common, axes.value, record.y_unit)
    rate = in_rate_unit(record, answers.common_rate)
    drawn["common-rate"] = figures.band(axes, rate, axes.rate, axes.rate_unit)
    return {}


def _curves(posterior: Posterior, answers: Answers, drawn: dict[str, Any], run: Run) -> Data:
    record, axes = posterior.record, describe(posterior.record)
    assert record.places is not None
    names = list(record.places.names)
    for k, name in enumerate(names):
        rows = np.flatnonzero((record.places.index == k) & record.measured)
        table = answers.curves[answers.curves["site"] == name]
        drawn[f"site-{k}"] = figures.site_curve(axes, record, table, rows, answers.inputs, run.reading)
    return {"names": names, "value": axes.value}


def _rates(record: Record, answers: Answers) -> Data:
    rows = in_rate_unit(record, answers.rates).to_dict("records")
    intervals = list(dict.fromkeys((one["from"], one["to"]) for one in rows))
    sites: dict[str, list[Any]] = {}
    for one in rows:
        sites.setdefault(str(one["site"]), []).append(one)
    return {"intervals": [f"{plain(a)} to {plain(b)}" for a, b in intervals], "sites": sites}


def _maps(record: Record, answers: Answers, drawn: dict[str, Any]) -> Data:
    unit, shown, marked = describe(record).rate_unit, [], False
    places = sites(record)
    for k, one in enumerate(maps_of(record, answers)):
        drawn[f"map-rate-{k}"] = figures.surface(one.longitude, one.latitude, one.rate, one.beyond, unit, places)
        drawn[f"map-sd-{k}"] = figures.surface(one.longitude, one.latitude, one.rate_sd, one.beyond, unit, places)
        shown.append(plain(one.at))
        marked |= bool(one.beyond.any())
    return {"times": shown, "beyond": marked}
