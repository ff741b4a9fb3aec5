"""Effective draws per second of the samplers on one posterior, and how mcmc grows with N.

mcmc, nuts (nutpie on lamina's gradient) and NumPyro's NUTS (JAX, a dense covariance, which is what one would write
there) sample the same posterior: one ordered sequence, Matérn-3/2, an unknown level, the gamma gap prior with alpha
learnt. NumPyro's density is checked against lamina's before anything is timed.

    python benchmarks/samplers.py [--markdown docs/benchmarks.md]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from report import fill_section, machine, peak_memory

import lamina
from lamina.convergence import effective_draws, r_hat
from lamina.kernels import Matern32
from lamina.methods import mcmc, nuts
from lamina.methods.coordinates import lay, make_plan, unlay
from lamina.methods.starts import starting_inputs
from lamina.methods.target import log_density, make_target
from lamina.paper.functions import simulate
from lamina.problem import Problem, pose


def records() -> dict[str, lamina.Record]:
    """The paper's first function with input error 1 and output error 0.05; and a core of 77 rows."""
    _, first = simulate("5 sin x", 1.0, 0.05, (0, 0))
    nassau = lamina.datasets.load("nassau")
    # one sequence of 77 uncertain rows: the years of the tide gauge get an error, and take their place in the order
    order = np.argsort(nassau.t, kind="stable")
    t_sd = np.where(nassau.exact, 3.0, nassau.t_sd)
    core = lamina.Record(t=nassau.t[order], t_sd=t_sd[order], y=nassau.y[order], y_sd=nassau.y_sd[order])
    return {"N = 25": first, "N = 77": core}


def watched(problem: Problem, tau: np.ndarray, phi: np.ndarray, chains: int) -> np.ndarray:
    """Inputs and unknown parameters, (chains, n, V)."""
    every = np.hstack([tau, phi[:, problem.free]])
    return every.reshape(chains, -1, every.shape[1])


def rate(draws: np.ndarray, seconds: float) -> dict[str, float]:
    ess = effective_draws(draws)
    return {"least ess": float(ess.min()), "seconds": seconds, "ess / s": float(ess.min() / seconds),
            "r_hat": float(r_hat(draws).max())}  # fmt: skip


def warm_up(problem: Problem) -> int:
    """Warm-up, and draws of each chain, of both NUTS: with 1000, the longer record takes a quarter of an hour."""
    return 1000 if len(problem.record) <= 25 else 300


def run_mcmc(problem: Problem, seed: int) -> dict[str, float]:
    began = time.perf_counter()
    draws = mcmc.run(problem, seed=seed, draws=8000, max_sweeps=16_000)
    return rate(watched(problem, draws.tau, draws.phi, draws.chains), time.perf_counter() - began)


def run_nuts(problem: Problem, seed: int) -> dict[str, float]:
    began = time.perf_counter()
    length = warm_up(problem)
    draws = nuts.run(problem, seed=seed, draws=4 * length, warmup=length)
    return rate(watched(problem, draws.tau, draws.phi, draws.chains), time.perf_counter() - began)


def numpyro_potential(problem: Problem):
    """Minus the log-posterior in nuts' coordinates (start, log-gaps, phi), written in JAX with a dense covariance."""
    import jax.numpy as jnp
    from jax.scipy.linalg import cho_factor, cho_solve
    from jax.scipy.special import gammaln

    rows, n = problem.rows, len(problem.record)
    y, y_var = jnp.asarray(problem.record.y), jnp.asarray(rows.y_var)
    t, t_var = jnp.asarray(rows.t), jnp.asarray(rows.t_var)
    mean, sd = jnp.asarray(problem.prior_mean), jnp.asarray(problem.prior_sd)
    free = np.flatnonzero(problem.free)

    def potential(x):
        log_gap, phi = x[1:n], x[n:]
        gap = jnp.exp(log_gap)
        tau = x[0] + jnp.concatenate([jnp.zeros(1), jnp.cumsum(gap)])
        length, scale, alpha = jnp.exp(phi[0]), jnp.exp(phi[1]), 1.0 + jnp.exp(phi[2])
        r = jnp.sqrt(3.0) * jnp.abs(tau[:, None] - tau) / length
        factor = cho_factor(scale**2 * (1.0 + r) * jnp.exp(-r) + jnp.diag(y_var), lower=True)
        one = jnp.ones(n)
        solved = cho_solve(factor, jnp.stack([y, one], axis=1))
        G, b = one @ solved[:, 1], one @ solved[:, 0]
        value = -jnp.log(jnp.diag(factor[0])).sum() - 0.5 * (y @ solved[:, 0] - b**2 / G) - 0.5 * jnp.log(G)
        value -= 0.5 * ((t - tau) ** 2 / t_var).sum()
        span = gap.sum() + problem.floor
        value += gammaln(alpha * (n - 1)) - (n - 1) * gammaln(alpha)
        value += (alpha - 1.0) * log_gap.sum() - alpha * (n - 1) * jnp.log(span)
        value += log_gap.sum() - 0.5 * (((phi - mean[free]) / sd[free]) ** 2).sum()
        return -value

    return potential


def check_potential(problem: Problem, potential) -> None:
    """Both densities differ by one constant."""
    plan, target, rng = make_plan(problem), make_target(problem), np.random.default_rng(0)
    differences = []
    for _ in range(5):
        tau = starting_inputs(problem, rng, jitter=0.3)
        x = unlay(plan, tau)
        phi = problem.start + np.where(problem.free, 0.3 * rng.standard_normal(len(problem.start)), 0.0)
        jacobian = lay(plan, x, tau)
        ours = jacobian + log_density(
            problem.blocks, problem.dims, problem.columns, target, tau, phi, np.empty(len(tau)), np.empty(len(phi))
        )
        differences.append(ours + float(potential(np.concatenate([x, phi[problem.free]]))))
    if np.ptp(differences) > 1e-6 * max(1.0, np.abs(differences).max()):
        raise SystemExit(f"NumPyro's density is not lamina's: differences {differences}")


def run_numpyro(problem: Problem, seed: int) -> dict[str, float]:
    tau, phi, seconds, _ = numpyro_draws(problem, seed, warm_up(problem))
    return rate(watched(problem, tau, phi, NUMPYRO_CHAINS), seconds)


#: Side by side, on two cores.
NUMPYRO_CHAINS = 2
#: Seconds of every compilation of JAX since ``numpyro_draws`` was first called.
_compilations: list[float] = []


def numpyro_draws(problem: Problem, seed: int, length: int) -> tuple[np.ndarray, np.ndarray, float, float]:
    """tau, phi, seconds of sampling, seconds of compiling: ``length`` draws a chain after as many of warm-up.

    NumPyro compiles chains that run side by side again in every run, so JAX is asked how long that took.
    """
    import jax
    import numpyro

    jax.config.update("jax_enable_x64", True)
    numpyro.set_host_device_count(NUMPYRO_CHAINS)
    from numpyro.infer import MCMC, NUTS

    if not _compilations:
        jax.monitoring.register_event_duration_secs_listener(_note_compilation)
    potential = numpyro_potential(problem)
    check_potential(problem, potential)
    starts = jax.numpy.asarray(starting_points(problem, NUMPYRO_CHAINS, seed))
    sampler = MCMC(NUTS(potential_fn=potential, target_accept_prob=0.9), num_warmup=length, num_samples=length,
                   num_chains=NUMPYRO_CHAINS, progress_bar=False, chain_method="parallel")  # fmt: skip
    before, began = sum(_compilations), time.perf_counter()
    sampler.run(jax.random.PRNGKey(seed), init_params=starts)
    x = np.asarray(sampler.get_samples())
    took, compiling = time.perf_counter() - began, sum(_compilations) - before
    return *from_coordinates(problem, x), took - compiling, compiling


def _note_compilation(event: str, seconds: float, **_: Any) -> None:
    if event.startswith("/jax/core/compile/"):
        _compilations.append(seconds)


def starting_points(problem: Problem, chains: int, seed: int) -> np.ndarray:
    """Where the chains of a peer begin, in nuts' coordinates: (chains, n + number of unknown parameters)."""
    plan, rng = make_plan(problem), np.random.default_rng(seed)
    inputs = [unlay(plan, starting_inputs(problem, rng, 0.3)) for _ in range(chains)]
    return np.array([np.concatenate([x, problem.start[problem.free]]) for x in inputs])


def from_coordinates(problem: Problem, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """tau (S, n) and phi (S, P) from points in nuts' coordinates (S, V) of one sequence."""
    n = len(problem.record)
    tau = x[:, :1] + np.hstack([np.zeros((len(x), 1)), np.cumsum(np.exp(x[:, 1:n]), axis=1)])
    phi = np.tile(problem.start, (len(x), 1))
    phi[:, problem.free] = x[:, n:]
    return tau, phi


def long_record(n: int) -> lamina.Record:
    """A layered record of n rows."""
    rng = np.random.default_rng(n)
    tau = np.cumsum(rng.gamma(4.0, 0.25, n))
    y = np.sin(tau / 20.0) + 0.5 * np.sin(tau / 7.0) + 0.2 * rng.standard_normal(n)
    return lamina.Record(t=tau + 0.7 * rng.standard_normal(n), t_sd=0.7, y=y, y_sd=0.2)


def growth() -> str:
    """Time per sweep against N, and memory at 100,000 rows, each in a process of its own."""
    rows, sizes, per_sweep = [], [1000, 10_000, 100_000], []
    for n in sizes:
        run = subprocess.run([sys.executable, __file__, "--one", str(n)], check=True, capture_output=True)
        found = json.loads(run.stdout)
        per_sweep.append(found["seconds"] / found["sweeps"])
        numbers = f"{1e6 * per_sweep[-1] / n:.2f} | {found['sweeps']} | {found['seconds']:.1f} | {found['memory']:.0f}"
        rows.append(f"| {n:,} | {numbers} |")
    exponent = np.polyfit(np.log(sizes), np.log(per_sweep), 1)[0]
    head = "| rows | µs a row and sweep (two chains) | sweeps | seconds | peak memory, MB |\n|--:|--:|--:|--:|--:|"
    return f"{head}\n" + "\n".join(rows) + f"\n\nGrowth of the time per sweep: N^{exponent:.2f}."


def one(n: int) -> None:
    """mcmc on n rows for 500 sweeps; prints its time and memory."""
    problem = pose(long_record(n), Matern32())
    mcmc.run(pose(long_record(50), Matern32()), chains=2, warmup=2, max_sweeps=2)
    mcmc.run(problem, chains=2, warmup=2, max_sweeps=2)
    began = time.perf_counter()
    draws = mcmc.run(problem, chains=2, warmup=200, max_sweeps=300, draws=600)
    print(json.dumps({"seconds": time.perf_counter() - began, "sweeps": draws.diagnostics["sweeps"],
                      "memory": peak_memory()}))  # fmt: skip


def table() -> str:
    lines = ["| record | sampler | fewest effective draws | seconds | effective draws / s | R-hat | NumPyro's times |",
             "|:--|:--|--:|--:|--:|--:|--:|"]  # fmt: skip
    for name, record in records().items():
        problem = pose(record, Matern32())
        mcmc.run(problem, warmup=2, max_sweeps=2)
        nuts.run(problem, warmup=20, draws=40)
        runs = {"mcmc": run_mcmc, "nuts (nutpie)": run_nuts, "NumPyro NUTS": run_numpyro}
        found = {}
        for sampler, run in runs.items():
            found[sampler] = run(problem, 1)
            print(name, sampler, found[sampler], flush=True)
        base = found["NumPyro NUTS"]["ess / s"]
        for sampler, f in found.items():
            numbers = f"{f['least ess']:.0f} | {f['seconds']:.2f} | {f['ess / s']:.3g} | {f['r_hat']:.3f}"
            lines.append(f"| {name} | {sampler} | {numbers} | {f['ess / s'] / base:.3g} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", type=Path, help="write the tables into this page, between its markers")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one(options.one)
        return
    text = f"{table()}\n\n{growth()}"
    print(text)
    if options.markdown:
        about = machine(("lamina", "numpy", "numba", "nutpie", "numpyro", "jax"))
        fill_section(options.markdown, "samplers", f"{about}\n\nCommand: `python benchmarks/samplers.py`\n\n{text}")


if __name__ == "__main__":
    main()
