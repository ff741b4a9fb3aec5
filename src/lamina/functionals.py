"""Questions about the whole curve: when it first exceeded a level, its extremes, whether one period rose faster."""

from .posterior.functionals import events, extremes, faster, first_exceeds
from .posterior.intervals import emergence

__all__ = ["emergence", "events", "extremes", "faster", "first_exceeds"]
