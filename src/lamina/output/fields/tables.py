"""The tables of a field: those of a curve with a column for the site, and what only a field has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...records.glossary import rate_unit, with_unit
from ...report.fields.answers import sites
from ..tables import Table, distribution

if TYPE_CHECKING:
    import pandas as pd

    from ...record import Record

SITE = {"site": "the site"}
EXTRAPOLATED = {
    "extrapolated": '"yes" where the time lies beyond the rows of the site: the numbers are those of its neighbours '
    "and of the prior"
}


def curves_table(record: Record, frame: pd.DataFrame) -> Table:
    """The curves of all sites."""
    columns = {**SITE, "at": with_unit("time", record.t_unit), **distribution("curve", record.y_unit), **EXTRAPOLATED}
    return Table("curve.csv", "the curve of each site, one line for each site and time", frame, columns)


def rates_table(record: Record, frame: pd.DataFrame) -> Table:
    """The rates of all sites, forward in time."""
    columns = {
        **SITE,
        "at": with_unit("time", record.t_unit),
        **distribution("rate", rate_unit(record)),
        **EXTRAPOLATED,
    }
    return Table("rate.csv", "its rate of change, one line for each site and time", frame, columns)


def common_table(record: Record, curve: pd.DataFrame, rate: pd.DataFrame) -> Table:
    """What all sites share, and its rate, forward in time."""
    import pandas as pd

    frame = pd.concat([curve.assign(quantity="curve"), rate.assign(quantity="rate")], ignore_index=True)
    frame.insert(0, "quantity", frame.pop("quantity"))
    columns = {
        "quantity": '"curve" or "rate"',
        "at": with_unit("time", record.t_unit),
        **distribution("common part", f"{record.y_unit or '1'}; of rates in {rate_unit(record)}"),
        "extrapolated": '"yes" where the time lies beyond the data',
    }
    return Table("common.csv", "the curve that all sites share, and its rate, one line for each time", frame, columns)


def components_table(record: Record, frame: pd.DataFrame) -> Table:
    """The parts of the curve of each site."""
    columns = {**SITE, "component": "a part of the curve", "at": with_unit("time", record.t_unit)}
    columns |= distribution("part", record.y_unit)
    title = "the parts whose sum is the curve of a site, one line for each site, part and time"
    return Table("components.csv", title, frame, columns)


def intervals_table(record: Record, frame: pd.DataFrame) -> Table:
    """Rates by site and interval, forward in time."""
    columns = {
        **SITE,
        "from": with_unit("beginning of the interval", record.t_unit),
        "to": with_unit("end of the interval", record.t_unit),
        **distribution("rate over the interval", rate_unit(record)),
    }
    for name in map(str, frame):
        if name.startswith("p>"):
            other = "zero" if name == "p>0" else f"that of the site over {name[2:]}"
            columns[name] = f"probability that the rate is above {other}, from 0 to 1"
    return Table("rates.csv", "mean rates, one line for each site and interval", frame, columns)


def sites_table(record: Record) -> Table:
    """The sites: where they are, how many rows they have, and what was known of them beforehand."""
    columns = {
        **SITE,
        "latitude": "degrees north",
        "longitude": "degrees east",
        "rows": "number of its rows",
        "exact": "of which have an exact time, such as those of a tide gauge",
        "first, last": with_unit("smallest and largest reported time", record.t_unit),
    }
    frame = sites(record)
    if "gia" in frame:
        per = f"{record.y_unit or '1'} per unit of {record.t_name}"
        columns["gia, gia_sd"] = with_unit(
            "rate known before the fit, and its standard deviation if that is known", per
        )
    return Table("sites.csv", "the sites, one line for each", frame, columns)
