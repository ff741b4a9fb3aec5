"""The reverse pass: derivatives by time, data, noise and parameters, and the laws that tie them together."""

import numpy as np
import pytest
from oracles import Oracle
from problems import KERNELS, PRIORS, problem

from lamina import markov
from lamina.engine.gradient import new_store, value_and_gradient
from lamina.engine.statespace import make_process

ALL = KERNELS | PRIORS
STATIONARY = {name: kernel for name, kernel in KERNELS.items() if not kernel.trend}
each_kernel = pytest.mark.parametrize("kernel", ALL.values(), ids=ALL.keys())
each_stationary = pytest.mark.parametrize("kernel", STATIONARY.values(), ids=STATIONARY.keys())
P12 = problem(12, "even", seed=4, log_y_sd=(-1.0, 0.0))


def difference(function, x, h):
    """Central differences of fourth order, entry by entry."""
    found = np.empty(len(x))
    for i, step in enumerate(np.eye(len(x)) * h):
        near = function(x + step) - function(x - step)
        far = function(x + 2.0 * step) - function(x - 2.0 * step)
        found[i] = (8.0 * near - far) / (12.0 * h)
    return found


@each_kernel
def test_the_gradient_is_the_slope_of_the_value(kernel):
    _, d_tau, d_theta = markov.value_and_gradient(kernel, *P12)
    in_tau = difference(lambda tau: markov.log_likelihood(kernel, tau, P12.y, P12.y_sd), P12.tau, 2e-4)
    in_theta = difference(lambda theta: markov.log_likelihood(kernel.with_theta(theta), *P12), kernel.theta, 1e-3)
    assert d_tau == pytest.approx(in_tau, abs=1e-7 * np.abs(in_tau).max())
    assert d_theta == pytest.approx(in_theta, abs=1e-8)


def everything(kernel, p):
    """value, d_tau, d_var, d_y and d_theta (B, 2) of a kernel without trend."""
    process = make_process(kernel.blocks())
    store, out = new_store(len(p.tau), len(process.dims), 1)
    gradient = np.empty(len(p.tau) + 2 * len(process.blocks))
    value = value_and_gradient(process, p.tau, p.y, p.y_sd, store, out, gradient)
    return value, *out.T, gradient[len(p.tau) :].reshape(-1, 2)


@each_stationary
def test_the_derivatives_by_data_and_noise(kernel):
    _, _, d_var, d_y, _ = everything(kernel, P12)
    in_y = difference(lambda y: markov.log_likelihood(kernel, P12.tau, y, P12.y_sd), P12.y, 1e-3)
    in_sd = difference(lambda y_sd: markov.log_likelihood(kernel, P12.tau, P12.y, y_sd), P12.y_sd, 1e-4)
    assert d_y == pytest.approx(in_y, abs=1e-8 * np.abs(in_y).max())
    assert 2.0 * P12.y_sd * d_var == pytest.approx(in_sd, abs=1e-6 * np.abs(in_sd).max())


@each_stationary
@pytest.mark.parametrize("spacing", ["even", "clusters"])
def test_the_derivatives_add_up_as_the_units_demand(kernel, spacing):
    """Three exact laws: a shift of time, another unit of time, another unit of y."""
    p = problem(40, spacing, seed=1, log_y_sd=(-3.0, 0.0))
    _, d_tau, d_var, d_y, d_theta = everything(kernel, p)
    assert abs(d_tau.sum()) < 1e-12 * np.abs(d_tau).sum()
    terms = p.tau * d_tau
    assert terms.sum() + d_theta[:, 0].sum() == pytest.approx(0.0, abs=1e-11 * np.abs(terms).sum())
    noise, data = 2.0 * p.y_sd**2 * d_var, p.y * d_y
    size = np.abs(noise).sum() + np.abs(data).sum()
    assert noise.sum() + data.sum() + d_theta[:, 1].sum() == pytest.approx(-40.0, abs=1e-12 * size)


@pytest.mark.parametrize("name", ["matern32+flat level+flat rate", "flat level+flat rate"])
def test_a_shift_of_time_has_no_effect_if_the_level_is_free(name):
    _, d_tau, _ = markov.value_and_gradient(ALL[name], *P12)
    assert abs(d_tau.sum()) < 1e-11 * np.abs(d_tau).sum()


def test_the_gradient_by_sd_keeps_its_digits_where_the_rows_are_nearly_one():
    """Rows within 1e-7 of a length, measured to 1e-5: large terms that used to cancel in d log sd."""
    kernel = KERNELS["matern32"]
    tau = np.array([0.0, 1.4e-7, 1.5e-7, 1.6e-7])
    y, y_sd = 0.3 + 1e-5 * np.arange(4.0), np.full(4, 2.5e-5)
    _, _, d_theta = markov.value_and_gradient(kernel, tau, y, y_sd)
    assert d_theta == pytest.approx(Oracle(kernel, tau, y, y_sd).gradient()[1], abs=1e-10)


def test_the_gradient_does_not_change_its_arguments():
    before = [column.copy() for column in P12]
    markov.value_and_gradient(KERNELS["matern32+flat level+flat rate"], *P12)
    assert all((old == new).all() for old, new in zip(before, P12, strict=True))
