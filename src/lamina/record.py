"""Record: what was measured, in the known order of its rows, validated once."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .dates import Date
from .errors import OrderError, RecordError
from .support.checks import Labels, check_length, labels, numbers

if TYPE_CHECKING:
    import pandas as pd

Order = Literal["increasing", "decreasing"]

#: What a limit may be called, and what it says: the curve is above (+1) or below (-1) the value.
LIMITS = {"above": 1, "marine": 1, "below": -1, "terrestrial": -1}


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Record:
    """Measurements y with uncertain inputs t, whose true inputs have a known order down the rows.

    Rows keep the order in which they are given: they are never sorted and never dropped. Fields are matched
    by position; the index of a pandas Series plays no part. Two records are equal if all their fields are. A
    record cannot be hashed, because its value is in its arrays.

    Arguments
    ---------
    t, y: measured inputs and outputs, shape (N,). Arrays, lists and pandas Series will do.
    t_sd, y_sd: their standard deviations, shape (N,) or one number for all rows. ``t_sd == 0`` marks an exact
        input, ``t_sd == inf`` a layer without a date, whose t may be NaN; ``y_sd`` is positive, and ``y_sd == inf``
        marks a layer where nothing was measured, whose y may be NaN.
    order: whether the true inputs are "increasing" or "decreasing" down the rows of a sequence.
    sequence: a label per row. Rows with one label are one ordered sequence; a row whose label is missing
        (None, NaN, pandas.NA or blank text) has no known order. Without labels, all rows are one sequence.
    label: a name per row, for tables and figures.
    dates: a date per row from ``lamina.dates`` (radiocarbon, asymmetric, uniform ...), or None where t and t_sd say it
        all. Rows with a date take t and t_sd from its mean and sd; if all have one, t and t_sd may be None.
    depth: a depth or height per row. It must go one way down each sequence. The prior of the gaps is then one of the
        time per unit of depth, and rows of a sequence at equal depth have no known order among themselves.
    tie: a label per row. Rows with one label, next to each other in a sequence, have the same true input.
    hiatus: whether there is a hiatus between a row and the next one of its sequence, shape (N,): that gap may have any
        size.
    least_gap: how far apart in time a row and the next one of its sequence are at least, shape (N,) or one number.
    limit: "above" (or "marine") where the curve is known to be above y, "below" (or "terrestrial") where it is below,
        None where y was measured; the error of y tells how sharp the limit is.
    t_name, t_unit, y_name, y_unit, depth_unit: text for axes.

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
    tie: Labels | None
    hiatus: NDArray[np.bool_] | None
    least_gap: NDArray[np.float64] | None
    limit: NDArray[np.int64] | None
    t_name: str
    t_unit: str
    y_name: str
    y_unit: str
    depth_unit: str

    # Written out, not generated, because what it accepts (any array-like) is wider than what the fields hold.
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
        tie: Iterable[Any] | None = None,
        hiatus: ArrayLike | None = None,
        least_gap: ArrayLike | None = None,
        limit: Iterable[str | None] | None = None,
        depth_unit: str = "",
    ) -> None:
        given, t, t_sd = _read_dates(dates, t, t_sd)
        n = np.size(t)
        if n == 0:
            raise RecordError("the record is empty: t and y hold no values. Give at least one row.")
        columns = {name: numbers(name, sd, n, gaps=True) for name, sd in (("t_sd", t_sd), ("y_sd", y_sd))}
        for name, sd in columns.items():
            check_length(name, sd.size, n)
        _check_standard_deviations(columns["t_sd"], columns["y_sd"])
        columns["t"] = numbers("t", t, gaps=columns["t_sd"] == np.inf)
        columns["y"] = numbers("y", y, n if np.isinf(columns["y_sd"]).all() else None, gaps=True)
        check_length("y", columns["y"].size, n)
        numbers("y", columns["y"], gaps=columns["y_sd"] == np.inf)
        for name in "t", "y":
            columns[name][np.isinf(columns[f"{name}_sd"])] = np.nan
        if order not in ("increasing", "decreasing"):
            raise RecordError(
                f"order must be 'increasing' or 'decreasing', got {order!r}. "
                "Say which way the true inputs go down the rows."
            )
        texts = {"t_name": t_name, "t_unit": t_unit, "y_name": y_name, "y_unit": y_unit, "depth_unit": depth_unit}
        for name, text in texts.items():
            if not isinstance(text, str):
                raise RecordError(f"{name} must be text, got {text!r}. Pass a string, empty for none.")
        self._set(
            columns
            | {
                "order": order,
                "sequence": labels("sequence", sequence, n),
                "label": labels("label", label, n),
                "dates": given,
                "depth": None if depth is None else numbers("depth", depth, gaps=True),
                "tie": labels("tie", tie, n),
                "hiatus": None if hiatus is None else _read_flags("hiatus", hiatus, n),
                "least_gap": None if least_gap is None else numbers("least_gap", least_gap, n),
                "limit": _read_limits(limit, n),
            }
            | texts
        )
        self._check_depth()
        self._check_least_gap()
        self._check_dated()
        self._check_exact_rows()

    def _set(self, state: dict[str, Any]) -> None:
        for field in fields(self):
            value = state[field.name]
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, field.name, value)

    # Copied and unpickled arrays are writeable again, so this way in must lock them too.
    __setstate__ = _set

    def __len__(self) -> int:
        return self.t.size

    def __repr__(self) -> str:
        parts = [f"{len(self)} rows, {self.order}"]
        if self.sequence is not None:
            parts.append(f"sequences: {len(self.sequences)}, rows without order: {self.unordered.size}")
        for said, mask in (
            ("exact inputs", self.exact),
            ("without a date", ~self.dated),
            ("without a value", ~self.measured),
        ):
            if mask.any():
                parts.append(f"{said}: {np.count_nonzero(mask)}")
        for name, unit, values in (
            (self.t_name, self.t_unit, self.t[self.dated]),
            (self.y_name, self.y_unit, self.y[self.measured]),
        ):
            if values.size:
                parts.append(f"{name} {values.min():g} to {values.max():g} {unit}".rstrip())
        return f"<Record: {'; '.join(parts)}>"

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
        rows: dict[Hashable, list[int]] = {}
        for i, name in enumerate(self.sequence):
            if name is not None:
                rows.setdefault(name, []).append(i)
        return tuple((name, np.array(positions, dtype=np.intp)) for name, positions in rows.items())

    @property
    def unordered(self) -> NDArray[np.intp]:
        """Positions of the rows that belong to no sequence."""
        return np.array([i for i, name in enumerate(self.sequence or ()) if name is None], dtype=np.intp)

    def to_frame(self) -> "pd.DataFrame":
        """A pandas table in row order: t, t_sd, y, y_sd, and the other columns where they are given."""
        import pandas as pd  # here, because importing it takes longer than importing lamina

        frame = pd.DataFrame({name: getattr(self, name) for name in ("t", "t_sd", "y", "y_sd")})
        for name in ("sequence", "label", "dates", "depth", "tie", "hiatus", "least_gap", "limit"):
            values = getattr(self, name)
            if values is not None:
                frame[name] = values if isinstance(values, np.ndarray) else pd.Series(values, dtype=object)
        return frame

    def _check_depth(self) -> None:
        """Down a sequence, depths are there and go one way."""
        if self.depth is None:
            return
        check_length("depth", self.depth.size, len(self))
        for name, rows in self.sequences:
            where = "" if name is None else f" in sequence {name!r}"
            missing = rows[~np.isfinite(self.depth[rows])]
            if missing.size:
                raise RecordError(
                    f"depth is missing, NaN or infinite in {{rows}}{where}. Give every row of a sequence "
                    "its depth, or take the row out of the sequence by leaving its label empty.",
                    rows=missing,
                )
            step = np.sign(np.diff(self.depth[rows]))
            turned = np.flatnonzero(step == -step[np.argmax(step != 0.0)]) if step.any() else np.empty(0, int)
            if turned.size:
                above, below = rows[turned[0]], rows[turned[0] + 1]
                raise OrderError(
                    f"depth turns round between {{rows}}{where}: it is {self.depth[above]}, then "
                    f"{self.depth[below]}. Put the rows of a sequence in the order of their depth, or correct it.",
                    rows=[above, below],
                )

    def _check_least_gap(self) -> None:
        if self.least_gap is None:
            return
        check_length("least_gap", self.least_gap.size, len(self))
        negative = np.flatnonzero(self.least_gap < 0.0)
        if negative.size:
            raise RecordError("least_gap is negative in {rows}. Give a time of at least 0.", rows=negative)

    def _check_dated(self) -> None:
        """A row without a date is placed by its neighbours, so its sequence must hold dates."""
        for name, rows in self.sequences:
            if not self.dated[rows].any():
                where = "the record" if name is None else f"sequence {name!r}"
                raise RecordError(f"no row of {where} has a date. Give at least one row a finite t_sd.")
        lost = self.unordered[~self.dated[self.unordered]]
        if lost.size:
            raise RecordError(
                "{rows} has neither a date (t_sd is infinite) nor a place in a sequence. "
                "Give it one of them, or leave it out.",
                rows=lost,
            )

    def _check_exact_rows(self) -> None:
        """Exact inputs of a sequence must not run against its order, nor leave rows between them no room."""
        if not self.exact.any():
            return
        least = np.zeros(len(self)) if self.least_gap is None else self.least_gap
        for name, rows in self.sequences:
            place = np.flatnonzero(self.exact[rows])
            step = self.sign * np.diff(self.t[rows[place]])
            needed = np.array([least[rows[a:b]].sum() for a, b in pairwise(place)])
            squeezed = (step == 0.0) & (np.diff(place) > 1)
            for wrong, problem in (
                (step < 0.0, f"contradict order={self.order!r}"),
                (squeezed, "are equal and leave no room for the rows between them"),
                ((needed > 0.0) & (step <= needed), "leave no room for the least gaps (least_gap) between them"),
            ):
                if wrong.any():
                    k = int(np.argmax(wrong))
                    first, last = rows[place[k]], rows[place[k + 1]]
                    where = "" if name is None else f" in sequence {name!r}"
                    raise OrderError(
                        f"the exact inputs (t_sd = 0) of {{rows}}{where} {problem}: "
                        f"t is {self.t[first]} and then {self.t[last]} (such pairs in all: {wrong.sum()}). "
                        "Correct t or order, give these rows a t_sd above 0, or take them out of the "
                        "sequence by leaving their label empty.",
                        rows=[first, last],
                    )


def _read_dates(
    dates: Iterable[Date | None] | None, t: ArrayLike | None, t_sd: ArrayLike | None
) -> tuple[tuple[Date | None, ...] | None, ArrayLike, ArrayLike]:
    """The dates as a tuple, and t and t_sd with those of the dates filled in."""
    if dates is None:
        if t is None or t_sd is None:
            raise RecordError("t and t_sd are missing. Give them, or give every row a date in dates.")
        return None, numbers("t", t, gaps=True), t_sd
    given = tuple(dates)
    bad = [i for i, date in enumerate(given) if not (date is None or isinstance(date, Date))]
    if bad:
        raise RecordError(
            f"dates must hold dates from lamina.dates, or None, which {{rows}} does not: {given[bad[0]]!r}.", rows=bad
        )
    n = len(given)
    bare = [i for i, date in enumerate(given) if date is None]
    if (t is None or t_sd is None) and bare:
        raise RecordError(
            "{rows} has no date in dates, and t or t_sd is missing. Give the one or the other.", rows=bare
        )
    times = np.full(n, np.nan) if t is None else numbers("t", t, gaps=True)
    sds = np.zeros(n) if t_sd is None else numbers("t_sd", t_sd, n, gaps=True)
    check_length("dates", n, times.size)
    check_length("t_sd", sds.size, n)
    for i, date in enumerate(given):
        if date is not None:
            times[i], sds[i] = date.mean, date.sd
    return given, times, sds


def _read_flags(name: str, values: Any, n: int) -> NDArray[np.bool_]:
    flags = np.asarray(values)
    check_length(name, flags.size, n)
    if flags.dtype != np.bool_:
        raise RecordError(f"{name} must hold True or False for each row, got {flags.dtype}.")
    return flags.copy()


def _read_limits(limit: Iterable[str | None] | None, n: int) -> NDArray[np.int64] | None:
    if limit is None:
        return None
    if isinstance(limit, np.ndarray) and limit.dtype.kind in "iu":  # another record's
        check_length("limit", limit.size, n)
        if not np.isin(limit, (-1, 0, 1)).all():
            raise RecordError("limit takes 1 (the curve is above), -1 (below) or 0 for each row.")
        return limit.astype(np.int64)
    given = labels("limit", limit, n) or ()
    bad = [i for i, one in enumerate(given) if not (one is None or one in LIMITS)]
    if bad:
        raise RecordError(
            f"limit takes {', '.join(map(repr, LIMITS))} or None, which {{rows}} is not: {given[bad[0]]!r}.", rows=bad
        )
    return np.array([0 if one is None else LIMITS[str(one)] for one in given], dtype=np.int64)


def _check_standard_deviations(t_sd: NDArray[np.float64], y_sd: NDArray[np.float64]) -> None:
    for name, column in ("t_sd", t_sd), ("y_sd", y_sd):
        missing = np.flatnonzero(np.isnan(column))
        if missing.size:
            raise RecordError(
                f"{name} is missing or NaN in {{rows}}. Fill in the value or leave the row out; "
                f"an infinite {name} says that there is no {name[0]}.",
                rows=missing,
            )
        negative = np.flatnonzero(column < 0.0)
        if negative.size:
            raise RecordError(
                f"{name} is negative in {{rows}}. Give a standard deviation, which has no sign.", rows=negative
            )
    zero = np.flatnonzero(y_sd == 0.0)
    if zero.size:
        raise RecordError(
            "y_sd is 0 in {rows}. Give every measured y a standard deviation above 0, a small "
            "one if it is precise; only inputs can be exact (t_sd = 0).",
            rows=zero,
        )
