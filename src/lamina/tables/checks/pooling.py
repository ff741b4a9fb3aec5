"""Rows of several places under one curve: identifiers that repeat, and coordinates that are far apart."""

from typing import Any

import numpy as np

from ..columns import Reading
from ..headers import NO_OUTPUT, Header, squash
from ..messages import flag, listing, option
from ..numbers import Array
from ..places.degrees import find_column, to_degrees

#: Names of columns that say where a row comes from.
_PLACES = {
    *("region", "regionname", "regionid", "subregion", "area", "basin", "country", "state", "province", "county"),
    *(
        "gauge",
        "gaugeid",
        "gaugename",
        "tidegauge",
        "tidegaugeid",
        "stationid",
        "stationname",
        "stationcode",
    ),
    *(
        "lake",
        "lakename",
        "river",
        "bay",
        "estuary",
        "marsh",
        "bog",
        "island",
        "cave",
        "coast",
        "city",
        "place",
        "placename",
    ),
    *("record", "recordid", "recordname", "dataset", "datasetid", "datasetname", "series", "seriesid", "seriesname"),
    *("well", "borehole", "trench", "outcrop", "speleothem", "stalagmite", "tree", "entity", "entityname", "entityid"),
    *("psmslid", "studysite", "sitecode", "coresite", "group"),
}
#: Names of columns that say what was measured, in tables with one row for each value.
_VARIABLES = {
    *("variable", "variablename", "variabletype", "parameter", "parametername", "proxytype", "proxyname", "element"),
    *("isotope", "analyte", "measurementtype", "taxon", "taxonname", "species", "genus", "fraction", "units", "unit"),
}
#: A column of identifiers has two values at least, each of them in so many rows on average.
_ROWS_EACH = 3
#: Farther apart than this, rows of one core are not at one place, and sites have no common curve; in km.
_ONE_PLACE, _ONE_COAST = 10.0, 200.0
_DEGREE = 111.2
#: Places to compare; tables with more are compared by the first ones.
_MOST_PLACES = 5000


def ask_about_places(reading: Reading) -> None:
    """Ask if rows of several places would become one curve, unless an option has decided that."""
    if reading.options.pool:
        reading.fact("pooled", "all rows share one curve, wherever they come from", reading.set_by("pool"))
    if reading.options.pool or reading.options.sequence is not None:
        return
    if _ask_about_sites(reading):
        return
    for header in _identifiers(reading):
        names = list(dict.fromkeys(cell for cell in reading.column(header) if cell))
        reading.ask(
            f"the column has {len(names)} values in {len(reading.cells)} rows ({listing(names)}), as if these were "
            "separate records, and all rows would share one curve",
            f"{_field(reading, header)}fit each with lamina batch --by {_quoted(header)}, one with "
            f"{flag('sequence')} {_quoted(header)} "
            f"{flag('site')} NAME, all with one curve but an order of their own with {flag('sequence')} "
            f"{_quoted(header)}, or all as one with {flag('pool')} (sequence=, site=, pool= in Python)",
            None,
            header,
            by=header.text,
        )
        return
    _ask_about_distances(reading)


def _ask_about_sites(reading: Reading) -> bool:
    """Ask if a column names several sites, and return whether: they share a curve only if the user says so."""
    site = reading.columns.site
    names = [] if site is None else list(dict.fromkeys(cell for cell in reading.column(site) if cell))
    if site is None or len(names) < 2 or reading.columns.y.text == NO_OUTPUT:
        return False
    extent = _extent(*_places(reading))
    apart = f", up to {extent:.0f} km apart," if extent > _ONE_PLACE else ""
    field = _field(reading, site)
    answers: dict[str, Any] = {"places": True} if field else {"by": site.text}
    reading.ask(
        f"{len(names)} sites ({listing(names)}){apart} would share one curve",
        f"{field}fit each with lamina batch --by {_quoted(site)}, one with {option('site', 'NAME')}, or all with one "
        f"curve, each with an order of its own, with {flag('pool')} (pool=True in Python)",
        None,
        site,
        **answers,
    )
    return True


def _field(reading: Reading, site: Header) -> str:
    """How to fit the sites of a column together, if there are coordinates that tell them apart; else ""."""
    if find_column(reading, "longitude") is None or _extent(*_places(reading)) <= _ONE_PLACE:
        return ""
    named = "" if site.role in ("site", "core") else f" --site-column {_quoted(site)}"
    return (
        f"fit all together, each with a curve of its own, with lamina field {reading.path.name}{named} --out DIR "
        "(places=True in Python), "
    )


def _quoted(header: Header) -> str:
    return f'"{header.text}"' if " " in header.text else header.text


def _identifiers(reading: Reading) -> list[Header]:
    """Columns that name a few records of many rows each."""
    columns = reading.columns
    labelled = columns.core is not None or columns.site is not None
    separate = _PLACES if columns.y.text == NO_OUTPUT else _PLACES | _VARIABLES
    found = []
    for header in reading.headers:
        name = squash(header.text)
        an_id = header.role == "label" and header.rank > 0 and not labelled
        if header.role not in (None, "label") or not (an_id or name in separate):
            continue
        cells = [cell for cell in reading.column(header) if cell]
        values = len(set(cells))
        if values > 1 and len(cells) >= _ROWS_EACH * values:
            found.append(header)
    return found


def _ask_about_distances(reading: Reading) -> None:
    """Ask if the coordinates of one core differ, or those of several sites are far apart."""
    header = find_column(reading, "latitude")
    if header is None:
        return
    lat, lon = _places(reading)
    labels = [h for h in (reading.columns.site, reading.columns.core) if h is not None and any(reading.column(h))]
    everywhere, ordered = _extent(lat, lon), (reading.options.order or "").lower() != "none"
    if everywhere > _ONE_COAST:
        limit, extent = _ONE_COAST, everywhere
    elif ordered:
        names = np.array(
            [" / ".join(parts) for parts in zip(*map(reading.column, labels), strict=True)] or [""] * lat.size
        )
        extent = max(_extent(lat[names == name], lon[names == name]) for name in dict.fromkeys(names.tolist()))
        limit = _ONE_PLACE
    else:
        return
    if extent <= limit:
        return
    several = labels and len(set(reading.column(labels[0]))) > 1
    by = f"fit each with lamina batch --by {_quoted(labels[0])}, one with {flag('site')} NAME, or " if several else ""
    by = _field(reading, labels[0]) + by if several else by
    reading.ask(
        f"the rows lie up to {extent:.0f} km apart, and would share one curve",
        f"{by or 'name their sites in a column site, or '}fit them as one with {flag('pool')}, or say "
        f"{option('sequence', 'COLUMN or none')}",
        None,
        header,
        **({"by": labels[0].text} if several else {"pool": True}),
    )


def _places(reading: Reading) -> tuple[Array, Array]:
    """Latitude and longitude of each row: NaN where there are no degrees, and 0 without a column of longitudes."""
    lat, lon = (find_column(reading, axis) for axis in ("latitude", "longitude"))
    if lat is None:
        return np.full(len(reading.cells), np.nan), np.zeros(len(reading.cells))
    latitude, _ = to_degrees(reading.column(lat), lat, "latitude")
    return latitude, np.zeros_like(latitude) if lon is None else to_degrees(reading.column(lon), lon, "longitude")[0]


def _extent(latitude: Array, longitude: Array) -> float:
    """How far apart places are, in km: the largest distance from the first one, or from the farthest from it."""
    known = np.isfinite(latitude + longitude)
    latitude, longitude = latitude[known], longitude[known]
    if not latitude.size or max(np.ptp(latitude), np.ptp(longitude)) == 0.0:
        return 0.0
    places = np.unique(np.stack([latitude, longitude]), axis=1)[:, :_MOST_PLACES]
    first = _distances(places, 0)
    return float(max(first.max(), _distances(places, int(first.argmax())).max()))


def _distances(places: Array, start: int) -> Array:
    """Distances from one place, in km, on a sphere that is flat at its latitude: near enough to tell 10 km from 200."""
    lat, lon = places
    east = (lon - lon[start] + 180.0) % 360.0 - 180.0
    middle = np.cos(np.radians(0.5 * (lat + lat[start])))
    return np.asarray(_DEGREE * np.hypot(lat - lat[start], east * middle), dtype=np.float64)
