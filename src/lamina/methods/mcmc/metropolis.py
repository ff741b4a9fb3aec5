"""Metropolis's decision, with which every move of the samplers ends, and the acceptance rates they are tuned to."""

from __future__ import annotations

import math

from numba import njit

from ...engine.stack import INLINE

#: For the step of a single coordinate, and for joint moves of several parameters.
TARGET, JOINT_TARGET = 0.44, 0.3


@njit(**INLINE)
def accept(rng, log_ratio):
    """Metropolis's decision."""
    return log_ratio >= 0.0 or math.log(rng.random()) < log_ratio
