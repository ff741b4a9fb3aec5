"""Priors of the parameters: those that the user gave, and those that follow from the spread of the data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import MethodError
from ..kernels import Kernel, Periodic, Product, Stationary, Sum
from ..record import Record
from ..support.checks import LARGEST, SMALLEST
from .space import space_priors

Array = np.ndarray

#: Default priors: (median, factor), a log-normal whose logarithm has standard deviation log(factor).
ALPHA_MEDIAN, ALPHA_FACTOR = 4.0, 4.5
#: With depths: of the shape of the gamma process over the usual distance of dates.
SHAPE_MEDIAN, SHAPE_FACTOR = 2.0, 4.0
SCALE_FACTOR = 2.0
#: Of the memory between gaps, without depths: half of the pace lasts from one row to the next.
HALF, ROWS_FACTOR = math.log(2.0), 3.0
#: With depths: as a part of the usual distance of dates. Dates say little about it, so the factor is wide.
MEMORY_PART, MEMORY_FACTOR = 1.0 / 3.0, 6.0
LENGTH_FACTOR, SD_FACTOR = 4.5, 3.0
#: The mean time per unit of depth may have a prior, but is not among phi.
ACC_MEAN = "acc_mean"


def check_priors(given: Any) -> dict[str, tuple[float, float]]:
    """Medians and factors by the names of parameters. Raises MethodError if one is not a prior."""
    return {name: _checked_prior(name, prior) for name, prior in _checked_dict("priors", given).items()}


def check_fixed(given: Any) -> dict[str, float]:
    """Values by the names of parameters. Raises MethodError for what no parameter can be."""
    return {name: _checked_value(name, value) for name, value in _checked_dict("fixed", given).items()}


def _checked_dict(argument: str, values: Any) -> Mapping[str, Any]:
    if values is not None and not isinstance(values, Mapping):
        example = "{'length': (500, 3)}" if argument == "priors" else "{'length': 500}"
        raise MethodError(f"{argument} must be a dict from parameter names such as {example}, got {values!r}.")
    return values or {}


def least_alpha(record: Record) -> float:
    """The lower limit of alpha: phi has the logarithm of alpha less this. With depths, alpha is that of a process."""
    return 1.0 if record.depth is None else 0.0


def _checked_prior(name: str, prior: Any) -> tuple[float, float]:
    try:
        median, factor = (float(value) for value in prior)
    except (TypeError, ValueError):
        median = factor = math.nan
    if not (0.0 < median < math.inf and 1.0 < factor < math.inf):
        raise MethodError(
            f"priors: {name} takes (median, factor) with a positive median "
            f"and a factor above 1, got {prior!r}. Two thirds of the prior lie between median / factor and "
            "median * factor."
        )
    return median, factor


def _checked_value(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not SMALLEST < number < LARGEST:
        raise MethodError(f"fixed: {name} must be a positive number, between 1e-100 and 1e100, got {value!r}.")
    return number


def set_priors(
    given: Mapping[str, tuple[float, float]], record: Record, names: tuple[str, ...], free: Array, priors: Array
) -> None:
    """Put the user's (median, factor) in place of the default ones in ``priors`` (2, P)."""
    for name, (median, factor) in given.items():
        if name == ACC_MEAN:  # integrated out: see ``mean_prior``
            continue
        i = _position(name, names, free, "priors")
        priors[:, i] = _above_least(name, median, record, "priors"), factor


def fix(given: Mapping[str, float], record: Record, names: tuple[str, ...], free: Array, start: Array) -> None:
    """Put known values into ``start`` (P,), and take their parameters out of those that are ``free`` (P,)."""
    for name, value in given.items():
        if name == ACC_MEAN:
            raise MethodError(
                f"fixed: {ACC_MEAN} is integrated out under its prior. Give it a narrow one: "
                f"priors={{'{ACC_MEAN}': ({value:g}, 1.02)}}."
            )
        i = _position(name, names, free, "fixed")
        start[i] = math.log(_above_least(name, value, record, "fixed"))
        free[i] = False


def _above_least(name: str, value: float, record: Record, argument: str) -> float:
    """A value, or a median, less the lower limit of its parameter. Raises MethodError if nothing is left."""
    least = least_alpha(record) if name == "alpha" else 0.0
    if not value - least > SMALLEST:
        raise MethodError(f"{argument}: {name} must be above 1 in a record without depths, got {value:g}.")
    return value - least


def _position(name: str, names: tuple[str, ...], free: Array, argument: str) -> int:
    known = [n for n, is_free in zip(names, free, strict=True) if is_free]
    if name not in known:
        raise MethodError(f"{argument}: there is no unknown parameter {name!r} here; there are: {', '.join(known)}.")
    return names.index(name)


def default_priors(record: Record, t: Array, kernel: Kernel) -> Array:
    """Medians and factors (2, P) of all phi, from the spread of the data.

    length: an eighth of the time span (several kernels: from a half of it downwards, slow first), but 1 for a periodic
    kernel, whose length has no unit; period: a quarter of the span; shape: 1; sd: the standard deviation of y, shared
    among the kernels, but 1 for the further factors of a product; memory: half of the pace lasts from one row to the
    next, or, with depths, a third of the usual distance of dates. For fields see ``space``.
    """
    found = (_time_priors if record.places is None else space_priors)(record, t, kernel)
    if record.depth is None:
        found += [(1.0 / HALF, ROWS_FACTOR), (ALPHA_MEDIAN - 1.0, ALPHA_FACTOR)]
    else:
        found += [(MEMORY_PART * usual_step(record), MEMORY_FACTOR), (SHAPE_MEDIAN, SHAPE_FACTOR)]
    return np.ascontiguousarray(np.array([*found, (1.0, SCALE_FACTOR), (1.0, SCALE_FACTOR)]).T)


def _time_priors(record: Record, t: Array, kernel: Kernel) -> list[tuple[float, float]]:
    """Of the kernel of one curve."""
    span = float(np.ptp(t)) or float(record.t_sd[record.dated].max()) or 1.0
    curves = [term for term in kernel.terms if isinstance(term, Stationary)]
    factors = [factor for curve in curves for factor in _factors(curve)]
    lengths = sum("length" in factor.names and not isinstance(factor, Periodic) for factor, _ in factors)
    slow = span / 8.0 if lengths <= 1 else span / 2.0
    found: list[tuple[float, float]] = []
    for factor, is_first in factors:
        for name in factor.names:
            if name == "sd":
                found.append((spread(record) / math.sqrt(len(curves)) if is_first else 1.0, SD_FACTOR))
            elif name == "period":
                found.append((span / 4.0, LENGTH_FACTOR))
            elif name == "length" and not isinstance(factor, Periodic):
                found.append((slow, LENGTH_FACTOR))
                slow /= 8.0
            else:
                found.append((1.0, LENGTH_FACTOR))
    return found


def _factors(curve: Kernel, is_first: bool = True) -> list[tuple[Kernel, bool]]:
    """The kernels of a product, and whether each is (in) its first factor."""
    if isinstance(curve, Product):
        return [one for k, part in enumerate(curve.parts) for one in _factors(part, is_first and k == 0)]
    if isinstance(curve, Sum):
        return [one for part in curve.parts for one in _factors(part, is_first)]
    return [(curve, is_first)]


def usual_step(record: Record) -> float:
    """The usual distance in depth from date to date, or 1 without depths. Rows without a date are not counted."""
    depth = record.depth
    if depth is None:
        return 1.0
    dated = [rows[record.dated[rows]] for _, rows in record.sequences]
    steps = np.concatenate([np.empty(0), *(np.abs(np.diff(depth[rows])) for rows in dated)])
    return float(np.median(steps[steps > 0.0])) if (steps > 0.0).any() else 1.0


def spread(record: Record) -> float:
    """The standard deviation of the measured values, or of their errors if they are all alike, or 1 without any."""
    y, y_sd = record.y[record.measured], record.y_sd[record.measured]
    if not y.size:
        return 1.0
    found, error = float(np.std(y)), float(y_sd.mean())
    return found if found > 1e-6 * error else error  # alike up to rounding
