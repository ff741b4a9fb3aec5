"""The climb of npv from one start: means with parameters, then variances, in turn, until F, Eq. (64), rises no more."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ... import dense, markov
from ...errors import KernelError
from ...model.parameters import ALPHA, T_SCALE, Y_SCALE
from ...model.problem import Problem
from ..chains import draw_budget, precision
from ..coordinates import OPEN, Plan, make_plan, pull_gradient, to_coordinates, to_inputs
from ..maximise import NOWHERE
from ..starts import starting_inputs, starting_phi
from ..target import Target, dense_likelihood, make_target, spacing
from .covariance import Covariance, expand, make_covariance, tie, tie_gradient
from .metric import JointMetric, Plain, later_precision, make_metric
from .objective import gaps_curvature, interleaved_curvature, mean_part, smooth_part, variance_part

Array = np.ndarray
#: A part from 0 to 1 of a step in, means and unknown parameters there out, one after the other.
Path = Callable[[float], Array]

#: Outer steps stop when F rises by less than this.
TOLERANCE = 1e-2
#: Iterations of the optimiser between two outer steps, in short and in long records.
ITERATIONS, ITERATIONS_LONG = 30, 20
#: Of logarithms of parameters, between which gradients are compared.
DIFFERENCE = 1e-4
#: Longer records climb in coordinates of their own (``metric``), and the parameters climb alone first: their prior
#: scales with the span of the record, and the inputs would follow a curve that is far too smooth.
LONG = 200
#: A climb begins with log-gaps of this variance, where the dates do not hold them more closely.
FIRST_VARIANCE = 0.01
#: And with gaps halfway between those of ordered dates and equal ones: in long records between rows that are as many
#: errors apart as this, and at least as many rows.
ERRORS_APART, ROWS_APART = 8.0, 4


class Found(NamedTuple):
    """One restart: the mixture, the parameters and how F rose."""

    m: Array  #: (K, n)
    v: Array  #: (K, n)
    phi: Array  #: (P,)
    history: list[float]


class Inference:
    """The climb of one restart, and the inputs under Q."""

    def __init__(self, problem: Problem, components: int, max_steps: int, covariance: str = "diagonal") -> None:
        self.problem, self.K, self.max_steps = problem, components, max_steps
        self.plan: Plan = make_plan(problem)
        self.target: Target = make_target(problem)
        self.n = len(self.plan.rows)
        self.shape = components, self.n
        self.covariance: Covariance = make_covariance(covariance, self.plan, self.target.rows.t_var)
        self.unknown = np.flatnonzero(problem.free)
        self.one_sequence = len(self.plan.kind) == 1 and self.n == len(problem.record)
        self.interrupted = threading.Event()
        self.is_start = np.isin(np.arange(self.n), self.plan.first[:-1])
        self.later = later_precision(self.plan, self.target.rows)
        assert (self.plan.kind == OPEN).all()

    def climb(self, seed: np.random.SeedSequence) -> Found:
        """Means with parameters, then variances, in turn, until F no longer rises."""
        rng = np.random.default_rng(seed)
        m = np.array([self._start(rng) for _ in range(self.K)])
        phi = starting_phi(self.problem, rng)
        log_v = self._first_variances(m)
        v = expand(self.covariance, log_v)
        if self.n > LONG:
            phi = self._climb_parameters(m, v, phi)
        curvature = self._curvature(m, phi)
        history: list[float] = []
        for step in range(self.max_steps + 1):
            if step > 0:
                start = np.concatenate([m.ravel(), phi[self.unknown]])
                metric = self._joint_metric(m, v, phi, curvature) if self.n > LONG else Plain(self.shape)
                along = self._climb_means(start, v, phi, metric)
                better = self._shortened(along, v, phi, history[-1])
                if better is None:
                    break
                m, phi, curvature = better
            log_v = self._climb_variances(m, log_v, phi, curvature)
            v = expand(self.covariance, log_v)
            history.append(float(self._objective(m, v, phi, curvature)))
            if self.interrupted.is_set() or (step > 0 and history[-1] - history[-2] < TOLERANCE):
                break
        return Found(m, v, phi, history)

    def _climb_means(self, start: Array, v: Array, phi: Array, metric: JointMetric | Plain) -> Path:
        """The path of means and unknown parameters to near the top of the first-order objective, for parts from 0 to 1.

        The optimiser moves in the coordinates of ``metric``.
        """
        from scipy.optimize import minimize

        size = self.K * self.n
        d_m, d_phi = np.empty(self.shape), np.empty(len(phi))

        def objective(z: Array) -> tuple[float, Array]:
            change, slope = metric.step(z)
            x, trial = start + change, phi.copy()
            trial[self.unknown] = x[size:]
            value = self._first_order(x[:size].reshape(self.shape), v, trial, d_m, d_phi)
            if not math.isfinite(value):
                return NOWHERE, np.zeros(len(z))
            return -value, -metric.gradient(slope, d_m, d_phi[self.unknown])

        options = {"maxiter": ITERATIONS_LONG if self.n > LONG else ITERATIONS}
        end = minimize(objective, np.zeros(len(start)), jac=True, method="L-BFGS-B", options=options).x
        return lambda part: start + metric.step(part * end)[0]

    def _joint_metric(self, m: Array, v: Array, phi: Array, curvature: Array) -> JointMetric:
        """Of means and unknown parameters. Differences of gradients say how they pull on each other.

        In a log-gap, prior and log-Jacobian curve by the shape of the gap prior.
        """
        t_scale, rows = math.exp(phi[T_SCALE]), self.target.rows
        shape = 1.0 + math.exp(phi[ALPHA]) if self.target.gamma else 1.0
        log_gap, gap_v = np.where(self.is_start, 0.0, m), np.where(self.is_start, 0.0, v)
        spread = 2.0 * np.expm1(gap_v) * np.exp(2.0 * log_gap + gap_v) * self.later / t_scale**2
        stiffness = np.maximum(shape, -curvature) + spread
        own = [make_metric(self.plan, rows, m[k], v[k], stiffness[k], t_scale) for k in range(self.K)]
        cross, block = np.empty((len(self.unknown), *self.shape)), np.empty((len(self.unknown),) * 2)
        here, d_phi = np.empty(self.shape), np.empty(len(phi))
        self._first_order(m, v, phi, here, d_phi)
        for p, i in enumerate(self.unknown):
            trial, d_trial = phi.copy(), np.empty(len(phi))
            trial[i] += DIFFERENCE
            self._first_order(m, v, trial, cross[p], d_trial)
            cross[p] = (here - cross[p]) / DIFFERENCE
            block[p] = (d_phi - d_trial)[self.unknown] / DIFFERENCE
        return JointMetric(self.plan, own, cross, block, self.problem.prior_sd[self.unknown] ** -2.0)

    def _climb_parameters(self, m: Array, v: Array, phi: Array) -> Array:
        """All parameters, the unknown ones at the top of the first-order objective for given means."""
        from scipy.optimize import minimize

        scale, trial = self._parameter_scale(), phi.copy()
        d_m, d_phi = np.empty(self.shape), np.empty(len(phi))

        def objective(z: Array) -> tuple[float, Array]:
            trial[self.unknown] = phi[self.unknown] + scale * z
            value = self._first_order(m, v, trial, d_m, d_phi)
            return (-value, -scale * d_phi[self.unknown]) if math.isfinite(value) else (NOWHERE, np.zeros(len(z)))

        options = {"maxiter": ITERATIONS_LONG}
        objective(minimize(objective, np.zeros(len(scale)), jac=True, method="L-BFGS-B", options=options).x)
        return trial

    def _parameter_scale(self) -> Array:
        """Units of the unknown parameters: besides its prior, each is a logarithm in which F curves by about n / 4."""
        return 1.0 / np.sqrt(self.problem.prior_sd[self.unknown] ** -2.0 + 0.25 * self.n)

    def _climb_variances(self, m: Array, log_v: Array, phi: Array, curvature: Array) -> Array:
        """log_v (K, G) at the top of the second-order objective."""
        from scipy.optimize import minimize

        d_v = np.empty(self.shape)

        def objective(x: Array) -> tuple[float, Array]:
            v = expand(self.covariance, x.reshape(log_v.shape))
            value = variance_part(self.plan, self.target.rows, m, v, curvature, math.exp(phi[T_SCALE]), d_v)
            if not math.isfinite(value):
                return NOWHERE, np.zeros(len(x))
            return -value, -tie_gradient(self.covariance, d_v * v).ravel()

        bounds, options = self.covariance.limits * self.K, {"maxiter": 30}
        found = minimize(objective, log_v.ravel(), jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        return found.x.reshape(log_v.shape)

    def _start(self, rng: np.random.Generator) -> Array:
        """Jittered dates in order, drawn halfway towards locally equal spacing, so that no gap begins near zero."""
        tau = starting_inputs(self.problem, rng)
        for k in range(len(self.plan.kind)):
            rows = self.plan.rows[self.plan.first[k] : self.plan.first[k + 1]]
            gaps, run = len(rows) - 1, tau[rows]
            if gaps > 0:
                error = float(np.median(self.problem.scale[rows]))
                apart = max(ROWS_APART, math.ceil(ERRORS_APART * error * gaps / (run[-1] - run[0])))
                apart = apart if self.n > LONG else gaps
                ends = np.round(np.linspace(0, gaps, max(1, gaps // apart) + 1)).astype(int)
                tau[rows] = 0.5 * run + 0.5 * np.interp(np.arange(gaps + 1), ends, run[ends])
        return to_coordinates(self.plan, tau)

    def _first_variances(self, m: Array) -> Array:
        """log_v (K, G) from how closely the dates hold each coordinate by itself."""
        gaps = np.full(self.shape, 1.0 / FIRST_VARIANCE)
        if self.n > LONG:
            gaps += np.exp(2.0 * np.where(self.is_start, 0.0, m)) * self.later
        starts = 10.0 / self.target.rows.t_var[self.plan.rows]
        return tie(self.covariance, np.where(self.is_start, starts, gaps))

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

    def _shortened(self, along: Path, v: Array, phi: Array, before: float) -> Any:
        """The longest of the steps 1, 1/2, 1/4, ... that does not lower F; None if there is none."""
        size = self.K * self.n
        for halvings in range(8):
            x = along(0.5**halvings)
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
        """n draws of tau from Q, (n, N), or as many as may be kept of a long record."""
        n = draw_budget(self.problem, n, chains=1).complete
        drawn = np.empty((n, len(self.problem.record)), dtype=precision(self.problem))
        tau = self.problem.rows.t.copy()
        for i, k in enumerate(rng.integers(self.K, size=n)):
            to_inputs(self.plan, found.m[k] + np.sqrt(found.v[k]) * rng.standard_normal(self.n), tau)
            drawn[i] = tau
        return drawn
