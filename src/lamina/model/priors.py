"""Priors of the parameters: those that the user gave, and those that follow from the spread of the data."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import MethodError
from ..kernels import Kernel, Periodic, Product, Stationary, Sum
from ..record import Record

Array = np.ndarray

#: Default priors: (median, factor), a log-normal whose logarithm has standard deviation log(factor).
ALPHA_MEDIAN, ALPHA_FACTOR = 4.0, 4.5
SCALE_FACTOR = 2.0
#: Of the memory between gaps: half of the pace lasts from one date to the next.
HALF, MEMORY_FACTOR = math.log(2.0), 3.0
LENGTH_FACTOR, SD_FACTOR = 4.5, 3.0

#: Parameters beyond this, or its inverse, would leave the range of numbers.
SMALLEST = 1e-100


def check_priors(given: Any) -> dict[str, tuple[float, float]]:
    """Medians and factors by the names of parameters. Raises MethodError for what is no prior."""
    return {name: _checked_prior(name, prior) for name, prior in _checked_dict("priors", given).items()}


def check_fixed(given: Any) -> dict[str, float]:
    """Values by the names of parameters. Raises MethodError for what no parameter can be."""
    return {name: _checked_value(name, value) for name, value in _checked_dict("fixed", given).items()}


def _checked_dict(argument: str, values: Any) -> dict[str, Any]:
    if values is not None and not isinstance(values, dict):
        example = "{'length': (500, 3)}" if argument == "priors" else "{'length': 500}"
        raise MethodError(f"{argument} must be a dict from parameter names such as {example}, got {values!r}.")
    return values or {}


def _least(name: str) -> float:
    """The lower limit of a parameter: phi is the logarithm of the parameter minus this."""
    return 1.0 if name == "alpha" else 0.0


def _checked_prior(name: str, prior: Any) -> tuple[float, float]:
    try:
        median, factor = (float(value) for value in prior)
    except (TypeError, ValueError):
        median = factor = math.nan
    if not (_least(name) < median < math.inf and 1.0 < factor < math.inf):
        raise MethodError(
            f"priors: {name} takes (median, factor) with a positive median{' above 1' if name == 'alpha' else ''} "
            f"and a factor above 1, got {prior!r}. Two thirds of the prior lie between median / factor and "
            "median * factor."
        )
    return median, factor


def _checked_value(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not SMALLEST < number - _least(name) < 1.0 / SMALLEST:
        raise MethodError(
            f"fixed: {name} must be a positive number{' above 1' if name == 'alpha' else ''}, between 1e-100 and "
            f"1e100, got {value!r}."
        )
    return number


def set_priors(given: dict[str, tuple[float, float]], names: tuple[str, ...], free: Array, priors: Array) -> None:
    """Put the user's (median, factor) in place of the default ones in ``priors`` (2, P)."""
    for name, (median, factor) in given.items():
        priors[:, _position(name, names, free, "priors")] = median - _least(name), factor


def fix(given: dict[str, float], names: tuple[str, ...], free: Array, start: Array) -> None:
    """Put known values into ``start`` (P,), and take their parameters out of those that are ``free`` (P,)."""
    for name, value in given.items():
        i = _position(name, names, free, "fixed")
        start[i] = math.log(value - _least(name))
        free[i] = False


def _position(name: str, names: tuple[str, ...], free: Array, argument: str) -> int:
    known = [n for n, is_free in zip(names, free, strict=True) if is_free]
    if name not in known:
        raise MethodError(f"{argument}: there is no unknown parameter {name!r} here; there are: {', '.join(known)}.")
    return names.index(name)


def default_priors(record: Record, t: Array, kernel: Kernel) -> Array:
    """Medians and factors (2, P) of all phi, from the spread of the data.

    length: an eighth of the time span (several kernels: from a half of it downwards, slow first), but 1 for a periodic
    kernel, whose length has no unit; period: a quarter of the span; shape: 1; sd: the standard deviation of y, shared
    among the kernels, but 1 for the further factors of a product; memory: half of the pace lasts from one date to the
    next.
    """
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
    found += [(_usual_step(record) / HALF, MEMORY_FACTOR), (ALPHA_MEDIAN - 1.0, ALPHA_FACTOR)]
    return np.ascontiguousarray(np.array([*found, (1.0, SCALE_FACTOR), (1.0, SCALE_FACTOR)]).T)


def _factors(curve: Kernel, is_first: bool = True) -> list[tuple[Kernel, bool]]:
    """The kernels of a product, and whether each is (in) its first factor."""
    if isinstance(curve, Product):
        return [one for k, part in enumerate(curve.parts) for one in _factors(part, is_first and k == 0)]
    if isinstance(curve, Sum):
        return [one for part in curve.parts for one in _factors(part, is_first)]
    return [(curve, is_first)]


def _usual_step(record: Record) -> float:
    """The usual distance in depth from date to date, or 1 without depths."""
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
