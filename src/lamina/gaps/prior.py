"""The density of the gaps, Eqs. (4), (5), (9) and (6).

All four priors are one density of f_j = unit_j e_j, where e are the innovations of the regular gaps of a sequence
(``pace``), with U = sum unit,

    constant times prod f_j^(shape unit_j + extra) times (sum f + floor)^-(shape U + weight),

with a constant where shape > 0. The rate of the gamma gaps is integrated out, under a Gamma(weight, floor) density.
Without depths all units are 1. With depths the exponent grows with the step in depth: this is a gamma process in depth,
whose law over an interval is that of the sum over its parts. The other files of this folder take the formula from here.
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

    shape: float  #: of a gap of unit 1; 0 for priors that have none
    extra: float
    floor: float
    tiny: float = 0.0  #: where shape > 0, the density of f is constant below this, with the same mass: see ``log_term``
    weight: float = 0.0  #: of the prior of the mean rate, Eq. (83); 0 without one


class Sums(NamedTuple):
    """Positions of what ``sum_gaps`` writes for each sequence, over its regular gaps."""

    logs: int = 0  #: sum log f
    weighted: int = 1  #: sum unit log f
    total: int = 2  #: sum f
    tiny: int = 3  #: the number of f below ``Exponents.tiny``, which are counted as that,
    tiny_units: int = 4  #: and the sum of the logarithms of their units


SUMS = Sums()


class Gaps(NamedTuple):
    """The n gaps of one sequence."""

    minimum: np.ndarray  #: (n,)
    unit: np.ndarray  #: (n,)
    regular: np.ndarray  #: (n,) whether the prior applies; if not, any size is equally likely
    carry: np.ndarray  #: (n,) see ``pace``


def exponents(name: str, alpha: float = 1.0, floor: float = 0.0, tiny: float = 0.0, weight: float = 0.0) -> Exponents:
    """The prior of that name. Raises MethodError for an unknown name, alpha < 1 or floor < 0."""
    if not (0.0 <= floor < math.inf):
        raise MethodError(f"floor must be a finite number of at least 0, got {floor!r}.")
    if name == "gamma":
        if not (1.0 <= alpha < math.inf):
            raise MethodError(
                f"alpha must be a finite number of at least 1, got {alpha!r}. "
                "Below 1 the density is infinite at a gap of zero."
            )
        return gamma_exponents.py_func(float(alpha), Exponents(1.0, -1.0, floor, tiny, weight))
    plain = {"uniform": (0.0, 0.0), "log-uniform": (0.0, -1.0), "exponential": (1.0, -1.0)}
    if name not in plain:
        raise MethodError(f"unknown gap prior {name!r}. Choose one of: {', '.join(PRIORS)}.")
    shape, extra = plain[name]
    return Exponents(shape, extra, floor, tiny if shape > 0.0 else 0.0, weight)


@njit(**INLINE)
def gamma_exponents(alpha, at_one):
    """The gamma prior, from that with alpha = 1, which is the exponential.

    With a prior of the mean, that of the rate of the gaps is proportional to alpha, Eq. (83).
    """
    floor = at_one.floor / alpha if at_one.weight > 0.0 else at_one.floor
    return Exponents(alpha, -1.0, floor, at_one.tiny, at_one.weight)


@njit(**INLINE)
def log_term(prior, unit, f):
    """What one regular gap contributes to the log-density, without the constant.

    A shape below 1 puts mass at gaps so small that times in double precision cannot hold them. Below ``tiny`` the
    density is therefore constant, with the mass that it had there, Eq. (7).
    """
    power = prior.shape * unit + prior.extra
    if prior.shape > 0.0 and f < prior.tiny:
        return power * math.log(prior.tiny) - math.log(1.0 + power)
    return power * math.log(f) if power != 0.0 else 0.0


@njit(**INLINE)
def log_ratio(prior, units, total, logs, change):
    """log-ratio of one sequence's density as the sum of ``log_term`` grows by ``logs``, and sum f by ``change``.

    ``units`` is the sum of the units of its regular gaps, ``total`` that of f.
    """
    if prior.shape > 0.0 and change != 0.0:
        whole = total + prior.floor
        logs -= (prior.shape * units + prior.weight) * math.log((whole + change) / whole)
    return logs


@njit(**INLINE)
def _add_logs(sums, s, unit, logs):
    """Add the logarithm of f, or of several of one unit, to the sums of sequence s."""
    sums[s, SUMS.logs] += logs
    sums[s, SUMS.weighted] += unit * logs


@njit(**LEAN)
def sum_gaps(rows, prior, tau, sums):
    """Write what ``log_gaps`` needs, for any shape, into sums (S, 5), see ``Sums``. A broken order gives -inf."""
    for s in range(len(rows.gaps)):
        for k in range(len(SUMS)):
            sums[s, k] = 0.0
    logs, last = NOTHING, 0  # of gaps with unit 1, as all are without depths: one logarithm for many
    for r in range(len(tau)):
        s = rows.sequence[r]
        if s >= 0 and rows.after[r] >= 0:
            unit, f = rows.unit[r], rows.unit[r] * innovation_after(rows, tau, r)
            if s != last:
                _add_logs(sums, last, 1.0, log_sum(logs))
                logs, last = NOTHING, s
            if not f > 0.0:
                sums[s, SUMS.logs] = -math.inf
            elif rows.regular[r]:
                sums[s, SUMS.total] += f
                if unit == 1.0:
                    logs = add_log(logs, max(f, prior.tiny))
                else:
                    _add_logs(sums, s, unit, math.log(max(f, prior.tiny)))
                if f < prior.tiny:
                    sums[s, SUMS.tiny] += 1.0
                    sums[s, SUMS.tiny_units] += math.log(unit)
    if len(rows.gaps) > 0:
        _add_logs(sums, last, 1.0, log_sum(logs))


@njit(**{**LEAN, "fastmath": False})
def log_gaps(rows, prior, sums):
    """log-density of all sequences from what ``sum_gaps`` wrote. With memory, less ``pace.log_share``."""
    value = 0.0
    for s in range(len(rows.gaps)):
        own = sums[s]
        if own[SUMS.logs] == -math.inf:
            return -math.inf
        if rows.gaps[s] == 0.0:
            continue
        if prior.extra != 0.0:
            value += prior.extra * own[SUMS.logs]
        if prior.shape > 0.0:
            value += log_mean_rate(prior, prior.shape * rows.gaps[s], own[SUMS.total])
            value += prior.shape * own[SUMS.weighted]
            value -= own[SUMS.tiny] * math.log(prior.shape) + own[SUMS.tiny_units]
    return value - _sum_log_gamma(rows, prior) if prior.shape > 0.0 else value


@njit(**INLINE)
def log_mean_rate(prior, whole, total):
    """What the rate of one sequence's gaps leaves, integrated out: ``whole`` is shape times U, ``total`` is sum f."""
    power = whole + prior.weight
    value = math.lgamma(power) - power * math.log(total + prior.floor)
    return value + prior.weight * math.log(prior.floor) if prior.weight > 0.0 else value


@njit(**LEAN)
def _sum_log_gamma(rows, prior):
    """sum log Gamma(shape unit) over all regular gaps; neighbours often have the same unit."""
    total, unit, log_gamma = 0.0, 0.0, 0.0
    for r in range(len(rows.unit)):
        if rows.sequence[r] >= 0 and rows.after[r] >= 0 and rows.regular[r]:
            if rows.unit[r] != unit:
                unit = rows.unit[r]
                log_gamma = math.lgamma(prior.shape * unit)
            total += log_gamma
    return total


@njit(cache=True, error_model="numpy")
def log_density(tau, gaps, prior):
    """log-density of one sequence tau (n + 1,), its gradient (n + 1,), and its derivative in alpha.

    The derivative in alpha is that of the gamma prior. With memory there is no gradient: it is NaN.
    """
    d_tau = np.zeros(tau.size)
    units, logs, total, before, shares, d_alpha = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(tau.size - 1):
        spare, unit = excess(tau[j], tau[j + 1], gaps.minimum[j]), gaps.unit[j]
        pace = spare / unit
        e = innovation(pace, before, gaps.carry[j]) if gaps.carry[j] > 0.0 else pace
        before = pace
        if not (spare >= 0.0 and e >= 0.0):
            return -math.inf, np.zeros(tau.size), 0.0
        if gaps.regular[j]:
            f, power = unit * e, prior.shape * unit + prior.extra
            units += unit
            total += f
            logs += log_term(prior, unit, f)
            is_tiny = prior.shape > 0.0 and f < prior.tiny
            if power != 0.0 and not is_tiny:
                d_tau[j + 1] += power / spare
                d_tau[j] -= power / spare
            if prior.shape > 0.0:
                logs -= math.lgamma(prior.shape * unit)
                d_alpha += unit * (math.log(max(f, prior.tiny)) - digamma(prior.shape * unit))
                d_alpha -= 1.0 / prior.shape if is_tiny else 0.0
        if gaps.carry[j] > 0.0:
            shares += math.log(1.0 - gaps.carry[j])
    if units == 0.0:
        return 0.0, d_tau, 0.0
    if logs == -math.inf:
        return logs, d_tau, 0.0
    if prior.shape > 0.0:
        power, slope = prior.shape * units + prior.weight, (prior.shape * units + prior.weight) / (total + prior.floor)
        logs += log_mean_rate(prior, prior.shape * units, total)
        d_alpha += units * (digamma(power) - math.log(total + prior.floor))
        if prior.weight > 0.0:  # the floor is proportional to 1 / alpha
            d_alpha += (slope * prior.floor - prior.weight) / prior.shape
        for j in range(tau.size - 1):
            if gaps.regular[j]:
                d_tau[j + 1] -= slope
                d_tau[j] += slope
    if shares < 0.0:
        d_tau = np.full(tau.size, math.nan)
    return logs - shares, d_tau, d_alpha


@njit(**LEAN)
def add_log_gap_curvature(log_excess, gaps, prior, out):
    """Add the second derivative of the log-density in each log-gap (n,) to out (n,), without memory.

    Only sum f is not linear in the log-gaps: with the share s of a gap in it, d² = -(shape U + weight) s (1 - s).
    """
    total, units = prior.floor, 0.0
    for j in range(len(log_excess)):
        if gaps.regular[j]:
            total += math.exp(log_excess[j])
            units += gaps.unit[j]
    for j in range(len(log_excess)):
        if gaps.regular[j]:
            share = math.exp(log_excess[j]) / total
            out[j] -= (prior.shape * units + prior.weight) * share * (1.0 - share)


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
