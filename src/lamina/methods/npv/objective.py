"""The pieces of the npv objective, in closed form and compiled.

Q = (1/K) sum_k N(m_k, diag v_k) over the coordinates x = (start, log-gaps) of every sequence:

    F = E_Q log p(y | x) + E_Q log p(gaps) + E_Q log p(t | x) + H[Q]  + log p(phi),   to be maximised.

    first order     E g ~ (1/K) sum_k g(m_k)
    second order    E g ~ (1/K) sum_k [ g(m_k) + ½ sum_j v_kj d²g/dx_j²(m_k) ]
    dates           E (tau_i - t_i)² = (E tau_i - t_i)² + Var tau_i, both cumulative sums over the gaps: exact
    entropy         H[Q] >= -(1/K) sum_k log (1/K) sum_j N(m_k; m_j, V_k + V_j)

where g(x) = log p(y | x) + log p(gaps) + log-Jacobian.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ...engine.curvature import along
from ...engine.stack import FAST
from ...engine.statespace import blocks_at
from ...model.rows import in_time_order
from ..coordinates import lay, pull
from ..target import likelihood, spacing


@njit(**FAST)
def expected_dates(plan, rows, m, v, t_scale, d_m, d_v):
    """E log p(t | x) under N(m, diag v), up to a constant; its gradients are added to d_m and d_v (n,).

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


@njit(**FAST)
def entropy_bound(m, v, d_m, d_v):
    """-(1/K) sum_k log (1/K) sum_j N(m_k; m_j, V_k + V_j) for m, v (K, n); gradients are added to d_m, d_v."""
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
def smooth_part(blocks, dims, columns, target, plan, x, phi, tau, d_x, d_phi):
    """g(x); writes d_x (n,), adds to d_phi (P,) and leaves the inputs in tau."""
    log_jacobian = lay(plan, x, tau)
    d_tau = np.zeros(len(tau))
    value = log_jacobian + likelihood(blocks, dims, columns, target, tau, phi, d_tau, d_phi)
    return value + spacing_part(target, plan, x, phi, tau, d_tau, d_x, d_phi)


@njit(nogil=True, cache=True, **FAST)
def spacing_part(target, plan, x, phi, tau, d_tau, d_x, d_phi):
    """log p(gaps) at tau = ``lay(x)``; carries d_tau, which holds the gradient of the likelihood, to d_x (n,)."""
    value = spacing(target, tau, phi, d_tau, d_phi)
    pull(plan, x, d_tau, True, d_x)
    return value


@njit(nogil=True, cache=True, **FAST)
def mean_part(plan, rows, m, v, phi, d_m, d_phi):
    """The other terms of F that the means enter: dates and entropy.

    d_m (K, n) and d_phi (P,) hold the gradients of g at each mean, and of their sum; they leave as those of F.
    """
    K, n = m.shape
    P = len(phi)
    ignored = np.zeros((K, n))
    value = 0.0
    t_scale = math.exp(phi[P - 2])
    for k in range(K):
        part, total = expected_dates(plan, rows, m[k], v[k], t_scale, d_m[k], ignored[k])
        value += (part - n * phi[P - 2]) / K
        d_phi[P - 2] += total / (t_scale * t_scale) - n
        for i in range(n):
            d_m[k, i] /= K
    for i in range(P):
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
def interleaved_curvature(blocks, dims, target, plan, tau, x, phi, beta, out):
    """d² log p(y | x) / dx_j² for each coordinate, trend coefficients held at beta: N directional passes, O(N²)."""
    rows, N = target.rows, len(tau)
    order = np.argsort(tau)
    time, Z, y_var = np.empty(N), np.empty((N, len(beta) + 1)), np.empty(N)
    in_time_order(rows, tau, order, math.exp(phi[len(phi) - 1]), time, Z, y_var)
    z, direction = Z[:, 0].copy(), np.empty(N)
    tilt = rows.slope[0]
    for c in range(len(beta)):
        tilt -= beta[c] * rows.slope[c + 1]
    for p in range(N):
        for c in range(len(beta)):
            z[p] -= beta[c] * Z[p, c + 1]
    there = blocks_at(blocks, target.factors, phi, 0)
    place = np.empty(N, np.int64)
    for p in range(N):
        place[order[p]] = p
    for k in range(len(plan.kind)):
        for i in range(plan.first[k], plan.first[k + 1]):
            is_start = i == plan.first[k]
            step = 1.0 if is_start else math.exp(x[i])
            direction[:] = 0.0
            for j in range(i, plan.first[k + 1]):
                direction[place[plan.rows[j]]] = step
            first, second = along(there, dims, time, z, y_var, tilt, direction)
            out[i] = second if is_start else second + first


@njit(nogil=True, cache=True, **FAST)
def spacing_curvature(target, plan, x, phi, out):
    """Adds d² log p(gaps) / dx_j²: only the span is not linear in the log-gaps."""
    alpha = 1.0 + math.exp(phi[len(phi) - 3])
    per_gap = alpha if target.gamma else target.per_gap
    for k in range(len(plan.kind)):
        a, b = plan.first[k], plan.first[k + 1]
        if target.rows.sequence[plan.rows[a]] < 0 or per_gap == 0.0:
            continue
        rows, total = target.rows, target.floor
        for i in range(a + 1, b):
            left = plan.rows[i - 1]
            total += math.exp(x[i]) / rows.unit[left] if rows.regular[left] else 0.0
        for i in range(a + 1, b):
            left = plan.rows[i - 1]
            if rows.regular[left]:
                share = math.exp(x[i]) / (rows.unit[left] * total)
                out[i] -= per_gap * rows.gaps[rows.sequence[left]] * share * (1.0 - share)
