"""White noise: what single rows have beyond their reported errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from ..errors import KernelError
from .base import Array, Kernel, as_number, checked_theta


@dataclass(frozen=True)
class WhiteNoise(Kernel):
    """Independent scatter of every row of a field, beside its reported error: sd² is added to each variance of y.

    It is no part of the curves. Without it, what rows of one year have beyond their errors, such as the weather in a
    tide gauge, would have to be a curve.
    """

    sd: float = 1.0
    has_state_space: ClassVar[bool] = True

    def __post_init__(self) -> None:
        sd = as_number(self.sd)
        if not (np.isfinite(sd) and sd > 0.0):
            raise KernelError(f"WhiteNoise: sd must be a positive finite number, got {self.sd!r}.")
        object.__setattr__(self, "sd", sd)

    @property
    def names(self) -> tuple[str, ...]:
        return ("sd",)

    @property
    def theta(self) -> Array:
        return np.log([self.sd])

    def with_theta(self, theta: Array) -> Self:
        return type(self)(float(np.exp(checked_theta(self, theta)[0])))
