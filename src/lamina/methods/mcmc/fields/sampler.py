"""One chain of mcmc on a field: theta with the field integrated out, a path, Eq. (76), and inputs, Eq. (78)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....errors import KernelError, MethodError
from ....field import chain
from ....field.problem import as_field
from ....gaps.prior import SUMS
from ....model.parameters import ALPHA
from ....model.problem import Problem
from ....model.trend import at_times
from ...chains import Chain, DrawBudget
from ...target import make_target
from ..metropolis import JOINT_TARGET, TARGET
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


def check_field(problem: Problem, options: dict[str, Any]) -> None:
    """Raise MethodError for what mcmc cannot do on a field."""
    if problem.record.places is None:
        return
    for there, what, remedy in (
        (bool(problem.rows.limit.any()), "limits", "Leave these rows out."),
        (problem.model.outliers is not None, "outliers", "Leave outliers= out."),
        (problem.model.memory, "memory between gaps", "Leave memory= out."),
        (bool(problem.model.estimate), "unknown scales of errors", "Leave estimate= out."),
        (bool((problem.rows.block >= 0).any()), "rows at equal depth", "Tie them, or give them no order."),
    ):
        if there:
            raise MethodError(f"a field has no {what}. {remedy}")


class FieldChain(Chain):
    """A chain on a field: interpreted, but for what costs time."""

    def __init__(self, problem: Problem, seed: np.random.SeedSequence, budget: DrawBudget) -> None:
        super().__init__(problem, seed, budget)
        self.field_problem = as_field(problem)
        self.target = make_target(problem)
        self.theta = self.target.theta  #: positions in phi of what the likelihood depends on
        tau, phi = self.now
        reach = MARGIN * float(problem.scale.max())
        low, high = min(problem.rows.t.min(), tau.min()), max(problem.rows.t.max(), tau.max())
        self.range = float(low - reach), float(high + reach)
        levels = max(int(np.diff(self.target.first).max(initial=1)), 2).bit_length()
        self.steps = np.tile(0.5 * np.where(problem.scale > 0.0, problem.scale, 1.0), (levels + 3, 1))
        self.sums = np.empty((len(problem.rows.gaps), len(SUMS)))
        self.scratch = np.zeros(len(problem.rows.gaps)), np.empty(len(tau))
        self.loose = np.flatnonzero((problem.rows.sequence < 0) & (problem.rows.t_var > 0.0))
        self.rounds = 0
        self.scales = np.array([1.0, 0.5])  #: of the random walks of theta and of alpha
        p = len(self.theta)
        self.mean, self.covariance = phi[self.theta], 0.05 * np.eye(p)
        self.root: Array = 0.2 * np.eye(p)
        self.passes = [0, 0]  #: passes over the inputs, and those that were accepted
        nearest = np.abs(problem.rows.t[self.field_problem.measured][None] - self.times[:, None]).argmin(axis=1)
        self.sites = self.field_problem.data.site[nearest]  #: those at which the curve is watched
        self.times = np.tile(self.times, 2)
        self.curve = np.empty((len(self.curve), len(self.times)))
        self.seen = np.full(len(self.times), np.nan)

    def advance(self, count: int, thin: int, adapt: bool) -> None:
        for k in range(count * thin):
            self.sweep(adapt)
            if not adapt and (k + 1) % thin == 0:
                tau, phi = self.now
                self.add(tau[None], phi[None])

    def snapshot(self) -> dict[str, Array]:
        known = {"tau": self.now[0], "phi": self.now[1], "steps": self.steps, "scales": self.scales}
        learnt = {"mean": self.mean, "covariance": self.covariance, "root": self.root}
        return known | learnt | {"rounds": np.array(self.rounds)}

    def restore(self, arrays: dict[str, Array]) -> None:
        for name, here in self.snapshot().items():
            if here.ndim > 0:
                here[:] = arrays[name]
        self.rounds = int(arrays["rounds"])

    def reset_adaptation(self) -> None:
        self.rounds = 0
        self.mean[:] = self.now[1][self.theta]
        self.covariance *= 0.1

    def watched_curve(self, tau: Array, phi: Array, renewed: tuple[Array, ...]) -> Array:
        return self.seen[None]

    def prepare_answers(self) -> None:
        """Prediction is compiled with the chain."""

    def sweep(self, adapt: bool) -> None:
        """All moves once."""
        self.rounds += 1
        rate = 2.0 / (self.rounds + 4.0) ** 0.6 if adapt else 0.0
        found = self._move_theta(rate, adapt)
        if adapt:
            self._learn()
        for k in range(PASSES):
            self._move_inputs(found if k == 0 else None, rate)
        self._move_alpha(rate)

    def _log_prior(self, phi: Array) -> float:
        """Of the parameters of the likelihood: independent normals."""
        u = (phi[self.theta] - self.problem.prior_mean[self.theta]) / self.problem.prior_sd[self.theta]
        return -0.5 * float(u @ u)

    def _filtered(self, phi: Array) -> chain.Filtered | None:
        """The filter at the present inputs; None where double precision cannot run it."""
        problem = self.field_problem
        try:
            return chain.run(problem.field, problem.theta(phi), problem.data, self.now[0][problem.measured])
        except KernelError:
            return None

    def _move_theta(self, rate: float, adapt: bool) -> chain.Filtered:
        tau, phi = self.now
        here, rng, p = self._filtered(phi), self.rng, len(self.theta)
        assert here is not None
        value = here.value + self._log_prior(phi)
        for k in range(WALKS + (0 if adapt else 1) if p else 0):
            independent, trial = k == WALKS, phi.copy()
            if independent:
                stretch = WIDER / math.sqrt(rng.gamma(0.5 * FREEDOM, 2.0 / FREEDOM))
                trial[self.theta] = self.mean + stretch * (self.root @ rng.standard_normal(p))
            else:
                trial[self.theta] += self.scales[0] * (self.root @ rng.standard_normal(p))
            there = self._filtered(trial)
            ratio = -math.inf if there is None else there.value + self._log_prior(trial) - value
            if independent:
                ratio += self._log_proposal(phi) - self._log_proposal(trial)
            accepted = math.log(rng.random()) < ratio
            if accepted and there is not None:
                phi, here, value = trial, there, there.value + self._log_prior(trial)
            if not independent:
                self.scales[0] *= math.exp(rate * (accepted - JOINT_TARGET))
        self.now = tau, phi
        return here

    def _log_proposal(self, phi: Array) -> float:
        u = np.linalg.solve(self.root, phi[self.theta] - self.mean) / WIDER
        return -0.5 * (FREEDOM + len(u)) * math.log1p(float(u @ u) / FREEDOM)

    def _learn(self) -> None:
        share = 1.0 / (self.rounds + 10.0)
        self.mean += share * (self.now[1][self.theta] - self.mean)
        off = self.now[1][self.theta] - self.mean
        self.covariance += share * (np.outer(off, off) - self.covariance)
        if self.rounds >= 50 and self.rounds % 25 == 0:
            self.root[:] = np.linalg.cholesky(self.covariance + 1e-6 * np.eye(len(off)))

    def _move_inputs(self, found: chain.Filtered | None, rate: float) -> None:
        """Draw a path given the inputs at which ``found`` was computed, then move the inputs given the path."""
        (tau, phi), problem = self.now, self.field_problem
        found = self._filtered(phi) if found is None else found
        if found is None:
            return
        span = self.range[1] - self.range[0]
        step = node_step(problem.field, found.values, float(np.median(problem.data.y_var)), span, len(tau))
        first = self.range[0] - step * self.rng.random()  # a new grid each time
        nodes = first + step * np.arange(math.ceil(span / step) + 2)
        states, beta = chain.draw(problem.field, found, nodes, self.rng)
        path, bridges = make_path(problem.field, found.values, states, first, step)
        data, trial = self._data(beta), tau.copy()
        exponents = self.target.gap_prior
        if self.target.gamma:
            exponents = exponents._replace(shape=self.alpha)
        now = Pass(self.target.rows, exponents, path, data, trial, *self.scratch, self.target.members,
                   self.target.first, self.loose, self.steps)  # fmt: skip
        off = log_exact(path, bridges, data, tau) - _sum(path, data, tau)
        move_inputs(now, rate, self.rng)
        ratio = log_exact(path, bridges, data, trial) - _sum(path, data, trial) - off
        self.passes[0] += 1
        if math.log(self.rng.random()) < ratio:
            self.now = trial, phi
            self.passes[1] += 1
        self.seen = self._look(found, path, states, beta)

    def _data(self, beta: Array) -> Measured:
        """What was measured less the common trend, for all rows."""
        problem, n = self.field_problem, len(self.now[0])
        weights = np.concatenate([[1.0], -beta])
        base, slope, y_var = np.zeros(n), np.zeros(n), np.full(n, np.inf)
        base[problem.measured] = problem.data.base @ weights
        slope[problem.measured] = problem.data.slope @ weights
        y_var[problem.measured] = problem.data.y_var
        return Measured(problem.places.index.astype(np.int64), base, slope, y_var)

    def _look(self, found: chain.Filtered, path: Path, states: Array, beta: Array) -> Array:
        """The common curve, and then that of a site each, at the times that are watched; between nodes roughly."""
        problem, half = self.field_problem, len(self.times) // 2
        at, layout = self.times[:half], problem.field.layout
        x = (at - path.first) / path.step
        i = np.minimum(x.astype(int), len(states) - 2)
        part = x - i
        offset, columns, _, _ = at_times(problem.field.kernel, problem.data.design, at)
        trend = offset + columns @ beta
        common = trend.copy()
        for k in np.flatnonzero(layout.size == 1):
            level = found.values.mix[0, layout.first[k]] * states[:, layout.start[k]]
            common += (1.0 - part) * level[i] + part * level[i + 1]
        level = path.level + path.rough
        s = self.sites
        total = (1.0 - part) * level[i, s] + part * level[i + 1, s] + path.constant[s] + path.linear[s] * at
        return np.concatenate([common, total + trend])

    @property
    def alpha(self) -> float:
        """The shape of the gaps."""
        return self.problem.least_alpha + math.exp(self.now[1][ALPHA])

    def _log_alpha(self, log_alpha: float) -> float:
        problem = self.problem
        alpha = problem.least_alpha + math.exp(log_alpha)
        value = -0.5 * ((log_alpha - problem.prior_mean[ALPHA]) / problem.prior_sd[ALPHA]) ** 2
        prior = self.target.gap_prior._replace(shape=alpha)
        return value + log_gap_prior(self.target.rows, prior, self.now[0], self.sums)

    def _move_alpha(self, rate: float) -> None:
        if not self.problem.free[ALPHA]:
            return
        phi = self.now[1].copy()
        here = self._log_alpha(phi[ALPHA])
        for _ in range(ALPHA_WALKS):
            trial = phi[ALPHA] + self.scales[1] * self.rng.standard_normal()
            there = self._log_alpha(trial)
            accepted = math.log(self.rng.random()) < there - here
            if accepted:
                phi[ALPHA], here = trial, there
            self.scales[1] *= math.exp(rate * (accepted - TARGET))
        self.now = self.now[0], phi


def _sum(path: Path, data: Measured, tau: Array) -> float:
    return float(sum_log_rows(path, data, tau))
