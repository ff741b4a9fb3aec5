"""The options that several commands share."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import Field, fields
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import typer

from ..tables.messages import flag
from ..tables.options import Options


class Method(StrEnum):
    """What a fit is made with."""

    mcmc = "mcmc"
    nuts = "nuts"
    npv = "npv"
    nigp = "nigp"
    gp = "gp"


class Gaps(StrEnum):
    """The prior of the gaps between neighbours."""

    gamma = "gamma"
    exponential = "exponential"
    uniform = "uniform"
    log_uniform = "log-uniform"


class Mean(StrEnum):
    """The trend below the curve."""

    constant = "constant"
    linear = "linear"
    zero = "zero"


class Outliers(StrEnum):
    """How values may lie off the curve."""

    mixture = "mixture"
    student = "student"


def above_zero(text: str | float) -> float:
    """A parser for numbers above 0, which says in plain words what the option takes."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0.0 < number < math.inf:
        raise typer.BadParameter(f"{text} is not a number above 0.")
    return number


def whole(least: int, most: int | None = None) -> Callable[[str | int], int]:
    """A parser for whole numbers of at least ``least``, which says in plain words what the option takes."""
    wanted = f"a whole number of at least {least}" if most is None else f"a whole number from {least} to {most}"

    def parse(text: str | int) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least or (most is not None and number > most):
            raise typer.BadParameter(f"{text} is not {wanted}.")
        return number

    return parse


READING, MODEL, OUTPUT = "How to read the table", "Model and method", "Output"

Table = Annotated[Path, typer.Argument(help="The table: CSV, TSV or .xlsx.", show_default=False)]
Kernel = Annotated[
    str,
    typer.Option(
        "--kernel",
        help="matern12, matern32, matern52, squared-exponential, rational-quadratic, periodic, or a sum: a+b.",
        rich_help_panel=MODEL,
    ),
]
GapPrior = Annotated[Gaps, typer.Option("--gaps", help="Prior of the gaps.", rich_help_panel=MODEL)]
Trend = Annotated[Mean, typer.Option("--mean", help="Trend below the curve.", rich_help_panel=MODEL)]
OutlierKind = Annotated[
    Outliers | None,
    typer.Option(
        "--outliers",
        help="Some values may lie off the curve: a few far off, or all with Student-t errors.",
        rich_help_panel=MODEL,
    ),
]
Offsets = Annotated[
    float | None,
    typer.Option(
        "--offsets",
        parser=above_zero,
        metavar="SD",
        help="Each core has a vertical offset, with this prior standard deviation.",
        rich_help_panel=MODEL,
    ),
]
Memory = Annotated[
    bool,
    typer.Option(
        "--memory", help="The pace of a gap lasts into the next, as in Bacon; for how long is learnt.",
        rich_help_panel=MODEL,
    ),
]  # fmt: skip
Seed = Annotated[
    int,
    typer.Option(
        "--seed", parser=whole(0), metavar="NUMBER", help="The same seed, the same result.", rich_help_panel=MODEL
    ),
]
Chains = Annotated[
    int | None,
    typer.Option("--chains", parser=whole(1), metavar="NUMBER", help="Number of chains.", rich_help_panel=MODEL),
]
Draws = Annotated[
    int | None,
    typer.Option("--draws", parser=whole(100), metavar="NUMBER", help="Draws to keep.", rich_help_panel=MODEL),
]
MaxSweeps = Annotated[
    int | None,
    typer.Option(
        "--max-sweeps",
        parser=whole(1),
        metavar="NUMBER",
        help="Most sweeps of each chain after warm-up; of a fit that is resumed, most that are added.",
        rich_help_panel=MODEL,
    ),
]

Ages = Annotated[
    Path | None,
    typer.Option(
        "--ages",
        metavar="FILE",
        help="Ages by depth and member from another age model; the order is not used again.",
        show_default=False,
        rich_help_panel=MODEL,
    ),
]

AgesCovariance = Annotated[
    Path | None,
    typer.Option(
        "--ages-covariance",
        metavar="FILE",
        help="Covariance of the errors of the ages from another age model, a line for each row of the table.",
        show_default=False,
        rich_help_panel=MODEL,
    ),
]

At = Annotated[
    str | None,
    typer.Option("--at", help="Times of the tables, first:last:step or a,b,c.", rich_help_panel=OUTPUT),
]
Interval = Annotated[
    list[str] | None,
    typer.Option("--interval", help="Rate over from:to; may be repeated.", rich_help_panel=OUTPUT),
]
Rate = Annotated[
    tuple[str, str] | None,
    typer.Option(
        "--trend",
        metavar="RATE SD",
        help="Linear trend of known rate and error, forward in time, in the units of rate.csv.",
        rich_help_panel=MODEL,
    ),
]
Exceeds = Annotated[
    list[str] | None,
    typer.Option(
        "--exceeds",
        metavar="LEVEL",
        help="When the curve first exceeded a level; may be repeated.",
        rich_help_panel=OUTPUT,
    ),
]
RateExceeds = Annotated[
    list[str] | None,
    typer.Option(
        "--rate-exceeds",
        metavar="RATE",
        help="When the rate, in the units of rate.csv, first exceeded a value; may be repeated.",
        rich_help_panel=OUTPUT,
    ),
]
Extremes = Annotated[
    bool, typer.Option("--extremes", help="Size and time of the curve's maximum and minimum.", rich_help_panel=OUTPUT)
]
Ensemble = Annotated[
    int | None,
    typer.Option(
        "--ensemble",
        parser=whole(1),
        metavar="NUMBER",
        help="Write so many joint draws of the inputs, row by member.",
        rich_help_panel=OUTPUT,
    ),
]
Force = Annotated[
    bool, typer.Option("--force", help="Overwrite another run, or write beside other files.", rich_help_panel=OUTPUT)
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.", rich_help_panel=OUTPUT)]
Json = Annotated[
    bool, typer.Option("--json", help="Print the summary as JSON, and nothing else.", rich_help_panel=OUTPUT)
]

#: Exit codes: bad input (nothing is written); finished but not converged, and interrupted (written, and marked).
BAD_INPUT, NOT_CONVERGED, INTERRUPTED = 2, 3, 130


def read_option(field: Field[Any]) -> tuple[Any, Any]:
    """A field of ``lamina.tables.Options`` as an option; it checks numbers itself, which are given as text."""
    choices, also = field.metadata["choices"], field.metadata["also"]
    more: dict[str, Any] = {"metavar": field.metadata["metavar"]}
    kind: Any = str | None
    if field.type is bool:
        kind = bool
    elif field.type == tuple[float, ...] | None:
        kind = list[str] | None
    elif choices and isinstance(choices[0], int):
        kind, more = int | None, {"parser": whole(min(choices), max(choices)), "metavar": "NUMBER"}
    elif choices:
        kind, more = Literal[choices] | None, {"case_sensitive": False}
    flags = [flag(name) for name in (also, field.name) if name]
    info = typer.Option(*flags, help=field.metadata["help"], rich_help_panel=READING, **more)
    return Annotated[kind, info], field.default


#: How to read the table: each option with its default.
READ: dict[str, tuple[Any, Any]] = {field.name: read_option(field) for field in fields(Options)}
#: What is fitted.
FIT: dict[str, tuple[Any, Any]] = {
    "kernel": (Kernel, "matern32"),
    "gaps": (GapPrior, Gaps.gamma),
    "mean": (Trend, Mean.constant),
    "outliers": (OutlierKind, None),
    "offsets": (Offsets, None),
    "memory": (Memory, False),
    "seed": (Seed, 0),
}
#: What it is fitted with.
WITH: dict[str, tuple[Any, Any]] = {
    "method": (Annotated[Method, typer.Option("--method", rich_help_panel=MODEL)], Method.mcmc),
    "chains": (Chains, None),
    "draws": (Draws, None),
    "max_sweeps": (MaxSweeps, None),
}


def settings(*bundles: dict[str, Any]) -> dict[str, Any]:
    """Options of ``lamina.fit`` as plain text and numbers, without those that were not given, and without the seed."""
    every = [pair for bundle in bundles for pair in bundle.items()]
    given = {name: value for name, value in every if value is not None and value is not False}
    return {name: str(one) if isinstance(one, StrEnum) else one for name, one in given.items() if name != "seed"}


def bundled(**bundles: dict[str, tuple[Any, Any]]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Replace parameters of a command, by name, by the options of a bundle, which it then gets as one dict."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(command, include_extras=True)
        parameters = []
        for parameter in inspect.signature(command).parameters.values():
            options = bundles.get(parameter.name, {parameter.name: (hints[parameter.name], parameter.default)})
            for name, (annotation, default) in options.items():
                parameters.append(inspect.Parameter(name, parameter.kind, default=default, annotation=annotation))
        # Python wants those without a default first; click does not mind.
        parameters.sort(key=lambda parameter: parameter.default is not inspect.Parameter.empty)

        @wraps(command)
        def unbundled(**values: Any) -> None:
            for name, bundle in bundles.items():
                values[name] = {option: values.pop(option) for option in bundle}
            command(**values)

        unbundled.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        unbundled.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return unbundled

    return decorate
