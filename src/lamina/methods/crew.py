"""Several chains side by side, run until they agree: what the samplers on both engines share.

Chains run until every input and parameter has R-hat <= 1.01 and at least 400 effective draws, or until a limit, which
is then reported as not converged. When the room for draws is full, every second one is dropped and thinning doubles.
"""

from __future__ import annotations

import hashlib
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ..convergence import effective_draws, r_hat
from ..errors import MethodError
from ..problem import Problem
from .draws import Checkpoint, Draws
from .starts import starting_inputs, starting_phi

Array = np.ndarray
Progress = Callable[[dict[str, Any]], None]

R_HAT, ESS = 1.01, 400.0
#: With more inputs than this, a regular sample of them is watched for convergence.
WATCHED = 1000
#: Draws of very long records are kept in single precision, and no more of them than fill this many bytes.
SINGLE_PRECISION_ABOVE, MOST_BYTES = 5000, 400_000_000
#: Chains report, and can be interrupted, about this often.
SECONDS_A_BATCH = 0.25
#: So many draws are watched for convergence at least, however few are wanted in the end.
FEWEST_WATCHED = 1000
#: What a chain keeps of each draw.
DRAWN = ("tau", "phi", "shift", "factor")
#: Fewer draws say nothing about convergence.
FEWEST_DRAWS = 4


class Chain(ABC):
    """One chain: where it is, its random numbers, and what it has kept."""

    def __init__(self, problem: Problem, seed: np.random.SeedSequence, keep: int) -> None:
        self.problem, self.rng, self.keep, self.kept = problem, np.random.default_rng(seed), keep, 0
        #: (N,) and (P,): the inputs and parameters now
        self.now: tuple[Array, Array] = starting_inputs(problem, self.rng), starting_phi(problem, self.rng)
        #: (N,) the rows whose input is an unknown
        self.latent: Array = ~problem.record.exact
        n = len(problem.record)
        self.tau = np.empty((2 * keep, n), dtype=np.float32 if n > SINGLE_PRECISION_ABOVE else np.float64)
        self.phi = np.empty((2 * keep, len(problem.start)))
        #: (2 keep, N), or empty: what stands for limits and outliers
        beside = (2 * keep, n) if problem.has_renewals else (0, n)
        self.shift, self.factor = np.zeros(beside), np.ones(beside)

    @abstractmethod
    def advance(self, count: int, thin: int, adapt: bool) -> None:
        """``count`` times ``thin`` rounds; outside warm-up (``adapt``), every ``thin``-th is kept."""

    @abstractmethod
    def snapshot(self) -> dict[str, Array]:
        """Where the chain is and how it proposes, as arrays; not its draws and random numbers."""

    @abstractmethod
    def restore(self, arrays: dict[str, Array]) -> None:
        """Go back to where ``snapshot`` was taken."""

    @abstractmethod
    def forget(self) -> None:
        """Begin to learn the covariance of theta anew: the first part of the warm-up was still on its way."""

    def halve(self) -> None:
        """Keep every second draw."""
        half = self.kept // 2
        for kept in self.tau, self.phi, self.shift, self.factor:
            kept[:half] = kept[1 : 2 * half : 2]
        self.kept = half


def room(problem: Problem, draws: int, chains: int) -> int:
    """How many draws each chain keeps at least, if ``draws`` are wanted in all."""
    size = 4 if len(problem.record) > SINGLE_PRECISION_ABOVE else 8
    return max(min(max(draws, FEWEST_WATCHED), MOST_BYTES // (size * len(problem.record))) // chains, 10)


def run_until_agreed(
    chains: Sequence[Chain],
    draws: int,
    warmup: int,
    max_sweeps: int,
    workers: int,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> Draws:
    """Warm up, then sample until the chains agree or each has made ``max_sweeps``. An interrupt keeps what there is.

    ``draws`` are wanted in all; chains keep more than that to tell whether they agree.

    From a checkpoint the chains go on, without another warm-up, for at most ``max_sweeps`` more: a run that was
    interrupted and goes on gives the draws of one that was not.
    """
    began = time.perf_counter()
    crew, keep = _Crew(chains, workers, progress), chains[0].keep
    interrupted = False
    try:
        if checkpoint is None:
            for rounds in (3 * warmup) // 10, warmup - (3 * warmup) // 10:
                crew.advance(rounds, adapt=True)
                for chain in chains:
                    chain.forget()
        else:
            crew.go_back(checkpoint)
            max_sweeps += chains[0].kept * crew.thin
        while not crew.ready(max_sweeps):
            goal = keep if chains[0].kept < keep else 2 * keep
            crew.advance(min(goal, max_sweeps // crew.thin) - chains[0].kept)
            if chains[0].kept == 2 * keep:
                for chain in chains:
                    chain.halve()
                crew.thin *= 2
    except KeyboardInterrupt:
        interrupted = True
    finally:
        crew.close()
    return _collect(crew, draws, interrupted, time.perf_counter() - began)


class _Crew:
    """The chains, advanced together on several cores, and how far they have got."""

    def __init__(self, chains: Sequence[Chain], workers: int, progress: Progress | None) -> None:
        self.chains, self.progress = chains, progress
        self.pool = ThreadPoolExecutor(workers)
        self.warmed_up, self.thin, self.rounds_a_batch = 0, 1, 16  #: sweeps of warm-up; thinning
        self.r_hat: Array | None = None
        self.ess: Array | None = None
        uncertain = np.flatnonzero(chains[0].latent)
        stride = max(len(uncertain) // WATCHED, 1)
        self.rows, self.parameters = uncertain[::stride], np.flatnonzero(chains[0].problem.free)

    @property
    def sweeps(self) -> int:
        """Of each chain, warm-up included."""
        return self.warmed_up + self.chains[0].kept * self.thin

    def ready(self, max_sweeps: int) -> bool:
        """Have the chains agreed, or reached their limit? Asked when their room is half full, and at the end."""
        kept = self.chains[0].kept
        at_limit = kept >= max_sweeps // self.thin
        return (kept == self.chains[0].keep or at_limit) and (self.look() or at_limit)

    def checkpoint(self) -> Checkpoint:
        """Everything needed to go on, as arrays."""
        found = {"thin": np.array(self.thin), "warmed up": np.array(self.warmed_up)}
        found["of"] = np.array(self.fingerprint())
        for k, chain in enumerate(self.chains):
            own = {f"draws {name}": getattr(chain, name)[: chain.kept] for name in DRAWN} | chain.snapshot()
            own["random"] = np.array(json.dumps(chain.rng.bit_generator.state))
            found |= {f"{k} {name}": values for name, values in own.items()}
        return found

    def fingerprint(self) -> str:
        """Tells one record, model and set of chains from another."""
        problem, record = self.chains[0].problem, self.chains[0].problem.record
        told: list[Any] = [repr(problem.kernel), problem.gaps, problem.engine, problem.outliers]
        told += [len(self.chains), self.chains[0].keep]
        numbers = [record.t, record.t_sd, record.y, record.y_sd, problem.free, problem.start]
        numbers += [problem.prior_mean, problem.prior_sd, *problem.rows, problem.design.prior]
        text = json.dumps([str(one) for one in told] + [np.asarray(one, dtype=float).tolist() for one in numbers])
        return hashlib.sha256(text.encode()).hexdigest()

    def go_back(self, checkpoint: Checkpoint) -> None:
        """Take up where a checkpoint was made. Raises MethodError if it belongs to another record or model."""
        try:
            if str(checkpoint["of"]) != self.fingerprint():
                raise ValueError("it was made with other data or another model")
            self.thin, self.warmed_up = int(checkpoint["thin"]), int(checkpoint["warmed up"])
            for k, chain in enumerate(self.chains):
                own = {name.split(" ", 1)[1]: values for name, values in checkpoint.items() if name.startswith(f"{k} ")}
                for name in DRAWN:
                    drawn = own.pop(f"draws {name}")
                    getattr(chain, name)[: len(drawn)] = drawn
                    chain.kept = max(chain.kept, len(drawn))
                chain.rng.bit_generator.state = json.loads(str(own.pop("random")))
                chain.restore(own)
        except (KeyError, ValueError, TypeError) as error:
            raise MethodError(
                f"the checkpoint does not fit this record and model ({error}). Begin without it."
            ) from None

    def advance(self, count: int, adapt: bool = False) -> None:
        """All chains by ``count`` times ``thin`` rounds, in batches short enough to report and to interrupt."""
        thin = self.thin
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
            self.warmed_up += batch if adapt else 0
            self.report(adapt)

    def report(self, adapt: bool) -> None:
        if self.progress is not None:
            known = {} if self.r_hat is None else {"r_hat": self.worst_r_hat, "ess": self.least_ess}
            self.progress({"stage": "warm-up" if adapt else "sampling", "sweeps": self.sweeps, **known})

    def look(self) -> bool:
        """Have all inputs and parameters converged, as far as the kept draws tell?"""
        kept = min(chain.kept for chain in self.chains)
        if kept < FEWEST_DRAWS:
            return False
        draws = np.stack([self._watched(chain, kept) for chain in self.chains])
        if draws.shape[2] == 0:  # everything is known
            self.r_hat, self.ess = np.empty(0), np.empty(0)
            return True
        self.r_hat, self.ess = r_hat(draws), effective_draws(draws)
        return self.agreed

    def _watched(self, chain: Chain, kept: int) -> Array:
        return np.hstack([chain.tau[:kept, self.rows].astype(float), chain.phi[:kept, self.parameters]])

    @property
    def agreed(self) -> bool:
        return bool(self.worst_r_hat <= R_HAT and self.least_ess >= ESS)

    @property
    def worst_r_hat(self) -> float:
        return float(np.max(self.r_hat, initial=1.0)) if self.r_hat is not None else np.nan

    @property
    def least_ess(self) -> float:
        return float(np.min(self.ess, initial=np.inf)) if self.ess is not None else 0.0

    def close(self) -> None:
        """Wait for the batch under way, of all chains: they must stay side by side."""
        self.pool.shutdown(wait=True)


def _collect(crew: _Crew, draws: int, interrupted: bool, seconds: float) -> Draws:
    chains, problem = crew.chains, crew.chains[0].problem
    crew.look()
    kept, drawn = min(chain.kept for chain in chains), DRAWN if problem.has_renewals else DRAWN[:2]
    if kept == 0:  # interrupted in warm-up: where the chains are is all there is
        found = {name: np.stack([chain.snapshot()[name] for chain in chains]) for name in drawn}
    else:
        wanted = kept if draws >= FEWEST_WATCHED else min(kept, max(draws // len(chains), 1))
        given = np.linspace(0, kept - 1, wanted).astype(int)
        found = {name: np.concatenate([getattr(chain, name)[given] for chain in chains]) for name in drawn}
    diagnostics: dict[str, Any] = {
        "method": "mcmc",
        "engine": problem.engine,
        "seconds": seconds,
        "chains": len(chains),
        "sweeps": crew.sweeps,
        "warmup": crew.warmed_up,
        "thin": crew.thin,
        "converged": not interrupted and crew.agreed,
        "interrupted": interrupted,
        "r_hat": crew.worst_r_hat,
        "ess": crew.least_ess,
    }
    if crew.r_hat is not None and crew.ess is not None:
        inputs, names = len(crew.rows), [problem.names[i] for i in crew.parameters]
        diagnostics["watched_rows"] = crew.rows
        diagnostics["r_hat_inputs"], diagnostics["ess_inputs"] = crew.r_hat[:inputs], crew.ess[:inputs]
        diagnostics["r_hat_theta"] = dict(zip(names, crew.r_hat[inputs:].tolist(), strict=True))
        diagnostics["ess_theta"] = dict(zip(names, crew.ess[inputs:].tolist(), strict=True))
    agreed = diagnostics["converged"]
    checkpoint = None if agreed or kept == 0 else crew.checkpoint()
    return Draws.equal(**found, chains=len(chains), diagnostics=diagnostics, checkpoint=checkpoint)
