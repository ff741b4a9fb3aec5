"""The masses of a path: dates hold sums of gaps, so momenta of gaps that add up to one are related, Eq. (87).

With the velocities v of the scores of a sequence and of its first input, rows move at s_i = sum of r_j v_j over the
gaps before row i, where r_j is how far a score of one moves what is later. Kinetic energy is

    (sum_j A v_j² + sum_i s_i² / sd_i²) / 2 = v' M v / 2,

the curvature that a date of that sd and a prior of the precision A would have. In s, M is tridiagonal, so that drawing
momenta and turning them into velocities cost O(N). M does not depend on where the path is.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ....engine.noise import standard_normal
from ....engine.stack import LEAN
from ....model.parameters import ALPHA, MEMORY
from ....model.problem import Problem
from .places import FACTOR, MOMENTUM, PIVOT, PRECISION, REACH, ROOT, ROWS, VELOCITY, is_first, last_row

#: A, the precision of a score in its prior, roughly.
SCORE_PRECISION = 0.3
#: r_j of a gap of unit u, in units of mean gaps, is ``REACH_OF_SCORE`` (u + ``REACH_LEAST``). The first pace carries
#: over to many later ones.
REACH_OF_SCORE, REACH_LEAST, REACH_OF_FIRST = 0.3, 0.3, 3.0
#: Scales of the coordinates of memory and alpha, and of log T in standard deviations of a date.
PARAMETER_SCALE, TIME_SCALE = 0.7, 1.5
#: Rows whose dates say less count as if they had this part of the highest precision.
LEAST_PRECISION = 1e-6


def new_paths(problem: Problem) -> np.ndarray:
    """The array of ``places`` (ROWS, N + S + 2), with the metric."""
    rows, n, S = problem.rows, len(problem.record), len(problem.rows.gaps)
    paths = np.zeros((ROWS, n + S + 2))
    precision = np.maximum(1.0 / problem.scale**2, LEAST_PRECISION / problem.scale.min() ** 2)
    paths[REACH] = 1.0
    paths[REACH, -2:] = PARAMETER_SCALE
    for first in np.flatnonzero((rows.sequence >= 0) & (rows.before < 0)):
        chain = [first]
        while rows.after[chain[-1]] >= 0:
            chain.append(rows.after[chain[-1]])
        before = chain[:-1]
        time, units = max(np.ptp(rows.t[chain]), problem.scale[chain].min()), max(rows.gaps[rows.sequence[first]], 1.0)
        reach = REACH_OF_SCORE * (rows.unit[before] + REACH_LEAST) * time / units
        reach[:1] *= REACH_OF_FIRST
        paths[REACH, before], paths[ROOT, before] = reach, math.sqrt(SCORE_PRECISION)
        paths[PRECISION, chain] = precision[chain]
        paths[PIVOT, chain], paths[FACTOR, chain] = _factorise(precision[chain], SCORE_PRECISION / reach**2)
        sd = np.median(problem.scale[chain])
        paths[REACH, n + rows.sequence[first]] = TIME_SCALE * sd / time / math.sqrt(max(len(chain), 3) / 3.0)
    return paths


def _factorise(precision: np.ndarray, stiffness: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """1 / D (n + 1,) and the lower diagonal of L in L D L' = diag(precision) + sum of (s_j+1 - s_j)² stiffness_j."""
    pivot, factor = precision.copy(), np.zeros(len(precision))
    for j, k in enumerate(stiffness):
        pivot[j] += k
        factor[j] = -k / pivot[j]
        pivot[j + 1] += k - factor[j] ** 2 * pivot[j]
    return 1.0 / pivot, factor


@njit(**LEAN)
def draw_momenta(target, N, paths, rng):
    """Draw momenta from N(0, M); a parameter that is known has none."""
    rows = target.rows
    for first in range(N):
        if not is_first(rows, first):
            continue
        k, later = last_row(rows, first), 0.0
        last = k
        while True:
            later += math.sqrt(paths[PRECISION, k]) * standard_normal(rng)
            if rows.before[k] < 0:
                break
            k = rows.before[k]
            paths[MOMENTUM, k] = paths[ROOT, k] * standard_normal(rng) + paths[REACH, k] * later
        paths[MOMENTUM, last] = later
    for i in range(N, paths.shape[1]):
        paths[MOMENTUM, i] = standard_normal(rng) / paths[REACH, i]
    if not target.free[MEMORY]:
        paths[MOMENTUM, paths.shape[1] - 2] = 0.0
    if not target.free[ALPHA]:
        paths[MOMENTUM, paths.shape[1] - 1] = 0.0


@njit(**LEAN)
def set_velocities(rows, N, paths):
    """Velocities v with M v = p, of the momenta p; returns the kinetic energy.

    Of Eq. (87), L D L' s = q, where q_i is p_j / r_j of the gap before row i less that of the gap after it.
    """
    energy = 0.0
    for first in range(N):
        if not is_first(rows, first):
            continue
        last = last_row(rows, first)
        k, before, s = first, paths[MOMENTUM, last], 0.0
        while rows.after[k] >= 0:
            own = paths[MOMENTUM, k] / paths[REACH, k]
            s = before - own - s
            paths[VELOCITY, k] = s
            s, before, k = s * paths[FACTOR, k], own, rows.after[k]
        ahead = (before - s) * paths[PIVOT, last]
        while rows.before[k] >= 0:
            k = rows.before[k]
            s = paths[VELOCITY, k] * paths[PIVOT, k] - paths[FACTOR, k] * ahead
            paths[VELOCITY, k] = (ahead - s) / paths[REACH, k]
            energy += paths[MOMENTUM, k] * paths[VELOCITY, k]
            ahead = s
        paths[VELOCITY, last] = ahead
        energy += paths[MOMENTUM, last] * ahead
    for i in range(N, paths.shape[1]):
        paths[VELOCITY, i] = paths[MOMENTUM, i] * paths[REACH, i] * paths[REACH, i]
        energy += paths[MOMENTUM, i] * paths[VELOCITY, i]
    return 0.5 * energy
