"""The accumulation of a core: sections that depend on its dates only, and the same answer on every grid."""

import re

import numpy as np
import pytest
from scipy.stats import gamma

import lamina
from lamina import Record
from lamina.posterior.agedepth import accumulation, accumulation_quantiles, describe_accumulation, sections
from lamina.records.layers import add_layers, mark_hiatuses

DEPTH = np.array([0.0, 30.0, 62.0, 121.0, 150.0, 200.0])


def core(**fields):
    given = {"t": 10.0 * DEPTH + 100.0, "t_sd": 20.0, "y": np.nan, "y_sd": np.inf, "depth": DEPTH,
             "depth_unit": "cm", "t_name": "Age", "t_unit": "cal yr BP"}  # fmt: skip
    return Record(**(given | fields))


@pytest.fixture(scope="module")
def fits():
    """One irregular core on a coarse and on a fine grid."""
    t = 100.0 + np.concatenate([[0.0], np.cumsum(gamma(0.8, scale=400.0).rvs(5, random_state=4))])
    options = {"fixed": {"alpha": 0.7}, "memory": False, "draws": 1000, "cores": 1}
    return [lamina.age_depth(core(t=t), steps=steps, seed=steps, **options) for steps in (20, 80)]


def test_sections_depend_on_the_dates_only():
    expected, _ = sections(core())
    np.testing.assert_array_equal(expected, DEPTH)
    for steps in 7, 20, 80:
        np.testing.assert_array_equal(sections(add_layers(core(), steps)[0])[0], DEPTH)


def test_dates_near_each_other_share_a_section():
    depth = np.array([0.0, 50.0, 52.0, 100.0, 148.0, 150.0])
    found, _ = sections(core(depth=depth))
    np.testing.assert_array_equal(found, [0.0, 50.0, 100.0, 150.0])


def test_a_section_with_a_hiatus_has_no_accumulation():
    known = add_layers(mark_hiatuses(core(), [80.0]), 20, [80.0])[0]
    depths, has_hiatus = sections(known)
    assert {*DEPTH, 80.0} <= set(depths)
    low, high = depths[:-1][has_hiatus], depths[1:][has_hiatus]
    assert low == 80.0
    assert high - low < 1e-3
    unknown = add_layers(core(hiatus=DEPTH == 62.0), 20)[0]
    depths, has_hiatus = sections(unknown)
    np.testing.assert_array_equal(depths, DEPTH)
    np.testing.assert_array_equal(has_hiatus, [False, False, True, False, False])


def test_accumulation_is_age_over_depth(fits):
    depths, pace = accumulation(fits[0])
    whole = (pace * np.diff(depths)).sum(axis=1)
    np.testing.assert_allclose(whole, fits[0].tau.max(axis=1) - fits[0].tau.min(axis=1))


def test_accumulation_does_not_depend_on_the_number_of_steps(fits):
    """Means within five standard errors, of draws that are correlated; and medians, which a finer grid made smaller."""
    coarse, fine = (accumulation_quantiles(found) for found in fits)
    effective = 0.25 * min(len(found.draws.tau) for found in fits)
    error = np.sqrt((coarse["sd"] ** 2 + fine["sd"] ** 2) / effective)
    assert len(coarse) == len(fine) == len(DEPTH) - 1
    assert (np.abs(coarse["mean"] - fine["mean"]) < 5.0 * error).all()
    assert (np.abs(coarse["q50"] - fine["q50"]) < 5.0 * 1.25 * error).all()


def test_the_sentence_gives_the_mean_of_the_whole_core(fits):
    said = describe_accumulation(fits[0])
    whole = np.ptp(fits[0].tau, axis=1) / 200.0
    said_middle = re.fullmatch(
        r"1 cm took (\S+) years \(95 %: \S+ to \S+\) to accumulate on average, and between \S+ and \S+ in "
        r"different parts \(medians of the 5 sections between dates\)\.",
        said,
    )
    assert said_middle is not None
    assert float(said_middle[1]) == pytest.approx(np.median(whole), abs=0.06)


def test_a_core_with_one_date_has_the_same_sections_in_any_unit():
    for unit in 1.0, 0.01:
        depth = unit * np.array([0.0, 40.0, 100.0])
        one = core(depth=depth, t=[100.0, 500.0, 1100.0], t_sd=[np.inf, 20.0, np.inf])
        np.testing.assert_allclose(sections(one)[0], depth)


def test_where_each_section_has_a_hiatus_the_figures_are_empty():
    hiatus = [True, False]
    two = core(depth=[0.0, 100.0], t=[100.0, 3000.0], t_sd=20.0, hiatus=hiatus)
    posterior = lamina.age_depth(two, steps=4, memory=False, draws=200, cores=1)
    assert accumulation_quantiles(posterior)["q50"].isna().all()
    assert describe_accumulation(posterior) == ""
    lamina.plots.accumulation(posterior).figure.draw_without_rendering()
    assert "Accumulation" in lamina.report.html(posterior)
