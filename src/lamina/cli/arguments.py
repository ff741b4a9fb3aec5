"""Text of the command line turned into what the library takes."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import MethodError
from ..model.priors import ACC_MEAN, SHAPE_FACTOR
from ..output.run import OutputRequest
from ..posterior.intervals import checked
from ..tables.messages import flag
from ..validation import FOLDS

#: Priors of accumulation: the parameter of each option, and the factor if only a median is given.
ACCUMULATION = {"acc_mean": (ACC_MEAN, 2.0), "acc_shape": ("alpha", SHAPE_FACTOR), "memory": ("memory", 3.0)}
#: More times would fill the disk, most likely by a mistyped step.
MOST_TIMES = 1_000_000


def output_request(
    folder: Path, settings: Mapping[str, Any], output: Mapping[str, Any], table: str = ""
) -> OutputRequest:
    """What the user requests; an option that a command does not have is not requested."""
    kept = with_priors({name: value for name, value in settings.items() if value is not None and value is not False})
    seed = kept.pop("seed", 0)
    if "trend" in kept:
        kept["trend"] = numbers("--trend", kept["trend"])
    return OutputRequest(
        at=times(output.get("at")),
        intervals=intervals(output.get("interval")),
        levels=numbers("--exceeds", output.get("exceeds")),
        rates=numbers("--rate-exceeds", output.get("rate_exceeds")),
        extremes=output.get("extremes", False),
        depths=times(output.get("depths"), "--depths"),
        map_at=times(output.get("map_at"), "--map-at"),
        grid=region(output.get("grid")),
        shown_site=output.get("shown_site"),
        members=output.get("ensemble") or 0,
        folds=_folds(output),
        figures=output.get("figures", True),
        seed=seed,
        command=shlex.join(["lamina", *sys.argv[1:]]),
        settings=kept,
        table=table,
        folder=folder,
        force=output["force"],
        resume=output.get("resume", False),
    )


def _folds(output: Mapping[str, Any]) -> int:
    """The number of parts of the dates that are left out in turn; 0 without --validate."""
    if not output.get("validate"):
        if output.get("folds") is not None:
            raise MethodError("--folds is the number of parts of --validate. Add --validate, or leave --folds out.")
        return 0
    return FOLDS if output["folds"] is None else int(output["folds"])


def with_priors(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with the texts of --acc-mean, --acc-shape and --memory as priors, and memory as a switch."""
    kept = {name: value for name, value in settings.items() if name not in ACCUMULATION}
    given = {name: settings[name] for name in ACCUMULATION if name in settings}
    if "memory" in given:
        switch = given["memory"].strip().lower()
        kept["memory"] = switch != "off"
        if switch in ("on", "off"):
            del given["memory"]
    priors = {ACCUMULATION[name][0]: _prior(name, text) for name, text in given.items()}
    return kept | ({"priors": priors} if priors else {})


def _prior(name: str, text: str) -> list[float]:
    """The text "20,2", or "20" alone, as median and factor."""
    try:
        median, factor = (
            float(part) for part in (text if "," in text else f"{text},{ACCUMULATION[name][1]}").split(",")
        )
    except ValueError:
        median = factor = math.nan
    if not (0.0 < median < math.inf and 1.0 < factor < math.inf):
        first = "on, off, or " if name == "memory" else ""
        raise MethodError(
            f"{flag(name)}: {text!r} is not {first}a median above 0, such as 20, or a median and a factor above 1, "
            "such as 20,2: two thirds of the prior lie between 20 / 2 and 20 * 2."
        )
    return [median, factor]


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
        raise MethodError(f"{option}: a step of {step:g} does not lead from {first:g} to {last:g}.")
    if (last - first) / step > MOST_TIMES:
        raise MethodError(f"{option}: {text!r} asks for more than {MOST_TIMES:,} times. Give a larger step.")
    return first + step * np.arange(math.floor((last - first) / step + 1e-9) + 1)


def intervals(texts: list[str] | None) -> list[tuple[float, float]]:
    """Texts such as "1900:2000" as pairs. Raises MethodError for one that is not an interval."""
    pairs = [_interval(text) for text in texts or []]
    try:
        return checked(pairs)
    except MethodError as error:
        raise MethodError(f"--interval: {error}") from None


def region(text: str | None) -> tuple[float, float, float, float] | None:
    """The text "36:44:-77:-69" as south, north, west and east, in degrees. Raises MethodError if it is no region."""
    if text is None:
        return None
    parts = [_number("--grid", part, text) for part in text.split(":")]
    if len(parts) != 4:
        raise MethodError(f"--grid: {text!r} is not south:north:west:east, such as 36:44:-77:-69.")
    south, north, west, east = parts
    if not (-90.0 <= south < north <= 90.0 and -180.0 <= west < east <= 360.0 and east - west <= 360.0):
        raise MethodError(
            f"--grid: {text!r} is no region. Give south before north, from -90 to 90, and west before east, negative "
            "to the west."
        )
    return south, north, west, east


def numbers(option: str, texts: Sequence[str] | None) -> list[float]:
    """Texts as finite numbers. Raises MethodError for one that is none."""
    return [_number(option, text, text) for text in texts or []]


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
