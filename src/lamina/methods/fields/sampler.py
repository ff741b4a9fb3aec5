"""One chain of mcmc on a field."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...errors import KernelError, MethodError
from ...field import chain
from ...field.data import Data, make_data
from ...field.layout import Field
from ...gaps.prior import SUMS
from ...model.parameters import ALPHA
from ...model.problem import Problem
from ..mcmc.metropolis import JOINT_TARGET, TARGET
from ..starts import starting_inputs
from ..target import make_target
from .approximate import Measured, Path, sum_log_rows
from .exact import log_exact
from .inputs import Pass, log_gap_prior, move_inputs
from .nodes import make_path, node_step

Array = np.ndarray

#: Nodes reach so many of the largest errors of dates beyond the data.
MARGIN = 10.0
#: Degrees of freedom of the independent proposals of theta, and how much wider they are than the posterior.
FREEDOM, WIDER = 6.0, 1.15
#: Random walks of theta and of alpha a sweep, and passes over the inputs.
WALKS, ALPHA_WALKS, PASSES = 2, 4, 2


@dataclass(frozen=True)
class FieldProblem:
    """A record of many sites: its rows and gap prior as for one curve, and the field that they measure."""

    base: Problem  #: rows, dates, gaps and alpha; its kernel plays no part
    field: Field
    data: Data  #: of the measured rows
    site: Array  #: (N,) of all rows
    prior_mean: Array  #: (p,) of theta, the logarithms of the parameters of the field
    prior_sd: Array  #: (p,)

    @property
    def measured(self) -> Array:
        """The rows that have a y."""
        return np.flatnonzero(self.base.rows.measured)


def make_field_problem(base: Problem, field: Field, site: Array, prior_mean: Array, prior_sd: Array) -> FieldProblem:
    """Check that mcmc can sample a field with these rows. Raises MethodError for what it cannot do."""
    rows = base.rows
    for there, what, remedy in (
        (base.has_renewals, "limits and outliers", "Leave these rows out."),
        (base.model.memory, "memory between gaps", "Leave memory out."),
        (bool(base.model.estimate), "unknown scales of errors", "Leave estimate out."),
        (bool((rows.block >= 0).any()), "rows at equal depth", "Tie them, or give them no order."),
    ):
        if there:
            raise MethodError(f"mcmc on a field has no {what}. {remedy}")
    measured = np.flatnonzero(rows.measured)
    y_sd = np.sqrt(rows.y_var[measured])
    data = make_data(field, rows.t[measured], site[measured], base.y[measured], y_sd)
    return FieldProblem(base, field, data, np.asarray(site, np.int64), prior_mean, prior_sd)


class FieldSampler:
    """Where a chain is: inputs tau (N,), theta (p,), phi of the base problem (alpha); and how it proposes."""

    def __init__(self, problem: FieldProblem, seed: np.random.SeedSequence | int) -> None:
        self.problem, self.rng = problem, np.random.default_rng(seed)
        base, rng = problem.base, self.rng
        self.tau = starting_inputs(base, rng)
        self.theta = problem.prior_mean + 0.3 * problem.prior_sd * rng.standard_normal(len(problem.prior_mean))
        self.phi = base.start.copy()
        self.target = make_target(base)
        reach = MARGIN * float(base.scale.max())
        self.range = float(min(base.rows.t.min(), self.tau.min()) - reach), float(
            max(base.rows.t.max(), self.tau.max()) + reach
        )  # fmt: skip
        n = len(self.tau)
        levels = max(int(np.diff(self.target.first).max(initial=1)), 2).bit_length()
        self.steps = np.tile(0.5 * np.where(base.scale > 0.0, base.scale, 1.0), (levels + 3, 1))
        self.sums = np.empty((len(base.rows.gaps), len(SUMS)))
        self.scratch = np.zeros(len(base.rows.gaps)), np.empty(n)
        self.loose = np.flatnonzero((base.rows.sequence < 0) & (base.rows.t_var > 0.0))
        self.rounds, self.walk, self.alpha_step = 0, 1.0, 0.5
        p = len(self.theta)
        self.mean, self.covariance = self.theta.copy(), 0.05 * np.eye(p)
        self.root: Array = 0.2 * np.eye(p)
        self.passes = [0, 0]  #: passes over the inputs, and those that were accepted
        self.path: Path | None = None

    def log_prior_theta(self, theta: Array) -> float:
        """Independent normals."""
        u = (theta - self.problem.prior_mean) / self.problem.prior_sd
        return -0.5 * float(u @ u)

    def filtered(self, theta: Array) -> chain.Filtered | None:
        """The filter at the present inputs; None where double precision cannot run it."""
        try:
            return chain.run(self.problem.field, theta, self.problem.data, self.tau[self.problem.measured])
        except KernelError:
            return None

    def sweep(self, adapt: bool) -> None:
        """All moves once."""
        self.rounds += 1
        rate = 2.0 / (self.rounds + 4.0) ** 0.6 if adapt else 0.0
        found = self._move_theta(rate, adapt)
        if adapt:
            self._learn()
        for _ in range(PASSES):
            self._move_inputs(found, rate)
        self._move_alpha(rate)

    def reset_adaptation(self) -> None:
        """Learn the covariance of theta anew."""
        self.rounds, self.mean = 0, self.theta.copy()
        self.covariance = self.covariance * 0.1

    def _move_theta(self, rate: float, adapt: bool) -> chain.Filtered:
        here = self.filtered(self.theta)
        assert here is not None
        value = here.value + self.log_prior_theta(self.theta)
        rng, p = self.rng, len(self.theta)
        for k in range(WALKS + (0 if adapt else 1) if p else 0):
            independent = k == WALKS
            if independent:
                stretch = WIDER / math.sqrt(rng.gamma(0.5 * FREEDOM, 2.0 / FREEDOM))
                trial = self.mean + stretch * (self.root @ rng.standard_normal(p))
            else:
                trial = self.theta + self.walk * (self.root @ rng.standard_normal(p))
            there = self.filtered(trial)
            ratio = -math.inf if there is None else there.value + self.log_prior_theta(trial) - value
            if independent:
                ratio += self._log_proposal(self.theta) - self._log_proposal(trial)
            accepted = math.log(rng.random()) < ratio
            if accepted and there is not None:
                self.theta, here, value = trial, there, there.value + self.log_prior_theta(trial)
            if not independent:
                self.walk *= math.exp(rate * (accepted - JOINT_TARGET))
        return here

    def _log_proposal(self, theta: Array) -> float:
        u = np.linalg.solve(self.root, theta - self.mean) / WIDER
        return -0.5 * (FREEDOM + len(theta)) * math.log1p(float(u @ u) / FREEDOM)

    def _learn(self) -> None:
        share = 1.0 / (self.rounds + 10.0)
        self.mean = self.mean + share * (self.theta - self.mean)
        off = self.theta - self.mean
        self.covariance = self.covariance + share * (np.outer(off, off) - self.covariance)
        if self.rounds >= 50 and self.rounds % 25 == 0:
            self.root = np.linalg.cholesky(self.covariance + 1e-6 * np.eye(len(off)))

    def _move_inputs(self, found: chain.Filtered, rate: float) -> None:
        """Draw a path given the inputs at which ``found`` was computed, then move the inputs given the path."""
        problem, measured = self.problem, self.problem.measured
        if rate > 0.0 or not np.array_equal(found.series.time, np.sort(self.tau[measured])):
            again = self.filtered(self.theta)
            if again is None:
                return
            found = again
        span = self.range[1] - self.range[0]
        step = node_step(problem.field, found.values, float(np.median(problem.data.y_var)), span, len(self.tau))
        count = math.ceil(span / step) + 2
        first = self.range[0] - step * self.rng.random()  # a new grid each time
        nodes = first + step * np.arange(count)
        states, beta = chain.draw(problem.field, found, nodes, self.rng)
        path, bridges = make_path(problem.field, found.values, states, first, step)
        data = self._data(beta)
        exponents = self.target.gap_prior
        if self.target.gamma:
            exponents = exponents._replace(shape=self.alpha)
        trial = self.tau.copy()
        now = Pass(self.target.rows, exponents, path, data, trial, *self.scratch, self.target.members,
                   self.target.first, self.loose, self.steps)  # fmt: skip
        off = log_exact(path, bridges, data, self.tau) - _sum(path, data, self.tau)
        move_inputs(now, rate, self.rng)
        ratio = log_exact(path, bridges, data, trial) - _sum(path, data, trial) - off
        self.passes[0] += 1
        if math.log(self.rng.random()) < ratio:
            self.tau = trial
            self.passes[1] += 1
        self.path = path

    def _data(self, beta: Array) -> Measured:
        """What was measured less the common trend, for all rows."""
        problem, n = self.problem, len(self.tau)
        weights = np.concatenate([[1.0], -beta])
        base, slope, y_var = np.zeros(n), np.zeros(n), np.full(n, np.inf)
        base[problem.measured] = problem.data.base @ weights
        slope[problem.measured] = problem.data.slope @ weights
        y_var[problem.measured] = problem.data.y_var
        return Measured(problem.site, base, slope, y_var)

    @property
    def alpha(self) -> float:
        """The shape of the gaps."""
        return self.problem.base.least_alpha + math.exp(self.phi[ALPHA])

    def _log_alpha(self, log_alpha: float) -> float:
        base = self.problem.base
        alpha = base.least_alpha + math.exp(log_alpha)
        value = -0.5 * ((log_alpha - base.prior_mean[ALPHA]) / base.prior_sd[ALPHA]) ** 2
        prior = self.target.gap_prior._replace(shape=alpha)
        return value + log_gap_prior(self.target.rows, prior, self.tau, self.sums)

    def _move_alpha(self, rate: float) -> None:
        if not self.problem.base.free[ALPHA]:
            return
        here = self._log_alpha(self.phi[ALPHA])
        for _ in range(ALPHA_WALKS):
            trial = self.phi[ALPHA] + self.alpha_step * self.rng.standard_normal()
            there = self._log_alpha(trial)
            accepted = math.log(self.rng.random()) < there - here
            if accepted:
                self.phi[ALPHA], here = trial, there
            self.alpha_step *= math.exp(rate * (accepted - TARGET))


def _sum(path: Path, data: Measured, tau: Array) -> float:
    return float(sum_log_rows(path, data, tau))
