"""Lone moves: a row without order takes a step of the size of a window, past all rows that are in its way.

Moves between neighbours, and exchanges with them, take such a row a long way only by many small steps. Its step is
symmetric and its Jacobian 1, and it must stay in the window, so that the reverse move is chosen with the same
probability: the move leaves the posterior invariant with the ratio of Eq. (51), and the likelihood of Eq. (55).
"""

from __future__ import annotations

import math

from numba import njit

from ....engine.noise import uniform
from ....engine.stack import INLINE
from ..metropolis import draw_step
from ..positions import date_ratio


@njit(**INLINE)
def _is_lone(now, p):
    r = now.row[p]
    return now.rows.sequence[r] < 0 and now.rows.t_var[r] > 0.0


@njit(**INLINE)
def choose_lone(now, window, rng):
    """Choose an uncertain row without order in the window; it goes to ``Proposal.at``. Returns how many there are."""
    n = 0
    for p in range(window.start, window.stop):
        n += 1 if _is_lone(now, p) else 0
    left, p = int(uniform(rng) * n), window.start
    while n > 0 and (left > 0 or not _is_lone(now, p)):
        left -= 1 if _is_lone(now, p) else 0
        p += 1
    now.proposal.at[0] = p
    return n


@njit(**INLINE)
def propose_lone(now, window, scale, rng):
    """Write its new time; returns the log-ratio of its date, or -inf where it would leave the window."""
    p = now.proposal.at[0]
    old = now.line.time[p]
    new = old + scale * draw_step(rng)
    now.proposal.time[0] = new
    if window.start > 0 and not new > now.line.time[window.start - 1]:
        return -math.inf
    if window.stop < len(now.row) and not new < now.line.time[window.stop]:
        return -math.inf
    return date_ratio(now, now.row[p], old, new)
