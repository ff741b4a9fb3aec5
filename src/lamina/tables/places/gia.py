"""Rates of glacial isostasy: columns of the table, or a file with a rate for each site or each point of a grid."""

import re
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...kernels.space import great_circle_km
from ...record import Record
from ...records.axes import describe
from ...records.places import Places
from ..columns import Reading
from ..file import Table, read_table
from ..headers import Header, squash
from ..messages import listing, option, problem, quote
from ..numbers import Array, is_blank, number_in
from ..options import Options
from . import degrees

_PER_YEAR = r"(?:mm|cm|m)?(?:per)?(?:years?|yrs?|ka|kyr|a)?"
_GIA = r"(?:ice\d?g?)?(?:gia|linear)(?:rates?|slope|velocity|trend)?"
_ERROR = r"(?:sds?|errors?|err|sigma|se|uncertainty)"
_RATE, _SD = re.compile(_GIA + _PER_YEAR), re.compile(rf"{_GIA}{_ERROR}{_PER_YEAR}|{_GIA}{_PER_YEAR}{_ERROR}")
#: In a file of such rates these names are clear too.
_RATE_HERE = re.compile(rf"rates?{_PER_YEAR}|value|{_RATE.pattern}")
_SD_HERE = re.compile(rf"(?:rates?)?{_PER_YEAR}{_ERROR}|{_SD.pattern}")
_SITE_HERE = ("site", "sitename", "siteid", "location", "station", "gauge", "name")
_UNIT = re.compile(
    r"(?<!\w)(mm|cm|m)\s?(?:/|per|[·⋅.]|)\s?(ka|kyr|a|y|yr|year)s?(?:\s?\^?[-⁻−][1¹])?(?![a-z])", re.IGNORECASE
)
#: Words of a header that are no unit, and what stands in brackets.
_WORDS, _BRACKETS = re.compile(rf"(?:{_GIA}|{_ERROR}|rates?|value|[0-9%])*"), re.compile(r"[(\[{]([^)\]}]*)")
_METRES = {"mm": 0.001, "cm": 0.01, "dm": 0.1, "m": 1.0, "ft": 0.3048}
_YEARS = {**dict.fromkeys(("a", "y", "yr", "year", "years"), 1.0), "ka": 1000.0, "kyr": 1000.0}
_USUAL = ("mm", "yr")
#: Glacial isostasy has no rates beyond these, in m a year: numbers that would be are of another unit.
_LARGEST, _SMALLEST = 0.05, 2e-5
#: A point of a grid belongs to a site if it is no farther away, in km: half the diagonal of one degree.
_NEAR_KM = 80.0


class Source(NamedTuple):
    """Where rates come from: a table, its columns, and for each site of the record the rows that hold its rate."""

    table: Table
    rate: Header
    rate_sd: Header | None
    rows: dict[str, list[int]]


def find_columns(table: Table, here: bool = False) -> tuple[Header | None, Header | None]:
    """The columns of the rate and of its error; ``here``, in a file of rates, shorter names are enough.

    Raises TableError if several columns may be meant.
    """
    patterns = (_RATE_HERE, _SD_HERE) if here else (_RATE, _SD)
    found = []
    for pattern, what in zip(patterns, ("the rate of glacial isostasy", "its error"), strict=True):
        alike = [h for h in table.headers if pattern.fullmatch(squash(h.text))]
        found.append(table.only(alike, what) if alike else None)
    return found[0], None if found[0] is None else found[1]


def with_gia(
    reading: Reading, names: list[str], columns: tuple[Header | None, Header | None], record: Record
) -> Record:
    """The record with the rates of its sites, from the file of rates or from the columns of the table.

    names: the site of each row of the table. Raises TableError if a site has no rate, or the unit is not clear.
    """
    assert record.places is not None
    source = _of_file(reading, record.places) if reading.options.gia is not None else None
    if source is None and columns[0] is not None:
        rows = {site: [i for i, name in enumerate(names) if name == site] for site in record.places.names}
        source = Source(reading, columns[0], columns[1], rows)
    if source is None:
        reading.fact("glacial isostasy", "no rates known beforehand", "no column gia, and no file with --gia")
        return record
    factor, sd_factor = _factors(reading, source, record)
    old = record.places
    rate, rate_sd = factor * _per_site(source, source.rate), np.full(len(old), np.nan)
    if source.rate_sd is not None:
        rate_sd = sd_factor * _per_site(source, source.rate_sd)
    return replace(record, places=Places(old.names, old.latitude, old.longitude, old.index, rate, rate_sd))


def _of_file(reading: Reading, places: Places) -> Source:
    """The file of rates: matched by the names of sites, or else by the nearest of its places."""
    path = Path(str(reading.options.gia))
    table = read_table(path, Options())
    rate, rate_sd = find_columns(table, here=True)
    if rate is None:
        raise table.header_problem(f"no column of rates; the columns are {table.listed}", "call it rate, or gia")
    site = next((h for h in table.headers if squash(h.text) in _SITE_HERE), None)
    if site is not None:
        cells = [squash(cell) for cell in table.column(site)]
        rows = {name: [i for i, cell in enumerate(cells) if cell == squash(name)] for name in places.names}
        how = "by the names of sites"
    else:
        rows, how = _nearest(table, places)
    reading.fact("glacial isostasy", f"{path.name}, the column {rate}", f"{reading.set_by('gia')}, {how}")
    return Source(table, rate, rate_sd, rows)


def _nearest(table: Table, places: Places) -> tuple[dict[str, list[int]], str]:
    """For each site the row of a table whose place is nearest, if it is near; and how far away they are, in words."""
    at = []
    for axis in "latitude", "longitude":
        header = degrees.find_column(table, axis)
        if header is None:
            do = "add a column site, or columns latitude and longitude"
            raise table.header_problem(f"nothing says where the rates are; the columns are {table.listed}", do)
        at.append(degrees.to_degrees(table.column(header), header, axis)[0])
    apart = np.nan_to_num(great_circle_km(places.latitude, places.longitude, *at), nan=np.inf)
    nearest, distance = apart.argmin(axis=1).tolist(), apart.min(axis=1)
    near = distance <= _NEAR_KM
    rows = {name: [k] if close else [] for name, k, close in zip(places.names, nearest, near, strict=True)}
    return rows, f"by the nearest place, up to {distance[near].max(initial=0.0):.0f} km away"


def _per_site(source: Source, header: Header) -> Array:
    """The number of each site, shape (S,). Raises TableError if a site has none, or two that differ."""
    cells, found, missing = source.table.column(header), [], []
    for site, rows in source.rows.items():
        filled = [i for i in rows if not is_blank(cells[i])]
        values = [number_in(cells[i], comma=True) for i in filled]
        for i, value in zip(filled, values, strict=True):
            if np.isnan(value):
                raise source.table.problem(f"found {quote(cells[i])}", "give a number", i, header)
            if value != values[0]:
                do = "give each site one rate"
                raise source.table.problem(f"{quote(site)} has two rates, {values[0]:g} and {value:g}", do, i, header)
        if not filled:
            missing.append(site)
        found.append(values[0] if values else np.nan)
    if missing:
        raise problem(
            source.table.path,
            f"no rate of glacial isostasy for {len(missing)} of {len(source.rows)} sites: {listing(missing)}",
            "add them, or leave out the rates of all sites: those without would be fitted as if there were none",
            column=header.text,
        )
    return np.array(found)


def _factors(reading: Reading, source: Source, record: Record) -> tuple[float, float]:
    """What rates and their errors are multiplied by to be in units of y per unit of t.

    Raises TableError if a unit is not known, or the rates would be of a size that glacial isostasy has nowhere.
    """
    axes = describe(record)
    metres, years = _METRES.get((record.y_unit.split() or [""])[0].lower()), _YEARS.get(axes.duration)
    if metres is None or years is None:
        name, lacking, such = ("y_unit", "output", "m") if metres is None else ("t_unit", "input", "BP")
        do = f"say {option(name, such)}"
        raise reading.problem(f"the unit of the {lacking} is not known, and rates must be converted to it", do)
    unit, why = _unit(reading, source)
    own = None if source.rate_sd is None or reading.options.gia_unit else _named_unit(source.rate_sd)
    per_year, sd_per_year = _metres_per_year(unit), _metres_per_year(own or unit)
    largest = np.abs(_per_site(source, source.rate)).max() * per_year
    if not _SMALLEST <= largest <= _LARGEST and not reading.options.gia_unit:
        raise source.table.problem(
            f"the largest rate would be {1000.0 * largest:g} mm a year, which is not one of glacial isostasy",
            f"name the unit with {option('gia_unit', 'mm/yr or m/yr')}",
            column=source.rate,
        )
    named = "with errors" if source.rate_sd is not None else "without errors"
    reading.fact("unit of these rates", f"{'/'.join(unit)}, forward in time, {named}", why)
    return axes.time_sign * years / metres * per_year, years / metres * sd_per_year


def _metres_per_year(unit: tuple[str, str]) -> float:
    return _METRES[unit[0].lower()] / _YEARS[unit[1].lower()]


def _named_unit(header: Header) -> tuple[str, str] | None:
    """The unit of a rate that a header names."""
    found = _UNIT.search(header.text.replace("_", " "))
    return (found[1], found[2]) if found else None


def _has_other_words(header: Header) -> bool:
    """Whether a header has words that may be a unit: in brackets, or beside those of a rate and its error."""
    texts = (header.text, *_BRACKETS.findall(header.text))
    return not all(_WORDS.fullmatch(squash(text)) for text in texts)


def _unit(reading: Reading, source: Source) -> tuple[tuple[str, str], str]:
    """Lengths and times of the rates, and why. Raises TableError if a header names a unit that is not known."""
    given = reading.options.gia_unit
    if given is not None:
        found = _UNIT.fullmatch(given.strip())
        if found is None:
            raise problem(reading.path, f"--gia-unit {given} is not a unit of a rate", "give one such as mm/yr or m/ka")
        return (found[1], found[2]), reading.set_by("gia_unit")
    for header in (source.rate, source.rate_sd):
        if header is not None and _named_unit(header) is None and _has_other_words(header):
            do = f"name the unit with {option('gia_unit', 'mm/yr or m/ka')}, or in the header"
            raise source.table.problem("the unit of these rates is not clear", do, column=header)
    named = _named_unit(source.rate)
    return (named, f"the header {source.rate}") if named else (_USUAL, "the header names none; set it with --gia-unit")
