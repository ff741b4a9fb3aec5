"""Metropolis's decision, with which every move of the samplers ends, and the steps of the moves, tuned in warm-up."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ...engine.noise import uniform
from ...engine.stack import INLINE

#: Acceptance rates aimed at: for the step of a single coordinate, for that of an input between its neighbours, and for
#: joint moves of several parameters.
TARGET, BETWEEN_TARGET, JOINT_TARGET = 0.34, 0.4, 0.28
#: Positions in ``State.steps``: the steps of the moves of parameters.
THETA_STEP, ALPHA_STEP, T_SCALE_STEP, MEMORY_STEP = 0, 1, 2, 3
FIRST_STEPS = (1.0, 0.5, 0.1, 0.3)
#: Limits of the step of a stretch, in log gap.
LEAST_STRETCH, MOST_STRETCH = 1e-3, 10.0


class Moves(NamedTuple):
    """How often each kind of move is made. 0 switches it off."""

    theta: int  #: joint moves of theta, twice a round
    spread: int  #: moves of alpha, and of memory, together with the gaps, twice a round
    tents: int  #: in each window
    warps: int  #: in each window
    lone: int  #: moves of single rows past others, in each window
    kinds: int  #: bit k: whether moves of one sequence of the kind k are made (``levels.tent``); bit k + 4: such warps
    shortest: int  #: the shortest windows have about this many positions
    growth: int  #: the windows of each level are so many times as long as those of the level before
    stretches: int  #: whether gaps are stretched in a sweep
    leaps: int  #: leapfrog steps of a path


@njit(**INLINE)
def draw_step(rng):
    """A step in units of its scale: uniform from 0.5 to 1.5, with a random sign.

    Short steps are accepted and lead nowhere. Without them, as with the Bactrian kernel of Yang & Rodríguez (2013), a
    random walk in one dimension needs 1.6 times fewer steps for the same number of effective draws than with Gaussian
    ones.
    """
    u = 2.0 * uniform(rng) - 1.0
    return u + math.copysign(0.5, u)


@njit(**INLINE)
def draw_step_between(rng):
    """A step of an input between its neighbours, which may leave it little room: uniform from -1.5 to 1.5."""
    return 3.0 * uniform(rng) - 1.5


def draw_steps(rng: np.random.Generator, size: int) -> np.ndarray:
    """As ``draw_step`` (size,), for chains in Python."""
    u = rng.uniform(-1.0, 1.0, size)
    return u + np.copysign(0.5, u)


@njit(**INLINE)
def accept(rng, log_ratio):
    """Metropolis's decision."""
    return log_ratio >= 0.0 or math.log(uniform(rng)) < log_ratio


@njit(**INLINE)
def adapt(steps, i, rate, accepted, target):
    """In warm-up (rate > 0), let steps[i] grow after an accepted move (1.0) and shrink after a rejected one (0.0)."""
    if rate > 0.0:
        steps[i] *= math.exp(rate * (accepted - target))


@njit(**INLINE)
def adapt_stretch(steps, i, rate, accepted):
    """``adapt`` for the step of a stretch, which is kept within limits."""
    if rate > 0.0:
        steps[i] = min(max(steps[i] * math.exp(rate * (accepted - TARGET)), LEAST_STRETCH), MOST_STRETCH)
