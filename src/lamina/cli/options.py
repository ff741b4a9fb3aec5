"""The options that several commands share."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import Field, fields
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import typer

from ..tables.messages import flag
from ..tables.options import OF_FIELDS, Options


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


READING, FITTING, OUTPUT = "How to read the table", "Model and method", "Output"

Table = Annotated[Path, typer.Argument(help="The table: text, .xlsx or a file of another program.", show_default=False)]
#: Exit codes: no memory; bad input (nothing is written); finished but not converged (written, and marked). That of an
#: interrupt depends on the signal.
NO_MEMORY, BAD_INPUT, NOT_CONVERGED = 1, 2, 3

#: An option: its type with what Typer needs to know, and its default.
Given = tuple[Any, Any]


def option(flag: str, kind: Any, text: str, panel: str | None, default: Any = None, **more: Any) -> Given:
    """Declare an option; ``more`` goes to ``typer.Option``."""
    if "parser" in more:
        more.setdefault("metavar", "NUMBER")
    return Annotated[kind, typer.Option(flag, help=text, rich_help_panel=panel, **more)], default


def read_option(field: Field[Any]) -> Given:
    """A field of ``lamina.tables.Options`` as an option; it checks numbers itself, which are given as text."""
    choices, also = field.metadata["choices"], field.metadata["also"]
    more: dict[str, Any] = {"metavar": field.metadata["metavar"]}
    kind: Any = str | None
    if field.type is bool:
        kind = bool
    elif field.type in (tuple[float, ...] | None, tuple[int, ...] | None, tuple[str, ...] | None):
        kind = list[str] | None
    elif choices:
        kind, more = Literal[choices] | None, {"case_sensitive": False}
    flags = [flag(name) for name in (also, field.name) if name]
    info = typer.Option(*flags, help=field.metadata["help"], rich_help_panel=READING, **more)
    return Annotated[kind, info], field.default


#: How to read the table: each option with its default.
READ: dict[str, Given] = {field.name: read_option(field) for field in fields(Options)}
#: Of a table with one curve; of one with a field, which is a field without an option that says so.
READ_CURVE = {name: one for name, one in READ.items() if name not in ("places", *OF_FIELDS)}
READ_FIELD = {name: one for name, one in READ.items() if name not in ("places", "site", "pool")}
READ_ANY = READ_CURVE | READ_FIELD
#: The options that are not about reading a table.
OPTIONS: dict[str, Given] = {
    # what is fitted
    "kernel": option(
        "--kernel", str, "matern12, matern32, matern52, squared-exponential, rational-quadratic, periodic, or a sum: "
        "a+b.", FITTING, "matern32",
    ),
    "gaps": option(
        "--gaps", Literal["gamma", "exponential", "uniform", "log-uniform"], "Gap prior.", FITTING, "gamma"
    ),
    "mean": option("--mean", Literal["constant", "linear", "zero"], "Trend under the curve.", FITTING, "constant"),
    "outliers": option(
        "--outliers", Literal["mixture", "student"] | None,
        "Allow outliers among the values: a few far off the curve, or Student-t errors for all.", FITTING,
    ),
    "offsets": option(
        "--offsets", float | None, "Estimate a vertical offset of each core, with this prior standard deviation.",
        FITTING, parser=above_zero, metavar="SD",
    ),
    "acc_mean": option(
        "--acc-mean", str | None,
        "Prior of the mean accumulation rate, in time per unit of depth: a median, and a factor of one standard "
        "deviation (2 unless given). Without it the mean is unknown.", FITTING, metavar="MEDIAN[,FACTOR]",
    ),
    "acc_shape": option(
        "--acc-shape", str | None,
        "Prior of the shape of accumulation over the usual distance of dates; small values are irregular. With depths "
        "2,4 unless given.", FITTING, metavar="MEDIAN[,FACTOR]",
    ),
    "memory": option(
        "--memory", str | None, "Whether the accumulation rate persists with depth, as in Bacon: on, off, or on with "
        "this prior of the depth over which it does. By default on in agedepth, off elsewhere.", FITTING,
        metavar="on|off|MEDIAN[,FACTOR]",
    ),
    "steps": option(
        "--steps", int, "Number of steps in tables and figures; the ages do not depend on it.", FITTING, 60,
        parser=whole(5),
    ),
    "trend": option(
        "--trend", tuple[str, str] | None,
        "Linear trend with a known rate and its error, forward in time, in the units of rate.csv.", FITTING,
        metavar="RATE SD",
    ),
    "ages": option(
        "--ages", Path | None, "Ensemble of ages from another age model, by depth; the order is not used again.",
        FITTING, metavar="FILE", show_default=False,
    ),
    "ages_covariance": option(
        "--ages-covariance", Path | None,
        "Covariance of the errors of the ages from another age model, one line per row of the table.", FITTING,
        metavar="FILE", show_default=False,
    ),
    # how it is fitted
    "seed": option("--seed", int, "The same seed gives the same result.", FITTING, 0, parser=whole(0)),
    "method": option(
        "--method", Literal["mcmc", "nuts", "npv", "nigp", "gp"], "Method of inference.", FITTING, "mcmc"
    ),
    "methods": option("--methods", str, "Methods, separated by commas.", FITTING, "gp,nigp,npv,mcmc"),
    "chains": option("--chains", int | None, "Number of chains.", FITTING, parser=whole(1)),
    "draws": option("--draws", int | None, "Number of draws to keep.", FITTING, parser=whole(100)),
    "max_sweeps": option(
        "--max-sweeps", int | None,
        "Maximum number of sweeps of each chain after warm-up; with --resume, of additional sweeps.", FITTING,
        parser=whole(1),
    ),
    "npv_covariance": option(
        "--npv-covariance", Literal["diagonal", "isotropic"] | None,
        "Covariance of npv's Gaussians: diagonal (the default), or isotropic as in the paper.", FITTING,
    ),
    # what is written, and where
    "out": option("--out", Path | None, "Folder for the results; by default named after the table.", OUTPUT),
    "at": option("--at", str | None, "Times of the tables: first:last:step, or a,b,c.", OUTPUT),
    "depths": option("--depths", str | None, "Depths of ages.csv: first:last:step, or a,b,c.", OUTPUT),
    "interval": option("--interval", list[str] | None, "Mean rate over from:to; can be repeated.", OUTPUT),
    "exceeds": option(
        "--exceeds", list[str] | None, "When the curve first exceeded a level; can be repeated.", OUTPUT,
        metavar="LEVEL",
    ),
    "rate_exceeds": option(
        "--rate-exceeds", list[str] | None,
        "When the rate, in the units of rate.csv, first exceeded a value; can be repeated.", OUTPUT, metavar="RATE",
    ),
    "extremes": option("--extremes", bool, "Size and time of the curve's maximum and minimum.", OUTPUT, False),
    "validate": option(
        "--validate", bool, "Also leave dates out in turn and predict them: shows whether the bands hold.", OUTPUT,
        False,
    ),
    "folds": option(
        "--folds", int | None, "Number of parts of the dates that --validate leaves out in turn; 5 by default.", OUTPUT,
        parser=whole(2),
    ),
    "ensemble": option(
        "--ensemble", int | None, "Number of joint draws of the inputs to write, one column per member.", OUTPUT,
        parser=whole(1),
    ),
    "figures": option("--figures", bool, "Also write the figures as files.", OUTPUT, False),
    "force": option("--force", bool, "Overwrite another run, or write next to other files.", OUTPUT, False),
    "resume": option("--resume", bool, "Continue a run that was interrupted or has not converged.", OUTPUT, False),
    "quiet": option("--quiet", bool, "Print only errors.", OUTPUT, False),
    "as_json": option("--json", bool, "Print only the summary, as JSON.", OUTPUT, False),
}  # fmt: skip


def pick(names: str) -> dict[str, Given]:
    """Some of the options, by names separated by blanks."""
    return {name: OPTIONS[name] for name in names.split()}


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
