"""Outliers and limits: unknowns that stand beside the data of a row, so that the rest of the model stays Gaussian.

limit      A curve above y with error: p = Phi((f - y) / y_sd). The same is a measured value y' = f + N(0, y_var) of
           which only y' > y is known. y' is drawn anew, given all other rows, the curve integrated out.
outlier    The variance of a row is multiplied by an unknown factor. MIXTURE: 1, or OUTLIER_FACTOR with probability
           OUTLIER_SHARE. STUDENT: inverse gamma, which makes the errors of y Student's t with FREEDOM degrees.
"""

from __future__ import annotations

import math

from numba import njit

from ...engine.arrival import with_data
from ...engine.stack import INLINE
from .metropolis import accept

NONE, MIXTURE, STUDENT = 0, 1, 2
OUTLIERS = {None: NONE, "mixture": MIXTURE, "student": STUDENT}
#: An outlier has a standard deviation ten times as large, and one row in twenty is one, unless the data say otherwise.
OUTLIER_FACTOR, OUTLIER_SHARE = 100.0, 0.05
FREEDOM = 4.0


@njit(**INLINE)
def propose_factor(factor, outliers, rng):
    """Another factor: the other one of a mixture, or a random step of its logarithm."""
    if outliers == MIXTURE:
        return 1.0 if factor > 1.0 else OUTLIER_FACTOR
    return factor * math.exp(1.5 * rng.standard_normal())


@njit(**INLINE)
def log_outlier(factor, outliers):
    """log prior of a factor (Student: of its logarithm), up to a constant."""
    if outliers == MIXTURE:
        return math.log(OUTLIER_SHARE if factor > 1.0 else 1.0 - OUTLIER_SHARE)
    return -0.5 * FREEDOM * (math.log(factor) + 1.0 / factor)


@njit(**INLINE)
def draw_beyond(mean, sd, bound, side, rng):
    """A draw of N(mean, sd²) above the bound (side = +1) or below it (-1), however far in its tail that is.

    Near the middle by trying again; in the tail by an exponential envelope (Robert 1995).
    """
    low = side * (bound - mean) / sd
    if low < 0.5:
        while True:
            u = rng.standard_normal()
            if u > low:
                return mean + side * sd * u
    slope = 0.5 * (low + math.sqrt(low * low + 4.0))
    while True:
        u = low - math.log(1.0 - rng.random()) / slope
        if math.log(1.0 - rng.random()) <= -0.5 * (u - slope) * (u - slope):
            return mean + side * sd * u


@njit(**INLINE)
def renew(blocks, dims, rows, work, m, P, p, step, outliers, rng):
    """Draw anew what stands for the y of a limit at position p, and propose another factor of its variance.

    As a function of z the density is Gaussian, so that three values of it tell its mean and sd.
    """
    r = work.row[p]
    if rows.limit[r] != 0:
        z, sd = work.z[p, 0], math.sqrt(P[0, 0] + work.y_var[p])
        here = with_data(blocks, dims, work, m, P, p, z, work.y_var[p], step)
        up = with_data(blocks, dims, work, m, P, p, z + sd, work.y_var[p], step)
        down = with_data(blocks, dims, work, m, P, p, z - sd, work.y_var[p], step)
        precision = (2.0 * here - up - down) / (sd * sd)
        if precision > 0.0:  # rounding may have left nothing of it; the value then stays
            mean = z + 0.5 * (up - down) / (sd * precision)
            new = draw_beyond(mean, 1.0 / math.sqrt(precision), z - rows.shift[r], rows.limit[r], rng)
            rows.shift[r] += new - z
            work.z[p, 0] = new
    if outliers > 0:
        old = rows.factor[r]
        new = propose_factor(old, outliers, rng)
        y_var = work.y_var[p] * new / old
        ratio = log_outlier(new, outliers) - log_outlier(old, outliers)
        ratio += with_data(blocks, dims, work, m, P, p, work.z[p, 0], y_var, step)
        ratio -= with_data(blocks, dims, work, m, P, p, work.z[p, 0], work.y_var[p], step)
        if accept(rng, ratio):
            rows.factor[r], work.y_var[p] = new, y_var
