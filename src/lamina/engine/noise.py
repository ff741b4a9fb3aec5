"""Random numbers in compiled code: one function each, so that Numba compiles its generators once and not per caller."""

from __future__ import annotations

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
