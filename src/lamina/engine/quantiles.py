"""Quantiles from weighted draws: of mixtures of Gaussians, exactly, and of the draws themselves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from ..support.cpus import in_parts
from .stack import ENTRY, INLINE, LEAN, copy_array

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray

LEVELS = (0.025, 0.05, 0.16, 0.25, 0.5, 0.75, 0.84, 0.95, 0.975)
QUANTILES = tuple(f"q{100 * level:g}" for level in LEVELS)
#: Within runs of this many points, the search for a quantile starts where the point before found it. The runs do not
#: depend on the number of CPUs, so neither do the results.
AT_ONCE = 32
#: A quantile is found where the distribution function is this close to its level.
CLOSE = 1e-11
#: Further than this from the mean, in standard deviations, a normal has less probability than rounding takes away.
FAR = 8.3
#: A component narrower than this has all its probability at its mean: squares of its precision would overflow.
NARROWEST = 1e-150


def summed_up(times: Array, mean: Array, var: Array, weight: Array) -> pd.DataFrame:
    """Mean, sd and quantiles at each time, from the means and variances (S, M) of the draws."""
    import pandas as pd

    centre = weight @ mean
    spread = np.sqrt(weight @ (var + (mean - centre) ** 2))
    columns = {"at": times, "mean": centre, "sd": spread}
    columns.update(zip(QUANTILES, mixture_quantiles(mean, np.sqrt(var), weight).T, strict=True))
    return pd.DataFrame(columns)


def mixture_quantiles(mean: Array, sd: Array, weight: Array, levels: tuple[float, ...] = LEVELS) -> Array:
    """Quantiles of sum_s weight_s N(mean_s, sd_s²), shape (M, L), from mean and sd (S, M).

    The distribution function is at its level to ``CLOSE`` there, or passes it between two neighbouring numbers, or
    jumps across it, at the mean of a component whose sd is zero. Quantiles of increasing levels never decrease.
    """
    from scipy.special import ndtri

    out = np.empty((mean.shape[1], len(levels)))
    mean_by_point, sd_by_point = np.ascontiguousarray(mean.T), np.ascontiguousarray(sd.T)
    wanted, scores = np.asarray(levels), ndtri(levels)

    def one_part(part: slice) -> None:
        guess, precision = np.empty((2, len(levels))), np.empty(len(weight))
        mixture = mean_by_point[part], sd_by_point[part], weight
        _mixture_quantiles(mixture, wanted, scores, guess, precision, out[part])

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
    """Distribution function of a mixture of normals at x, its jump there, its density, and the derivative of that.

    ``precision`` is 1 / sd, and zero where all probability is at the mean.
    """
    F, jump, density, slope = 0.0, 0.0, 0.0, 0.0
    for s in range(len(weight)):
        u = (x - mean[s]) * precision[s]
        if precision[s] == 0.0:
            F += weight[s] if x >= mean[s] else 0.0
            jump += weight[s] if x == mean[s] else 0.0
        elif u > FAR:
            F += weight[s]
        elif u > -FAR:
            tail, p = _upper_tail(abs(u))
            F += weight[s] * (tail if u < 0.0 else 1.0 - tail)
            p *= weight[s] * precision[s]
            density += p
            slope -= p * u * precision[s]
    return F, jump, density, slope


@njit(**INLINE)
def _outline(mean, sd, weight, precision):
    """Mean and sd of a mixture, an interval that holds it all, and a bound on its third derivative.

    Sets ``precision``. The bound is that of each normal, which is steepest at its mean: at most precision³ / sqrt(2
    pi). It is infinite where the distribution function jumps.
    """
    centre, var, low, high, third = 0.0, 0.0, math.inf, -math.inf, 0.0
    for s in range(len(weight)):
        centre += weight[s] * mean[s]
        if weight[s] > 0.0:
            low = min(low, mean[s] - 9.0 * sd[s])
            high = max(high, mean[s] + 9.0 * sd[s])
    for s in range(len(weight)):
        var += weight[s] * ((mean[s] - centre) ** 2 + sd[s] ** 2)
        if sd[s] > NARROWEST:
            precision[s] = 1.0 / sd[s]
            third += weight[s] * precision[s] ** 3
        else:
            precision[s] = 0.0
            third = math.inf if weight[s] > 0.0 else third
    # A jump at an end is inside the interval.
    low, high = low - 1e-15 * abs(low) - 1e-300, high + 1e-15 * abs(high) + 1e-300
    return centre, math.sqrt(var), low, high, third / math.sqrt(2.0 * math.pi)


@njit(**INLINE)
def _split(left, right, mean, weight):
    """A point between left and right: the mean of a component that is nearest to the middle, or the middle.

    Narrow components far apart make steps of the distribution function that halving alone finds slowly.
    """
    middle = 0.5 * left + 0.5 * right
    found, nearest = middle, math.inf
    for s in range(len(weight)):
        if left < mean[s] < right and weight[s] > 0.0 and abs(mean[s] - middle) < nearest:
            found, nearest = mean[s], abs(mean[s] - middle)
    return found


@njit(**LEAN)
def _root(x, level, low, high, third, mean, precision, weight):
    """Where the distribution function of a mixture passes ``level``, from a first guess x.

    Halley's method, inside a bracket [left, right] of the root. Where a step leaves the bracket, or the step before has
    not halved the distance to the level, the bracket is split instead. Taylor's theorem says how close to the level
    the last step leads, so that the function need not be computed there.
    """
    left, right, before = low, high, math.inf
    while True:
        F, jump, density, slope = _distribution(x, mean, precision, weight)
        off = F - level
        if abs(off) <= CLOSE or (off >= 0.0 and off < jump):
            return x
        if off < 0.0:
            left = x
        else:
            right = x
        new = x - 2.0 * off * density / (2.0 * density * density - off * slope) if density > 0.0 else math.inf
        if left < new < right and abs(off) <= 0.5 * before:
            h, before = new - x, abs(off)
            if abs(off + h * (density + 0.5 * h * slope)) + third * abs(h) ** 3 / 6.0 <= CLOSE:
                return new
        else:
            new, before = _split(left, right, mean, weight), math.inf
            if not left < new < right:
                return right
        x = new


@njit(**ENTRY)
def _mixture_quantiles(mixture, levels, scores, guesses, precision, out):
    """The quantiles of each point; the mixtures are means and sds (M, S), and weights.

    Neighbouring points have mixtures of much the same shape. The quantiles of the last two points, in standard
    deviations from the mean, are extrapolated for the first guess. ``guesses`` (2, L) and ``precision`` (S,) are
    scratch.
    """
    mean, sd, weight = mixture
    guess, last = guesses[0], guesses[1]
    for j in range(mean.shape[0]):
        centre, total, low, high, third = _outline(mean[j], sd[j], weight, precision)
        if j % AT_ONCE == 0:
            copy_array(scores, guess)
        for k in range(len(levels)):
            x = min(max(centre + guess[k] * total, low), high)
            x = _root(x, levels[k], low, high, third, mean[j], precision, weight)
            out[j, k] = x
            found = (x - centre) / total if total > 0.0 else 0.0
            guess[k] = found if j % AT_ONCE == 0 else 2.0 * found - last[k]
            last[k] = found
