"""The O(N) engine gives the numbers of the dense engine, and of extended precision where that one has none left."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from oracles import Oracle
from problems import KERNELS, PRIORS, SMOOTH, Problem, distance, problem, problems, queries

from lamina import dense, markov
from lamina.errors import KernelError

TOLERANCE = 1e-8
pytestmark = pytest.mark.slow

ALL = KERNELS | PRIORS
each_kernel = pytest.mark.parametrize("kernel", ALL.values(), ids=ALL.keys())
few = settings(max_examples=4, suppress_health_check=[HealthCheck.too_slow])


def hessian_scale(kernel, p: Problem) -> float:
    """The size of a curvature that is small: one, or with a trend alone the largest of the terms that cancel."""
    if kernel.stationary is not None:
        return 1.0
    rate = np.polyfit(p.tau, p.y, 1)[0]
    return float(rate**2 * (np.diff(p.tau) ** 2).max() * (p.y_sd**-2.0).sum())


def check_gradient(kernel, p: Problem, value, d_tau, d_theta):
    """Relative to the largest entry; derivatives by log-parameters at least to 1, their natural scale."""
    found, found_d_tau, found_d_theta = markov.value_and_gradient(kernel, *p)
    assert abs(found - value) < TOLERANCE * max(abs(value), 1.0)
    assert distance(found_d_tau, d_tau) < TOLERANCE
    assert distance(found_d_theta, d_theta, at_least=1.0) < TOLERANCE
    assert markov.log_likelihood(kernel, *p) == pytest.approx(found, rel=1e-13, abs=1e-11)


def check_hessian(kernel, p: Problem, hessian):
    assert distance(markov.gap_hessian_diagonal(kernel, *p), hessian, hessian_scale(kernel, p)) < TOLERANCE


def check_prediction(found, mean, sd):
    """The mean relative to its largest entry or the largest standard deviation; each standard deviation to itself."""
    assert distance(found.mean, mean, at_least=sd.max()) < TOLERANCE
    assert distance(found.sd / sd, np.ones_like(sd)) < TOLERANCE


@each_kernel
@few
@given(p=problems(smallest=3, largest=10))
def test_likelihood_and_derivatives_equal_extended_precision(kernel, p):
    oracle = Oracle(kernel, *p)
    check_gradient(kernel, p, oracle.value(), *oracle.gradient())
    check_hessian(kernel, p, oracle.gap_hessian())


@each_kernel
@few
@given(p=problems(smallest=3, largest=10))
def test_predictions_equal_extended_precision(kernel, p):
    at = queries(p)
    mean, covariance = Oracle(kernel, *p).predict(at)
    m, sd = len(at), np.sqrt(np.maximum(np.diag(covariance), 0.0))
    check_prediction(markov.predict(kernel, *p, at), mean[:m], sd[:m])
    if kernel.stationary is None or kernel.stationary.differentiable:
        check_prediction(markov.predict_rate(kernel, *p, at), mean[m:], sd[m:])


@each_kernel
@few
@given(p=problems(smallest=30, largest=200, lowest_log_y_sd=-1.0))
def test_long_records_equal_the_dense_engine(kernel, p):
    value, d_tau, d_theta = dense.value_and_gradient(kernel, *p)
    check_gradient(kernel, p, value, d_tau, d_theta)
    at = queries(p)
    mean, covariance = dense.predict(kernel, *p, at)
    check_prediction(markov.predict(kernel, *p, at), mean, np.sqrt(np.diag(covariance)))
    if kernel.stationary is None or kernel.stationary.differentiable:
        mean, covariance = dense.predict_rate(kernel, *p, at)
        check_prediction(markov.predict_rate(kernel, *p, at), mean, np.sqrt(np.diag(covariance)))


@pytest.mark.parametrize("name", ["matern32", "matern12+matern52+rate"])
def test_the_curvature_of_a_long_record_equals_the_dense_engine(name):
    p = problem(150, "even", seed=3, log_y_sd=(-1.0, 0.0))
    check_hessian(KERNELS[name], p, dense.gap_hessian_diagonal(KERNELS[name], *p))


@pytest.mark.parametrize("spacing", ["even", "clusters"])
def test_the_value_of_200_precise_rows_equals_extended_precision(spacing):
    p = problem(200, spacing, seed=5, log_y_sd=(-4.0, 1.0))
    kernel = KERNELS["matern52"]
    assert markov.log_likelihood(kernel, *p) == pytest.approx(Oracle(kernel, *p).value(), rel=1e-11)


@pytest.mark.parametrize("kernel", SMOOTH.values(), ids=SMOOTH.keys())
def test_the_rate_is_the_derivative_of_the_curve(kernel):
    p = problem(12, "even", seed=1, log_y_sd=(-1.0, 0.0))
    at, h = queries(p), 1e-4
    difference = (markov.predict(kernel, *p, at + h).mean - markov.predict(kernel, *p, at - h).mean) / (2.0 * h)
    # At a measured time the second derivative of a Matérn-3/2 mean jumps, hence first order there.
    assert markov.predict_rate(kernel, *p, at).mean == pytest.approx(difference, abs=3e-3)
    away = np.abs(at[:, None] - p.tau).min(axis=1) > 2.0 * h
    assert markov.predict_rate(kernel, *p, at).mean[away] == pytest.approx(difference[away], abs=1e-6)


def test_a_curve_without_rate_is_refused():
    p = problem(5, "even", seed=1, log_y_sd=(-1.0, 0.0))
    for name in ("matern12", "matern12+matern52+rate"):
        with pytest.raises(KernelError, match=r"no rate.*Matern32 or Matern52"):
            markov.predict_rate(KERNELS[name], *p, p.tau)
    found = markov.predict(KERNELS["matern12"], *p, p.tau)
    assert np.isfinite(found.mean).all()


def test_trend_coefficients_that_cannot_be_told_apart_are_refused():
    kernel = KERNELS["matern32+flat level+flat rate"]
    one, many = np.zeros(1), np.zeros(4)
    for tau in (one, many):
        with pytest.raises(KernelError, match="cannot be distinguished"):
            markov.log_likelihood(kernel, tau, tau, tau + 0.1)
    assert np.isfinite(markov.log_likelihood(PRIORS["matern32+level+rate"], many, many, many + 0.1))
