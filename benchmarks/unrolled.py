"""The Matérn-3/2 filter and its gradient written out scalar by scalar: what the general engine is compared with.

The same formulas as ``lamina.engine.filter`` and ``lamina.engine.gradient`` (docs/theory.md, equations 18 to 27),
for one kernel without trend. Nothing here is general: no loop over the state, no matrix, no blocks.
"""

import math

import numpy as np
from numba import njit

from lamina.engine.stack import FAST

LOG_2PI = math.log(2.0 * math.pi)
#: exp(u) P(3, u) / u³ = 1/3! + u/4! + u²/5! + ...
C = tuple(1.0 / math.factorial(3 + n) for n in range(13))


@njit(**FAST)
def _step(rate, var, dt):
    """The entries of A(dt) and Q(dt)."""
    z = rate * dt
    decay = math.exp(-z)
    a00, a01, a10, a11 = decay * (1.0 + z), decay * z, -decay * z, decay * (1.0 - z)
    u, decay = 2.0 * z, decay * decay
    if u < 0.5:
        u2 = u * u
        u4 = u2 * u2
        low = C[0] + C[1] * u + u2 * (C[2] + C[3] * u)
        middle = C[4] + C[5] * u + u2 * (C[6] + C[7] * u)
        high = C[8] + C[9] * u + u2 * (C[10] + C[11] * u)
        p3 = decay * u * u2 * (low + u4 * (middle + u4 * (high + u4 * C[12])))
    else:
        p3 = 1.0 - decay * (1.0 + u + 0.5 * u * u)
    w1 = var * u * decay
    q00 = var * p3
    return a00, a01, a10, a11, q00, 0.5 * u * w1, q00 + 2.0 * w1


@njit(**FAST)
def value(rate, var, tau, y, y_var):
    """log p(y | tau)."""
    m0, m1, p00, p01, p11 = 0.0, 0.0, var, 0.0, var
    total = 0.0
    for i in range(len(tau)):
        if i > 0:
            a00, a01, a10, a11, q00, q01, q11 = _step(rate, var, tau[i] - tau[i - 1])
            m0, m1 = a00 * m0 + a01 * m1, a10 * m0 + a11 * m1
            w00, w01 = a00 * p00 + a01 * p01, a00 * p01 + a01 * p11
            w10, w11 = a10 * p00 + a11 * p01, a10 * p01 + a11 * p11
            p00, p01, p11 = w00 * a00 + w01 * a01 + q00, w10 * a00 + w11 * a01 + q01, w10 * a10 + w11 * a11 + q11
        S = p00 + y_var[i]
        inverse = 1.0 / S
        e = y[i] - m0
        m0 += p00 * inverse * e
        m1 += p01 * inverse * e
        kept = y_var[i] * inverse
        p11 -= p01 * p01 * inverse
        p00 *= kept
        p01 *= kept
        total += math.log(S) + e * e * inverse
    return -0.5 * (len(tau) * LOG_2PI + total)


@njit(**FAST)
def value_and_gradient(rate, var, tau, y, y_var, store, d_tau):
    """log p(y | tau), d/d log length and d/d log sd; d/d tau is written. store has shape (N, 13)."""
    N = len(tau)
    m0, m1, p00, p01, p11 = 0.0, 0.0, var, 0.0, var
    total = 0.0
    for i in range(N):
        if i > 0:
            a00, a01, a10, a11, q00, q01, q11 = _step(rate, var, tau[i] - tau[i - 1])
            m0, m1 = a00 * m0 + a01 * m1, a10 * m0 + a11 * m1
            w00, w01 = a00 * p00 + a01 * p01, a00 * p01 + a01 * p11
            w10, w11 = a10 * p00 + a11 * p01, a10 * p01 + a11 * p11
            p00, p01, p11 = w00 * a00 + w01 * a01 + q00, w10 * a00 + w11 * a01 + q01, w10 * a10 + w11 * a11 + q11
        S = p00 + y_var[i]
        inverse = 1.0 / S
        e = y[i] - m0
        m0 += p00 * inverse * e
        m1 += p01 * inverse * e
        kept = y_var[i] * inverse
        p11 -= p01 * p01 * inverse
        p00 *= kept
        p01 *= kept
        total += math.log(S) + e * e * inverse
        store[i, 0], store[i, 1] = S, e
        store[i, 2], store[i, 3] = m0, m1
        store[i, 4], store[i, 5], store[i, 6] = p00, p01, p11
        if i > 0:
            store[i, 7], store[i, 8], store[i, 9] = a00, a01, a11
            store[i, 10], store[i, 11], store[i, 12] = q00, q01, q11

    bar0, bar1, bar00, bar01, bar11 = 0.0, 0.0, 0.0, 0.0, 0.0
    in_length, in_var, later_slope = 0.0, 0.0, 0.0
    for i in range(N - 1, -1, -1):
        inverse = 1.0 / store[i, 0]
        kept, k1, scaled = y_var[i] * inverse, store[i, 5] / y_var[i], store[i, 1] * inverse
        bar00, bar01 = kept * bar00 - k1 * bar01, kept * bar01 - k1 * bar11
        bar0 = kept * bar0 - k1 * bar1
        bar00 = kept * bar00 - k1 * bar01 + bar0 * scaled + 0.5 * (scaled * scaled - inverse)
        bar01 += 0.5 * bar1 * scaled
        bar0 += scaled
        if i == 0:
            in_var += var * (bar00 + bar11)
            d_tau[0] = -later_slope
            break
        dt = tau[i] - tau[i - 1]
        m0, m1 = store[i - 1, 2], store[i - 1, 3]
        p00, p01, p11 = store[i - 1, 4], store[i - 1, 5], store[i - 1, 6]
        a00, a01, a10, a11 = store[i, 7], store[i, 8], -store[i, 8], store[i, 9]
        q00, q01, q11 = store[i, 10], store[i, 11], store[i, 12]
        w00, w01 = a00 * p00 + a01 * p01, a00 * p01 + a01 * p11
        w10, w11 = a10 * p00 + a11 * p01, a10 * p01 + a11 * p11
        A00 = 2.0 * (bar00 * w00 + bar01 * w10) + bar0 * m0
        A01 = 2.0 * (bar00 * w01 + bar01 * w11) + bar0 * m1
        A10 = 2.0 * (bar01 * w00 + bar11 * w10) + bar1 * m0
        A11 = 2.0 * (bar01 * w01 + bar11 * w11) + bar1 * m1
        slope = A00 * a10 + A01 * a11 - A10 * (a00 + 2.0 * a10) - A11 * (a01 + 2.0 * a11)
        slope += 4.0 * var * (bar00 * a01 * a01 + 2.0 * bar01 * a01 * a11 + bar11 * a11 * a11)
        slope *= rate
        in_length -= dt * slope
        in_var += bar00 * q00 + 2.0 * bar01 * q01 + bar11 * q11
        d_tau[i] = slope - later_slope
        later_slope = slope
        bar0, bar1 = a00 * bar0 + a10 * bar1, a01 * bar0 + a11 * bar1
        w00, w01 = bar00 * a00 + bar01 * a10, bar00 * a01 + bar01 * a11
        w10, w11 = bar01 * a00 + bar11 * a10, bar01 * a01 + bar11 * a11
        bar00, bar01, bar11 = a00 * w00 + a10 * w10, a01 * w00 + a11 * w10, a01 * w01 + a11 * w11
    return -0.5 * (N * LOG_2PI + total), in_length, 2.0 * in_var


def new_store(N):
    """Room for what ``value_and_gradient`` keeps of each row."""
    return np.empty((N, 13))
