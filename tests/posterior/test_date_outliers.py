"""Which dates are outliers: the posterior probability, against brute force and on cores with planted outliers."""

import warnings

import fits
import numpy as np
import pytest

import lamina
from lamina.dates import StudentT
from lamina.errors import MethodError

DEPTH = np.array([0.0, 30.0, 60.0, 120.0, 150.0, 200.0])


def core(**fields):
    given = {"t": 10.0 * DEPTH, "t_sd": 20.0, "y": np.nan, "y_sd": np.inf, "depth": DEPTH}
    return lamina.Record(**(given | fields))


def quiet_ages(record, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lamina.NotConverged)
        return lamina.age_depth(record, **options)


def test_the_probability_is_the_mean_over_draws_of_the_true_input():
    """Two dates of unordered rows do not affect each other: the posterior of each is its density."""
    record = lamina.Record(
        None, None, np.nan, np.inf, dates=[StudentT(0.0, 1.0), StudentT(5.0, 1.0)], sequence=["a", "a"]
    )
    posterior = fits.quietly(record, seed=1, draws=4000, max_sweeps=8000)
    table = posterior.inputs()
    for row, date in enumerate(record.dates):
        expected = float(posterior.draws.weight @ date.outlier_probability(posterior.tau[:, row]))
        assert table["date_outlier"][row] == pytest.approx(expected, rel=1e-6)
    assert table["date_outlier"].to_numpy() == pytest.approx(posterior.date_outliers().to_numpy())


def test_brute_force_on_a_grid_agrees():
    """Two dates in the wrong order, under a uniform prior: the posterior is their product where they are in order."""
    dates = [StudentT(3.0, 1.0), StudentT(0.0, 1.0)]
    record = lamina.Record(None, None, np.nan, np.inf, dates=dates)
    posterior = fits.quietly(record, gaps="uniform", seed=2, draws=8000, max_sweeps=20_000)
    x = np.linspace(-25.0, 28.0, 1061)
    first, second = (np.exp(date.log_density(x)) for date in dates)
    joint = np.triu(np.outer(first, second), 1)
    joint /= joint.sum()
    expected = [
        joint.sum(axis=1) @ dates[0].outlier_probability(x),
        joint.sum(axis=0) @ dates[1].outlier_probability(x),
    ]
    assert posterior.date_outliers().to_numpy() == pytest.approx(expected, abs=0.02)


def test_exact_undated_and_normal_dates_have_none():
    record = core(t_sd=[0.0, 20.0, 20.0, 20.0, 20.0, 20.0])
    posterior = fits.quietly(record, seed=1, draws=500, max_sweeps=500)
    assert posterior.date_outliers().isna().all()
    assert "date_outlier" not in posterior.inputs()
    tailed = fits.quietly(record, t_errors="student", seed=1, draws=500, max_sweeps=500)
    assert tailed.date_outliers().isna().tolist() == [True] + 5 * [False]


def test_planted_outliers_are_found_and_hardly_move_the_ages():
    depth = np.linspace(0.0, 200.0, 21)
    rng = np.random.default_rng(3)
    t = 10.0 * depth + 20.0 * rng.standard_normal(21)
    t[[6, 14]] += [240.0, -200.0]
    record = lamina.Record(t, 20.0, np.nan, np.inf, depth=depth)
    posterior = quiet_ages(record, steps=20, seed=1)
    chance = posterior.date_outliers()[posterior.record.dated].to_numpy()
    assert set(np.flatnonzero(chance > 0.5)) == {6, 14}
    assert np.median(chance) < 0.1
    np.testing.assert_array_equal(posterior.record.t_sd[posterior.record.dated], 20.0)
    ages = posterior.ages(depth)
    assert (np.abs(ages["mean"] - 10.0 * depth) < 40.0).all()
    normal = quiet_ages(record, steps=20, seed=1, t_errors="normal")
    assert np.abs(normal.ages(depth)["mean"] - 10.0 * depth).max() > 60.0
    assert normal.model.t_errors == "normal"


def test_student_errors_and_their_scale_cannot_both_be_learnt():
    with pytest.raises(MethodError, match="t_errors='student' makes them Student-t"):
        lamina.fit(core(), t_errors="student", estimate="t_scale")
    with pytest.raises(MethodError, match="takes normal dates only"):
        lamina.fit(core(y=np.arange(6.0), y_sd=1.0), "nigp", t_errors="student")
