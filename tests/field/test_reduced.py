"""Constants and rates as regression coefficients: likelihood and draws are those of the chain with all states."""

import numpy as np
import pytest

import lamina
from lamina import Constant, EachSite, Linear, Matern12, Matern32, Nearby, WhiteNoise
from lamina.field import chain, reduced
from lamina.field.data import at_sites
from lamina.field.problem import as_field
from lamina.model.model import Model
from lamina.model.problem import build_problem

pytestmark = pytest.mark.slow
RATES = Linear(origin=3.0) * Nearby()
KERNELS = {
    "default": Matern32() + Matern32() * Nearby() + RATES + Constant() * EachSite() + WhiteNoise(),
    "only a level": WhiteNoise() + Matern32() * Nearby() + RATES,
    "two rates, two offsets": Matern12() * EachSite()
    + Constant() * Nearby()
    + Constant() * EachSite()
    + RATES
    + Linear(),
}


def make(name):
    rng, n = np.random.default_rng(2), 30
    site = rng.integers(0, 3, n)
    places = {"site": [str(s) for s in site], "latitude": {"0": 35.0, "1": 38.0, "2": 36.0}}
    places |= {"longitude": {"0": -76.0, "1": -74.0, "2": -70.0}, "gia": 0.1, "gia_sd": 0.02, "sequence": [None] * n}
    record = lamina.Record(rng.uniform(0.0, 10.0, n), 0.1, rng.normal(size=n), 0.2, **places)
    problem = build_problem(record, Model(KERNELS[name]))
    return as_field(problem), problem.prior_mean[: problem.n_kernel], problem.rows.t


@pytest.mark.parametrize("name", list(KERNELS))
def test_the_likelihood_is_that_of_all_states(name):
    field, theta, tau = make(name)
    small = reduced.reduce(field)
    swept = reduced.sweep(small, theta, reduced.arrange(small, tau))
    for change in np.zeros(len(theta)), np.where(np.isin(np.arange(len(theta)), small.moving), 0.0, 0.7):
        fitted = reduced.fit_static(small, swept, reduced.static_roots(small, theta + change))
        expected = chain.log_likelihood(field.field, theta + change, field.data, tau)
        assert fitted.value == pytest.approx(expected, abs=1e-8)


def test_draws_have_the_mean_and_covariance_of_predictions():
    field, theta, tau = make("default")
    small, at, rng = reduced.reduce(field), np.array([-6.0, 0.3, 4.0]), np.random.default_rng(0)
    swept = reduced.sweep(small, theta, reduced.arrange(small, tau))
    fitted = reduced.fit_static(small, swept, reduced.static_roots(small, theta))
    drawn = [reduced.draw(small, swept, fitted, at, rng) for _ in range(4000)]
    states, beta = np.array([one for one, _ in drawn]), np.array([one for _, one in drawn])
    site, layout = 1, small.curves.layout
    total = np.zeros((4000, 3))
    for k in range(2):
        mix = swept.values.mix[site, layout.first[k] : layout.first[k] + layout.size[k]]
        total += states[:, :, layout.start[k] : layout.start[k] + layout.size[k]] @ mix
    q = len(field.data.design.guess)
    origin = field.field.layout.origin[2]
    total += beta[:, q + site, None] * (at - origin) + beta[:, q + 3 + site, None]
    targets = at_sites(field.field, field.field.values(theta), np.array([site]))
    part = chain.Part(np.ones(4, dtype=bool))
    mean, covariance = chain.predict(field.field, theta, field.data, tau, at, targets, part)
    mean = mean[:, 0] - field.field.sites.gia[site] * (at - origin)
    error = np.sqrt(covariance[:, 0, 0] / 4000)
    assert (np.abs(total.mean(axis=0) - mean) < 4.5 * error).all()
    np.testing.assert_allclose(total.var(axis=0), covariance[:, 0, 0], rtol=0.12)
