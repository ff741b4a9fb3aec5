"""Kernels in space: distances, positive definite matrices, products and sums, and their storage in a model."""

import json

import numpy as np
import pytest

import lamina
from lamina import Constant, EachSite, KernelError, Linear, Matern32, Matern52, Nearby
from lamina.kernels import SpaceTime, Sum
from lamina.kernels.space import great_circle_km
from lamina.model.model import Model

FIELD = Matern32() + Matern32(2.0, 3.0) * Nearby(500.0) + Linear() * Nearby() + Constant(sd=2.0) * EachSite()


def test_a_quarter_of_the_equator_and_the_way_to_the_pole_are_equally_long():
    found = great_circle_km(np.array([0.0]), np.array([0.0]), np.array([0.0, 90.0]), np.array([90.0, 30.0]))
    np.testing.assert_allclose(found, 6371.0 * np.pi / 2.0, rtol=1e-12)


@pytest.mark.parametrize("decay", ["exponential", "matern32"])
def test_correlations_all_over_the_earth_are_positive_definite(decay):
    rng = np.random.default_rng(0)
    place = np.rad2deg(np.arcsin(rng.uniform(-1, 1, 80))), rng.uniform(-180.0, 180.0, 80)
    for length in 100.0, 5000.0, 40000.0:
        K = Nearby(length, decay).among(great_circle_km(*place, *place))
        assert np.linalg.eigvalsh(K).min() > 0.0


def test_derivatives_are_those_of_differences():
    distance = np.array([[0.0, 100.0, 900.0]])
    for decay in "exponential", "matern32":
        kernel, step = Nearby(300.0, decay), 1e-6
        up, down = (kernel.with_theta(kernel.theta + sign * step).correlation(distance) for sign in (1, -1))
        np.testing.assert_allclose(kernel.theta_derivatives(distance)[0], (up - down) / (2 * step), atol=1e-8)


def test_a_sum_is_multiplied_term_by_term_and_either_factor_may_come_first():
    both = (Matern32() + Matern52()) * Nearby(100.0)
    assert both == Sum((Matern32() * Nearby(100.0), Matern52() * Nearby(100.0)))
    assert Nearby(100.0) * Matern32() == Matern32() * Nearby(100.0)


def test_parameters_are_numbered_by_term_and_the_sd_of_rates_is_one_of_them():
    expected = ("length_1", "sd_1", "length_2", "sd_2", "length_km_2", "sd_3", "length_km_3", "sd_4")
    assert FIELD.names == expected
    changed = FIELD.with_theta(FIELD.theta + 0.5)
    np.testing.assert_allclose(changed.theta, FIELD.theta + 0.5)
    assert changed != FIELD
    assert hash(Matern32() * Nearby(5.0)) == hash(Matern32() * Nearby(5))


def test_a_model_is_stored_with_its_kernels_in_space():
    model = Model(kernel=FIELD + Matern52() * Nearby(30.0, decay="matern32"))
    assert Model.from_dict(json.loads(json.dumps(model.to_dict()))).kernel == model.kernel


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Nearby(0.0), "length_km"),
        (lambda: Nearby(100.0, decay="cosine"), "decay"),
        (lambda: Matern32() * (Matern32() * Nearby()), "no further factor"),
        (lambda: (Matern32() * Nearby()) * Matern32(), "no further factor"),
        (lambda: SpaceTime(Matern32() + Matern52(), Nearby()), "one kernel in time"),
        (lambda: Linear(sd=1.0, mean=0.5) * Nearby(), "mean 0"),
    ],
)
def test_what_is_no_product_in_space_and_time_is_refused(make, message):
    with pytest.raises(KernelError, match=message):
        make()


@pytest.mark.parametrize("engine", ["auto", "markov", "dense"])
def test_one_curve_has_no_terms_in_space(engine):
    kernel = Matern32() + Matern32() * Nearby()
    with pytest.raises(KernelError, match="terms in space"):
        lamina.log_likelihood([0.0, 1.0], [0.0, 1.0], 0.1, kernel, engine=engine)
    record = lamina.Record([0.0, 1.0, 2.0], 0.1, [0.0, 1.0, 0.5], 0.1)
    with pytest.raises(KernelError, match="terms in space"):
        lamina.fit(record, kernel=kernel, engine=engine)


def test_both_names_are_public():
    assert lamina.Nearby is Nearby
    assert lamina.EachSite is EachSite
