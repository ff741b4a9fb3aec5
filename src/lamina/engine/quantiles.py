"""Quantiles from weighted draws: of mixtures of Gaussians, exactly, and of the draws themselves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from ..support.cpus import in_parts
from .stack import FAST, INLINE, copy_array

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray

LEVELS = (0.025, 0.05, 0.25, 0.5, 0.75, 0.95, 0.975)
QUANTILES = tuple(f"q{100 * level:g}" for level in LEVELS)
#: Within runs of this many points, the search for a quantile starts where the point before found it. The runs do not
#: depend on the number of CPUs, so neither do the results.
AT_ONCE = 32
#: A step of Halley's method of this size, in standard deviations, leaves an error of the order of its cube.
SMALL_STEP = 3e-4


def summed_up(times: Array, mean: Array, var: Array, weight: Array) -> pd.DataFrame:
    """Mean, sd and quantiles at each time, from the means and variances (S, M) of the draws."""
    import pandas as pd

    centre = weight @ mean
    spread = np.sqrt(weight @ (var + (mean - centre) ** 2))
    columns = {"at": times, "mean": centre, "sd": spread}
    columns.update(zip(QUANTILES, mixture_quantiles(mean, np.sqrt(var), weight).T, strict=True))
    return pd.DataFrame(columns)


def mixture_quantiles(mean: Array, sd: Array, weight: Array, levels: tuple[float, ...] = LEVELS) -> Array:
    """Quantiles of sum_s weight_s N(mean_s, sd_s²), shape (M, L), from mean and sd (S, M)."""
    from scipy.special import ndtri

    out = np.empty((mean.shape[1], len(levels)))
    mean_by_point, sd_by_point = np.ascontiguousarray(mean.T), np.ascontiguousarray(sd.T)
    wanted, scores = np.asarray(levels), ndtri(levels)

    def one_part(part: slice) -> None:
        _mixture_quantiles(mean_by_point[part], sd_by_point[part], weight, wanted, scores, out[part])

    in_parts(mean.shape[1], one_part, AT_ONCE)
    return out


def weighted_quantiles(values: Array, weight: Array, levels: tuple[float, ...] = LEVELS) -> Array:
    """Quantiles of each column of draws (S, N), shape (L, N)."""
    if np.ptp(weight) == 0.0:
        return np.quantile(values, levels, axis=0)
    order = np.argsort(values, axis=0)
    ordered = np.take_along_axis(values, order, axis=0)
    total = np.cumsum(weight[order], axis=0)
    first = (total[None] < np.asarray(levels)[:, None, None]).sum(axis=1)
    return np.take_along_axis(ordered, np.minimum(first, len(values) - 1), axis=0)


@njit(**INLINE)
def _upper_tail(x):
    """P(a standard normal > x) and its density at x, for x >= 0, to 2e-16: Hart (1968), in West (2005)."""
    p = math.exp(-0.5 * x * x)
    a = 3.52624965998911e-02 * x + 0.700383064443688
    a = (((a * x + 6.37396220353165) * x + 33.912866078383) * x + 112.079291497871) * x + 221.213596169931
    b = 8.83883476483184e-02 * x + 1.75566716318264
    b = (((b * x + 16.064177579207) * x + 86.7807322029461) * x + 296.564248779674) * x + 637.333633378831
    b = (b * x + 793.826512519948) * x + 440.413735824752
    return p * (a * x + 220.206867912376) / b, p / math.sqrt(2.0 * math.pi)


@njit(**INLINE)
def _distribution(x, mean, precision, weight):
    """Distribution function of a mixture of normals at x, its density, and the derivative of that.

    ``precision`` is 1 / sd, and zero where sd is zero.
    """
    F, density, slope = 0.0, 0.0, 0.0
    for s in range(len(weight)):
        if precision[s] > 0.0:
            u = (x - mean[s]) * precision[s]
            tail, p = _upper_tail(abs(u))
            F += weight[s] * (tail if u < 0.0 else 1.0 - tail)
            p *= weight[s] * precision[s]
            density += p
            slope -= p * u * precision[s]
        elif x >= mean[s]:
            F += weight[s]
    return F, density, slope


@njit(nogil=True, cache=True, **FAST)
def _mixture_quantiles(mean, sd, weight, levels, scores, out):
    """Halley's method on the distribution function, kept inside a bracket; mean and sd are (M, S).

    Neighbouring points have mixtures of much the same shape. The quantiles of the last two points, in standard
    deviations from the mean, are extrapolated for the first guess.
    """
    guess, last, precision = scores.copy(), scores.copy(), np.empty(len(weight))
    for j in range(mean.shape[0]):
        centre, var, low, high = 0.0, 0.0, math.inf, -math.inf
        for s in range(len(weight)):
            centre += weight[s] * mean[j, s]
            low = min(low, mean[j, s] - 9.0 * sd[j, s])
            high = max(high, mean[j, s] + 9.0 * sd[j, s])
        for s in range(len(weight)):
            var += weight[s] * ((mean[j, s] - centre) ** 2 + sd[j, s] ** 2)
            precision[s] = 1.0 / sd[j, s] if sd[j, s] > 0.0 else 0.0
        total = math.sqrt(var)
        if j % AT_ONCE == 0:
            copy_array(scores, guess)
        for k in range(len(levels)):
            left, right = low, high
            x = min(max(centre + guess[k] * total, left), right)
            for _ in range(100):
                F, density, slope = _distribution(x, mean[j], precision, weight)
                off = F - levels[k]
                if off < 0.0:
                    left = x
                else:
                    right = x
                new = x - 2.0 * off * density / (2.0 * density * density - off * slope) if density > 0.0 else math.inf
                small = abs(new - x) <= SMALL_STEP * total
                if not left <= new <= right:
                    new, small = 0.5 * (left + right), False
                x = new
                if small or right - left <= 1e-15 * (abs(left) + abs(right)):
                    break
            out[j, k] = x
            found = (x - centre) / total if total > 0.0 else 0.0
            guess[k] = found if j % AT_ONCE == 0 else 2.0 * found - last[k]
            last[k] = found
