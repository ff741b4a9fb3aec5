"""Stretch: the gap after one position is scaled, and everything later shifts along.

The log of the gap takes a random step, whose Jacobian is the factor itself: the posterior stays invariant with the
ratio of Eq. (52), which costs O(1). Exact rows cannot shift, so there must be none later. Under a linear trend a shift
would change all later data: ``spreading.move_gaps`` makes the move there.
"""

from __future__ import annotations

import math

from numba import njit

from ...engine.filter import copy_state
from ...engine.local import log_gap
from ...engine.noise import uniform
from ...engine.stack import INLINE
from ...gaps.moves import stretch_ratio
from .metropolis import accept, adapt_stretch, draw_step
from .positions import date_ratio

#: Dates that are not Gaussian are summed up one by one. With more of them ahead than this, stretches are tried less
#: often, so that a sweep stays O(N).
MOST_TABLES = 100


@njit(**INLINE)
def can_stretch(now, p, rng):
    """Whether to try the gap after position p."""
    if now.moves.stretches == 0 or p == len(now.row) - 1 or not now.later.open[p + 1] or now.needs.tilt is not None:
        return False
    tables = now.later.tables[p + 1]
    return tables <= MOST_TABLES or uniform(rng) * tables < MOST_TABLES


@njit(**INLINE)
def _propose(now, p, shift, scale, rng):
    """A further shift of everything after position p, and the log-ratio of dates, gap prior and proposal.

    The ratio is -inf where the move is impossible.
    """
    line, later = now.line, now.later
    gap = line.time[p + 1] + shift - line.time[p]
    if not gap > 0.0:
        return 0.0, -math.inf
    factor = math.exp(scale * draw_step(rng))
    step = gap * factor - gap
    if not (math.isfinite(step) and gap + step > 0.0):
        return 0.0, -math.inf
    ratio = math.log(factor)
    misfit = later.misfit[p + 1] + shift * later.weight[p + 1]
    ratio -= step * (misfit + 0.5 * step * later.weight[p + 1]) / (now.t_scale * now.t_scale)
    for s in range(len(now.total)):
        ratio += stretch_ratio(now, s, shift, step)[0]
        if not ratio > -math.inf:
            return 0.0, -math.inf
    q = later.table[p + 1]
    while q < len(now.row):
        time = line.time[q] + shift
        ratio += date_ratio(now, now.row[q], time, time + step)
        q = later.table[q + 1]
    return step, ratio


@njit(**INLINE)
def stretch(now, states, p, shift, future, rng):
    """Propose to stretch the gap after position p: returns the shift of everything later.

    ``future`` is the log-density of everything later.
    """
    process, line, r = now.process, now.line, now.row[p]
    steps = now.tuning.stretch[0 if now.way > 0 else 1]
    step, ratio = _propose(now, p, shift, steps[r], rng)
    accepted = 0.0
    if ratio > -math.inf:
        gap = line.time[p + 1] + shift + step - line.time[p]
        ratio += log_gap(process, line, p, gap, states.past, states.trial_ahead) - future
        if accept(rng, ratio):
            for s in range(len(now.total)):
                now.total[s] += stretch_ratio(now, s, shift, step)[1]
            shift, accepted = shift + step, 1.0
            copy_state(process, states.trial_ahead, states.ahead)
    adapt_stretch(steps, r, now.rate, accepted)
    return shift
