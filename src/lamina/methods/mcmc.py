"""mcmc: the paper's Metropolis-within-Gibbs sampler, on the O(N) engine.

Several chains run on the cores there are, each with its own stream of random numbers, until every input and parameter
has R-hat <= 1.01 and at least 400 effective draws, or until a limit, which is then reported as not converged.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ..convergence import effective_draws, r_hat
from ..problem import Problem
from .chain import Model, State, advance
from .draws import Draws
from .starts import starting_inputs, starting_phi
from .sweep import Tuning, new_work

Array = np.ndarray
Progress = Callable[[dict[str, Any]], None]

R_HAT, ESS = 1.01, 400.0
#: Joint moves of theta a round: each costs about a fortieth of the sweep over the inputs.
THETA_MOVES = 8
#: With more inputs than this, a regular sample of them is watched for convergence.
WATCHED = 1000
#: Draws of very long records are kept in single precision, and no more of them than fill this many bytes.
SINGLE_PRECISION_ABOVE, MOST_BYTES = 5000, 400_000_000
#: Chains report, and can be interrupted, about this often.
SECONDS_A_BATCH = 0.25


def run(
    problem: Problem,
    seed: int = 0,
    chains: int = 4,
    draws: int = 2000,
    warmup: int = 1000,
    max_sweeps: int = 200_000,
    cores: int | None = None,
    progress: Progress | None = None,
) -> Draws:
    """Sample. ``draws`` are kept in all, thinned evenly; ``max_sweeps`` is the limit of each chain after warm-up."""
    began = time.perf_counter()
    room = MOST_BYTES // ((4 if len(problem.record) > SINGLE_PRECISION_ABOVE else 8) * len(problem.record))
    keep = max(min(draws, room) // chains, 10)
    runners = [_Chain(problem, s, keep) for s in np.random.SeedSequence(seed).spawn(chains)]
    crew = _Crew(runners, min(chains, cores or len(os.sched_getaffinity(0))), progress, warmup)
    thin, interrupted = 1, False
    try:
        for rounds in (3 * warmup) // 10, warmup - (3 * warmup) // 10:
            crew.advance(rounds, 1, adapt=True)
            for runner in runners:
                runner.forget()
        crew.advance(min(keep, max_sweeps), thin)
        while not crew.look() and runners[0].kept * thin < max_sweeps:
            crew.advance(min(keep, max_sweeps // thin - runners[0].kept), thin)
            if runners[0].kept < 2 * keep:
                crew.look()
                break
            for runner in runners:
                runner.halve()
            thin *= 2
    except KeyboardInterrupt:
        interrupted = True
    finally:
        crew.close()
    return _collect(runners, crew, thin, interrupted, time.perf_counter() - began)


class _Chain:
    """One chain: its state, its random numbers, and what it has kept."""

    def __init__(self, problem: Problem, seed: np.random.SeedSequence, keep: int) -> None:
        self.problem, self.rng, self.keep, self.kept = problem, np.random.default_rng(seed), keep, 0
        n, q = len(problem.record), len(problem.columns) - 1
        self.model = _model(problem)
        tau, phi = starting_inputs(problem, self.rng), starting_phi(problem, self.rng)
        joint = self.model.joint
        scale = np.where(problem.record.t_sd > 0, problem.record.t_sd, 1.0)
        self.state = State(
            tau=tau,
            order=np.argsort(tau, kind="stable"),
            phi=phi,
            beta=np.zeros(q),
            tuning=Tuning(0.5 * scale, np.full((2, n), 0.5)),
            mean=phi[joint].copy(),
            covariance=np.eye(len(joint)) * 0.05,
            root=np.eye(len(joint)) * 0.2,
            steps=np.array([1.0, 0.5, 0.1, 0.3]),
            count=np.zeros(2, dtype=np.int64),
            work=new_work(n, len(problem.dims), len(problem.rows.gaps)),
            Z=np.empty((n, q + 1)),
            y_var=np.empty(n),
            time=np.empty(n),
        )
        kind = np.float32 if n > SINGLE_PRECISION_ABOVE else np.float64
        self.tau = np.empty((2 * keep, n), dtype=kind)
        self.phi, self.beta = np.empty((2 * keep, len(phi))), np.empty((2 * keep, q))

    def advance(self, count: int, thin: int, adapt: bool) -> None:
        """``count`` times ``thin`` rounds; outside warm-up, every ``thin``-th is kept."""
        problem, first = self.problem, self.kept
        room = slice(0, 0) if adapt else slice(first, first + count)
        stride = count * thin + 1 if adapt else thin
        advance(
            problem.blocks, problem.dims, problem.columns, (0,) * (len(problem.dims) + 1), problem.rows, self.model,
            self.state, count * thin, stride, THETA_MOVES, adapt, self.rng,
            self.tau[room], self.phi[room], self.beta[room],
        )  # fmt: skip
        if not adapt:
            self.kept += count

    def forget(self) -> None:
        """Begin to learn the covariance of theta anew: the first part of the warm-up was still on its way."""
        self.state.count[1] = 0

    def halve(self) -> None:
        """Keep every second draw."""
        half = self.kept // 2
        for kept in self.tau, self.phi, self.beta:
            kept[:half] = kept[1 : 2 * half : 2]
        self.kept = half


class _Crew:
    """The chains, advanced together on several cores, and how far they have got."""

    def __init__(self, chains: list[_Chain], workers: int, progress: Progress | None, warmup: int) -> None:
        self.chains, self.progress, self.warmup = chains, progress, warmup
        self.pool = ThreadPoolExecutor(workers)
        self.sweeps, self.rounds_a_batch = 0, 16
        self.r_hat: Array | None = None
        self.ess: Array | None = None
        problem = chains[0].problem
        uncertain = np.flatnonzero(~problem.record.exact)
        stride = max(len(uncertain) // WATCHED, 1)
        self.rows, self.parameters = uncertain[::stride], np.flatnonzero(problem.free)

    def advance(self, count: int, thin: int, adapt: bool = False) -> None:
        """All chains by ``count`` times ``thin`` rounds, in batches short enough to report and to interrupt."""
        while count > 0:
            batch = min(max(self.rounds_a_batch // thin, 1), count)
            began = time.perf_counter()
            futures = [self.pool.submit(chain.advance, batch, thin, adapt) for chain in self.chains]
            for future in futures:
                future.result()
            took = time.perf_counter() - began
            grown = self.rounds_a_batch * min(max(SECONDS_A_BATCH / max(took, 1e-6), 0.5), 4.0)
            self.rounds_a_batch = max(int(grown), 1)
            count -= batch
            self.sweeps += batch * thin
            self.report(adapt)

    def report(self, adapt: bool) -> None:
        if self.progress is not None:
            known = {} if self.r_hat is None or self.ess is None else {"r_hat": self.worst_r_hat, "ess": self.least_ess}
            self.progress({"stage": "warm-up" if adapt else "sampling", "sweeps": self.sweeps, **known})

    def look(self) -> bool:
        """Have all inputs and parameters converged, as far as the kept draws tell?"""
        draws = np.stack([self._watched(chain) for chain in self.chains])
        self.r_hat, self.ess = r_hat(draws), effective_draws(draws)
        return bool(self.worst_r_hat <= R_HAT and self.least_ess >= ESS)

    def _watched(self, chain: _Chain) -> Array:
        kept = slice(0, chain.kept)
        return np.hstack([chain.tau[kept][:, self.rows].astype(float), chain.phi[kept][:, self.parameters]])

    @property
    def worst_r_hat(self) -> float:
        return float(np.max(self.r_hat, initial=1.0)) if self.r_hat is not None else np.nan

    @property
    def least_ess(self) -> float:
        return float(np.min(self.ess, initial=np.inf)) if self.ess is not None else 0.0

    def close(self) -> None:
        """Wait for the batch under way."""
        self.pool.shutdown(wait=True, cancel_futures=True)


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
        spread=bool(free[-3] and not (problem.record.exact & (problem.rows.sequence >= 0)).any()),
        t_scale_free=bool(free[-2]),
        gap_power=plain.power,
        gap_span=plain.per_gap,
        gamma=problem.gaps == "gamma",
        floor=problem.floor,
    )


def _collect(chains: list[_Chain], crew: _Crew, thin: int, interrupted: bool, seconds: float) -> Draws:
    kept = min(chain.kept for chain in chains)
    if kept == 0:  # interrupted in warm-up: where the chains are is all there is
        tau = np.stack([chain.state.tau for chain in chains])
        phi = np.stack([chain.state.phi for chain in chains])
    else:
        tau = np.concatenate([chain.tau[:kept] for chain in chains])
        phi = np.concatenate([chain.phi[:kept] for chain in chains])
        if kept >= 4:
            crew.look()
    names = [name for name, is_free in zip(chains[0].problem.names, chains[0].problem.free, strict=True) if is_free]
    diagnostics: dict[str, Any] = {
        "method": "mcmc",
        "seconds": seconds,
        "chains": len(chains),
        "sweeps": crew.sweeps,
        "warmup": min(crew.warmup, crew.sweeps),
        "thin": thin,
        "converged": bool(not interrupted and crew.worst_r_hat <= R_HAT and crew.least_ess >= ESS),
        "interrupted": interrupted,
        "r_hat": crew.worst_r_hat,
        "ess": crew.least_ess,
    }
    if crew.r_hat is not None and crew.ess is not None:
        inputs = len(crew.rows)
        diagnostics["watched_rows"] = crew.rows
        diagnostics["r_hat_inputs"], diagnostics["ess_inputs"] = crew.r_hat[:inputs], crew.ess[:inputs]
        diagnostics["r_hat_theta"] = dict(zip(names, crew.r_hat[inputs:].tolist(), strict=True))
        diagnostics["ess_theta"] = dict(zip(names, crew.ess[inputs:].tolist(), strict=True))
    return Draws.equal(tau, phi, chains=len(chains), diagnostics=diagnostics)
