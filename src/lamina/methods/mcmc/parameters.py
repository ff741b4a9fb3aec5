"""Random walks of alpha, memory and t_scale given the inputs.

Each leaves p(parameter | tau) invariant: the gaps determine alpha and memory, Eqs. (5) and (9), and the dates
t_scale, Eq. (59). The likelihood does not change, so that a move costs O(1), or O(N) for memory.
"""

from __future__ import annotations

import math

from numba import njit

from ...engine.stack import INLINE, LEAN, copy_array
from ...gaps.pace import log_share
from ...gaps.prior import log_gaps, sum_gaps
from ...model.parameters import MEMORY, T_SCALE
from ...model.rows import squared_errors
from ..target import gap_prior_at, log_parameter_prior, set_memory
from .metropolis import TARGET, accept, adapt, draw_step

#: Moves of each parameter a round.
CHEAP_MOVES = 4


@njit(**INLINE)
def _log_conditional(target, state, i, errors):
    """log p(phi[i] | tau), up to a constant: from ``squared_errors``, or from what ``sum_gaps`` wrote."""
    value = log_parameter_prior(target, state.phi, i)
    if i == T_SCALE:
        return value - errors[1] * state.phi[i] - 0.5 * errors[0] * math.exp(-2.0 * state.phi[i])  # Eq. (59)
    value += log_gaps(target.rows, gap_prior_at(target, state.phi), state.sums)
    return value - log_share(target.rows) if i == MEMORY else value


@njit(**INLINE)
def _errors(wanted, target, state, i):
    """``squared_errors`` if t_scale moves."""
    if wanted is None or i != T_SCALE:
        return 0.0, 0
    return squared_errors(target.rows, state.tau)


@njit(**INLINE)
def _carry_anew(wanted, target, state, i):
    """If memory has moved, set what it carries over, and sum up the gaps; ``state.carry`` keeps what it was."""
    if wanted is None or i != MEMORY:
        return
    copy_array(target.rows.carry, state.carry)
    set_memory(wanted, target.rows, state.phi)
    sum_gaps(target.rows, target.gap_prior, state.tau, state.sums)


@njit(**LEAN)
def move_alone(needs, target, state, what, rate, rng):
    """Some moves of alpha, memory or t_scale: ``what`` is its position in phi, and that of its step."""
    rows, phi, (i, step) = target.rows, state.phi, what
    errors = _errors(needs.t_scale, target, state, i)
    if i != T_SCALE:
        sum_gaps(rows, target.gap_prior, state.tau, state.sums)
    value = _log_conditional(target, state, i, errors)
    for _ in range(CHEAP_MOVES):
        old = phi[i]
        phi[i] = old + state.steps[step] * draw_step(rng)
        _carry_anew(needs.memory, target, state, i)
        new_value = _log_conditional(target, state, i, errors)
        accepted = 0.0
        if accept(rng, new_value - value):
            accepted, value = 1.0, new_value
        else:
            phi[i] = old
            if i == MEMORY:
                copy_array(state.carry, rows.carry)
        adapt(state.steps, step, rate, accepted, TARGET)
