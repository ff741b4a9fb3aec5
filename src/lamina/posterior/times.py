"""The times at which a curve is drawn and tabled when nobody says which."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..errors import MethodError

if TYPE_CHECKING:
    from .posterior import Posterior

Array = np.ndarray

#: The grid goes this part of the span beyond the first and the last input, but no further than this part of a length:
#: there is nothing to be seen there but the prior.
MARGIN, OF_A_LENGTH = 0.01, 0.25
#: Fewer times cannot show a curve.
FEWEST = 10
#: Times of a grid, if the curve does not need more; so many in one length of its kernel (of ten, four may be left when
#: the step is rounded); and never more than the third.
USUAL, IN_ONE_LENGTH, MOST = 400, 10, 4000


def default_times(posterior: Posterior, n: int | None = None) -> Array:
    """Evenly spaced round times, increasing, over the posterior inputs and a little beyond; at most n of them.

    The step is 1, 2 or 5 times a power of ten, so there are between about a third of n and n times. By default n is
    400, and more where the curve is so long that it would not be seen as it is: up to 4,000.
    """
    centre = posterior.input_means
    low, high = float(centre.min()), float(centre.max())
    n = enough(posterior, high - low, USUAL) if n is None else n
    if not (isinstance(n, int | np.integer) and n >= FEWEST):
        raise MethodError(f"n must be a whole number of at least {FEWEST}, got {n!r}.")
    margin = min(MARGIN * (high - low), OF_A_LENGTH * _shortest_length(posterior))
    margin = margin or 2.0 * float(posterior.problem.scale.max()) or 1.0
    low, high = low - margin, high + margin
    # Two steps fewer than there is room for, because both ends are rounded outwards.
    step, decimals = _round_step((high - low) / (n - 2))
    first, last = math.floor(low / step), math.ceil(high / step)
    return np.round(step * np.arange(first, last + 1), decimals)


def enough(posterior: Posterior, span: float, least: int) -> int:
    """How many times show the curve over a span: ``least``, or more if it changes fast, up to ``MOST``."""
    return int(min(max(least, IN_ONE_LENGTH * span / _shortest_length(posterior)), max(MOST, least)))


def too_coarse(posterior: Posterior, times: Array) -> str:
    """A warning if the curve changes faster than these times can show; empty if it does not."""
    step, length = float(np.diff(times).max(initial=0.0)), _shortest_length(posterior)
    if step <= length:
        return ""
    unit = f" {posterior.record.t_unit}" if posterior.record.t_unit else ""
    return (
        f"the curve and its rate are told every {step:g}{unit}, but change within {length:.3g}: cycles that "
        "they show may not be there. Ask for a part of the record with --at (at=...)."
    )


def _shortest_length(posterior: Posterior) -> float:
    """Of all kernels, on average over the draws; a period counts as one."""
    theta = posterior.theta
    lengths = [posterior.draws.weight @ theta[name] for name in theta if name.startswith(("length", "period"))]
    return float(min(lengths, default=math.inf))


def _round_step(least: float) -> tuple[float, int]:
    """The smallest of 1, 2 and 5 times a power of ten that is no less, and the decimals it is written with."""
    power = math.floor(math.log10(least))
    for factor in (1.0, 2.0, 5.0):
        if factor * 10.0**power >= least:
            return factor * 10.0**power, max(-power, 0)
    return 10.0 ** (power + 1), max(-power - 1, 0)
