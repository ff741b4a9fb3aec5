"""Renew: limits and outliers are unknowns beside the data of a row, so that the rest of the model stays Gaussian.

limit      A curve above y with error: p = Phi((f - y) / y_sd). The same is a measured value y' = f + N(0, y_var) of
           which only y' > y is known. y' is drawn from its conditional given all other rows, the curve integrated
           out, Eq. (60), which leaves the posterior invariant.
outlier    The variance of a row is multiplied by an unknown factor, Eq. (61). MIXTURE: 1, or OUTLIER_FACTOR with
           probability OUTLIER_SHARE. STUDENT: inverse gamma, which makes the errors of y Student's t with FREEDOM
           degrees. A symmetric proposal is accepted with the ratio of prior and likelihood.
"""

from __future__ import annotations

import math

from numba import njit

from ...engine.local import log_with_data
from ...engine.noise import standard_normal, uniform
from ...engine.stack import INLINE
from ..target import MIXTURE, NO_OUTLIERS
from .metropolis import accept

#: An outlier has a standard deviation ten times as large. Before the data are seen, one row in twenty is one.
OUTLIER_FACTOR, OUTLIER_SHARE = 100.0, 0.05
FREEDOM = 4.0


@njit(**INLINE)
def propose_factor(factor, outliers, rng):
    """Another factor: the other one of a mixture, or a random step of the logarithm."""
    if outliers == MIXTURE:
        return 1.0 if factor > 1.0 else OUTLIER_FACTOR
    return factor * math.exp(1.5 * standard_normal(rng))


@njit(**INLINE)
def log_outlier(factor, outliers):
    """log prior of a factor (Student: of its logarithm), up to a constant, Eq. (61)."""
    if outliers == MIXTURE:
        return math.log(OUTLIER_SHARE if factor > 1.0 else 1.0 - OUTLIER_SHARE)
    return -0.5 * FREEDOM * (math.log(factor) + 1.0 / factor)


@njit(**INLINE)
def draw_beyond(mean, sd, bound, side, rng):
    """A draw of N(mean, sd²) above the bound (side = +1) or below it (-1), however far in its tail that is.

    By plain rejection near the middle, and with an exponential envelope in the tail (Robert 1995).
    """
    low = side * (bound - mean) / sd
    if low < 0.5:
        while True:
            u = standard_normal(rng)
            if u > low:
                return mean + side * sd * u
    slope = 0.5 * (low + math.sqrt(low * low + 4.0))
    while True:
        u = low - math.log(1.0 - uniform(rng)) / slope
        if math.log(1.0 - uniform(rng)) <= -0.5 * (u - slope) * (u - slope):
            return mean + side * sd * u


@njit(**INLINE)
def renew(wanted, now, state, p, dt, rng):
    """Draw a new value for the limit at position p, and propose another factor of its variance.

    ``state`` is that on arrival at p, and the next position comes a step dt later.
    """
    if wanted is None:
        return
    process, rows, line, r = now.process, now.rows, now.line, now.row[p]
    if not rows.measured[r]:
        return
    if rows.limit[r] != 0:
        z, y_var = line.z[p, 0], line.y_var[p]
        s = math.sqrt(state.P[0, 0] + y_var)
        here = log_with_data(process, line, state, p, z, y_var, dt)
        up = log_with_data(process, line, state, p, z + s, y_var, dt)
        down = log_with_data(process, line, state, p, z - s, y_var, dt)
        precision = (2.0 * here - up - down) / (s * s)  # Eq. (60)
        if precision > 0.0:  # rounding may have left nothing of it; the value then stays
            mean = z + 0.5 * (up - down) / (s * precision)
            new = draw_beyond(mean, 1.0 / math.sqrt(precision), z - rows.shift[r], rows.limit[r], rng)
            rows.shift[r] += new - z
            line.z[p, 0] = new
    if now.outliers != NO_OUTLIERS:
        old = rows.factor[r]
        new = propose_factor(old, now.outliers, rng)
        y_var = line.y_var[p] * new / old
        ratio = log_outlier(new, now.outliers) - log_outlier(old, now.outliers)
        ratio += log_with_data(process, line, state, p, line.z[p, 0], y_var, dt)
        ratio -= log_with_data(process, line, state, p, line.z[p, 0], line.y_var[p], dt)
        if accept(rng, ratio):
            rows.factor[r], line.y_var[p] = new, y_var
