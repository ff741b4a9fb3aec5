"""alpha, how regular the gaps are: its moves given the gaps, and together with them.

Given the gaps, the gamma prior needs only their number, their sum and the sum of their logarithms in each sequence, so
that a move of alpha costs O(1). But the gaps of one draw leave alpha little room. ``spread`` moves both: alpha takes a
step, and all log-gaps move towards or away from their mean as the new alpha says they should.
"""

from __future__ import annotations

import math

from numba import njit

from ..stack import FAST


@njit(**FAST)
def sum_gaps(rows, floor, tau, sums):
    """Sum of log x, and log(sum x + floor), over the regular gaps of each sequence, into sums (S, 2).

    x is a gap less its least, in its unit. A broken order gives -inf.
    """
    sums[:] = 0.0
    for r in range(len(tau)):
        s, right = rows.sequence[r], rows.after[r]
        if s >= 0 and right >= 0:
            x = (tau[right] - tau[r] - rows.least[r]) / rows.unit[r]
            if not x > 0.0:
                sums[s, 0] = -math.inf
            elif rows.regular[r]:
                sums[s, 0] += math.log(x)
                sums[s, 1] += x
    for s in range(len(rows.gaps)):
        sums[s, 1] = math.log(sums[s, 1] + floor)


@njit(**FAST)
def log_spacing(rows, u, sums):
    """log p(gaps | alpha) of the gamma prior over all sequences at u = log(alpha - 1), from what ``sum_gaps`` wrote."""
    alpha, value = 1.0 + math.exp(u), 0.0
    for s in range(len(rows.gaps)):
        n = rows.gaps[s]
        if n > 0:
            value += math.lgamma(alpha * n) - n * math.lgamma(alpha)
            value += (alpha - 1.0) * sums[s, 0] - alpha * n * sums[s, 1]
    return value


@njit(**FAST)
def spread(rows, tau, u, new_u, trial):
    """Raise the gaps, in their units, to the power sqrt(alpha / new alpha), the ends of sequences staying.

    Writes the new inputs into trial (N,) and returns the log-Jacobian. All gaps must be regular, without a least.
    """
    power = math.sqrt((1.0 + math.exp(u)) / (1.0 + math.exp(new_u)))
    trial[:] = tau
    log_jacobian = 0.0
    for first in range(len(tau)):
        if rows.sequence[first] < 0 or rows.before[first] >= 0 or rows.after[first] < 0:
            continue
        total, span, n = 0.0, 0.0, 0
        left = first
        while rows.after[left] >= 0:
            gap = tau[rows.after[left]] - tau[left]
            span += gap
            total += rows.unit[left] * (gap / rows.unit[left]) ** power
            n += 1
            left = rows.after[left]
        left, place = first, tau[first]
        log_jacobian += (n - 1) * math.log(power)
        while rows.after[left] >= 0:
            right = rows.after[left]
            gap = tau[right] - tau[left]
            new = span * rows.unit[left] * (gap / rows.unit[left]) ** power / total
            log_jacobian += math.log(new / gap)
            place += new
            if rows.after[right] >= 0:
                trial[right] = place
            left = right
    return log_jacobian
