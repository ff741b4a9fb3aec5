"""Updates of rank one that wait, sum_b v_b v_b' / S_b, so that the matrix they change is read and written once for all.

They are written out, because compiled code then holds the numbers in registers.
"""

from __future__ import annotations

from numba import njit

from ...engine.stack import LEAN_CALLED

#: So many updates wait.
WAITING = 8


@njit(cache=True, **LEAN_CALLED)
def add_row(weight, row, out):
    """out += weight row."""
    for c in range(len(out)):
        out[c] += weight * row[c]


@njit(cache=True, **LEAN_CALLED)
def _subtract(V, inverse, first, M, triangle):
    """M[i] -= sum_b V[b, first + i] inverse[b] V[b, first:], on as many numbers as M has columns, or its lower half."""
    v0, v1, v2, v3 = V[0][first:], V[1][first:], V[2][first:], V[3][first:]
    v4, v5, v6, v7 = V[4][first:], V[5][first:], V[6][first:], V[7][first:]
    for i in range(len(M)):
        row = M[i]
        w0, w1, w2, w3 = v0[i] * inverse[0], v1[i] * inverse[1], v2[i] * inverse[2], v3[i] * inverse[3]
        w4, w5, w6, w7 = v4[i] * inverse[4], v5[i] * inverse[5], v6[i] * inverse[6], v7[i] * inverse[7]
        for c in range(i + 1 if triangle else len(row)):
            one = w0 * v0[c] + w1 * v1[c] + w2 * v2[c] + w3 * v3[c]
            row[c] -= one + w4 * v4[c] + w5 * v5[c] + w6 * v6[c] + w7 * v7[c]


@njit(cache=True, **LEAN_CALLED)
def subtract(V, inverse, W, E):
    """Take V' diag(inverse) V from [W; ., E], with V (WAITING, D + C), W (D, D + C) and the lower half of E (C, C).

    None wait then: ``inverse`` (WAITING,) is zero.
    """
    _subtract(V, inverse, 0, W, False)
    _subtract(V, inverse, len(W), E, True)
    for b in range(WAITING):
        inverse[b] = 0.0
