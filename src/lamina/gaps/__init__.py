"""Ordered inputs and their gaps: the unconstrained form, its Jacobian, and four priors.

An increasing sequence tau[0] < tau[1] < ... < tau[n] is the same thing as its start tau[0] and the logarithms
of its n gaps, log_gap[j] = log(tau[j + 1] - tau[j]), which may take any value.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from ..engine.stack import INLINE
from ..errors import MethodError, OrderError

Array = NDArray[np.float64]

PRIORS = ("uniform", "log-uniform", "exponential", "gamma")


class Exponents(NamedTuple):
    """A gap prior at one alpha: density prod x^power times (sum x + floor)^-(per_gap * number of gaps), where x is a
    gap, less the least it may be, in units of its step in depth.

    With memory, x is what is new in a gap: see ``new_in``.
    """

    power: float
    per_gap: float
    floor: float
    memory: bool


def to_gaps(tau: ArrayLike) -> tuple[float, Array]:
    """Start and log-gaps of an increasing sequence tau, shape (n + 1,). A gap of zero gives -inf.

    Raises OrderError where tau decreases.
    """
    tau = np.asarray(tau, dtype=np.float64)
    gap = np.diff(tau)
    wrong = np.flatnonzero(~(gap >= 0))
    if wrong.size:
        raise OrderError(
            "tau must increase down the rows, but it does not after {rows}. "
            "Pass the latent inputs in their known order; for a decreasing order pass -tau.",
            rows=wrong,
        )
    with np.errstate(divide="ignore"):
        return float(tau[0]), np.log(gap)


@njit(cache=True, error_model="numpy")
def from_gaps(start, log_gap):
    """Inputs tau, shape (n + 1,), from their start and log-gaps, shape (n,)."""
    tau = np.empty(log_gap.size + 1)
    tau[0] = start
    # The gaps are summed apart from the start: a start of 1e9 must not round each of them.
    offset = 0.0
    for j in range(log_gap.size):
        offset += math.exp(log_gap[j])
        tau[j + 1] = start + offset
    return tau


@njit(cache=True, error_model="numpy")
def log_jacobian(log_gap):
    """log |det d tau / d (start, log_gap)| = sum(log_gap): a triangular matrix with diagonal (1, gaps)."""
    total = 0.0
    for j in range(log_gap.size):
        total += log_gap[j]
    return total


@njit(cache=True, error_model="numpy")
def gradient_to_gaps(d_tau, log_gap):
    """Chain rule from d/d tau, shape (n + 1,), to (d/d start, d/d log_gap): one reverse cumulative sum.

    Gap j moves all inputs after it, so d/d log_gap[j] = exp(log_gap[j]) * sum of d_tau[j + 1:].
    """
    d_log_gap = np.empty(log_gap.size)
    total = 0.0
    for j in range(log_gap.size - 1, -1, -1):
        total += d_tau[j + 1]
        d_log_gap[j] = math.exp(log_gap[j]) * total
    return total + d_tau[0], d_log_gap


def log_prior(name: str, tau: ArrayLike, alpha: float = 1.0, floor: float = 0.0) -> tuple[float, Array, float]:
    """Log-density of one increasing sequence tau under a gap prior, with its gradient.

    With n gaps g_j and span = tau[n] - tau[0]:

    ============= =========================================================================================
    uniform       0
    log-uniform   -sum log g
    exponential   log Gamma(n) - n log(span + floor)
    gamma         log Gamma(alpha n) - n log Gamma(alpha) + (alpha - 1) sum log g - alpha n log(span + floor)
    ============= =========================================================================================

    The last two are independent Gamma(alpha, rate) gaps with the rate integrated out under
    exp(-floor * rate) d rate / rate; alpha = 1 is the exponential. Their span alone has the density
    span^(alpha n - 1) / (span + floor)^(alpha n). With floor = 0 that is 1 / span: the prior knows no scale,
    and its mass is infinite near span = 0. A floor > 0, in the unit of tau, makes it integrable there and
    changes little where span >> floor. Towards large spans it stays improper; there the measured inputs
    decide.

    Arguments
    ---------
    name: one of ``PRIORS``.
    tau: latent inputs in their order, shape (n + 1,).
    alpha: shape of the gamma prior, at least 1; the other priors do not have it.
    floor: added to the span in the exponential and gamma priors, at least 0.

    Returns
    -------
    value, d_tau of shape (n + 1,), d_alpha (zero except for gamma). One row alone gives zeros. A sequence
    that is not in order has value -inf and gradient zero. A gap of zero gives the limit of the density: +inf
    for log-uniform, -inf for gamma with alpha > 1 (also when all gaps are zero, where the limit depends on
    the path), +inf for exponential when all gaps are zero and floor = 0. The gradient is not finite there.

    Raises MethodError for an unknown name, alpha < 1 or floor < 0.
    """
    tau = np.asarray(tau, dtype=np.float64)
    a, b = _exponents(name, tau.size - 1, alpha, floor)
    even = np.ones(max(tau.size - 1, 0))
    value, d_tau, d_alpha = log_density(tau, even, 0.0 * even, even > 0.0, a, b, floor)
    return value, d_tau, d_alpha if name == "gamma" else 0.0


def _exponents(name: str, n: int, alpha: float, floor: float) -> tuple[float, float]:
    """The exponents (a, b) with density proportional to prod g^(a - 1) * (span + floor)^(-b)."""
    if not (0.0 <= floor < math.inf):
        raise MethodError(f"floor must be a finite number of at least 0, got {floor!r}.")
    if name == "uniform":
        return 1.0, 0.0
    if name == "log-uniform":
        return 0.0, 0.0
    if name == "exponential":
        return 1.0, float(n)
    if name == "gamma":
        if not (1.0 <= alpha < math.inf):
            raise MethodError(
                f"alpha must be a finite number of at least 1, got {alpha!r}. "
                "Below 1 the density is infinite at a gap of zero."
            )
        return float(alpha), float(alpha) * n
    raise MethodError(f"unknown gap prior {name!r}. Choose one of: {', '.join(PRIORS)}.")


@njit(**INLINE)
def new_in(pace, before, carry):
    """What is new in a gap of this pace after one of the pace ``before``: pace = carry before + (1 - carry) new."""
    return (pace - carry * before) / (1.0 - carry)


@njit(cache=True, error_model="numpy")
def log_density_with_memory(tau, unit, least, regular, carry, a, b, floor):
    """The value of ``log_density`` for b > 0, of what is new in each gap; carry has the shape of unit."""
    n, sum_log, total, before = 0, 0.0, 0.0, 0.0
    for j in range(tau.size - 1):
        room = tau[j + 1] - tau[j] - least[j]
        if not room > 0.0:
            return -math.inf
        pace = room / unit[j]
        if regular[j]:
            new = new_in(pace, before, carry[j])
            if not new > 0.0:
                return -math.inf
            n += 1
            total += new
            sum_log += (a - 1.0) * math.log(new) - math.log(1.0 - carry[j])
        before = pace
    if n == 0:
        return 0.0
    return sum_log + math.lgamma(b) - n * math.lgamma(a) - b * math.log(total + floor)


@njit(cache=True, error_model="numpy")
def log_density(tau, unit, least, regular, a, b, floor):
    """Value and gradients of (a - 1) sum log x - b log(sum x + floor), and for b > 0 also its constant,
    log Gamma(b) - n log Gamma(a), over the n regular gaps, with x = (gap - least) / unit.

    unit, least and regular have shape (tau.size - 1,). Without units and least gaps, sum x is the span. The last
    return value is the derivative in a along b = a n. Terms with exponent zero are left out, not multiplied by zero,
    so that a gap of zero does not turn them into NaN.
    """
    d_tau = np.zeros(tau.size)
    n, sum_log, total = 0, 0.0, 0.0
    for j in range(tau.size - 1):
        room = tau[j + 1] - tau[j] - least[j]
        if not room >= 0.0:
            return -math.inf, np.zeros(tau.size), 0.0
        if regular[j]:
            n += 1
            total += room / unit[j]
            sum_log += math.log(room / unit[j])
            if a != 1.0:
                d_tau[j + 1] += (a - 1.0) / room
                d_tau[j] -= (a - 1.0) / room
    if n == 0:
        return 0.0, d_tau, 0.0
    value = 0.0
    d_a = 0.0
    if b > 0.0:
        log_total = math.log(total + floor)
        for j in range(tau.size - 1):
            if regular[j]:
                pull = b / (unit[j] * (total + floor))
                d_tau[j + 1] -= pull
                d_tau[j] += pull
        value += math.lgamma(b) - n * math.lgamma(a) - b * log_total
        d_a = n * (_digamma(b) - _digamma(a)) + sum_log - n * log_total
    if a > 1.0 and sum_log == -math.inf:
        return -math.inf, d_tau, d_a
    if a != 1.0:
        value += (a - 1.0) * sum_log
    return value, d_tau, d_a


@njit(cache=True, error_model="numpy")
def _digamma(x):
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
