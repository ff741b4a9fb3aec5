"""Trend terms: an unknown level and an unknown linear rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import KernelError
from .base import Array, TrendTerm, as_number


@dataclass(frozen=True)
class Constant(TrendTerm):
    """An unknown level, with prior N(mean, sd²); flat by default."""

    sd: float = np.inf
    mean: float = 0.0

    def column(self, t: Array) -> Array:
        return np.ones_like(t)

    def slope(self) -> float:
        return 0.0


@dataclass(frozen=True)
class Linear(TrendTerm):
    """An unknown rate times (t - origin), the rate having prior N(mean, sd²); flat by default."""

    sd: float = np.inf
    mean: float = 0.0
    origin: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not np.isfinite(as_number(self.origin)):
            raise KernelError(f"Linear: origin must be a finite time, got {self.origin!r}.")

    def column(self, t: Array) -> Array:
        return t - self.origin

    def slope(self) -> float:
        return 1.0
