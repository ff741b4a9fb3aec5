"""The covariance of each component of Q: one variance for every coordinate, or one for all of them.

diagonal    each log-gap and each start has its own variance
isotropic   one variance a component, as in the paper: that of a log-gap. A start is a time and a log-gap is not, so a
            start has this variance times the square of the error of its date, Eq. (63). The error and not the mean gap
            is its unit: a row without order has no gaps, and a start that is known stays known.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..coordinates import Plan

Array = np.ndarray

COVARIANCES = ("diagonal", "isotropic")
#: Log-gaps vary by at most a factor of e: beyond that a second-order expansion means nothing.
LOG_GAP_LIMITS = (-25.0, 0.0)
#: Of the logarithm of the variance of a start, in squared units of time.
START_LIMITS = (-60.0, 60.0)


class Covariance(NamedTuple):
    """The variance of coordinate i is unit[i] exp(log_v[group[i]])."""

    group: Array  #: (n,)
    unit: Array  #: (n,)
    limits: list[tuple[float, float]]  #: (G,) of log_v


def make_covariance(kind: str, plan: Plan, t_var: Array) -> Covariance:
    """``kind`` of COVARIANCES; t_var (N,): the squared errors of the dates."""
    n, starts = len(plan.rows), plan.first[:-1]
    unit = np.ones(n)
    if kind == "isotropic":
        unit[starts] = t_var[plan.rows[starts]]
        return Covariance(np.zeros(n, dtype=np.int64), unit, [LOG_GAP_LIMITS])
    limits = [LOG_GAP_LIMITS] * n
    for start in starts:
        limits[start] = START_LIMITS
    return Covariance(np.arange(n), unit, limits)


def expand(covariance: Covariance, log_v: Array) -> Array:
    """The variances (K, n) of log_v (K, G)."""
    return np.exp(log_v)[:, covariance.group] * covariance.unit


def tie_gradient(covariance: Covariance, d_log: Array) -> Array:
    """The gradient in log_v (K, G) from that in the logarithms of all variances (K, n)."""
    return d_log if len(covariance.limits) > 1 else d_log.sum(axis=1, keepdims=True)


def tie(covariance: Covariance, precision: Array) -> Array:
    """log_v (K, G) of Gaussians whose precisions (K, n) are averaged where variances are shared."""
    own = precision * covariance.unit
    shared = own if len(covariance.limits) > 1 else own.mean(axis=1, keepdims=True)
    low, high = np.transpose(covariance.limits)
    return np.clip(-np.log(shared), low, high)
