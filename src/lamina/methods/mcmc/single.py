"""Move: the row at one position moves between its neighbours in time.

A symmetric step, refused if it passes a neighbour, leaves the posterior of one input given all else invariant
with the ratio of Eq. (51), which costs O(1). With depths, every other proposal is a draw from the prior of the row
given its neighbours in its sequence, and the prior cancels from the ratio: gaps with a shape below 1 are often tiny,
which no step of one size can follow. With memory so are innovations, and the draw is from a beta distribution that is
infinite where they vanish. A row whose date has several modes also jumps from one to the other (``jump``).
"""

from __future__ import annotations

import math

from numba import njit

from ...engine.filter import copy_state
from ...engine.local import log_input, predict_to
from ...engine.noise import uniform
from ...engine.stack import INLINE
from ...gaps.moves import draw_split, draw_split_with_memory, move_ratio
from ...model.rows import data_less_trend
from .jump import draw_date
from .metropolis import BETWEEN_TARGET, accept, adapt, draw_step_between
from .positions import add_to_total, date_ratio


@njit(**INLINE)
def _draw(memory, now, r, old, shift, rng):
    """A draw of row r between its neighbours or NaN, and log q(old) / q(new) if the prior does not cancel, or NaN."""
    if memory is None:
        return draw_split(now, r, shift, rng), math.nan
    return draw_split_with_memory(now, r, old, shift, rng)


@njit(**INLINE)
def _split(wanted, now, r, old, shift, rng):
    """``_draw`` half of the time; otherwise NaN."""
    if wanted is None or uniform(rng) < 0.5:
        return math.nan, math.nan
    return _draw(now.needs.memory, now, r, old, shift, rng)


@njit(**INLINE)
def move_input(now, states, p, shift, own, future, rng):
    """Propose a move of the row at position p.

    ``own`` and ``future`` are the log-densities of the row and of everything later. Returns the second after the move.
    """
    process, line, r = now.process, now.line, now.row[p]
    is_first, is_last, here = p == 0, p == len(now.row) - 1, line.time[p]
    before = 0.0 if is_first else line.time[p - 1]
    after = 0.0 if is_last else line.time[p + 1] + shift
    (new, back), accepted = draw_date(now.needs.jumps, now, r, here, rng), 0.0
    if math.isnan(new):
        new, back = _split(now.needs.process, now, r, here, shift, rng)
    is_step = math.isnan(new)
    if is_step:
        new = here + now.tuning.move[r] * draw_step_between(rng)
    if (is_first or new > before) and (is_last or new < after):
        ratio, change = move_ratio(now, r, here, new, shift)
        if not is_step and ratio > -math.inf:
            ratio = 0.0 if math.isnan(back) else ratio + back
        ratio += date_ratio(now, r, here, new)
        z = data_less_trend(now.rows, r, now.beta, now.way * new)
        if is_first:
            copy_state(process, states.past, states.trial)
        else:
            predict_to(process, states.past, new - before, states.trial)
        new_own, new_future = log_input(process, line, p, after - new, z, states.trial, states.trial_ahead)
        if accept(rng, ratio + new_own - own + new_future - future):
            accepted, future = 1.0, new_future
            copy_state(process, states.trial, states.here)
            copy_state(process, states.trial_ahead, states.ahead)
            line.time[p], line.z[p, 0] = new, z
            now.tau[r] = now.way * new
            add_to_total(now, r, change)
    if is_step:
        adapt(now.tuning.move, r, now.rate, accepted, BETWEEN_TARGET)
    return future
