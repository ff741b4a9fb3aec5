"""Residuals and the leave-one-out predictions."""

import fits
import numpy as np
import pytest
from scipy.stats import kstest, norm

import lamina
from lamina import dense
from lamina.posterior.residuals import residuals


def test_predicted_values_are_those_of_fits_without_the_row():
    kernel, record = lamina.Matern32(2.0, 0.7), fits.record(t_sd=0.0)
    fixed = dict(zip(kernel.names, np.exp(kernel.theta), strict=True))
    table = residuals(lamina.fit(record, "gp", kernel, fixed=fixed))
    model = kernel + lamina.Constant()
    for i in range(len(record)):
        others = np.arange(len(record)) != i
        mean, covariance = dense.predict(
            model, record.t[others], record.y[others], record.y_sd[others], record.t[i : i + 1]
        )
        sd = np.sqrt(covariance[0, 0] + record.y_sd[i] ** 2)
        assert table["loo_pit"][i] == pytest.approx(norm.cdf((record.y[i] - mean[0]) / sd), abs=1e-6)


def test_residuals_are_measured_less_fitted():
    posterior = fits.posterior("gp")
    table, record = residuals(posterior), posterior.record
    np.testing.assert_allclose(table["fitted"], posterior.curve(record.t)["mean"])
    np.testing.assert_allclose(table["residual"], record.y - table["fitted"])
    np.testing.assert_allclose(table["scaled"], table["residual"] / record.y_sd)
    np.testing.assert_allclose(table["at"], record.t)


def test_rows_can_be_chosen():
    posterior, rows = fits.posterior("mcmc"), np.array([7, 2])
    some = residuals(posterior, rows)
    np.testing.assert_array_equal(some.index, rows)
    np.testing.assert_allclose(some, residuals(posterior).loc[rows])


@pytest.mark.parametrize("method", fits.METHODS)
def test_every_method_has_residuals(method):
    table = residuals(fits.posterior(method))
    assert len(table) == 10
    assert np.isfinite(table).all(axis=None)
    assert table["loo_pit"].between(0.0, 1.0).all()


def drawn_record(reported_sd) -> lamina.Record:
    """200 rows drawn from a Gaussian process with errors of 0.3, reported as something else perhaps."""
    rng = np.random.default_rng(1)
    kernel, t = lamina.Matern32(20.0, 1.0), np.arange(200.0)
    root = np.linalg.cholesky(kernel.covariance(np.abs(t[:, None] - t)) + 1e-9 * np.eye(200))
    y = root @ rng.standard_normal(200) + 0.3 * rng.standard_normal(200)
    return lamina.Record(t=t, t_sd=0.0, y=y, y_sd=reported_sd)


def test_in_the_right_model_loo_pit_values_are_evenly_spread():
    table = residuals(lamina.fit(drawn_record(0.3), "gp"))
    assert kstest(table["loo_pit"], "uniform").pvalue > 0.01


def test_errors_that_are_too_large_gather_loo_pit_values_in_the_middle():
    table = residuals(lamina.fit(drawn_record(0.9), "gp"))
    assert (np.abs(table["loo_pit"] - 0.5) < 0.25).mean() > 0.7


def test_a_row_far_from_all_others_is_predicted_by_the_prior():
    record = lamina.Record(t=[0.0, 1.0, 2.0, 1e7], t_sd=0.0, y=[0.0, 0.1, 0.0, 0.05], y_sd=0.1)
    posterior = lamina.fit(record, "gp", fixed={"length": 1.0, "sd": 1.0}, mean="zero")
    expected = norm.cdf(0.05 / np.sqrt(1.0 + 0.01))
    assert residuals(posterior)["loo_pit"][3] == pytest.approx(expected, abs=1e-6)
