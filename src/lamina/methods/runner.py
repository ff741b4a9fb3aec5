"""Several chains side by side, run until they have converged: what the samplers on both engines share.

Chains run until every input and parameter, and the curve at a few times, has R-hat <= 1.01 and at least 400 effective
draws, or until a limit, which is reported as not converged. When the arrays of draws are full, every second draw is
dropped and thinning doubles.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ..support.convergence import ESS, FEWEST_DRAWS, R_HAT, judge, most_effective_draws
from .chains import Chain, restore_checkpoint, take_checkpoint
from .draws import Checkpoint, Draws

Array = np.ndarray
Progress = Callable[[dict[str, Any]], None]

#: Chains report, and can be interrupted, about this often.
SECONDS_A_BATCH = 0.25
#: Convergence is checked when the arrays of draws are half full, and this many times until they are full.
CHECKS = 4
#: Chains of records with no more rows converge in a second or so.
SHORT = 200
#: A curve that varies by less than this, relative to its size, is constant.
CONSTANT_CURVE = 1e-9
#: A shorter warm-up has one part only.
FEWEST_IN_PARTS = 200


def run_until_converged(
    chains: Sequence[Chain],
    warmup: int,
    max_sweeps: int,
    workers: int,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> Draws:
    """Warm up, then sample until the chains have converged or each has made ``max_sweeps``.

    An interrupt returns the draws so far. From a checkpoint the chains continue, without another warm-up, for at most
    ``max_sweeps`` more: a run that was interrupted and continued gives the draws of one that was not.
    """
    began = time.perf_counter()
    runner, keep = ChainRunner(chains, workers, progress), chains[0].budget.watched
    interrupted = False
    try:
        if checkpoint is None:
            runner.warm_up(warmup)
        else:
            runner.restore(checkpoint)
            max_sweeps += chains[0].kept * runner.thin
        while not runner.finished(max_sweeps):
            runner.advance(min(runner.next_check, max_sweeps // runner.thin) - chains[0].kept)
            if chains[0].kept == 2 * keep:
                runner.halve()
    except KeyboardInterrupt:
        interrupted = True
    finally:
        runner.close()
    return _collect(runner, interrupted, time.perf_counter() - began)


class ChainRunner:
    """Advances the chains together on several CPUs, and knows how far they have got.

    An interrupt comes to the main thread. Another thread changes the chains, so that all of them stop at the same draw.
    """

    def __init__(self, chains: Sequence[Chain], workers: int, progress: Progress | None) -> None:
        self.chains, self.progress = chains, progress
        self.pool, self.leader = ThreadPoolExecutor(workers), ThreadPoolExecutor(1)
        self.warmed_up, self.thin, self.rounds_a_batch = 0, 1, 16  #: sweeps of warm-up; thinning
        self.prepared = False
        self.checked: tuple[int, int, bool] | None = None
        self.r_hat: Array | None = None
        self.ess: Array | None = None
        self.most_ess = np.inf
        self.parameters = np.flatnonzero(chains[0].problem.free)

    @property
    def sweeps(self) -> int:
        """Of each chain, warm-up included."""
        return self.warmed_up + self.chains[0].kept * self.thin

    @property
    def next_check(self) -> int:
        """The number of draws at the next check of convergence."""
        kept, keep = self.chains[0].kept, self.chains[0].budget.watched
        step = max(keep // CHECKS, 1)
        return keep if kept < keep else min(keep + ((kept - keep) // step + 1) * step, 2 * keep)

    def finished(self, max_sweeps: int) -> bool:
        """Have the chains converged, or reached their limit?

        The parameters and the curve are checked first: they are few, and often the last to converge.
        """
        kept, keep = self.chains[0].kept, self.chains[0].budget.watched
        at_limit = kept >= max_sweeps // self.thin
        due = kept >= keep and (kept - keep) % max(keep // CHECKS, 1) == 0
        return at_limit or (due and self.check_convergence(inputs=False) and self.check_convergence())

    def warm_up(self, rounds: int) -> None:
        """Adapt the proposals, in three parts of which the last is the longest."""
        part = (3 * rounds) // 10 if rounds >= FEWEST_IN_PARTS else 0
        for some in part, part, rounds - 2 * part:
            if part and self.warmed_up:
                self.leader.submit(self._compare_parameters).result()
            self.advance(some, adapt=True)
            self.leader.submit(lambda: [chain.reset_adaptation() for chain in self.chains]).result()

    def _compare_parameters(self) -> None:
        """Let each chain see the parameters of all: in warm-up one of them may have lost its way."""
        found = [chain.now[1].copy() for chain in self.chains]
        for chain in self.chains:
            chain.consider(found)

    def advance(self, count: int, adapt: bool = False) -> None:
        """All chains by ``count`` times ``thin`` rounds, in batches short enough to report and to interrupt."""
        while count > 0:
            batch = min(max(self.rounds_a_batch // self.thin, 1), count)
            self.leader.submit(self._advance_all, batch, adapt).result()
            count -= batch
            self._report(adapt)

    def _advance_all(self, count: int, adapt: bool) -> None:
        began = time.perf_counter()
        futures = [self.pool.submit(chain.advance, count, self.thin, adapt) for chain in self.chains]
        for future in futures:
            future.result()
        took = time.perf_counter() - began
        self._prepare_answers()
        grown = self.rounds_a_batch * min(max(SECONDS_A_BATCH / max(took, 1e-6), 0.5), 4.0)
        self.rounds_a_batch = max(int(grown), 1)
        self.warmed_up += count if adapt else 0

    def _prepare_answers(self) -> None:
        """Compile, or load, what predicts the curve, while chains run: they leave Python's lock to others.

        Chains of short records would be done before.
        """
        problem = self.chains[0].problem
        if not self.prepared and len(problem.record) > SHORT:
            self.pool.submit(self.chains[0].prepare_answers)
        self.prepared = True

    def _report(self, adapt: bool) -> None:
        if self.progress is not None:
            known = {} if self.r_hat is None else {"r_hat": self.worst_r_hat, "ess": self.least_ess}
            self.progress({"stage": "warm-up" if adapt else "sampling", "sweeps": self.sweeps, **known})

    def halve(self) -> None:
        """Drop every other draw of all chains, and keep half as many from now on."""
        self.leader.submit(self._halve_all).result()

    def _halve_all(self) -> None:
        for chain in self.chains:
            chain.halve()
        self.thin *= 2

    def close(self) -> None:
        """Wait for the batch under way, of all chains."""
        self.leader.shutdown(wait=True)
        self.pool.shutdown(wait=True)

    def check_convergence(self, inputs: bool = True) -> bool:
        """Have all parameters, the curve, and with ``inputs`` all inputs, converged, judged on the draws so far?"""
        kept = min(chain.kept for chain in self.chains)
        if kept < FEWEST_DRAWS:
            return False
        what = (kept, self.thin, inputs)
        if self.checked != what:
            draws = np.stack([self._watched(chain, kept, inputs) for chain in self.chains])
            self.r_hat, self.ess = self._judge(draws)
            self.most_ess = self._most_ess() if inputs else np.inf
            self.checked = what  # only now: it may be interrupted
        return self.converged

    def _watched(self, chain: Chain, kept: int, inputs: bool) -> Array:
        """Draws of inputs, parameters and the curve, in this order."""
        few = np.hstack([chain.phi[:kept, self.parameters], chain.curve[:kept]])
        return np.hstack([chain.watched[:kept], few]) if inputs else few

    def _judge(self, draws: Array) -> tuple[Array, Array]:
        """R-hat and effective draws of each quantity (chains, n, V); the curve's, which are the last, may be constant.

        What is constant has not converged, but a curve may be known although the inputs are not. A curve that some draw
        leaves beyond double precision (NaN) is not judged: its R-hat and effective draws are NaN.
        """
        if draws.shape[2] == 0:  # everything is known
            return np.empty(0), np.empty(0)
        unknown = np.isnan(draws).any(axis=(0, 1))
        draws[..., unknown] = 0.0
        found, enough = judge(draws)
        first = draws.shape[2] - len(self.chains[0].times)
        for k in range(first, draws.shape[2]):
            if np.ptp(draws[..., k]) <= CONSTANT_CURVE * np.abs(draws[..., k]).max():
                found[k], enough[k] = 1.0, np.inf
        found[unknown] = enough[unknown] = np.nan
        return found, enough

    def _most_ess(self) -> float:
        """The most effective draws that the worst input can have, where not all inputs are watched."""
        latent, known = self.chains[0].latent, [chain.moments for chain in self.chains]
        if len(latent) == len(self.chains[0].rows) or any(one is None for one in known):
            return np.inf
        means, variances = np.array(known)[:, :, latent].swapaxes(0, 1)
        return most_effective_draws(means, variances)

    @property
    def converged(self) -> bool:
        """At the last check."""
        return bool(self.worst_r_hat <= R_HAT and self.least_ess >= ESS)

    @property
    def worst_r_hat(self) -> float:
        return float(np.fmax.reduce(self.r_hat, initial=1.0)) if self.r_hat is not None else np.nan

    @property
    def least_ess(self) -> float:
        return float(min(np.fmin.reduce(self.ess, initial=np.inf), self.most_ess)) if self.ess is not None else 0.0

    def checkpoint(self) -> Checkpoint:
        """Everything needed to continue, as arrays."""
        return take_checkpoint(self.chains, thin=self.thin, warmed_up=self.warmed_up)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go back to where a checkpoint was made. Raises MethodError if it belongs to another record or model."""
        self.thin, self.warmed_up = restore_checkpoint(checkpoint, self.chains)


def _collect(runner: ChainRunner, interrupted: bool, seconds: float) -> Draws:
    chains = runner.chains
    runner.check_convergence()
    kept, drawn = min(len(chain.complete["tau"]) for chain in chains), list(chains[0].complete)
    if kept == 0:  # interrupted in warm-up: there is nothing but where the chains are
        found = {name: np.stack([chain.snapshot()[name] for chain in chains]) for name in drawn}
    else:
        chosen = np.linspace(0, kept - 1, min(kept, chains[0].budget.complete)).astype(int)
        found = {name: _taken([chain.complete[name] for chain in chains], chosen) for name in drawn}
    diagnostics = _diagnostics(runner, interrupted, seconds)
    checkpoint = None if diagnostics["converged"] or kept == 0 else runner.checkpoint()
    rest: dict[str, Any] = {"moments": _moments(chains), "diagnostics": diagnostics, "checkpoint": checkpoint}
    return Draws.equal(**found, chains=len(chains), **rest)


def _diagnostics(runner: ChainRunner, interrupted: bool, seconds: float) -> dict[str, Any]:
    chains, problem = runner.chains, runner.chains[0].problem
    found: dict[str, Any] = {
        "method": "mcmc",
        "engine": problem.engine,
        "seconds": seconds,
        "chains": len(chains),
        "sweeps": runner.sweeps,
        "warmup": runner.warmed_up,
        "thin": runner.thin,
        "converged": not interrupted and runner.converged,
        "interrupted": interrupted,
        "r_hat": runner.worst_r_hat,
        "ess": runner.least_ess,
    }
    if runner.r_hat is not None and runner.ess is not None:
        inputs, names = len(chains[0].rows), [problem.names[i] for i in runner.parameters]
        found["watched_rows"], found["watched_times"] = chains[0].rows, problem.to_user(chains[0].times)
        for name, values in ("r_hat", runner.r_hat), ("ess", runner.ess):
            of_inputs, of_theta, of_curve = np.split(values, [inputs, inputs + len(names)])
            found[f"{name}_inputs"], found[f"{name}_curve"] = of_inputs, of_curve
            found[f"{name}_theta"] = dict(zip(names, of_theta.tolist(), strict=True))
    return found


def _taken(kept: Sequence[Array], chosen: Array) -> Array:
    """Some of the draws of each chain, one chain after the other, without a copy in between: they may be large."""
    out = np.empty((len(kept), len(chosen), *kept[0].shape[1:]), dtype=kept[0].dtype)
    for k, one in enumerate(kept):
        np.take(one, chosen, axis=0, out=out[k], mode="clip")  # with another mode there would be a copy again
    return out.reshape(-1, *kept[0].shape[1:])


def _moments(chains: Sequence[Chain]) -> Array | None:
    """Mean and sd of the inputs over all sweeps (2, N), where not all draws are complete."""
    known = [chain.moments for chain in chains]
    if chains[0].budget.complete == chains[0].budget.watched or any(one is None for one in known):
        return None
    means, variances = np.array(known).swapaxes(0, 1)
    return np.array([means.mean(axis=0), np.sqrt(variances.mean(axis=0) + means.var(axis=0))])
