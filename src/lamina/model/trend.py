"""Trend coefficients (a level, a rate) integrated out exactly, for both engines.

With regression columns X, coefficients beta and y = X beta + f + noise, the likelihood with beta integrated
out needs only log|K| and the inner products E = Z' K^-1 Z of the columns Z = [y, X], Eq. (21): an engine supplies
both, this file the rest, Eqs. (43) to (45).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ..engine.noise import standard_normal
from ..engine.stack import LEAN, linked
from ..errors import KernelError
from ..kernels import Kernel

Array = np.ndarray
LOG_2PI = float(np.log(2.0 * np.pi))


class Design(NamedTuple):
    """The columns that an engine whitens, and the prior of the coefficients."""

    Z: Array  #: (N, 1+q): y less a rough trend, then the q regression columns: trend terms, then offsets
    slope: Array  #: (1+q,): derivative of each column of Z in the time of its own row
    prior: Array  #: (1+q, 1+q): what the normal priors add to E
    constant: float  #: what the priors and the flat directions add to the log-likelihood
    transform: Array  #: (terms, q): coefficients of the user's columns = transform @ coefficients of Z + guess
    guess: Array  #: (q,): the rough trend that was taken out of y, in the user's columns
    rough: Array  #: (q,): the same in the columns of Z


def with_offsets(design: Design, member: Array, sd: float) -> Design:
    """The design with one more column for each of K offsets, of prior N(0, sd²); member (N, K) marks their rows."""
    q, k = len(design.guess), member.shape[1]
    prior = np.zeros((1 + q + k, 1 + q + k))
    prior[: 1 + q, : 1 + q] = design.prior
    prior[1 + q :, 1 + q :] = np.eye(k) / sd**2
    transform = np.zeros((q, q + k))  # no trend term of the user's holds an offset
    transform[:, :q] = design.transform
    return design._replace(
        Z=np.column_stack([design.Z, member]),
        slope=np.concatenate([design.slope, np.zeros(k)]),
        prior=prior,
        constant=design.constant - k * float(np.log(sd)),
        transform=transform,
        rough=np.concatenate([design.rough, np.zeros(k)]),
    )


def design(kernel: Kernel, tau: Array, y: Array, y_sd: Array) -> Design:
    """Columns for the trend terms of ``kernel``.

    Two exact changes of variable keep the numbers small where times or values have large offsets: the linear column is
    centred if there is also a constant, and a rough trend is subtracted from y. The rough trend is the least-squares
    one of independent rows, together with the priors.
    """
    terms = kernel.trend
    q = len(terms)
    if q == 0:
        return _NO_TREND._replace(Z=y.reshape(-1, 1))
    slopes = np.array([term.slope() for term in terms])
    X = np.column_stack([term.column(tau) for term in terms])
    curve, transform = kernel.stationary, np.eye(q)
    weight = 1.0 / (y_sd * y_sd + (0.0 if curve is None else curve.covariance(np.zeros(1))))
    if q == 2:
        linear = int(np.argmax(slopes))
        centre = np.average(X[:, linear], weights=weight)
        X[:, linear] -= centre
        transform[1 - linear, linear] = -centre  # level at the origin = level at the centre - rate * centre
    precision = np.array([term.sd**-2.0 for term in terms])
    mean = np.array([term.mean for term in terms])
    weighted = transform.T * precision
    rough = _solve_scaled(X.T * weight @ X + weighted @ transform, X.T * weight @ y + weighted @ mean)
    rest = y
    for c in np.argsort(slopes):  # the level first: added to a rate it would round the small numbers that remain
        rest = rest - rough[c] * X[:, c]
    guess = transform @ rough
    rows = np.column_stack([mean - guess, transform])
    known = precision > 0
    constant = 0.5 * float(np.log(precision[known]).sum()) + 0.5 * LOG_2PI * int((~known).sum())
    return Design(
        Z=np.column_stack([rest, X]),
        slope=np.concatenate([[-slopes @ rough], slopes]),
        prior=(rows.T * precision) @ rows,
        constant=constant,
        transform=transform,
        guess=guess,
        rough=rough,
    )


def _solve_scaled(M: Array, b: Array) -> Array:
    """M^-1 b for a symmetric M (q, q) whose rows may differ in scale by many orders, and which may be singular."""
    scale = np.sqrt(np.diag(M))
    scale[scale == 0.0] = 1.0
    return np.linalg.lstsq(M / np.outer(scale, scale), b / scale)[0] / scale


_NONE = np.empty(0)
_NO_TREND = Design(np.empty((0, 1)), np.zeros(1), np.zeros((1, 1)), 0.0, np.empty((0, 0)), _NONE, _NONE)


def at_times(kernel: Kernel, design: Design, at: Array) -> tuple[Array, Array, Array, Array]:
    """The trend at other times: offset + columns @ (coefficients of Z), and the same for its rate of change.

    at has shape (M,). Returns offset (M,), columns (M, q), and both once more for the rate.
    """
    terms = kernel.trend
    values = np.column_stack([np.empty((len(at), 0)), *(term.column(at) for term in terms)])
    slopes = np.tile([term.slope() for term in terms], (len(at), 1))
    columns, columns_rate = values @ design.transform, slopes @ design.transform
    return columns @ design.rough, columns, columns_rate @ design.rough, columns_rate


class Integrated(NamedTuple):
    """What is left of the likelihood when the coefficients are integrated out."""

    value: float  #: to be added to -(N log 2 pi + log|K|) / 2
    weight: Array  #: (1+q, 1+q): d value / d E
    coefficients: Array  #: (q,): their posterior mean, for the columns of Z
    covariance: Array  #: (q, q): and covariance


def integrate_out(E: Array, prior: Array, constant: float) -> Integrated:
    """Integrate the coefficients out of exp(-½ (1, -beta) (E + prior) (1, -beta)'), Eqs. (44) and (45)."""
    E = E + prior
    q = len(E) - 1
    value, root, whitened = integrate(E)
    if not np.isfinite(value):
        raise KernelError(
            f"The {q} trend coefficients cannot be distinguished with the rows given: "
            "use fewer trend terms, give them a finite sd, or add rows at other times."
        )
    coefficients, covariance = root.T @ whitened, root.T @ root
    w = np.concatenate([[1.0], -coefficients])
    weight = -0.5 * np.outer(w, w)
    weight[1:, 1:] -= 0.5 * covariance
    return Integrated(value + constant, weight, coefficients, covariance)


@njit(**LEAN)
def add(E: Array, prior: Array) -> None:
    """E <- E + prior."""
    for i in range(len(E)):
        for j in range(len(E)):
            E[i, j] += prior[i, j]


@njit(**LEAN | {"fastmath": False})
def integrate_into(E: Array, root: Array, whitened: Array) -> float:
    """-½ (E00 - b' G^-1 b) - ½ log|G| with G = E[1:, 1:] = L L' and b = E[1:, 0]; writes L^-1 and L^-1 b.

    The coefficients have mean L^-T L^-1 b and covariance L^-T L^-1. The value is NaN where G is singular. The lower
    half of G is overwritten with L.
    """
    q, value = len(whitened), -0.5 * E[0, 0]
    for i in range(q):
        whitened[i] = 0.0
        for j in range(q):
            root[i, j] = 0.0
    for i in range(1, q + 1):
        for j in range(1, i + 1):
            s = E[i, j]
            for k in range(1, j):
                s -= E[i, k] * E[j, k]
            if i > j:
                E[i, j] = s / E[j, j]
            elif s <= 1e-14 * E[i, i]:
                return math.nan
            else:
                E[i, i] = math.sqrt(s)
                value -= math.log(E[i, i])
    for i in range(q):
        for j in range(i + 1):
            s = 1.0 if i == j else 0.0
            for k in range(j, i):
                s -= E[i + 1, k + 1] * root[k, j]
            root[i, j] = s / E[i + 1, i + 1]
            whitened[i] += root[i, j] * E[j + 1, 0]
        value += 0.5 * whitened[i] * whitened[i]
    return value


@njit(cache=True, error_model="numpy")
def integrate(E: Array) -> tuple[float, Array, Array]:
    """The value of ``integrate_into``, L^-1 and L^-1 b."""
    q = E.shape[0] - 1
    root, whitened = np.empty((q, q)), np.empty(q)
    return integrate_into(E.copy(), root, whitened), root, whitened


linked_integrate = linked(integrate)


@njit(**LEAN | {"fastmath": False})
def draw(root: Array, whitened: Array, rng: np.random.Generator, beta: Array) -> None:
    """Write a draw of the coefficients into beta (q,), given what ``integrate`` returned."""
    for i in range(len(beta)):
        beta[i] = whitened[i] + standard_normal(rng)
    for i in range(len(beta)):
        total = 0.0
        for k in range(i, len(beta)):
            total += root[k, i] * beta[k]
        beta[i] = total
