"""The curve and its rate at any time, and joint draws of both."""

import numpy as np
import pytest
from problems import KERNELS, SMOOTH, Problem, problem

from lamina import dense, markov
from lamina.engine.smoothing import merge, new_merged
from lamina.kernels import Constant, Linear, Matern32, Matern52

CURVES = {name: kernel for name, kernel in KERNELS.items() if kernel.stationary is not None}
STATIONARY = {name: kernel for name, kernel in KERNELS.items() if not kernel.trend}
each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())
each_stationary = pytest.mark.parametrize("kernel", STATIONARY.values(), ids=STATIONARY.keys())
P10 = problem(10, "even", seed=7, log_y_sd=(-1.0, 0.0))


def test_queries_are_merged_after_the_rows_of_the_same_time():
    tau = np.array([0.0, 1.0, 1.0, 3.0])
    for at, order in (np.array([-1.0, 1.0, 1.0, 2.0, 9.0]), [4, 0, 1, 2, 5, 6, 7, 3, 8]), (np.empty(0), [0, 1, 2, 3]):
        merged = new_merged(len(tau), len(at), 1, 1)
        merge.py_func(tau, at, merged.order, merged.time)
        assert merged.order.tolist() == order
        assert merged.time.tolist() == np.concatenate([tau, at])[order].tolist()


@each_stationary
@pytest.mark.parametrize("distance", [1e4, -1e4])
def test_far_from_the_data_the_curve_reverts_to_its_prior(kernel, distance):
    found = markov.predict(kernel, *P10, np.array([P10.tau[0] + distance]))
    assert found.mean == pytest.approx([0.0], abs=1e-12)
    assert found.sd == pytest.approx(np.sqrt(kernel.covariance(np.zeros(1))), rel=1e-12)
    if kernel.differentiable:
        found = markov.predict_rate(kernel, *P10, np.array([P10.tau[0] + distance]))
        assert found.mean == pytest.approx([0.0], abs=1e-12)
        assert found.sd == pytest.approx(np.sqrt(-kernel.lag_derivatives(np.zeros(1))[1]), rel=1e-12)


@pytest.mark.parametrize("kernel", CURVES.values(), ids=CURVES.keys())
def test_precise_rows_are_hit(kernel):
    p = P10._replace(y_sd=np.full(10, 1e-6))
    found = markov.predict(kernel, *p, p.tau)
    assert found.mean == pytest.approx(p.y, abs=1e-5)
    assert found.sd == pytest.approx(p.y_sd, rel=1e-3)


@each_kernel
def test_the_order_and_the_number_of_queries_do_not_matter(kernel):
    at = np.array([3.0, P10.tau[2], -1.0, 3.0, P10.tau[2], 0.5, 1e3])
    for predict in [markov.predict, markov.predict_rate][: 1 + (kernel in SMOOTH.values())]:
        together = predict(kernel, *P10, at)
        for i, one in enumerate(at):
            alone = predict(kernel, *P10, np.array([one]))
            assert together.mean[i] == pytest.approx(alone.mean[0], rel=1e-10, abs=1e-12)
            assert together.sd[i] == pytest.approx(alone.sd[0], rel=1e-10)
        assert together.mean[0] == together.mean[3]
        assert together.sd[1] == together.sd[4]


def test_no_queries():
    for kernel in (KERNELS["matern32"], KERNELS["matern32+flat level+flat rate"]):
        assert markov.predict(kernel, *P10, np.empty(0)).mean.shape == (0,)
        curve, rates = markov.sample(kernel, *P10, np.empty(0), 3, np.random.default_rng(0))
        assert curve.shape == rates.shape == (3, 0)


@each_stationary
def test_queries_at_tied_rows_equal_the_dense_engine(kernel):
    tau = P10.tau.copy()
    tau[3:6] = tau[3]
    at = np.array([tau[3], tau[0], tau[-1]])
    mean, covariance = dense.predict(kernel, tau, P10.y, P10.y_sd, at)
    found = markov.predict(kernel, tau, P10.y, P10.y_sd, at)
    assert found.mean == pytest.approx(mean, rel=1e-8)
    assert found.sd == pytest.approx(np.sqrt(np.diag(covariance)), rel=1e-8)


def test_the_prediction_of_one_row():
    p = Problem(np.array([2.0]), np.array([1.5]), np.array([0.5]))
    kernel = KERNELS["matern32"]
    found = markov.predict(kernel, *p, np.array([2.0]))
    share = kernel.sd**2 / (kernel.sd**2 + 0.25)
    assert found.mean == pytest.approx([1.5 * share])
    assert found.sd == pytest.approx([np.sqrt(0.25 * share)])


def test_offsets_of_a_billion_in_time_and_values():
    kernel = KERNELS["matern32+flat level+flat rate"]
    tau, y = np.round(P10.tau * 2**20) / 2**20, np.round(P10.y * 2**20) / 2**20
    at, offset = np.round(np.array([-0.5, 1.2, 30.0]) * 2**20) / 2**20, 1e9
    near = markov.predict(kernel, tau, y, P10.y_sd, at)
    far = markov.predict(kernel, tau + offset, y + offset, P10.y_sd, at + offset)
    assert far.mean - offset == pytest.approx(near.mean, abs=3e-7)  # the spacing of doubles there is 1.2e-7
    assert far.sd == pytest.approx(near.sd, rel=1e-9)


DRAWN = ["matern32", "matern12+matern52+rate", "matern32+flat level+flat rate", "level+rate"]


@pytest.mark.parametrize("name", DRAWN)
def test_draws_have_the_joint_mean_and_covariance_of_the_dense_engine(name):
    """Curve and rate at once, also at tied and at measured times; in standard errors of 4000 draws."""
    kernel, n = KERNELS[name], 4000
    at = np.array([1.0, P10.tau[4], -0.7, 1.0, P10.tau[-1] + 1.5])
    curve, rates = markov.sample(kernel, *P10, at, n, np.random.default_rng(1))
    assert curve[:, 0] == pytest.approx(curve[:, 3], abs=1e-7)
    if name == "matern12+matern52+rate":
        assert np.isnan(rates).all()
        draws, (mean, covariance) = curve, dense.predict(kernel, *P10, at)
    else:
        draws, (mean, covariance) = np.hstack([curve, rates]), dense.predict_joint(kernel, *P10, at)
    sd = np.sqrt(np.diag(covariance))
    error = (draws.mean(axis=0) - mean) / (sd / np.sqrt(n))
    assert np.abs(error).max() < 4.5
    # the product of two normal variables with correlation r has the variance (1 + r²)
    correlation = covariance / np.outer(sd, sd)
    centred = (draws - mean) / sd
    error = (centred.T @ centred / n - correlation) / np.sqrt((1.0 + correlation**2) / n)
    assert np.abs(error).max() < 4.5
    assert error.std() > 0.3  # draws that do not vary as they should would be too good


@pytest.mark.parametrize("name", ["matern32", "matern32+flat level+flat rate"])
def test_the_same_seed_gives_the_same_draws_and_queries_keep_their_places(name):
    at = np.array([2.0, -1.0, 0.3])
    first = markov.sample(KERNELS[name], *P10, at, 5, np.random.default_rng(3))
    again = markov.sample(KERNELS[name], *P10, at, 5, np.random.default_rng(3))
    other = markov.sample(KERNELS[name], *P10, at, 5, np.random.default_rng(4))
    turned = markov.sample(KERNELS[name], *P10, at[::-1].copy(), 5, np.random.default_rng(3))
    for k in range(2):
        assert (first[k] == again[k]).all()
        assert (first[k] != other[k]).all()
        assert (first[k] == turned[k][:, ::-1]).all()


def test_the_rate_of_a_draw_is_its_derivative():
    """f and f' of one draw, at points so close that the second derivative hardly matters."""
    h = 1e-4
    at = np.array([0.4, 0.4 + h])
    curve, rates = markov.sample(KERNELS["matern52"], *P10, at, 20, np.random.default_rng(5))
    assert (curve[:, 1] - curve[:, 0]) / h == pytest.approx(rates.mean(axis=1), abs=1e-2)
    assert rates.std() > 0.1


@pytest.mark.slow
def test_a_part_that_is_much_faster_than_the_rows_are_far_apart():
    """What the future says of the fast part is then nothing but rounding, which may be below zero."""
    kernel = Matern52(440.0, 0.25) + Matern32(3.4, 0.075) + Constant() + Linear(mean=0.001, sd=0.0003)
    tau = np.array([-456.4354, -214.8702, -124.1532, 131.1179, 237.0227, 436.6669])
    y, y_sd = np.array([-0.05, -0.31, -0.44, -0.80, -0.85, -1.0]), np.full(6, 0.08)
    at = np.linspace(-470.0, 450.0, 93)
    mean, covariance = dense.predict(kernel, tau, y, y_sd, at)
    found = markov.predict(kernel, tau, y, y_sd, at)
    assert found.mean == pytest.approx(mean, rel=1e-8)
    assert found.sd == pytest.approx(np.sqrt(np.diag(covariance)), rel=1e-8)
