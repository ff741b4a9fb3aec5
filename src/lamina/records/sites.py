"""Sites, coordinates and rates of glacial isostasy, read from what users pass and checked."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from ..errors import RecordError
from ..kernels.space import great_circle_km
from ..support.checks import Labels, labels, numbers, rows_by_label
from ..support.numbers import short
from .places import Places, place_in_words

Array = np.ndarray

#: Positions of one site may differ by this much, in km; their mean is used. Kernels in space are far longer.
ONE_SITE_KM = 1.0
#: Sites closer than this, in km, are at the same point.
SAME_POINT_KM = 0.01
#: Sites of cores and gauges are rarely farther south than this: where most are, the two columns may be swapped.
ANTARCTIC = -60.0
#: The number of names in a message.
_SHOWN = 5


def read_places(
    site: Iterable[Any] | None, latitude: Any, longitude: Any, gia: Any, gia_sd: Any, n: int
) -> Places | None:
    """The places of n rows, from what users pass, or None if nothing is given.

    Coordinates and rates are columns with one value per row or one per site, or mappings from sites; a rate may be one
    number. Raises RecordError.
    """
    given = {"site": site, "latitude": latitude, "longitude": longitude, "gia": gia, "gia_sd": gia_sd}
    if all(one is None for one in given.values()):
        return None
    _check_complete(given)
    names = _names(labels("site", site, n) or ())
    rows = rows_by_label(names)
    sites = tuple(map(str, rows))
    index = np.empty(n, dtype=np.intp)
    for k, own in enumerate(rows.values()):
        index[own] = k
    at = {name: _per_row(name, given[name], sites, index) for name in ("latitude", "longitude")}
    _check_degrees(at["latitude"], at["longitude"])
    at["longitude"] = (at["longitude"] + 180.0) % 360.0 - 180.0
    where = np.array([_position(name, own, at) for name, own in rows.items()])
    rate, rate_sd = (_per_site(name, given[name], sites, index) for name in ("gia", "gia_sd"))
    places = Places(sites, where[:, 0], where[:, 1], index, rate, rate_sd)
    _check_sites(places)
    return places


def sequences_in_places(places: Places, sequence: Labels | None, n: int) -> Labels:
    """The labels of sequences of n rows: those given, or the sites.

    Raises RecordError if the places are of another number of rows, or a sequence has rows of several sites.
    """
    if not isinstance(places, Places) or len(places.index) != n:
        raise RecordError(f"places must be those of a record of {n} rows. Give site, latitude and longitude instead.")
    if sequence is None:
        return tuple(places.names[k] for k in places.index)
    for name, rows in rows_by_label(sequence).items():
        sites = [places.names[k] for k in dict.fromkeys(places.index[rows].tolist())]
        if len(sites) > 1:
            raise RecordError(
                f"sequence {name!r} has rows of {len(sites)} sites ({_listed(sites)}), and a core is at one. Give each "
                "core its own label in sequence, and rows without order none."
            )
    return sequence


def _check_complete(given: Mapping[str, Any]) -> None:
    """Raise RecordError unless site, latitude and longitude are given together, and gia with gia_sd."""
    missing = [name for name in ("site", "latitude", "longitude") if given[name] is None]
    if missing:
        have = " and ".join(name for name, value in given.items() if value is not None)
        raise RecordError(
            f"the record has {have} but no {' and no '.join(missing)}. A record with places needs site, latitude and "
            "longitude for every row; leave all of them out for a record of one place."
        )
    if given["gia"] is None and given["gia_sd"] is not None:
        raise RecordError("the record has gia_sd but no gia. Give the rates too, or leave out their errors.")


def _names(given: Labels) -> Labels:
    """Names of sites as text without blanks around them. Raises RecordError where one is missing."""
    missing = [i for i, name in enumerate(given) if name is None]
    if missing:
        raise RecordError(
            "site is missing in {rows}. Every row of a record with places needs the name of its site.", rows=missing
        )
    return tuple(str(name).strip() for name in given)


def _per_row(name: str, values: Any, sites: tuple[str, ...], index: Array) -> Array:
    """Coordinates, shape (N,), from one per row, one per site or a mapping."""
    if isinstance(values, Mapping):
        missing = [site for site in sites if site not in values]
        if missing:
            raise RecordError(f"{name} has no entry for {_listed(missing)}. Give every site its coordinates.")
        values = [values[site] for site in sites]
    column = numbers(name, values, gaps=True)
    if column.size not in (len(index), len(sites)):
        raise RecordError(
            f"{name} has {column.size} values, for {len(index)} rows of {len(sites)} sites. Give one value per row, or "
            "one per site in the order in which the sites first appear."
        )
    column = column if column.size == len(index) else column[index]
    bad = np.flatnonzero(~np.isfinite(column))
    if bad.size:
        without = _listed([sites[k] for k in dict.fromkeys(index[bad].tolist())])
        raise RecordError(
            f"{name} is missing or not finite in {{rows}} ({without}). Give every site its coordinates in degrees.",
            rows=bad,
        )
    return column


def _check_degrees(latitude: Array, longitude: Array) -> None:
    """Raise RecordError for degrees that there are not, with a hint where the two columns look swapped."""
    wrong = np.abs(latitude) > 90.0
    if wrong.any():
        row = int(np.argmax(wrong))
        swapped = (np.abs(longitude[wrong]) <= 90.0).all()
        hint = "Are latitude and longitude swapped?" if swapped else "Give it in degrees north of the equator."
        raise RecordError(
            f"latitude is {short(latitude[row])} in {{rows}}, and lies between -90 and 90. {hint}",
            rows=np.flatnonzero(wrong),
        )
    wrong = (longitude < -180.0) | (longitude > 360.0)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise RecordError(
            f"longitude is {short(longitude[row])} in {{rows}}, and lies between -180 and 180 or between 0 and 360. "
            "Give it in degrees east of Greenwich, negative to the west.",
            rows=np.flatnonzero(wrong),
        )


def _position(name: Hashable, rows: Array, at: Mapping[str, Array]) -> tuple[float, float]:
    """Latitude and longitude of one site from those of its rows, which may differ a little."""
    lat, lon = at["latitude"][rows], at["longitude"][rows]
    away = great_circle_km(lat[:1], lon[:1], lat, lon)[0]
    far = int(np.argmax(away))
    if away[far] > ONE_SITE_KM:
        raise RecordError(
            f"site {name!r} is at two places, {_km(away[far])} km apart, see {{rows}}: "
            f"{place_in_words(lat[0], lon[0])} and {place_in_words(lat[far], lon[far])}. "
            "Correct the coordinates, or give each place a name of its own.",
            rows=[rows[0], rows[far]],
        )
    if away[far] == 0.0:
        return float(lat[0]), float(lon[0])
    east = (lon - lon[0] + 180.0) % 360.0 - 180.0
    return float(lat.mean()), float((lon[0] + east.mean() + 180.0) % 360.0 - 180.0)


def _per_site(name: str, values: Any, sites: tuple[str, ...], index: Array) -> Array:
    """Rates, shape (S,), from one per row, one per site, one for all or a mapping; NaN where nothing is given."""
    if values is None:
        return np.full(len(sites), np.nan)
    if isinstance(values, Mapping):
        values = [values.get(site, np.nan) for site in sites]
    column = numbers(name, values, len(sites), gaps=True)
    if column.size not in (len(index), len(sites)):
        raise RecordError(
            f"{name} has {column.size} values, for {len(index)} rows of {len(sites)} sites. Give one value per site, "
            "in the order in which the sites first appear, or one per row."
        )
    if column.size == len(index):
        column = _same_in_site(name, column, sites, index)
    missing = [site for site, value in zip(sites, column, strict=True) if not np.isfinite(value)]
    if missing:
        raise RecordError(
            f"{name} is missing for {_listed(missing)} ({len(missing)} of {len(sites)} sites). Give it for every site, "
            "or for none: sites without it would be fitted as if there were no glacial isostasy."
        )
    if name == "gia_sd" and (column <= 0.0).any():
        site = sites[int(np.argmin(column))]
        raise RecordError(f"gia_sd is not positive for {site!r}. Give a standard deviation above 0.")
    return column


def _same_in_site(name: str, column: Array, sites: tuple[str, ...], index: Array) -> Array:
    """One value for each site from one per row. Rows may leave it out, but not contradict each other."""
    found = np.full(len(sites), np.nan)
    for k in range(len(sites)):
        rows = np.flatnonzero((index == k) & np.isfinite(column))
        if rows.size == 0:
            continue
        found[k] = column[rows[0]]
        other = rows[column[rows] != found[k]]
        if other.size:
            raise RecordError(
                f"{name} of site {sites[k]!r} differs between {{rows}}: {short(found[k])} and "
                f"{short(column[other[0]])}. Give each site one rate.",
                rows=[rows[0], other[0]],
            )
    return found


def _check_sites(places: Places) -> None:
    """Raise RecordError for one site only, and for sites at the same point."""
    if len(places) == 1:
        raise RecordError(
            f"all rows are from one site, {places.names[0]!r}, and a field needs at least two. Leave out site, "
            "latitude and longitude; sequence separates several cores of a site."
        )
    apart = places.distances() + np.diag(np.full(len(places), np.inf))
    if apart.min() < SAME_POINT_KM:
        i, j = sorted(np.unravel_index(int(np.argmin(apart)), apart.shape))
        where = place_in_words(places.latitude[i], places.longitude[i])
        raise RecordError(
            f"sites {places.names[i]!r} and {places.names[j]!r} are at the same point, {where}. Give them one name, "
            "with a label of its own in sequence for each core, or correct the coordinates."
        )


def may_be_swapped(latitude: Array, longitude: Array) -> bool:
    """Whether most sites would lie in the Antarctic, and need not if latitude and longitude were swapped.

    Other swaps cannot be noticed: both ways are places on the Earth.
    """
    if not (latitude.size and longitude.size):
        return False
    return bool(np.median(latitude) < ANTARCTIC and np.abs(longitude).max() <= 90.0)


def _km(distance: float) -> str:
    return f"{distance:,.1f}" if distance < 10.0 else f"{distance:,.0f}"


def _listed(names: Iterable[Any]) -> str:
    """The first few names in quotes, and how many there are."""
    every = [repr(name) for name in names]
    return ", ".join(every) if len(every) <= _SHOWN else f"{', '.join(every[:_SHOWN])}, ... ({len(every)} in all)"
