"""Moves of the inputs of all cores given a path of the field: single rows, tents, ramps and shifts.

Each move leaves the approximate density invariant and is reversible. They are made in one order or in the opposite one,
each half of the time, so that a whole pass is reversible too: it is then a proposal for the exact density, Eq. (79).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ....engine.noise import standard_normal, uniform
from ....engine.stack import FAST, INLINE, LEAN
from ....gaps.moves import move_ratio, sum_innovations
from ....gaps.prior import Exponents
from ....gaps.scaling import add_gap, can_scale, elastic, log_jacobian, no_gaps, scaling_ratio
from ....model.rows import Rows, log_date
from ..metropolis import TARGET, accept, adapt
from .approximate import Measured, Path, log_row


class Pass(NamedTuple):
    """Where the inputs are, and what they are judged on."""

    rows: Rows
    prior: Exponents
    path: Path
    data: Measured
    tau: np.ndarray  #: (N,)
    total: np.ndarray  #: (sequences,) sums of f, see ``gaps.moves``
    trial: np.ndarray  #: (N,) scratch
    members: np.ndarray  #: rows of all cores, one after the other
    first: np.ndarray  #: (cores + 1,) where each begins
    loose: np.ndarray  #: uncertain rows without order
    steps: np.ndarray  #: (levels + 2, N) of single rows, of shifts, and of each level
    way: int = 1  #: the direction of a sweep, for ``gaps.moves``


@njit(**INLINE)
def _change(now, r, time):
    """log-ratio of measurement and date as row r moves to ``time``."""
    here = now.tau[r]
    found = log_row(now.path, now.data, r, time) - log_row(now.path, now.data, r, here)
    if 0.0 < now.rows.t_var[r] < math.inf:
        found += log_date(now.rows, r, time, 1.0)[0] - log_date(now.rows, r, here, 1.0)[0]
    return found


@njit(**LEAN)
def _move_single(now, r, rate, rng):
    if now.rows.t_var[r] == 0.0:
        return
    new = now.tau[r] + now.steps[0, r] * standard_normal(rng)
    ratio, change = move_ratio(now, r, now.tau[r], new, 0.0)
    accepted = 0.0
    if ratio > -math.inf and accept(rng, ratio + _change(now, r, new)):
        accepted = 1.0
        now.tau[r] = new
        if now.rows.sequence[r] >= 0:
            now.total[now.rows.sequence[r]] += change
    adapt(now.steps[0], r, rate, accepted, TARGET)


@njit(**LEAN)
def _run(now, a, b):
    """The gaps between members a and b."""
    run = no_gaps()
    for p in range(a, b):
        r = now.members[p]
        run = add_gap(now.rows, now.prior, r, now.tau[now.members[p + 1]] - now.tau[r], run)
    return run


@njit(**LEAN)
def _are_free(now, a, b):
    """Whether none of the members a ... b - 1 is exact."""
    free = True
    for p in range(a, b):
        free &= now.rows.t_var[now.members[p]] != 0.0
    return free


@njit(**LEAN)
def _scale(now, a, b, place, factor):
    """Propose times of members a + 1 ... b, a standing at ``place``, gaps scaled; returns the log-ratio and the end."""
    ratio = 0.0
    for p in range(a, b):
        r, after = now.members[p], now.members[p + 1]
        gap = now.tau[after] - now.tau[r]
        place += gap + (factor - 1.0) * elastic(now.rows, now.prior, r, gap)
        now.trial[after] = place
        ratio += _change(now, after, place) if now.rows.t_var[after] > 0.0 else 0.0
    return ratio, place


@njit(**LEAN)
def _keep(now, a, b):
    for p in range(a, b):
        now.tau[now.members[p]] = now.trial[now.members[p]]


@njit(**LEAN)
def _move_tent(now, ends, level, rate, rng):
    """Members a and b stay, c between them moves, and those between follow."""
    a, c, b = ends
    if not _are_free(now, a + 1, b):
        return
    runs = (_run(now, a, c), _run(now, c, b))
    if runs[0].gaps == 0 or runs[1].gaps == 0:
        return
    r = now.members[c]
    delta = now.steps[level, r] * standard_normal(rng)
    factors = (1.0 + delta / runs[0].spare, 1.0 - delta / runs[1].spare)
    accepted = 0.0
    if can_scale(now.prior, runs[0], factors[0]) and can_scale(now.prior, runs[1], factors[1]):
        logs, s = (math.log(factors[0]), math.log(factors[1])), now.rows.sequence[r]
        ratio = log_jacobian(runs[0], logs[0]) + log_jacobian(runs[1], logs[1])
        own, change = scaling_ratio(now.prior, now.rows.gaps[s], now.total[s], runs, factors, logs)
        part, place = _scale(now, a, c, now.tau[now.members[a]], factors[0])
        rest, _ = _scale(now, c, b - 1, place, factors[1])
        if accept(rng, ratio + own + part + rest):
            accepted = 1.0
            _keep(now, a + 1, b)
            now.total[s] += change
    adapt(now.steps[level], r, rate, accepted, TARGET)


@njit(**LEAN)
def _move_ramp(now, ends, from_start, level, rate, rng):
    """The gaps between members a and b are scaled; b stays, or a unless ``from_start``."""
    a, b = ends
    moved = now.members[a if from_start else b]
    if not (_are_free(now, a, b) if from_start else _are_free(now, a + 1, b + 1)):
        return
    run = _run(now, a, b)
    if run.gaps == 0:
        return
    delta = now.steps[level, moved] * standard_normal(rng)
    factor, accepted = 1.0 + delta / run.spare, 0.0
    if can_scale(now.prior, run, factor):
        s, log_factor = now.rows.sequence[moved], math.log(factor)
        none = no_gaps()
        own, change = scaling_ratio(
            now.prior, now.rows.gaps[s], now.total[s], (run, none), (factor, 1.0), (log_factor, 0.0)
        )
        ratio = own + log_jacobian(run, log_factor)
        place = now.tau[now.members[a]]
        if from_start:
            place -= delta
            now.trial[moved] = place
            ratio += _change(now, moved, place)
            part, _ = _scale(now, a, b - 1, place, factor)
        else:
            part, _ = _scale(now, a, b, place, factor)
        if accept(rng, ratio + part):
            accepted = 1.0
            _keep(now, a if from_start else a + 1, b if from_start else b + 1)
            now.total[s] += change
    adapt(now.steps[level], moved, rate, accepted, TARGET)


@njit(**LEAN)
def _move_shift(now, a, b, rate, rng):
    """Members a ... b - 1, which no regular gap joins to others, move together."""
    if not _are_free(now, a, b):
        return
    head = now.members[a]
    delta, ratio, accepted = now.steps[1, head] * standard_normal(rng), 0.0, 0.0
    before, after = now.rows.before[head], now.rows.after[now.members[b - 1]]
    if before >= 0 and not now.tau[head] + delta - now.tau[before] - now.rows.least[before] > 0.0:
        ratio = -math.inf
    last = now.members[b - 1]
    if after >= 0 and not now.tau[after] - now.tau[last] - delta - now.rows.least[last] > 0.0:
        ratio = -math.inf
    if ratio > -math.inf:
        for p in range(a, b):
            r = now.members[p]
            ratio += _change(now, r, now.tau[r] + delta)
        if accept(rng, ratio):
            accepted = 1.0
            for p in range(a, b):
                now.tau[now.members[p]] += delta
    adapt(now.steps[1], head, rate, accepted, TARGET)


@njit(**LEAN)
def _move_level(now, core, level, forward, rate, rng):
    """Tents over windows of 2^level gaps of one core, from a random offset, and ramps at both ends."""
    low, high, width = now.first[core], now.first[core + 1] - 1, 1 << level
    for k in range(2):
        if (k == 0) == forward:
            offset = low + int(uniform(rng) * width)
            count = max((high - offset) // width, 0)
            for n in range(count):
                a = offset + width * (n if forward else count - 1 - n)
                _move_tent(now, (a, a + width // 2, a + width), level + 1, rate, rng)
        else:
            for end in range(2):
                if (end == 0) == forward:
                    _move_ramp(now, (low, min(low + width, high)), True, level + 1, rate, rng)
                else:
                    _move_ramp(now, (max(high - width, low), high), False, level + 1, rate, rng)


@njit(**LEAN)
def _move_core(now, core, forward, rate, rng):
    low, high = now.first[core], now.first[core + 1]
    levels = 1
    while (1 << levels) < high - low - 1:
        levels += 1
    for k in range(levels + 2):
        stage = k if forward else levels + 1 - k
        if stage == 0:
            for n in range(high - low):
                _move_single(now, now.members[low + n if forward else high - 1 - n], rate, rng)
        elif stage == 1:
            _move_shifts(now, low, high, forward, rate, rng)
        elif high - low > 2:
            _move_level(now, core, stage - 1, forward, rate, rng)


@njit(**LEAN)
def _move_shifts(now, low, high, forward, rate, rng):
    """Shift each part of a core that no regular gap joins to the others."""
    p = low if forward else high
    while (p < high) if forward else (p > low):
        q = p
        if forward:
            q += 1
            while q < high and now.rows.regular[now.members[q - 1]]:
                q += 1
            _move_shift(now, p, q, rate, rng)
        else:
            q -= 1
            while q > low and now.rows.regular[now.members[q - 1]]:
                q -= 1
            _move_shift(now, q, p, rate, rng)
        p = q


@njit(nogil=True, cache=True, **FAST)
def move_inputs(now, rate, rng):
    """One pass over all cores and loose rows; ``rate`` > 0 adapts the steps."""
    sum_innovations(now.rows, now.tau, now.total)
    forward = uniform(rng) < 0.5
    cores = len(now.first) - 1
    for k in range(cores + 1):
        core = k if forward else cores - k
        if core < cores:
            _move_core(now, core, forward, rate, rng)
        else:
            for n in range(len(now.loose)):
                _move_single(now, now.loose[n if forward else len(now.loose) - 1 - n], rate, rng)
