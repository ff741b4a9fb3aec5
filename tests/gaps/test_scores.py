"""Scores of innovations: inverses of each other, with the right derivatives, alike whatever the shape is."""

import numpy as np
import pytest
from numba import njit
from scipy.stats import gamma

from lamina.gaps.scores import score_at, score_of

SHAPES = (0.003, 0.05, 0.4, 1.0, 3.0, 40.0)


@njit(cache=True)
def at(z, a):
    return score_at(z, a)


@njit(cache=True)
def of(log_f, a):
    return score_of(log_f, a)


@pytest.mark.parametrize("a", SHAPES)
@pytest.mark.parametrize("z", [-60.0, -31.0, -29.0, -3.0, 0.0, 0.4, 5.0, 80.0])
def test_scores_and_values_are_inverses(z, a):
    assert of(at(z, a).log_f, a) == pytest.approx(z, abs=1e-8, rel=1e-8)


@pytest.mark.parametrize("a", SHAPES)
@pytest.mark.parametrize("z", [-40.0, -3.0, 0.0, 0.4, 5.0])
def test_derivatives_against_finite_differences(z, a):
    h = 1e-5
    low, high = at(z - h, a), at(z + h, a)
    assert at(z, a).slope == pytest.approx((high.log_f - low.log_f) / (2.0 * h), rel=1e-6)
    assert at(z, a).curve == pytest.approx((high.slope - low.slope) / (2.0 * h), rel=1e-5, abs=1e-6 / a)
    low, high = at(z, a * (1.0 - h)), at(z, a * (1.0 + h))
    assert at(z, a).by_shape == pytest.approx((high.log_f - low.log_f) / (2.0 * h * a), rel=1e-6)
    assert at(z, a).slope_by_shape == pytest.approx((high.slope - low.slope) / (2.0 * h * a), rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("a", SHAPES)
def test_gamma_variables_of_any_shape_have_scores_of_the_order_of_one(a):
    """Where a is small, their logarithms are those of uniform numbers over a, and differ by hundreds."""
    share = np.array([0.25, 0.75])
    log_f = np.log(gamma.ppf(share, a)) if a >= 0.05 else np.log(share) / a
    low, high = (of(one, a) for one in log_f)
    assert 0.1 < high - low < 4.0
    assert -3.0 < low < high < 6.0
