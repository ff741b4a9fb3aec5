"""Text of the command line turned into what the library takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import MethodError
from ..kernels import (
    Constant,
    Kernel,
    Linear,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    RationalQuadratic,
    SquaredExponential,
)
from ..methods.registry import METHODS
from ..posterior.intervals import checked
from ..records.axes import describe
from ..tables.ensembles import read_covariance, read_ensemble

if TYPE_CHECKING:
    from ..output.folder import Asked
    from ..record import Record
    from ..tables import Understanding

KERNELS: dict[str, type[Kernel]] = {
    "matern12": Matern12,
    "matern32": Matern32,
    "matern52": Matern52,
    "squared-exponential": SquaredExponential,
    "rational-quadratic": RationalQuadratic,
    "periodic": Periodic,
}
#: More times would fill the disk, most likely by a mistyped step.
MOST_TIMES = 1_000_000


def kernel(text: str) -> Kernel:
    """A kernel by name, or a sum such as "matern52+matern12"."""
    parts = []
    for name in text.lower().split("+"):
        if name.strip() not in KERNELS:
            known = ", ".join(KERNELS)
            raise MethodError(
                f"--kernel: there is no kernel {name.strip()!r}; there are {known}, and sums such as matern52+matern12."
            )
        parts.append(KERNELS[name.strip()]())
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def times(text: str | None, option: str = "--at") -> np.ndarray | None:
    """The text "0:2000:10" as the times 0, 10, ..., 2000; or times separated by commas."""
    if text is None:
        return None
    if ":" not in text:
        return np.array([_number(option, part, text) for part in text.split(",")])
    parts = [_number(option, part, text) for part in text.split(":")]
    if len(parts) != 3:
        raise MethodError(f"{option}: {text!r} is not first:last:step, such as 0:2000:10.")
    first, last, step = parts
    if step == 0.0 or (last - first) / step < 0.0:
        raise MethodError(f"{option}: with a step of {step:g} one does not get from {first:g} to {last:g}.")
    if (last - first) / step > MOST_TIMES:
        raise MethodError(f"{option}: {text!r} asks for more than {MOST_TIMES:,} times. Give a larger step.")
    return first + step * np.arange(math.floor((last - first) / step + 1e-9) + 1)


def intervals(texts: list[str] | None) -> list[tuple[float, float]]:
    """Texts such as "1900:2000" as pairs. Raises MethodError for one that is no interval."""
    pairs = [_interval(text) for text in texts or []]
    try:
        return checked(pairs)
    except MethodError as error:
        raise MethodError(f"--interval: {error}") from None


def numbers(option: str, texts: Sequence[str] | None) -> list[float]:
    """Texts as finite numbers. Raises MethodError for one that is none."""
    return [_number(option, text, text) for text in texts or []]


def with_trend(kernel: Kernel, trend: Sequence[float], settings: dict[str, Any], record: Record) -> Kernel:
    """The kernel with a level and a linear trend whose rate, given forward in time, has a prior: mean and sd."""
    if not trend:
        return kernel
    rate, rate_sd = trend
    if settings["mean"] == "zero":
        raise MethodError("--trend is added to an unknown level, which --mean zero leaves out. Leave out one of them.")
    if rate_sd <= 0.0:
        raise MethodError(
            f"--trend takes a rate and its standard deviation above 0, such as --trend 0.0012 0.0002, got {rate:g} "
            f"{rate_sd:g}. A trend of unknown rate is --mean linear."
        )
    return kernel + Constant() + Linear(mean=describe(record).time_sign * rate, sd=rate_sd)


def check_asked(asked: Asked, kernel: Kernel, method: str) -> None:
    """Raise MethodError for what could not be told after the fit."""
    if asked.rates and kernel.stationary is not None and not kernel.stationary.differentiable:
        raise MethodError("--rate-exceeds: with matern12 the curve has no rate. Use matern32 or matern52.")
    if asked.members and not METHODS[method].infers_inputs:
        others = ", ".join(name for name, other in METHODS.items() if other.infers_inputs)
        raise MethodError(f"--ensemble: --method {method} takes the inputs as measured. Use {others}.")


def check_method_takes(using: dict[str, Any]) -> None:
    """Raise MethodError for an option that was given, but that the method does not have."""
    method = str(using["method"])
    known = METHODS[method].options
    options = [name for name in using if name != "method"]
    wrong = [name for name in options if using[name] is not None and name not in known]
    if wrong:
        takes = ", ".join(_flag(name) for name in options if name in known)
        raise MethodError(
            f"{_flag(wrong[0])} is not for --method {method}, which takes {takes or 'no such option'}. Leave it out."
        )


def with_ages(name: str, using: dict[str, Any], reading: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options with --ages or --ages-covariance: the method is "ensemble", and no order is asked of the table."""
    asked = _flag(name)
    if str(using["method"]) != "mcmc":
        raise MethodError(f"{asked} is not for --method {using['method']}. Leave out one of them.")
    if (reading["order"] or "none").lower() != "none":
        raise MethodError(
            f"{asked}: the ages come from a model that knew the order, which is not used again. Leave out --order."
        )
    return using | {"method": "ensemble"}, reading | {"order": "none"}


def order_used_before(name: str, understanding: Understanding) -> Understanding:
    """What was understood, where --ages or --ages-covariance is why the order is not used."""
    why = f"the age model of {_flag(name)} has used it already"
    facts = tuple(fact._replace(why=why) if fact.what == "order" else fact for fact in understanding.facts)
    return replace(understanding, facts=facts)


def members_of(path: Path, understanding: Understanding) -> np.ndarray:
    """The ages in a file at the depths of a table, (members, rows)."""
    if understanding.depth is None:
        raise MethodError(f"--ages: {understanding.path.name} has no column of depths, at which to look for the ages.")
    if understanding.cores > 1:
        many = f"--ages: the table holds {understanding.cores} cores"
        raise MethodError(f"{many}, and a file has the ages of one. Choose it with --site.")
    with understanding.naming_lines():
        return read_ensemble(path, understanding.depth)


def covariance_of(path: Path, understanding: Understanding) -> np.ndarray:
    """The covariance in a file, whose lines are the rows of a table in its order, in the order of the record."""
    matrix = read_covariance(path, len(understanding.lines))
    place = np.argsort(np.argsort(understanding.lines))
    return matrix[np.ix_(place, place)]


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _interval(text: str) -> tuple[float, float]:
    parts = text.split(":")
    if len(parts) != 2:
        raise MethodError(f"--interval: {text!r} is not from:to, such as 1900:2000.")
    return _number("--interval", parts[0], text), _number("--interval", parts[1], text)


def _number(option: str, part: str, text: str) -> float:
    try:
        value = float(part)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        where = "" if part == text else f" in {text!r}"
        raise MethodError(f"{option}: {part.strip()!r}{where} is not a number.")
    return value
