"""The sites of a record: where each of its rows was measured."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import RecordError
from ..kernels.space import great_circle_km
from ..support.numbers import short

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Places:
    """Sites with their coordinates, and the site of each row of a record.

    Made by ``Record`` from ``site``, ``latitude``, ``longitude``, ``gia`` and ``gia_sd``.
    """

    names: tuple[str, ...]  #: S sites, in the order in which they first appear
    latitude: NDArray[np.float64]  #: (S,), degrees north
    longitude: NDArray[np.float64]  #: (S,), degrees east, from -180 to 180
    index: NDArray[np.intp]  #: (N,), the site of each row
    gia: NDArray[np.float64]  #: (S,), rate of y per unit of t; NaN if not given
    gia_sd: NDArray[np.float64]  #: (S,), its standard deviation; NaN if not given

    def __post_init__(self) -> None:
        for name in "latitude", "longitude", "gia", "gia_sd":
            column = np.array(getattr(self, name), dtype=float)
            if column.shape != (len(self.names),):
                raise RecordError(f"places: {name} has the shape {column.shape}, with {len(self.names)} sites.")
            self._lock(name, column)
        index = np.array(self.index, dtype=np.intp)
        if index.ndim != 1 or (index.size and not 0 <= index.min() <= index.max() < len(self.names)):
            raise RecordError(f"places: index must hold a number from 0 to {len(self.names) - 1} for each row.")
        self._lock("index", index)
        object.__setattr__(self, "names", tuple(map(str, self.names)))

    def _lock(self, name: str, column: Array) -> None:
        column.setflags(write=False)
        object.__setattr__(self, name, column)

    def __len__(self) -> int:
        return len(self.names)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Places):
            return NotImplemented
        pairs = ((getattr(self, one.name), getattr(other, one.name)) for one in fields(self) if one.name != "names")
        return self.names == other.names and all(np.array_equal(a, b, equal_nan=True) for a, b in pairs)

    def __str__(self) -> str:
        south, north, west, east = (*_ends(self.latitude), *_ends(self.longitude))
        extent = f"{place_in_words(south, west)} to {place_in_words(north, east)}"
        return f"{len(self)} sites, {extent}{'; with rates of glacial isostasy' if self.has_gia else ''}"

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        # Unpickled arrays would be writeable.
        return type(self), tuple(getattr(self, one.name) for one in fields(self))

    @property
    def has_gia(self) -> bool:
        """Whether the sites have a rate of glacial isostasy."""
        return bool(np.isfinite(self.gia).all())

    def of_rows(self, rows: Array | slice) -> Places:
        """The same sites for some rows of the record."""
        return Places(self.names, self.latitude, self.longitude, self.index[rows], self.gia, self.gia_sd)

    def columns(self) -> dict[str, Array]:
        """The arguments of ``Record`` that make these places: one value per row."""
        names = ("latitude", "longitude", *(("gia",) if self.has_gia else ()))
        names += ("gia_sd",) if np.isfinite(self.gia_sd).all() else ()
        site = np.array(self.names, dtype=object)[self.index]
        return {"site": site} | {name: getattr(self, name)[self.index] for name in names}

    def distances(self) -> Array:
        """Great-circle distances between all sites, shape (S, S), in km."""
        return great_circle_km(self.latitude, self.longitude, self.latitude, self.longitude)


def _ends(column: Array) -> tuple[float, float]:
    return float(column.min()), float(column.max())


def place_in_words(latitude: float, longitude: float) -> str:
    """ "41.331° N, 71.864° W"."""
    north, east = "N" if latitude >= 0.0 else "S", "E" if longitude >= 0.0 else "W"
    return f"{short(abs(latitude))}° {north}, {short(abs(longitude))}° {east}"
