"""The settings of a fit as commands and run.json write them, turned into the arguments of ``lamina.fit``."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
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
from ..methods.registry import DEFAULT, METHODS
from ..records.axes import describe
from ..support.memory import check_memory
from ..tables.checks.covariance import refuse_other_matrices
from ..tables.ensembles import SummaryWarning, read_covariance, read_ensemble
from ..tables.messages import flag

if TYPE_CHECKING:
    from ..record import Record
    from ..tables import Options, TableReading
    from .run import OutputRequest

KERNELS: dict[str, type[Kernel]] = {
    "matern12": Matern12,
    "matern32": Matern32,
    "matern52": Matern52,
    "squared-exponential": SquaredExponential,
    "rational-quadratic": RationalQuadratic,
    "periodic": Periodic,
}
#: Settings that are options of some methods only. One that begins with the name of a method is an option of that one.
OF_METHODS = ("chains", "draws", "max_sweeps", "npv_covariance")
#: What a number of ensemble.csv takes in memory.
BYTES_A_MEMBER = 60.0


def kernel_by_name(text: str) -> Kernel:
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


def check_settings(request: OutputRequest, kernel: Kernel) -> None:
    """Raise MethodError for settings that the method does not have, and for results that it cannot give."""
    method = request.settings["method"]
    known = [name for name in OF_METHODS if _option(name, method) in METHODS[method].options]
    wrong = [name for name in OF_METHODS if name in request.settings and name not in known]
    if wrong:
        takes = ", ".join(flag(name) for name in known)
        raise MethodError(
            f"{flag(wrong[0])} is not for --method {method}, which takes {takes or 'no such option'}. Leave it out."
        )
    if request.rates and kernel.stationary is not None and not kernel.stationary.differentiable:
        raise MethodError("--rate-exceeds: with matern12 the curve has no rate. Use matern32 or matern52.")
    if request.members and not METHODS[method].infers_inputs:
        others = ", ".join(name for name, other in METHODS.items() if other.infers_inputs)
        raise MethodError(f"--ensemble: --method {method} takes the inputs as measured. Use {others}.")


def check_ensemble(request: OutputRequest, rows: int) -> None:
    """Raise MethodError if a table of so many members, as numbers and as text, is more than the memory holds."""
    check_memory(f"--ensemble {request.members}", BYTES_A_MEMBER * request.members * (rows + 1))


def fit_arguments(settings: Mapping[str, Any], kernel: Kernel, record: Record | None = None) -> dict[str, Any]:
    """The arguments of ``lamina.fit``. With ``trend``, which needs the record, the kernel gets a linear trend."""
    kept = {name: value for name, value in settings.items() if name not in ("trend", "methods", *AGE_FILES)}
    arguments = {_option(name, settings.get("method", DEFAULT)): value for name, value in kept.items()}
    arguments["kernel"] = kernel
    if "trend" not in settings or record is None:
        return arguments
    rate, rate_sd = settings["trend"]
    if arguments.pop("mean") == "zero":
        raise MethodError("--trend is added to an unknown level, which --mean zero leaves out. Leave out one of them.")
    if rate_sd <= 0.0:
        raise MethodError(
            f"--trend takes a rate and its standard deviation above 0, such as --trend 0.0012 0.0002, got {rate:g} "
            f"{rate_sd:g}. A trend of unknown rate is --mean linear."
        )
    trend = Linear(mean=describe(record).time_sign * rate, sd=rate_sd)
    return arguments | {"kernel": kernel + Constant() + trend}


def use_age_model(files: Mapping[str, Path], request: OutputRequest, options: Options) -> tuple[OutputRequest, Options]:
    """With --ages or --ages-covariance, the method is the one that needs them, and no order is read from the table."""
    if not files:
        return request, options
    if len(files) > 1:
        raise MethodError("--ages and --ages-covariance are two descriptions of the same ages. Leave out one of them.")
    ((name, path),) = files.items()
    if options.dates is not None:
        raise MethodError(f"--dates and {flag(name)} are two sources of the ages. Leave out one of them.")
    method = request.settings["method"]
    if method != DEFAULT:  # the user has chosen one
        raise MethodError(f"{flag(name)} is not for --method {method}. Leave out one of them.")
    if (options.order or "none").lower() != "none":
        raise MethodError(
            f"{flag(name)}: the ages come from a model that used the order, which is not used again. Leave out --order."
        )
    needing = next(method.name for method in METHODS.values() if AGE_FILES[name][0] in method.needs)
    settings = request.settings | {"method": needing, name: path.name}
    return replace(request, settings=settings), replace(options, order="none")


def explain_order(files: Mapping[str, Path], reading: TableReading) -> TableReading:
    """What was understood, with the reason why the order is not used."""
    for name in files:
        why = f"the age model of {flag(name)} has used it already"
        facts = tuple(fact._replace(why=why) if fact.what == "order" else fact for fact in reading.facts)
        reading = replace(reading, facts=facts)
    return reading


def _members(path: Path, reading: TableReading) -> np.ndarray:
    """The ages in a file at the depths of a table, (members, rows)."""
    if reading.depth is None:
        raise MethodError(f"--ages: {reading.path.name} has no column of depths, at which to look for the ages.")
    if reading.cores > 1:
        many = f"--ages: the table holds {reading.cores} cores"
        raise MethodError(f"{many}, and a file has the ages of one. Choose it with --site.")
    with reading.naming_lines():
        return read_ensemble(path, reading.depth)


def _covariance(path: Path, reading: TableReading) -> np.ndarray:
    """The covariance in a file, whose lines are the rows of a table in its order, in the order of the record."""
    matrix = read_covariance(path, len(reading.lines))
    place = np.argsort(np.argsort(reading.lines))
    matrix = matrix[np.ix_(place, place)]
    refuse_other_matrices(path, matrix, reading.record.t_sd)
    return matrix


#: The options for files of another age model: the argument of ``lamina.fit`` that each becomes, and its reader.
AGE_FILES = {"ages": ("members", _members), "ages_covariance": ("covariance", _covariance)}


def read_age_files(files: Mapping[str, Path], reading: TableReading) -> tuple[dict[str, np.ndarray], list[str]]:
    """Ages of another model as arguments of ``lamina.fit``, and what to be careful about."""
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always", SummaryWarning)
        found = {AGE_FILES[name][0]: AGE_FILES[name][1](path, reading) for name, path in files.items()}
    return found, [str(one.message) for one in noted]


def _option(name: str, method: str) -> str:
    """The argument of ``lamina.fit`` that a setting becomes: npv_covariance is the covariance of npv."""
    return name.removeprefix(f"{method}_")
