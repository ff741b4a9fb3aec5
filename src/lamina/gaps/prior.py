"""The density of the gaps, Eqs. (4), (44) and (45).

All four priors are one density of the innovations e of the n regular gaps of a sequence (``pace``),

    constant times prod e^power times (sum e + floor)^-(per_gap n),

with a constant where per_gap > 0. The other files of this folder take the formula from here.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ..engine.logarithms import NOTHING, add_log, log_sum
from ..engine.stack import INLINE, LEAN
from ..errors import MethodError
from .pace import excess, innovation, innovation_after

PRIORS = ("uniform", "log-uniform", "exponential", "gamma")


class Exponents(NamedTuple):
    """A gap prior at one alpha."""

    power: float
    per_gap: float
    floor: float


class Gaps(NamedTuple):
    """The n gaps of one sequence."""

    minimum: np.ndarray  #: (n,)
    unit: np.ndarray  #: (n,)
    regular: np.ndarray  #: (n,) whether the prior applies; if not, any size is equally likely
    carry: np.ndarray  #: (n,) see ``pace``


def exponents(name: str, alpha: float = 1.0, floor: float = 0.0) -> Exponents:
    """The prior of that name. Raises MethodError for an unknown name, alpha < 1 or floor < 0."""
    if not (0.0 <= floor < math.inf):
        raise MethodError(f"floor must be a finite number of at least 0, got {floor!r}.")
    if name == "gamma":
        if not (1.0 <= alpha < math.inf):
            raise MethodError(
                f"alpha must be a finite number of at least 1, got {alpha!r}. "
                "Below 1 the density is infinite at a gap of zero."
            )
        return gamma_exponents.py_func(float(alpha), floor)
    plain = {"uniform": (0.0, 0.0), "log-uniform": (-1.0, 0.0), "exponential": (0.0, 1.0)}
    if name not in plain:
        raise MethodError(f"unknown gap prior {name!r}. Choose one of: {', '.join(PRIORS)}.")
    return Exponents(*plain[name], floor)


@njit(**INLINE)
def gamma_exponents(alpha, floor):
    """The gamma prior; alpha = 1 is the exponential."""
    return Exponents(alpha - 1.0, alpha, floor)


@njit(**{**INLINE, "fastmath": False})
def log_density_of_sums(prior, n, sum_log, log_total):
    """log-density of one sequence with n regular gaps, from sum log e and log(sum e + floor).

    Terms with exponent zero are left out, not multiplied by zero, so that a gap of zero does not turn them into NaN.
    """
    value = 0.0
    if n == 0:
        return value
    if prior.per_gap > 0.0:  # then the shape of each gap is per_gap as well
        shape = prior.per_gap * n
        value += math.lgamma(shape) - n * math.lgamma(prior.per_gap) - shape * log_total
    if prior.power > 0.0 and sum_log == -math.inf:
        return -math.inf
    if prior.power != 0.0:
        value += prior.power * sum_log
    return value


@njit(**INLINE)
def log_ratio(prior, n, total, logs, change):
    """log-ratio of one sequence's density as sum log e grows by ``logs``, and sum e, from ``total``, by ``change``."""
    ratio = prior.power * logs
    if prior.per_gap > 0.0 and change != 0.0:
        whole = total + prior.floor
        ratio -= prior.per_gap * n * math.log((whole + change) / whole)
    return ratio


@njit(**LEAN)
def sum_gaps(rows, floor, tau, sums):
    """Write sum log e and log(sum e + floor) of each sequence into sums (S, 2). A broken order gives -inf."""
    for s in range(len(rows.gaps)):
        sums[s, 0] = sums[s, 1] = 0.0
    logs, last = NOTHING, 0
    for r in range(len(tau)):
        s = rows.sequence[r]
        if s >= 0 and rows.after[r] >= 0:
            e = innovation_after(rows, tau, r)
            if s != last:
                sums[last, 0] += log_sum(logs)
                logs, last = NOTHING, s
            if not e > 0.0:
                sums[s, 0] = -math.inf
            elif rows.regular[r]:
                logs = add_log(logs, e)
                sums[s, 1] += e
    if len(rows.gaps) > 0:
        sums[last, 0] += log_sum(logs)
    for s in range(len(rows.gaps)):
        sums[s, 1] = math.log(sums[s, 1] + floor)


@njit(**LEAN)
def log_gaps(rows, prior, sums):
    """log-density of all sequences from what ``sum_gaps`` wrote. With memory, less ``pace.log_share``."""
    value = 0.0
    for s in range(len(rows.gaps)):
        if sums[s, 0] == -math.inf:
            return -math.inf
        value += log_density_of_sums(prior, rows.gaps[s], sums[s, 0], sums[s, 1])
    return value


@njit(cache=True, error_model="numpy")
def log_density(tau, gaps, prior):
    """log-density of one sequence tau (n + 1,), its gradient (n + 1,), and its derivative in alpha.

    The derivative in alpha is that of the gamma prior. With memory there is no gradient: it is NaN.
    """
    d_tau = np.zeros(tau.size)
    n, sum_log, total, before, shares = 0, 0.0, 0.0, 0.0, 0.0
    for j in range(tau.size - 1):
        room = excess(tau[j], tau[j + 1], gaps.minimum[j])
        pace = room / gaps.unit[j]
        e = innovation(pace, before, gaps.carry[j]) if gaps.carry[j] > 0.0 else pace
        before = pace
        if not (room >= 0.0 and e >= 0.0):
            return -math.inf, np.zeros(tau.size), 0.0
        if gaps.regular[j]:
            n += 1
            total += e
            sum_log += math.log(e)
            if prior.power != 0.0:
                d_tau[j + 1] += prior.power / room
                d_tau[j] -= prior.power / room
        if gaps.carry[j] > 0.0:
            shares += math.log(1.0 - gaps.carry[j])
    if n == 0:
        return 0.0, d_tau, 0.0
    shape, log_total, d_alpha = prior.per_gap * n, math.log(total + prior.floor), 0.0
    if prior.per_gap > 0.0:
        for j in range(tau.size - 1):
            if gaps.regular[j]:
                slope = shape / (gaps.unit[j] * (total + prior.floor))
                d_tau[j + 1] -= slope
                d_tau[j] += slope
        d_alpha = n * (digamma(shape) - digamma(prior.per_gap)) + sum_log - n * log_total
    if shares < 0.0:
        d_tau = np.full(tau.size, math.nan)
    return log_density_of_sums(prior, n, sum_log, log_total) - shares, d_tau, d_alpha


@njit(**LEAN)
def add_log_gap_curvature(log_excess, gaps, prior, out):
    """Add the second derivative of the log-density in each log-gap (n,) to out (n,), without memory.

    Only sum e is not linear in the log-gaps: with the share s of a gap in it, d² = -per_gap n s (1 - s).
    """
    total, n = prior.floor, 0
    for j in range(len(log_excess)):
        if gaps.regular[j]:
            total += math.exp(log_excess[j]) / gaps.unit[j]
            n += 1
    for j in range(len(log_excess)):
        if gaps.regular[j]:
            share = math.exp(log_excess[j]) / (gaps.unit[j] * total)
            out[j] -= prior.per_gap * n * share * (1.0 - share)


@njit(cache=True, error_model="numpy")
def digamma(x):
    """d log Gamma(x) / dx for x > 0: upwards by psi(x) = psi(x + 1) - 1/x, then the asymptotic series.

    Written out because importing SciPy's takes a third as long as importing all the rest.
    """
    shift = 0.0
    while x < 10.0:
        shift -= 1.0 / x
        x += 1.0
    z = 1.0 / (x * x)
    series = z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z * (1 / 132 - z * (691 / 32760))))))
    return shift + math.log(x) - 0.5 / x - series
