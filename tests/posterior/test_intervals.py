"""Mean rates over intervals."""

import fits
import numpy as np
import pytest
from scipy.stats import norm

import lamina
from lamina import dense
from lamina.posterior.intervals import interval_rates

INTERVALS = [(0.0, 3.0), (2.0, 5.0), (3.0, 9.0)]


def test_one_line_per_interval_with_its_columns():
    table = interval_rates(fits.posterior("mcmc"), INTERVALS)
    assert list(table.columns) == [
        "from", "to", "mean", "sd", "q2.5", "q5", "q16", "q25", "q50", "q75", "q84", "q95", "q97.5",
        "p>0", "p>0:3", "p>2:5", "p>3:9",
    ]  # fmt: skip
    np.testing.assert_array_equal(table[["from", "to"]], INTERVALS)
    assert (np.diff(table.filter(like="q").to_numpy(), axis=1) > 0).all()


@pytest.mark.parametrize("method", ["mcmc", "gp"])
def test_the_probabilities_of_one_over_another_and_back_add_up_to_one(method):
    table = interval_rates(fits.posterior(method), INTERVALS)
    above = table[["p>0:3", "p>2:5", "p>3:9"]].to_numpy()
    assert np.isnan(np.diag(above)).all()
    for i, j in (0, 1), (0, 2), (1, 2):
        assert above[i, j] + above[j, i] == pytest.approx(1.0)


def test_rates_agree_with_the_exact_gaussian_process():
    kernel, record = lamina.Matern32(2.0, 0.7), fits.record(t_sd=0.0)
    fixed = dict(zip(kernel.names, np.exp(kernel.theta), strict=True))
    table = interval_rates(lamina.fit(record, "gp", kernel, fixed=fixed), INTERVALS, draws=20000)
    ends = np.array(INTERVALS).ravel()
    mean, covariance = dense.predict(kernel + lamina.Constant(), record.t, record.y, record.y_sd, ends)
    weights = np.zeros((3, 6))
    for k, (a, b) in enumerate(INTERVALS):
        weights[k, 2 * k : 2 * k + 2] = np.array([-1.0, 1.0]) / (b - a)
    mean, covariance = weights @ mean, weights @ covariance @ weights.T
    sd = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(table["mean"], mean, atol=5.0 * sd.max() / np.sqrt(20000))
    np.testing.assert_allclose(table["sd"], sd, rtol=0.03)
    np.testing.assert_allclose(table["p>0"], norm.cdf(mean / sd), atol=0.02)
    between = weights[1] - weights[2]
    gap_sd = np.sqrt(covariance[1, 1] + covariance[2, 2] - 2.0 * covariance[1, 2])
    assert between.any()
    assert table["p>3:9"][1] == pytest.approx(norm.cdf((mean[1] - mean[2]) / gap_sd), abs=0.02)


def test_a_negative_scale_turns_time_round():
    posterior = fits.posterior("mcmc")
    plain, turned = interval_rates(posterior, INTERVALS), interval_rates(posterior, INTERVALS, scale=-10.0)
    np.testing.assert_allclose(turned["mean"], -10.0 * plain["mean"])
    np.testing.assert_allclose(turned["q5"], -10.0 * plain["q95"])
    np.testing.assert_allclose(turned["p>0"], 1.0 - plain["p>0"])
    assert turned["p>2:5"][0] == pytest.approx(1.0 - plain["p>2:5"][0])


def test_intervals_that_share_ends_add_up():
    table = interval_rates(fits.posterior("mcmc"), [(0.0, 2.0), (2.0, 5.0), (0.0, 5.0)])
    parts = 2.0 / 5.0 * table["mean"][0] + 3.0 / 5.0 * table["mean"][1]
    assert table["mean"][2] == pytest.approx(parts)


def test_the_same_seed_gives_the_same_table():
    posterior = fits.posterior("mcmc")
    assert interval_rates(posterior, INTERVALS, seed=3).equals(interval_rates(posterior, INTERVALS, seed=3))
    assert not interval_rates(posterior, INTERVALS, seed=3).equals(interval_rates(posterior, INTERVALS, seed=4))


def test_no_intervals_make_an_empty_table():
    assert len(interval_rates(fits.posterior("gp"), [])) == 0


@pytest.mark.parametrize(
    ("intervals", "message"),
    [
        ([(2000.0, 1900.0)], "2000:1900 runs backwards. Give the smaller time first: 1900:2000"),
        ([(1.0, 1.0)], "1:1 has no length. Give two different times"),
        ([(0.0, np.nan)], "two finite times"),
        ([(-np.inf, 0.0)], "two finite times"),
        ([(0.0, 1.0), (0.0, 1.0)], "0:1 is given twice"),
        ([(0.0, 1.0, 2.0)], r"two times \(from, to\)"),
        ([5.0], r"two times \(from, to\)"),
        ([("a", "b")], r"two times \(from, to\)"),
    ],
)
def test_what_is_no_interval_is_refused(intervals, message):
    with pytest.raises(lamina.MethodError, match=message):
        interval_rates(fits.posterior("gp"), intervals)
