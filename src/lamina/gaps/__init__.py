"""Ordered inputs and their gaps: the unconstrained form, its Jacobian, and four priors.

An increasing sequence tau[0] < tau[1] < ... < tau[n] is equivalent to its start tau[0] and the logarithms of its n
gaps, log_gap[j] = log(tau[j + 1] - tau[j]), which are unconstrained, Eq. (3).

``prior`` has the density of the gaps, ``pace`` what it is a density of, ``moves`` and ``spread`` what samplers need.
"""

import math

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from ..errors import OrderError
from .prior import PRIORS, Exponents, Gaps, exponents, log_density

__all__ = [
    "PRIORS",
    "Exponents",
    "exponents",
    "from_gaps",
    "gradient_to_gaps",
    "log_jacobian",
    "log_prior",
    "to_gaps",
]

Array = NDArray[np.float64]


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
    # The gaps are summed without the start: a start of 1e9 must not round each of them.
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
    span^(alpha n - 1) / (span + floor)^(alpha n). With floor = 0 that is 1 / span: the prior has no scale,
    and its mass is infinite near span = 0. A floor > 0, in the unit of tau, makes it integrable there and
    changes little where span >> floor. Towards large spans it stays improper; there the measured inputs
    determine the posterior.

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
    even = np.ones(max(tau.size - 1, 0))
    gaps = Gaps(minimum=0.0 * even, unit=even, regular=even > 0.0, carry=0.0 * even)
    value, d_tau, d_alpha = log_density(tau, gaps, exponents(name, alpha, floor))
    return value, d_tau, d_alpha if name == "gamma" else 0.0
