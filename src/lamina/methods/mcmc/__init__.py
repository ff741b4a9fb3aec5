"""mcmc: the paper's Metropolis-within-Gibbs sampler, by default on the O(N) engine.

Several chains run on the cores there are, each with its own stream of random numbers, until they agree (``runner``).
"""

from __future__ import annotations

import numpy as np

from ...model.problem import Problem
from ...support.cpus import available_cores
from .. import Method
from ..chains import NUMBERS_AT_ONCE, Chain, DrawBudget, draw_budget
from ..draws import Checkpoint, Draws
from ..runner import Progress, run_until_converged
from ..words import Words, chain_evidence, chain_length
from .chain import Model, State, advance
from .dense_chain import DenseChain
from .renewal import OUTLIERS
from .sweep import Tuning, new_work

Array = np.ndarray

#: The fields of a chain's state that a checkpoint keeps; the others are room for work.
KEPT = ("tau", "order", "phi", "beta", "mean", "covariance", "root", "steps", "rounds", "moments", "seen")
#: And those of its rows, which change as well.
CHANGING = ("shift", "factor", "before", "after", "unit", "least", "regular", "carry")
#: Joint moves of theta a round: each costs about a fortieth of the sweep over the inputs.
THETA_MOVES = 8
#: In records of more rows than this, one row in so many stays when alpha moves together with the gaps: a move of all
#: gaps between the ends of a sequence would never be accepted.
WHOLE_ROWS, RUN = 1000, 8
#: The limit of each chain after warm-up, unless another is given.
MAX_SWEEPS = {"markov": 200_000, "dense": 20_000}


def run(
    problem: Problem,
    seed: int = 0,
    chains: int = 4,
    draws: int = 2000,
    warmup: int = 1000,
    max_sweeps: int | None = None,
    cores: int | None = None,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> Draws:
    """Sample. ``draws`` are kept in all, thinned evenly; ``max_sweeps`` is the limit of each chain after warm-up.

    checkpoint: ``Posterior.checkpoint`` of a fit of the same record and model that ended early, to go on from there.
    """
    kind: type[Chain] = MarkovChain if problem.engine == "markov" else DenseChain
    seeds, budget = np.random.SeedSequence(seed).spawn(chains), draw_budget(problem, draws, chains)
    # The dense chain is interpreted, and holds Python's lock: a second thread would only wait for it.
    workers = min(chains, cores or available_cores()) if kind is MarkovChain else 1
    made = [kind(problem, one, budget) for one in seeds]
    limit = max_sweeps or MAX_SWEEPS[problem.engine]
    return run_until_converged(made, warmup, limit, workers, progress, checkpoint)


class MarkovChain(Chain):
    """A chain on the Markov engine, compiled (``chain``)."""

    def __init__(
        self, problem: Problem, seed: np.random.SeedSequence, budget: DrawBudget, latent: Array | None = None
    ) -> None:
        super().__init__(problem, seed, budget, latent)
        n, q = len(problem.record), len(problem.columns) - 1
        self.model = _model(problem)
        tau, phi = self.now
        joint = self.model.joint
        rows = problem.rows
        rows = rows._replace(**{name: getattr(rows, name).copy() for name in CHANGING})
        self.state = State(
            rows=rows,
            tau=tau,
            order=np.argsort(tau, kind="stable"),
            phi=phi,
            beta=np.zeros(q),
            tuning=Tuning(0.5 * np.where(problem.record.exact, 1.0, problem.scale), np.full((2, n), 0.5)),
            mean=phi[joint].copy(),
            covariance=np.eye(len(joint)) * 0.05,
            root=np.eye(len(joint)) * 0.2,
            steps=np.array([1.0, 0.5, 0.1, 0.3, 0.3, 0.3]),
            rounds=np.zeros(2, dtype=np.int64),
            work=new_work(n, len(problem.dims), len(problem.rows.gaps)),
            Z=np.empty((n, q + 1)),
            y_var=np.empty(n),
            time=np.empty(n),
            trial=np.empty(n),
            trial_order=np.empty(n, dtype=np.int64),
            sums=np.empty((2, len(problem.rows.gaps), 2)),
            carry=np.empty(n),
            moments=np.zeros((3, n)),
            seen=np.zeros(1, dtype=np.int64),
        )

    def advance(self, count: int, thin: int, adapt: bool) -> None:
        problem, n = self.problem, len(self.problem.record)
        step = max(NUMBERS_AT_ONCE // n, 1)
        for some in (min(step, count - k) for k in range(0, count, step)):
            kept = 0 if adapt else some
            taus, phis = np.empty((kept, n), dtype=self.tau.dtype), np.empty((kept, len(problem.start)))
            shifts, factors = np.empty((2, kept if problem.has_renewals else 0, n))
            stride = some * thin + 1 if adapt else thin
            self.go(some * thin, stride, adapt, (taus, phis, shifts, factors))
            self.add(taus, phis, *((shifts, factors) if problem.has_renewals else ()))

    def go(self, rounds: int, thin: int, adapt: bool, kept: tuple[Array, ...]) -> None:
        """So many rounds in compiled code, which writes every ``thin``-th into the arrays ``kept``."""
        problem = self.problem
        advance(
            problem.blocks, problem.dims, problem.columns, (0,) * (len(problem.dims) + 1), self.model,
            self.state, rounds, thin, THETA_MOVES, adapt, self.rng, *kept,
        )  # fmt: skip

    def snapshot(self) -> dict[str, Array]:
        state = self.state
        changing = {name: getattr(state.rows, name) for name in CHANGING}
        return {name: getattr(state, name) for name in KEPT} | state.tuning._asdict() | changing

    def restore(self, arrays: dict[str, Array]) -> None:
        for name, here in self.snapshot().items():
            here[:] = arrays[name]

    @property
    def moments(self) -> tuple[Array, Array] | None:
        near, first, second = self.state.moments
        n = int(self.state.seen[0])
        return (near + first / n, np.maximum(second / n - (first / n) ** 2, 0.0)) if n else None

    def reset_adaptation(self) -> None:
        # In long records the posterior of theta is so narrow that any memory of the way there would swamp it.
        state = self.state
        state.rounds[1] = 0
        state.mean[:] = state.phi[self.model.joint]
        state.covariance[:] *= 1e-3


def _model(problem: Problem) -> Model:
    free = problem.free
    plain = problem.gap_prior(problem.start)
    candidates = [*range(problem.n_kernel), len(free) - 1]
    return Model(
        factors=problem.factors,
        trend_prior=problem.design.prior,
        prior_mean=problem.prior_mean,
        prior_sd=problem.prior_sd,
        joint=np.array([i for i in candidates if free[i]], dtype=np.int64),
        alpha_free=bool(free[-3]),
        memory=problem.model.memory,
        memory_free=bool(free[-4]),
        run=len(problem.record) if len(problem.record) <= WHOLE_ROWS else RUN,
        t_scale_free=bool(free[-2]),
        gap_power=plain.power,
        gap_span=plain.per_gap,
        gamma=problem.model.gaps == "gamma",
        floor=problem.floor,
        outliers=OUTLIERS[problem.model.outliers],
    )


METHOD = Method(
    name="mcmc",
    run=run,
    title="Metropolis-within-Gibbs sampling",
    words=Words(
        inference=lambda facts, kept: (
            "Inputs and parameters were sampled together by Metropolis-within-Gibbs sampling, "
            f"{chain_length(facts, kept)}."
        ),
        evidence=chain_evidence,
        remedy="Run it again with more sweeps, and check the dates in conflict: one wrong date can hold up a chain.",
        citations=lambda facts: ("Tran", "Rasmussen", "Vehtari"),
    ),
    infers_inputs=True,
    uses_order=True,
    has_memory=True,
    has_renewals=True,
)
