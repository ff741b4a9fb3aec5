"""Where a path is: its coordinates, and the log-posterior with its gradient, O(N).

The innovations of a sequence are shares of their sum T. Given T, they are Dirichlet, so with a further variable
G ~ Gamma(alpha U) the F_j = G f_j / T are independent Gamma(alpha u_j), whatever T is. The coordinates are

    the score of each F_j       ``gaps.scores``, in the column of the row before the gap
    the first input             of each sequence, in the column of its last row
    log T                       of each sequence, in column N + s
    memory                      y with memory = D softplus(y/2)², where D is the median of its prior, in column N + S
    log(alpha - least)          in column N + S + 1

of row ``PLACE`` of the array ``paths`` (ROWS, N + S + 2), of which the other rows are scratch. Gaps that are not
regular keep their size; their columns mean nothing.
"""

from __future__ import annotations

import math

from numba import njit

from ....engine.noise import log_gamma_variate
from ....engine.stack import INLINE, LEAN, copy_array
from ....gaps.pace import innovation_after, set_carry
from ....gaps.prior import digamma
from ....gaps.scores import score_at, score_of, softplus
from ....model.parameters import ALPHA, MEMORY, T_SCALE
from ....model.rows import log_date
from ...target import alpha_at

#: Rows of ``State.paths``: the coordinates, their momenta, velocities and gradient; what ``metric`` computes once;
PLACE, MOMENTUM, VELOCITY, GRADIENT, REACH, ROOT, PRECISION, PIVOT, FACTOR = range(9)
#: of each gap: log F, then its share of T; d log F by score and by shape; its pace and innovation; and the slope of the
#: dates in log f, and of the date of each row.
SHARE, SLOPE, BY_SHAPE, PACE, INNOVATION, PULL, DATE = range(9, 16)
ROWS = 16


@njit(**INLINE)
def last_row(rows, r):
    """The last row of the sequence of row r."""
    while rows.after[r] >= 0:
        r = rows.after[r]
    return r


@njit(**INLINE)
def is_first(rows, r):
    """Whether row r is the first of a sequence."""
    return rows.sequence[r] >= 0 and rows.before[r] < 0


@njit(**INLINE)
def is_scored(rows, r):
    """Whether the gap after row r has a score."""
    return rows.sequence[r] >= 0 and rows.after[r] >= 0 and rows.regular[r]


@njit(**INLINE)
def memory_at(y, median):
    """log memory at its coordinate, its derivative, and the logarithm of that with its own derivative.

    Above the median of its prior, a step in y is one in the root of the memory, on which times depend more evenly.
    """
    _, above, logistic, slope = softplus(0.5 * y)
    log_above = math.log(above) if slope < 1.0 else 0.5 * y
    return median + 2.0 * log_above, slope, math.log(slope), 0.5 * (1.0 - logistic - slope)


@njit(**INLINE)
def place_of_memory(log_memory, median):
    """The inverse of ``memory_at``."""
    root = math.exp(0.5 * (log_memory - median))
    return 2.0 * (root + math.log(-math.expm1(-root)))


@njit(**LEAN)
def begin(target, tau, phi, paths, rng):
    """Write the coordinates of a state, with G drawn from its prior. Returns False if an innovation is not positive."""
    rows, N, S = target.rows, len(tau), len(target.rows.gaps)
    alpha, tiny = alpha_at(target, phi), target.gap_prior.tiny
    for s in range(S):
        paths[PULL, N + s] = 0.0
    for r in range(N):
        if is_scored(rows, r):
            f = rows.unit[r] * innovation_after(rows, tau, r)
            if not f > 0.0:
                return False
            log_f = math.log(f)
            if f < tiny:  # Eq. (7): what a gamma variable would be
                log_f = math.log(tiny) + (log_f - math.log(tiny)) / (alpha * rows.unit[r])
            paths[SHARE, r] = log_f
            paths[PULL, N + rows.sequence[r]] += math.exp(log_f)
    for s in range(S):
        if rows.gaps[s] > 0.0:
            paths[PLACE, N + s] = math.log(paths[PULL, N + s])
            paths[PULL, N + s] = log_gamma_variate(rng, alpha * rows.gaps[s]) - paths[PLACE, N + s]
    for r in range(N):
        if is_first(rows, r):
            paths[PLACE, last_row(rows, r)] = tau[r]
        if is_scored(rows, r):
            log_f = paths[SHARE, r] + paths[PULL, N + rows.sequence[r]]
            paths[PLACE, r] = score_of(log_f, alpha * rows.unit[r])
    paths[PLACE, N + S] = place_of_memory(phi[MEMORY], target.prior_mean[MEMORY])
    paths[PLACE, N + S + 1] = phi[ALPHA]
    return True


@njit(**LEAN)
def _score_gaps(rows, alpha, first, paths):
    """Of one sequence: log-density of its scores, the sum of F, and the derivative of the first in alpha."""
    value, total, d_alpha, k = 0.0, 0.0, 0.0, first
    while rows.after[k] >= 0:
        paths[GRADIENT, k] = 0.0
        if rows.regular[k]:
            a = alpha * rows.unit[k]
            score = score_at(paths[PLACE, k], a)
            size = math.exp(score.log_f)
            value += a * score.log_f - size - math.lgamma(a) + math.log(score.slope)
            total += size
            paths[GRADIENT, k] = (a - size) * score.slope + score.curve / score.slope
            d_alpha += rows.unit[k] * (
                score.log_f + (a - size) * score.by_shape - digamma(a) + score.slope_by_shape / score.slope
            )
            paths[SHARE, k], paths[SLOPE, k], paths[BY_SHAPE, k] = score.log_f, score.slope, score.by_shape
        k = rows.after[k]
    return value, total, d_alpha


@njit(**LEAN)
def _log_time(prior, alpha, units, log_time):
    """log-density of log T, Eq. (86), and its derivatives in log T and alpha."""
    time, whole = math.exp(log_time), alpha * units
    floor = prior.floor / alpha if prior.weight > 0.0 else prior.floor
    power, log_all, share = whole + prior.weight, math.log(time + floor), time / (time + floor)
    value = math.lgamma(power) - math.lgamma(whole) + whole * log_time - power * log_all
    d_alpha = units * (digamma(power) - digamma(whole) + log_time - log_all)
    if prior.weight > 0.0:
        value += prior.weight * math.log(floor)
        d_alpha += (power * (1.0 - share) - prior.weight) / alpha
    return value, whole - power * share, d_alpha


@njit(**LEAN)
def _place_rows(rows, prior, alpha, sequence, tau, t_scale, paths, trial):
    """Write the inputs of one sequence (its first row, log T, log sum F), and return the log-density of its dates."""
    first, log_time, log_total = sequence
    time = paths[PLACE, last_row(rows, first)]
    value, paths[DATE, first] = log_date(rows, first, time, t_scale)
    trial[first], k, pace = time, first, 0.0
    while rows.after[k] >= 0:
        right = rows.after[k]
        if rows.regular[k]:
            log_f, power = paths[SHARE, k] + log_time - log_total, 1.0
            f = math.exp(log_f)
            paths[SHARE, k] = f * math.exp(-log_time)
            if f < prior.tiny:  # Eq. (7)
                power = alpha * rows.unit[k]
                f = math.exp(math.log(prior.tiny) + power * (log_f - math.log(prior.tiny)))
            e = f / rows.unit[k]
            pace = rows.carry[k] * pace + (1.0 - rows.carry[k]) * e
            time += rows.least[k] + rows.unit[k] * pace
            paths[PACE, k], paths[INNOVATION, k], paths[PULL, k] = pace, e, f * power
        else:
            time += tau[right] - tau[k]
        trial[right] = time
        part, paths[DATE, right] = log_date(rows, right, time, t_scale)
        value += part
        k = right
    return value


@njit(**LEAN)
def _pull_back(rows, first, memory, paths):
    """Add the gradient of the dates of one sequence to that of its coordinates; returns those in alpha and log memory.

    The slope of everything later goes from row to row, and that in a pace to the pace before it.
    """
    last = last_row(rows, first)
    k, later, d_pace, d_time, d_memory, d_alpha = last, 0.0, 0.0, 0.0, 0.0, 0.0
    while rows.before[k] >= 0:
        later += paths[DATE, k]
        left = rows.before[k]
        d_pace = rows.unit[left] * later + (rows.carry[k] * d_pace if rows.after[k] >= 0 else 0.0)
        if rows.regular[left]:
            carry = rows.carry[left]
            paths[PULL, left] *= d_pace * (1.0 - carry) / rows.unit[left]
            d_time += paths[PULL, left]
            if carry > 0.0:
                change = paths[PACE, rows.before[left]] - paths[INNOVATION, left]
                d_memory += d_pace * change * carry * rows.lag[left] / memory
        else:
            d_pace = 0.0
        k = left
    paths[GRADIENT, last] = later + paths[DATE, first]
    while rows.after[k] >= 0:
        if rows.regular[k]:
            pull = paths[PULL, k] - paths[SHARE, k] * d_time
            paths[GRADIENT, k] += pull * paths[SLOPE, k]
            d_alpha += rows.unit[k] * pull * paths[BY_SHAPE, k]
        k = rows.after[k]
    return d_time, d_alpha, d_memory


@njit(**LEAN)
def log_density_at(target, tau, phi, paths, trial):
    """log-posterior at the coordinates; writes its gradient, the inputs into trial (N,), and ``rows.carry``.

    tau (N,) has the gaps that are not regular, phi the parameters that do not move.
    """
    rows, N, S = target.rows, len(tau), len(target.rows.gaps)
    log_memory, turn, value, d_memory = memory_at(paths[PLACE, N + S], target.prior_mean[MEMORY])
    memory, alpha = math.exp(log_memory), target.least_alpha + math.exp(paths[PLACE, N + S + 1])
    t_scale, d_alpha, d_log_memory = math.exp(phi[T_SCALE]), 0.0, 0.0
    set_carry(rows, memory)
    copy_array(tau, trial)
    for first in range(N):
        if not is_first(rows, first):
            continue
        s = rows.sequence[first]
        part, total, by_alpha = _score_gaps(rows, alpha, first, paths)
        paths[GRADIENT, N + s], log_time = 0.0, paths[PLACE, N + s]
        value += part
        d_alpha += by_alpha
        if rows.gaps[s] > 0.0:
            part, paths[GRADIENT, N + s], by_alpha = _log_time(target.gap_prior, alpha, rows.gaps[s], log_time)
            value += part
            d_alpha += by_alpha
        sequence = first, log_time, math.log(total) if total > 0.0 else 0.0
        value += _place_rows(rows, target.gap_prior, alpha, sequence, tau, t_scale, paths, trial)
        d_time, by_alpha, by_memory = _pull_back(rows, first, memory, paths)
        paths[GRADIENT, N + s] += d_time
        d_alpha += by_alpha
        d_log_memory += by_memory
    paths[GRADIENT, N + S] = paths[GRADIENT, N + S + 1] = 0.0
    if target.free[MEMORY]:
        u = (log_memory - target.prior_mean[MEMORY]) / target.prior_sd[MEMORY]
        value -= 0.5 * u * u
        paths[GRADIENT, N + S] = (d_log_memory - u / target.prior_sd[MEMORY]) * turn + d_memory
    if target.free[ALPHA]:
        u = (paths[PLACE, N + S + 1] - target.prior_mean[ALPHA]) / target.prior_sd[ALPHA]
        value -= 0.5 * u * u
        paths[GRADIENT, N + S + 1] = d_alpha * (alpha - target.least_alpha) - u / target.prior_sd[ALPHA]
    return value
