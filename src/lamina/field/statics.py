"""Constants and rates of the sites as regression coefficients: their precision, Eq. (77), and its Cholesky factor.

Compiled, so that it neither holds Python's lock nor starts threads: samplers call it for every proposal.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ..engine.stack import FAST


@njit(cache=True, **FAST)
def _fill_precision(E, prior, transform, S, H, b):
    """H and b of Eq. (77); transform is the identity for the common trend, then lower triangles of S sites each."""
    P, q = len(H), len(prior) - 1
    half = np.zeros((P, P))  # E T
    for i in range(P):
        row = half[i]
        for j in range(q):
            row[j] = E[i + 1, j + 1]
        for k in range(q, P):
            weight, low = E[i + 1, k + 1], q + (k - q) // S * S
            for j in range(low, k + 1):
                row[j] += weight * transform[k, j]
    H[:, :] = 0.0
    b[:] = 0.0
    for k in range(P):
        low = q + (k - q) // S * S if k >= q else k
        for i in range(low, k + 1):
            weight, row = transform[k, i], H[i]
            b[i] += weight * E[k + 1, 0]
            for j in range(i + 1):
                row[j] += weight * half[k, j]
    for i in range(P):
        H[i, i] += 0.0 if i < q else 1.0
    for i in range(q):
        b[i] += prior[i + 1, 0]
        for j in range(i + 1):
            H[i, j] += prior[i + 1, j + 1]


@njit(nogil=True, cache=True, **FAST)
def solve_static(E, prior, transform, S, L, b):
    """Write L (P, P) lower, H = L L', and L^-1 b (P,); returns sum log diag L, NaN if H is not positive definite."""
    _fill_precision(E, prior, transform, S, L, b)
    total = 0.0
    for i in range(len(b)):
        row = L[i]
        for j in range(i + 1):
            other, x = L[j], row[j]
            for k in range(j):
                x -= row[k] * other[k]
            if i > j:
                row[j] = x / other[j]
            elif x > 0.0:
                row[i] = math.sqrt(x)
                total += math.log(row[i])
            else:
                return math.nan
        x = b[i]
        for k in range(i):
            x -= row[k] * b[k]
        b[i] = x / row[i]
    return total
