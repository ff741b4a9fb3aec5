"""mcmc: the paper's Metropolis-within-Gibbs sampler, by default on the O(N) engine.

Several chains run on the CPUs there are, each with its own stream of random numbers, until they agree (``runner``).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...engine.packing import Packed
from ...gaps.prior import SUMS
from ...model.problem import Problem
from ...support.cpus import available_cpus
from .. import Method
from ..chains import NUMBERS_A_PART, Chain, DrawBudget, draw_budget
from ..draws import Checkpoint, Draws
from ..runner import Progress, run_until_converged
from ..target import CHANGING, Target, log_density, make_needs, make_target, new_trend
from ..words import Words, chain_evidence, chain_length
from .chain import Kept, Schedule, State, advance
from .dense_chain import DenseChain
from .fields.sampler import FieldChain, check_field
from .levels.level import LONE
from .levels.tent import KINDS
from .levels.window import count_windows
from .metropolis import FIRST_STEPS, Moves
from .paths.metric import new_paths
from .paths.path import FIRST_STEP
from .positions import Tuning, new_work
from .spreading import RUNS

Array = np.ndarray

#: The fields of a chain's state that a checkpoint keeps, beside those of its rows that change; the others are scratch.
KEPT = ("tau", "order", "phi", "beta", "mean", "covariance", "root", "steps", "rounds", "moments", "seen")
#: Parameters move twice a round. A move of theta costs as much as a third of a level of windows, one of alpha as two
#: thirds. Of these numbers none improves much on effective draws a second (``benchmarks/mixing.py``).
MOVES = Moves(theta=2, spread=3, tents=1, warps=1, lone=2, kinds=255, shortest=4, growth=2, stretches=1, leaps=24)
#: Chains of records of so many rows compare their parameters in warm-up if the logarithm of one differs by so much, and
#: take those of another chain if the log-posterior of theta given the inputs is so much higher there.
LONG, APART, FAR_BETTER = 2000, 1.0, 50.0
#: With so many sequences or more, few rows of one are in a window, and moves are made as for one sequence.
MOST_INTERLEAVED = 8
#: The limit of each chain after warm-up, unless another is given.
MAX_SWEEPS = {"markov": 200_000, "dense": 20_000}


def run(
    problem: Problem,
    seed: int = 0,
    chains: int = 4,
    draws: int = 2000,
    warmup: int | None = None,
    max_sweeps: int | None = None,
    cores: int | None = None,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> Draws:
    """Sample. ``draws`` are kept in all, thinned evenly; ``max_sweeps`` is the limit of each chain after warm-up.

    warmup: sweeps of warm-up, by default 500, with dense matrices 1000, on fields 400.

    checkpoint: ``Posterior.checkpoint`` of a fit of the same record and model that ended early, to continue from there.
    """
    kind = _kind_of(problem)
    seeds, budget = np.random.SeedSequence(seed).spawn(chains), draw_budget(problem, draws, chains)
    # The dense chain is interpreted, and holds Python's lock: a second thread would only wait for it.
    workers = min(chains, cores or available_cpus()) if problem.engine == "markov" else 1
    made = [kind(problem, one, budget) for one in seeds]
    limit = max_sweeps or MAX_SWEEPS[problem.engine]
    warmup = warmup or WARMUP[kind]
    return run_until_converged(made, warmup, limit, workers, progress, checkpoint)


def _kind_of(problem: Problem) -> type[Chain]:
    if problem.record.places is not None:
        return FieldChain
    return MarkovChain if problem.engine == "markov" else DenseChain


class MarkovChain(Chain):
    """A chain on the Markov engine, compiled (``chain``)."""

    def __init__(
        self, problem: Problem, seed: np.random.SeedSequence, budget: DrawBudget, latent: Array | None = None
    ) -> None:
        super().__init__(problem, seed, budget, latent)
        self.target = make_target(problem)
        self.state = new_state(problem, self.target, *self.now)
        self.packed = Packed(self.target), Packed(self.state)

    @property
    def moves(self) -> Moves:
        """How often each kind of move is made."""
        return moves_of(self.problem)

    def advance(self, count: int, thin: int, adapt: bool) -> None:
        problem, n = self.problem, len(self.problem.record)
        step = max(NUMBERS_A_PART // n, 1)
        for some in (min(step, count - k) for k in range(0, count, step)):
            size = 0 if adapt else some
            beside = np.empty((2, size if problem.has_renewals else 0, n))
            kept = Kept(np.empty((size, n), dtype=self.tau.dtype), np.empty((size, len(problem.start))), *beside)
            stride = some * thin + 1 if adapt else thin
            self.go(Schedule(some * thin, stride, self.moves, adapt), kept)
            self.add(kept.tau, kept.phi, *(beside if problem.has_renewals else ()))

    def go(self, schedule: Schedule, kept: Kept) -> None:
        """Run some rounds in compiled code."""
        advance(*self.packed, schedule, self.rng, kept)

    def snapshot(self) -> dict[str, Array]:
        state, rows = self.state, self.target.rows
        changing = {name: getattr(rows, name) for name in CHANGING}
        return {name: getattr(state, name) for name in KEPT} | state.tuning._asdict() | changing

    def restore(self, arrays: dict[str, Array]) -> None:
        for name, here in self.snapshot().items():
            here[:] = arrays[name]

    @property
    def moments(self) -> tuple[Array, Array] | None:
        near, first, second = self.state.moments
        n = int(self.state.seen[0])
        return (near + first / n, np.maximum(second / n - (first / n) ** 2, 0.0)) if n else None

    def consider(self, found: Sequence[Array]) -> None:
        # In the first sweeps, theta takes long steps while the inputs are far off. In a long record the posterior of
        # theta is narrow, and steps that suit it would not lead back from a place far away.
        theta, here = self.target.theta, self.state.phi
        apart = np.ptp([phi[theta] for phi in found], axis=0)
        if len(self.problem.record) < LONG or not (apart > APART).any():
            return
        choices = [here.copy() for _ in found]
        for phi, other in zip(choices, found, strict=True):
            phi[theta] = other[theta]
        best = max(choices, key=self._log_density)
        if self._log_density(best) > self._log_density(here) + FAR_BETTER:
            here[theta] = best[theta]

    def _log_density(self, phi: Array) -> float:
        return log_density(self.target, self.state.tau, phi, np.empty(len(self.state.tau)), np.empty(len(phi)))

    def reset_adaptation(self) -> None:
        # In long records the posterior of theta is so narrow that values from before the chain reached it would swamp
        # its covariance.
        state = self.state
        state.rounds[1] = 0
        state.mean[:] = state.phi[self.target.theta]
        state.covariance[:] *= 1e-3


def moves_of(problem: Problem) -> Moves:
    """The moves that pay for a record: those of one sequence, or longer windows with more tents for a few.

    The slowest inputs are then short runs of one sequence against the others: tents move them, if there are enough.
    alpha, which has the gaps of all sequences, needs fewer moves. Where all rows are without order, lone moves are all
    there is.
    """
    sequences = len(problem.rows.gaps)
    if sequences == 0:
        return MOVES._replace(lone=4)
    if not 2 <= sequences < MOST_INTERLEAVED:
        return MOVES
    shortest = MOVES.shortest * (2 if sequences == 2 else 4)
    return MOVES._replace(tents=sequences * MOVES.tents, shortest=shortest, spread=2)


def new_state(problem: Problem, target: Target, tau: Array, phi: Array) -> State:
    """A chain that begins at inputs tau (N,) and parameters phi (P,)."""
    n, columns, sequences = len(problem.record), len(problem.columns), len(problem.rows.gaps)
    theta = phi[target.theta]
    return State(
        tau=tau,
        order=np.argsort(tau, kind="stable"),
        phi=phi,
        beta=np.zeros(columns - 1),
        tuning=_first_tuning(problem),
        mean=theta,
        covariance=np.eye(len(theta)) * 0.05,
        root=np.eye(len(theta)) * 0.2,
        steps=np.array(FIRST_STEPS),
        rounds=np.zeros(2, dtype=np.int64),
        runs=np.array(RUNS),
        moments=np.zeros((3, n)),
        seen=np.zeros(1, dtype=np.int64),
        work=new_work(n, len(problem.dims), sequences),
        trend=new_trend(n, columns),
        proposal=np.empty(len(phi)),
        noise=np.empty(len(theta)),
        trial=np.empty(n),
        trial_order=np.empty(n, dtype=np.int64),
        sums=np.empty((sequences, len(SUMS))),
        carry=np.empty(n),
        paths=new_paths(problem) if target.needs.paths else np.empty((0, 0)),
    )


def _first_tuning(problem: Problem) -> Tuning:
    """Steps before warm-up."""
    n, scale = len(problem.record), 0.5 * np.where(problem.record.exact, 1.0, problem.scale)
    kinds = KINDS if make_needs(problem).trades is None else LONE + 1
    moves = moves_of(problem)
    windows = np.full((kinds, count_windows(n, moves.shortest, moves.growth)), np.median(scale))
    return Tuning(scale, np.full((2, n), 0.5), windows, np.full((2, len(RUNS)), 0.3), np.array([FIRST_STEP]))


#: Sweeps of warm-up, unless another number is given.
WARMUP: dict[type[Chain], int] = {MarkovChain: 500, DenseChain: 1000, FieldChain: 400}

METHOD = Method(
    name="mcmc",
    run=run,
    title="Metropolis-within-Gibbs sampling",
    words=Words(
        inference=lambda facts, kept: (
            f"All unknowns were sampled together by Metropolis-within-Gibbs sampling, {chain_length(facts, kept)}."
        ),
        evidence=chain_evidence,
        remedy="Run it again with more sweeps, and check the dates in conflict: one wrong date can hold up a chain.",
        citations=lambda facts: ("Tran", "Rasmussen", "Vehtari"),
    ),
    infers_inputs=True,
    has_gap_prior=True,
    has_memory=True,
    has_renewals=True,
    has_places=True,
    check_own=check_field,
)
