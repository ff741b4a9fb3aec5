"""The value of the log-likelihood and its gradient, by several libraries; used by ``peers.py``.

``python peer_engines.py NAME N`` evaluates once and prints the peak memory of its process in MB.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from engine import KERNEL, Data, check, data, tinygp_value_and_gradient
from report import peak_memory

import lamina

#: From data to a function without arguments that returns (value, d_tau or None, d_theta).
Prepare = Callable[[Data], Callable[[], Any]]

#: Dense engines stop here: the next size would take a minute a call.
MOST_DENSE = 1_000


def markov(d: Data) -> Callable[[], Any]:
    return lambda: lamina.log_likelihood(*d, KERNEL, gradient=True)


def dense(d: Data) -> Callable[[], Any]:
    return lambda: lamina.log_likelihood(*d, KERNEL, gradient=True, engine="dense")


def tinygp(d: Data) -> Callable[[], Any]:
    """JAX, an exact O(N) solver, gradient by automatic differentiation."""
    prepare = tinygp_value_and_gradient()
    if prepare is None:
        raise ModuleNotFoundError("tinygp")
    evaluate = prepare(d)

    def reordered() -> Any:
        value, (d_theta, d_tau) = evaluate()
        return value, d_tau, d_theta

    return reordered


def celerite2(d: Data) -> Callable[[], Any]:
    """O(N) in C++ behind JAX, gradient in all inputs; its Matérn-3/2 is the limit of a kernel that it has, near 0."""
    import celerite2.jax
    import jax

    jax.config.update("jax_enable_x64", True)

    def log_likelihood(theta: Any, tau: Any, y: Any, y_var: Any) -> Any:
        length, sd = jax.numpy.exp(theta)
        process = celerite2.jax.GaussianProcess(celerite2.jax.terms.Matern32Term(sigma=sd, rho=length, eps=1e-4))
        process.compute(tau, diag=y_var, check_sorted=False)
        return process.log_likelihood(y)

    compiled = jax.jit(jax.value_and_grad(log_likelihood, argnums=(0, 1)))
    arguments = [jax.device_put(one) for one in (KERNEL.theta, d.tau, d.y, d.y_sd**2)]

    def evaluate() -> Any:
        value, (d_theta, d_tau) = jax.block_until_ready(compiled(*arguments))
        return value, d_tau, d_theta

    return evaluate


def scikit_learn(d: Data) -> Callable[[], Any]:
    """Dense, in NumPy and SciPy; gradient in the hyperparameters alone, so that it has less to do."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern

    kernel = ConstantKernel(KERNEL.sd**2) * Matern(KERNEL.length, nu=1.5)
    process = GaussianProcessRegressor(kernel, alpha=d.y_sd**2, optimizer=None).fit(d.tau[:, None], d.y)

    def evaluate() -> Any:
        value, (d_log_var, d_log_length) = process.log_marginal_likelihood(
            process.kernel_.theta, eval_gradient=True, clone_kernel=False
        )
        return value, None, [d_log_length, 2.0 * d_log_var]

    return evaluate


ENGINES: dict[str, Prepare] = {
    "lamina": markov,
    "lamina, dense": dense,
    "tinygp": tinygp,
    "celerite2": celerite2,
    "scikit-learn": scikit_learn,
}
DENSE = ("lamina, dense", "scikit-learn")


def prepared(name: str, d: Data) -> Callable[[], Any]:
    """What is timed, after its numbers have been compared with lamina's."""
    evaluate = ENGINES[name](d)
    for found, expected in zip(evaluate(), markov(d)(), strict=True):
        if found is not None:
            check(name, found, expected, tolerance=1e-5)  # celerite2's kernel is almost Matérn-3/2
    return evaluate


if __name__ == "__main__":
    ENGINES[sys.argv[1]](data(int(sys.argv[2])))()
    print(peak_memory())
