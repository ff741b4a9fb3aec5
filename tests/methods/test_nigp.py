"""nigp: input errors as output variance, slope² t_var, at a fixed point."""

import fits
import numpy as np
import pytest

import lamina
from lamina import dense

AT = np.array([-1.0, 0.3, 4.4, 11.0])


def test_without_input_errors_it_is_gp():
    record = fits.record(t_sd=0.0)
    plain, found = lamina.fit(record, "gp"), lamina.fit(record, "nigp")
    np.testing.assert_array_equal(found.draws.extra_var, 0.0)
    np.testing.assert_allclose(found.curve(AT)["mean"], plain.curve(AT)["mean"], rtol=1e-4)
    np.testing.assert_allclose(found.curve(AT)["sd"], plain.curve(AT)["sd"], rtol=1e-3)


def test_small_input_errors_come_near_to_gp():
    given = fits.record(t_sd=0.0)
    record = lamina.Record(t=given.t, t_sd=1e-4, y=given.y, y_sd=given.y_sd)
    plain, found = lamina.fit(given, "gp"), lamina.fit(record, "nigp")
    np.testing.assert_allclose(found.curve(AT)["mean"], plain.curve(AT)["mean"], rtol=1e-4)


@pytest.mark.parametrize("kernel", [lamina.Matern32(), lamina.SquaredExponential()], ids=["markov", "dense"])
def test_the_extra_variance_is_slope_squared_times_input_variance_at_the_fixed_point(kernel):
    record = fits.record(t_sd=0.15)
    found = lamina.fit(record, "nigp", kernel)
    assert found.diagnostics["converged"]
    extra = found.draws.extra_var
    model = kernel.with_theta(np.log(found.theta.iloc[0])) + lamina.Constant()
    slope, _ = dense.predict_rate(model, record.t, record.y, np.sqrt(record.y_sd**2 + extra), record.t)
    np.testing.assert_allclose(np.sqrt(extra), np.abs(slope) * record.t_sd, atol=3e-3 * np.sqrt(extra).max())


def test_bands_widen_where_the_curve_is_steep():
    record = fits.record(t_sd=0.15)
    plain, found = lamina.fit(record, "gp"), lamina.fit(record, "nigp")
    assert found.draws.extra_var.max() > 0.3 * record.y_sd[0] ** 2
    assert found.curve(record.t)["sd"].mean() > plain.curve(record.t)["sd"].mean()


def test_where_slopes_do_not_come_to_rest_that_is_said():
    with pytest.warns(lamina.NotConverged, match="last change"):
        found = lamina.fit(fits.record(t_sd=0.15), "nigp", max_steps=3)
    assert not found.diagnostics["converged"]
    assert found.diagnostics["steps"] == 3
    assert found.diagnostics["last_change"] > 1e-3


def test_it_needs_a_curve_with_a_slope():
    with pytest.raises(lamina.MethodError, match="Matern32 or Matern52"):
        lamina.fit(fits.record(), "nigp", lamina.Matern12() * lamina.SquaredExponential())
