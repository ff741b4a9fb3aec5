"""The words about the scatter of the values follow from the numbers beside them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, norm

from lamina.posterior.residuals import BY_CHANCE, FAR_BY_CHANCE, Scatter, _unlikely, far_from_predicted, scatter
from lamina.report.answer import scatter_words


@st.composite
def counts(draw):
    n = draw(st.integers(1, 400))
    inside = draw(st.integers(0, n))
    return Scatter(n, draw(st.integers(0, inside)), inside)


@pytest.mark.parametrize("n", [1, 26, 300])
def test_unlikely_counts_are_those_of_the_binomial_test(n):
    for p in 0.5, 0.95:
        assert [_unlikely(k, n, p) for k in range(n + 1)] == [
            binomtest(k, n, p).pvalue < BY_CHANCE for k in range(n + 1)
        ]


@given(counts())
def test_words_never_contradict_a_number(found):
    middle, inside = found.middle - round(0.5 * found.n), found.inside - round(0.95 * found.n)
    if found.verdict == "less":
        assert middle >= 0
        assert inside >= 0
        assert middle + inside > 0
    elif found.verdict == "more":
        assert middle <= 0
        assert inside <= 0
        assert middle + inside < 0
    elif found.verdict == "less, with outliers":
        assert middle > 0 > inside
    elif found.verdict == "evenly":
        assert middle < 0 < inside


def test_many_in_the_middle_and_many_outside_are_not_less_scatter():
    found = Scatter(104, 75, 93)
    assert found.verdict == "less, with outliers"
    assert "11 lie outside the 95 % range, where 5 are expected" in scatter_words(found)


@pytest.mark.parametrize("n", [5, 30, 104, 400])
def test_errors_that_are_right_are_rarely_called_wrong(n):
    rng = np.random.default_rng(0)
    verdicts = [scatter(rng.uniform(size=n)).verdict for _ in range(500)]
    assert verdicts.count("as expected") >= 490


@pytest.mark.parametrize(("factor", "verdict"), [(0.5, "less"), (2.0, "more")])
def test_errors_that_are_wrong_by_a_factor_of_two_are_found(factor, verdict):
    rng = np.random.default_rng(1)
    found = [scatter(norm.cdf(factor * rng.standard_normal(104))).verdict for _ in range(100)]
    assert found.count(verdict) >= 95


def test_normal_values_with_a_few_outliers_are_not_called_less_scattered():
    rng = np.random.default_rng(2)
    for _ in range(100):
        z = np.where(rng.uniform(size=104) < 0.12, 4.0, 0.4) * rng.standard_normal(104)
        found = scatter(norm.cdf(z))
        assert found.verdict != "less" or found.inside >= 99


def test_values_far_from_predicted_are_rare_by_chance_and_found_otherwise():
    rng = np.random.default_rng(0)
    by_chance = [far_from_predicted(rng.uniform(size=n)).size > 0 for n in (5, 50, 500) for _ in range(2000)]
    assert abs(np.mean(by_chance) - FAR_BY_CHANCE) < 4.0 * np.sqrt(FAR_BY_CHANCE / len(by_chance))
    pit = rng.uniform(0.1, 0.9, 30)
    pit[[4, 20, 7]] = 1e-5, 1.0, 1.0 - 1e-4
    assert far_from_predicted(pit).tolist() == [20, 4, 7]
    assert far_from_predicted(pit[8:20]).size == 0
