"""The sites of a table: their names, their coordinates, and the rates of glacial isostasy in its columns."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...records.sites import ANTARCTIC, may_be_swapped
from ..columns import Reading
from ..headers import Header
from ..messages import listing, option
from ..numbers import Array
from . import degrees, gia

AXES = ("latitude", "longitude")


@dataclass(frozen=True)
class PlaceColumns:
    """The columns of a table that make it a field; those of glacial isostasy may be missing."""

    site: Header
    latitude: Header
    longitude: Header
    gia: tuple[Header | None, Header | None]  #: of the rate of glacial isostasy, and of its error

    @property
    def used(self) -> list[Header]:
        """All of them."""
        every = (self.site, self.latitude, self.longitude, *self.gia)
        return [header for header in every if header is not None]


def find_places(reading: Reading) -> PlaceColumns:
    """Which columns say where the rows come from. Raises TableError if one is missing."""
    site = site_column(reading)
    axes = {axis: degrees.find_column(reading, axis) for axis in AXES}
    missing = [axis for axis, header in axes.items() if header is None]
    if missing:
        raise reading.header_problem(
            f"no column of {' and none of '.join(missing)}, which a field needs; the columns are {reading.listed}",
            f"add one in decimal degrees, or name it with {option(missing[0], 'COLUMN')}",
        )
    return PlaceColumns(site, axes["latitude"], axes["longitude"], gia.find_columns(reading))  # type: ignore[arg-type]


def site_column(reading: Reading) -> Header:
    """The column that names the sites: the one that the user names, site, or core. Raises TableError if none does."""
    if reading.options.site_column is not None:
        return reading.require(reading.options.site_column, option("site_column", "COLUMN"))
    for header in reading.columns.site, reading.columns.core:
        if header is not None and any(reading.column(header)):
            return header
    do = f"add a column site, or name it with {option('site_column', 'COLUMN')}"
    raise reading.header_problem(f"no column names the sites; the columns are {reading.listed}", do)


def read_sites(reading: Reading, columns: PlaceColumns) -> dict[str, Any]:
    """``site``, ``latitude`` and ``longitude`` of a ``Record``, by row of the table. What is wrong becomes faults."""
    names = reading.column(columns.site)
    for i, name in enumerate(names):
        if not name:
            reading.fault("this row has no site", "fill the cell in, or leave the row out", i, columns.site)
    by = reading.set_by("site_column") if reading.options.site_column else "found by its name"
    every = [name for name in dict.fromkeys(names) if name]
    reading.fact("sites", f"{len(every)}, the column {columns.site}: {listing(every)}", by)
    if len(every) == 1:
        do = "fit them with lamina fit, or give the rows of other sites too"
        raise reading.problem(f"all rows are from one site, {listing(every)}, and a field needs two", do)
    found: dict[str, Any] = {"site": names}
    for axis in AXES:
        header = getattr(columns, axis)
        column, why = degrees.read_column(reading, header, axis)
        reading.fact(axis, f"the column {header}{_range(column)}", why)
        found[axis] = _fill(reading, header, axis, column, names)
    if may_be_swapped(*(found[axis][np.isfinite(found[axis])] for axis in AXES)):
        reading.warn(
            f"most sites lie south of {-ANTARCTIC:g}° S. If that is not so, the columns {columns.latitude} and "
            f"{columns.longitude} are swapped: rename them."
        )
    return found


def _range(column: Array) -> str:
    known = column[np.isfinite(column)]
    return f", {known.min():g} to {known.max():g}" if known.size else ""


def _fill(reading: Reading, header: Header, axis: str, column: Array, names: list[str]) -> Array:
    """Coordinates of all rows: an empty cell is that of another row of its site, where one is filled in.

    Sites without any become one fault.
    """
    filled = column.copy()
    first: dict[str, float] = {}
    for name, value in zip(names, column.tolist(), strict=True):
        if np.isfinite(value):
            first.setdefault(name, value)
    empty = np.flatnonzero(~np.isfinite(column)).tolist()
    for i in empty:
        filled[i] = first.get(names[i], np.nan)
    without = [i for i in empty if names[i] and names[i] not in first]
    if without and not reading.notes.faults:
        sites = list(dict.fromkeys(names[i] for i in without))
        reading.fault(f"no {axis} for {listing(sites)}", "give every site its coordinates", without, header)
    elif empty:
        reading.fact(f"{axis} of other rows", reading.name_lines(empty), "the cell is empty, and the site has another")
    return filled
