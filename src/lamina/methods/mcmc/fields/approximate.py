"""The field between the nodes of a path, approximately: a cubic through levels and slopes, and the spread around it.

Eq. (78). Each row costs O(1), whatever the number of sites. What is neglected is corrected by ``exact``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ....engine.stack import INLINE, LEAN_CALLED


class Path(NamedTuple):
    """A path of the field at M nodes of constant step, for S sites."""

    first: float  #: time of the first node
    step: float
    level: np.ndarray  #: (M, S) sum of the processes that have a slope
    slope: np.ndarray  #: (M, S) times the step
    rough: np.ndarray  #: (M, S) sum of those that have none
    constant: np.ndarray  #: (S,) constants and rates: constant + linear * tau
    linear: np.ndarray  #: (S,)
    spread: np.ndarray  #: (S,) variance between nodes, of the former over u³ (1 - u)³,
    rough_spread: np.ndarray  #: (S,) and of the latter over u (1 - u)


class Measured(NamedTuple):
    """What was measured, less the common trend: base + slope * tau."""

    site: np.ndarray  #: (N,)
    base: np.ndarray  #: (N,)
    slope: np.ndarray  #: (N,)
    y_var: np.ndarray  #: (N,) inf where nothing was measured


@njit(**INLINE)
def log_row(path, data, r, tau):
    """log p(y of row r at tau | path), nearly and up to a constant; -inf beyond the nodes."""
    x = (tau - path.first) / path.step
    i = int(math.floor(x))  # noqa: RUF046 (compiled code needs it)
    if not (0 <= i < len(path.level) - 1):
        return -math.inf
    if data.y_var[r] == math.inf:
        return 0.0
    s, u = data.site[r], x - i
    v = 1.0 - u
    f = path.level[i, s] * v * v * (1.0 + 2.0 * u) + path.level[i + 1, s] * u * u * (3.0 - 2.0 * u)
    f += u * v * (path.slope[i, s] * v - path.slope[i + 1, s] * u)
    f += v * path.rough[i, s] + u * path.rough[i + 1, s]
    f += path.constant[s] + path.linear[s] * tau
    between = u * v
    var = data.y_var[r] + path.rough_spread[s] * between + path.spread[s] * between * between * between
    e = data.base[r] + data.slope[r] * tau - f
    return -0.5 * (math.log(var) + e * e / var)


@njit(cache=True, **LEAN_CALLED)
def sum_log_rows(path, data, tau):
    """The sum over all rows."""
    total = 0.0
    for r in range(len(tau)):
        total += log_row(path, data, r, tau[r])
    return total
