"""Exchange and reflect: rows of different sequences, or of one block, trade places.

Two uncertain rows at neighbouring positions exchange their times. An uncertain row next to an exact one is reflected
across it, and across all exact rows at the same time, to its mirror image. Both are their own inverse with a Jacobian
of 1, so the move leaves the posterior invariant with the ratio of Eq. (51).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from numba import njit

from ...engine.backward import Information, expand
from ...engine.local import backward_step, log_segment
from ...engine.stack import INLINE, zeros
from ...gaps.moves import move_ratio
from .metropolis import accept
from .positions import add_to_total, date_ratio, place, sum_later


class Trade(NamedTuple):
    """Where rows go: the first from early to new_late, the last from late to new_early; those between them stay."""

    early: float
    late: float
    between: float
    new_early: float
    new_late: float
    possible: bool  #: no other row would be passed


@njit(**INLINE)
def _last_traded(now, p):
    """The q such that the rows at positions p ... q may trade places, or -1.

    Two uncertain rows may, and an uncertain row with all the exact ones that stand at one time next to it, after it or
    before. None of them may be of its own sequence, but for rows of one block.
    """
    rows, row, time = now.rows, now.row, now.line.time
    N, q = len(row), p + 1
    if rows.t_var[row[p]] == 0.0:
        if p > 0 and time[p - 1] == time[p]:
            return -1
        while q < N and time[q] == time[p] and rows.t_var[row[q]] == 0.0:
            q += 1
        if q == N or rows.t_var[row[q]] == 0.0:
            return -1
        mover = row[q]
    else:
        exact = rows.t_var[row[q]] == 0.0
        while exact and q + 1 < N and time[q + 1] == time[q] and rows.t_var[row[q + 1]] == 0.0:
            q += 1
        mover = row[p]
    if rows.sequence[mover] >= 0:
        for k in range(p, q + 1):
            other = row[k]
            same_block = rows.block[mover] >= 0 and rows.block[other] == rows.block[mover]
            if other != mover and rows.sequence[other] == rows.sequence[mover] and not same_block:
                return -1
    return q


@njit(**INLINE)
def _new_times(now, p, q, shift):
    """The times that the rows at positions p ... q would trade."""
    rows, row, time = now.rows, now.row, now.line.time
    early, late = time[p], time[q] + shift
    if rows.t_var[row[q]] == 0.0:  # the first is reflected across the last
        new_late = 2.0 * late - early
        return Trade(early, late, late, late, new_late, q + 1 == len(row) or new_late < time[q + 1] + shift)
    if rows.t_var[row[p]] == 0.0:
        new_early = 2.0 * early - late
        return Trade(early, late, early, new_early, early, p == 0 or new_early > time[p - 1])
    return Trade(early, late, early, early, late, True)


@njit(**INLINE)
def _ratio_of_inputs(now, first, last, trade, shift):
    """log-ratio of dates and gap prior, and the changes of the totals of the first and the last row's sequences."""
    rows, ratio, change_first, change_last = now.rows, 0.0, 0.0, 0.0
    exact_first, exact_last = rows.t_var[first] == 0.0, rows.t_var[last] == 0.0
    same_block = _same_block(rows, first, last)  # in a block the gaps stay, only their owners change
    if not exact_first:
        ratio += date_ratio(now, first, trade.early, trade.new_late)
    if not exact_last:
        ratio += date_ratio(now, last, trade.late, trade.new_early)
    if not exact_first and not same_block:
        part, change_first = move_ratio(now, first, trade.early, trade.new_late, shift)
        ratio += part
    if not exact_last and not same_block:
        part, change_last = move_ratio(now, last, trade.late, trade.new_early, shift)
        ratio += part
    return ratio, change_first, change_last


@njit(**INLINE)
def _same_block(rows, one, other):
    return rows.block[one] >= 0 and rows.block[one] == rows.block[other]


@njit(**INLINE)
def _place_all(now, p, q, early, between, late):
    """Give the rows at positions p ... q these times, and the data that belong to them."""
    for k in range(p, q + 1):
        place(now, k, now.row[k], early if k == p else (late if k == q else between))


@njit(**INLINE)
def _relink(rows, low, high):
    """The row ``low`` and the one after it in its sequence, ``high``, trade places there."""
    before, after = rows.before[low], rows.after[high]
    rows.before[high], rows.after[high], rows.before[low], rows.after[low] = before, low, high, after
    if before >= 0:
        rows.after[before] = high
    if after >= 0:
        rows.before[after] = low
    rows.unit[low], rows.unit[high] = rows.unit[high], rows.unit[low]
    rows.least[low], rows.least[high] = rows.least[high], rows.least[low]
    rows.regular[low], rows.regular[high] = rows.regular[high], rows.regular[low]


@njit(**INLINE)
def _update_backward(now, p, q):
    """Write b and the sums of later dates anew at positions p + 1 ... q."""
    dims = now.process.dims
    later = Information(zeros(dims, dims), zeros(dims, (0,)))
    if q + 1 < len(now.row):
        expand(now.process, now.line.G[q + 1], now.line.h[q + 1], later)
    for k in range(q, p, -1):
        backward_step(now.process, now.line, k, later)
        sum_later(now, k)


@njit(**INLINE)
def exchange(wanted, now, past, p, shift, rng):
    """Propose a trade of the rows at positions p ... q: returns whether it was made.

    Position p is shifted already, later ones are not. ``past`` is the state after the rows before p.
    """
    if wanted is None:
        return False
    rows, line, q = now.rows, now.line, _last_traded(now, p)
    if q < 0:
        return False
    first, last, trade = now.row[p], now.row[q], _new_times(now, p, q, shift)
    if not trade.possible:
        return False
    ratio, change_first, change_last = _ratio_of_inputs(now, first, last, trade, shift)
    if not ratio > -math.inf:
        return False
    old_early, old_late = line.time[p], line.time[q]
    ratio -= log_segment(now.process, line, past, p, q, shift)
    now.row[p], now.row[q] = last, first
    _place_all(now, p, q, trade.new_early, trade.between, trade.new_late - shift)
    ratio += log_segment(now.process, line, past, p, q, shift)
    if not accept(rng, ratio):
        now.row[p], now.row[q] = first, last
        _place_all(now, p, q, old_early, trade.between, old_late)
        return False
    now.tau[last], now.tau[first] = now.way * line.time[p], now.way * line.time[q]
    add_to_total(now, first, change_first)
    add_to_total(now, last, change_last)
    if _same_block(rows, first, last):
        _relink(rows, first if now.way > 0 else last, last if now.way > 0 else first)
    _update_backward(now, p, q)
    return True
