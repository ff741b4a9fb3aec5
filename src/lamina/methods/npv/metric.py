"""Coordinates in which the objective of npv is about equally curved in all directions, O(n).

A log-gap moves all later rows of its sequence, so in the coordinates x the curvature of the objective spans a factor of
about the number of rows squared, and an optimiser that knows gradients only needs about as many steps as there are
rows. In the displacements u of the inputs it is nearly local: dates hold each input by itself, and neighbours hold each
other through the gap between them, Eq. (67),

    T = diag(1 / t_var) + sum_i c_i / gap_i² (e_i - e_{i-1})(e_i - e_{i-1})',

which is tridiagonal; c is the curvature in a log-gap at fixed dates. With T = B B' and u = B'^-1 z, the coordinates z
are what the optimiser sees.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit

from ...engine.stack import FAST
from ..coordinates import Plan

Array = np.ndarray

#: Gaps count as no smaller than this part of the mean gap of their sequence. Otherwise, differences of displacements
#: would be lost in rounding errors.
SMALLEST_GAP = 1e-6


class Metric(NamedTuple):
    """x - x_0 = A z of one component."""

    gap: Array  #: (n,) the gap before each row; 1 for a start
    diagonal: Array  #: (n,) of B
    below: Array  #: (n,) B[i, i-1]; 0 for a start


@njit(nogil=True, cache=True, **FAST)
def later_precision(plan, rows):
    """sum 1 / t_var over a row and all later ones of its sequence, (n,): what holds the gap before it."""
    out = np.empty(len(plan.rows))
    for k in range(len(plan.kind)):
        total = 0.0
        for i in range(plan.first[k + 1] - 1, plan.first[k] - 1, -1):
            total += 1.0 / rows.t_var[plan.rows[i]]
            out[i] = total
    return out


@njit(nogil=True, cache=True, **FAST)
def make_metric(plan, rows, m, v, stiffness, t_scale):
    """The metric at means m and variances v (n,); ``stiffness`` (n,), above 0: c, unless of a start."""
    n = len(m)
    gap, diagonal, below = np.ones(n), np.empty(n), np.zeros(n)
    for k in range(len(plan.kind)):
        a, b = plan.first[k], plan.first[k + 1]
        span = 0.0
        for i in range(a + 1, b):
            gap[i] = math.exp(m[i] + 0.5 * v[i])
            span += gap[i]
        for i in range(a + 1, b):
            gap[i] = max(gap[i], SMALLEST_GAP * span / (b - a - 1))
        for i in range(a, b):
            t = 1.0 / (t_scale * t_scale * rows.t_var[plan.rows[i]])
            if i > a:
                spring = stiffness[i] / (gap[i] * gap[i])
                below[i] = -spring / diagonal[i - 1]
                t += spring - below[i] * below[i]
            if i + 1 < b:
                t += stiffness[i + 1] / (gap[i + 1] * gap[i + 1])
            diagonal[i] = math.sqrt(t)
    return Metric(gap, diagonal, below)


@njit(nogil=True, cache=True, **FAST)
def step_of(plan, metric, z, out):
    """out = A z, (n,)."""
    for k in range(len(plan.kind)):
        a, b = plan.first[k], plan.first[k + 1]
        after, u = 0.0, 0.0  # B[i+1, i] u_{i+1}, and u_{i+1}
        for i in range(b - 1, a - 1, -1):
            own = (z[i] - after) / metric.diagonal[i]
            if i + 1 < b:
                out[i + 1] = (u - own) / metric.gap[i + 1]
            u = own
            after = metric.below[i] * u
        out[a] = u


@njit(nogil=True, cache=True, **FAST)
def gradient_of(plan, metric, d_x, out):
    """out = A' d_x, (n,): the gradient in z."""
    for k in range(len(plan.kind)):
        a, b = plan.first[k], plan.first[k + 1]
        before = 0.0  # the component before
        for i in range(a, b):
            own = d_x[i] / metric.gap[i]
            if i + 1 < b:
                own -= d_x[i + 1] / metric.gap[i + 1]
            before = (own - metric.below[i] * before) / metric.diagonal[i]
            out[i] = before


@njit(nogil=True, cache=True, **FAST)
def _bend(plan, r):
    """Replace r (K, n) by the changes of the coordinates and return their derivatives.

    log(1 + r) for a log-gap down to half the gap, from where it continues as a straight line.
    """
    slope = np.ones(r.shape)
    for c in range(len(r)):
        for k in range(len(plan.kind)):
            for i in range(plan.first[k] + 1, plan.first[k + 1]):
                if r[c, i] >= -0.5:
                    slope[c, i] = 1.0 / (1.0 + r[c, i])
                    r[c, i] = math.log1p(r[c, i])
                else:
                    slope[c, i] = 2.0
                    r[c, i] = 2.0 * r[c, i] + 1.0 - math.log(2.0)
    return slope


class JointMetric:
    """The metric of K means and of the parameters that pull on them all.

    The curvature of the objective is [[H, C], [C', D]] with H of the means, block by block. As parameters move by s,
    the means follow by -H^-1 C s, which leaves the curvature S = D - C' H^-1 C for s: both have unit curvature in
    coordinates (z, w), with r = A z - H^-1 C s and s = S^-½ w.

    A log-gap changes by log(1 + r): the gap itself changes in proportion to r, so the inputs move along straight lines.
    Were it the log-gap, second-order terms of all gaps would add up and carry the end of a long record away.
    """

    def __init__(self, plan: Plan, own: Sequence[Metric], cross: Array, block: Array, least: Array) -> None:
        """cross: C, (P, K, n). block: D, (P, P). least (P,): S counts as no smaller, for it is an estimate."""
        self.plan, self.own, self.follow = plan, own, np.empty(cross.shape)
        self.root = math.sqrt(len(own))  # the objective is a mean over components
        for p in range(len(cross)):
            self.follow[p] = -self._means(self._pulled(cross[p]))
        S = block + np.tensordot(cross, self.follow, axes=([1, 2], [1, 2]))
        size, vectors = np.linalg.eigh(0.5 * (S + S.T))
        size = np.maximum(np.abs(size), (vectors**2).T @ least)
        self.scale = vectors / np.sqrt(size)

    def step(self, z: Array) -> tuple[Array, Array]:
        """The change of means, (K n,), and parameters, (P,), one after the other, at coordinates z; and d x / d r."""
        size = z.size - len(self.follow)
        parameters = self.scale @ z[size:]
        r = self._means(z[:size].reshape(len(self.own), -1))
        r += np.tensordot(parameters, self.follow, axes=1)
        bent = _bend(self.plan, r)
        return np.concatenate([r.ravel(), parameters]), bent

    def gradient(self, slope: Array, d_m: Array, d_phi: Array) -> Array:
        """The gradient in z from that in the means (K, n) and parameters (P,), with d x / d r from ``step``."""
        d_r = slope * d_m
        together = d_phi + np.tensordot(self.follow, d_r, axes=([1, 2], [0, 1]))
        return np.concatenate([self._pulled(d_r).ravel(), self.scale.T @ together])

    def _means(self, z: Array) -> Array:
        out = np.empty(z.shape)
        for k in range(len(z)):
            step_of(self.plan, self.own[k], z[k], out[k])
        return self.root * out

    def _pulled(self, d_m: Array) -> Array:
        out = np.empty(d_m.shape)
        for k in range(len(d_m)):
            gradient_of(self.plan, self.own[k], d_m[k], out[k])
        return self.root * out


class Plain:
    """The coordinates themselves, with the methods of ``JointMetric``: good enough for short records."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.slope = np.ones(shape)

    def step(self, z: Array) -> tuple[Array, Array]:
        """z is the change."""
        return z, self.slope

    def gradient(self, slope: Array, d_m: Array, d_phi: Array) -> Array:
        """All gradients, one after the other."""
        return np.concatenate([d_m.ravel(), d_phi])
