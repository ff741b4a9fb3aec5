"""nuts: the No-U-Turn sampler of nutpie on the same posterior as mcmc, with the O(N) gradient.

The second, independent sampler: it shares the density, Eq. (2), with mcmc, and none of its moves. Kernels that are not
Markov run with the dense engine's gradient.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..errors import MethodError, MissingExtraError
from ..model.problem import Problem
from ..support.arviz_notice import no_refactor_notice
from ..support.convergence import ESS, FEWEST_DRAWS, R_HAT, judge
from ..support.cpus import available_cpus
from ..support.numbers import count
from . import BOUNDED, EQUAL_DEPTHS, Method
from .coordinates import make_plan, pull_gradient, to_coordinates, to_inputs
from .draws import Draws
from .starts import starting_inputs, starting_phi
from .target import dense_log_density, log_density, make_target
from .words import Words, chain_evidence

Array = np.ndarray


def run(
    problem: Problem,
    seed: int = 0,
    chains: int = 4,
    draws: int = 2000,
    warmup: int = 1000,
    cores: int | None = None,
    target_accept: float = 0.9,
) -> Draws:
    """Sample ``draws`` in all, after ``warmup`` for each chain."""
    sample, from_pyfunc = _nutpie()
    began = time.perf_counter()
    density, wanted = _Density(problem), max(draws // chains, FEWEST_DRAWS)
    trace = sample(
        density.for_nutpie(from_pyfunc), draws=wanted, tune=warmup, chains=chains, seed=seed,
        cores=min(chains, cores or available_cpus()),
        target_accept=target_accept, progress_bar=False, save_warmup=True,
    )  # fmt: skip
    tau, phi = _complete(trace.posterior)
    interrupted = len(tau) < chains or tau.shape[1] < wanted
    worst, least = _convergence(np.concatenate([tau[:, :, ~problem.record.exact], phi[:, :, density.free]], axis=2))
    if tau.size == 0:  # interrupted in warm-up: there is nothing but where the chains are
        tau, phi = (last[:, -1:] for last in _complete(trace.warmup_posterior))
    if tau.size == 0:
        begun = density.expand(density.initial(seed))
        tau, phi = begun["tau"][None, None], problem.start[None, None]
    divergent = int(trace.sample_stats["diverging"].to_numpy().sum())
    diagnostics = {
        "method": "nuts",
        "seconds": time.perf_counter() - began,
        "chains": len(tau),
        "warmup": warmup,
        "r_hat": worst,
        "ess": least,
        "divergent": divergent,
        "converged": not interrupted and worst <= R_HAT and least >= ESS and divergent == 0,
        "interrupted": interrupted,
    }
    rows, parameters = tau.shape[2], phi.shape[2]
    return Draws.equal(tau.reshape(-1, rows), phi.reshape(-1, parameters), chains=len(tau), diagnostics=diagnostics)


def _nutpie() -> tuple[Any, Any]:
    """The functions of nutpie that sample, and that take a density written in Python."""
    try:
        with no_refactor_notice():
            import nutpie
            from nutpie.compiled_pyfunc import from_pyfunc
    except ImportError:
        raise MissingExtraError(
            'method="nuts" needs nutpie, which is not installed: pip install "lamina[nuts]".'
        ) from None
    return nutpie.sample, from_pyfunc


def _convergence(draws: Array) -> tuple[float, float]:
    """The worst R-hat and the smallest effective sample size of draws (chains, n, V)."""
    if draws.shape[1] < FEWEST_DRAWS:
        return np.nan, 0.0
    found, enough = judge(draws)
    return float(found.max(initial=1.0)), float(enough.min(initial=np.inf))


class _Density:
    """The posterior density of x (size,): the coordinates of the inputs, then the unknown parameters."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.plan, self.target = problem, make_plan(problem), make_target(problem)
        self.n, self.free = len(self.plan.rows), np.flatnonzero(problem.free)
        self.size = self.n + len(self.free)

    def for_nutpie(self, from_pyfunc: Any) -> Any:
        """The density as a model of nutpie."""
        shapes = [(len(self.problem.record),), (len(self.problem.start),)]
        return from_pyfunc(
            self.size, self.make_logp, self.make_expand, [np.dtype("float64")] * 2, shapes, ["tau", "phi"],
            make_initial_point_fn=self.initial,
        )  # fmt: skip

    def make_logp(self) -> Callable[[Array], tuple[float, Array]]:
        """The function x -> log density and its gradient, with arrays of its own: each chain has one."""
        problem, n = self.problem, self.n
        tau, phi = problem.rows.t.copy(), problem.start.copy()
        d_tau, d_phi = np.empty(len(tau)), np.empty(len(phi))
        if problem.engine == "markov":
            density = partial(log_density, self.target)
        else:
            density = partial(dense_log_density, problem, self.target)

        def logp(x: Array) -> tuple[float, Array]:
            gradient = np.empty(self.size)
            phi[self.free] = x[n:]
            value = to_inputs(self.plan, x[:n], tau)
            value += density(tau, phi, d_tau, d_phi)
            pull_gradient(self.plan, x[:n], d_tau, True, gradient[:n])
            gradient[n:] = d_phi[self.free]
            return value, gradient

        return logp

    def make_expand(self, seed1: int, seed2: int, chain: int) -> Callable[[Array], dict[str, Array]]:
        return self.expand

    def expand(self, x: Array) -> dict[str, Array]:
        """The inputs and all parameters at x."""
        tau, phi = self.problem.rows.t.copy(), self.problem.start.copy()
        to_inputs(self.plan, x[: self.n], tau)
        phi[self.free] = x[self.n :]
        return {"tau": tau, "phi": phi}

    def initial(self, seed: int) -> Array:
        """Where a chain begins."""
        rng = np.random.default_rng(seed)
        inputs = to_coordinates(self.plan, starting_inputs(self.problem, rng))
        return np.concatenate([inputs, starting_phi(self.problem, rng)[self.free]])


def _complete(group: Any) -> tuple[Array, Array]:
    """tau (chains, n, N) and phi (chains, n, P) as far as all chains got that got anywhere.

    nutpie stops at an interrupt and pads the chains that lag behind; some may not have begun.
    """
    tau, phi = group["tau"].to_numpy(), group["phi"].to_numpy()
    lengths = np.isfinite(tau).all(axis=2).sum(axis=1)
    begun = lengths > 0
    n = int(lengths[begun].min(initial=tau.shape[1])) if begun.any() else 0
    return tau[begun, :n], phi[begun, :n]


def _check(problem: Problem, options: dict[str, Any]) -> None:
    accept = options.get("target_accept", 0.9)
    if not (isinstance(accept, int | float) and 0.0 < accept < 1.0):
        raise MethodError(f"target_accept must lie between 0 and 1, got {accept!r}.")


METHOD = Method(
    name="nuts",
    run=run,
    title="the No-U-Turn sampler",
    words=Words(
        inference=lambda facts, kept: (
            "All unknowns were sampled together with the No-U-Turn sampler (Hoffman & Gelman 2014), with "
            f"{count(facts['chains'], 'chain')} after {facts['warmup']:,} steps of warm-up; {count(kept, 'draw')} were "
            "kept."
        ),
        evidence=chain_evidence,
        remedy="Run it again with more draws, or use the method mcmc.",
        citations=lambda facts: ("Tran", "Rasmussen", "Vehtari", "Hoffman"),
    ),
    infers_inputs=True,
    has_gap_prior=True,
    lacks=(EQUAL_DEPTHS, BOUNDED),
    check_own=_check,
)
