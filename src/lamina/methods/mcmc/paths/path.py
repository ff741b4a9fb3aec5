"""A path: all innovations, alpha and memory move together by Hamiltonian Monte Carlo.

Moves of few inputs, and of memory with all gaps, get through the posterior of a smooth core in small steps only: the
innovations are related through the dates, and most of them are small. A path follows the gradient of all of them. It
leaves p(tau, alpha, memory | dates) invariant: the leapfrog steps are reversible and keep volumes, and the decision has
the ratio of the densities in the coordinates of ``places``, times that of the momenta.
"""

from __future__ import annotations

import math

from numba import njit

from ....engine.noise import uniform
from ....engine.stack import INLINE, LEAN, copy_array
from ....gaps.pace import innovation_after, set_carry
from ....model.parameters import ALPHA, MEMORY
from ..metropolis import accept, adapt
from ..spreading import sort_again
from .metric import draw_momenta, set_velocities
from .places import GRADIENT, MOMENTUM, PLACE, VELOCITY, begin, is_scored, log_density_at, memory_at

#: The acceptance rate at which the step is aimed. It differs from place to place, so the steps of a path are that times
#: a factor whose logarithm is uniform, from -1.2 to 0.8.
PATH_TARGET, LEAST_FACTOR, FACTORS = 0.75, -1.2, 2.0
#: The leapfrog step before warm-up, and its limits: where warm-up ends far from the posterior, other steps may suit it.
FIRST_STEP, LEAST_STEP, MOST_STEP = 0.1, 0.02, 0.2
#: A path on which the log-density falls so far has lost its way, and ends.
LOST = 1000.0


@njit(**INLINE)
def _push(paths, half):
    """Momenta after half a step."""
    for i in range(paths.shape[1]):
        paths[MOMENTUM, i] += half * paths[GRADIENT, i]


@njit(**LEAN)
def follow(target, state, value, step, leaps):
    """Leapfrog steps from where the path is; returns the log-density and the kinetic energy at its end.

    ``value`` is the log-density there, whose gradient is known. The inputs are left in ``state.trial``. The density is
    -inf where the path has lost its way.
    """
    rows, paths, N, least = target.rows, state.paths, len(state.tau), value - LOST
    for _ in range(leaps):
        _push(paths, 0.5 * step)
        set_velocities(rows, N, paths)
        for i in range(paths.shape[1]):
            paths[PLACE, i] += step * paths[VELOCITY, i]
        value = log_density_at(target, state.tau, state.phi, paths, state.trial)
        _push(paths, 0.5 * step)
        if not least < value < math.inf:
            return -math.inf, 0.0
    return value, set_velocities(rows, N, paths)


@njit(**INLINE)
def _is_possible(rows, tau):
    """Whether all innovations are positive, as these inputs hold them: rounding may have taken away a small one."""
    least = math.inf
    for r in range(len(tau)):
        if is_scored(rows, r):
            least = min(least, innovation_after(rows, tau, r))
    return least > 0.0


@njit(**LEAN)
def move_along_path(wanted, target, state, leaps, rate, rng):
    """Propose the end of a path of so many leapfrog steps."""
    if wanted is None or leaps == 0:
        return
    rows, paths, N, step = target.rows, state.paths, len(state.tau), state.tuning.path
    S, ratio = len(rows.gaps), -math.inf
    if not begin(target, state.tau, state.phi, paths, rng):
        return
    draw_momenta(target, N, paths, rng)
    value = log_density_at(target, state.tau, state.phi, paths, state.trial)
    old = value - set_velocities(rows, N, paths)
    factor = math.exp(LEAST_FACTOR + FACTORS * uniform(rng))
    value, energy = follow(target, state, value, step[0] * factor, leaps)
    if value > -math.inf and _is_possible(rows, state.trial):
        ratio = value - energy - old
    if accept(rng, ratio):
        copy_array(state.trial, state.tau)
        if target.free[MEMORY]:
            state.phi[MEMORY] = memory_at(paths[PLACE, N + S], target.prior_mean[MEMORY])[0]
        if target.free[ALPHA]:
            state.phi[ALPHA] = paths[PLACE, N + S + 1]
        sort_again(state.order, state.tau)
    set_carry(rows, math.exp(state.phi[MEMORY]))
    adapt(step, 0, rate, math.exp(min(ratio, 0.0)), PATH_TARGET)
    step[0] = min(max(step[0], LEAST_STEP), MOST_STEP)
