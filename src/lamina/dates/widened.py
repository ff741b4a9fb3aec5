"""The date of a sample of some thickness, as a date of the middle of its slice."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .kinds import Date
from .table import MOST_ENTRIES, ZERO, DateTable, normalised
from .tails import normal_below

Array = np.ndarray

#: How far the normal part of the difference reaches, in standard deviations.
NORMAL_REACH = 5.0
#: Points for averages over the difference: so many for each standard deviation of the date, within these limits.
NODES_PER_SD, NODES, MOST_NODES = 2.0, 61, 1001
#: The table has at least so many entries over the extent of that of the part.
FEWEST_ENTRIES = 500


@dataclass(frozen=True)
class Widened(Date):
    """The density of the time of the middle of a slice, a part of which has this date.

    The time of the part less that of the middle is the sum of a uniform difference and a normal one, Eq. (81).

    date: of the part.
    width: of the uniform difference, from its smallest to its largest value.
    normal_sd: standard deviation of the normal difference.
    """

    date: Date
    width: float
    normal_sd: float

    def probability_below(self, t: ArrayLike) -> Array:
        """The mean over the difference of the probability that the part would be dated below its date."""
        time, (z, weight) = np.asarray(t, dtype=float), self._nodes()
        return np.asarray(sum(w * self.date.probability_below(time + one) for one, w in zip(z, weight, strict=True)))

    def outlier_probability(self, t: ArrayLike) -> Array | None:
        """The mean of that of the date of the part, over the differences that are possible given the date."""
        time, (z, weight) = np.asarray(t, dtype=float), self._nodes()
        found = [self.date.outlier_probability(time + one) for one in z]
        if found[0] is None:
            return None
        density = [w * np.exp(self.date.log_density(time + one)) for one, w in zip(z, weight, strict=True)]
        total = np.sum(density, axis=0)
        mean = np.sum([p * one for p, one in zip(density, found, strict=True)], axis=0)
        return np.divide(mean, total, out=np.ones_like(total), where=total > 0.0)

    @property
    def reach(self) -> float:
        """The largest difference."""
        return 0.5 * self.width + NORMAL_REACH * self.normal_sd

    def _tabulate(self) -> DateTable:
        inner = self.date.table()
        extent = inner.step * (inner.log_density.size - 1)
        finest = min(inner.step, self.reach / NODES, extent / FEWEST_ENTRIES)
        step = max(finest, (extent + 2.0 * self.reach) / MOST_ENTRIES)
        near = math.ceil(self.reach / step)
        n = math.ceil(extent / step) + 2 * near
        start = inner.start - near * step
        fine = start + step * np.arange(-near, n + near + 1)
        density = np.exp(self.date.log_density(fine))
        edges = step * (np.arange(-near, near + 2) - 0.5)
        found = np.convolve(density, np.diff(self._below(edges)), mode="valid")
        with np.errstate(divide="ignore"):
            log_p = np.maximum(np.log(found / found.max()), ZERO)
        first, last = np.flatnonzero(log_p > ZERO)[[0, -1]]
        first, last = max(first - 1, 0), min(last + 1, n)  # a table that ends in two zeros would have a flat tail
        return normalised(start + step * first, step, log_p[first : last + 1], bounded=inner.bounded)

    def _nodes(self) -> tuple[Array, Array]:
        """Differences (K,) and their probabilities; close enough to each other for dates that are much narrower."""
        wanted = NODES_PER_SD * 2.0 * self.reach / self.date.sd
        nodes = math.ceil(min(max(wanted, NODES), MOST_NODES))
        edges = np.linspace(-self.reach, self.reach, nodes + 1)
        weight = np.diff(self._below(edges))
        return 0.5 * (edges[1:] + edges[:-1]), weight / weight.sum()

    def _below(self, z: Array) -> Array:
        """The probability of a difference below z: the mean of that of the normal one over the width."""
        half = max(0.5 * self.width, 1e-9 * self.reach)
        return (self._integral(z + half) - self._integral(z - half)) / (2.0 * half)

    def _integral(self, z: Array) -> Array:
        """The integral of the distribution function of the normal difference up to z."""
        if self.normal_sd == 0.0:
            return np.maximum(z, 0.0)
        u = z / self.normal_sd
        return z * normal_below(u) + self.normal_sd * np.exp(-0.5 * u**2) / math.sqrt(2.0 * math.pi)
