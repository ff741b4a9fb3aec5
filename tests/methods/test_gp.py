"""gp: the exact Gaussian process at the measured inputs, its parameters at a maximum."""

import fits
import numpy as np
import pandas as pd
import pytest

import lamina
from lamina import dense
from lamina.methods.maximise import marginal

AT = np.array([-1.0, 0.3, 4.4, 11.0])
KERNELS = {"markov": lamina.Matern32(), "dense": lamina.SquaredExponential()}
each_engine = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())


@each_engine
@pytest.mark.parametrize("t_sd", [0.0, 0.3])
def test_the_curve_is_that_of_the_exact_gaussian_process_at_its_parameters(kernel, t_sd):
    record = fits.record(t_sd=t_sd)
    found = lamina.fit(record, "gp", kernel)
    model = kernel.with_theta(np.log(found.theta.iloc[0])) + lamina.Constant()
    mean, covariance = dense.predict(model, record.t, record.y, record.y_sd, AT)
    rate, rate_covariance = dense.predict_rate(model, record.t, record.y, record.y_sd, AT)
    np.testing.assert_allclose(found.curve(AT)["mean"], mean, rtol=1e-8)
    np.testing.assert_allclose(found.curve(AT)["sd"], np.sqrt(np.diag(covariance)), rtol=1e-7)
    np.testing.assert_allclose(found.rate(AT)["mean"], rate, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found.rate(AT)["sd"], np.sqrt(np.diag(rate_covariance)), rtol=1e-7)


@each_engine
def test_the_parameters_are_at_a_maximum(kernel):
    found = lamina.fit(fits.record(), "gp", kernel)
    problem, phi = found.problem, found.draws.phi[0]
    density = marginal(problem, problem.rows.t, np.zeros(10))
    value, gradient = density(phi)
    assert found.diagnostics["converged"]
    assert found.diagnostics["objective"] == pytest.approx(value)
    np.testing.assert_allclose(gradient[problem.free], 0.0, atol=2e-3)
    for step in 0.1 * np.vstack([np.eye(2), -np.eye(2)]):
        moved = phi.copy()
        moved[:2] += step
        assert density(moved)[0] < value


@each_engine
def test_the_gradient_of_the_marginal_likelihood_is_that_of_finite_differences(kernel):
    found = lamina.fit(fits.record(), "gp", kernel, starts=1)
    problem, phi = found.problem, found.draws.phi[0].copy()
    phi[:2] += 0.4, -0.3
    density = marginal(problem, problem.rows.t, np.linspace(0.0, 0.1, 10))
    _, gradient = density(phi)
    for i in range(2):
        step = 1e-5 * np.eye(len(phi))[i]
        assert (density(phi + step)[0] - density(phi - step)[0]) / 2e-5 == pytest.approx(gradient[i], rel=1e-6)


def test_inputs_are_taken_as_measured_whatever_their_order():
    record = fits.record(t_sd=1.5)
    assert (np.diff(record.t) < 0).any()
    found = lamina.fit(record, "gp")
    np.testing.assert_allclose(found.tau, record.t[None])
    order = np.argsort(record.t)
    rows = {name: getattr(record, name)[order] for name in ("t", "t_sd", "y", "y_sd")}
    pd.testing.assert_frame_equal(lamina.fit(lamina.Record(**rows), "gp").curve(AT), found.curve(AT), rtol=1e-6)


def test_more_starts_never_end_lower():
    values = [lamina.fit(fits.record(), "gp", starts=n).diagnostics["objective"] for n in (1, 4)]
    assert values[1] >= values[0]


def test_parameters_out_of_reach_of_double_precision_turn_the_climb_back():
    found = fits.quietly(fits.record(t_sd=0.0, y_sd=1e-9), "gp", lamina.SquaredExponential())
    assert np.isfinite(found.curve(AT)).all(axis=None)
