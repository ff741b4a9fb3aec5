"""The options that several commands share."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer


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


class Way(StrEnum):
    """Which way the inputs go along the order."""

    increasing = "increasing"
    decreasing = "decreasing"


class Scale(StrEnum):
    """Which way time runs."""

    BP = "BP"
    CE = "CE"


class Kind(StrEnum):
    """How the errors of the input are read."""

    two_sided = "split"
    uniform = "uniform"
    student = "student"
    normal = "normal"


class By(StrEnum):
    """What the prior of the gaps is about."""

    depth = "depth"
    rows = "rows"


class Equal(StrEnum):
    """What rows at one depth are."""

    tie = "tie"
    block = "block"


class Limiting(StrEnum):
    """What becomes of limiting dates."""

    use = "use"
    drop = "drop"


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
T = Annotated[str | None, typer.Option("--t", help="Column of the input (age, year).", rich_help_panel=READING)]
TSd = Annotated[str | None, typer.Option("--t-sd", help="Column of its error, or one number.", rich_help_panel=READING)]
Y = Annotated[str | None, typer.Option("--y", help="Column of the output.", rich_help_panel=READING)]
YSd = Annotated[str | None, typer.Option("--y-sd", help="Column of its error, or one number.", rich_help_panel=READING)]
TSigma = Annotated[
    int | None,
    typer.Option(
        "--t-sigma",
        parser=whole(1, 2),
        metavar="NUMBER",
        help="Input errors are 1 or 2 sigma.",
        rich_help_panel=READING,
    ),
]
YSigma = Annotated[
    int | None,
    typer.Option(
        "--y-sigma",
        parser=whole(1, 2),
        metavar="NUMBER",
        help="Output errors are 1 or 2 sigma.",
        rich_help_panel=READING,
    ),
]
TimeScale = Annotated[
    Scale | None, typer.Option("--scale", case_sensitive=False, help="Ages BP or years CE.", rich_help_panel=READING)
]
Order = Annotated[
    str | None,
    typer.Option("--order", help='Column that gives the order, "rows", or "none".', rich_help_panel=READING),
]
Direction = Annotated[
    Way | None,
    typer.Option("--order-direction", help="Inputs increasing or decreasing along it.", rich_help_panel=READING),
]
Sequence = Annotated[
    str | None,
    typer.Option("--sequence", help='Column that names the core of a row, or "none".', rich_help_panel=READING),
]
Site = Annotated[str | None, typer.Option("--site", help="Read only this site or core.", rich_help_panel=READING)]
Sheet = Annotated[str | None, typer.Option("--sheet", help="Sheet of an Excel file.", rich_help_panel=READING)]
TErrors = Annotated[
    Kind | None,
    typer.Option(
        "--t-errors",
        help="Input errors: upper and lower as they are, limits as a uniform range, Student-t, or all normal.",
        rich_help_panel=READING,
    ),
]
Curve = Annotated[
    str | None,
    typer.Option("--curve", help="Calibration curve of radiocarbon ages: IntCal20, ...", rich_help_panel=READING),
]
GapsBy = Annotated[
    By | None,
    typer.Option("--gaps-by", help="Gaps per unit of depth (default), or all rows alike.", rich_help_panel=READING),
]
EqualDepth = Annotated[
    Equal | None,
    typer.Option("--equal-depth", help="Rows at one depth: one layer, or of unknown order.", rich_help_panel=READING),
]
Hiatus = Annotated[
    list[str] | None,
    typer.Option("--hiatus", metavar="DEPTH", help="Hiatus at a depth; may be repeated.", rich_help_panel=READING),
]
LeastGap = Annotated[
    str | None,
    typer.Option("--least-gap", metavar="TIME", help="Neighbours are at least so far apart.", rich_help_panel=READING),
]
LimitingRows = Annotated[
    Limiting | None,
    typer.Option("--limiting", help="Use limiting dates (default), or drop them.", rich_help_panel=READING),
]
Incomplete = Annotated[
    bool,
    typer.Option(
        "--incomplete", help="Keep rows with an empty input or output: layers without it.", rich_help_panel=READING
    ),
]

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

#: How to read the table: each option with its default.
READ: dict[str, tuple[Any, Any]] = {
    "t": (T, None),
    "t_sd": (TSd, None),
    "y": (Y, None),
    "y_sd": (YSd, None),
    "t_sigma": (TSigma, None),
    "y_sigma": (YSigma, None),
    "scale": (TimeScale, None),
    "order": (Order, None),
    "order_direction": (Direction, None),
    "sequence": (Sequence, None),
    "site": (Site, None),
    "sheet": (Sheet, None),
    "t_errors": (TErrors, None),
    "curve": (Curve, None),
    "gaps_by": (GapsBy, None),
    "equal_depth": (EqualDepth, None),
    "hiatus": (Hiatus, None),
    "least_gap": (LeastGap, None),
    "limiting": (LimitingRows, None),
    "incomplete": (Incomplete, False),
}
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
