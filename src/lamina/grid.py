"""The times at which a curve is drawn and tabled when nobody says which."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .errors import MethodError

if TYPE_CHECKING:
    from .posterior import Posterior

Array = np.ndarray

#: The grid goes this part of the span beyond the first and the last input.
MARGIN = 0.01
#: Fewer times cannot show a curve.
FEWEST = 10


def default_times(posterior: Posterior, n: int = 400) -> Array:
    """Evenly spaced round times, increasing, over the posterior inputs and a little beyond; at most n of them.

    The step is 1, 2 or 5 times a power of ten, so there are between about a third of n and n times.
    """
    if not (isinstance(n, int | np.integer) and n >= FEWEST):
        raise MethodError(f"n must be a whole number of at least {FEWEST}, got {n!r}.")
    centre = posterior.input_means
    low, high = float(centre.min()), float(centre.max())
    margin = MARGIN * (high - low) or 2.0 * float(posterior.problem.scale.max()) or 1.0
    low, high = low - margin, high + margin
    # Two steps fewer than there is room for, because both ends are rounded outwards.
    step, decimals = _round_step((high - low) / (n - 2))
    first, last = math.floor(low / step), math.ceil(high / step)
    return np.round(step * np.arange(first, last + 1), decimals)


def _round_step(least: float) -> tuple[float, int]:
    """The smallest of 1, 2 and 5 times a power of ten that is no less, and the decimals it is written with."""
    power = math.floor(math.log10(least))
    for factor in (1.0, 2.0, 5.0):
        if factor * 10.0**power >= least:
            return factor * 10.0**power, max(-power, 0)
    return 10.0 ** (power + 1), max(-power - 1, 0)
