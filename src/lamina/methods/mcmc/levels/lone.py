"""Lone moves: one row moves past rows of other sequences, and past rows without order, that are in its way.

In a sweep a row moves between its neighbours of the merged order, and trades places with one of them: where the curve
separates two places that suit it, it never gets from one to the other. Here it takes a step, or it is drawn from its
date, wherever that is in the window. The row is chosen by its position, the step is symmetric, and the Jacobian is 1:
the posterior stays invariant with the ratio of Eq. (51), less that of the date if it was drawn from it, and with the
likelihood of a window, Eq. (55). Of its own sequence it passes no row.
"""

from __future__ import annotations

import math

from numba import njit

from ....engine.noise import standard_normal, uniform
from ....engine.stack import INLINE
from ....gaps.moves import move_ratio
from ..jump import draw_from_table
from ..metropolis import draw_step
from ..positions import date_ratio

#: The share of lone moves that are drawn from the date.
DRAWN = 0.5


@njit(**INLINE)
def choose_lone(now, window, rng):
    """A position of the window, which goes to ``Proposal.at``. Returns whether its row is uncertain."""
    p = window.start + int(uniform(rng) * (window.stop - window.start))
    now.proposal.at[0] = p
    return now.rows.t_var[now.row[p]] > 0.0


@njit(**INLINE)
def _draw(now, r, old, rng):
    """A time from the date of row r, and log q(old) / q(new)."""
    if now.rows.size[r] > 0:
        return draw_from_table(now, r, old, rng)
    scale = now.t_scale * math.sqrt(now.rows.t_var[r])
    new = now.way * now.rows.t[r] + scale * standard_normal(rng)
    return new, -date_ratio(now, r, old, new)


@njit(**INLINE)
def propose_lone(now, window, scale, rng):
    """Write its new time; returns the log-ratio of all but the likelihood, the change of its total, and if it stepped.

    ``scale`` is that of the step. The ratio is -inf where the row would leave the window or pass its own sequence.
    """
    p = now.proposal.at[0]
    r, old = now.row[p], now.line.time[p]
    stepped = uniform(rng) >= DRAWN or now.rows.t_var[r] == math.inf
    new, ratio = (old + scale * draw_step(rng), 0.0) if stepped else _draw(now, r, old, rng)
    now.proposal.time[0] = new
    if window.start > 0 and not new > now.line.time[window.start - 1]:
        return -math.inf, 0.0, stepped
    if window.stop < len(now.row) and not new < now.line.time[window.stop]:
        return -math.inf, 0.0, stepped
    part, change = move_ratio(now, r, old, new, 0.0)
    return ratio + part + date_ratio(now, r, old, new), change, stepped
