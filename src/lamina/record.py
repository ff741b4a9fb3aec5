"""Record: what was measured, in the known order of its rows, validated once."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .dates import Date
from .records.consistency import check_consistency
from .records.fields import (
    read_depth,
    read_hiatus,
    read_limits,
    read_measurements,
    read_minimum_gap,
    read_order,
    read_texts,
    read_thickness,
)
from .records.places import Places
from .records.sites import read_places, sequences_in_places
from .support.checks import Labels, labels, rows_by_label
from .support.display import Facts, as_html, as_text
from .support.numbers import count, short

if TYPE_CHECKING:
    import pandas as pd

Order = Literal["increasing", "decreasing"]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Record:
    """Measurements y with uncertain inputs t, whose true inputs have a known order down the rows.

    Rows keep the order in which they are given: they are never sorted and never dropped. Fields are matched by
    position; the index of a pandas Series is ignored. Two records are equal if all their fields are equal. A record
    cannot be hashed, because its value is in its arrays.

    Arguments
    ---------
    t, y: measured inputs and outputs, shape (N,). Arrays, lists or pandas Series.
    t_sd, y_sd: their standard deviations, shape (N,) or one number for all rows. ``t_sd == 0`` marks an exact
        input, ``t_sd == inf`` a layer without a date, whose t may be NaN; ``y_sd`` is positive, and ``y_sd == inf``
        marks a layer where nothing was measured, whose y may be NaN.
    order: whether the true inputs are "increasing" or "decreasing" down the rows of a sequence.
    sequence: a label per row. Rows with one label are one ordered sequence; a row whose label is missing
        (None, NaN, pandas.NA or blank text) has no known order. Without labels, all rows are one sequence.
    label: a name per row, for tables and figures.
    dates: a date per row from ``lamina.dates`` (radiocarbon, asymmetric, uniform ...), or None where t and t_sd
        describe it. Rows with a date take t and t_sd from its mean and sd; if all have one, t and t_sd may be None.
    depth: a depth or height per row. It must go one way down each sequence. The prior of the gaps is then a prior of
        the time per unit of depth, and rows of a sequence at equal depth have no known order among themselves.
    tie: a label per row. Rows with one label, next to each other in a sequence, have the same true input.
    thickness: the thickness of the slice of core, centred at its depth, that each row was sampled from, shape (N,) or
        one number, in the unit of depth; 0 or missing for none. The dated part of a slice is anywhere within it, which
        widens the date. A value is the mean over its slice: docs/agedepth.md.
    hiatus: whether there is a hiatus between a row and the next one of its sequence, shape (N,): that gap may have any
        size.
    least_gap: the minimum gap, in time, between a row and the next one of its sequence, shape (N,) or one number.
    limit: "above" (or "marine") where the curve is known to be above y, "below" (or "terrestrial") where it is below,
        None where y was measured. The smaller y_sd, the sharper the limit.
    site: the name of the place of each row, for a record of several places. The rows of a site may be of several cores,
        which ``sequence`` separates; without ``sequence``, the rows of each site are one sequence.
    latitude, longitude: degrees north and east, one per row or per site (in the order of first appearance), or a
        mapping from sites. Longitudes may run from -180 to 180 or from 0 to 360. Rows of a site may differ by up to
        1 km; their mean is used.
    gia, gia_sd: a rate of y per unit of t at each site that is known before the fit, such as that of glacial isostasy,
        and its standard deviation, in the forms of latitude or one number. All sites have it, or none.
    places: the same as an object, from another record; instead of site, latitude and longitude.
    t_name, t_unit, y_name, y_unit, depth_unit: names and units for tables and axes.

    Raises
    ------
    RecordError: a field cannot be used as it is.
    OrderError: exact inputs of one sequence contradict its order.
    """

    t: NDArray[np.float64]
    t_sd: NDArray[np.float64]
    y: NDArray[np.float64]
    y_sd: NDArray[np.float64]
    order: Order
    sequence: Labels | None
    label: Labels | None
    dates: tuple[Date | None, ...] | None
    depth: NDArray[np.float64] | None
    thickness: NDArray[np.float64] | None
    tie: Labels | None
    hiatus: NDArray[np.bool_] | None
    least_gap: NDArray[np.float64] | None
    limit: NDArray[np.int64] | None
    places: Places | None
    t_name: str
    t_unit: str
    y_name: str
    y_unit: str
    depth_unit: str

    # Written out, because it accepts any array-like and the fields hold arrays.
    def __init__(
        self,
        t: ArrayLike | None,
        t_sd: ArrayLike | None,
        y: ArrayLike,
        y_sd: ArrayLike,
        order: Order = "increasing",
        sequence: Iterable[Any] | None = None,
        label: Iterable[Any] | None = None,
        t_name: str = "t",
        t_unit: str = "",
        y_name: str = "y",
        y_unit: str = "",
        *,
        dates: Iterable[Date | None] | None = None,
        depth: ArrayLike | None = None,
        thickness: ArrayLike | None = None,
        tie: Iterable[Any] | None = None,
        hiatus: ArrayLike | None = None,
        least_gap: ArrayLike | None = None,
        limit: Iterable[str | None] | None = None,
        site: Iterable[Any] | None = None,
        latitude: ArrayLike | Mapping[str, float] | None = None,
        longitude: ArrayLike | Mapping[str, float] | None = None,
        gia: ArrayLike | Mapping[str, float] | None = None,
        gia_sd: ArrayLike | Mapping[str, float] | None = None,
        places: Places | None = None,
        depth_unit: str = "",
    ) -> None:
        values = read_measurements(t, t_sd, y, y_sd, dates)
        n = len(values["t"])
        values |= {"order": read_order(order)}
        values |= read_texts(t_name=t_name, t_unit=t_unit, y_name=y_name, y_unit=y_unit, depth_unit=depth_unit)
        values |= {name: labels(name, given, n) for name, given in (("sequence", sequence), ("label", label))}
        values |= {"tie": labels("tie", tie, n), "limit": read_limits(limit, n)}
        values |= {"depth": read_depth(depth, n), "hiatus": read_hiatus(hiatus, n)}
        values |= {"least_gap": read_minimum_gap(least_gap, n), "thickness": read_thickness(thickness, n)}
        values |= {"places": read_places(site, latitude, longitude, gia, gia_sd, n) if places is None else places}
        if values["places"] is not None:
            values["sequence"] = sequences_in_places(values["places"], values["sequence"], n)
        self._set(values)
        check_consistency(self)

    def _set(self, state: dict[str, Any]) -> None:
        for field in fields(self):
            value = state[field.name]
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, field.name, value)

    # Copied and unpickled arrays are writeable again: lock them too.
    __setstate__ = _set

    def __len__(self) -> int:
        return self.t.size

    def __repr__(self) -> str:
        return as_text(f"Record of {count(len(self), 'row')}", self._facts())

    def _repr_html_(self) -> str:
        return as_html(f"Record of {count(len(self), 'row')}", self._facts())

    def _facts(self) -> Facts:
        """What ``repr`` shows."""
        facts = [("order", f"{self.t_name} is {self.order} down the rows")]
        if self.places is not None:
            facts.append(("places", str(self.places)))
        if self.sequence is not None:
            facts.append(("sequences", f"{len(self.sequences)}; rows in none: {self.unordered.size}"))
        for name, mask in ("exact inputs", self.exact), ("no date", ~self.dated), ("no value", ~self.measured):
            if mask.any():
                facts.append((name, count(int(mask.sum()), "row")))
        for name, unit, column in (
            (self.t_name, self.t_unit, self.t[self.dated]),
            (self.y_name, self.y_unit, self.y[self.measured]),
        ):
            if column.size:
                facts.append((name, f"{short(column.min())} to {short(column.max())} {unit}".rstrip()))
        return facts

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record):
            return NotImplemented
        pairs = ((getattr(self, f.name), getattr(other, f.name)) for f in fields(self))
        return all(
            np.array_equal(a, b, equal_nan=True) if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) else a == b
            for a, b in pairs
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def exact(self) -> NDArray[np.bool_]:
        """Mask of the rows whose input is exact, shape (N,)."""
        return self.t_sd == 0.0

    @property
    def dated(self) -> NDArray[np.bool_]:
        """Mask of the rows that have a date, shape (N,)."""
        return np.isfinite(self.t_sd)

    @property
    def measured(self) -> NDArray[np.bool_]:
        """Mask of the rows that have a y, measured or as a limit, shape (N,)."""
        return np.isfinite(self.y_sd)

    @property
    def sign(self) -> float:
        """+1 or -1: latent inputs, on the scale sign * t, increase down the rows of a sequence."""
        return 1.0 if self.order == "increasing" else -1.0

    @property
    def sequences(self) -> tuple[tuple[Hashable | None, NDArray[np.intp]], ...]:
        """The ordered sequences as (label, row positions), by first appearance.

        Without labels there is one, which holds all rows and is called None.
        """
        if self.sequence is None:
            return ((None, np.arange(len(self))),)
        return tuple(rows_by_label(self.sequence).items())

    @property
    def unordered(self) -> NDArray[np.intp]:
        """Positions of the rows that belong to no sequence."""
        return np.array([i for i, name in enumerate(self.sequence or ()) if name is None], dtype=np.intp)

    def to_frame(self) -> "pd.DataFrame":
        """A pandas table in row order: t, t_sd, y, y_sd, and the other columns where they are given."""
        import pandas as pd

        frame = pd.DataFrame({name: getattr(self, name) for name in ("t", "t_sd", "y", "y_sd")})
        for name in ("sequence", "label", "dates", "depth", "thickness", "tie", "hiatus", "least_gap", "limit"):
            values = getattr(self, name)
            if values is not None:
                frame[name] = values if isinstance(values, np.ndarray) else pd.Series(values, dtype=object)
        for name, column in ({} if self.places is None else self.places.columns()).items():
            frame[name] = column
        return frame
