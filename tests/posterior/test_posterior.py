"""The results of a Posterior: curve, rate, inputs, joint draws, conflicts, summary."""

from dataclasses import replace

import fits
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

import lamina
from lamina import dense
from lamina.engine.quantiles import LEVELS, mixture_quantiles
from lamina.methods.draws import Draws
from lamina.methods.prediction import curves
from lamina.model.model import Model
from lamina.model.problem import build_problem
from lamina.posterior import inputs, posterior
from lamina.posterior.posterior import Posterior

QUANTILES = ["q2.5", "q5", "q16", "q25", "q50", "q75", "q84", "q95", "q97.5"]
AT = np.array([5.0, -1.0, 3.3, 3.3, 12.0])
each_method = pytest.mark.parametrize("method", [*fits.METHODS, "ensemble"])


def at_fixed(kernel, record=None, sign=1.0, **options) -> Posterior:
    """A fit in which nothing is left to learn but the curve: tau = t and the parameters of ``kernel``."""
    record = record or fits.record(t_sd=0.0)
    return lamina.fit(record, "gp", kernel, fixed=dict(zip(kernel.names, np.exp(kernel.theta), strict=True)), **options)


def some_draws(size: int, method: str = "mcmc", weight=None) -> Posterior:
    """The first draws of a fit, so that bands are averaged over all of them."""
    found = fits.posterior(method)
    draws = Draws.equal(found.draws.tau[:size], found.draws.phi[:size], diagnostics=found.draws.diagnostics)
    return Posterior(found.problem, draws if weight is None else replace(draws, weight=weight))


@each_method
def test_tables_have_the_columns_that_are_promised(method):
    found, n = fits.posterior(method), len(fits.TRUE)
    for table in found.curve(AT), found.rate(AT):
        assert list(table.columns) == ["at", "mean", "sd", *QUANTILES]
        np.testing.assert_array_equal(table["at"], AT)
        assert (table["sd"] > 0).all()
        assert (np.diff(table[QUANTILES], axis=1) > 0).all()
    inputs = found.inputs()
    assert list(inputs.columns) == ["t", "t_sd", "mean", "sd", *QUANTILES]
    np.testing.assert_array_equal(inputs["t"], found.record.t)
    assert found.tau.shape == (len(found.theta), n)
    assert list(found.theta.columns) == (["length", "sd"] + ["alpha"] * (method in ("mcmc", "nuts", "npv")))
    assert isinstance(found.theta, pd.DataFrame)
    assert found.diagnostics["method"] == method
    assert {"seconds", "converged", "interrupted", "conflicts"} <= set(found.diagnostics)


@each_method
def test_times_may_be_one_number_unsorted_and_repeated(method):
    found = fits.posterior(method)
    together = found.curve(AT)
    for k, at in enumerate(AT):
        pd.testing.assert_frame_equal(found.curve(at), together.iloc[[k]].reset_index(drop=True), rtol=1e-9)
    pd.testing.assert_series_equal(together.iloc[2], together.iloc[3], check_names=False)
    assert len(found.curve([])) == 0


@pytest.mark.parametrize("at", [np.nan, [1.0, np.inf], ["1950"], [[1.0, 2.0]]])
def test_times_that_are_no_numbers_are_refused(at):
    found = fits.posterior("gp")
    for ask in found.curve, found.rate, found.sample_curves, found.sample_rates:
        with pytest.raises(lamina.MethodError, match="at"):
            ask(at)


@pytest.mark.parametrize("n", [0, -3, 2.5])
def test_a_number_of_draws_that_is_none_is_refused(n):
    with pytest.raises(lamina.MethodError, match="n must be"):
        fits.posterior("gp").sample_curves(AT, n=n)


@pytest.mark.parametrize("kernel", [lamina.Matern32(2.0, 0.7), lamina.SquaredExponential(2.0, 0.7)], ids=["m32", "se"])
def test_far_from_the_data_the_curve_is_the_prior_with_an_uncertain_level(kernel):
    found = at_fixed(kernel)
    record = found.record
    K = kernel.covariance(np.abs(record.t[:, None] - record.t)) + np.diag(record.y_sd**2)
    weights = np.linalg.solve(K, np.ones(len(K)))
    curve, rate = found.curve([-500.0, 500.0]), found.rate([-500.0, 500.0])
    np.testing.assert_allclose(curve["mean"], weights @ record.y / weights.sum(), rtol=1e-9)
    np.testing.assert_allclose(curve["sd"], np.sqrt(kernel.sd**2 + 1.0 / weights.sum()), rtol=1e-9)
    _, bend = kernel.lag_derivatives(np.zeros(1))
    np.testing.assert_allclose(rate["mean"], 0.0, atol=1e-9)
    np.testing.assert_allclose(rate["sd"], np.sqrt(-bend[0]), rtol=1e-9)


@each_method
def test_the_band_is_wider_outside_the_data(method):
    sd = fits.posterior(method).curve([5.0, 40.0])["sd"]
    assert sd[1] > 2.0 * sd[0]


@pytest.mark.parametrize("kernel", [lamina.Matern32(2.0, 0.7), lamina.SquaredExponential(2.0, 0.7)], ids=["m32", "se"])
def test_with_nothing_to_learn_the_curve_is_that_of_the_exact_gaussian_process(kernel):
    found = at_fixed(kernel)
    record, model = found.record, kernel + lamina.Constant()
    mean, covariance = dense.predict_joint(model, record.t, record.y, record.y_sd, AT)
    sd = np.sqrt(np.diag(covariance))
    for table, part in (found.curve(AT), slice(0, 5)), (found.rate(AT), slice(5, 10)):
        np.testing.assert_allclose(table["mean"], mean[part], rtol=1e-7)
        np.testing.assert_allclose(table["sd"], sd[part], rtol=1e-7)
        for name, level in zip(QUANTILES, LEVELS, strict=True):
            np.testing.assert_allclose(table[name], mean[part] + norm.ppf(level) * sd[part], rtol=1e-5)


def check_draws(drawn, table):
    """Means, standard deviations and quantiles of joint draws agree with a table, in Monte-Carlo standard errors."""
    n = len(drawn)
    assert np.abs((drawn.mean(axis=0) - table["mean"]) / table["sd"]).max() * np.sqrt(n) < 5.0
    squares = (drawn - drawn.mean(axis=0)) ** 2
    assert np.abs((squares.mean(axis=0) - table["sd"] ** 2) / squares.std(axis=0)).max() * np.sqrt(n) < 5.0
    for name, level in zip(QUANTILES, LEVELS, strict=True):
        below = (drawn <= table[name].to_numpy()).mean(axis=0)
        assert np.abs(below - level).max() * np.sqrt(n / (level * (1.0 - level))) < 5.0


@pytest.mark.parametrize("weighted", [False, True])
def test_joint_draws_agree_with_the_tables(weighted):
    weight = np.random.default_rng(3).dirichlet(np.ones(50)) if weighted else None
    found = some_draws(50, weight=weight)
    check_draws(found.sample_curves(AT, n=5000, seed=1), found.curve(AT))
    check_draws(found.sample_rates(AT, n=5000, seed=1), found.rate(AT))


def test_joint_draws_of_a_dense_kernel_agree_with_the_tables():
    found = at_fixed(lamina.SquaredExponential(2.0, 0.7) + lamina.Periodic(1.5, 0.3, period=2.0))
    check_draws(found.sample_curves(AT, n=5000, seed=1), found.curve(AT))
    check_draws(found.sample_rates(AT, n=5000, seed=1), found.rate(AT))


def test_joint_draws_have_the_covariance_of_the_exact_gaussian_process():
    kernel = lamina.Matern32(2.0, 0.7)
    found, at = at_fixed(kernel), np.array([4.0, 4.5, 11.0, 12.0])
    drawn = found.sample_curves(at, n=20000, seed=1)
    record = found.record
    _, covariance = dense.predict(kernel + lamina.Constant(), record.t, record.y, record.y_sd, at)
    scale = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    assert np.abs((np.cov(drawn.T) - covariance) / scale).max() < 5.0 * np.sqrt(2.0 / 20000)


@pytest.mark.slow
@pytest.mark.parametrize("order", ["increasing", "decreasing"])
def test_drawn_rates_are_derivatives_of_the_drawn_curves(order):
    sign = 1.0 if order == "increasing" else -1.0
    base = fits.record(t_sd=0.0)
    record = lamina.Record(t=sign * base.t, t_sd=0.0, y=base.y, y_sd=base.y_sd, order=order)
    found = at_fixed(lamina.Matern52(2.0, 0.7), record)
    step = 1e-3
    at = sign * (3.0 + step * np.arange(200))
    curve, rates = found.sample_curves(at, n=5, seed=4), found.sample_rates(at, n=5, seed=4)
    slope = (curve[:, 2:] - curve[:, :-2]) / (at[2:] - at[:-2])
    assert np.abs(slope - rates[:, 1:-1]).max() < 1e-3 * np.abs(rates).max()
    np.testing.assert_array_equal(curve, found.sample_curves(at, n=5, seed=4))
    assert not np.allclose(curve, found.sample_curves(at, n=5, seed=5))


@pytest.mark.parametrize("method", ["mcmc", "npv", "nigp"])
def test_a_decreasing_record_is_the_mirror_image_of_an_increasing_one(method):
    up = fits.posterior(method)
    given = up.record
    record = lamina.Record(t=-given.t, t_sd=given.t_sd, y=given.y, y_sd=given.y_sd, order="decreasing")
    down = fits.quietly(record, method, seed=1, **fits.OPTIONS[method])
    np.testing.assert_allclose(down.tau, -up.tau, rtol=1e-9)
    np.testing.assert_allclose(down.curve(-AT)["mean"], up.curve(AT)["mean"], rtol=1e-9)
    np.testing.assert_allclose(down.curve(-AT)["q5"], up.curve(AT)["q5"], rtol=1e-5)
    np.testing.assert_allclose(down.rate(-AT)["mean"], -up.rate(AT)["mean"], rtol=1e-9)
    np.testing.assert_allclose(down.rate(-AT)["q5"], -up.rate(AT)["q95"], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(down.inputs()["q5"], -up.inputs()["q95"], rtol=1e-9)
    pd.testing.assert_frame_equal(down.theta, up.theta)


def test_shifting_and_scaling_the_data_shifts_and_scales_a_gp_fit():
    given, (a, b, c, d) = fits.record(), (37.0, -1200.0, 0.01, 8.0)
    record = lamina.Record(t=a * given.t + b, t_sd=a * given.t_sd, y=c * given.y + d, y_sd=c * given.y_sd)
    here, there = fits.posterior("gp"), lamina.fit(record, "gp", seed=1)
    curve, moved = here.curve(AT), there.curve(a * AT + b)
    np.testing.assert_allclose(moved["mean"], c * curve["mean"] + d, rtol=1e-6)
    np.testing.assert_allclose(moved["sd"], c * curve["sd"], rtol=1e-4)
    np.testing.assert_allclose(there.rate(a * AT + b)["mean"], c / a * here.rate(AT)["mean"], rtol=1e-3, atol=1e-8)
    np.testing.assert_allclose(there.theta["length"], a * here.theta["length"], rtol=1e-3)
    np.testing.assert_allclose(there.theta["sd"], c * here.theta["sd"], rtol=1e-3)


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({}, ["length", "sd", "alpha"]),
        ({"gaps": "exponential"}, ["length", "sd"]),
        ({"estimate": ("t_scale", "y_scale")}, ["length", "sd", "alpha", "t_scale", "y_scale"]),
        ({"fixed": {"alpha": 3.0, "length": 2.0}}, ["sd"]),
        ({"kernel": lamina.Matern32() + lamina.Matern12()}, ["length_1", "sd_1", "length_2", "sd_2", "alpha"]),
        ({"kernel": lamina.RationalQuadratic()}, ["length", "sd", "shape", "alpha"]),
    ],
)
def test_parameters_are_named_as_the_user_knows_them(options, names):
    problem = build_problem(fits.record(), Model(options.pop("kernel", lamina.Matern32()), **options))
    found = Posterior(problem, Draws.equal(problem.rows.t[None], problem.start[None]))
    assert list(found.theta.columns) == names
    if "alpha" in names:
        assert found.theta["alpha"][0] == pytest.approx(4.0)


def test_weights_count_in_every_table():
    weight = np.array([0.7, 0.2, 0.1])
    found = some_draws(3, weight=weight)
    np.testing.assert_allclose(found.inputs()["mean"], weight @ found.tau)
    parts = [
        Posterior(found.problem, Draws.equal(found.draws.tau[k : k + 1], found.draws.phi[k : k + 1])) for k in range(3)
    ]
    means = np.array([part.curve(AT)["mean"] for part in parts])
    np.testing.assert_allclose(found.curve(AT)["mean"], weight @ means, rtol=1e-9)
    np.testing.assert_allclose(found.inputs()["q50"], found.tau[0])


def test_mixture_quantiles_are_roots_of_the_distribution_function(rng):
    mean, sd = rng.normal(size=(6, 4)), rng.uniform(0.01, 2.0, (6, 4))
    weight = rng.dirichlet(np.ones(6))
    found = mixture_quantiles(mean, sd, weight)
    for j in range(4):
        for k, level in enumerate(LEVELS):

            def excess(x, j=j, level=level):
                return weight @ norm.cdf(x, mean[:, j], sd[:, j]) - level

            assert found[j, k] == pytest.approx(brentq(excess, -30.0, 30.0, xtol=1e-12), abs=1e-5)


@pytest.mark.parametrize("points", [1, 31, 70])
def test_mixture_quantiles_are_the_same_on_any_number_of_cores(rng, monkeypatch, points):
    mean, sd = np.cumsum(rng.standard_normal((40, points)), axis=1), rng.uniform(0.1, 1.0, (40, points))
    found = []
    for cores in 1, 2, 5:
        monkeypatch.setattr("lamina.support.cpus.available_cpus", lambda cores=cores: cores)
        found.append(mixture_quantiles(mean, sd, np.full(40, 1 / 40)))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_many_times_in_parts_are_as_all_at_once(monkeypatch):
    posterior, at = fits.posterior("mcmc"), np.linspace(-1.0, 11.0, 57)[::-1]
    whole = posterior.curve_and_rate(at)
    monkeypatch.setattr("lamina.posterior.posterior.NUMBERS_AT_ONCE", 20 * len(posterior.thinned().tau))
    for one, parts in zip(whole, posterior.curve_and_rate(at), strict=True):
        pd.testing.assert_frame_equal(one, parts, rtol=1e-9)


def test_draws_in_parts_are_as_all_at_once(monkeypatch):
    posterior, at = fits.posterior("mcmc"), np.linspace(0.0, 9.0, 7)
    curves, table = posterior.sample_curves(at, n=50), posterior.curve(at)
    monkeypatch.setattr("lamina.methods.prediction.DOUBLES_AT_ONCE", 3 * len(posterior.record))
    np.testing.assert_array_equal(posterior.sample_curves(at, n=50), curves)
    pd.testing.assert_frame_equal(posterior.curve(at), table)


def test_each_draw_may_have_times_of_its_own():
    posterior = fits.posterior("mcmc")
    draws, at = posterior.thinned(), np.array([[3.0, 1.0, 2.0], [5.0, 0.0, 9.0]])
    two = Draws(draws.tau[:2], draws.phi[:2], np.full(2, 0.5))
    together = curves(posterior.problem, two, at)
    for k in range(2):
        one = Draws(draws.tau[k : k + 1], draws.phi[k : k + 1], np.ones(1))
        for all_of_it, part in zip(together, curves(posterior.problem, one, at[k]), strict=True):
            np.testing.assert_array_equal(all_of_it[k], part[0])


def test_quantiles_of_one_component_are_those_of_a_normal():
    found = mixture_quantiles(np.array([[2.0, -1e6]]), np.array([[0.5, 1e-3]]), np.ones(1))
    np.testing.assert_allclose(found[0], norm.ppf(LEVELS, 2.0, 0.5), rtol=1e-6)
    np.testing.assert_allclose(found[1] + 1e6, norm.ppf(LEVELS, 0.0, 1e-3), atol=1e-9)


def test_quantiles_of_components_without_spread_are_those_of_the_draws():
    found = mixture_quantiles(np.arange(5.0)[:, None], np.zeros((5, 1)), np.full(5, 0.2))
    np.testing.assert_allclose(found[0], [0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 4.0, 4.0], atol=1e-5)


def test_bands_of_many_draws_are_averaged_over_an_even_part_of_them(monkeypatch):
    found = some_draws(100)
    monkeypatch.setattr(posterior, "AVERAGED_DRAWS", (12, *posterior.AVERAGED_DRAWS[1:]))
    kept = np.linspace(0, 99, 12).astype(int)
    part = Posterior(found.problem, Draws.equal(found.draws.tau[kept], found.draws.phi[kept]))
    pd.testing.assert_frame_equal(found.curve(AT), part.curve(AT))


def test_draws_in_single_precision_give_the_same_answer():
    found = some_draws(20)
    single = Posterior(found.problem, replace(found.draws, tau=found.draws.tau.astype(np.float32)))
    np.testing.assert_allclose(single.curve(AT)["mean"], found.curve(AT)["mean"], rtol=1e-4)
    np.testing.assert_allclose(single.sample_curves(AT, 5), found.sample_curves(AT, 5), rtol=1e-3)
    np.testing.assert_allclose(single.inputs()["mean"], found.inputs()["mean"], rtol=1e-5)


@pytest.mark.parametrize("method", ["gp", "nigp"])
def test_inputs_that_no_method_inferred_are_as_uncertain_as_reported(method):
    found = fits.posterior(method).inputs()
    np.testing.assert_allclose(found["mean"], found["t"])
    np.testing.assert_array_equal(found["sd"], found["t_sd"])
    np.testing.assert_allclose(found["q97.5"] - found["t"], 1.959964 * found["t_sd"], rtol=1e-6)
    exact = lamina.fit(fits.record(t_sd=0.0), method).inputs()
    assert (exact[["sd", "t_sd"]] == 0.0).all(axis=None)
    assert exact["q2.5"].tolist() == exact["t"].tolist()


def test_inputs_of_long_records_are_summed_up_in_parts(monkeypatch):
    found = some_draws(30)
    whole = found.inputs()
    monkeypatch.setattr(inputs, "ROWS_AT_ONCE", 3)
    pd.testing.assert_frame_equal(found.inputs(), whole)


@pytest.mark.parametrize(
    "kernel", [lamina.Matern12(), lamina.Matern12() * lamina.SquaredExponential()], ids=["m12", "x"]
)
def test_a_curve_without_a_rate_says_which_kernels_have_one(kernel):
    problem = build_problem(fits.record(), Model(kernel))
    found = Posterior(problem, Draws.equal(problem.rows.t[None], problem.start[None]))
    for ask in found.rate, found.sample_rates:
        with pytest.raises(lamina.KernelError, match="Matern32 or Matern52"):
            ask(AT)


def with_wrong_date(row: int, by: float) -> lamina.Record:
    given = fits.record(t_sd=0.2, true=0.25 * np.arange(12.0))
    t = given.t.copy()
    t[row] += by * 0.2
    return lamina.Record(t=t, t_sd=0.2, y=given.y, y_sd=given.y_sd, label=[f"Beta-{k}" for k in range(12)])


def test_a_wrong_date_is_named_and_right_ones_are_not():
    found = fits.quietly(with_wrong_date(6, 8.0), seed=1, **fits.OPTIONS["mcmc"])
    assert found.diagnostics["conflicts"] == [6]
    text = found.summary()
    assert "1 date in conflict" in text
    assert f"row 6, Beta-6: dated {found.record.t[6]:.2f} ± 0.20" in text
    clean = fits.quietly(with_wrong_date(6, 0.0), seed=1, **fits.OPTIONS["mcmc"])
    assert clean.diagnostics["conflicts"] == []
    assert "no date is in conflict" in clean.summary()


@each_method
def test_the_summary_has_method_convergence_parameters_and_inputs(method):
    found = fits.posterior(method)
    text = found.summary()
    first, second = text.splitlines()[:2]
    assert first.startswith(f"{method} fit of 10 rows, ")
    assert second.startswith("converged: " if found.diagnostics["converged"] else "NOT CONVERGED: ")
    evidence = {
        "mcmc": "worst R-hat",
        "nuts": "divergent transitions",
        "ensemble": "effective members",
        "npv": "steps",
        "nigp": "steps",
        "gp": "objective",
    }
    assert evidence[method] in second
    for name in found.theta.columns:
        assert f"\n{name} " in text
    point = method in ("gp", "nigp", "npv")
    assert text.count("(estimate, no interval)") == (len(found.theta.columns) if point else 0)
    assert ("95 %" in text) == (not point)
    if method in ("gp", "nigp"):
        assert "inputs: taken as measured" in text
    else:
        assert "inputs: 10 uncertain, 0 exact" in text


def test_where_inputs_are_as_measured_no_date_is_in_conflict():
    found = lamina.Record(
        t=[1.0, 2.0, 3.0, 9.0, 10.0], t_sd=0.5, y=np.arange(5.0), y_sd=0.1, tie=[None, None, "a", "a", None]
    )
    gp = lamina.fit(found, "gp")
    assert gp.diagnostics["conflicts"] == []
    assert "conflict" not in repr(gp)


def test_many_conflicts_are_cut_short():
    found = some_draws(5)
    far = Posterior(found.problem, Draws.equal(found.draws.tau + 100.0, found.draws.phi, diagnostics=found.diagnostics))
    assert far.diagnostics["conflicts"] == list(range(10))
    long = fits.record(true=np.arange(15.0))
    problem = build_problem(long, Model(lamina.Matern32()))
    draws = Draws.equal(problem.rows.t[None] + 100.0, problem.start[None], diagnostics=found.diagnostics)
    assert "and 5 more" in Posterior(problem, draws).summary()


@pytest.mark.parametrize("method", ["mcmc", "gp"])
def test_arviz_gets_the_draws_by_chain(method):
    found = fits.posterior(method)
    chains = found.draws.chains
    data = found.to_arviz().posterior
    assert data["tau"].shape == (chains, len(found.tau) // chains, 10)
    assert data["tau"].dims == ("chain", "draw", "row")
    np.testing.assert_array_equal(data["length"].to_numpy().ravel(), found.theta["length"])


def test_inputs_are_summarised_over_all_sweeps_however_few_draws_are_kept(tmp_path):
    """The same sweeps, of which one fit keeps all and the other a few."""
    options = {"chains": 2, "max_sweeps": 500, "warmup": 100, "seed": 3}
    every, few = (fits.quietly(fits.record(), draws=n, **options) for n in (1000, 20))
    assert (len(every.tau), len(few.tau)) == (1000, 20)
    assert every.draws.moments is None
    expected, found = every.inputs(), few.inputs()
    np.testing.assert_allclose(found[["mean", "sd"]], expected[["mean", "sd"]], rtol=1e-9)
    wide = expected["q97.5"] - expected["q2.5"]
    assert ((found["q50"] - expected["q50"]).abs() < 0.25 * wide).all()
    few.save(tmp_path / "few.nc")
    pd.testing.assert_frame_equal(lamina.load(tmp_path / "few.nc").inputs(), found)
    going_on = fits.quietly(fits.record(), draws=20, checkpoint=few.checkpoint, **options)
    longer = fits.quietly(fits.record(), draws=20, **options | {"max_sweeps": 1000})
    pd.testing.assert_frame_equal(going_on.inputs(), longer.inputs())


def test_repr_is_a_few_lines_with_method_state_parameters_and_span():
    lines = repr(fits.posterior("gp")).splitlines()
    assert lines[:3] == ["Posterior of 10 rows", "  method: gp, converged", "  draws: 1 in 1 chain"]
    assert lines[3].startswith("  parameters: length ")
    assert lines[4].startswith("  t: ")
    assert len(repr(fits.posterior("mcmc"))) < 500


def test_repr_works_before_a_method_has_reported_anything():
    problem = build_problem(fits.record(), Model())
    found = Posterior(problem, Draws.equal(problem.rows.t[None], problem.start[None]))
    assert "method: unknown, convergence unknown" in repr(found)


def test_a_notebook_shows_an_escaped_table():
    html = at_fixed(lamina.Matern32(2.0, 1.0), fits.record(t_sd=0.0, t_name="<b>t</b>"))._repr_html_()
    assert html.startswith("<table>")
    assert "<b>" not in html
    assert "&lt;b&gt;t&lt;/b&gt;" in html
