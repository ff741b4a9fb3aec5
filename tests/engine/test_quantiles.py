"""Quantiles of mixtures of normals: roots of the distribution function, whatever the mixture."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from lamina.engine.quantiles import LEVELS, mixture_quantiles

#: How close to its level the distribution function must be at a quantile.
CLOSE = 1e-6


def distribution(x, mean, sd, weight):
    """The distribution function of one mixture at points x, shape (L,)."""
    u = np.divide(x[:, None] - mean, sd, out=np.zeros((len(x), len(sd))), where=sd > 0.0)
    return np.where(sd > 0.0, ndtr(u), x[:, None] >= mean) @ weight


def assert_roots(mean, sd, weight):
    """The level lies between the values of the distribution function just below a quantile and at it."""
    for j, found in enumerate(mixture_quantiles(mean, sd, weight)):
        at = distribution(found, mean[:, j], sd[:, j], weight)
        below = distribution(np.nextafter(found, -np.inf), mean[:, j], sd[:, j], weight)
        assert (below <= np.array(LEVELS) + CLOSE).all()
        assert (at >= np.array(LEVELS) - CLOSE).all()
        assert (np.diff(found) >= 0.0).all()


def test_the_inner_band_lies_in_the_outer_one_where_one_sd_does_not():
    """Most draws agree and a few are far away: mean plus sd is above the 97.5 % quantile."""
    mean, sd, weight = np.array([[0.0], [100.0]]), np.ones((2, 1)), np.array([0.98, 0.02])
    low, *inner, high = mixture_quantiles(mean, sd, weight, (0.025, 0.16, 0.84, 0.975))[0]
    assert low < inner[0] < inner[1] < high
    centre = weight @ mean[:, 0]
    assert centre + np.sqrt(1.0 + weight @ (mean[:, 0] - centre) ** 2) > high


@st.composite
def mixtures(draw):
    """Means, sds (S, M) and weights (S,): of any scale, narrow or exact, equal or apart, some without weight."""
    size, points = draw(st.integers(1, 30)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    spread, centre = 10.0 ** draw(st.integers(-6, 6)), draw(st.sampled_from([0.0, 1.0, -1e4, 1e9]))
    mean = centre + spread * rng.standard_normal((size, points)) ** draw(st.sampled_from([0, 1, 3, 9]))
    narrow, wide = sorted([draw(st.integers(-18, 3)), draw(st.integers(-18, 3))])
    sd = spread * 10.0 ** rng.uniform(narrow, wide, (size, points))
    sd[rng.uniform(size=sd.shape) < draw(st.sampled_from([0.0, 0.3, 1.0]))] = 0.0
    weight = rng.dirichlet(np.full(size, draw(st.sampled_from([0.05, 1.0, 1e6]))))
    weight[rng.uniform(size=size) < draw(st.sampled_from([0.0, 0.5]))] = 0.0
    return mean, sd, weight / weight.sum() if weight.sum() > 0.0 else np.full(size, 1.0 / size)


@given(mixtures())
@settings(max_examples=300, deadline=None)
def test_quantiles_of_any_mixture_are_roots_and_never_cross(mixture):
    assert_roots(*mixture)


@pytest.mark.parametrize("narrow", [1e-1, 1e-2, 1e-3, 1e-6, 1e-12])
def test_quantiles_of_many_narrow_components_far_apart_are_roots(rng, narrow):
    mean, sd = np.cumsum(rng.standard_normal((1000, 40)), axis=1), rng.uniform(0.5, 2.0, (1000, 40))
    weight = np.full(1000, 1e-3)
    sd *= narrow * mean.std(axis=0)
    found = mixture_quantiles(mean, sd, weight)
    for j in range(40):
        np.testing.assert_allclose(distribution(found[j], mean[:, j], sd[:, j], weight), LEVELS, rtol=0, atol=CLOSE)
    assert (np.diff(found, axis=1) > 0.0).all()


@pytest.mark.parametrize("value", [0.0, 3.1, -1e9 / 7.0])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_quantiles_of_equal_exact_components_are_their_value(size, value, rng):
    found = mixture_quantiles(np.full((size, 1), value), np.zeros((size, 1)), rng.dirichlet(np.ones(size)))
    np.testing.assert_array_equal(found, value)


def test_a_component_without_weight_has_no_part_in_quantiles():
    mean, sd = np.array([[0.0], [1e9]]), np.array([[1.0], [1e-9]])
    both, alone = mixture_quantiles(mean, sd, np.array([1.0, 0.0])), mixture_quantiles(mean[:1], sd[:1], np.ones(1))
    np.testing.assert_allclose(both, alone, atol=1e-8)
