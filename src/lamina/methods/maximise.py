"""Hyperparameters by maximum marginal likelihood under their weak priors, at given inputs."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from .. import dense
from ..problem import Problem
from ..stack import FAST
from .starts import starting_phi
from .target import likelihood, make_target, parameters_prior

Array = np.ndarray


class Optimum(NamedTuple):
    """Where the climb ended."""

    phi: Array
    value: float
    evaluations: int


@njit(nogil=True, cache=True, **FAST)
def _marginal(blocks, dims, columns, target, tau, phi):
    """log p(y | tau, phi) + log p(phi), and its gradient in phi (P,)."""
    d_tau, d_phi = np.zeros(len(tau)), np.zeros(len(phi))
    value = likelihood(blocks, dims, columns, target, tau, phi, d_tau, d_phi)
    value += parameters_prior(target, phi, d_phi)
    return value, d_phi


def marginal(problem: Problem, tau: Array, phi: Array, extra_var: Array) -> tuple[float, Array]:
    """log p(y | tau, phi) + log p(phi), and its gradient in phi (P,), with ``extra_var`` added to the output variance."""
    if problem.kernel.is_markov:
        target = make_target(problem)
        target = target._replace(rows=target.rows._replace(y_var=target.rows.y_var + extra_var))
        return _marginal(problem.blocks, problem.dims, problem.columns, target, tau, phi)
    kernel = problem.kernel.with_theta(phi[: problem.n_kernel])
    y_sd = np.sqrt(problem.rows.y_var + extra_var)
    value, _, d_theta = dense.value_and_gradient(kernel, tau, problem.record.y, y_sd)
    u = (phi - problem.prior_mean) / problem.prior_sd
    gradient = np.where(problem.free, -u / problem.prior_sd, 0.0)
    gradient[: problem.n_kernel] += d_theta
    return value - 0.5 * float((u[problem.free] ** 2).sum()), gradient


def maximise(problem: Problem, tau: Array, extra_var: Array, starts: list[Array]) -> Optimum:
    """The best of several climbs (L-BFGS) over the unknown parameters of the kernel."""
    from scipy.optimize import minimize

    unknown = np.flatnonzero(problem.free[: problem.n_kernel])
    best, evaluations = Optimum(starts[0], -math.inf, 0), 0
    for start in starts:
        phi = start.copy()

        def objective(x: Array, phi: Array = phi) -> tuple[float, Array]:
            phi[unknown] = x
            value, gradient = marginal(problem, tau, phi, extra_var)
            return -value, -gradient[unknown]

        # A length of 10^±8 spans is as good as zero or infinity, and keeps the climb from overflow.
        bounds = [(m - 18.0, m + 18.0) for m in problem.prior_mean[unknown]]
        if len(unknown) > 0:
            found = minimize(objective, start[unknown], jac=True, method="L-BFGS-B", bounds=bounds)
            phi[unknown] = found.x
            evaluations += found.nfev
        value, _ = marginal(problem, tau, phi, extra_var)
        if value > best.value:
            best = Optimum(phi.copy(), value, 0)
    return best._replace(evaluations=evaluations)


def several_starts(problem: Problem, seed: int, n: int) -> list[Array]:
    """The middle of the prior, and n - 1 draws around it."""
    rng = np.random.default_rng(seed)
    return [problem.start.copy(), *(starting_phi(problem, rng, jitter=1.0) for _ in range(n - 1))]
