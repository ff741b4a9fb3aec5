"""One sampler on one posterior: ``python peer_samplers.py NAME core.npz found.npz CHAINS LENGTH``.

Run by ``peers.py``, each sampler in a process of its own. All sample the posterior that ``lamina.fit`` does by default
(Matérn-3/2, an unknown level, gamma gaps with alpha learnt, the same priors), and all curves are computed from the
draws by the same function, ``Posterior.curve``. The densities of NumPyro and PyMC are compared with lamina's before
they run.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from peer_numpyro import (
    check_potential,
    dense_whiten,
    from_coordinates,
    numpyro_draws,
    quasiseparable_whiten,
    starting_points,
    watched,
)
from report import peak_memory

import lamina
from lamina.fitting import NotConverged
from lamina.methods.draws import Draws
from lamina.model.model import Model
from lamina.model.problem import Problem, build_problem
from lamina.posterior.posterior import Posterior

#: A posterior, its seconds without compilation, and seconds of compilation.
Found = tuple[Posterior, float, float]


def fitted(first: dict[str, int] | None = None, **options: Any) -> Callable[[Problem, int, int], Found]:
    """A fit with lamina; the options say with which method. ``first`` makes another one short, which compiles."""

    def run(problem: Problem, chains: int, length: int) -> Found:
        began = time.perf_counter()
        lamina.fit(problem.record, **options | (first or {}))
        compiled = time.perf_counter()
        posterior = lamina.fit(problem.record, **options)
        return posterior, time.perf_counter() - compiled, compiled - began

    return run


def dense_mcmc(problem: Problem, chains: int, length: int) -> Found:
    """The paper's Metropolis-within-Gibbs on a dense covariance: as many sweeps as the peers make draws."""
    began = time.perf_counter()
    posterior = lamina.fit(problem.record, engine="dense", chains=chains, warmup=length, max_sweeps=length)
    return posterior, time.perf_counter() - began, 0.0


def numpyro(whiten: Callable[..., Any]) -> Callable[[Problem, int, int], Found]:
    """NumPyro's NUTS, on one of two solvers."""

    def run(problem: Problem, chains: int, length: int) -> Found:
        tau, phi, seconds, compiling = numpyro_draws(problem, 1, length, whiten)
        return Posterior(problem, Draws.equal(tau, phi, chains=chains)), seconds, compiling

    return run


def pymc_potential(problem: Problem, x: Any) -> Any:
    """Minus the log-posterior at x in nuts' coordinates, as in ``numpyro_potential``, written in PyTensor."""
    import pytensor.tensor as pt

    n, rows, free = len(problem.record), problem.rows, np.flatnonzero(problem.free)
    mean, sd = problem.prior_mean[free], problem.prior_sd[free]
    log_gap, phi = x[1:n], x[n:]
    gap = pt.exp(log_gap)
    tau = x[0] + pt.concatenate([np.zeros(1), pt.cumsum(gap)])
    length, scale, alpha = pt.exp(phi[0]), pt.exp(phi[1]), 1.0 + pt.exp(phi[2])
    r = np.sqrt(3.0) * pt.abs(tau[:, None] - tau) / length
    factor = pt.linalg.cholesky(scale**2 * (1.0 + r) * pt.exp(-r) + np.diag(rows.y_var))
    both = pt.linalg.solve_triangular(factor, np.stack([problem.record.y, np.ones(n)], axis=1), lower=True)
    G, b = (both[:, 1] ** 2).sum(), (both[:, 0] * both[:, 1]).sum()
    value = -pt.log(pt.diag(factor)).sum() - 0.5 * ((both[:, 0] ** 2).sum() - b**2 / G) - 0.5 * pt.log(G)
    value -= 0.5 * ((rows.t - tau) ** 2 / rows.t_var).sum()
    value += pt.gammaln(alpha * (n - 1)) - (n - 1) * pt.gammaln(alpha)
    value += alpha * log_gap.sum() - alpha * (n - 1) * pt.log(gap.sum() + problem.floor)
    return -value + 0.5 * (((phi - mean) / sd) ** 2).sum()


def pymc(problem: Problem, chains: int, length: int) -> Found:
    """PyMC's own NUTS."""
    import pymc
    import pytensor

    starts = starting_points(problem, chains, 1)
    point = pytensor.tensor.dvector()
    check_potential(problem, pytensor.function([point], pymc_potential(problem, point)))
    began = time.perf_counter()
    with pymc.Model():
        x = pymc.Flat("x", shape=starts.shape[1])
        pymc.Potential("posterior", -pymc_potential(problem, x))
        found = pymc.sample(length, tune=length, chains=chains, cores=chains, target_accept=0.9, random_seed=1,
                            initvals=[{"x": one} for one in starts], progressbar=False,
                            compute_convergence_checks=False)  # fmt: skip
    took = time.perf_counter() - began
    seconds = float(found.sample_stats.attrs["sampling_time"])
    tau, phi = from_coordinates(problem, np.asarray(found.posterior["x"]).reshape(-1, starts.shape[1]))
    return Posterior(problem, Draws.equal(tau, phi, chains=chains)), seconds, took - seconds


SAMPLERS: dict[str, Callable[[Problem, int, int], Found]] = {
    "lamina mcmc": fitted({"warmup": 2, "max_sweeps": 2}, draws=8000),
    "lamina nuts": fitted({"warmup": 20, "draws": 40}, method="nuts"),
    "lamina npv": fitted(method="npv"),
    "lamina nigp": fitted(method="nigp"),
    "lamina gp": fitted(method="gp"),
    "dense mcmc": dense_mcmc,
    "dense npv": fitted(method="npv", engine="dense"),
    "NumPyro NUTS": numpyro(dense_whiten),
    "NumPyro NUTS on tinygp": numpyro(quasiseparable_whiten),
    "PyMC NUTS": pymc,
}


def main() -> None:
    name, core, found, chains, length = sys.argv[1:]
    core = dict(np.load(core))
    record = lamina.Record(t=core["t"], t_sd=core["t_sd"], y=core["y"], y_sd=core["y_sd"])
    warnings.simplefilter("ignore", NotConverged)
    posterior, seconds, compiling = SAMPLERS[name](
        build_problem(record, Model(lamina.Matern32())), int(chains), int(length)
    )
    posterior.curve(core["at"])  # compiles
    began = time.perf_counter()
    curve, problem, draws = posterior.curve(core["at"]), posterior.problem, posterior.draws
    telling = time.perf_counter() - began
    answer = {"mean": curve["mean"], "low": curve["q5"], "high": curve["q95"]}
    if "mcmc" in name or "nuts" in name.lower():
        answer["draws"] = watched(problem, problem.to_user(draws.tau), draws.phi, draws.chains)
    elif "npv" in name:
        inputs = posterior.inputs()
        answer |= {"input_low": inputs["q5"], "input_high": inputs["q95"]}
    np.savez(found, **answer, seconds=seconds, compiling=compiling, telling=telling, memory=peak_memory())


if __name__ == "__main__":
    main()
