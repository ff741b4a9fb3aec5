"""Dates left out of an age-depth model: which, how they are predicted, and what is reported about the bands."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, kstest

import lamina
from lamina.dates import Radiocarbon, Uniform
from lamina.validation import Validation, _layers_to_leave_out, check_dates

QUICK = {"draws": 300, "max_sweeps": 300, "warmup": 300, "cores": 1, "steps": 5}


def core(n=12, sd=20.0, seed=0, shape=1.0, **rest):
    """A core from the model itself: a gamma process in depth, dates with Student-t errors."""
    rng = np.random.default_rng(seed)
    depth = np.sort(rng.uniform(0.0, 100.0, n))
    true = np.cumsum(rng.gamma(shape * np.diff([0.0, *depth]), 20.0 / shape))
    t = true + sd * np.sqrt(4.0 / 3.0) * rng.standard_t(6, n)
    return lamina.Record(t, sd, np.nan, np.inf, depth=depth, **rest)


def with_pits(pits):
    return Validation(pd.DataFrame({"pit": pits}), folds=5)


def test_every_date_is_left_out_once_and_neighbours_not_together():
    found = lamina.validate(core(), folds=4, **QUICK).table
    assert found["row"].tolist() == list(range(12))
    assert (np.diff(found["fold"]) != 0).all()
    assert found["pit"].between(0.0, 1.0).all()


def test_a_date_that_is_left_out_does_not_matter():
    record, t = core(), core().t.copy()
    rows = np.arange(0, 12, 5)
    t[rows] += 3000.0
    first, second = (lamina.validate(one, **QUICK).table for one in (record, replace(record, t=t)))
    assert first["q50"][rows].tolist() == second["q50"][rows].tolist()
    assert (second["pit"][rows] > 0.99).all()


def test_the_same_seed_gives_the_same_result():
    first, second = (lamina.validate(core(), seed=3, **QUICK).table for _ in range(2))
    pd.testing.assert_frame_equal(first, second)


def test_dates_of_one_depth_and_tied_ones_are_left_out_together():
    record = core(n=14)
    depth = record.depth.copy()
    depth[3] = depth[2]
    tie = [None] * 6 + ["x", "x"] + [None] * 6
    found = lamina.validate(replace(record, depth=depth, tie=tie), **QUICK).table
    assert len(found) == 12
    assert found.set_index("row")["dates"][[2, 6]].tolist() == [2, 2]


def test_exact_dates_and_single_dates_between_hiatuses_stay():
    record = core(n=14)
    t_sd, hiatus = record.t_sd.copy(), np.zeros(14, dtype=bool)
    t_sd[0], hiatus[8], hiatus[9] = 0.0, True, True
    layers, kept = _layers_to_leave_out(replace(record, t_sd=t_sd, hiatus=hiatus))
    assert kept == (9,)
    assert np.concatenate(layers).tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13]
    found = lamina.validate(replace(record, t_sd=t_sd, hiatus=hiatus), folds=2, **QUICK)
    assert "1 date could not be left out" in str(found)


def test_several_cores_and_other_kinds_of_dates():
    dates = [Radiocarbon(age, 30.0) for age in (300, 700, 1200, 1600, 2100, 2500)]
    dates += [Uniform(100.0 * k, 100.0 * k + 150.0) for k in range(6)]
    depth = [*range(0, 60, 10), *range(0, 60, 10)]
    record = lamina.Record(None, None, np.nan, np.inf, dates=dates, depth=depth, sequence=["A"] * 6 + ["B"] * 6)
    found = lamina.validate(record, **QUICK)
    assert found.table["sequence"].tolist() == ["A"] * 6 + ["B"] * 6
    assert found.table["pit"].between(0.0, 1.0).all()


def test_few_dates_are_refused():
    with pytest.raises(lamina.RecordError, match=r"5 dates could be left out here.* Give at least 6"):
        check_dates(core(n=5))
    with pytest.raises(lamina.RecordError, match="needs depths"):
        check_dates(replace(core(), depth=None))
    with pytest.raises(lamina.MethodError, match="folds"):
        lamina.validate(core(), folds=1)


def test_coverage_counts_dates_in_central_ranges():
    table = with_pits(np.array([0.01, 0.2, 0.4, 0.5, 0.6, 0.8, 0.96, 0.999])).coverage()
    assert table["inside"].tolist() == [3, 5, 6]
    assert (table["low"] < table["share"]).all()
    assert (table["share"] < table["high"]).all()


@pytest.mark.parametrize("n", [6, 21, 100])
def test_usual_numbers_are_those_of_the_binomial_distribution(n):
    table = with_pits(np.linspace(0.01, 0.99, n)).coverage()
    for one in table.to_dict("records"):
        law = binom(n, one["level"])
        assert law.cdf(one["usual_high"]) - law.cdf(one["usual_low"] - 1) >= 0.95
        assert law.cdf(one["usual_low"] - 1) <= 0.025
        assert law.sf(one["usual_high"]) <= 0.025


def test_the_verdict():
    right = with_pits((np.arange(40) + 0.5) / 40)
    assert right.verdict == "no sign of trouble"
    assert "There is no evidence against the bands" in str(right)
    assert with_pits(np.repeat([0.001, 0.5, 0.999], 10)).verdict == "too narrow"
    assert with_pits(np.repeat([0.1, 0.9], 15)).verdict == "too narrow in the middle"
    assert with_pits(np.full(30, 0.5)).verdict == "too wide"
    assert "TOO NARROW" in str(with_pits(np.repeat([0.001, 0.5, 0.999], 10)))
    assert "That is a weak test" in str(with_pits((np.arange(6) + 0.5) / 6))


def test_the_power_is_the_share_of_too_narrow_bands_that_are_noticed():
    n, rng = 20, np.random.default_rng(1)
    z = 2.0 * rng.standard_normal((4000, n))  # bands of half the right width
    inside = (np.abs(z) <= 1.959964).sum(axis=1)
    noticed = (binom(n, 0.95).cdf(inside) < 0.01).mean()
    assert with_pits(np.linspace(0.1, 0.9, n)).power == pytest.approx(noticed, abs=0.03)


def test_an_interrupt_keeps_what_is_finished():
    def press(state):
        if state["stage"] == "part 3 of 5" and "ess" in state:
            raise KeyboardInterrupt

    found = lamina.validate(core(), progress=press, **QUICK)
    assert found.interrupted
    assert set(found.table["fold"]) == {0, 1}
    assert "was interrupted" in str(found)


@pytest.mark.slow
def test_pits_are_uniform_if_the_model_is_right():
    rng = np.random.default_rng(5)
    pits = []
    for k in range(30):
        record = core(int(rng.integers(12, 30)), float(rng.uniform(15.0, 80.0)), k, float(rng.uniform(0.1, 2.0)))
        pits += lamina.validate(record, draws=800, cores=1, steps=5).table["pit"].tolist()
    assert kstest(pits, "uniform").pvalue > 0.01
