"""Jump: a date with several modes proposes a time of its own, however far away.

Post-bomb carbon has two times, before and after its peak, with nothing between them: no step from the one reaches the
other. A draw from the date itself does. It is made from the table of the date, each cell with its mass and even within
it, so that the ratio of the proposal is that of two masses.
"""

from __future__ import annotations

import math

from numba import njit

from ...engine.noise import uniform
from ...engine.stack import INLINE

#: The share of the moves of such a row that are jumps.
JUMPS = 0.2


@njit(**INLINE)
def _find_cell(cumulated, begin, n, mass):
    """The cell, of the n - 1 whose cumulated masses begin there, in which this mass is reached."""
    low, high = 0, n - 1
    while high - low > 1:
        middle = (low + high) // 2
        if cumulated[begin + middle] <= mass:
            low = middle
        else:
            high = middle
    return low


@njit(**INLINE)
def draw_from_table(now, r, old, rng):
    """A time of row r drawn from the table of its date, and log q(old) / q(new).

    From outside the table there is no way back, and the ratio is -inf.
    """
    rows = now.rows
    cumulated, begin, n = rows.cumulated, rows.table[r], rows.size[r]
    place = (now.way * old - rows.first[r]) / rows.step[r]
    if not 0.0 <= place < n - 1.0:
        return old, -math.inf
    cell = begin + int(place)
    mass = cumulated[cell + 1] - cumulated[cell]
    k = _find_cell(cumulated, begin, n, uniform(rng) * cumulated[begin + n - 1])
    new_mass = cumulated[begin + k + 1] - cumulated[begin + k]
    if not (mass > 0.0 and new_mass > 0.0):
        return old, -math.inf
    new = rows.first[r] + rows.step[r] * (k + uniform(rng))
    return now.way * new, math.log(mass / new_mass)


@njit(**INLINE)
def draw_date(wanted, now, r, old, rng):
    """``draw_from_table`` now and then, if the date of row r has several modes; NaN twice if the row does not jump."""
    if wanted is None or not now.rows.several[r] or uniform(rng) >= JUMPS:
        return math.nan, math.nan
    return draw_from_table(now, r, old, rng)
