"""Several chains side by side, run until they agree: what the samplers on both engines share.

Chains run until every input and parameter has R-hat <= 1.01 and at least 400 effective draws, or until a limit, which
is then reported as not converged. When the room for draws is full, every second one is dropped and thinning doubles.

Of a long record, what tells whether chains agree are the parameters and a sample of the inputs; all inputs are kept of
no more draws than are wanted, so that these, and not the sweeps, say how much memory is used.
"""

from __future__ import annotations

import hashlib
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from ..errors import MethodError
from ..model.problem import Problem
from .convergence import effective_draws, r_hat
from .draws import Checkpoint, Draws
from .starts import starting_point

Array = np.ndarray
Progress = Callable[[dict[str, Any]], None]

R_HAT, ESS = 1.01, 400.0
#: With more inputs than this, a regular sample of them is watched for convergence.
WATCHED = 1000
#: Draws of very long records are kept in single precision, if that can tell a fiftieth of every error of a date, and no
#: more of them than fill this many bytes.
SINGLE_PRECISION_ABOVE, FINENESS, MOST_BYTES = 5000, 0.02, 400_000_000
#: Draws go from the compiled chain to their places in parts of about this many numbers.
NUMBERS_AT_ONCE = 2_000_000
#: Chains report, and can be interrupted, about this often.
SECONDS_A_BATCH = 0.25
#: So many draws are watched for convergence at least, however few are wanted in the end.
FEWEST_WATCHED = 1000
#: Chains are looked at when their room is half full, and so many times until it is full.
LOOKS = 4
#: A warm-up that is shorter than this has one part only.
FEWEST_IN_PARTS = 200
#: Fewer draws say nothing about convergence.
FEWEST_DRAWS = 4


class Room(NamedTuple):
    """How many draws a chain keeps: at least so many, and less than twice as many."""

    watched: int  #: of the parameters and of the inputs that tell whether the chains agree
    whole: int  #: of all inputs


class Chain(ABC):
    """One chain: where it is, its random numbers, and what it has kept."""

    def __init__(self, problem: Problem, seed: np.random.SeedSequence, room: Room, latent: Array | None = None) -> None:
        """``latent`` (N,): the rows whose input is an unknown, by default those that are not exact."""
        self.problem, self.rng, self.room = problem, np.random.default_rng(seed), room
        #: (N,) and (P,): the inputs and parameters now
        self.now: tuple[Array, Array] = starting_point(problem, self.rng)
        n, uncertain = len(problem.record), np.flatnonzero(~problem.record.exact if latent is None else latent)
        self.rows = uncertain[:: max(len(uncertain) // WATCHED, 1)]  #: inputs that are watched
        self.kept, self.stride = 0, 1  #: draws; every ``stride``-th of them is kept whole
        self.watched = np.empty((2 * room.watched, len(self.rows)))
        self.phi = np.empty((2 * room.watched, len(problem.start)))
        self.tau = np.empty((2 * room.whole, n), dtype=_precision(problem))
        #: as tau, or empty: what stands for limits and outliers
        beside = self.tau.shape if problem.has_renewals else (0, n)
        self.shift, self.factor = np.empty(beside), np.empty(beside)

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
        """Begin to learn the covariance of theta anew: earlier parts of the warm-up were still on their way."""

    @property
    def moments(self) -> tuple[Array, Array] | None:
        """Mean and variance (N,) of the inputs over all sweeps after warm-up, where a chain sums them up."""
        return None

    @property
    def whole(self) -> dict[str, Array]:
        """The draws that were kept whole: tau (S, N), phi (S, P), and shift and factor where there are any."""
        n = self.kept // self.stride
        found = {"tau": self.tau[:n], "phi": self.phi[self.stride - 1 : self.kept : self.stride]}
        return found | ({"shift": self.shift[:n], "factor": self.factor[:n]} if self.problem.has_renewals else {})

    def add(self, tau: Array, phi: Array, *beside: Array) -> None:
        """Keep draws tau (n, N), phi (n, P), and shift and factor (n, N) where there are any."""
        here = slice(self.kept, self.kept + len(tau))
        self.watched[here], self.phi[here] = tau[:, self.rows], phi
        whole = (self.tau, self.shift, self.factor) if beside else (self.tau,)
        for k in range(len(tau)):
            self.kept += 1
            if self.kept % self.stride == 0:
                place = self.kept // self.stride
                for kept, drawn in zip(whole, (tau, *beside), strict=True):
                    kept[place - 1] = drawn[k]
                if place == len(self.tau):
                    for kept in whole:
                        _halve(kept, place)
                    self.stride *= 2

    def halve(self) -> None:
        """Keep every second draw."""
        if self.stride == 1:
            for kept in self.tau, self.shift, self.factor:
                _halve(kept, self.kept)
        for kept in self.watched, self.phi:
            _halve(kept, self.kept)
        self.kept, self.stride = self.kept // 2, max(self.stride // 2, 1)


def _halve(kept: Array, n: int) -> None:
    """The 2nd, 4th, ... of the first n move to the front."""
    kept[: n // 2] = kept[1 : 2 * (n // 2) : 2]


def _precision(problem: Problem) -> np.dtype:
    """Of the inputs that are kept."""
    errors = problem.scale[problem.scale > 0.0]
    grain = np.spacing(np.abs(problem.rows.t).max().astype(np.float32))
    fine = not errors.size or grain <= FINENESS * errors.min()
    return np.dtype(np.float32 if fine and len(problem.record) > SINGLE_PRECISION_ABOVE else np.float64)


def room(problem: Problem, draws: int, chains: int) -> Room:
    """How many draws each chain keeps, if ``draws`` are wanted in all."""
    watched = max(max(draws, FEWEST_WATCHED) // chains, 10)
    size = _precision(problem).itemsize
    size += 16 if problem.has_renewals else 0  # shift and factor
    fitting = MOST_BYTES // (size * len(problem.record))
    return Room(watched, min(max(min(draws, fitting) // chains, 1), watched))


def run_until_agreed(
    chains: Sequence[Chain],
    warmup: int,
    max_sweeps: int,
    workers: int,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> Draws:
    """Warm up, then sample until the chains agree or each has made ``max_sweeps``. An interrupt keeps what there is.

    From a checkpoint the chains go on, without another warm-up, for at most ``max_sweeps`` more: a run that was
    interrupted and goes on gives the draws of one that was not.
    """
    began = time.perf_counter()
    crew, keep = _Crew(chains, workers, progress), chains[0].room.watched
    interrupted = False
    try:
        if checkpoint is None:
            part = (3 * warmup) // 10 if warmup >= FEWEST_IN_PARTS else 0
            for rounds in part, part, warmup - 2 * part:
                crew.advance(rounds, adapt=True)
                crew.forget()
        else:
            crew.go_back(checkpoint)
            max_sweeps += chains[0].kept * crew.thin
        while not crew.ready(max_sweeps):
            crew.advance(min(crew.next_look, max_sweeps // crew.thin) - chains[0].kept)
            if chains[0].kept == 2 * keep:
                crew.halve()
    except KeyboardInterrupt:
        interrupted = True
    finally:
        crew.close()
    return _collect(crew, interrupted, time.perf_counter() - began)


class _Crew:
    """The chains, advanced together on several cores, and how far they have got.

    An interrupt finds them side by side: it comes to the main thread, and what changes them is done by another.
    """

    def __init__(self, chains: Sequence[Chain], workers: int, progress: Progress | None) -> None:
        self.chains, self.progress = chains, progress
        self.pool, self.leader = ThreadPoolExecutor(workers), ThreadPoolExecutor(1)
        self.warmed_up, self.thin, self.rounds_a_batch = 0, 1, 16  #: sweeps of warm-up; thinning
        self.looked_at: tuple[int, int, bool] | None = None
        self.r_hat: Array | None = None
        self.ess: Array | None = None
        self.parameters = np.flatnonzero(chains[0].problem.free)

    @property
    def sweeps(self) -> int:
        """Of each chain, warm-up included."""
        return self.warmed_up + self.chains[0].kept * self.thin

    @property
    def next_look(self) -> int:
        """So many draws will be kept when next asked whether the chains agree: room half full, and some times more."""
        kept, keep = self.chains[0].kept, self.chains[0].room.watched
        step = max(keep // LOOKS, 1)
        return keep if kept < keep else min(keep + ((kept - keep) // step + 1) * step, 2 * keep)

    def ready(self, max_sweeps: int) -> bool:
        """Have the chains agreed, or reached their limit?

        The parameters are asked first: they are few, and often the last to agree.
        """
        kept, keep = self.chains[0].kept, self.chains[0].room.watched
        at_limit = kept >= max_sweeps // self.thin
        due = kept >= keep and (kept - keep) % max(keep // LOOKS, 1) == 0
        return at_limit or (due and self.look(inputs=False) and self.look())

    def checkpoint(self) -> Checkpoint:
        """Everything needed to go on, as arrays."""
        found = {"thin": np.array(self.thin), "warmed up": np.array(self.warmed_up)}
        found["of"] = np.array(self.fingerprint())
        for k, chain in enumerate(self.chains):
            own = {f"draws {name}": values for name, values in chain.whole.items() if name != "phi"}
            own |= {"draws watched": chain.watched[: chain.kept], "draws phi": chain.phi[: chain.kept]}
            own |= {"stride": np.array(chain.stride), **chain.snapshot()}
            own["random"] = np.array(json.dumps(chain.rng.bit_generator.state))
            found |= {f"{k} {name}": values for name, values in own.items()}
        return found

    def fingerprint(self) -> str:
        """Tells one record, model and set of chains from another."""
        problem, record = self.chains[0].problem, self.chains[0].problem.record
        told: list[Any] = [problem.model.to_dict()]
        told += [len(self.chains), self.chains[0].room]
        numbers = [record.t, record.t_sd, record.y, record.y_sd, problem.free, problem.start]
        numbers += [problem.prior_mean, problem.prior_sd, *problem.rows, problem.design.prior]
        digest = hashlib.sha256(json.dumps([str(one) for one in told]).encode())
        for one in numbers:
            array = np.ascontiguousarray(one, dtype=float)
            digest.update(f"{array.shape}".encode())
            digest.update(array.tobytes())
        return digest.hexdigest()

    def go_back(self, checkpoint: Checkpoint) -> None:
        """Take up where a checkpoint was made. Raises MethodError if it belongs to another record or model."""
        try:
            if str(checkpoint["of"]) != self.fingerprint():
                raise ValueError("it was made with other data or another model")
            self.thin, self.warmed_up = int(checkpoint["thin"]), int(checkpoint["warmed up"])
            for k, chain in enumerate(self.chains):
                own = {name.split(" ", 1)[1]: values for name, values in checkpoint.items() if name.startswith(f"{k} ")}
                chain.stride = int(own.pop("stride"))
                for name in [name for name in own if name.startswith("draws ")]:
                    drawn = own.pop(name)
                    getattr(chain, name.removeprefix("draws "))[: len(drawn)] = drawn
                    chain.kept = len(drawn) if name == "draws phi" else chain.kept
                chain.rng.bit_generator.state = json.loads(str(own.pop("random")))
                chain.restore(own)
        except (KeyError, ValueError, TypeError) as error:
            raise MethodError(
                f"the checkpoint does not fit this record and model ({error}). Begin without it."
            ) from None

    def advance(self, count: int, adapt: bool = False) -> None:
        """All chains by ``count`` times ``thin`` rounds, in batches short enough to report and to interrupt."""
        while count > 0:
            batch = min(max(self.rounds_a_batch // self.thin, 1), count)
            self.leader.submit(self._advance_all, batch, adapt).result()
            count -= batch
            self.report(adapt)

    def _advance_all(self, count: int, adapt: bool) -> None:
        began = time.perf_counter()
        futures = [self.pool.submit(chain.advance, count, self.thin, adapt) for chain in self.chains]
        for future in futures:
            future.result()
        took = time.perf_counter() - began
        grown = self.rounds_a_batch * min(max(SECONDS_A_BATCH / max(took, 1e-6), 0.5), 4.0)
        self.rounds_a_batch = max(int(grown), 1)
        self.warmed_up += count if adapt else 0

    def forget(self) -> None:
        """A part of the warm-up is over, in all chains."""
        self.leader.submit(lambda: [chain.forget() for chain in self.chains]).result()

    def halve(self) -> None:
        """Every other draw goes, and half as many are kept from now on, in all chains."""
        self.leader.submit(self._halve_all).result()

    def _halve_all(self) -> None:
        for chain in self.chains:
            chain.halve()
        self.thin *= 2

    def report(self, adapt: bool) -> None:
        if self.progress is not None:
            known = {} if self.r_hat is None else {"r_hat": self.worst_r_hat, "ess": self.least_ess}
            self.progress({"stage": "warm-up" if adapt else "sampling", "sweeps": self.sweeps, **known})

    def look(self, inputs: bool = True) -> bool:
        """Have all parameters, and inputs too if asked for, converged, as far as the kept draws tell?"""
        kept = min(chain.kept for chain in self.chains)
        if kept < FEWEST_DRAWS:
            return False
        what = (kept, self.thin, inputs)
        if self.looked_at != what:
            draws = np.stack([self._watched(chain, kept, inputs) for chain in self.chains])
            known = draws.shape[2] == 0  # everything that is looked at
            self.r_hat, self.ess = (np.empty(0),) * 2 if known else (r_hat(draws), effective_draws(draws))
            self.looked_at = what  # only now: it may be interrupted
        return self.agreed

    def _watched(self, chain: Chain, kept: int, inputs: bool) -> Array:
        phi = chain.phi[:kept, self.parameters]
        return np.hstack([chain.watched[:kept], phi]) if inputs else phi

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
        """Wait for the batch under way, of all chains."""
        self.leader.shutdown(wait=True)
        self.pool.shutdown(wait=True)


def _collect(crew: _Crew, interrupted: bool, seconds: float) -> Draws:
    chains, problem = crew.chains, crew.chains[0].problem
    crew.look()
    kept, drawn = min(len(chain.whole["tau"]) for chain in chains), list(chains[0].whole)
    if kept == 0:  # interrupted in warm-up: where the chains are is all there is
        found = {name: np.stack([chain.snapshot()[name] for chain in chains]) for name in drawn}
    else:
        given = np.linspace(0, kept - 1, min(kept, chains[0].room.whole)).astype(int)
        found = {name: _taken([chain.whole[name] for chain in chains], given) for name in drawn}
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
        inputs, names = len(chains[0].rows), [problem.names[i] for i in crew.parameters]
        diagnostics["watched_rows"] = chains[0].rows
        diagnostics["r_hat_inputs"], diagnostics["ess_inputs"] = crew.r_hat[:inputs], crew.ess[:inputs]
        diagnostics["r_hat_theta"] = dict(zip(names, crew.r_hat[inputs:].tolist(), strict=True))
        diagnostics["ess_theta"] = dict(zip(names, crew.ess[inputs:].tolist(), strict=True))
    agreed = diagnostics["converged"]
    checkpoint = None if agreed or kept == 0 else crew.checkpoint()
    told: dict[str, Any] = {"moments": _moments(chains), "diagnostics": diagnostics, "checkpoint": checkpoint}
    return Draws.equal(**found, chains=len(chains), **told)


def _taken(kept: Sequence[Array], given: Array) -> Array:
    """Some of what each chain has kept, one chain after the other, without a copy in between: it may be large."""
    out = np.empty((len(kept), len(given), *kept[0].shape[1:]), dtype=kept[0].dtype)
    for k, one in enumerate(kept):
        np.take(one, given, axis=0, out=out[k], mode="clip")  # with another mode there would be a copy again
    return out.reshape(-1, *kept[0].shape[1:])


def _moments(chains: Sequence[Chain]) -> Array | None:
    """Mean and sd of the inputs over all sweeps (2, N), where fewer draws are kept whole than tell of convergence."""
    known = [chain.moments for chain in chains]
    if chains[0].room.whole == chains[0].room.watched or any(one is None for one in known):
        return None
    means, variances = np.array(known).swapaxes(0, 1)
    return np.array([means.mean(axis=0), np.sqrt(variances.mean(axis=0) + means.var(axis=0))])
