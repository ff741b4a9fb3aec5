"""The field with constants and rates as regression coefficients: what a sampler of its parameters works on.

With coefficients beta of the static terms, one filter over the curves leaves E, the inner products of the data columns
[y, common trend, static terms] under the covariance of the curves, Eq. (77). The likelihood at any parameters
of the static terms then costs O(S³) and no filter: their covariances are the prior of beta.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy  # its parts load when they are first used

from ..errors import KernelError
from ..kernels import Kernel, Sum, WhiteNoise
from ..model.trend import LOG_2PI
from .data import Data
from .filter import Gains, Series, new_gains, run_filter
from .layout import Field, Values, is_stationary
from .paths import draw_path
from .problem import FieldProblem
from .statics import solve_static

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Reduced:
    """A field whose states are those of its curves. Made by ``reduce``."""

    full: Field
    curves: Field  #: its terms that vary in time
    data: Data  #: with a column for each site and static term, after those of the common trend
    moving: Array  #: positions in theta of the parameters of the curves and of white noise
    static: tuple[tuple[int, slice], ...]  #: each static term: its number among the terms, and its parameters in theta


class Swept(NamedTuple):
    """A filter run over the curves alone."""

    total: float  #: sum of log S
    E: Array  #: (C, C) inner products of the data columns
    series: Series
    gains: Gains
    values: Values


class Fitted(NamedTuple):
    """The likelihood, static terms integrated out, and what is known of their coefficients, whitened."""

    value: float  #: log p(y | tau, theta)
    L: Array  #: (q, q) lower: the precision of the whitened coefficients is L L'
    b: Array  #: (q,) their mean is L^-T b
    transform: Array  #: (q, q) coefficients = transform @ whitened ones


def reduce(problem: FieldProblem) -> Reduced:
    """The reduced form of a field."""
    field, data = problem.field, problem.data
    terms, edges = field.terms, field.pieces
    moving = [k for k, term in enumerate(terms) if is_stationary(term)]
    kept: list[Kernel] = [*(terms[k] for k in moving), *(t for t in field.kernel.terms if isinstance(t, WhiteNoise))]
    curves = Field(kept[0] if len(kept) == 1 else Sum(tuple(kept)), field.sites)
    still = [k for k in range(len(terms)) if k not in moving]
    here = np.equal.outer(data.site, np.arange(len(field.distance))).astype(float)
    base, slope = [data.base], [data.slope]
    for k in still:
        linear = field.layout.linear[k]
        base.append(-field.layout.origin[k] * here if linear else here)
        slope.append(here if linear else np.zeros_like(here))
    return Reduced(
        full=field,
        curves=curves,
        data=data._replace(base=np.concatenate(base, axis=1), slope=np.concatenate(slope, axis=1)),
        moving=np.concatenate([*(np.arange(edges[k].start, edges[k].stop) for k in moving), field.white]),
        static=tuple((k, edges[k]) for k in still),
    )


def arrange(reduced: Reduced, tau: Array) -> Series:
    """The measured rows in order of their times tau (N,), without white noise: the same for all parameters."""
    return reduced.data.in_order(tau, np.argsort(tau, kind="stable"), 0.0)


def sweep(reduced: Reduced, theta: Array, rows: Series) -> Swept:
    """Filter the measured rows, as ``arrange`` gives them. Raises KernelError."""
    own = theta[reduced.moving]
    series, values = rows._replace(y_var=rows.y_var + reduced.curves.white_var(own)), reduced.curves.values(own)
    columns = series.Z.shape[1]
    gains, E = new_gains(len(series.time), reduced.curves.size), np.zeros((columns, columns))
    total = run_filter(reduced.curves.layout, values, series, gains, E)
    if not np.isfinite(total):
        raise KernelError("The covariance of the rows is not positive definite in double precision.")
    return Swept(total, E, series, gains, values)


def static_roots(reduced: Reduced, theta: Array) -> Array:
    """The matrix (q, q) that makes coefficients of trend and static terms of whitened ones. Raises KernelError."""
    q, S = len(reduced.data.design.guess), len(reduced.full.distance)
    found = np.eye(q + S * len(reduced.static))
    for n, (k, own) in enumerate(reduced.static):
        at = slice(q + n * S, q + (n + 1) * S)
        found[at, at] = reduced.full.root_at(k, theta[own])
    return found


def fit_static(reduced: Reduced, swept: Swept, transform: Array) -> Fitted:
    """Integrate the common trend and the static terms out, with ``static_roots`` of the latter. Raises KernelError."""
    prior = np.ascontiguousarray(reduced.data.design.prior)
    L, b = np.empty((len(transform), len(transform))), np.empty(len(transform))
    determinant = solve_static(swept.E, prior, transform, len(reduced.full.distance), L, b)
    if not np.isfinite(determinant):
        raise KernelError("The coefficients of the trend cannot be distinguished with the rows given.")
    value = 0.5 * float(b @ b - swept.E[0, 0] - prior[0, 0]) - determinant
    value += reduced.data.design.constant - 0.5 * (swept.total + len(swept.series.time) * LOG_2PI)
    return Fitted(value, L, b, transform)


def draw(reduced: Reduced, swept: Swept, fitted: Fitted, at: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """A joint draw of the states of the curves at increasing times at (M, D), and of all coefficients (q,)."""
    noisy = fitted.b + rng.standard_normal(len(fitted.b))
    beta = fitted.transform @ scipy.linalg.solve_triangular(fitted.L, noisy, lower=True, trans="T", check_finite=False)
    Z = swept.series.Z
    left = swept.series._replace(Z=np.ascontiguousarray((Z[:, 0] - Z[:, 1:] @ beta)[:, None]))
    out = np.empty((len(at), reduced.curves.size))
    draw_path(reduced.curves.layout, swept.values, left, swept.gains, np.empty(0), at, rng, out)
    return out, beta
