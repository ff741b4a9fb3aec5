"""Transitions of whitened Matérn states, and how the states of a field move from time to time.

For a Matérn kernel of half-integer order with x = rate times lag, F = N - I has a nilpotent N, so that the transition
exp(F x) = e^-x (I + N x + N² x² / 2) is exact, Eq. (73). In whitened states the stationary covariance is the identity,
and the first component is the level.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ..engine.stack import LEAN_CALLED


def _nilpotents() -> tuple[np.ndarray, np.ndarray]:
    """N (4, 3, 3) by dimension, whitened, and the weight of the second component in the derivative over the rate."""
    found, slope = np.zeros((4, 3, 3)), np.zeros(4)
    found[2, :2, :2] = [[1.0, 1.0], [-1.0, -1.0]]
    slope[2] = 1.0
    stationary = np.array([[1.0, 0.0, -1.0 / 3.0], [0.0, 1.0 / 3.0, 0.0], [-1.0 / 3.0, 0.0, 1.0]])
    root = np.linalg.cholesky(stationary)
    plain = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [-1.0, -3.0, -2.0]])
    found[3] = np.linalg.solve(root, plain @ root)
    slope[3] = root[1, 1]
    return found, slope


NILPOTENT, SLOPE = _nilpotents()
SQUARED = np.array([one @ one for one in NILPOTENT])


@njit(cache=True, **LEAN_CALLED)
def fill_transition(layout, rate, gap, A):
    """Write exp(F rate gap) of each term into A (K, 3, 3)."""
    for k in range(len(rate)):
        d, x = layout.dim[k], rate[k] * gap
        decay = math.exp(-x)
        if d == 1:
            A[k, 0, 0] = decay
        elif d == 2:
            A[k, 0, 0], A[k, 0, 1] = decay + decay * x, decay * x
            A[k, 1, 0], A[k, 1, 1] = -decay * x, decay - decay * x
        else:
            for i in range(d):
                for j in range(d):
                    own = NILPOTENT[d, i, j] * x + 0.5 * SQUARED[d, i, j] * x * x
                    A[k, i, j] = decay * (own + (1.0 if i == j else 0.0))


@njit(cache=True, **LEAN_CALLED)
def move_rows(layout, rate, A, U, columns, transposed):
    """U <- A U on the first ``columns`` columns of U (D, >= columns), or A' U."""
    for k in range(len(rate)):
        if rate[k] == 0.0:
            continue
        d, r, start, T = layout.dim[k], layout.size[k], layout.start[k], A[k]
        for p in range(start, start + r):
            first, second, third = U[p], U[p + r if d > 1 else p], U[p + 2 * r if d > 2 else p]
            if d == 1:
                for c in range(columns):
                    first[c] *= T[0, 0]
            elif d == 2:
                a, b, f, g = T[0, 0], T[0, 1], T[1, 0], T[1, 1]
                if transposed:
                    b, f = f, b
                for c in range(columns):
                    x, y = first[c], second[c]
                    first[c] = a * x + b * y
                    second[c] = f * x + g * y
            else:
                for c in range(columns):
                    x, y, z = first[c], second[c], third[c]
                    if transposed:
                        first[c] = T[0, 0] * x + T[1, 0] * y + T[2, 0] * z
                        second[c] = T[0, 1] * x + T[1, 1] * y + T[2, 1] * z
                        third[c] = T[0, 2] * x + T[1, 2] * y + T[2, 2] * z
                    else:
                        first[c] = T[0, 0] * x + T[0, 1] * y + T[0, 2] * z
                        second[c] = T[1, 0] * x + T[1, 1] * y + T[1, 2] * z
                        third[c] = T[2, 0] * x + T[2, 1] * y + T[2, 2] * z


@njit(cache=True, **LEAN_CALLED)
def move_columns(layout, rate, A, U, transposed):
    """U <- U A' on all rows of U (M, >= D), or U A."""
    for m in range(len(U)):
        row = U[m]
        for k in range(len(rate)):
            if rate[k] == 0.0:
                continue
            d, r, start = layout.dim[k], layout.size[k], layout.start[k]
            if d == 1:
                for p in range(start, start + r):
                    row[p] *= A[k, 0, 0]
            elif d == 2:
                a, b = A[k, 0, 0], A[k, 0, 1]
                c, e = A[k, 1, 0], A[k, 1, 1]
                if transposed:
                    b, c = c, b
                for p in range(start, start + r):
                    x, y = row[p], row[p + r]
                    row[p] = a * x + b * y
                    row[p + r] = c * x + e * y
            else:
                for p in range(start, start + r):
                    x, y, z = row[p], row[p + r], row[p + 2 * r]
                    for i in range(3):
                        if transposed:
                            row[p + i * r] = A[k, 0, i] * x + A[k, 1, i] * y + A[k, 2, i] * z
                        else:
                            row[p + i * r] = A[k, i, 0] * x + A[k, i, 1] * y + A[k, i, 2] * z


@njit(cache=True, **LEAN_CALLED)
def fill_observation(layout, mix, s, time, h):
    """Write what a row at site s observes into h (D,)."""
    for i in range(len(h)):
        h[i] = 0.0
    for k in range(len(layout.dim)):
        weight = time - layout.origin[k] if layout.linear[k] else 1.0
        for j in range(layout.low[k, s], layout.high[k, s]):
            h[layout.start[k] + j] = weight * mix[s, layout.first[k] + j]
