"""The pieces of the npv objective, in closed form and compiled.

Q, Eq. (63), is a mixture of K Gaussians over the coordinates x = (start, log-gaps) of every sequence. F is Eq. (64), to
be maximised. With g(x) = log p(y | x) + log p(gaps) + log-Jacobian it takes

    first order     E g ~ (1/K) sum_k g(m_k)
    second order    E g ~ (1/K) sum_k [ g(m_k) + ½ sum_j v_kj d²g/dx_j²(m_k) ]
    dates           E log p(t | x), exact, Eq. (65)
    entropy         its lower bound, Eq. (66)
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ...engine.curvature import along
from ...engine.filter import Series
from ...engine.stack import FAST, INNER
from ...engine.statespace import Process, blocks_at
from ...gaps.prior import Gaps, add_log_gap_curvature
from ...model.parameters import T_SCALE, Y_SCALE
from ...model.rows import in_time_order
from ..coordinates import pull_gradient, to_inputs
from ..target import gap_prior_at, likelihood, spacing


@njit(**INNER)
def expected_dates(plan, rows, m, v, t_scale, d_m, d_v):
    """E log p(t | x) under N(m, diag v), Eq. (65), up to a constant; its gradients are added to d_m and d_v (n,).

    Returns the value and the expected sum of squares, which t_scale needs.
    """
    total = 0.0
    scale = 1.0 / (t_scale * t_scale)
    for k in range(len(plan.kind)):
        a, b = plan.first[k], plan.first[k + 1]
        # forward: E tau_i and Var tau_i; the sums of the backward pass need them again
        mean, var = m[a], v[a]
        means = np.empty(b - a)
        for i in range(a, b):
            if i > a:
                gap = math.exp(m[i] + 0.5 * v[i])
                mean += gap
                var += math.expm1(v[i]) * gap * gap
            means[i - a] = mean
            off = mean - rows.t[plan.rows[i]]
            total += (off * off + var) / rows.t_var[plan.rows[i]]
        pull_sum, weight = 0.0, 0.0
        for i in range(b - 1, a - 1, -1):
            w = scale / rows.t_var[plan.rows[i]]
            pull_sum += w * (means[i - a] - rows.t[plan.rows[i]])
            weight += w
            if i > a:
                gap = math.exp(m[i] + 0.5 * v[i])
                d_m[i] -= gap * pull_sum + math.expm1(v[i]) * gap * gap * weight
                d_v[i] -= 0.5 * (gap * pull_sum + (2.0 * math.exp(v[i]) - 1.0) * gap * gap * weight)
            else:
                d_m[i] -= pull_sum
                d_v[i] -= 0.5 * weight
    return -0.5 * total * scale, total


@njit(**INNER)
def entropy_bound(m, v, d_m, d_v):
    """The lower bound of the entropy, Eq. (66), for m, v (K, n); gradients are added to d_m and d_v."""
    K, n = m.shape
    logs = np.empty((K, K))
    for k in range(K):
        for j in range(K):
            s = 0.0
            for i in range(n):
                total = v[k, i] + v[j, i]
                s -= 0.5 * (math.log(2.0 * math.pi * total) + (m[k, i] - m[j, i]) ** 2 / total)
            logs[k, j] = s
    value = 0.0
    for k in range(K):
        top = -math.inf
        for j in range(K):
            top = max(top, logs[k, j])
        s = 0.0
        for j in range(K):
            s += math.exp(logs[k, j] - top)
        value -= (top + math.log(s / K)) / K
        for j in range(K):
            share = math.exp(logs[k, j] - top) / s / K
            for i in range(n):
                total = v[k, i] + v[j, i]
                off = m[k, i] - m[j, i]
                d_m[k, i] += share * off / total
                d_m[j, i] -= share * off / total
                slope = 0.5 * share * (1.0 / total - off * off / (total * total))
                d_v[k, i] += slope
                d_v[j, i] += slope
    return value


@njit(nogil=True, cache=True, **FAST)
def smooth_part(target, plan, x, phi, d_x, d_phi):
    """g(x) = log p(y | x) + log p(gaps) + log-Jacobian; writes d_x (n,) and adds to d_phi (P,)."""
    tau, d_tau = target.rows.t.copy(), np.zeros(len(target.rows.t))
    value = to_inputs(plan, x, tau) + likelihood(target, tau, phi, d_tau, d_phi)
    value += spacing(target, tau, phi, d_tau, d_phi)
    pull_gradient(plan, x, d_tau, True, d_x)
    return value


@njit(nogil=True, cache=True, **FAST)
def mean_part(plan, rows, m, v, phi, d_m, d_phi):
    """The other terms of F that the means enter: dates and entropy.

    d_m (K, n) and d_phi (P,) hold the gradients of g at each mean, and of their sum; they leave as those of F.
    """
    K, n = m.shape
    ignored = np.zeros((K, n))
    value = 0.0
    t_scale = math.exp(phi[T_SCALE])
    for k in range(K):
        part, total = expected_dates(plan, rows, m[k], v[k], t_scale, d_m[k], ignored[k])
        value += (part - n * phi[T_SCALE]) / K
        d_phi[T_SCALE] += total / (t_scale * t_scale) - n
        for i in range(n):
            d_m[k, i] /= K
    for i in range(len(phi)):
        d_phi[i] /= K
    return value + entropy_bound(m, v, d_m, ignored)


@njit(nogil=True, cache=True, **FAST)
def variance_part(plan, rows, m, v, curvature, t_scale, d_v):
    """The terms of F that the variances enter: second-order term, dates and entropy; writes d_v (K, n)."""
    K, n = m.shape
    d_v[:] = 0.0
    ignored = np.zeros((K, n))
    value = 0.0
    for k in range(K):
        part, _ = expected_dates(plan, rows, m[k], v[k], t_scale, ignored[k], d_v[k])
        value += part / K
        for i in range(n):
            value += 0.5 * v[k, i] * curvature[k, i] / K
            d_v[k, i] = (d_v[k, i] + 0.5 * curvature[k, i]) / K
    return value + entropy_bound(m, v, ignored, d_v)


@njit(nogil=True, cache=True, **FAST)
def interleaved_curvature(target, plan, tau, x, phi, beta, out):
    """d² log p(y | x) / dx_j² for each coordinate, trend coefficients held at beta: N directional passes, O(N²)."""
    rows, N = target.rows, len(tau)
    order = np.argsort(tau)
    series = Series(np.empty(N), np.empty((N, len(beta) + 1)), np.empty(N))
    in_time_order(rows, tau, order, math.exp(phi[Y_SCALE]), series)
    z, direction = series.Z[:, 0].copy(), np.empty(N)
    tilt = rows.slope[0]
    for c in range(len(beta)):
        tilt -= beta[c] * rows.slope[c + 1]
    for p in range(N):
        for c in range(len(beta)):
            z[p] -= beta[c] * series.Z[p, c + 1]
    there = Process(blocks_at(target.process.blocks, target.factors, phi, 0), target.process.dims, (0,))
    position = np.empty(N, np.int64)
    for p in range(N):
        position[order[p]] = p
    for k in range(len(plan.kind)):
        for i in range(plan.first[k], plan.first[k + 1]):
            is_start = i == plan.first[k]
            step = 1.0 if is_start else math.exp(x[i])
            direction[:] = 0.0
            for j in range(i, plan.first[k + 1]):
                direction[position[plan.rows[j]]] = step
            first, second = along(there, series.time, z, series.y_var, tilt, direction)
            out[i] = second if is_start else second + first


@njit(nogil=True, cache=True, **FAST)
def gaps_curvature(target, plan, x, phi, out):
    """Adds d² log p(gaps) / dx_j²."""
    rows, prior = target.rows, gap_prior_at(target, phi)
    for k in range(len(plan.kind)):
        a, b = plan.first[k], plan.first[k + 1]
        if rows.sequence[plan.rows[a]] >= 0 and prior.shape != 0.0:
            before = plan.rows[a : b - 1]
            gaps = Gaps(rows.least[before], rows.unit[before], rows.regular[before], rows.carry[before])
            add_log_gap_curvature(x[a + 1 : b], gaps, prior, out[a + 1 : b])
