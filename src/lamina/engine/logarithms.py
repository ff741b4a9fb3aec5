"""A sum of logarithms, with one logarithm for many terms.

A logarithm takes as long as ten multiplications. The sum of log x is kept as (sum, product), which stands for
sum + log product: terms are multiplied, and the logarithm is taken when the product gets large or small.
"""

from __future__ import annotations

import math

from numba import njit

from .stack import INLINE

NOTHING = (0.0, 1.0)


@njit(**INLINE)
def add_log(so_far, x):
    """The sum with log x added, for x between 1e-250 and 1e250."""
    total, product = so_far[0], so_far[1] * x
    if not 1e-50 < product < 1e50:
        return total + math.log(product), 1.0
    return total, product


@njit(**INLINE)
def log_sum(so_far):
    """The sum as a number."""
    return so_far[0] + math.log(so_far[1])
