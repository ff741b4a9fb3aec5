"""A record and a model, as the arrays that the methods work on.

Inside, time always increases down each sequence and is counted from a central date: internal = sign * t - origin.
All hyperparameters stand in one vector ``phi``, unconstrained, with independent normal priors:

    log length and log sd of each kernel, log memory, log(alpha - 1), log t_scale, log y_scale

``free`` tells which of them are unknown; the others keep their value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..engine.statespace import dimensions
from ..errors import KernelError, MethodError
from ..gaps import PRIORS, Exponents
from ..kernels import Constant, Kernel, Linear, Matern, Periodic, Product, Stationary, Sum
from ..record import Record
from ..records.ties import bottom_up, check_single_dates, check_single_values, merge_ties
from .layout import (
    check_bounds,
    check_least_gaps,
    check_limits,
    check_no_gap_is_zero,
    check_proper,
    guess_inputs,
    lay_rows,
)
from .rows import Rows
from .trend import Design, design, with_offsets

Array = np.ndarray

#: Default priors: (median, factor), a log-normal whose logarithm has standard deviation log(factor).
ALPHA_MEDIAN, ALPHA_FACTOR = 4.0, 4.5
SCALE_FACTOR = 2.0
#: Of the memory between gaps: half of the pace lasts from one date to the next.
HALF, MEMORY_FACTOR = math.log(2.0), 3.0
LENGTH_FACTOR, SD_FACTOR = 4.5, 3.0

#: Parameters beyond this, or its inverse, would leave the range of numbers.
SMALLEST = 1e-100

#: Variance of a row where nothing was measured, in units of the others': it says nothing, to the last digit.
NOTHING = 1e16

MEANS = ("constant", "linear", "zero")
ENGINES = ("auto", "markov", "dense")
OUTLIERS = ("mixture", "student", None)


@dataclass(frozen=True)
class Problem:
    """What a method needs to know. Made by ``pose``."""

    source: Record  #: as the user gave it
    record: Record  #: with one row for each layer, with memory the other way round; see ``lamina.records.ties``
    layer: Array  #: (rows of source,) the row of ``record`` that each belongs to
    kernel: Kernel  #: with its trend terms, in internal time
    gaps: str
    engine: str  #: "markov" or "dense": what inference runs on
    origin: float
    floor: float  #: see ``lamina.gaps.log_prior``
    rows: Rows
    design: Design
    names: tuple[str, ...]  #: of phi, as the user knows them
    start: Array  #: (P,) value of each phi to begin with
    prior_mean: Array  #: (P,)
    prior_sd: Array  #: (P,)
    free: Array  #: (P,) mask
    scale: Array  #: (N,) how far each input may be off: the sd of its date, or the usual distance of dates
    outliers: str | None  #: "mixture", "student" or None, see ``lamina.methods.mcmc.renewal``
    offsets: float | None  #: prior sd of an offset of each sequence, or None
    memory: bool  #: whether the pace of a gap lasts into the next

    @property
    def n_kernel(self) -> int:
        """How many of phi belong to the kernel; memory, alpha, t_scale and y_scale follow."""
        return len(self.names) - 4

    @property
    def blocks(self) -> tuple[Any, ...]:
        return self.kernel.blocks()

    @property
    def dims(self) -> tuple[int, ...]:
        return dimensions(self.blocks)

    @property
    def factors(self) -> Array:
        """rate = factor / length, for each block."""
        return np.array([term.rate_factor for term in self.kernel.terms if isinstance(term, Matern)] or [0.0])

    @property
    def columns(self) -> tuple[int, ...]:
        """A tuple as long as there are data columns: y and one for each trend coefficient."""
        return (0,) * self.rows.base.shape[1]

    @property
    def y(self) -> Array:
        """(N,) the measured values, 0 where there is none."""
        return np.where(self.rows.measured, self.record.y, 0.0)

    def y_var(self, y_scale: float) -> Array:
        """(N,) their variances at one y_scale."""
        return np.where(self.rows.measured, self.rows.y_var * y_scale**2, self.rows.y_var)

    @property
    def has_renewals(self) -> bool:
        """Whether there are limits or outliers, which a sampler draws along with the inputs."""
        return self.outliers is not None or bool(self.rows.limit.any())

    def to_internal(self, time: Array) -> Array:
        """User's time to internal time."""
        return self.record.sign * np.asarray(time, dtype=float) - self.origin

    def to_user(self, time: Array) -> Array:
        """Internal time to the user's."""
        return self.record.sign * (time + self.origin)

    def to_theta(self, phi: Array) -> dict[str, Array]:
        """The unknown parameters on the user's scale, from phi (..., P)."""
        values = {name: np.exp(phi[..., i]) for i, name in enumerate(self.names) if self.free[i]}
        if "alpha" in values:
            values["alpha"] = 1.0 + values["alpha"]
        return values

    def gap_prior(self, phi: Array) -> Exponents:
        """The exponents of the gap prior at phi."""
        if self.gaps == "gamma":
            alpha = 1.0 + math.exp(phi[-3])
            return Exponents(alpha - 1.0, alpha, self.floor, self.memory)
        power = -1.0 if self.gaps == "log-uniform" else 0.0
        return Exponents(power, 1.0 if self.gaps == "exponential" else 0.0, self.floor, False)


def pose(
    record: Record,
    kernel: Kernel,
    gaps: str = "gamma",
    mean: str | None = None,
    priors: dict[str, tuple[float, float]] | None = None,
    fixed: dict[str, float] | None = None,
    estimate: tuple[str, ...] = (),
    learn_inputs: bool = True,
    engine: str = "auto",
    outliers: str | None = None,
    offsets: float | None = None,
    memory: bool = False,
    internal: bool = False,
) -> Problem:
    """Check a model against a record and lay both out in arrays.

    Arguments as in ``lamina.fit``; without ``learn_inputs`` the inputs are taken as measured, and alpha plays no part.
    ``internal`` says that the kernel has its trend terms already, in internal time.
    """
    if gaps not in PRIORS:
        raise MethodError(f"unknown gap prior {gaps!r}. Choose one of: {', '.join(PRIORS)}.")
    if not isinstance(kernel, Kernel):
        raise KernelError(f"kernel must be a kernel such as lamina.Matern32(), got {kernel!r}.")
    if engine not in ENGINES:
        raise MethodError(f"engine must be one of {', '.join(ENGINES)}, got {engine!r}.")
    if engine == "markov":
        kernel.blocks()  # says what to do if there are none
    if outliers not in OUTLIERS:
        raise MethodError(f"outliers must be 'mixture', 'student' or None, got {outliers!r}.")
    source = record
    record, layer = merge_ties(source)
    if _has_memory(gaps, memory):
        record, layer = bottom_up(record, layer)
    known = np.unique(layer, return_index=True)[1]  # a row of the source for each layer
    if outliers is not None:
        check_single_values(source, layer, "outliers")
    sign = record.sign
    origin = float(np.mean(sign * record.t[record.dated]))
    t, scale = guess_inputs(record, sign * record.t - origin)
    full = kernel if internal else _with_mean(kernel, mean, sign, origin)
    _check_trend(full, t)
    check_limits(record, full)
    if learn_inputs and gaps in ("gamma", "log-uniform"):
        check_no_gap_is_zero(record, gaps, known)
    y_sd = _filled(record.y_sd, math.sqrt(NOTHING) * _spread(record))
    columns = design(full, t, np.where(record.measured, record.y, 0.0), y_sd)
    if offsets is not None:
        columns = with_offsets(columns, _membership(record, offsets), float(offsets))
    names = (*full.names, "memory", "alpha", "t_scale", "y_scale")
    medians, factors = _default_priors(record, t, full)
    free = np.full(len(names), bool(record.measured.any()))  # with nothing measured there is no curve to learn
    free[-4] = memory
    free[-3] = learn_inputs and gaps == "gamma" and any(len(rows) > 1 for _, rows in record.sequences)
    if not isinstance(estimate, tuple | list):
        raise MethodError(f"estimate takes 't_scale' and 'y_scale', alone or in a tuple, got {estimate!r}.")
    unknown = [name for name in estimate if name not in ("t_scale", "y_scale")]
    if unknown:
        raise MethodError(f"estimate takes 't_scale' and 'y_scale', got {unknown[0]!r}.")
    gaussian = ~record.exact & record.dated & np.array([date is None for date in record.dates or [None] * len(t)])
    if "t_scale" in estimate and not gaussian.any():
        raise MethodError(
            "estimate: there is no t_scale to learn, because no date is Gaussian: all inputs are exact (t_sd = 0), "
            "undated, or have a date of their own kind."
        )
    if "t_scale" in estimate:
        check_single_dates(source, layer)
    if "y_scale" in estimate:
        check_single_values(source, layer, 'estimate="y_scale"')
    free[-2], free[-1] = "t_scale" in estimate, "y_scale" in estimate
    for name, prior in _checked_dict("priors", priors).items():
        i = _position(name, names, free, "priors")
        medians[i], factors[i] = _checked_prior(name, prior)
    start = np.log(medians)
    start[-2:] = np.where(free[-2:], start[-2:], 0.0)
    for name, value in _checked_dict("fixed", fixed).items():
        i = _position(name, names, free, "fixed")
        start[i] = math.log(_checked_value(name, value))
        free[i] = False
    inference = "markov" if kernel.is_markov and engine != "dense" else "dense"
    rows = lay_rows(record, t, origin, y_sd, columns, known)
    if memory and not np.isfinite(rows.lag).any():
        raise MethodError("memory: no sequence has two gaps next to each other from which it could be learnt.")
    if learn_inputs:
        check_bounds(record, rows, known)
        check_least_gaps(record, rows, scale, known)
        check_proper(record, rows, gaps, known)
    if inference == "dense":
        _check_dense(rows, outliers, offsets)
    return Problem(
        source=source,
        record=record,
        layer=layer,
        kernel=full,
        gaps=gaps,
        engine=inference,
        origin=origin,
        floor=1e-3 * float(np.ptp(t)) if np.ptp(t) > 0 else 1.0,
        rows=rows,
        design=columns,
        names=names,
        start=start,
        prior_mean=np.log(medians),
        prior_sd=np.log(factors),
        free=free,
        scale=scale,
        outliers=outliers,
        offsets=offsets,
        memory=bool(memory),
    )


def _has_memory(gaps: str, memory: bool) -> bool:
    if not isinstance(memory, bool | np.bool_):
        raise MethodError(f"memory is True or False, got {memory!r}; its prior goes into priors={{'memory': ...}}.")
    if memory and gaps != "gamma":
        raise MethodError(f'memory between gaps needs gaps="gamma", got gaps="{gaps}".')
    return bool(memory)


def _usual_step(record: Record) -> float:
    """From date to date, in depth, or 1 without depths."""
    depth = record.depth
    if depth is None:
        return 1.0
    dated = [rows[record.dated[rows]] for _, rows in record.sequences]
    steps = np.concatenate([np.empty(0), *(np.abs(np.diff(depth[rows])) for rows in dated)])
    return float(np.median(steps[steps > 0.0])) if (steps > 0.0).any() else 1.0


def _spread(record: Record) -> float:
    """The standard deviation of the measured values, or of their errors if they are all alike, or 1 without any."""
    y, y_sd = record.y[record.measured], record.y_sd[record.measured]
    if not y.size:
        return 1.0
    spread, error = float(np.std(y)), float(y_sd.mean())
    return spread if spread > 1e-6 * error else error  # alike up to rounding


def _filled(values: Array, otherwise: float) -> Array:
    return np.where(np.isfinite(values), values, otherwise)


def _membership(record: Record, sd: float) -> Array:
    """(N, S): whether a row belongs to a sequence."""
    if not (isinstance(sd, int | float) and 0.0 < sd < math.inf):
        raise MethodError(f"offsets takes the prior standard deviation of the offsets, a positive number, got {sd!r}.")
    if len(record.sequences) < 2:
        raise MethodError("offsets: there is one sequence only, whose offset cannot be told from the curve's level.")
    member = np.zeros((len(record), len(record.sequences)))
    for s, (_, rows) in enumerate(record.sequences):
        member[rows, s] = 1.0
    return member


def _check_dense(rows: Rows, outliers: str | None, offsets: float | None) -> None:
    """What the dense engine cannot do."""
    for there, what in (
        (outliers is not None, "outliers"),
        (offsets is not None, "offsets"),
        (rows.limit.any(), "limits"),
        ((rows.block >= 0).any(), "rows at equal depth"),
    ):
        if there:
            raise MethodError(f"the dense engine has no {what}: use a Matérn kernel, or a sum of them.")


def _check_trend(kernel: Kernel, t: Array) -> None:
    """A rate without a prior cannot be told from rows at one time."""
    if any(isinstance(term, Linear) and not math.isfinite(term.sd) for term in kernel.terms) and np.ptp(t) == 0.0:
        raise MethodError("a linear trend needs rows at two times: leave it out, or give its rate a finite sd.")


def _with_mean(kernel: Kernel, mean: str | None, sign: float, origin: float) -> Kernel:
    """The kernel with its trend terms, those moved to internal time."""
    if mean is not None and mean not in MEANS:
        raise MethodError(f"mean must be one of {', '.join(MEANS)}, got {mean!r}.")
    if mean is not None and kernel.trend:
        raise MethodError("give the trend once: as terms of the kernel or as mean, not both.")
    terms = []
    for term in kernel.terms:
        if isinstance(term, Linear):
            term = replace(term, mean=sign * term.mean, origin=sign * term.origin - origin)
        terms.append(term)
    if not kernel.trend and mean != "zero":
        terms.append(Constant())
        if mean == "linear":
            terms.append(Linear())
    return terms[0] if len(terms) == 1 else Sum(tuple(terms))


def _default_priors(record: Record, t: Array, kernel: Kernel) -> tuple[Array, Array]:
    """Medians and factors of all phi, from the spread of the data.

    length: an eighth of the time span (several kernels: from a half of it downwards, slow first), but 1 for a periodic
    kernel, whose length has no unit; period: a quarter of the span; shape: 1; sd: the standard deviation of y, shared
    among the kernels, but 1 for the further factors of a product; memory: so that half lasts from one
    date to the next.
    """
    span = float(np.ptp(t)) or float(record.t_sd[record.dated].max()) or 1.0
    spread = _spread(record)
    curves = [term for term in kernel.terms if isinstance(term, Stationary)]
    factors = [factor for curve in curves for factor in _factors(curve)]
    lengths = sum("length" in factor.names and not isinstance(factor, Periodic) for factor, _ in factors)
    slow = span / 8.0 if lengths <= 1 else span / 2.0
    medians: list[float] = []
    widths: list[float] = []
    for factor, is_first in factors:
        for name in factor.names:
            if name == "sd":
                medians.append(spread / math.sqrt(len(curves)) if is_first else 1.0)
                widths.append(SD_FACTOR)
                continue
            widths.append(LENGTH_FACTOR)
            if name == "period":
                medians.append(span / 4.0)
            elif name == "length" and not isinstance(factor, Periodic):
                medians.append(slow)
                slow /= 8.0
            else:
                medians.append(1.0)
    medians += [_usual_step(record) / HALF, ALPHA_MEDIAN - 1.0, 1.0, 1.0]
    widths += [MEMORY_FACTOR, ALPHA_FACTOR, SCALE_FACTOR, SCALE_FACTOR]
    return np.array(medians), np.array(widths)


def _factors(curve: Kernel, is_first: bool = True) -> list[tuple[Kernel, bool]]:
    """The kernels of a product, and whether each is (in) its first factor."""
    if isinstance(curve, Product):
        return [one for k, part in enumerate(curve.parts) for one in _factors(part, is_first and k == 0)]
    if isinstance(curve, Sum):
        return [one for part in curve.parts for one in _factors(part, is_first)]
    return [(curve, is_first)]


def _checked_dict(argument: str, values: Any) -> dict[str, Any]:
    if values is not None and not isinstance(values, dict):
        example = "{'length': (500, 3)}" if argument == "priors" else "{'length': 500}"
        raise MethodError(f"{argument} must be a dict from parameter names such as {example}, got {values!r}.")
    return values or {}


def _position(name: str, names: tuple[str, ...], free: Array, argument: str) -> int:
    known = [n for n, is_free in zip(names, free, strict=True) if is_free]
    if name not in known:
        raise MethodError(f"{argument}: there is no unknown parameter {name!r} here; there are: {', '.join(known)}.")
    return names.index(name)


def _checked_prior(name: str, prior: Any) -> tuple[float, float]:
    try:
        median, factor = (float(value) for value in prior)
    except (TypeError, ValueError):
        median = factor = math.nan
    if name == "alpha":
        median -= 1.0
    if not (median > 0 and math.isfinite(median) and factor > 1 and math.isfinite(factor)):
        raise MethodError(
            f"priors: {name} takes (median, factor) with a positive median{' above 1' if name == 'alpha' else ''} "
            f"and a factor above 1, got {prior!r}. Two thirds of the prior lie between median / factor and "
            "median * factor."
        )
    return median, factor


def _checked_value(name: str, value: Any) -> float:
    try:
        number = float(value) - (1.0 if name == "alpha" else 0.0)
    except (TypeError, ValueError):
        number = math.nan
    if not SMALLEST < number < 1.0 / SMALLEST:
        raise MethodError(
            f"fixed: {name} must be a positive number{' above 1' if name == 'alpha' else ''} of a size that can be "
            f"reckoned with, got {value!r}."
        )
    return number
