"""Random numbers in compiled code: one function each, so that Numba compiles its generators once and not per caller."""

from __future__ import annotations

import math

from numba import njit

from .stack import INLINE


@njit(**INLINE)
def standard_normal(rng):
    """A draw of N(0, 1)."""
    return rng.standard_normal()


@njit(**INLINE)
def uniform(rng):
    """A draw between 0 and 1."""
    return rng.random()


@njit(**INLINE)
def log_gamma_variate(rng, shape):
    """The logarithm of a draw of Gamma(shape, 1), for any shape > 0 (Marsaglia & Tsang 2000).

    In logarithms, because with a small shape most draws are too small for double precision.
    """
    boost = math.log(1.0 - uniform(rng)) / shape if shape < 1.0 else 0.0  # of shape + 1, times U^(1 / shape)
    d = (shape if shape >= 1.0 else shape + 1.0) - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = standard_normal(rng)
        v = 1.0 + c * x
        if v > 0.0:
            v = v * v * v
            if math.log(1.0 - uniform(rng)) < 0.5 * x * x + d - d * v + d * math.log(v):
                return math.log(d * v) + boost
