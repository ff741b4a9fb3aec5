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
from lamina.posterior.times import default_times, too_coarse


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
def test_times_are_round_even_few_enough_and_hold_all_inputs(first, span, n):
    posterior = at_inputs([first, first + span])
    times = default_times(posterior, n)
    centre = posterior.input_means
    assert n / 4 < len(times) <= n
    assert times[0] < centre.min()
    assert times[-1] > centre.max()
    rounding = 1e-9 * max(abs(times[0]), abs(times[-1]))
    assert times[-1] - times[0] <= 1.02 * span + 2.0 * (times[1] - times[0]) + rounding
    step = np.diff(times)
    np.testing.assert_allclose(step, step[0], atol=rounding)
    digits = f"{step.mean():.0e}"
    assert digits[0] in "125"


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
