"""lamina's posterior written in JAX for NumPyro's NUTS: on a dense covariance, which is what one would write there, and
on the O(N) solver of tinygp, which is the fairest peer.

One ordered sequence, Matérn-3/2, an unknown level, the gamma gap prior with alpha learnt. The density is compared with
lamina's before anything is timed. Used by ``peer_samplers.py``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from lamina.methods.coordinates import make_plan, to_coordinates, to_inputs
from lamina.methods.starts import starting_inputs
from lamina.methods.target import log_density, make_target
from lamina.model.problem import Problem

#: Side by side, on two cores.
NUMPYRO_CHAINS = 2
#: Seconds of every compilation of JAX since ``numpyro_draws`` was first called.
_compilations: list[float] = []


def watched(problem: Problem, tau: np.ndarray, phi: np.ndarray, chains: int) -> np.ndarray:
    """Inputs and unknown parameters, (chains, n, V)."""
    every = np.hstack([tau, phi[:, problem.free]])
    return every.reshape(chains, -1, every.shape[1])


def dense_whiten(tau, length, sd, y_var, Z):
    """L^-1 Z and log|L|, with L L' = K the covariance of a Matérn-3/2 curve at tau (n,) and the errors: O(n³)."""
    import jax.numpy as jnp
    from jax.scipy.linalg import cholesky, solve_triangular

    r = jnp.sqrt(3.0) * jnp.abs(tau[:, None] - tau) / length
    L = cholesky(sd**2 * (1.0 + r) * jnp.exp(-r) + jnp.diag(y_var), lower=True)
    return solve_triangular(L, Z, lower=True), jnp.log(jnp.diag(L)).sum()


def quasiseparable_whiten(tau, length, sd, y_var, Z):
    """The same by tinygp's quasiseparable solver: O(n)."""
    import jax.numpy as jnp
    import tinygp

    kernel = sd**2 * tinygp.kernels.quasisep.Matern32(scale=length)
    solver = tinygp.GaussianProcess(kernel, tau, diag=y_var, assume_sorted=True).solver
    return solver.solve_triangular(Z), solver.normalization() - 0.5 * len(tau) * jnp.log(2.0 * jnp.pi)


def numpyro_potential(problem: Problem, whiten: Callable[..., Any] = dense_whiten):
    """Minus the log-posterior in nuts' coordinates (start, log-gaps, phi), written in JAX."""
    import jax.numpy as jnp
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
        white, half_log_det = whiten(tau, length, scale, y_var, jnp.stack([y, jnp.ones(n)], axis=1))
        G, b = white[:, 1] @ white[:, 1], white[:, 1] @ white[:, 0]
        value = -half_log_det - 0.5 * (white[:, 0] @ white[:, 0] - b**2 / G) - 0.5 * jnp.log(G)
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
        x = to_coordinates(plan, tau)
        phi = problem.start + np.where(problem.free, 0.3 * rng.standard_normal(len(problem.start)), 0.0)
        jacobian = to_inputs(plan, x, tau)
        ours = jacobian + log_density(target, tau, phi, np.empty(len(tau)), np.empty(len(phi)))
        differences.append(ours + float(potential(np.concatenate([x, phi[problem.free]]))))
    if np.ptp(differences) > 1e-6 * max(1.0, np.abs(differences).max()):
        raise SystemExit(f"NumPyro's density is not lamina's: differences {differences}")


def numpyro_draws(
    problem: Problem, seed: int, length: int, whiten: Callable[..., Any] = dense_whiten
) -> tuple[np.ndarray, np.ndarray, float, float]:
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
    potential = numpyro_potential(problem, whiten)
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
    inputs = [to_coordinates(plan, starting_inputs(problem, rng, 0.3)) for _ in range(chains)]
    return np.array([np.concatenate([x, problem.start[problem.free]]) for x in inputs])


def from_coordinates(problem: Problem, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """tau (S, n) and phi (S, P) from points in nuts' coordinates (S, V) of one sequence."""
    n = len(problem.record)
    tau = x[:, :1] + np.hstack([np.zeros((len(x), 1)), np.cumsum(np.exp(x[:, 1:n]), axis=1)])
    phi = np.tile(problem.start, (len(x), 1))
    phi[:, problem.free] = x[:, n:]
    return tau, phi
