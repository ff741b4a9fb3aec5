"""A density of time as a table on a regular grid, and what is computed from it: moments, quantiles, intervals."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

Array = np.ndarray

#: Entries of a table for each standard deviation, and in all.
PER_SD, MOST_ENTRIES = 50, 4000
#: How far a table goes from the mode, in standard deviations: where the log-density is quadratic, and where the tails
#: are heavy.
REACH, STUDENT_REACH = 20.0, 40.0
#: Drops of the log-density from its maximum at which modes are counted.
DROPS = (1.5, 3.0, 5.0, 8.0)
#: Zero density, as a drop of the log-density. It is finite, so that a sampler that starts there can move back.
ZERO = -500.0


class DateTable(NamedTuple):
    """The log-density of a date at start, start + step, ...; linear in between. The density integrates to 1.

    start: time of the first entry, on the user's time scale.
    step: distance of the entries, positive.
    log_density: shape (n,), n at least 2.
    bounded: whether the density is zero outside the table. If not, the log-density is extrapolated linearly with the
        slope of the first two and of the last two entries.
    """

    start: float
    step: float
    log_density: Array
    bounded: bool


def normalised(start: float, step: float, log_density: Array, bounded: bool = False) -> DateTable:
    """A table whose density integrates to 1, with the tails of an unbounded one."""
    raw = DateTable(float(start), float(step), log_density - log_density.max(), bounded)
    log_p = raw.log_density - math.log(sum(part.sum() for part in masses(raw)))
    log_p.setflags(write=False)
    return raw._replace(log_density=log_p)


def has_several_modes(table: DateTable) -> bool:
    """Whether what is above some part of the highest density has gaps in it."""
    for drop in DROPS:
        above = table.log_density > table.log_density.max() - drop
        if np.count_nonzero(above[1:] & ~above[:-1]) + above[0] > 1:
            return True
    return False


def masses(table: DateTable) -> tuple[Array, Array, Array]:
    """The probability before the table, (1,), between its entries, (n - 1,), and after it, (1,).

    Where the log-density is linear, ∫ = step (p_k - p_{k+1}) / (log p_k - log p_{k+1}).
    """
    log_p, step = table.log_density, table.step
    drop = np.abs(np.diff(log_p))
    flat = drop < 1e-8
    mean = np.where(flat, 1.0 - 0.5 * drop, -np.expm1(-drop) / np.where(flat, 1.0, drop))
    between = step * np.exp(np.maximum(log_p[:-1], log_p[1:])) * mean
    if table.bounded:
        return np.zeros(1), between, np.zeros(1)
    up, down = slopes(table)
    return np.exp(log_p[:1]) / up, between, np.exp(log_p[-1:]) / down


def slopes(table: DateTable) -> tuple[float, float]:
    """The slopes of the log-density before and after an unbounded table, both counted as positive."""
    log_p = table.log_density
    return float(log_p[1] - log_p[0]) / table.step, float(log_p[-2] - log_p[-1]) / table.step


def log_density(table: DateTable, x: Array) -> Array:
    """The logarithm of the density at times x, of the shape of x."""
    log_p, last = table.log_density, table.log_density.size - 1
    place = (x - table.start) / table.step
    inside = np.interp(place, np.arange(last + 1), log_p)
    if table.bounded:
        return np.where((place < 0.0) | (place > last), -np.inf, inside)
    up, down = (slope * table.step for slope in slopes(table))
    return inside + np.minimum(up * place, 0.0) + np.minimum(down * (last - place), 0.0)


def moments(table: DateTable) -> tuple[float, float]:
    """Mean and standard deviation over the table, by two Gauss-Legendre points between neighbouring entries."""
    log_p, k = table.log_density, np.arange(table.log_density.size - 1)
    near, far = 0.5 - 0.5 / math.sqrt(3.0), 0.5 + 0.5 / math.sqrt(3.0)
    place = np.concatenate([k + near, k + far])
    x = table.start + table.step * place
    p = np.exp(np.concatenate([far * log_p[:-1] + near * log_p[1:], near * log_p[:-1] + far * log_p[1:]]))
    p /= p.sum()
    mean = (p * x).sum()
    return float(mean), math.sqrt((p * (x - mean) ** 2).sum())


def probability_above(table: DateTable, x: Array) -> Array:
    """The probability of a time above x, of the shape of x."""
    before, between, after = masses(table)
    above = np.concatenate([np.cumsum(between[::-1])[::-1] + after, after])  # at the entries
    place = (np.asarray(x, dtype=float) - table.start) / table.step
    k = np.clip(np.floor(place), 0, between.size - 1).astype(int)
    share, rise = np.clip(place - k, 0.0, 1.0), np.diff(table.log_density)[k]
    flat = np.abs(rise) < 1e-8
    left = np.where(flat, share, np.expm1(rise * share) / np.where(flat, 1.0, np.expm1(rise)))
    found = above[k] - between[k] * left
    if table.bounded:
        return np.asarray(found)
    up, down = (slope * table.step for slope in slopes(table))
    found = np.where(place < 0.0, 1.0 - before[0] * np.exp(up * np.minimum(place, 0.0)), found)
    return np.where(place > between.size, after[0] * np.exp(down * np.minimum(between.size - place, 0.0)), found)


def quantiles(table: DateTable, p: Array) -> Array:
    """The times below which the density holds these probabilities, shape (n,)."""
    before, between, after = masses(table)
    below = np.concatenate([before, before + np.cumsum(between)])  # the distribution function at the entries
    k = np.clip(np.searchsorted(below, p, side="right") - 1, 0, between.size - 1)
    share = np.clip((p - below[k]) / np.where(between[k] > 0.0, between[k], 1.0), 0.0, 1.0)
    rise = np.diff(table.log_density)[k]
    flat = np.abs(rise) < 1e-8
    within = np.where(flat, share, np.log1p(share * np.expm1(rise)) / np.where(flat, 1.0, rise))
    x = table.start + table.step * (k + within)
    if table.bounded:
        return x
    up, down = slopes(table)
    end = table.start + table.step * between.size
    log_before, log_after = table.log_density[0] - math.log(up), table.log_density[-1] - math.log(down)
    x = np.where(p < before, table.start + (np.log(p) - log_before) / up, x)
    return np.where(1.0 - p < after, end - (np.log1p(-p) - log_after) / down, x)


def highest(table: DateTable, mass: float, ties: bool) -> list[tuple[float, float]]:
    """The intervals in which the density is above the level at which they hold ``mass``.

    The level is found by ranking the entries. With ``ties``, entries exactly at the level are inside.
    """
    ranked = np.sort(np.exp(table.log_density))[::-1]
    held = np.cumsum(ranked)
    level = math.log(np.interp(mass * held[-1], held, ranked))
    height = table.log_density - level
    above = np.concatenate([[False], height >= 0.0 if ties else height > 0.0, [False]])
    turns = np.flatnonzero(np.diff(above)).reshape(-1, 2).tolist()  # the first entry above, and the first one after it

    def crossing(inner: int, outer: int) -> float:
        if not 0 <= outer < height.size:
            return table.start + table.step * inner
        share = height[inner] / (height[inner] - height[outer])
        return float(table.start + table.step * (inner + share * (outer - inner)))

    return [(crossing(first, first - 1), crossing(end - 1, end)) for first, end in turns]
