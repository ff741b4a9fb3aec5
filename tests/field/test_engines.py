"""The chain of a field against dense matrices, as written: value, gradients, predictions and joint draws."""

import numpy as np
import pytest

from lamina.field import chain, oracle
from lamina.field.data import at_sites, elsewhere, make_data
from lamina.field.layout import Field, Sites
from lamina.kernels import Constant, EachSite, Linear, Matern12, Matern32, Matern52, Nearby, WhiteNoise

pytestmark = pytest.mark.slow

N, SITES = 40, 4
KERNELS = {
    "common": Matern32(3.0, 1.2) + Constant(),
    "nearby": Matern32(3.0, 0.8) * Nearby(700.0),
    "each": Matern32(2.0, 0.8) * EachSite() + Constant(sd=3.0),
    "rough": Matern12(2.0, 0.7) * Nearby(700.0) + Matern32(5.0, 1.0),
    "smooth": Matern52(4.0, 0.7) * Nearby(700.0, decay="matern32") + Matern52(2.0, 1.0) + Linear(),
    "rates": Matern32() + Linear(sd=0.3, origin=1.0) * Nearby(900.0) + Constant(sd=0.4) * EachSite(),
    "all": (
        Matern32(3.0, 1.2)
        + Matern32(2.0, 0.7) * Nearby(800.0)
        + Linear(sd=0.3, origin=-2.0) * Nearby(500.0)
        + Matern12(1.0, 0.2) * EachSite()
        + WhiteNoise(0.3)
        + Constant(sd=0.4) * EachSite()
        + Constant()
    ),
}


@pytest.fixture(params=list(KERNELS))
def case(request):
    rng = np.random.default_rng(list(KERNELS).index(request.param))
    kernel = KERNELS[request.param]
    gia, gia_sd = (rng.normal(0.0, 0.3, SITES), rng.uniform(0.05, 0.2, SITES)) if "rates" in request.param else (
        np.zeros(SITES), np.zeros(SITES))  # fmt: skip
    field = Field(kernel, Sites(rng.uniform(30.0, 45.0, SITES), rng.uniform(-80.0, -65.0, SITES), gia, gia_sd))
    tau = rng.uniform(-5.0, 5.0, N)
    tau[3] = tau[7]  # two rows at one time
    site = rng.integers(0, SITES, N)
    data = make_data(field, np.sort(tau), site, rng.normal(0.0, 1.0, N), rng.uniform(0.1, 0.4, N))
    return field, kernel.theta, data, tau


def test_the_likelihood_is_that_of_dense_matrices(case):
    assert chain.log_likelihood(*case) == pytest.approx(oracle.log_likelihood(*case), rel=1e-9, abs=1e-8)


def test_gradients_are_those_of_dense_matrices_and_of_differences(case):
    field, theta, data, tau = case
    tau = tau + 1e-3 * np.arange(N)  # a kernel that is not differentiable has no derivative where times are equal
    value, d_tau, d_theta, d_y_var = chain.value_and_gradient(field, theta, data, tau)
    expected = oracle.value_and_gradient(field, theta, data, tau)
    assert value == pytest.approx(expected[0], abs=1e-8)
    np.testing.assert_allclose(d_theta, expected[2], rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(d_tau, expected[1], rtol=1e-7, atol=1e-7)
    for i in 5, 20:
        step = np.zeros(N)
        step[i] = 1e-5
        up, down = (oracle.log_likelihood(field, theta, data, tau + sign * step) for sign in (1, -1))
        assert d_tau[i] == pytest.approx((up - down) / 2e-5, rel=1e-4, abs=1e-5)
        higher, lower = (data._replace(y_var=data.y_var + sign * step) for sign in (1, -1))
        slope = (
            oracle.log_likelihood(field, theta, higher, tau) - oracle.log_likelihood(field, theta, lower, tau)
        ) / 2e-5
        assert d_y_var[i] == pytest.approx(slope, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("place", [0, 3, (37.0, -70.0)])
def test_predictions_are_those_of_dense_matrices(case, place):
    field, theta, data, tau = case
    at = np.sort(np.concatenate([np.linspace(-6.0, 7.0, 9), tau[[3, 11]]]))
    is_site = isinstance(place, int)
    targets = at_sites(field, field.values(theta), np.array([place])) if is_site else elsewhere(
        field, theta, [place[0]], [place[1]])  # fmt: skip
    one = np.arange(len(field.terms)) == 0
    rough = any(type(getattr(term, "time", term)) is Matern12 for term in field.terms)
    for terms in None, one:
        part = None if terms is None else chain.Part(terms)
        mean, covariance = chain.predict(field, theta, data, tau, at, targets, part)
        expected, dense = oracle.predict(field, theta, data, tau, at, place, terms)
        for k, levels in enumerate((slice(0, len(at)), slice(len(at), None))):
            if k == 1 and rough:
                continue
            np.testing.assert_allclose(mean[:, k], expected[levels], rtol=1e-7, atol=1e-8)
            np.testing.assert_allclose(covariance[:, k, k], np.diag(dense)[levels], rtol=1e-7, atol=1e-8)


def test_places_at_the_sites_are_the_sites(case):
    field, theta, data, tau = case
    if any(getattr(term, "space", None) == EachSite() for term in field.terms) or field.sites.gia.any():
        pytest.skip("another place shares nothing with EachSite, and has an error of GIA of its own")
    at = np.linspace(-4.0, 4.0, 5)
    here = at_sites(field, field.values(theta), np.arange(SITES))
    there = elsewhere(field, theta, field.sites.latitude, field.sites.longitude)
    for one, other in zip(*(chain.predict(field, theta, data, tau, at, w) for w in (here, there)), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4)  # the jitter of the sites


def test_rates_at_another_place_have_the_error_of_gia():
    """Without data a place is as uncertain as a site, between the errors of GIA at the sites."""
    kernel, spread = Matern32() + Linear(sd=0.3, origin=0.0) * Nearby(300.0), np.array([0.1, 0.2, 0.4, 0.3])
    where = np.array([30.0, 34.0, 38.0, 42.0]), np.full(4, -70.0)
    fields = [Field(kernel, Sites(*where, np.zeros(4), sd)) for sd in (np.zeros(4), spread)]
    for place, error in (where[0][2], 0.16), (-60.0, (spread**2).mean()):
        wide = [one.elsewhere(kernel.theta, np.array([place]), np.array([-70.0])) for one in fields]
        (before, after) = ((mix[0, 1:] ** 2).sum() + own[0, 1] for mix, own in wide)
        assert after - before == pytest.approx(error, abs=1e-4)


def test_joint_draws_have_the_moments_of_dense_matrices(case):
    field, theta, data, tau = case
    at, draws, place = np.array([-5.5, -1.0, -0.9, 2.0, 6.0]), 4000, 2
    found, rng = chain.run(field, theta, data, tau), np.random.default_rng(1)
    targets = at_sites(field, found.values, np.array([place]))
    offset, columns = chain.trend_at(field, data, at, targets, np.ones(len(field.terms), bool), True)
    level = np.empty((draws, len(at)))
    layout = field.layout
    for d in range(draws):
        states, beta = chain.draw(field, found, at, rng)
        level[d] = offset[:, 0] + columns[:, 0] @ beta
        for k in range(len(field.terms)):
            lever = at - layout.origin[k] if layout.linear[k] else 1.0
            own = states[:, layout.start[k] : layout.start[k] + layout.size[k]]
            mix = found.values.mix[place, layout.first[k] : layout.first[k] + layout.size[k]]
            level[d] += lever * (own @ mix)
    mean, covariance = (part[: len(at)] for part in oracle.predict(field, theta, data, tau, at, place))
    covariance = covariance[:, : len(at)]
    sd = np.sqrt(np.diag(covariance))
    assert (np.abs(level.mean(axis=0) - mean) < 4.5 * sd / np.sqrt(draws)).all()
    error = np.sqrt((np.outer(sd, sd) ** 2 + covariance**2) / draws)
    assert (np.abs(np.cov(level.T) - covariance) < 5.0 * error).all()
