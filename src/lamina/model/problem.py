"""A record and a model, as the arrays that the methods work on.

Inside, time always increases down each sequence and is counted from a central date: internal = sign * t - origin.
All hyperparameters are in one vector ``phi``: see ``lamina.model.parameters``. ``free`` marks those that are unknown;
the others keep their value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..engine.statespace import dimensions
from ..errors import MethodError
from ..kernels import Constant, Kernel, Linear, Matern, SpaceTime, Sum
from ..record import Record
from ..records.ties import bottom_up, check_single_dates, check_single_values, merge_ties
from .layout import check_limits, check_no_gap_is_zero, check_order, guess_inputs, make_rows
from .mean_prior import MeanPrior, mean_prior
from .model import Model
from .parameters import ALPHA, MEMORY, SHARED, T_SCALE, Y_SCALE
from .priors import default_priors, fix, least_alpha, set_priors, spread
from .rows import Rows
from .space import check_field_model, check_space
from .tails import as_fitted
from .trend import Design, design, with_offsets

Array = np.ndarray

#: Variance of a row where nothing was measured, in units of the others': it contributes nothing, to the last digit.
UNMEASURED_VAR = 1e16


@dataclass(frozen=True)
class Problem:
    """What a method needs to know. Made by ``build_problem``."""

    source: Record  #: as the user gave it
    record: Record  #: with one row for each layer, with memory the other way round; see ``lamina.records.ties``
    layer: Array  #: (rows of source,) the row of ``record`` that each belongs to
    model: Model
    kernel: Kernel  #: with its trend terms, in internal time
    engine: str  #: "markov" or "dense": what inference runs on
    origin: float
    floor: float  #: see ``lamina.gaps.log_prior``
    mean_prior: MeanPrior | None  #: of the mean time per unit of depth
    rows: Rows
    design: Design
    names: tuple[str, ...]  #: of phi, as the user knows them
    start: Array  #: (P,) value of each phi to begin with
    prior_mean: Array  #: (P,)
    prior_sd: Array  #: (P,)
    free: Array  #: (P,) mask
    scale: Array  #: (N,) how far each input may be off: the sd of its date, or the usual distance of dates

    @property
    def n_kernel(self) -> int:
        """How many of phi belong to the kernel; those of ``parameters.SHARED`` follow."""
        return len(self.names) - len(SHARED)

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
        """Whether there are limits or outliers, which a sampler draws together with the inputs."""
        return self.model.outliers is not None or bool(self.rows.limit.any())

    @property
    def least_alpha(self) -> float:
        """The lower limit of alpha, see ``priors``."""
        return least_alpha(self.record)

    def to_internal(self, time: Array) -> Array:
        """User's time to internal time."""
        return self.record.sign * np.asarray(time, dtype=float) - self.origin

    def to_user(self, time: Array) -> Array:
        """Internal time to the user's."""
        return self.record.sign * (time + self.origin)

    def rate_to_user(self, rate: Any) -> Any:
        """A rate per unit of internal time to one per unit of the user's, and back."""
        return self.record.sign * rate

    def to_theta(self, phi: Array) -> dict[str, Array]:
        """The unknown parameters on the user's scale, from phi (..., P)."""
        values = {name: np.exp(phi[..., i]) for i, name in enumerate(self.names) if self.free[i]}
        if "alpha" in values:
            values["alpha"] = self.least_alpha + values["alpha"]
        return values


def build_problem(record: Record, model: Model, has_gap_prior: bool = True) -> Problem:
    """Check a model against a record and lay both out in arrays.

    Without ``has_gap_prior`` the method has no prior of the gaps, and alpha is not used.
    """
    check_space(record, model.kernel)
    check_field_model(record, model.offsets, model.engine)
    source = record
    record, layer = merge_ties(as_fitted(source, model.t_errors))
    if model.memory:
        record, layer = bottom_up(record, layer)
    _check_merged(source, record, layer, model)
    known = np.unique(layer, return_index=True)[1]  # a row of the source for each layer
    origin = float(np.mean(record.sign * record.t[record.dated]))
    t, scale = guess_inputs(record, record.sign * record.t - origin)
    kernel = _with_trend(model, record.sign, origin)
    _check_trend(kernel, t)
    check_limits(record, kernel)
    if has_gap_prior:
        check_no_gap_is_zero(record, model.gaps, known)
    y_sd = np.where(np.isfinite(record.y_sd), record.y_sd, math.sqrt(UNMEASURED_VAR) * spread(record))
    columns = _columns(record, model, kernel, t, y_sd)
    rows = make_rows(record, t, origin, y_sd, columns, known)
    if has_gap_prior:
        check_order(record, rows, model.gaps, scale, known)
    _check_rows(rows, model)
    return Problem(
        source=source,
        record=record,
        layer=layer,
        model=model,
        kernel=kernel,
        engine=model.runs_on,
        origin=origin,
        floor=1e-3 * float(np.ptp(t)) if np.ptp(t) > 0 else 1.0,
        mean_prior=mean_prior(model.priors, record, model.gaps),
        rows=rows,
        design=columns,
        scale=scale,
        **_parameters(record, t, kernel, model, has_gap_prior),
    )


def _columns(record: Record, model: Model, kernel: Kernel, t: Array, y_sd: Array) -> Design:
    """The data columns: y, those of the trend, and one for the offset of each sequence."""
    columns = design(kernel, t, np.where(record.measured, record.y, 0.0), y_sd)
    if model.offsets is None:
        return columns
    if len(record.sequences) < 2:
        raise MethodError(
            "offsets: there is one sequence only, whose offset cannot be distinguished from the curve's level."
        )
    member = np.zeros((len(record), len(record.sequences)))
    for s, (_, rows) in enumerate(record.sequences):
        member[rows, s] = 1.0
    return with_offsets(columns, member, float(model.offsets))


def _parameters(record: Record, t: Array, kernel: Kernel, model: Model, has_gap_prior: bool) -> dict[str, Any]:
    """The fields of a Problem that are about phi."""
    names = (*kernel.names, *SHARED)
    free = np.full(len(names), bool(record.measured.any()))  # with nothing measured there is no curve to learn
    free[MEMORY] = model.memory
    free[ALPHA] = has_gap_prior and model.gaps == "gamma" and any(len(rows) > 1 for _, rows in record.sequences)
    free[T_SCALE], free[Y_SCALE] = "t_scale" in model.estimate, "y_scale" in model.estimate
    priors = default_priors(record, t, kernel)
    set_priors(model.priors, record, names, free, priors)
    prior_mean, prior_sd = np.log(priors)
    start = prior_mean.copy()
    for scale in T_SCALE, Y_SCALE:
        start[scale] = start[scale] if free[scale] else 0.0
    fix(model.fixed, record, names, free, start)
    return {"names": names, "start": start, "prior_mean": prior_mean, "prior_sd": prior_sd, "free": free}


def _check_merged(source: Record, record: Record, layer: Array, model: Model) -> None:
    """Values and dates whose scatter is learnt must not be merged; and there must be some."""
    if model.outliers is not None:
        check_single_values(source, layer, "outliers")
    if "y_scale" in model.estimate:
        check_single_values(source, layer, 'estimate="y_scale"')
    if "t_scale" in model.estimate:
        gaussian = np.array([date is None for date in record.dates or [None] * len(record)])
        if not (gaussian & ~record.exact & record.dated).any():
            raise MethodError(
                "estimate: there is no t_scale to estimate, because no date is Gaussian: all inputs are exact "
                "(t_sd = 0), undated, or have a date of their own kind."
            )
        check_single_dates(source, layer)
        if source.thickness is not None:
            raise MethodError(
                'estimate="t_scale" scales the reported errors, but not what the thickness of samples adds to them: '
                "leave out one of them."
            )


def _check_rows(rows: Rows, model: Model) -> None:
    """Memory needs gaps to learn it from, and the dense engine cannot do everything."""
    if model.memory and not np.isfinite(rows.lag).any():
        raise MethodError("memory: no sequence has two gaps next to each other from which it could be estimated.")
    if model.runs_on == "markov":
        return
    for there, what in (
        (model.outliers is not None, "outliers"),
        (model.offsets is not None, "offsets"),
        (rows.limit.any(), "limits"),
        ((rows.block >= 0).any(), "rows at equal depth"),
    ):
        if there:
            raise MethodError(f"the dense engine has no {what}: use a Matérn kernel, or a sum of them.")


def _check_trend(kernel: Kernel, t: Array) -> None:
    """Rows at one time do not determine a rate with a flat prior."""
    if any(isinstance(term, Linear) and not math.isfinite(term.sd) for term in kernel.terms) and np.ptp(t) == 0.0:
        raise MethodError("a linear trend needs rows at two times: leave it out, or give its rate a finite sd.")


def _with_trend(model: Model, sign: float, origin: float) -> Kernel:
    """The kernel with its trend terms, those moved to internal time."""
    terms = []
    for term in model.kernel.terms:
        if isinstance(term, Linear):
            term = replace(term, mean=sign * term.mean, origin=sign * term.origin - origin)
        elif isinstance(term, SpaceTime) and term.is_linear:
            term = replace(term, time=replace(term.time, origin=sign * term.time.origin - origin))
        terms.append(term)
    if not model.kernel.trend and model.mean != "zero":
        terms.append(Constant())
        if model.mean == "linear":
            terms.append(Linear())
    return terms[0] if len(terms) == 1 else Sum(tuple(terms))
