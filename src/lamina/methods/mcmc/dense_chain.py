"""mcmc on the dense engine: the paper's own Metropolis-within-Gibbs, for kernels that have no state-space form.

A round of the chain is

    theta    joint random-walk moves of the kernel's parameters (and y_scale), each with a fresh factorisation
    memory, alpha, t_scale    random walks that leave the likelihood as it is
    gaps     some coordinates of (start, log-gaps), one at a time: a gap is scaled and what lies after it shifts along
    beta     the trend coefficients, which theta and gaps integrate out, are drawn from their exact conditional
    tau      each input in turn takes a random step, discarded if it breaks the order; K^-1 follows, Eq. (50)

The posterior is that of the Markov chain. Rows are in the order of the record: only the order within each sequence
matters here.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy  # its parts load when they are first used: the Markov engine starts without them

from ...dense import NoCurve
from ...dense.moving import MovingInverse
from ...errors import KernelError
from ...kernels import Stationary
from ...model.parameters import ALPHA, MEMORY, T_SCALE, Y_SCALE
from ...model.problem import Problem
from ...model.trend import integrate
from ..chains import Chain, DrawBudget
from ..coordinates import OPEN, make_plan, to_coordinates, to_inputs
from ..target import log_prior, make_target
from .metropolis import BETWEEN_TARGET, JOINT_TARGET, TARGET, draw_steps
from .parameters import CHEAP_MOVES

Array = np.ndarray

#: Joint moves of theta a round, and a gap move for one coordinate in this many: both cost a factorisation.
THETA_MOVES, ONE_GAP_IN = 4, 2


class Curve(NamedTuple):
    """What the likelihood needs to know of phi."""

    kernel: Stationary
    y_var: Array  #: (N,)


class Collapsed(NamedTuple):
    """log p(y | tau, phi), trend coefficients integrated out, and their distribution."""

    value: float  #: up to a constant
    root: Array  #: (q, q): their covariance is root' root
    whitened: Array  #: (q,): and their mean root' whitened


class Steps(NamedTuple):
    """Proposal scales, adapted in warm-up."""

    joint: Array  #: (1,) of the joint move of theta, in units of its learnt covariance
    single: Array  #: (P,) of memory, alpha and t_scale
    gap: Array  #: (n,) of each coordinate
    move: Array  #: (N,) of each input


class DenseChain(Chain):
    """A chain on the dense engine: O(N²) a proposal of one input, O(N³) a proposal of theta."""

    def __init__(self, problem: Problem, seed: np.random.SeedSequence, budget: DrawBudget) -> None:
        super().__init__(problem, seed, budget)
        self.target, self.plan = make_target(problem), make_plan(problem)
        self.kernel = problem.kernel.stationary or NoCurve()
        size = len(problem.start)
        self.joint = self.target.theta
        self.single = [i for i in (MEMORY, ALPHA, T_SCALE) if problem.free[i]]
        self.uncertain: list[int] = np.flatnonzero(~problem.record.exact).tolist()
        self.steps = Steps(np.ones(1), np.full(size, 0.3), np.full(len(self.plan.rows), 0.5), 0.5 * problem.scale)
        starts = self.plan.first[:-1][self.plan.kind == OPEN]
        self.steps.gap[starts] = 0.5 * problem.scale[self.plan.rows[starts]]
        self.covariance = _RunningCovariance(self.now[1][self.joint])
        self.ignored = np.empty(len(problem.record)), np.empty(size)

    def advance(self, count: int, thin: int, adapt: bool) -> None:
        for k in range(count * thin):
            tau, phi = self.now
            rate = 2.0 / (self.covariance.rounds + 4.0) ** 0.6 if adapt else 0.0
            phi, collapsed = self._move_theta(tau, phi, rate)
            if adapt:
                self.covariance.follow(phi[self.joint])
            phi = self._move_single(tau, phi, rate)
            curve = self._curve(phi)
            if curve is not None and collapsed.value > -math.inf:  # else theta must find its way first
                tau, collapsed = self._move_gaps(tau, phi, curve, collapsed, rate)
                beta = collapsed.root.T @ (collapsed.whitened + self.rng.standard_normal(len(collapsed.whitened)))
                tau = self._sweep(tau, phi, curve, beta, rate)
            self.now = tau, phi
            if not adapt and (k + 1) % thin == 0:
                self.add(tau[None], phi[None])

    def snapshot(self) -> dict[str, Array]:
        learnt = self.covariance
        known = {"tau": self.now[0], "phi": self.now[1], "mean": learnt.mean, "covariance": learnt.covariance}
        return known | {"root": learnt.root, "rounds": np.array(learnt.rounds)} | self.steps._asdict()

    def restore(self, arrays: dict[str, Array]) -> None:
        for name, here in self.snapshot().items():
            if here.ndim > 0:
                here[:] = arrays[name]
        self.covariance.rounds = int(arrays["rounds"])

    def reset_adaptation(self) -> None:
        self.covariance.rounds = 0

    def _prior(self, tau: Array, phi: Array) -> float:
        """Dates, gaps and parameters; -inf where the order is broken."""
        return log_prior(self.target, tau, phi, *self.ignored)

    def _curve(self, phi: Array) -> Curve | None:
        """Kernel and variances at phi; None where a parameter has left the range of numbers."""
        try:
            kernel = self.kernel.with_theta(phi[: self.problem.n_kernel])
            return Curve(kernel, self.problem.y_var(math.exp(phi[Y_SCALE])))
        except KernelError:
            return None

    def _collapse(self, tau: Array, curve: Curve | None) -> Collapsed:
        """One factorisation; -inf where the covariance matrix is not positive definite in double precision."""
        nothing = Collapsed(-math.inf, np.empty((0, 0)), np.empty(0))
        if curve is None:
            return nothing
        rows = self.problem.rows
        K = curve.kernel.covariance(np.abs(tau[:, None] - tau))
        K.flat[:: len(tau) + 1] += curve.y_var
        L, failed = scipy.linalg.lapack.dpotrf(K, lower=1)
        if failed:
            return nothing
        Z, _ = scipy.linalg.lapack.dtrtrs(L, rows.base + np.outer(tau, rows.slope), lower=1)
        value, root, whitened = integrate(Z.T @ Z + self.problem.design.prior)
        if math.isnan(value):
            return nothing
        return Collapsed(value - float(np.log(L.diagonal()).sum()), root, whitened)

    def _accept(self, log_ratio: float) -> bool:
        return log_ratio >= 0.0 or math.log(self.rng.random()) < log_ratio

    def _move_theta(self, tau: Array, phi: Array, rate: float) -> tuple[Array, Collapsed]:
        here, prior = self._collapse(tau, self._curve(phi)), self._prior(tau, phi)
        for _ in range(THETA_MOVES if len(self.joint) else 0):
            trial = phi.copy()
            step = self.covariance.root @ draw_steps(self.rng, len(self.joint))
            trial[self.joint] += self.steps.joint[0] * step
            there, new_prior = self._collapse(tau, self._curve(trial)), self._prior(tau, trial)
            accepted = there.value > -math.inf and self._accept(there.value - here.value + new_prior - prior)
            if accepted:
                phi, here, prior = trial, there, new_prior
            self.steps.joint[0] *= math.exp(rate * (accepted - JOINT_TARGET))
        return phi, here

    def _move_gaps(self, tau: Array, phi: Array, curve: Curve, here: Collapsed, rate: float) -> tuple[Array, Collapsed]:
        n = len(self.plan.rows)
        x, prior = to_coordinates(self.plan, tau), self._prior(tau, phi)
        jacobian = to_inputs(self.plan, x, tau.copy())
        for i in self.rng.choice(n, size=-(-n // ONE_GAP_IN), replace=False):
            moved, trial = x.copy(), tau.copy()
            moved[i] += self.steps.gap[i] * draw_steps(self.rng, 1)[0]
            new_jacobian = to_inputs(self.plan, moved, trial)
            new_prior = self._prior(trial, phi)
            accepted = False
            if new_prior > -math.inf:
                there = self._collapse(trial, curve)
                ratio = there.value - here.value + new_prior - prior + new_jacobian - jacobian
                accepted = there.value > -math.inf and self._accept(ratio)
            if accepted:
                x, tau, here, prior, jacobian = moved, trial, there, new_prior, new_jacobian
            self.steps.gap[i] *= math.exp(rate * (accepted - TARGET))
        return tau, here

    def _move_single(self, tau: Array, phi: Array, rate: float) -> Array:
        prior = self._prior(tau, phi)
        for i in self.single * CHEAP_MOVES:
            trial = phi.copy()
            trial[i] += self.steps.single[i] * draw_steps(self.rng, 1)[0]
            new_prior = self._prior(tau, trial)
            accepted = self._accept(new_prior - prior)
            if accepted:
                phi, prior = trial, new_prior
            self.steps.single[i] *= math.exp(rate * (accepted - TARGET))
        return phi

    def _sweep(self, tau: Array, phi: Array, curve: Curve, beta: Array, rate: float) -> Array:
        rows, weights = self.problem.rows, np.concatenate([[1.0], -beta])
        base, slope = rows.base @ weights, float(rows.slope @ weights)
        try:
            state = MovingInverse.start(curve.kernel, tau, base + slope * tau, np.sqrt(curve.y_var))
        except KernelError:  # at the edge of what double precision can factorise
            return tau
        prior = self._prior(state.tau, phi)
        for row in self.uncertain:
            trial = state.tau.copy()
            trial[row] += self.steps.move[row] * self.rng.uniform(-1.5, 1.5)
            new_prior = self._prior(trial, phi)
            moved = self._moved(state, row, trial[row], base[row] + slope * trial[row], new_prior - prior)
            accepted = moved is not None
            if moved is not None:
                state, prior = moved, new_prior
            self.steps.move[row] *= math.exp(rate * (accepted - BETWEEN_TARGET))
        return state.tau

    def _moved(self, state: MovingInverse, row: int, tau: float, y: float, prior_ratio: float) -> MovingInverse | None:
        """The state with one input moved, or None if the move is rejected."""
        if not prior_ratio > -math.inf:
            return None
        try:
            move = state.propose(row, tau, y)
            return state.accept(move) if self._accept(move.value - state.value + prior_ratio) else None
        except KernelError:
            return None


class _RunningCovariance:
    """Mean and covariance of the joint parameters as the warm-up goes on, and the root that proposals use."""

    def __init__(self, start: Array) -> None:
        self.rounds, self.mean = 0, start.copy()
        self.covariance: Array = 0.05 * np.eye(len(start))
        self.root: Array = 0.2 * np.eye(len(start))

    def follow(self, phi: Array) -> None:
        self.rounds += 1
        share = 1.0 / (self.rounds + 10.0)
        self.mean += share * (phi - self.mean)
        off = phi - self.mean
        self.covariance += share * (np.outer(off, off) - self.covariance)
        if self.rounds >= 50 and self.rounds % 25 == 0:
            self.root = np.linalg.cholesky(self.covariance + 1e-6 * np.eye(len(phi)))
