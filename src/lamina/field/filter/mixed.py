"""Mixed states: x = C z, of which a site measures one process of each term, where it would measure many of z.

Processes of one term have the same transition, so that mixing them commutes with it. The stationary covariance of x is
C C' = K, the covariance of the sites; a term that is common to all sites has one process, which stays as it is.
"""

from __future__ import annotations

from numba import njit

from ...engine.stack import LEAN_CALLED


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


@njit(cache=True, **LEAN_CALLED)
def measure_mixed(layout, mix, s, time, x):
    """h' x (D,) for a row at site s."""
    total = 0.0
    for k in range(len(layout.dim)):
        weight = time - layout.origin[k] if layout.linear[k] else 1.0
        if layout.size[k] == 1:
            total += weight * mix[s, layout.first[k]] * x[layout.start[k]]
        else:
            total += weight * x[layout.start[k] + s]
    return total


@njit(cache=True, **LEAN_CALLED)
def add_measured(layout, mix, s, time, factor, r):
    """r (D,) += h factor."""
    for k in range(len(layout.dim)):
        weight = factor * (time - layout.origin[k] if layout.linear[k] else 1.0)
        if layout.size[k] == 1:
            r[layout.start[k]] += weight * mix[s, layout.first[k]]
        else:
            r[layout.start[k] + s] += weight


@njit(cache=True, **LEAN_CALLED)
def add_whitened(layout, mix, r, out):
    """out (D,) += C' r: z = C^-1 x of the states x = C C' r."""
    for k in range(len(layout.dim)):
        size, first, start = layout.size[k], layout.first[k], layout.start[k]
        for _ in range(layout.dim[k]):
            if size == 1:
                out[start] += r[start]
            else:
                for s in range(len(mix)):
                    factor = r[start + s]
                    for j in range(layout.low[k, s], layout.high[k, s]):
                        out[start + j] += factor * mix[s, first + j]
            start += size
