"""The age-depth model of a core: its laws, its figure, and whether its bands hold the truth."""

from dataclasses import replace
from itertools import pairwise

import fits
import numpy as np
import pytest

import lamina
from lamina import Record
from lamina.dates import Uniform
from lamina.posterior.agedepth import describe_hiatuses
from lamina.records.layers import add_layers

DEPTH = np.array([0.0, 30.0, 60.0, 120.0, 150.0, 200.0])
AGE = 10.0 * DEPTH + 100.0


def core(**fields):
    given = {
        "t": AGE,
        "t_sd": 20.0,
        "y": np.nan,
        "y_sd": np.inf,
        "depth": DEPTH,
        "t_name": "Age",
        "t_unit": "cal yr BP",
    }
    return Record(**(given | fields))


@pytest.fixture(scope="module")
def found():
    return fits.quietly(add_layers(core(), 20)[0], seed=1, draws=1000, max_sweeps=1500)


def test_layers_are_added_at_even_depths_between_the_rows_and_hold_nothing():
    record = add_layers(core(), 20)[0]
    assert set(DEPTH) <= set(record.depth)
    assert (np.diff(record.depth) > 0.0).all()
    assert np.diff(record.depth).max() <= 1.5 * 10.0
    np.testing.assert_array_equal(record.t[record.dated], AGE)
    assert not record.measured.any()


def test_layers_follow_the_way_of_the_depths_and_keep_every_sequence_and_mark():
    two = Record(
        t=[100.0, 300.0, 50.0, 400.0, 77.0],
        t_sd=20.0,
        y=0.0,
        y_sd=np.full(5, np.inf),
        sequence=["a", "a", "b", "b", None],
        depth=[40.0, 10.0, 0.0, 30.0, np.nan],
        hiatus=[True, False, False, False, False],
        least_gap=[3.0, 0.0, 0.0, 0.0, 0.0],
        dates=[None, Uniform(200.0, 400.0), None, None, None],
    )
    record = add_layers(two, 3)[0]
    first, second = (record.depth[rows] for _, rows in record.sequences)
    np.testing.assert_allclose(first, [40.0, 30.0, 20.0, 10.0])
    np.testing.assert_allclose(second, [0.0, 10.0, 20.0, 30.0])
    assert record.hiatus.sum() == 1
    assert record.least_gap.sum() == 3.0
    assert sum(date is not None for date in record.dates) == 1
    assert len(record.unordered) == 1


def test_ages_increase_with_depth_in_every_draw_and_pass_through_the_dates(found):
    depths = np.linspace(0.0, 200.0, 81)
    table = found.ages(depths)
    assert (np.diff(table["mean"]) > 0.0).all()
    at_dates = found.ages(DEPTH)
    assert (np.abs(at_dates["mean"] - AGE) < 3 * 20.0).all()
    assert (at_dates["sd"] < 20.0).all(), "the order and the pace narrow every date"
    inputs = found.inputs()
    np.testing.assert_allclose(at_dates["mean"], inputs["mean"][found.record.dated])


def test_bands_are_widest_between_dates(found):
    between = found.ages([15.0, 90.0, 175.0])["sd"].to_numpy()
    at = found.ages([30.0, 120.0, 150.0])["sd"].to_numpy()
    assert (between[1] > at[1:]).all()


@pytest.mark.slow
def test_bands_hold_the_truth_of_simulated_cores():
    """95 % bands of 40 cores of the gamma model hold the true age in 90 to 99 % of all depths."""
    inside, rng = [], np.random.default_rng(5)
    for k in range(40):
        depth = np.linspace(0.0, 100.0, 21)
        age = np.concatenate([[0.0], np.cumsum(rng.gamma(3.0, 50.0 / 3.0, 20))])
        dated = np.sort(rng.choice(21, 6, replace=False))
        record = Record(age[dated] + 40.0 * rng.standard_normal(6), 40.0, np.nan, np.inf, depth=depth[dated])
        post = fits.quietly(add_layers(record, 20)[0], seed=k, draws=400, warmup=300, max_sweeps=600)
        covered = (depth >= depth[dated[0]]) & (depth <= depth[dated[-1]])
        table = post.ages(depth[covered])
        inside.append(((table["q2.5"] <= age[covered]) & (age[covered] <= table["q97.5"])).mean())
    assert 0.90 < np.mean(inside) < 0.99


def test_age_depth_uses_no_values():
    with_values = core(y=np.sin(AGE), y_sd=0.1)
    options = {"steps": 10, "seed": 3, "draws": 200, "warmup": 100, "max_sweeps": 200}
    with pytest.warns(lamina.NotConverged):
        one = lamina.age_depth(with_values, **options)
    with pytest.warns(lamina.NotConverged):
        other = lamina.age_depth(core(), **options)
    np.testing.assert_array_equal(one.tau, other.tau)
    assert list(one.theta) == ["memory", "alpha"]


def test_memory_is_on_where_it_can_be_learnt():
    def has_memory(record, **options):
        return lamina.fitting.prepare_age_depth(record, 10, **options).problem.model.memory

    two = core(t=AGE[:2], depth=DEPTH[:2])
    assert has_memory(core())
    assert not has_memory(core(), memory=False)
    assert not has_memory(core(), method="nuts")
    assert not has_memory(core(), gaps="exponential")
    assert not has_memory(two)
    assert not has_memory(core(hiatus=np.ones(6, dtype=bool)))
    assert has_memory(two, memory=True)
    assert has_memory(core(), priors={"memory": (20.0, 2.0)})


def test_the_figure_shows_every_date_and_both_bands(found):
    ax = lamina.plots.age_depth(found)
    labels = [one.get_label() for one in ax.collections]
    assert {"95 %", "68 %", "dates"} <= set(labels)
    assert len(ax.collections) == 2 + len(DEPTH)
    assert ax.get_ylabel() == "Age (cal yr BP)"
    lamina.plots.accumulation(found, ax)
    assert ax.get_yscale() == "log"


def test_missing_depths_are_named():
    plain = core(depth=None)
    with pytest.raises(lamina.RecordError, match="needs depths"):
        lamina.age_depth(plain)
    several = fits.quietly(core(sequence=list("aaabbb")), draws=40, warmup=20, max_sweeps=20)
    with pytest.raises(lamina.RecordError, match="say which of 'a', 'b'"):
        several.ages([10.0])
    assert len(several.ages([10.0], sequence="a")) == 1


def test_a_hiatus_is_at_its_stated_depth():
    record = core(hiatus=DEPTH == 60.0)
    at_its_row = add_layers(record, 20)[0]
    assert at_its_row.depth[at_its_row.hiatus].tolist() == [60.0]
    deeper = add_layers(record, 20, hiatus=[85.0])[0]
    assert deeper.depth[deeper.hiatus].tolist() == [85.0]
    assert not deeper.dated[deeper.depth == 85.0].any()


def test_a_least_gap_is_shared_by_the_steps_between():
    record = add_layers(core(least_gap=30.0), 20)[0]
    for first, last in pairwise(DEPTH):
        inside = (record.depth >= first) & (record.depth < last)
        assert record.least_gap[inside].sum() == pytest.approx(30.0)


def test_hiatuses_are_given_by_their_depths():
    depth = np.arange(0.0, 80.0, 10.0)
    record = Record(20.0 * depth + 2000.0 * (depth > 35.0), 10.0, np.nan, np.inf, depth=depth)
    ages = lamina.age_depth(record, steps=10, draws=200, cores=1, hiatus=[35.0]).ages([34.0, 39.0])
    marked = replace(record, hiatus=depth == 30.0)
    assert ages.equals(lamina.age_depth(marked, steps=10, draws=200, cores=1, hiatus=[35.0]).ages([34.0, 39.0]))
    assert ages["mean"][0] < 1000.0
    assert ages["mean"][1] > 2400.0
    for wrong in 500.0, -3.0, 30.0:
        with pytest.raises(lamina.RecordError, match="lies between no two rows; the rows have depths from 0 to 70"):
            lamina.age_depth(record, hiatus=[wrong])


def test_the_length_of_a_hiatus_is_described():
    depth = np.arange(0.0, 80.0, 10.0)
    record = Record(20.0 * depth + 2000.0 * (depth > 35.0), 10.0, np.nan, np.inf, depth=depth, depth_unit="cm")
    known = lamina.age_depth(record, steps=10, draws=200, cores=1, hiatus=[35.0])
    (text,) = describe_hiatuses(known)
    assert text.startswith("The hiatus at a depth of 35 cm took ")
    took = known.ages([35.0, 35.001])["mean"].diff()[1]
    assert float(text.split("took ")[1].split()[0].replace(",", "")) == pytest.approx(took, rel=0.05)
    assert took == pytest.approx(2000.0, abs=150.0)
    (text,) = describe_hiatuses(lamina.fit(replace(record, y=0.0 * depth, y_sd=np.full(8, 0.1), hiatus=depth == 30.0),
                                           draws=200, cores=1, max_sweeps=500))  # fmt: skip
    assert text.startswith("The hiatus between 30 cm and 40 cm, with the sediment between these depths, took ")
    assert describe_hiatuses(lamina.age_depth(record, steps=10, draws=200, cores=1, max_sweeps=500)) == []


def test_a_core_top_of_the_year_of_coring_holds_the_model():
    depth = np.arange(0.0, 80.0, 10.0)
    t, t_sd = -70.0 + 20.0 * depth, np.where(depth == 0.0, 0.0, 30.0)
    ages = lamina.age_depth(Record(t, t_sd, np.nan, np.inf, depth=depth), draws=200, cores=1).ages([0.0, 5.0])
    assert ages["sd"][0] == pytest.approx(0.0, abs=1e-9)
    assert ages["mean"][0] == pytest.approx(-70.0)
    assert ages["q2.5"][1] > -70.0
