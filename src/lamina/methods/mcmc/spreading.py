"""alpha or memory together with all gaps (``gaps.spread``), and gaps stretched under a linear trend: O(N) a move.

Both propose all inputs at once, leave p(tau, phi | y) invariant, with the trend coefficients integrated out, and end in
one decision: the ratio of likelihood, dates, gap prior and parameter prior, times the Jacobian of the move.
"""

from __future__ import annotations

import math

from numba import njit

from ...engine.noise import uniform
from ...engine.stack import INLINE, LEAN, copy_array
from ...gaps.pace import log_share, set_carry
from ...gaps.prior import log_gaps, sum_gaps
from ...gaps.spread import Spread, spread, spread_roots
from ...model.parameters import MEMORY, T_SCALE
from ...model.rows import log_dates
from ..target import alpha_at, collapsed, gap_prior_at, log_parameter_prior
from .metropolis import TARGET, accept, adapt, adapt_stretch, draw_step

#: When alpha moves together with the gaps, one row in so many stays, or only the ends of each sequence. The data hold
#: what is further apart. Ways that suit a record have long steps, and are then made most often.
RUNS = (4, 16, 64, 2**40)
#: Gaps that are stretched at a time under a linear trend.
GAP_MOVES = 15


@njit(**INLINE)
def _log_inputs(target, tau, phi, sums):
    """log p(dates | tau) + log p(gaps | phi), up to a constant; ``rows.carry`` must be that of phi."""
    rows = target.rows
    sum_gaps(rows, target.gap_prior, tau, sums)
    value = log_dates(rows, tau, math.exp(phi[T_SCALE])) + log_gaps(rows, gap_prior_at(target, phi), sums)
    return value - log_share(rows)


@njit(**INLINE)
def _decide(target, state, here, ratio, phi, rng):
    """Metropolis's decision on the inputs in ``state.trial`` and parameters phi.

    ``ratio`` is that of everything but p(y | tau, phi). Returns ``collapsed`` where the chain is now, and whether the
    move was accepted.
    """
    if not ratio > -math.inf:
        return here, False
    there = collapsed(target, state.trial, state.trial_order, phi, state.trend, 1 - here.place)
    if not accept(rng, ratio + there.value - here.value):
        return here, False
    copy_array(state.trial, state.tau)
    copy_array(state.trial_order, state.order)
    copy_array(phi, state.phi)
    return there, True


@njit(**INLINE)
def sort_again(order, time):
    """Put rows (N,), nearly in the order of their times (N,), in order: each moves back past those that are later."""
    for p in range(1, len(order)):
        r, q = order[p], p
        while q > 0 and time[order[q - 1]] > time[r]:
            order[q] = order[q - 1]
            q -= 1
        order[q] = r


@njit(**INLINE)
def _choose_run(steps, rate, rng):
    """Choose one of ``RUNS``: in warm-up any, later those whose steps are long more often."""
    total = 0.0
    for k in range(len(steps)):
        total += 1.0 if rate > 0.0 else steps[k] * steps[k]
    left = total * uniform(rng)
    for k in range(len(steps)):
        left -= 1.0 if rate > 0.0 else steps[k] * steps[k]
        if left < 0.0:
            return k
    return len(steps) - 1


@njit(**INLINE)
def _spread(wanted, target, state, proposal, run, skip):
    """Write the gaps that suit the proposed parameters into ``state.trial``; returns the log-Jacobian.

    With memory ``rows.carry`` is that of the proposal, and ``state.carry`` that of the state.
    """
    rows = target.rows
    ratio = math.sqrt(alpha_at(target, state.phi) / alpha_at(target, proposal))
    if wanted is None:
        return spread_roots(rows, state.tau, ratio, run, skip, state.trial)
    return spread(rows, state.tau, Spread(ratio, state.carry, run, skip), state.trial)


@njit(**LEAN)
def move_spread(target, state, here, what, rate, rng):
    """Moves of alpha or memory together with the gaps, Eqs. (57) and (58).

    ``here`` is ``collapsed`` at the state; ``what`` is the parameter's position in phi, the place of its steps in
    ``Tuning.spread``, and the number of moves.
    """
    i, which, moves = what
    rows, proposal, steps = target.rows, state.proposal, state.tuning.spread[which]
    copy_array(state.phi, proposal)
    value = _log_inputs(target, state.tau, state.phi, state.sums)
    for _ in range(moves):
        k = _choose_run(steps, rate, rng)
        proposal[i] = state.phi[i] + steps[k] * draw_step(rng)
        copy_array(rows.carry, state.carry)
        if i == MEMORY:
            set_carry(rows, math.exp(proposal[i]))
        skip = int(state.runs[k] * uniform(rng))
        ratio, new_value = _spread(target.needs.memory, target, state, proposal, state.runs[k], skip), 0.0
        if ratio > -math.inf:
            new_value = _log_inputs(target, state.trial, proposal, state.sums)
            ratio += new_value - value
            ratio += log_parameter_prior(target, proposal, i) - log_parameter_prior(target, state.phi, i)
            copy_array(state.order, state.trial_order)
            sort_again(state.trial_order, state.trial)
        here, accepted = _decide(target, state, here, ratio, proposal, rng)
        if accepted:
            value = new_value
        else:
            copy_array(state.carry, rows.carry)
        adapt(steps, k, rate, 1.0 if accepted else 0.0, TARGET)
    return here


@njit(**LEAN)
def move_gaps(wanted, target, state, here, rate, rng):
    """Stretch gaps in merged time order, everything later shifting along, as Eq. (52) with O(N) sums.

    ``here`` is ``collapsed`` at the state. The sweep cannot make this move under a linear trend, where a shift changes
    all later data.
    """
    if wanted is None:
        return here
    N, steps = len(state.tau), state.tuning.stretch[0]
    first = N - 1  # exact rows stay: only gaps after the last of them can be stretched
    while first > 0 and target.rows.t_var[state.order[first]] > 0.0:
        first -= 1
    value = _log_inputs(target, state.tau, state.phi, state.sums)
    copy_array(state.order, state.trial_order)
    for _ in range(min(GAP_MOVES, N - 1 - first)):
        p = first + int(uniform(rng) * (N - 1 - first))
        r = state.order[p]
        gap = state.tau[state.order[p + 1]] - state.tau[r]
        factor = math.exp(steps[r] * draw_step(rng))
        ratio, new_value = -math.inf, 0.0
        if gap > 0.0 and gap * factor < math.inf:
            copy_array(state.tau, state.trial)
            for k in range(p + 1, N):
                state.trial[state.order[k]] += gap * factor - gap
            new_value = _log_inputs(target, state.trial, state.phi, state.sums)
            ratio = math.log(factor) + new_value - value
        here, accepted = _decide(target, state, here, ratio, state.phi, rng)
        if accepted:
            value = new_value
        adapt_stretch(steps, r, rate, 1.0 if accepted else 0.0)
    return here
