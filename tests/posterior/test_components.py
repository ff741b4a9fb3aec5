"""The parts that a curve is the sum of, the trend, and the curve without it."""

from functools import cache

import fits
import numpy as np
import pandas as pd
import pytest

import lamina
from lamina import dense
from lamina.methods.draws import Draws
from lamina.methods.prediction import component_names, components
from lamina.model.model import Model
from lamina.model.problem import build_problem
from lamina.posterior.posterior import Posterior

#: Sums of kernels are compiled apart.
pytestmark = pytest.mark.slow

AT = np.array([5.0, -1.0, 3.3, 3.3, 12.0])
QUANTILES = ["q2.5", "q5", "q16", "q25", "q50", "q75", "q84", "q95", "q97.5"]
SLOW_AND_FAST = lamina.Matern52(4.0, 0.8) + lamina.Matern32(0.7, 0.3)
MODELS = {
    "slow + fast + trend": SLOW_AND_FAST + lamina.Constant(sd=4.0) + lamina.Linear(mean=0.1, sd=0.2, origin=3.0),
    "slow + fast + flat trend": SLOW_AND_FAST + lamina.Constant() + lamina.Linear(),
    "with matern12": lamina.Matern12(0.7, 0.3) + lamina.Matern52(4.0, 0.8) + lamina.Constant(sd=2.0, mean=1.0),
    "trend alone": lamina.Constant(sd=5.0) + lamina.Linear(sd=0.5),
    "dense": lamina.SquaredExponential(4.0, 0.8) + lamina.Periodic(1.5, 0.3, period=2.0) + lamina.Constant(sd=4.0),
}
each_model = pytest.mark.parametrize("name", MODELS)


@cache
def found(name: str, order: str = "increasing") -> Posterior:
    """A handful of weighted draws of inputs and parameters, near the truth: nothing here depends on how they came."""
    record = fits.record(order=order, true=fits.TRUE if order == "increasing" else fits.TRUE[::-1])
    problem = build_problem(record, Model(MODELS[name], engine="auto"))
    rng = np.random.default_rng(5)
    size = 6
    tau = np.sort(problem.rows.t + 0.1 * rng.standard_normal((size, len(record))), axis=1)
    phi = problem.start + 0.2 * rng.standard_normal((size, len(problem.start))) * problem.free
    return Posterior(problem, Draws(tau, phi, rng.dirichlet(np.ones(size)), diagnostics={"method": "mcmc"}))


def in_closed_form(posterior: Posterior, k: int, at) -> tuple[np.ndarray, np.ndarray]:
    """Mean (P, M) and covariance (PM, PM) of all parts for one draw, from the matrices of the textbook."""
    problem, draws = posterior.problem, posterior.draws
    kernel = problem.kernel.with_theta(draws.phi[k, : problem.n_kernel])
    tau, y = draws.tau[k], posterior.record.y
    y_sd = posterior.record.y_sd * np.exp(draws.phi[k, -1])
    curves = [term for term in kernel.terms if term not in kernel.trend]
    sd, mean = np.array([(term.sd, term.mean) for term in kernel.trend]).T

    def columns(t):
        return np.column_stack([term.column(t) for term in kernel.trend])

    def covariance(t, s):
        return [k.covariance(np.abs(t[:, None] - s)) for k in curves] + [columns(t) * sd**2 @ columns(s).T]

    K = sum(covariance(tau, tau)) + np.diag(y_sd**2)
    cross = np.hstack(covariance(tau, at))
    prior_mean = np.concatenate([np.zeros(len(curves) * len(at)), columns(at) @ mean])
    prior = np.zeros((cross.shape[1],) * 2)
    for p, block in enumerate(covariance(at, at)):
        part = slice(p * len(at), (p + 1) * len(at))
        prior[part, part] = block
    gain = np.linalg.solve(K, cross)
    return prior_mean + gain.T @ (y - columns(tau) @ mean), prior - cross.T @ gain


@pytest.mark.parametrize("name", [name for name in MODELS if "flat" not in name])
def test_each_component_is_its_closed_form_conditional(name):
    posterior = found(name)
    at = posterior.problem.to_internal(AT)
    mean, var = components(posterior.problem, posterior.draws, at)
    for k in range(len(mean)):
        expected, covariance = in_closed_form(posterior, k, at)
        scale = np.sqrt(np.diag(covariance))
        np.testing.assert_allclose(mean[k, :, 0].ravel(), expected, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(np.sqrt(var[k, :, 0].ravel()), scale, rtol=1e-8)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "dense"])
def test_the_two_engines_agree_on_every_component(name):
    posterior = found(name)
    problem, draws = posterior.problem, posterior.draws
    at = problem.to_internal(AT)
    mean, var = components(problem, draws, at)
    for k in range(len(mean)):
        kernel = problem.kernel.with_theta(draws.phi[k, : problem.n_kernel])
        y_sd = posterior.record.y_sd * np.exp(draws.phi[k, -1])
        parts = [(term, False) for term in kernel.terms if term not in kernel.trend] + [(dense.NoCurve(), True)]
        expected = dense.predict_pointwise(kernel, draws.tau[k], posterior.record.y, y_sd, at, parts)
        np.testing.assert_allclose(mean[k].reshape(-1, len(AT)), expected[0], rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(var[k].reshape(-1, len(AT)), expected[1], rtol=1e-8, atol=1e-12)


@each_model
def test_means_of_the_components_add_up_to_the_curve(name):
    posterior = found(name)
    table = posterior.components(AT)
    assert list(table.columns) == ["component", "at", "mean", "sd", *QUANTILES]
    assert list(dict.fromkeys(table["component"])) == component_names(posterior.problem.kernel)
    total = sum(part["mean"].to_numpy() for _, part in table.groupby("component"))
    np.testing.assert_allclose(total, posterior.curve(AT)["mean"], rtol=1e-10, atol=1e-10)


def test_components_are_called_by_their_kernel_and_the_number_of_its_parameters():
    posterior = found("slow + fast + trend")
    assert component_names(posterior.problem.kernel) == ["Matern52_1", "Matern32_2", "trend"]
    assert {"length_1", "sd_2"} <= set(posterior.theta)
    assert component_names(lamina.Matern32()) == ["Matern32"]
    assert component_names(lamina.Constant() + lamina.Matern32()) == ["Matern32", "trend"]


@each_model
def test_draws_of_the_components_add_up_to_a_draw_of_the_curve(name):
    posterior = found(name)
    drawn = posterior.sample_components(AT, n=4000, seed=3)
    assert list(drawn) == component_names(posterior.problem.kernel)
    total = sum(drawn.values())
    if posterior.problem.kernel.is_markov:
        np.testing.assert_allclose(total, posterior.sample_curves(AT, n=4000, seed=3), rtol=1e-9, atol=1e-9)
    tables = {"curve": posterior.curve(AT)}
    tables |= dict(iter(posterior.components(AT).groupby("component")))
    for part, values in (drawn | {"curve": total}).items():
        mean, sd = tables[part]["mean"].to_numpy(), tables[part]["sd"].to_numpy()
        assert np.abs((values.mean(axis=0) - mean) / sd).max() * np.sqrt(4000) < 5.0
        np.testing.assert_allclose(values.std(axis=0), sd, rtol=0.08)


@pytest.mark.parametrize("name", ["slow + fast + trend", "trend alone"])
@pytest.mark.parametrize("order", ["increasing", "decreasing"])
def test_the_curve_without_its_trend_and_the_trend_make_the_whole(name, order):
    posterior = found(name, order)
    values, rates = posterior.components(AT), posterior.components(AT, rate=True)
    for table, ask in (values, posterior.curve), (rates, posterior.rate):
        trend = table[table["component"] == "trend"]["mean"].to_numpy()
        np.testing.assert_allclose(ask(AT, trend=False)["mean"] + trend, ask(AT)["mean"], rtol=1e-9, atol=1e-9)
        rest = table[table["component"] != "trend"]
        expected = rest.groupby("at")["mean"].sum() / rest.groupby("at")["mean"].count() * max(len(rest) // len(AT), 1)
        for at, mean in expected.items():
            without = ask([at], trend=False)["mean"][0]
            assert without == pytest.approx(mean, rel=1e-9, abs=1e-9)


def test_without_trend_far_from_the_data_nothing_is_left():
    posterior = found("slow + fast + trend")
    without = posterior.curve([500.0], trend=False)
    assert without["mean"][0] == pytest.approx(0.0, abs=1e-6)
    kernels = np.exp(2.0 * posterior.draws.phi[:, [1, 3]]).sum(axis=1)
    assert without["sd"][0] == pytest.approx(np.sqrt(posterior.draws.weight @ kernels), rel=1e-9)
    assert posterior.rate([500.0], trend=False)["mean"][0] == pytest.approx(0.0, abs=1e-6)


def test_rates_of_components_are_returned_where_they_exist():
    posterior = found("with matern12")
    table = posterior.components(AT, rate=True)
    assert set(table["component"]) == {"Matern52_2", "trend"}
    assert table["mean"].notna().all()
    assert (table[table["component"] == "trend"][["mean", "sd"]] == 0.0).all(axis=None)
    step = 1e-4
    near = posterior.components([5.0 - step, 5.0 + step]).query("component == 'Matern52_2'")["mean"].to_numpy()
    slow = table.query("component == 'Matern52_2' and at == 5")["mean"].item()
    assert slow == pytest.approx(np.diff(near).item() / (2.0 * step), rel=1e-4)
    rough = fits.at_known(fits.record(), lamina.Matern12(), mean="zero")
    with pytest.raises(lamina.KernelError, match="no rate of change"):
        rough.components(AT, rate=True)


@pytest.mark.parametrize("order", ["increasing", "decreasing"])
def test_the_table_of_the_trend_is_that_of_its_component(order):
    posterior = found("slow + fast + trend", order)
    table = posterior.trend().set_index("term")
    assert list(table.columns) == ["at", "mean", "sd", *QUANTILES]
    assert table["at"].tolist() == pytest.approx([3.0, 3.0])
    at = [3.0, 3.0 + 50.0]
    trend = posterior.components(at).query("component == 'trend'").reset_index(drop=True)
    slope = posterior.components(at[:1], rate=True).query("component == 'trend'")
    np.testing.assert_allclose(table.loc["level", "mean":], trend.loc[0, "mean":].astype(float), rtol=1e-9)
    np.testing.assert_allclose(table.loc["rate", "mean":], slope.iloc[0, 2:].astype(float), rtol=1e-9)
    assert trend["mean"][1] == pytest.approx(table["mean"] @ [1.0, 50.0], rel=1e-9)


def test_the_trend_is_the_regression_of_the_textbook():
    kernel = lamina.Matern32(2.0, 0.7) + lamina.Constant() + lamina.Linear(mean=0.3, sd=0.05)
    record = fits.record(t_sd=0.0)
    posterior = fits.at_known(record, kernel)
    K = lamina.Matern32(2.0, 0.7).covariance(np.abs(record.t[:, None] - record.t)) + np.diag(record.y_sd**2)
    X = np.column_stack([np.ones(len(record)), record.t])
    precision = X.T @ np.linalg.solve(K, X) + np.diag([0.0, 0.05**-2])
    mean = np.linalg.solve(precision, X.T @ np.linalg.solve(K, record.y) + [0.0, 0.3 * 0.05**-2])
    sd = np.sqrt(np.diag(np.linalg.inv(precision)))
    table = posterior.trend()
    assert table["term"].tolist() == ["level", "rate"]
    np.testing.assert_allclose(table["mean"], mean, rtol=1e-8)
    np.testing.assert_allclose(table["sd"], sd, rtol=1e-8)


def test_a_prior_rate_holds_where_the_data_say_nothing_and_yields_where_they_do():
    poor = fits.record(t_sd=0.0, y_sd=3.0)
    tight = fits.at_known(poor, lamina.Matern32(2.0, 0.7) + lamina.Constant() + lamina.Linear(mean=0.4, sd=0.01))
    rate = tight.trend().set_index("term").loc["rate"]
    assert rate["mean"] == pytest.approx(0.4, abs=0.005)
    assert rate["sd"] == pytest.approx(0.01, rel=0.05)
    assert tight.rate([500.0])["mean"][0] == pytest.approx(rate["mean"], abs=1e-6)
    straight = lamina.Record(t=np.arange(50.0), t_sd=0.0, y=2.0 * np.arange(50.0), y_sd=0.1)
    loose = fits.at_known(straight, lamina.Matern32(5.0, 0.1) + lamina.Constant() + lamina.Linear(mean=0.4, sd=10.0))
    assert loose.trend()["mean"][1] == pytest.approx(2.0, abs=0.01)


def test_a_fit_with_a_level_alone_or_no_trend():
    kernel = lamina.Matern32(2.0, 0.7)
    level = fits.at_known(fits.record(), kernel).trend()
    assert level["term"].tolist() == ["level"]
    none = fits.at_known(fits.record(), kernel, mean="zero")
    assert len(none.trend()) == 0
    assert list(none.trend().columns) == list(level.columns)
    pd.testing.assert_frame_equal(none.curve(AT), none.curve(AT, trend=False))
    alone = none.components(AT)
    assert set(alone["component"]) == {"Matern32"}
    np.testing.assert_allclose(alone["mean"], none.curve(AT)["mean"])
