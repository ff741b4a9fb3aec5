"""Tents, ramps and slides: many rows of one sequence move together.

    tent     rows a < c < b of a sequence: a and b stay, c takes a random step, and the gaps between a and c, and
             those between c and b, are scaled to fill the time
    ramp     the same at a free end: c is the first or the last row of the sequence, and there is only one side
    slide    a whole sequence shifts

All rows between follow linearly, so that one number moves a long wave of inputs, through which moves of single inputs
only diffuse. Each move leaves the posterior invariant with the ratio of Eq. (54): its step is symmetric, the scaling of
n gaps has the Jacobian f^(n - 1), and the choice of the rows depends on which rows are in the window, never on their
places there. Exact rows stay. Rows of other sequences stay too, and moved rows may pass them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from numba import njit

from ....engine.noise import uniform
from ....engine.stack import INLINE
from ....gaps.pace import excess
from ....gaps.prior import log_ratio
from ....gaps.scaling import add_gap, can_scale, elastic, log_jacobian, no_gaps, scaling_ratio, sum_from
from ..metropolis import draw_step
from ..positions import date_ratio

#: Kinds of moves, and the places of their steps in ``Tuning.window``; those of warps follow.
TENT, EARLY_RAMP, LATE_RAMP, SLIDE = 0, 1, 2, 3
KINDS = 4


class Chosen(NamedTuple):
    """Which rows move, as numbers of entries in ``Proposal.at``."""

    kind: int
    low: int  #: a
    top: int  #: c; at a free end it is ``low`` or ``high``
    high: int  #: b
    possible: bool


@njit(**INLINE)
def _choose_sequence(now, window, turn, rng):
    """Each sequence in its turn if there is one for each, otherwise that of a random row."""
    if now.moves.tents == len(now.total):
        return turn
    return now.rows.sequence[now.row[window.start + int(uniform(rng) * (window.stop - window.start))]]


@njit(**INLINE)
def _list_members(now, window, s):
    """List the positions of the rows of sequence s in the window, and at its end. Returns both numbers."""
    at, n, last = now.proposal.at, 0, min(window.stop, len(now.row) - 1)
    for p in range(window.start, last + 1):
        if now.rows.sequence[now.row[p]] == s:
            at[n] = p
            n += 1
    beyond = 1 if n > 0 and at[n - 1] == window.stop else 0
    return n - beyond, n


@njit(**INLINE)
def choose_kind(is_early, is_late, rng):
    """A tent, or one of the moves that the free ends allow."""
    u = uniform(rng)
    if is_early and is_late:
        return int(4.0 * u)
    if u < 0.5:
        return TENT
    return EARLY_RAMP if is_early else (LATE_RAMP if is_late else TENT)


@njit(**INLINE)
def choose_members(now, window, turn, rng):
    """Choose a row of a sequence in the window, the rows around it up to the next that stays, and what is done."""
    rows, row, at, s = now.rows, now.row, now.proposal.at, _choose_sequence(now, window, turn, rng)
    inside, n = (0, 0) if s < 0 else _list_members(now, window, s)
    own = int(uniform(rng) * inside)
    if inside == 0 or rows.t_var[row[at[own]]] == 0.0:
        return Chosen(TENT, 0, 0, 0, False)
    low = high = own
    while low > 0 and rows.t_var[row[at[low]]] > 0.0:
        low -= 1
    while high < n - 1 and rows.t_var[row[at[high]]] > 0.0:
        high += 1
    first, last = row[at[low]], row[at[high]]
    is_early = rows.before[first] < 0 and rows.t_var[first] > 0.0
    is_late = rows.after[last] < 0 and rows.t_var[last] > 0.0 and at[high] < window.stop
    kind = choose_kind(is_early, is_late, rng)
    top = low if kind == EARLY_RAMP else (high if kind == LATE_RAMP else (low + high) // 2)
    return Chosen(kind, low, top, high, kind == SLIDE or (high > low and (kind != TENT or top > low)))


@njit(**INLINE)
def _sum_run(now, i, j):
    """``Run`` of the gaps between members i and j."""
    run, at, time = no_gaps(), now.proposal.at, now.line.time
    for k in range(i, j):
        run = add_gap(now.rows, now.prior, now.row[at[k]], time[at[k + 1]] - time[at[k]], run)
    return run


@njit(**INLINE)
def _scale(now, chosen, factors):
    """Write the times of all members, with the gaps before c scaled by factors[0] and those after it by factors[1]."""
    at, old, new = now.proposal.at, now.line.time, now.proposal.time
    low, top, high = chosen.low, chosen.top, chosen.high
    new[low], new[high], offset = old[at[low]], old[at[high]], 0.0
    for k in range(low, top):
        gap = old[at[k + 1]] - old[at[k]]
        offset += gap + (factors[0] - 1.0) * elastic(now.rows, now.prior, now.row[at[k]], gap)
        new[k + 1] = old[at[low]] + offset
    offset = 0.0
    for k in range(high - 1, top - 1, -1):
        gap = old[at[k + 1]] - old[at[k]]
        offset += gap + (factors[1] - 1.0) * elastic(now.rows, now.prior, now.row[at[k]], gap)
        new[k] = old[at[high]] - offset


@njit(**INLINE)
def _log_dates(now, window, low, high):
    """log-ratio of the dates of the members that move; -inf if the order is broken, or a row outside is passed."""
    at, old, new, ratio = now.proposal.at, now.line.time, now.proposal.time, 0.0
    if window.start > 0 and not new[low] > old[window.start - 1]:
        return -math.inf
    if window.stop < len(now.row) and at[high] < window.stop and not new[high] < old[window.stop]:
        return -math.inf
    for k in range(low, high + 1):
        r = now.row[at[k]]
        if k < high and not excess(new[k], new[k + 1], now.rows.least[r]) > 0.0:
            return -math.inf
        if new[k] != old[at[k]]:
            ratio += date_ratio(now, r, old[at[k]], new[k])
    return ratio


@njit(**INLINE)
def _memory_ratio(wanted, now, low, high, known):
    """log-ratio of the gap prior and the change of its total: without memory, what is ``known``."""
    if wanted is None:
        return known
    rows, row, at, tau = now.rows, now.row, now.proposal.at, now.tau
    first, last, s = row[at[low]], row[at[high]], rows.sequence[row[at[low]]]
    old_logs, old_total = sum_from(rows, now.prior, tau, first, last)
    for k in range(low, high + 1):
        tau[row[at[k]]] = now.proposal.time[k]
    logs, total = sum_from(rows, now.prior, tau, first, last)
    for k in range(low, high + 1):
        tau[row[at[k]]] = now.line.time[at[k]]
    if logs == -math.inf:
        return logs, 0.0
    change = total - old_total
    return log_ratio(now.prior, rows.gaps[s], now.total[s], logs - old_logs, change), change


@njit(**INLINE)
def _propose_slide(now, window, chosen, delta):
    """Shift all members: the gaps stay as they are."""
    for k in range(chosen.low, chosen.high + 1):
        now.proposal.time[k] = now.line.time[now.proposal.at[k]] + delta
    return _log_dates(now, window, chosen.low, chosen.high), 0.0


@njit(**INLINE)
def propose_members(now, window, chosen, scale, rng):
    """Write the new times of the members, with the log-ratio of all but the likelihood, and the change of their total.

    ``scale`` is the standard deviation of the step. The ratio is -inf where the move is impossible.
    """
    delta, low, top, high = scale * draw_step(rng), chosen.low, chosen.top, chosen.high
    if chosen.kind == SLIDE:
        return _propose_slide(now, window, chosen, delta)
    runs = _sum_run(now, low, top), _sum_run(now, top, high)
    if (top > low and runs[0].gaps == 0) or (high > top and runs[1].gaps == 0):
        return -math.inf, 0.0
    factors = 1.0 + delta / runs[0].spare if top > low else 1.0, 1.0 - delta / runs[1].spare if high > top else 1.0
    if not (can_scale(now.prior, runs[0], factors[0]) and can_scale(now.prior, runs[1], factors[1])):
        return -math.inf, 0.0
    _scale(now, chosen, factors)
    ratio = _log_dates(now, window, low, high)
    if ratio == -math.inf:
        return ratio, 0.0
    logs = math.log(factors[0]), math.log(factors[1])
    s = now.rows.sequence[now.row[now.proposal.at[low]]]
    known = scaling_ratio(now.prior, now.rows.gaps[s], now.total[s], runs, factors, logs)
    part, change = _memory_ratio(now.needs.memory, now, low, high, known)
    return ratio + part + log_jacobian(runs[0], logs[0]) + log_jacobian(runs[1], logs[1]), change
