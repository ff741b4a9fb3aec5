"""Samples of some thickness: what a slice adds to a date, against simulation, and what it must not depend on."""

from dataclasses import replace

import numpy as np
import pytest

import lamina
from lamina.dates import Radiocarbon, StudentT
from lamina.dates.widened import Widened
from lamina.model.model import Model
from lamina.model.problem import build_problem
from lamina.model.thickness import accumulation_at, with_thickness
from lamina.records.consistency import overlapping_slices


def straight(n=12, pace=20.0, thickness=2.0, sd=5.0, **rest):
    """A core with one pace, whose dates are right."""
    depth = np.linspace(0.0, 110.0, n)
    return lamina.Record(pace * depth, sd, np.nan, np.inf, depth=depth, thickness=thickness, **rest)


def gamma_core(seed, shape=1.0, h=4.0, n=16, sd=15.0):
    """A core of the model whose dated parts lie anywhere in their slices, and its true ages at their middles."""
    rng = np.random.default_rng(seed)
    depth = np.linspace(5.0, 95.0, n) + rng.uniform(-1.0, 1.0, n)
    grid = np.linspace(0.0, 100.0, 4001)
    age = np.concatenate([[0.0], np.cumsum(rng.gamma(shape * np.diff(grid), 20.0 / shape))])
    part = depth + h * rng.uniform(-0.5, 0.5, n)
    t = np.interp(part, grid, age) + sd * rng.standard_normal(n)
    return lamina.Record(t, sd, np.nan, np.inf, depth=depth, thickness=h), np.interp(depth, grid, age)


def test_the_variance_of_the_difference_is_that_of_simulated_slices():
    rng, pace, shape, h, n = np.random.default_rng(0), 20.0, 0.8, 3.0, 200_000
    x = h * rng.uniform(-0.5, 0.5, n)
    z = np.sign(x) * rng.gamma(shape * np.abs(x), pace / shape)
    assert z.var() == pytest.approx(pace**2 * h**2 / 12.0 + pace**2 / shape * h / 4.0, rel=0.02)


def test_even_accumulation_adds_the_variance_of_a_uniform_difference():
    found = with_thickness(straight())
    assert found.t_sd == pytest.approx(np.sqrt(25.0 + 40.0**2 / 12.0))
    assert found.thickness is None


def test_irregularity_is_estimated_from_the_steps():
    found = []
    for seed in range(40):
        record = gamma_core(seed, n=40, sd=1.0, h=1.0)[0]
        found.append(accumulation_at(record, np.arange(40))[1][0])
    assert np.mean(found) == pytest.approx(400.0, rel=0.3)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_unit_of_depth_and_the_direction_of_time_do_not_matter(sign):
    record = gamma_core(1)[0]
    other = lamina.Record(
        sign * record.t, record.t_sd, np.nan, np.inf, "increasing" if sign > 0 else "decreasing",
        depth=10.0 * record.depth, thickness=10.0 * record.thickness,
    )  # fmt: skip
    assert with_thickness(other).t_sd == pytest.approx(with_thickness(record).t_sd)


def test_a_wrong_date_hardly_matters():
    record = straight()
    t = record.t.copy()
    t[5] += 5000.0
    assert with_thickness(replace(record, t=t)).t_sd == pytest.approx(with_thickness(record).t_sd, rel=0.05)


def test_the_pace_is_that_of_the_part_between_two_hiatuses():
    record = straight()
    t, hiatus = record.t.copy(), np.zeros(12, dtype=bool)
    t[6:], hiatus[5] = 10_000.0 + 5.0 * record.depth[6:], True
    found, _ = accumulation_at(replace(record, t=t, hiatus=hiatus), np.arange(12))
    assert found == pytest.approx([20.0] * 6 + [5.0] * 6)


def test_no_thickness_changes_nothing():
    record = straight(thickness=[0.0, np.nan] * 6)
    assert record.thickness is None
    assert with_thickness(record) is record


def test_other_dates_are_convolved_and_layers_merge():
    record = straight(dates=[StudentT(20.0 * d, 5.0) for d in np.linspace(0.0, 110.0, 12)])
    problem = build_problem(replace(record, tie=["a", "a", *[None] * 10]), Model(gaps="gamma"))
    assert problem.record.thickness is None
    assert isinstance(problem.record.dates[1], Widened)
    assert problem.record.t_sd[5] == pytest.approx(np.sqrt(50.0 + 40.0**2 / 12.0), rel=0.01)
    assert problem.source.t_sd[5] == pytest.approx(np.sqrt(50.0), rel=0.01)


def test_a_posterior_with_thickness_is_saved_and_restored(tmp_path):
    posterior = lamina.age_depth(straight(), draws=200, steps=5, cores=1)
    posterior.save(tmp_path / "p.nc")
    again = lamina.load(tmp_path / "p.nc")
    assert again.record == posterior.record
    assert again.ages([3.0]).equals(posterior.ages([3.0]))
    assert posterior.date_outliers().dropna().between(0.0, 1.0).all()


@pytest.mark.filterwarnings("ignore::lamina.NotConverged")
@pytest.mark.parametrize("method", ["mcmc", "npv", "nigp"])
def test_fits_of_curves_take_it(method):
    record = replace(straight(), y=np.sin(np.arange(12.0)), y_sd=np.full(12, 0.1))
    options = {"mcmc": {"draws": 200, "max_sweeps": 100}, "npv": {"restarts": 1, "draws": 100}, "nigp": {}}
    assert len(lamina.fit(record, method, **options[method]).inputs()) == 12


def test_bad_thickness_is_refused():
    for thickness, said in ((-1.0, "thickness is negative"), (np.inf, "thickness is infinite"), ("x", "thickness")):
        with pytest.raises(lamina.RecordError, match=said):
            straight(thickness=thickness)
    with pytest.raises(lamina.RecordError, match="thickness needs depths"):
        replace(straight(), depth=None)
    with pytest.raises(lamina.RecordError, match="its input is exact"):
        straight(sd=0.0)
    with pytest.raises(lamina.MethodError, match="t_scale"):
        lamina.age_depth(straight(), estimate="t_scale")
    alone = lamina.Record([0.0, np.nan], [5.0, np.inf], [1.0, 2.0], 1.0, depth=[0.0, 1.0], thickness=0.5)
    with pytest.raises(lamina.RecordError, match="dates at one depth only"):
        with_thickness(alone)


def test_slices_that_overlap_are_named():
    record = straight(thickness=[2.0] * 5 + [30.0] + [2.0] * 6)
    assert overlapping_slices(record) == [(4, 5), (5, 6)]
    with pytest.warns(UserWarning, match="slices of rows 4, 5 and 6"):
        lamina.age_depth(record, draws=200, steps=5, cores=1)


def test_radiocarbon_keeps_its_outlier_probability():
    date = Radiocarbon(2450, 30)
    wide = Widened(date, 1e-3, 0.0)
    t = np.array([2300.0, 2500.0, 3000.0])
    assert wide.outlier_probability(t) == pytest.approx(date.outlier_probability(t), abs=1e-3)
    assert Widened(Radiocarbon(2450, 30, student=False), 10.0, 1.0).outlier_probability(t) is None


@pytest.mark.parametrize(("width", "normal_sd"), [(10.0, 2.0), (400.0, 30.0), (4000.0, 100.0)])
def test_the_outlier_probability_is_averaged_over_the_slice(width, normal_sd):
    """Against a sum over draws of the difference; a time that the slice explains is no outlier."""
    date, t = StudentT(0.0, 20.0), np.array([0.0, 60.0, 0.4 * width, 0.5 * width + 60.0])
    rng = np.random.default_rng(2)
    z = rng.uniform(-0.5 * width, 0.5 * width, 400_000) + normal_sd * rng.standard_normal(400_000)
    weight = np.exp(date.log_density(t[:, None] + z))
    expected = (weight * date.outlier_probability(t[:, None] + z)).sum(axis=1) / weight.sum(axis=1)
    found = Widened(date, width, normal_sd).outlier_probability(t)
    assert found == pytest.approx(expected, abs=0.01)
    if width >= 400.0:
        assert found[2] < 0.1 < 0.9 < date.outlier_probability(t)[2]


@pytest.mark.parametrize("age", [300, 741, 1029])
def test_radiocarbon_whose_tail_ends_today_has_a_thickness(age):
    date = Radiocarbon(age, 35)
    wide = Widened(date, 12.0, 0.0)
    assert wide.mean == pytest.approx(date.mean, abs=0.5)
    assert wide.sd**2 == pytest.approx(date.sd**2 + 12.0**2 / 12.0, rel=0.01)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::lamina.NotConverged")
def test_bands_hold_with_thickness_and_not_without():
    held = {True: [], False: []}
    for seed in range(20):
        record, truth = gamma_core(seed)
        for thick, one in (True, record), (False, replace(record, thickness=None)):
            ages = lamina.age_depth(one, steps=5, draws=600, cores=1, t_errors="normal").ages(record.depth)
            held[thick] += list((ages["q2.5"] <= truth) & (truth <= ages["q97.5"]))
    assert np.mean(held[True]) > 0.88
    assert np.mean(held[False]) < 0.78
