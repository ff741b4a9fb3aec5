"""The default times of figures and tables of the curve."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..support.checks import check_whole

if TYPE_CHECKING:
    from .posterior import Posterior

Array = np.ndarray

#: The grid extends beyond the first and the last input by this part of the span, but by no more than this part of a
#: length: further out there is only the prior.
MARGIN, OF_A_LENGTH = 0.01, 0.25
#: Fewer times cannot show a curve.
FEWEST = 10
#: The usual number of times, the number per length of the kernel (rounding the step may leave four of ten), and the
#: largest number.
USUAL, PER_LENGTH, MOST = 400, 10, 4000


def default_times(posterior: Posterior, n: int | None = None) -> Array:
    """Evenly spaced round times, increasing, over the posterior inputs and a little beyond; at most n of them.

    The step is 1, 2 or 5 times a power of ten, so there are between about a third of n and n times. By default n is
    400, and up to 4,000 for a curve that is long compared with the lengths of its kernel.
    """
    centre = posterior.input_means
    low, high = float(centre.min()), float(centre.max())
    n = enough(posterior, high - low, USUAL) if n is None else n
    check_whole("n", n, FEWEST)
    margin = min(MARGIN * (high - low), OF_A_LENGTH * _shortest_length(posterior))
    margin = margin or 2.0 * float(posterior.problem.scale.max()) or 1.0
    low, high = low - margin, high + margin
    # Two steps fewer than there is room for, because both ends are rounded outwards.
    step, decimals = _round_step((high - low) / (n - 2))
    first, last = math.floor(low / step), math.ceil(high / step)
    return np.round(step * np.arange(first, last + 1), decimals)


def enough(posterior: Posterior, span: float, least: int) -> int:
    """The number of times that show the curve over a span: ``least``, or up to ``MOST`` if it changes fast."""
    return int(min(max(least, PER_LENGTH * span / _shortest_length(posterior)), max(MOST, least)))


def too_coarse(posterior: Posterior, times: Array) -> str:
    """A warning if the curve changes faster than these times can show; empty if it does not."""
    step, length = float(np.diff(times).max(initial=0.0)), _shortest_length(posterior)
    if step <= length:
        return ""
    unit = f" {posterior.record.t_unit}" if posterior.record.t_unit else ""
    return (
        f"the times of the curve and its rate are {step:g}{unit} apart, but they change within {length:.3g}: apparent "
        "cycles may be aliasing. Ask for a part of the record with --at (at=...)."
    )


def _shortest_length(posterior: Posterior) -> float:
    """The shortest length or period of all kernels, averaged over the draws."""
    theta = posterior.theta
    lengths = [posterior.draws.weight @ theta[name] for name in theta if name.startswith(("length", "period"))]
    return float(min(lengths, default=math.inf))


def _round_step(least: float) -> tuple[float, int]:
    """The smallest number of at least ``least`` that is 1, 2 or 5 times a power of ten, and its decimals."""
    power = math.floor(math.log10(least))
    for factor in (1.0, 2.0, 5.0):
        if factor * 10.0**power >= least:
            return factor * 10.0**power, max(-power, 0)
    return 10.0 ** (power + 1), max(-power - 1, 0)
