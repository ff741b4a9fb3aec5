"""One chain of mcmc on a field: theta with the field integrated out, a path, Eq. (76), and inputs, Eq. (79)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ....errors import KernelError, MethodError
from ....field import reduced
from ....field.filter import Series
from ....field.layout import Values
from ....field.problem import as_field
from ....field.reduced import Fitted, Swept
from ....gaps.prior import SUMS, gamma_exponents
from ....model.parameters import ALPHA
from ....model.problem import Problem
from ....model.trend import at_times
from ...chains import Chain, DrawBudget
from ...target import make_target
from .alpha import RUN_LENGTHS, Shape, Work, move_alpha
from .approximate import Measured, Path, sum_log_rows
from .exact import log_exact
from .inputs import Pass, move_inputs
from .nodes import make_path, node_step
from .walks import Walk

Array = np.ndarray

#: Nodes reach so many of the largest errors of dates beyond the data, and farther where rows lie beyond all dates.
MARGIN = 10.0
#: Moves a sweep of the parameters of curves: random walks, and after warm-up independent proposals; those of constants
#: and rates; passes over the inputs; and for each of them moves of alpha. Parameters of curves are the slowest.
WALKS, INDEPENDENT, STATIC_WALKS, PASSES, ALPHA_MOVES = 6, 4, 3, 2, 4


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


class State(NamedTuple):
    """The likelihood and prior of the kernel's parameters at the present inputs."""

    phi: Array
    value: float
    swept: Swept
    fitted: Fitted


class FieldChain(Chain):
    """A chain on a field: interpreted, but for what costs time."""

    def __init__(self, problem: Problem, seed: np.random.SeedSequence, budget: DrawBudget) -> None:
        super().__init__(problem, seed, budget)
        self.field_problem = as_field(problem)
        self.reduced, self.target = reduced.reduce(self.field_problem), make_target(problem)
        tau, phi = self.now
        self.arranged: tuple[Array, Series] | None = None  #: inputs, and their rows in order
        self.range = _range(problem, tau)
        levels = max(int(np.diff(self.target.first).max(initial=1)), 2).bit_length()
        self.steps = np.tile(0.5 * np.where(problem.scale > 0.0, problem.scale, 1.0), (levels + 3, 1))
        self.sums = np.empty((len(problem.rows.gaps), len(SUMS)))
        self.scratch = np.zeros(len(problem.rows.gaps)), np.empty(len(tau))
        self.loose = np.flatnonzero((problem.rows.sequence < 0) & (problem.rows.t_var > 0.0))
        self.rounds, self.alpha_steps = 0, np.full(len(RUN_LENGTHS), 0.3)
        is_moving = np.isin(self.target.theta, self.reduced.moving)
        #: positions in phi of the unknown parameters of the curves, and of constants and rates; and their moves
        self.moving, self.static = self.target.theta[is_moving], self.target.theta[~is_moving]
        self.walks = {"moving": Walk(phi[self.moving]), "static": Walk(phi[self.static])}
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
        known = {"tau": self.now[0], "phi": self.now[1], "steps": self.steps, "alpha": self.alpha_steps}
        for name, walk in self.walks.items():
            known |= {f"{name} {what}": values for what, values in walk.arrays().items()}
        return known

    def restore(self, arrays: dict[str, Array]) -> None:
        for name, here in self.snapshot().items():
            here[:] = arrays[name]
        self.arranged = None
        (low, high), tau = self.range, self.now[0]
        self.range = min(low, float(tau.min())), max(high, float(tau.max()))

    def reset_adaptation(self) -> None:
        self.rounds = 0
        for walk in self.walks.values():
            walk.reset()

    def watched_curve(self, tau: Array, phi: Array, renewed: tuple[Array, ...]) -> Array:
        return self.seen[None]

    def prepare_answers(self) -> None:
        """Prediction is compiled with the chain."""

    def sweep(self, adapt: bool) -> None:
        """All moves once."""
        self.rounds += 1
        rate = 2.0 / (self.rounds + 4.0) ** 0.6 if adapt else 0.0
        here = self._move_theta(rate)
        for k in range(PASSES):
            self._move_inputs(here if k == 0 else None, rate)

    def _log_prior(self, phi: Array) -> float:
        """Of the parameters of the kernel: independent normals."""
        which = self.target.theta
        u = (phi[which] - self.problem.prior_mean[which]) / self.problem.prior_sd[which]
        return -0.5 * float(u @ u)

    def _arranged(self) -> Series:
        """The measured rows at the present inputs, put in order once for all parameters."""
        tau = self.now[0]
        if self.arranged is None or self.arranged[0] is not tau:
            self.arranged = tau, reduced.arrange(self.reduced, tau[self.field_problem.measured])
        return self.arranged[1]

    def _filtered(self, phi: Array, swept: Swept | None = None, transform: Array | None = None) -> State | None:
        """The likelihood at phi and the present inputs, with a filter unless it is ``swept`` already.

        transform: that of constants and rates, if known. None where double precision cannot compute it.
        """
        theta = self.field_problem.theta(phi)
        try:
            if swept is None:
                swept = reduced.sweep(self.reduced, theta, self._arranged())
            transform = reduced.static_roots(self.reduced, theta) if transform is None else transform
            fitted = reduced.fit_static(self.reduced, swept, transform)
        except KernelError:
            return None
        return State(phi, fitted.value + self._log_prior(phi), swept, fitted)

    def _move_theta(self, rate: float) -> State:
        here = self._filtered(self.now[1])
        if here is None:
            raise MethodError(
                "double precision cannot compute the likelihood of the field: errors of y are very small, or sites "
                "very near each other, compared with what the priors let the field vary. Merge such sites, give y_sd "
                "all errors of y, or set narrower priors of sd and length_km (priors=...)."
            )
        independent = 0 if rate > 0.0 else INDEPENDENT
        for k in range(WALKS + independent if len(self.moving) else 0):
            here = self._move(here, self.moving, self.walks["moving"], k >= WALKS, rate)
        for _ in range(STATIC_WALKS if len(self.static) else 0):
            here = self._move(here, self.static, self.walks["static"], False, rate)
        if rate > 0.0:
            self.walks["moving"].learn(here.phi[self.moving])
            self.walks["static"].learn(here.phi[self.static])
        self.now = self.now[0], here.phi
        return here

    def _move(self, here: State, which: Array, walk: Walk, independent: bool, rate: float) -> State:
        """Propose the parameters ``which`` together."""
        phi, ratio = here.phi.copy(), 0.0
        if independent:
            phi[which], ratio = walk.anywhere(here.phi[which], self.rng)
        else:
            phi[which] = walk.near(here.phi[which], self.rng)
        known = (None, here.fitted.transform) if which is self.moving else (here.swept, None)
        there = self._filtered(phi, *known)
        accepted = there is not None and math.log(self.rng.random()) < ratio + there.value - here.value
        if not independent:
            walk.adapt(rate, accepted)
        return there if accepted and there is not None else here

    def _move_inputs(self, here: State | None, rate: float) -> None:
        """Draw a path given the inputs at which ``here`` was computed, then move the inputs given the path."""
        (tau, phi), problem = self.now, self.field_problem
        here = self._filtered(phi) if here is None else here
        if here is None:
            return
        field, values, span = self.reduced.curves, here.swept.values, self.range[1] - self.range[0]
        white = problem.field.white_var(problem.theta(phi))
        step = node_step(field, values, float(np.median(problem.data.y_var)) + white, span, len(tau))
        first = self.range[0] - step * self.rng.random()  # a new grid each time
        nodes = first + step * np.arange(math.ceil(span / step) + 2)
        states, beta = reduced.draw(self.reduced, here.swept, here.fitted, nodes, self.rng)
        path, bridges = make_path(field, values, states, first, step)
        data = self._data(beta, white)
        off = log_exact(path, bridges, data, tau) - _sum(path, data, tau)
        moves = [self._spread_gaps, self._move_rows]
        tau, phi = self.now[0].copy(), self.now[1].copy()
        for move in moves if self.rng.random() < 0.5 else moves[::-1]:  # in either order: both together are reversible
            move(path, data, tau, phi, rate)
        rest = log_exact(path, bridges, data, tau) - _sum(path, data, tau)
        self.passes[0] += 1
        if math.log(self.rng.random()) < rest - off and self._is_within(tau):
            self.now = tau, phi
            self.passes[1] += 1
        self.seen = self._look(values, path, states, beta)

    def _is_within(self, tau: Array) -> bool:
        """Whether nodes reach all inputs, on whatever grid: one may reach farther than the next."""
        return bool(self.range[0] <= tau.min() and tau.max() <= self.range[1])

    def _spread_gaps(self, path: Path, data: Measured, tau: Array, phi: Array, rate: float) -> None:
        """Move alpha together with the gaps, in place."""
        if not self.problem.free[ALPHA]:
            return
        problem, target = self.problem, self.target
        shape = Shape(float(problem.prior_mean[ALPHA]), float(problem.prior_sd[ALPHA]), target.least_alpha)
        work = Work(target.rows, target.gap_prior, path, data, shape, self.alpha_steps, self.scratch[1], self.sums)
        phi[ALPHA] = move_alpha(work, tau, phi[ALPHA], ALPHA_MOVES, rate, self.rng)

    def _move_rows(self, path: Path, data: Measured, tau: Array, phi: Array, rate: float) -> None:
        """Move the inputs of all cores, in place."""
        exponents = self.target.gap_prior
        if self.target.gamma:
            exponents = gamma_exponents.py_func(self.problem.least_alpha + math.exp(phi[ALPHA]), exponents)
        now = Pass(self.target.rows, exponents, path, data, tau, *self.scratch, self.target.members, self.target.first,
                   self.loose, self.steps)  # fmt: skip
        move_inputs(now, rate, self.rng)

    def _data(self, beta: Array, white_var: float) -> Measured:
        """What was measured less constants and rates, for all rows."""
        problem, data, n = self.field_problem, self.reduced.data, len(self.now[0])
        weights = np.concatenate([[1.0], -beta])
        base, slope, y_var = np.zeros(n), np.zeros(n), np.full(n, np.inf)
        base[problem.measured] = data.base @ weights
        slope[problem.measured] = data.slope @ weights
        y_var[problem.measured] = problem.data.y_var + white_var
        return Measured(problem.places.index.astype(np.int64), base, slope, y_var)

    def _look(self, values: Values, path: Path, states: Array, beta: Array) -> Array:
        """The common curve, and then that of a site each, at the times that are watched; between nodes roughly."""
        problem, half, layout = self.field_problem, len(self.times) // 2, self.reduced.curves.layout
        at, s = self.times[:half], self.sites
        x = (at - path.first) / path.step
        i = np.minimum(x.astype(int), len(states) - 2)
        part = x - i
        q, S = len(problem.data.design.guess), len(problem.places)
        offset, columns, _, _ = at_times(problem.field.kernel, problem.data.design, at)
        common = offset + columns @ beta[:q]
        total = common.copy()
        for n, (k, _) in enumerate(self.reduced.static):
            own = beta[q + n * S + s]
            total += own * (at - problem.field.layout.origin[k]) if problem.field.layout.linear[k] else own
        for term in np.flatnonzero(layout.size == 1):
            level = values.mix[0, layout.first[term]] * states[:, layout.start[term]]
            common += (1.0 - part) * level[i] + part * level[i + 1]
        level = path.level + path.rough
        return np.concatenate([common, total + (1.0 - part) * level[i, s] + part * level[i + 1, s]])


def _range(problem: Problem, tau: Array) -> tuple[float, float]:
    """The times within which the inputs, which start at tau (N,), are sampled.

    Where rows lie beyond all dates of their core, only its pace says how far: the range is wider by the whole core.
    """
    record, t = problem.record, problem.rows.t
    loose = [rows for _, rows in record.sequences if not record.dated[rows[[0, -1]]].all()]
    reach = MARGIN * float(problem.scale.max()) + max((float(np.ptp(t[rows])) for rows in loose), default=0.0)
    return float(min(t.min(), tau.min()) - reach), float(max(t.max(), tau.max()) + reach)


def _sum(path: Path, data: Measured, tau: Array) -> float:
    return float(sum_log_rows(path, data, tau))
