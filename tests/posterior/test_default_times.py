"""The times at which curves are drawn when nobody says which."""

import fits
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lamina
from lamina.methods.draws import Draws
from lamina.model.model import Model
from lamina.model.problem import build_problem
from lamina.posterior.posterior import Posterior
from lamina.posterior.times import data_range, default_times, is_length, too_coarse


def at_inputs(t, t_sd=0.1) -> Posterior:
    """A posterior whose inputs are where they were measured."""
    record = lamina.Record(t=t, t_sd=t_sd, y=np.arange(len(t), dtype=float), y_sd=0.1)
    problem = build_problem(record, Model(lamina.Matern32(), gaps="uniform"))
    return Posterior(problem, Draws.equal(problem.rows.t[None], problem.start[None]))


@given(
    first=st.floats(-1e5, 1e5),
    span=st.floats(1e-3, 1e6),
    n=st.integers(10, 1000),
)
def test_times_are_round_even_few_enough_and_reach_the_ends_of_the_data(first, span, n):
    posterior = at_inputs([first, first + span])
    times, (low, high) = default_times(posterior, n), data_range(posterior)
    assert n / 4 < len(times) <= n
    rounding = 1e-9 * max(abs(times[0]), abs(times[-1]), span)
    step = np.diff(times)[1:-1]
    np.testing.assert_allclose(step, step[0], atol=rounding)
    assert f"{step.mean():.0e}"[0] in "125"
    assert low - rounding <= times[0] <= low + 0.1 * step[0] + rounding
    assert high - 0.1 * step[0] - rounding <= times[-1] <= high + rounding


def drawn(t, t_sd, sd=1.0, shift=0.0, **rest) -> Posterior:
    """A posterior whose inputs are off by ``sd`` about where they were measured, moved by ``shift``; t increases."""
    record = lamina.Record(t=t, t_sd=t_sd, y=np.arange(len(t), dtype=float), y_sd=0.1, **rest)
    problem = build_problem(record, Model(lamina.Matern32(), gaps="uniform"), has_gap_prior=False)
    off = np.where(record.exact, 0.0, sd) * np.array([[-1.0], [1.0]])
    tau = problem.rows.t + off + problem.record.sign * np.where(record.exact, 0.0, shift)
    return Posterior(problem, Draws.equal(tau, np.tile(problem.start, (2, 1))))


def test_the_data_end_one_standard_deviation_beyond_the_outermost_corrected_dates():
    assert data_range(drawn([10.0, 20.0, 30.0], 5.0, sd=2.0, shift=1.0)) == pytest.approx((9.0, 33.0))
    assert data_range(drawn([10.0, 20.0, 30.0], [5.0, 5.0, 0.0], sd=2.0)) == pytest.approx((8.0, 30.0))


@pytest.mark.parametrize(
    ("unit", "present", "t", "range_"),
    [
        ("CE", 2020, [1900.0, 2010.0], (1880.0, 2020.0)),
        ("yr AD", 2020, [1900.0, 1950.0], (1880.0, 1970.0)),
        ("cal yr BP", 2020, [-60.0, 50.0], (-70.0, 70.0)),
        ("b2k", 2020, [-10.0, 100.0], (-20.0, 120.0)),
        ("cal ka BP", 2020, [20.0, 1000.0], (0.0, 1020.0)),
        ("yr ago", 2020, [0.0, 50.0], (-20.0, 70.0)),
        ("cm", 2020, [1900.0, 2010.0], (1880.0, 2030.0)),
        ("CE", 2020, [1900.0, 2030.0], (1880.0, 2030.0)),
    ],
)
def test_no_time_is_later_than_the_present_on_a_calendar(monkeypatch, unit, present, t, range_):
    monkeypatch.setattr("lamina.posterior.times._this_year", lambda: present)
    found = drawn(t, 30.0, sd=20.0, t_unit=unit)
    assert data_range(found) == pytest.approx(range_)


@pytest.mark.parametrize(("unit", "way"), [("CE", 1.0), ("cal yr BP", -1.0)])
def test_an_exact_youngest_date_is_the_year_of_measurement(unit, way):
    t, t_sd = way * np.array([1800.0, 1850.0, 1852.0]), np.array([5.0, 5.0, 0.0])
    order = "increasing" if way > 0 else "decreasing"
    low, high = data_range(drawn(t, t_sd, sd=4.0, t_unit=unit, order=order))
    assert (high if way > 0 else low) == way * 1852.0


def test_what_is_asked_beyond_the_data_is_extrapolated():
    found = drawn([1900.0, 1990.0, 2000.0], [5.0, 5.0, 0.0], sd=4.0, t_unit="CE")
    assert not found.extrapolated(default_times(found)).any()
    np.testing.assert_array_equal(found.extrapolated([1895.9, 1896.0, 1950.0, 2000.0, 2000.1]), [1, 0, 0, 0, 1])


def test_figures_reach_the_times_that_are_asked_for_up_to_a_quarter_of_the_range():
    found = drawn([0.0, 50.0, 100.0], 0.0)
    assert default_times(found, shown=[20.0, 110.0])[[0, -1]] == pytest.approx([0.0, 110.0])
    assert default_times(found, shown=[-1e6, 1e6])[[0, -1]] == pytest.approx([-25.0, 125.0])


def test_times_are_written_with_few_digits():
    times = default_times(fits.posterior("mcmc"))
    assert all(len(f"{time:.10g}") <= 5 for time in times)


def test_inputs_without_a_span_get_a_grid_from_their_errors():
    times = default_times(at_inputs([5.0, 5.0], t_sd=2.0))
    assert times[0] < 2.0
    assert times[-1] > 8.0
    assert default_times(at_inputs([5.0, 5.0], t_sd=0.0)).size > 10


def test_a_grid_of_a_few_points_is_refused():
    with pytest.raises(lamina.MethodError, match="at least 10"):
        default_times(fits.posterior("gp"), 3)


def long_posterior(length: float, n: int = 200) -> Posterior:
    t = np.arange(float(n))
    record = lamina.Record(t=t, t_sd=0.1, y=np.sin(t), y_sd=0.1)
    problem = build_problem(record, Model(lamina.Matern32(), gaps="uniform"))
    phi = problem.start.copy()
    phi[problem.names.index("length")] = np.log(length)
    return Posterior(problem, Draws.equal(problem.rows.t[None], phi[None]))


def test_a_curve_that_changes_fast_gets_more_times_and_a_warning_where_that_is_not_enough():
    slow, fast, fastest = (long_posterior(length) for length in (50.0, 0.5, 0.01))
    assert len(default_times(slow)) <= 400
    step = np.diff(default_times(fast))[0]
    assert 0.5 / 10 <= step <= 0.5 / 4
    assert too_coarse(slow, default_times(slow)) == too_coarse(fast, default_times(fast)) == ""
    assert len(default_times(fastest)) <= 4000
    assert "0.05 apart, but they change within 0.01" in too_coarse(fastest, default_times(fastest))


def test_lengths_in_space_are_no_lengths_in_time():
    t, places = np.arange(20.0), {"latitude": [35.0, 38.0], "longitude": [-76.0, -74.0]}
    record = lamina.Record(t=t, t_sd=0.1, y=np.sin(t), y_sd=0.1, site=["a"] * 10 + ["b"] * 10, **places)
    kernel = lamina.Matern32() + lamina.Matern32() * lamina.Nearby()
    problem = build_problem(record, Model(kernel, gaps="uniform"))
    phi = problem.start.copy()
    for name, value in ("length_1", 50.0), ("length_2", 50.0), ("length_km_2", 0.001):
        phi[problem.names.index(name)] = np.log(value)
    found = Posterior(problem, Draws.equal(problem.rows.t[None], phi[None]))
    assert too_coarse(found, np.array([0.0, 10.0])) == ""
    assert is_length("length_2")
    assert not is_length("length_km_2")
