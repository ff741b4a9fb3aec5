"""Scores: coordinates of innovations, in which a gamma variable of any shape looks much the same.

The logarithm of a Gamma(a) variable F with the score z is, Eq. (85),

    log F = log c(a + b) + log softplus(z) - softplus(-z) / a

For z << 0 it is z (1 + 1/a): small values, which differ by many orders of magnitude if a is far below 1, have scores of
the order of 1. For z >> 0, F is proportional to z: large values are linear, so that times depend on them evenly.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from numba import njit

from ..engine.stack import INLINE, LEAN

#: c and b of Eq. (85): F grows by c(a + b) with z, where it is large.
SLOPE, LEAST_SHAPE = 0.6, 0.3
#: Below this z, softplus(z) is exp(z).
FAR = -30.0
#: Of Newton's method for the score.
NEWTON_STEPS, ROUNDING = 60, 1e-10


class Score(NamedTuple):
    """log F at one score z and shape a, and derivatives."""

    log_f: float
    slope: float  #: d log F / dz
    curve: float  #: d² log F / dz²
    by_shape: float  #: d log F / da
    slope_by_shape: float  #: d² log F / dz da


@njit(**INLINE)
def softplus(z):
    """softplus(-z), softplus(z), the logistic function of z, and the derivative of log softplus(z)."""
    small = math.exp(-abs(z))
    low = math.log1p(small)
    below, above = (low, low + z) if z >= 0.0 else (low - z, low)
    logistic = (1.0 if z >= 0.0 else small) / (1.0 + small)
    return below, above, logistic, logistic / above if z > FAR else 1.0


@njit(**INLINE)
def score_at(z, a):
    """``Score`` at z, Eq. (85)."""
    below, above, logistic, slope = softplus(z)
    rest = 1.0 - logistic
    return Score(
        math.log(SLOPE * (a + LEAST_SHAPE)) + (math.log(above) if z > FAR else z) - below / a,
        slope + rest / a,
        slope * (rest - slope) - logistic * rest / a,
        1.0 / (a + LEAST_SHAPE) + below / (a * a),
        -rest / (a * a),
    )


@njit(**LEAN)
def score_of(log_f, a):
    """The score z of a value: log F is concave in z, so Newton's method from below stays below."""
    z = (log_f - math.log(SLOPE * (a + LEAST_SHAPE))) / (1.0 + 1.0 / a)
    for _ in range(NEWTON_STEPS):
        here = score_at(z, a)
        step = (log_f - here.log_f) / here.slope
        z += step
        if abs(step) < ROUNDING * (1.0 + abs(z)):
            break
    return z
