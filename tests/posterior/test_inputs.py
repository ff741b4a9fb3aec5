"""The table of the inputs: finite, within the range of each date, and exact where the model holds a value exactly."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

import lamina
from lamina.dates import Tabulated, Uniform
from lamina.engine.quantiles import LEVELS, QUANTILES
from lamina.methods.draws import Draws
from lamina.model.model import Model
from lamina.model.problem import build_problem
from lamina.posterior.boxes import input_shifts
from lamina.posterior.posterior import Posterior

FOUND = ["mean", "sd", *QUANTILES]


def drawn(record, method="mcmc", size=50, off=0.1, seed=0, **rest) -> Posterior:
    """Inputs that a sampler might have drawn; for gp and nigp those of the dates themselves."""
    inferring = method == "mcmc"
    problem, rng = build_problem(record, Model(lamina.Matern32()), has_gap_prior=inferring), np.random.default_rng(seed)
    uncertain = problem.rows.t_var > 0.0
    tau = problem.rows.t + inferring * off * uncertain * rng.standard_normal((size, len(problem.rows.t)))
    draws = Draws.equal(tau, np.tile(problem.start, (size, 1)), diagnostics={"method": method}, **rest)
    return Posterior(problem, draws)


def tied(t, t_sd, **rest):
    """Four rows, of which the second and the third are one layer."""
    return lamina.Record(t, t_sd, np.arange(4.0), 0.1, tie=[None, "ash", "ash", None], **rest)


@pytest.mark.parametrize("method", ["gp", "nigp", "mcmc"])
@pytest.mark.parametrize("sd", [0.0, 0.3])
def test_an_undated_row_shares_the_input_of_the_row_it_is_tied_to(method, sd):
    found = drawn(tied([1.0, 2.1, np.nan, 4.0], [0.2, sd, np.inf, 0.2]), method)
    table = found.inputs()[FOUND]
    assert np.isfinite(table).all(axis=None)
    pd.testing.assert_series_equal(table.loc[1], table.loc[2], check_names=False)
    assert np.isfinite(input_shifts(found, np.arange(4))[["mean", "sd"]]).all(axis=None)


@pytest.mark.parametrize("method", ["gp", "nigp"])
def test_a_method_without_inference_of_inputs_reports_the_dates(method):
    dates = [None, Uniform(2.0, 2.5), None, Tabulated([3.5, 4.0, 5.5], [0.0, 1.0, 0.0])]
    table = drawn(lamina.Record([1.0, 0, 3.0, 0], [0.2, 0, 0.1, 0], np.arange(4.0), 0.1, dates=dates), method).inputs()
    np.testing.assert_allclose(table.loc[0, list(QUANTILES)].astype(float), norm.ppf(LEVELS, 1.0, 0.2))
    np.testing.assert_allclose(table.loc[1, list(QUANTILES)].astype(float), 2.0 + 0.5 * np.array(LEVELS))
    np.testing.assert_allclose(table.loc[3, list(QUANTILES)].astype(float), dates[3].quantile(LEVELS))
    np.testing.assert_allclose(table["sd"], [0.2, dates[1].sd, 0.1, dates[3].sd])


@pytest.mark.parametrize("order", ["increasing", "decreasing"])
def test_quantiles_of_a_bounded_date_are_within_its_range(order):
    first = np.array([1850.1, 1900.3, 1950.7])[:: 1 if order == "increasing" else -1]
    dates = [Uniform(a, a + 0.1) for a in first]
    record = lamina.Record(None, None, np.arange(3.0), 0.1, dates=dates, order=order)
    # A sampler's moments are those of more draws than it kept, here of a wider spread than the range allows.
    found = drawn(record, off=0.01, moments=np.array([[-50.0, 0.0, 50.0], [0.2, 0.2, 0.2]]))
    table = found.inputs()
    for values in table["mean"], *(table[name] for name in QUANTILES), *found.tau, found.input_means:
        assert (values >= [date.first for date in dates]).all()
        assert (values <= [date.last for date in dates]).all()


@pytest.mark.parametrize("order", ["increasing", "decreasing"])
@pytest.mark.parametrize("seed", range(20))
def test_exact_inputs_are_reported_to_the_last_digit(order, seed):
    rng = np.random.default_rng(seed)
    t = np.sort(rng.uniform(-3000.0, 3000.0, 12))[:: 1 if order == "increasing" else -1]
    t_sd = np.where(rng.uniform(size=12) < 0.6, 0.0, 0.01)
    t_sd[0], exact = 0.0, t_sd == 0.0
    exact[0] = True
    record = lamina.Record(t, t_sd, rng.standard_normal(12), 0.1, order=order)
    found = drawn(record, size=7, off=1e-3)
    for values in found.input_means, *found.tau, *(found.inputs()[name] for name in ("mean", *QUANTILES)):
        np.testing.assert_array_equal(np.asarray(values)[exact], t[exact])
    np.testing.assert_array_equal(found.inputs()["sd"][exact], 0.0)


def test_a_row_tied_to_an_exact_one_is_as_exact():
    found = drawn(tied([1.3, 2.1, 2.2, 4.7], [0.1, 0.0, 0.5, 0.1]))
    np.testing.assert_array_equal(found.tau[:, 2], 2.1)
    assert (found.inputs().loc[2, ["mean", *QUANTILES]] == 2.1).all()
    assert found.inputs().loc[2, "sd"] == 0.0
