"""Training times: the paper's, lamina's, and how much of the difference is due to the algorithm.

There are two kinds of rows. "fit": one training with the paper's settings (K = 3, five starts, 5000 iterations) at
N = 25. "step": one iteration of a method at growing N, on the O(N) engine and with the paper's algorithms on dense
matrices (its chain rule for the gaps, its Woodbury update for a moved input); for mcmc also without Woodbury.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from .. import dense, markov
from ..errors import MethodError
from ..fitting import NotConverged, fit
from ..kernels import Matern32
from ..methods.chains import DrawBudget
from ..methods.maximise import marginal
from ..methods.mcmc import MarkovChain
from ..methods.mcmc.dense_chain import DenseChain
from ..model.model import Model
from ..model.problem import Problem, build_problem
from ..record import Record
from .functions import PAPER_NPV, simulate
from .trials import Progress, Rows, Trial, run_trials

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray

#: Seconds on the authors' machine, N = 25.
PAPER_SECONDS = {"npv": 19.0, "mcmc": 61.0, "nigp": 106.0, "gp": 0.3}
SIZES = (25, 50, 100, 200, 400)
ITERATIONS = 5000
TIMED_ENGINES = ("markov", "dense")
#: A step is repeated until it has taken this long; the fastest repetition counts.
SECONDS_PER_STEP = 0.3


def timing(
    sizes: Sequence[int] = SIZES,
    repetitions: int = 3,
    seed: int = 0,
    store: Path | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """One row for each thing timed: kind, method, algorithm, n, seconds, their sd, and the paper's seconds.

    Everything runs on one CPU, one after the other. The time of a fit is the mean over its repetitions, as in the
    paper; slow fits on dense matrices run once. store: a file that keeps results, so that the next call continues.
    """
    import pandas as pd

    if not sizes or min(sizes) < 3:
        raise MethodError(f"sizes must be whole numbers of at least 3, got {tuple(sizes)!r}.")
    trials: list[Trial] = [
        ("fit", method, engine, repetitions, seed) for method in PAPER_SECONDS for engine in TIMED_ENGINES
    ]
    trials += [("step", method, algorithm, n, seed) for n in sizes for method, algorithm in TIMED]
    with threadpool_limits(limits=1, user_api="blas"), warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        return pd.DataFrame(run_trials(trials, _run, store, cpus=1, progress=progress))


def _run(trial: Trial) -> Rows:
    kind, method, algorithm, number, seed = trial
    work = _time_fit if kind == "fit" else _time_step
    return [work(str(method), str(algorithm), int(number), int(seed))]


def _time_fit(method: str, engine: str, repetitions: int, seed: int) -> dict[str, Any]:
    """One training with the paper's settings. Everything is compiled before."""
    train, took = TRAINING[method], []
    train(simulate("5 sin x", 1.0, 0.05, (seed, 0))[1], engine, seed, 2)
    for k in range(repetitions if engine == "markov" or PAPER_SECONDS[method] < 1.0 else 1):
        _, record = simulate("5 sin x", 1.0, 0.05, (seed, k))
        began = time.perf_counter()
        train(record, engine, k, ITERATIONS)
        took.append(time.perf_counter() - began)
    return _row("fit", method, engine, 25, float(np.mean(took)), float(np.std(took)), PAPER_SECONDS[method])


def _sample(record: Record, engine: str, seed: int, iterations: int) -> None:
    _chain(_problem(record, engine), seed).advance(iterations, 1, adapt=True)


def _approximate(record: Record, engine: Any, seed: int, iterations: int) -> None:
    few: dict[str, Any] = {"max_steps": 1} if iterations < ITERATIONS else {}
    fit(record, engine=engine, seed=seed, gaps="log-uniform", cores=1, **PAPER_NPV, **few)


def _maximise(method: Any) -> Callable[..., object]:
    return lambda record, engine, seed, iterations: fit(record, method=method, engine=engine, seed=seed)


#: One training by each method: a function of record, engine, seed and, for mcmc and npv, iterations.
TRAINING: dict[str, Callable[..., object]] = {
    "npv": _approximate,
    "mcmc": _sample,
    "nigp": _maximise("nigp"),
    "gp": _maximise("gp"),
}


def _problem(record: Record, engine: str) -> Problem:
    return build_problem(record, Model(gaps="uniform", engine=engine))


class PaperChain(DenseChain):
    """The paper's sampler: theta, then each input by Woodbury's formula. No moves of gaps."""

    def _move_gaps(self, tau: Array, phi: Array, model: Any, here: Any, rate: float) -> tuple[Array, Any]:
        return tau, here


def _chain(problem: Problem, seed: int) -> MarkovChain | PaperChain:
    kind = MarkovChain if problem.engine == "markov" else PaperChain
    return kind(problem, np.random.SeedSequence(seed), DrawBudget(1, 1))


def _long_record(n: int, seed: int) -> Record:
    """n rows spaced as in the experiment with synthetic functions."""
    rng = np.random.default_rng([seed, n])
    x = np.arange(n) * (20.0 / 24.0)
    return Record(t=x + rng.standard_normal(n), t_sd=1.0, y=5.0 * np.sin(x) + 0.05 * rng.standard_normal(n), y_sd=0.05)


def _likelihood(n: int, engine: str, seed: int) -> Callable[[], Any]:
    """gp and nigp: the marginal likelihood and its gradient in theta."""
    problem = build_problem(_long_record(n, seed), Model(engine=engine), has_gap_prior=False)
    density = marginal(problem, problem.rows.t, np.zeros(n))
    return lambda: density(problem.start)


def _gaps(n: int, engine: str, seed: int) -> Callable[[], Any]:
    """npv: gradient and Hessian diagonal in the log-gaps, for each of K = 3 components."""
    record = _long_record(n, seed)
    tau, kernel = np.sort(record.t), Matern32(length=2.0, sd=3.0)
    used = markov if engine == "markov" else dense

    def step() -> None:
        for _ in range(3):
            used.value_and_gradient(kernel, tau, record.y, record.y_sd)
            used.gap_hessian_diagonal(kernel, tau, record.y, record.y_sd)

    return step


def _sweep(n: int, engine: str, seed: int) -> Callable[[], Any]:
    """mcmc: one sweep over the inputs, with the moves of theta that go with it."""
    chain = _chain(_problem(_long_record(n, seed), engine), seed)
    return lambda: chain.advance(1, 1, adapt=True)


def _plain_sweep(n: int, engine: str, seed: int) -> Callable[[], Any]:
    """mcmc without Woodbury: one factorisation per proposal. One of the n proposals is timed."""
    record, kernel = _long_record(n, seed), Matern32(length=2.0, sd=3.0)
    return lambda: dense.log_likelihood(kernel, record.t, record.y, record.y_sd)


#: The steps that are timed, by method and algorithm. A plain sweep is timed as n times one proposal.
TIMED: dict[tuple[str, str], Callable[[int, str, int], Callable[[], Any]]] = {
    ("gp", "markov"): _likelihood,
    ("gp", "dense"): _likelihood,
    ("npv", "markov"): _gaps,
    ("npv", "dense"): _gaps,
    ("mcmc", "markov"): _sweep,
    ("mcmc", "dense"): _sweep,
    ("mcmc", "dense, no Woodbury"): _plain_sweep,
}


def _time_step(method: str, algorithm: str, n: int, seed: int) -> dict[str, Any]:
    step = TIMED[method, algorithm](n, algorithm, seed)
    step()
    best, spent = np.inf, 0.0
    while spent < SECONDS_PER_STEP:
        began = time.perf_counter()
        step()
        took = time.perf_counter() - began
        best, spent = min(best, took), spent + took
    if algorithm == "dense, no Woodbury":
        best *= n
    return _row("step", method, algorithm, n, best, float("nan"), float("nan"))


def _row(kind: str, method: str, algorithm: str, n: int, seconds: float, sd: float, paper: float) -> dict[str, Any]:
    return {"kind": kind, "method": method, "algorithm": algorithm, "n": n, "seconds": seconds, "sd": sd,
            "paper_seconds": paper}  # fmt: skip


def exponents(results: pd.DataFrame) -> dict[tuple[str, str], float]:
    """p of seconds ~ N^p between the two largest sizes, for each method and algorithm."""
    steps = results[results["kind"] == "step"]
    found = {}
    for key, part in steps.groupby(["method", "algorithm"], sort=False):
        last = part.sort_values("n").tail(2)
        if len(last) == 2:
            ratio = last["seconds"].iloc[1] / last["seconds"].iloc[0]
            found[key] = float(np.log(ratio) / np.log(last["n"].iloc[1] / last["n"].iloc[0]))
    return found
