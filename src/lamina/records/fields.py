"""The fields of a record, read from what users pass: each is converted and checked by itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..dates import Date
from ..errors import RecordError
from ..support.checks import SMALLEST, check_length, labels, numbers, refuse

Dates = tuple[Date | None, ...]

#: Values of ``limit`` and their meaning: the curve is above (+1) or below (-1) y.
LIMITS = {"above": 1, "marine": 1, "below": -1, "terrestrial": -1}


def read_measurements(
    t: ArrayLike | None, t_sd: ArrayLike | None, y: ArrayLike, y_sd: ArrayLike, dates: Iterable[Date | None] | None
) -> dict[str, Any]:
    """t, t_sd, y and y_sd as arrays (N,), and the dates. t is NaN in rows without a date, y in rows without a value."""
    given, t, t_sd = _read_dates(dates, t, t_sd)
    n = np.size(t)
    if n == 0:
        raise RecordError("the record is empty: t and y hold no values. Give at least one row.")
    found: dict[str, Any] = {"dates": given}
    for name, sd in ("t_sd", t_sd), ("y_sd", y_sd):
        found[name] = numbers(name, sd, n, gaps=True)
        check_length(name, found[name].size, n)
    _check_standard_deviations(found["t_sd"], found["y_sd"])
    found["t"] = numbers("t", t, gaps=found["t_sd"] == np.inf)
    found["y"] = numbers("y", y, n if np.isinf(found["y_sd"]).all() else None, gaps=True)
    check_length("y", found["y"].size, n)
    numbers("y", found["y"], gaps=found["y_sd"] == np.inf)
    for name in "t", "y":
        found[name][np.isinf(found[f"{name}_sd"])] = np.nan
    return found


def _read_dates(
    dates: Iterable[Date | None] | None, t: ArrayLike | None, t_sd: ArrayLike | None
) -> tuple[Dates | None, ArrayLike, ArrayLike]:
    """The dates as a tuple, and t and t_sd with the mean and sd of each date filled in."""
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
    if t is None or t_sd is None:
        refuse(
            [date is None for date in given],
            "{rows} has no date in dates, and t or t_sd is missing. Give one or the other.",
        )
    times = np.full(n, np.nan) if t is None else numbers("t", t, gaps=True)
    sds = np.zeros(n) if t_sd is None else numbers("t_sd", t_sd, n, gaps=True)
    check_length("dates", n, times.size)
    check_length("t_sd", sds.size, n)
    for i, date in enumerate(given):
        if date is not None:
            times[i], sds[i] = date.mean, date.sd
    return given, times, sds


def _check_standard_deviations(t_sd: NDArray[np.float64], y_sd: NDArray[np.float64]) -> None:
    for name, column in ("t_sd", t_sd), ("y_sd", y_sd):
        refuse(
            np.isnan(column),
            f"{name} is missing or NaN in {{rows}}. Fill in the value or leave the row out; "
            f"an infinite {name} means that there is no {name[0]}.",
        )
        refuse(column < 0.0, f"{name} is negative in {{rows}}. Give a standard deviation, which has no sign.")
        refuse(
            (column > 0.0) & (column < SMALLEST),
            f"{name} is below {SMALLEST:g} in {{rows}}. Correct the value, or give the column in a smaller unit.",
        )
    refuse(
        y_sd == 0.0,
        "y_sd is 0 in {rows}. Give every measured y a standard deviation above 0, a small one if it is precise; "
        "only inputs can be exact (t_sd = 0).",
    )


def read_order(order: Any) -> Any:
    """Whether inputs increase or decrease down the rows."""
    if order not in ("increasing", "decreasing"):
        raise RecordError(
            f"order must be 'increasing' or 'decreasing', got {order!r}. "
            "State whether the true inputs increase or decrease down the rows."
        )
    return order


def read_texts(**texts: Any) -> dict[str, str]:
    """Names and units."""
    for name, text in texts.items():
        if not isinstance(text, str):
            raise RecordError(f"{name} must be text, got {text!r}. Pass a string, empty for none.")
    return texts


def read_depth(depth: ArrayLike | None, n: int) -> NDArray[np.float64] | None:
    """Depths, NaN where there are none."""
    if depth is None:
        return None
    found = numbers("depth", depth, gaps=True)
    check_length("depth", found.size, n)
    return found


def read_thickness(thickness: ArrayLike | None, n: int) -> NDArray[np.float64] | None:
    """The thickness of each sample, 0 where it is missing; None if no sample has any."""
    if thickness is None:
        return None
    found = numbers("thickness", thickness, n, gaps=True)
    check_length("thickness", found.size, n)
    refuse(found < 0.0, "thickness is negative in {rows}. Give the thickness of a slice, 0 for none.")
    refuse(np.isinf(found), "thickness is infinite in {rows}. Give the thickness of a slice, 0 for none.")
    found = np.nan_to_num(found)
    return found if found.any() else None


def read_hiatus(hiatus: ArrayLike | None, n: int) -> NDArray[np.bool_] | None:
    """Whether a hiatus follows each row."""
    if hiatus is None:
        return None
    flags = np.asarray(hiatus)
    check_length("hiatus", flags.size, n)
    if flags.dtype != np.bool_:
        raise RecordError(f"hiatus must hold True or False for each row, got {flags.dtype}.")
    return flags.copy()


def read_minimum_gap(least_gap: ArrayLike | None, n: int) -> NDArray[np.float64] | None:
    """The minimum gap after each row."""
    if least_gap is None:
        return None
    found = numbers("least_gap", least_gap, n)
    check_length("least_gap", found.size, n)
    refuse(found < 0.0, "least_gap is negative in {rows}. Give a time of at least 0.")
    return found


def read_limits(limit: Iterable[str | None] | None, n: int) -> NDArray[np.int64] | None:
    """+1, -1 or 0 for each row: whether the curve is above or below y, or y was measured."""
    if limit is None:
        return None
    if isinstance(limit, np.ndarray) and limit.dtype.kind in "iu":  # from another record
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
