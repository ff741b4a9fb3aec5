"""Hyperparameters by maximum marginal likelihood under their weak priors, at given inputs."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numba import njit

from .. import dense
from ..engine.stack import FAST
from ..errors import KernelError
from ..field import chain
from ..field.problem import FieldProblem, as_field
from ..model.problem import Problem
from .starts import starting_phi
from .target import likelihood, make_target, parameters_prior

Array = np.ndarray


#: Stands for infinity, which the line search cannot handle.
NOWHERE = 1e100


class Optimum(NamedTuple):
    """The result of a maximisation."""

    phi: Array
    value: float
    evaluations: int
    converged: bool  #: the best start ended at a maximum
    interrupted: bool


@njit(nogil=True, cache=True, **FAST)
def _marginal(target, tau, phi):
    """log p(y | tau, phi) + log p(phi), and its gradient in phi (P,)."""
    d_tau, d_phi = np.zeros(len(tau)), np.zeros(len(phi))
    value = likelihood(target, tau, phi, d_tau, d_phi)
    value += parameters_prior(target, phi, d_phi)
    return value, d_phi


def marginal(problem: Problem, tau: Array, extra_var: Array) -> Callable[[Array], tuple[float, Array]]:
    """The function phi -> log p(y | tau, phi) + log p(phi) and its gradient (P,), with ``extra_var`` added to y_var."""
    y_var = problem.rows.y_var + extra_var
    if problem.record.places is not None:
        return partial(_on_field, as_field(problem), tau, extra_var)
    if problem.engine == "markov":
        target = make_target(problem)
        target = target._replace(rows=target.rows._replace(y_var=y_var))
        return partial(_marginal, target, tau)

    def on_dense(phi: Array) -> tuple[float, Array]:
        kernel = problem.kernel.with_theta(phi[: problem.n_kernel])
        value, _, d_theta = dense.value_and_gradient(kernel, tau, problem.y, np.sqrt(y_var))
        return _with_prior(problem, phi, value, d_theta)

    return on_dense


def _on_field(field: FieldProblem, tau: Array, extra_var: Array, phi: Array) -> tuple[float, Array]:
    data = field.data_at(phi, extra_var)
    value, _, d_theta, _ = chain.value_and_gradient(field.field, field.theta(phi), data, tau[field.measured])
    return _with_prior(field.base, phi, value, d_theta)


def _with_prior(problem: Problem, phi: Array, value: float, d_theta: Array) -> tuple[float, Array]:
    """A log-likelihood and its gradient in the kernel's parameters, with the prior of all: value and gradient (P,)."""
    u = (phi - problem.prior_mean) / problem.prior_sd
    gradient = np.where(problem.free, -u / problem.prior_sd, 0.0)
    gradient[: problem.n_kernel] += d_theta
    return value - 0.5 * float((u[problem.free] ** 2).sum()), gradient


def maximise(problem: Problem, tau: Array, extra_var: Array, starts: list[Array]) -> Optimum:
    """The best of several L-BFGS searches over the unknown parameters of the kernel."""
    from scipy.optimize import minimize

    unknown = np.flatnonzero(problem.free[: problem.n_kernel])
    density = marginal(problem, tau, extra_var)
    phi = starts[0].copy()

    def objective(x: Array) -> tuple[float, Array]:
        phi[unknown] = x
        try:
            value, gradient = density(phi)
        except KernelError:  # no covariance matrix there: the search turns back
            value, gradient = math.nan, phi
        return (-value, -gradient[unknown]) if math.isfinite(value) else (NOWHERE, np.zeros(len(x)))

    # A length of 10^±8 spans acts as zero or infinity; the bounds prevent overflow.
    bounds = [(m - 18.0, m + 18.0) for m in problem.prior_mean[unknown]]
    if len(unknown) == 0:
        return Optimum(phi, density(phi)[0], 1, True, False)
    best, evaluations = Optimum(phi.copy(), -objective(phi[unknown])[0], 1, False, False), 1
    try:
        for start in starts:
            found = minimize(objective, start[unknown], jac=True, method="L-BFGS-B", bounds=bounds)
            evaluations += found.nfev
            if -found.fun >= best.value:
                phi[unknown] = found.x
                best = Optimum(phi.copy(), -float(found.fun), 0, bool(found.success and found.fun < NOWHERE), False)
    except KeyboardInterrupt:
        best = best._replace(interrupted=True)
    return best._replace(evaluations=evaluations)


def several_starts(problem: Problem, seed: int, n: int) -> list[Array]:
    """The middle of the prior, and n - 1 draws around it."""
    rng = np.random.default_rng(seed)
    return [problem.start.copy(), *(starting_phi(problem, rng, jitter=1.0) for _ in range(n - 1))]
