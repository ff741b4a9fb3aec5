"""gp and nigp on a field: the measured inputs, parameters that maximise the likelihood of dense matrices."""

import numpy as np
import pytest

import lamina
from lamina.field import oracle
from lamina.field.problem import as_field

pytestmark = pytest.mark.slow


def make_record():
    rng = np.random.default_rng(4)
    site, t = np.repeat([0, 1, 2], 8), np.tile(np.linspace(0.0, 9.0, 8), 3)
    y = np.sin(t) + 0.2 * site + rng.normal(0.0, 0.1, 24)
    places = {"latitude": [35.0, 38.0, 39.0], "longitude": [-76.0, -74.0, -70.0]}
    return lamina.Record(t, 0.3, y, 0.1, site=[f"s{s}" for s in site], **places)


def test_gp_finds_the_maximum_of_the_dense_likelihood():
    found = lamina.fit(make_record(), "gp", starts=3)
    assert found.diagnostics["converged"]
    problem, field = found.problem, as_field(found.problem)
    n, phi = problem.n_kernel, found.draws.phi[0]

    def objective(theta):
        u = (theta - problem.prior_mean[:n]) / problem.prior_sd[:n]
        return oracle.log_likelihood(field.field, theta, field.data, problem.rows.t) - 0.5 * u @ u

    best = objective(phi[:n])
    assert found.diagnostics["objective"] == pytest.approx(best, abs=1e-6)
    for k in range(n):
        for step in -0.05, 0.05:
            assert objective(phi[:n] + step * (np.arange(n) == k)) < best
    np.testing.assert_allclose(found.inputs()["mean"], found.record.t, atol=1e-12)


def test_nigp_adds_the_slope_of_each_site_to_its_errors():
    record = make_record()
    found, plain = lamina.fit(record, "nigp", starts=2), lamina.fit(record, "gp", starts=2)
    extra, slopes = found.draws.extra_var, found.rate(record.t, site="s1")["mean"]
    here = record.places.index == 1
    np.testing.assert_allclose(extra[here], (slopes[here] * 0.3) ** 2, rtol=0.1, atol=1e-4)
    at = [2.0, 5.0]
    assert (found.curve(at, site="s1")["sd"] > plain.curve(at, site="s1")["sd"]).all()
