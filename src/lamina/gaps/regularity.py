"""alpha and memory, which say how regular the gaps are: their moves given the gaps, and together with them.

Given the gaps, the gamma prior needs only their number, their sum and the sum of their logarithms in each sequence, so
that a move of alpha costs O(1). But the gaps of one draw leave alpha little room, and memory less. ``spread`` moves
both: a parameter takes a step, and all gaps between fixed rows move as its new value says they should.
"""

from __future__ import annotations

import math

from numba import njit

from ..engine.stack import FAST
from . import new_in
from .spacing import new_pace, pace


@njit(**FAST)
def sum_gaps(rows, floor, tau, sums):
    """Sum of log x, and log(sum x + floor), over the regular gaps of each sequence, into sums (S, 2).

    x is a gap less its least, in its unit, or with memory what is new in it. A broken order gives -inf.
    """
    sums[:] = 0.0
    for r in range(len(tau)):
        s = rows.sequence[r]
        if s >= 0 and rows.after[r] >= 0:
            x = new_pace(rows, tau, r)
            if not x > 0.0:
                sums[s, 0] = -math.inf
            elif rows.regular[r]:
                sums[s, 0] += math.log(x)
                sums[s, 1] += x
    for s in range(len(rows.gaps)):
        sums[s, 1] = math.log(sums[s, 1] + floor)


@njit(**FAST)
def log_spacing(rows, u, sums):
    """log p(gaps | alpha) of the gamma prior over all sequences at u = log(alpha - 1), from what ``sum_gaps`` wrote.

    With memory, the density of what is new in the gaps: ``log_share`` makes it that of the gaps.
    """
    alpha, value = 1.0 + math.exp(u), 0.0
    for s in range(len(rows.gaps)):
        n = rows.gaps[s]
        if sums[s, 0] == -math.inf:
            return -math.inf
        if n > 0:
            value += math.lgamma(alpha * n) - n * math.lgamma(alpha)
            value += (alpha - 1.0) * sums[s, 0] - alpha * n * sums[s, 1]
    return value


@njit(**FAST)
def log_share(rows):
    """sum log(1 - carry): what is new in a gap is that share of it."""
    value = 0.0
    for r in range(len(rows.carry)):
        if rows.carry[r] > 0.0:
            value += math.log(1.0 - rows.carry[r])
    return value


@njit(**FAST)
def spread(rows, tau, power, old_carry, run, skip, trial):
    """Raise what is new in each gap to a power, with the carry that the rows have now and had before (N,).

    Exact rows stay, and so do gaps of their own kind, the ends of sequences and every ``run``-th row from ``skip`` on;
    between those, new gaps are scaled to the room there is. Writes the new inputs into trial (N,) and returns the
    log-Jacobian, or -inf where that is beyond the range of numbers.
    """
    trial[:] = tau
    log_jacobian = 0.0
    for first in range(len(tau)):
        if rows.sequence[first] < 0 or rows.before[first] >= 0:
            continue
        start, count = first, skip
        while rows.after[start] >= 0:
            if not rows.regular[start]:
                start = rows.after[start]
                continue
            # From start to stop all gaps move. Nothing is carried into the first of them.
            stop, n, room, taken, x, y = start, 0, 0.0, 0.0, 0.0, 0.0
            while True:
                now = pace(rows, tau, stop)
                was, will = (old_carry[stop], rows.carry[stop]) if n > 0 else (0.0, 0.0)
                new = new_in(now, x, was)
                if not new > 0.0:
                    return -math.inf
                log_new = math.log(new)
                x, y = now, will * y + (1.0 - will) * math.exp(power * log_new)
                log_jacobian += (power - 1.0) * log_new
                if will + was > 0.0:
                    log_jacobian += math.log((1.0 - will) / (1.0 - was))
                room += rows.unit[stop] * x
                taken += rows.unit[stop] * y
                n += 1
                count += 1
                stop = rows.after[stop]
                trial[stop] = y  # until it is known by how much to scale it
                if rows.after[stop] < 0 or not rows.regular[stop] or rows.t_var[stop] == 0.0 or count % run == 0:
                    break
            if not 0.0 < taken < math.inf:
                return -math.inf
            log_jacobian += (n - 1) * math.log(power) - n * math.log(taken / room)
            place, r = tau[start], start
            for _ in range(n - 1):
                right = rows.after[r]
                place += rows.least[r] + rows.unit[r] * trial[right] * room / taken
                trial[right] = place
                r = right
            trial[stop] = tau[stop]
            start = stop
    return log_jacobian


@njit(**FAST)
def sort_again(order, time):
    """Put rows (N,), nearly in the order of their times (N,), in order: each moves back past those that are later."""
    for p in range(1, len(order)):
        r, q = order[p], p
        while q > 0 and time[order[q - 1]] > time[r]:
            order[q] = order[q - 1]
            q -= 1
        order[q] = r
