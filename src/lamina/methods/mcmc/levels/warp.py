"""Warps: all uncertain rows of a window move together, those of all sequences.

The positions a and b stay, position c takes a random step, and the time between is warped piecewise linearly, as in a
tent (``tent``), with a ramp at a free end of the record. The order in time stays. Sequences that share a curve must
move together where the curve determines their inputs relative to each other. The move leaves the posterior invariant
with the ratio of Eq. (56): each of the n rows of a side but c is scaled, and the gap prior of every sequence changes.
"""

from __future__ import annotations

import math

from numba import njit

from ....engine.logarithms import NOTHING, add_log, log_sum
from ....engine.stack import INLINE
from ....gaps.pace import innovation_after
from ....gaps.prior import log_ratio, log_term
from ..metropolis import draw_step
from ..positions import date_ratio
from .tent import EARLY_RAMP, LATE_RAMP, SLIDE, TENT, Chosen, choose_kind


@njit(**INLINE)
def choose_positions(now, window, rng):
    """Choose the positions from a to b around the middle of the window, and what is done to them.

    They are listed in ``Proposal.at``, as positions of members are.
    """
    rows, row, at, N = now.rows, now.row, now.proposal.at, len(now.row)
    first, last = window.start, min(window.stop, N - 1)
    a = b = (first + last) // 2
    if rows.t_var[row[a]] == 0.0:
        return Chosen(TENT, 0, 0, 0, False)
    while a > first and rows.t_var[row[a]] > 0.0:
        a -= 1
    while b < last and rows.t_var[row[b]] > 0.0:
        b += 1
    for p in range(a, b + 1):
        at[p - a] = p
    is_early, is_late = a == 0 and rows.t_var[row[a]] > 0.0, window.stop == N and b == last and rows.t_var[row[b]] > 0.0
    kind, high = choose_kind(is_early, is_late, rng), b - a
    top = 0 if kind == EARLY_RAMP else (high if kind == LATE_RAMP else high // 2)
    return Chosen(kind, 0, top, high, kind == SLIDE or (high > 0 and (kind != TENT or top > 0)))


@njit(**INLINE)
def _warp(now, chosen, delta):
    """Write the new times; returns the log-Jacobian, or -inf where a factor is not positive."""
    at, old, new = now.proposal.at, now.line.time, now.proposal.time
    top, high = chosen.top, chosen.high
    a, b, c = old[at[0]], old[at[high]], old[at[top]]
    if chosen.kind == SLIDE:
        for k in range(high + 1):
            new[k] = old[at[k]] + delta
        return 0.0
    left = 1.0 + delta / (c - a) if top > 0 else 1.0
    right = 1.0 - delta / (b - c) if top < high else 1.0
    if not (left > 0.0 and right > 0.0):
        return -math.inf
    for k in range(high + 1):
        new[k] = a + left * (old[at[k]] - a) if k < top or top == high else b - right * (b - old[at[k]])
    return max(top - 1, 0) * math.log(left) + max(high - top - 1, 0) * math.log(right)


@njit(**INLINE)
def _add_gap(now, r, sign, sums):
    """Add f of the gap after row r to the change of its total, and its ``log_term`` to ``sums``.

    These are the terms, and the logarithms of gaps with unit 1, which all have the same power. A broken order gives
    -inf.
    """
    terms, logs = sums
    unit, f = now.rows.unit[r], now.rows.unit[r] * innovation_after(now.rows, now.tau, r)
    if not f > 0.0:
        return -math.inf, logs
    if not now.rows.regular[r]:
        return terms, logs
    now.proposal.change[0, now.rows.sequence[r]] += sign * f
    if unit == 1.0 and f >= now.prior.tiny:
        return terms, add_log(logs, f)
    return terms + log_term(now.prior, unit, f), logs


@njit(**INLINE)
def _sum_gaps(now, a, b, sign):
    """Sum of ``log_term`` over all gaps that rows at positions a ... b are part of; f goes to ``Proposal.change``."""
    rows, tau, time, sums = now.rows, now.tau, now.line.time, (0.0, NOTHING)
    for p in range(a, b + 1):
        r = now.row[p]
        if rows.sequence[r] < 0:
            continue
        left, right = rows.before[r], rows.after[r]
        if left >= 0 and a > 0 and left != now.row[a] and tau[left] <= time[a]:
            sums = _add_gap(now, left, sign, sums)
        if right >= 0:
            sums = _add_gap(now, r, sign, sums)
            if rows.carry[right] > 0.0 and right != now.row[b] and b < len(tau) - 1 and tau[right] >= time[b]:
                sums = _add_gap(now, right, sign, sums)
    return sums[0] + (now.prior.shape + now.prior.extra) * log_sum(sums[1])


@njit(**INLINE)
def _ratio_of_gaps(now, chosen):
    """log-ratio of the gap prior of all sequences; the changes of their totals are left in ``Proposal.change``."""
    at, change, rows = now.proposal.at, now.proposal.change, now.rows
    a, b = at[0], at[chosen.high]
    logs = -_sum_gaps(now, a, b, -1.0)
    for k in range(chosen.high + 1):
        now.tau[now.row[at[k]]] = now.proposal.time[k]
    logs += _sum_gaps(now, a, b, 1.0)
    for k in range(chosen.high + 1):
        now.tau[now.row[at[k]]] = now.line.time[at[k]]
    ratio = logs
    for p in range(a, b + 1):
        s = rows.sequence[now.row[p]]
        if s >= 0 and change[0, s] != 0.0:
            if ratio > -math.inf:
                ratio += log_ratio(now.prior, rows.gaps[s], now.total[s], 0.0, change[0, s])
            change[1, s], change[0, s] = change[0, s], 0.0
    return ratio


@njit(**INLINE)
def settle(now, chosen, accepted):
    """After the decision, add the changes to the totals, or forget them."""
    for k in range(chosen.high + 1):
        s = now.rows.sequence[now.row[now.proposal.at[k]]]
        if s >= 0:
            now.total[s] += accepted * now.proposal.change[1, s]
            now.proposal.change[1, s] = 0.0


@njit(**INLINE)
def propose_warp(now, chosen, scale, rng):
    """Write the new times of the positions; returns the log-ratio of all but the likelihood, -inf where impossible."""
    at, old, new = now.proposal.at, now.line.time, now.proposal.time
    ratio = _warp(now, chosen, scale * draw_step(rng))
    if ratio == -math.inf:
        return ratio
    for k in range(chosen.high + 1):
        if k < chosen.high and not new[k] < new[k + 1]:
            return -math.inf
        if new[k] != old[at[k]]:
            ratio += date_ratio(now, now.row[at[k]], old[at[k]], new[k])
    return ratio + _ratio_of_gaps(now, chosen)
