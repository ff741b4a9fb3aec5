"""npv: the paper's method, non-parametric variational inference (Gershman, Hoffman & Blei 2012) on (start, log-gaps).

The means climb the first-order objective together with the parameters, the variances the second-order one, in turn. A
step of the means is shortened until the second-order objective F, Eq. (55), rises, so F rises at every outer step. Of
several random starts the one with the highest F is used. Prediction averages over Q ("mixture"), or uses the expected
inputs ("plugin", as the paper does).

An exact row at the beginning of a sequence is treated as measured with a very small error. Where the log-likelihood
curves upwards, the second-order term is set to zero: it would reward ever larger variances.
"""

from __future__ import annotations

import math
import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ... import dense, markov
from ...errors import KernelError, MethodError
from ...model.parameters import T_SCALE, Y_SCALE
from ...model.problem import Problem
from ...support.cpus import available_cores
from ...support.numbers import count, number
from .. import EQUAL_DEPTHS, LEAST_GAPS, TABULATED, UNDATED, Method
from ..coordinates import OPEN, Plan, make_plan, pull_gradient, to_coordinates, to_inputs
from ..draws import Draws
from ..starts import starting_inputs, starting_phi
from ..target import Target, dense_likelihood, make_target, spacing
from ..words import Facts, Words
from .objective import gaps_curvature, interleaved_curvature, mean_part, smooth_part, variance_part

Array = np.ndarray

#: Outer steps stop when F rises by less than this.
TOLERANCE = 1e-2
#: Log-gaps vary by at most a factor of e: beyond that a second-order expansion means nothing.
LARGEST_LOG_VARIANCE = 0.0
#: Error given to exact rows of a sequence, as a part of the smallest uncertain one.
NEARLY_EXACT = 1e-3


class Found(NamedTuple):
    """One restart: the mixture, the parameters and how F rose."""

    m: Array  #: (K, n)
    v: Array  #: (K, n)
    phi: Array  #: (P,)
    history: list[float]


def run(
    problem: Problem,
    seed: int = 0,
    components: int = 3,
    restarts: int = 5,
    draws: int = 1000,
    prediction: str = "mixture",
    max_steps: int = 50,
    cores: int | None = None,
) -> Draws:
    """Fit Q from several starts and draw from the best."""
    if prediction not in ("mixture", "plugin"):
        raise MethodError(f'prediction must be "mixture" or "plugin", got {prediction!r}.')
    began = time.perf_counter()
    inference = _Inference(_uncertain_everywhere(problem), components, max_steps)
    seeds = np.random.SeedSequence(seed).spawn(restarts + 1)
    with ThreadPoolExecutor(min(restarts, cores or available_cores())) as pool:
        climbs = [pool.submit(inference.climb, one) for one in seeds[:restarts]]
        try:
            wait(climbs)
        except KeyboardInterrupt:
            inference.interrupted.set()  # each climb stops where it is
        found = [climb.result() for climb in climbs]
    best = max(found, key=lambda f: f.history[-1])
    tau = inference.expected(best)[None]
    if prediction == "mixture":
        tau = inference.draw(best, draws, np.random.default_rng(seeds[-1]))
    tau[:, problem.record.exact] = problem.rows.t[problem.record.exact]
    diagnostics = {
        "method": "npv",
        "seconds": time.perf_counter() - began,
        "objective": best.history[-1],
        "objectives": [one.history[-1] for one in found],
        "history": best.history,
        "steps": len(best.history) - 1,
        "prediction": prediction,
        "converged": not inference.interrupted.is_set() and 1 < len(best.history) <= max_steps,
        "interrupted": inference.interrupted.is_set(),
    }
    return Draws.equal(tau, np.tile(best.phi, (len(tau), 1)), diagnostics=diagnostics)


def _uncertain_everywhere(problem: Problem) -> Problem:
    """The problem with a very small error for an exact row at the beginning of a sequence, where that pins the start.

    Further down it would pin a sum of gaps, which a Q of independent gaps cannot follow. Raises MethodError there.
    """
    record = problem.record
    if not (~record.exact).any():
        raise MethodError('method="npv" has no uncertain input to infer here: use method="gp".')
    inside = record.exact & (problem.rows.sequence >= 0)
    further = np.flatnonzero(inside & (problem.rows.before >= 0))
    if further.size:
        raise MethodError(
            'method="npv" cannot hold an exact input inside a sequence, as in {rows}. '
            'Use method="mcmc", '
            "take the row out of the sequence by leaving its label empty, or give it a t_sd above 0.",
            rows=further,
        )
    if not inside.any():
        return problem
    small = NEARLY_EXACT * record.t_sd[~record.exact].min()
    t_sd = np.where(inside, small, record.t_sd)
    changed = replace(record, t_sd=t_sd)
    scale = np.where(inside, small, problem.scale)
    return replace(problem, record=changed, rows=problem.rows._replace(t_var=t_sd**2), scale=scale)


class _Inference:
    """The climb of one restart, and the inputs under Q."""

    def __init__(self, problem: Problem, components: int, max_steps: int) -> None:
        self.problem, self.K, self.max_steps = problem, components, max_steps
        self.plan: Plan = make_plan(problem)
        self.target: Target = make_target(problem)
        self.n = len(self.plan.rows)
        self.shape = components, self.n
        self.unknown = np.flatnonzero(problem.free)
        self.one_sequence = len(self.plan.kind) == 1 and self.n == len(problem.record)
        self.interrupted = threading.Event()
        self.is_start = np.isin(np.arange(self.n), self.plan.first[:-1])
        limits = [(-60.0, 60.0) if start else (-25.0, LARGEST_LOG_VARIANCE) for start in self.is_start]
        self.limits = limits * components  #: of the log-variances
        assert (self.plan.kind == OPEN).all()

    def climb(self, seed: np.random.SeedSequence) -> Found:
        """Means with parameters, then variances, in turn, until F no longer rises."""
        rng = np.random.default_rng(seed)
        m = np.array([self._start(rng) for _ in range(self.K)])
        v = np.full(self.shape, 0.01)
        v[:, self.plan.first[:-1]] = 0.1 * self.target.rows.t_var[self.plan.rows[self.plan.first[:-1]]]
        phi = starting_phi(self.problem, rng)
        curvature = self._curvature(m, phi)
        history: list[float] = []
        for step in range(self.max_steps + 1):
            if step > 0:
                start = np.concatenate([m.ravel(), phi[self.unknown]])
                better = self._shortened(start, self._climb_means(start, v, phi), v, phi, history[-1])
                if better is None:
                    break
                m, phi, curvature = better
            v = self._climb_variances(m, v, phi, curvature)
            history.append(float(self._objective(m, v, phi, curvature)))
            if self.interrupted.is_set() or (step > 0 and history[-1] - history[-2] < TOLERANCE):
                break
        return Found(m, v, phi, history)

    def _climb_means(self, start: Array, v: Array, phi: Array) -> Array:
        """Means and unknown parameters, one after the other, at the top of the first-order objective."""
        from scipy.optimize import minimize

        size = self.K * self.n
        d_m, d_phi = np.empty(self.shape), np.empty(len(phi))

        def objective(x: Array) -> tuple[float, Array]:
            trial = phi.copy()
            trial[self.unknown] = x[size:]
            value = self._first_order(x[:size].reshape(self.shape), v, trial, d_m, d_phi)
            if not math.isfinite(value):
                return 1e300, np.zeros(len(x))
            return -value, -np.concatenate([d_m.ravel(), d_phi[self.unknown]])

        return minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 30}).x

    def _climb_variances(self, m: Array, v: Array, phi: Array, curvature: Array) -> Array:
        """Variances (K, n) at the top of the second-order objective."""
        from scipy.optimize import minimize

        d_v = np.empty(self.shape)

        def objective(log_v: Array) -> tuple[float, Array]:
            spread = np.exp(log_v).reshape(self.shape)
            value = variance_part(self.plan, self.target.rows, m, spread, curvature, math.exp(phi[T_SCALE]), d_v)
            if not math.isfinite(value):
                return 1e300, np.zeros(len(log_v))
            return -value, -(d_v * spread).ravel()

        options = {"maxiter": 30}
        start = np.log(v).ravel()
        found = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=self.limits, options=options)
        return np.exp(found.x).reshape(self.shape)

    def _start(self, rng: np.random.Generator) -> Array:
        """Jittered dates in order, drawn halfway towards equal spacing, so that no gap begins near zero."""
        tau = starting_inputs(self.problem, rng)
        for k in range(len(self.plan.kind)):
            rows = self.plan.rows[self.plan.first[k] : self.plan.first[k + 1]]
            tau[rows] = 0.5 * tau[rows] + 0.5 * np.linspace(tau[rows[0]], tau[rows[-1]], len(rows))
        return to_coordinates(self.plan, tau)

    def _smooth(self, x: Array, phi: Array, d_x: Array, d_phi: Array) -> float:
        """g(x); writes d_x (n,) and adds to d_phi (P,)."""
        if self.problem.engine == "markov":
            return smooth_part(self.target, self.plan, x, phi, d_x, d_phi)
        tau = self.problem.rows.t.copy()
        d_tau = np.zeros(len(tau))
        value = to_inputs(self.plan, x, tau) + dense_likelihood(self.problem, tau, phi, d_tau, d_phi)
        value += spacing(self.target, tau, phi, d_tau, d_phi)
        pull_gradient(self.plan, x, d_tau, True, d_x)
        return value

    def _first_order(self, m: Array, v: Array, phi: Array, d_m: Array, d_phi: Array) -> float:
        """F with E g to first order; writes d_m (K, n) and d_phi (P,)."""
        d_phi[:] = 0.0
        value = sum(self._smooth(m[k], phi, d_m[k], d_phi) for k in range(self.K)) / self.K
        value += mean_part(self.plan, self.target.rows, m, v, phi, d_m, d_phi)
        return value + self._log_prior(phi, d_phi)

    def _log_prior(self, phi: Array, d_phi: Array) -> float:
        u = (phi - self.problem.prior_mean) / self.problem.prior_sd
        d_phi[self.unknown] -= (u / self.problem.prior_sd)[self.unknown]
        return -0.5 * float((u[self.unknown] ** 2).sum())

    def _curvature(self, m: Array, phi: Array) -> Array:
        """Diagonal of the Hessian of g at each mean, (K, n)."""
        out = np.zeros(self.shape)
        problem, kernel = self.problem, self.problem.kernel.with_theta(phi[: self.problem.n_kernel])
        y_sd = np.sqrt(problem.y_var(math.exp(phi[Y_SCALE])))
        tau, engine = problem.rows.t.copy(), markov if problem.engine == "markov" else dense
        for k in range(self.K):
            to_inputs(self.plan, m[k], tau)
            if self.one_sequence:
                out[k, 1:] = engine.gap_hessian_diagonal(kernel, tau, problem.y, y_sd)
            elif engine is dense:
                first, second = dense.curvature(kernel, tau, problem.y, y_sd, self._directions(m[k]).T)
                out[k] = np.where(self.is_start, second, second + first)
            else:
                order = np.argsort(tau, kind="stable")
                Z = (problem.rows.base + np.outer(tau, problem.rows.slope))[order]
                beta = markov.trend_coefficients(kernel, tau[order], Z, problem.design.prior, y_sd[order])
                interleaved_curvature(self.target, self.plan, tau, m[k], phi, beta, out[k])
            gaps_curvature(self.target, self.plan, m[k], phi, out[k])
        return np.minimum(out, 0.0)

    def _directions(self, x: Array) -> Array:
        """d tau / dx_j for each coordinate, (n, N): a gap moves all rows of its sequence that come after it."""
        out = np.zeros((self.n, len(self.problem.record)))
        for a, b in zip(self.plan.first[:-1], self.plan.first[1:], strict=True):
            for i in range(a, b):
                out[i, self.plan.rows[i:b]] = 1.0 if i == a else math.exp(x[i])
        return out

    def _objective(self, m: Array, v: Array, phi: Array, curvature: Array) -> float:
        """F, with E g to second order."""
        d_v, d_x, d_phi = np.empty_like(v), np.empty(self.n), np.zeros(len(phi))
        value = variance_part(self.plan, self.target.rows, m, v, curvature, math.exp(phi[T_SCALE]), d_v)
        for k in range(self.K):
            value += self._smooth(m[k], phi, d_x, d_phi) / self.K
        return value - self.n * phi[T_SCALE] + self._log_prior(phi, d_phi)

    def _shortened(self, start: Array, end: Array, v: Array, phi: Array, before: float) -> Any:
        """The longest of the steps 1, 1/2, 1/4, ... that does not lower F; None if there is none."""
        size = self.K * self.n
        for halvings in range(8):
            x = start + 0.5**halvings * (end - start)
            m, trial = x[:size].reshape(self.shape), phi.copy()
            trial[self.unknown] = x[size:]
            try:
                curvature = self._curvature(m, trial)
            except KernelError:  # no covariance matrix there
                continue
            if self._objective(m, v, trial, curvature) >= before:
                return m, trial, curvature
        return None

    def expected(self, found: Found) -> Array:
        """E_Q tau, (N,)."""
        tau = np.zeros(len(self.problem.record))
        for k in range(self.K):
            one = self.problem.rows.t.copy()
            for a, b in zip(self.plan.first[:-1], self.plan.first[1:], strict=True):
                gaps = np.exp(found.m[k, a + 1 : b] + 0.5 * found.v[k, a + 1 : b])
                one[self.plan.rows[a:b]] = found.m[k, a] + np.concatenate([[0.0], np.cumsum(gaps)])
            tau += one / self.K
        return tau

    def draw(self, found: Found, n: int, rng: np.random.Generator) -> Array:
        """n draws of tau from Q, (n, N)."""
        which = rng.integers(self.K, size=n)
        x = found.m[which] + np.sqrt(found.v[which]) * rng.standard_normal((n, self.n))
        tau = np.tile(self.problem.rows.t, (n, 1))
        for k in range(n):
            to_inputs(self.plan, x[k], tau[k])
        return tau


def _inference_in_words(facts: Facts, kept: int) -> str:
    averaged = f"the curve was averaged over {count(kept, 'draw')} from it" if kept > 1 else "its mean inputs were used"
    return (
        "The posterior of the inputs was approximated by a mixture of Gaussians (nonparametric variational inference, "
        f"Gershman et al. 2012), the best of {count(len(facts['objectives']), 'start')}, with parameters at their best "
        f"values; {averaged}."
    )


def _evidence_in_words(facts: Facts) -> str:
    return (
        f"The best of {count(len(facts['objectives']), 'start')} took {count(facts['steps'], 'step')} and reached an "
        f"objective of {number(facts['objective'], 5)}; all ended within {number(np.ptp(facts['objectives']), 2)} of "
        "each other. The method approximates the posterior; compare with mcmc before you trust its widths."
    )


METHOD = Method(
    name="npv",
    run=run,
    title="nonparametric variational inference",
    words=Words(
        inference=_inference_in_words,
        evidence=_evidence_in_words,
        remedy="Run it again with more steps, or use the method mcmc.",
        citations=lambda facts: ("Tran", "Rasmussen", "Gershman"),
    ),
    infers_inputs=True,
    uses_order=True,
    lacks=(UNDATED, TABULATED, EQUAL_DEPTHS, LEAST_GAPS),
)
