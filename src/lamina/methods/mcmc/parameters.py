"""Random walks of alpha, memory and t_scale given the inputs.

Each leaves p(parameter | tau) invariant: the gaps determine alpha and memory, Eqs. (44) and (45), and the dates
t_scale, Eq. (50). The likelihood plays no part, so that a move costs O(1), or O(N) for memory.
"""

from __future__ import annotations

import math

from numba import njit

from ...engine.stack import INLINE, LEAN, copy_array
from ...gaps.pace import log_share, set_carry
from ...gaps.prior import log_gaps, sum_gaps
from ...model.parameters import MEMORY, T_SCALE
from ...model.rows import squared_errors
from ..target import gap_prior_at, log_parameter_prior
from .metropolis import TARGET, accept, adapt

#: Moves of each parameter a round.
CHEAP_MOVES = 4


@njit(**INLINE)
def _log_conditional(target, state, i, squares, dates):
    """log p(phi[i] | tau), up to a constant: from ``squared_errors``, or from what ``sum_gaps`` wrote."""
    value = log_parameter_prior(target, state.phi, i)
    if i == T_SCALE:
        return value - dates * state.phi[i] - 0.5 * squares * math.exp(-2.0 * state.phi[i])  # Eq. (50)
    value += log_gaps(target.rows, gap_prior_at(target, state.phi), state.sums)
    return value - log_share(target.rows) if i == MEMORY else value


@njit(**LEAN)
def move_alone(target, state, i, step, rate, rng):
    """Some moves of phi[i]: alpha, memory or t_scale. ``step`` is the position of its step in ``state.steps``."""
    rows, phi, squares, dates = target.rows, state.phi, 0.0, 0
    if i == T_SCALE:
        squares, dates = squared_errors(rows, state.tau)
    else:
        sum_gaps(rows, target.gap_prior.floor, state.tau, state.sums)
    value = _log_conditional(target, state, i, squares, dates)
    for _ in range(CHEAP_MOVES):
        old = phi[i]
        phi[i] = old + state.steps[step] * rng.standard_normal()
        if i == MEMORY:
            copy_array(rows.carry, state.carry)
            set_carry(rows, math.exp(phi[i]))
            sum_gaps(rows, target.gap_prior.floor, state.tau, state.sums)
        new_value = _log_conditional(target, state, i, squares, dates)
        accepted = 0.0
        if accept(rng, new_value - value):
            accepted, value = 1.0, new_value
        else:
            phi[i] = old
            if i == MEMORY:
                copy_array(state.carry, rows.carry)
        adapt(state.steps, step, rate, accepted, TARGET)
