"""Mixed states: x = C z, of which a site measures one process of each term, where it would measure many of z.

Processes of one term have the same transition, so that mixing them commutes with it. The stationary covariance of x is
C C' = K, the covariance of the sites; a term that is common to all sites has one process, which stays as it is.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ...engine.stack import FAST, LEAN_CALLED


@njit(cache=True, **LEAN_CALLED)
def fill_shared(layout, mix, shared):
    """Write P h into shared (S, R), for the stationary covariance P of mixed states and what each site measures, h."""
    S = len(mix)
    for k in range(len(layout.dim)):
        first = layout.first[k]
        for s in range(S):
            if layout.size[k] == 1:
                shared[s, first] = mix[s, first]
                continue
            for p in range(s + 1):
                x = 0.0
                for j in range(layout.low[k, s], layout.high[k, p]):
                    x += mix[s, first + j] * mix[p, first + j]
                shared[s, first + p] = shared[p, first + s] = x


@njit(cache=True, **FAST)
def unmix(layout, mix, X):
    """X <- C^-1 X for mixed states in the rows of X (N, D), by forward substitution."""
    columns = np.ascontiguousarray(mix.T)
    for n in range(len(X)):
        for k in range(len(layout.dim)):
            r, first = layout.size[k], layout.first[k]
            if r == 1:
                continue
            for i in range(layout.dim[k]):
                start = layout.start[k] + i * r
                x = X[n, start : start + r]
                for j in range(r):
                    column = columns[first + j]
                    x[j] /= column[j]
                    for p in range(j + 1, r):
                        x[p] -= column[p] * x[j]
