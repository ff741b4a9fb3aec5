"""npv: each term of its objective against Monte Carlo and finite differences, and what the fit makes of them."""

import math
from dataclasses import replace

import fits
import numpy as np
import pytest
from scipy.special import logsumexp

import lamina
from lamina.fitting import prepare
from lamina.methods.coordinates import to_inputs
from lamina.methods.npv import _uncertain_everywhere
from lamina.methods.npv.inference import Inference
from lamina.methods.npv.objective import entropy_bound, expected_dates, smooth_part, variance_part
from lamina.model.model import Model
from lamina.model.problem import build_problem

#: A level that is as good as known: the curvature of interleaved rows is that at given trend coefficients.
KNOWN_LEVEL = lamina.Matern32() + lamina.Constant(mean=3.0, sd=1e-5)
INTERLEAVED = ["a", "b", "a", "a", "b", None, "b", "a", None, "b"]
T_SD = np.array([0.3, 0.2, 0.4, 0.3, 0.3, 0.0, 0.3, 0.2, 0.3, 0.3])


def interleaved() -> lamina.Record:
    """Two sequences, a row alone, and an exact one."""
    given = fits.record()
    t = fits.TRUE + T_SD * np.random.default_rng(2).standard_normal(10)
    return lamina.Record(t=t, t_sd=T_SD, y=given.y, y_sd=given.y_sd, sequence=INTERLEAVED)


def with_exact_row(row: int = 0) -> lamina.Record:
    given, t_sd = fits.record(), np.full(10, 0.3)
    t_sd[row] = 0.0
    return lamina.Record(t=np.where(t_sd > 0, given.t, fits.TRUE), t_sd=t_sd, y=given.y, y_sd=given.y_sd)


RECORDS = {"one sequence": fits.record, "interleaved": interleaved, "exact row first": with_exact_row}
#: The same for fixtures: interleaved rows are compiled apart.
EVERY_RECORD = [
    pytest.param(make, id=name, marks=pytest.mark.slow if name == "interleaved" else ())
    for name, make in RECORDS.items()
]


@pytest.fixture(params=EVERY_RECORD)
def inference(request) -> Inference:
    problem = build_problem(request.param(), Model(KNOWN_LEVEL, estimate=("t_scale", "y_scale")))
    return Inference(_uncertain_everywhere(problem), components=3, max_steps=50)


def somewhere(inference: Inference, seed: int = 0):
    """Means, variances and parameters of some Q."""
    rng = np.random.default_rng(seed)
    m = np.array([inference._start(rng) for _ in range(inference.K)])
    v = 0.02 * rng.uniform(0.5, 2.0, m.shape)
    phi = inference.problem.start + 0.3 * rng.standard_normal(len(inference.problem.start))
    return m, v, phi


def slopes(function, at: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """Gradient of a scalar function by central differences."""
    found = np.empty(at.shape)
    for i in np.ndindex(at.shape):
        up, down = at.copy(), at.copy()
        up[i] += step
        down[i] -= step
        found[i] = (function(up) - function(down)) / (2.0 * step)
    return found


def close(found, expected, rtol=1e-5):
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol * np.abs(expected).max())


def test_expected_dates_are_those_of_monte_carlo(inference):
    m, v, _ = somewhere(inference)
    plan, rows = inference.plan, inference.target.rows
    found, total = expected_dates.py_func(plan, rows, m[0], v[0], 1.3, np.zeros(inference.n), np.zeros(inference.n))
    assert found == pytest.approx(-0.5 * total / 1.3**2)
    rng, tau = np.random.default_rng(1), rows.t.copy()
    uncertain = rows.t_var > 0
    drawn = np.empty(20_000)
    for k in range(len(drawn)):
        to_inputs(plan, m[0] + np.sqrt(v[0]) * rng.standard_normal(inference.n), tau)
        drawn[k] = ((tau - rows.t)[uncertain] ** 2 / rows.t_var[uncertain]).sum()
    assert abs(drawn.mean() - total) < 5.0 * drawn.std() / math.sqrt(len(drawn))


def test_gradients_of_the_first_order_objective(inference):
    m, v, phi = somewhere(inference)
    d_m, d_phi = np.empty(m.shape), np.empty(len(phi))

    def value(m, phi):
        return inference._first_order(m, v, phi, np.empty(m.shape), np.empty(len(phi)))

    inference._first_order(m, v, phi, d_m, d_phi)
    close(d_m, slopes(lambda m: value(m, phi), m))
    close(d_phi[inference.unknown], slopes(lambda phi: value(m, phi), phi)[inference.unknown])


def test_both_engines_have_one_objective(inference):
    """Values up to a constant, gradients and curvatures."""
    dense = Inference(replace(inference.problem, engine="dense"), components=3, max_steps=50)
    values = []
    for seed in range(2):
        m, v, phi = somewhere(inference, seed)
        found = []
        for one in inference, dense:
            d_m, d_phi = np.empty(m.shape), np.empty(len(phi))
            found.append((one._first_order(m, v, phi, d_m, d_phi), d_m, d_phi[one.unknown], one._curvature(m, phi)))
        for fast, slow in zip(found[0][1:], found[1][1:], strict=True):
            close(fast, slow, 1e-6)
        values.append(found[0][0] - found[1][0])
    assert values[0] == pytest.approx(values[1], abs=1e-7)


def test_gradient_of_the_variance_part(inference):
    m, v, phi = somewhere(inference)
    curvature, d_v = inference._curvature(m, phi), np.empty(v.shape)
    plan, rows = inference.plan, inference.target.rows
    variance_part(plan, rows, m, v, curvature, 1.3, d_v)
    close(d_v, slopes(lambda v: variance_part(plan, rows, m, v, curvature, 1.3, np.empty(v.shape)), v, 1e-7), 1e-4)


def test_the_entropy_bound_and_its_gradients(rng):
    m, v = rng.normal(size=(3, 4)), rng.uniform(0.1, 2.0, (3, 4))
    d_m, d_v = np.zeros((3, 4)), np.zeros((3, 4))

    def bound(m, v):
        return entropy_bound.py_func(m, v, np.zeros(m.shape), np.zeros(v.shape))

    found = entropy_bound.py_func(m, v, d_m, d_v)
    close(d_m, slopes(lambda m: bound(m, v), m))
    close(d_v, slopes(lambda v: bound(m, v), v))
    which = rng.integers(3, size=100_000)
    x = m[which] + np.sqrt(v[which]) * rng.standard_normal((100_000, 4))
    parts = -0.5 * (((x[:, None] - m) ** 2 / v) + np.log(2.0 * np.pi * v)).sum(axis=2)
    surprise = -(logsumexp(parts, axis=1) - math.log(3.0))
    assert found <= surprise.mean() + 5.0 * surprise.std() / math.sqrt(len(surprise))
    assert surprise.mean() - found < 3.0


def test_the_entropy_bound_of_one_component_is_short_of_its_entropy_by_what_jensen_costs():
    """-log N(m; m, 2 V) instead of the entropy: ½ (1 - log 2) a dimension."""
    v = np.array([[0.5, 2.0]])
    found = entropy_bound.py_func(np.zeros((1, 2)), v, np.zeros((1, 2)), np.zeros((1, 2)))
    assert found == pytest.approx(0.5 * np.log(2.0 * np.pi * math.e * v).sum() - (1.0 - math.log(2.0)))


def test_the_curvature_is_that_of_finite_differences(inference):
    m, _, phi = somewhere(inference)
    found = inference._curvature(m, phi)
    for k in range(inference.K):
        for i in range(inference.n):

            def gradient(step, k=k, i=i):
                x, d_x = m[k].copy(), np.empty(inference.n)
                x[i] += step
                smooth_part(inference.target, inference.plan, x, phi, d_x, np.zeros(len(phi)))
                return d_x[i]

            expected = (gradient(1e-5) - gradient(-1e-5)) / 2e-5
            assert found[k, i] == pytest.approx(expected, rel=1e-4, abs=1e-4 * np.abs(found[k]).max())


def test_the_objective_rises_at_every_outer_step_of_every_restart(inference):
    for seed in np.random.SeedSequence(3).spawn(3):
        history = inference.climb(seed).history
        assert len(history) > 1
        assert (np.diff(history) >= -1e-9 * np.abs(history[:-1])).all()


def test_the_plug_in_is_the_expectation_under_q(inference):
    found = inference.climb(np.random.SeedSequence(4))
    expected = inference.expected(found)
    drawn = inference.draw(found, 4000, np.random.default_rng(0))
    error = drawn.std(axis=0) / math.sqrt(len(drawn))
    moving = error > 1e-9
    assert np.abs((drawn.mean(axis=0) - expected)[moving] / error[moving]).max() < 5.0
    np.testing.assert_allclose(drawn[:, ~moving], np.broadcast_to(expected[~moving], drawn[:, ~moving].shape))


def test_plug_in_prediction_has_one_draw_at_the_expectation():
    options = {"method": "npv", "restarts": 2, "seed": 1}
    plug, mix = lamina.fit(fits.record(), prediction="plugin", **options), lamina.fit(fits.record(), **options)
    assert plug.tau.shape == (1, 10)
    assert plug.diagnostics["objective"] == mix.diagnostics["objective"]
    inputs = mix.inputs()
    assert ((inputs["mean"] - plug.tau[0]).abs() < 5.0 * inputs["sd"] / math.sqrt(len(mix.tau))).all()
    assert (plug.curve(fits.TRUE)["sd"].to_numpy() < mix.curve(fits.TRUE)["sd"].to_numpy()).mean() > 0.5


def test_the_best_restart_wins_and_all_are_reported():
    facts = fits.posterior("npv").diagnostics
    assert len(facts["objectives"]) == 2
    assert facts["objective"] == max(facts["objectives"]) == facts["history"][-1]
    assert facts["steps"] == len(facts["history"]) - 1


def test_on_an_easy_record_the_inputs_are_those_of_mcmc():
    record = fits.record(t_sd=0.1, y_sd=0.05)
    npv, mcmc = lamina.fit(record, "npv", seed=1), lamina.fit(record, seed=1)
    one, two = npv.inputs(), mcmc.inputs()
    assert ((one["mean"] - two["mean"]).abs() < 0.7 * two["sd"]).all()
    at = np.linspace(0.5, 9.0, 20)
    assert ((npv.curve(at)["mean"] - mcmc.curve(at)["mean"]).abs() < 0.7 * mcmc.curve(at)["sd"]).all()


def test_an_exact_row_further_down_a_sequence_is_refused():
    with pytest.raises(lamina.MethodError, match=r'cannot hold an exact input inside a sequence, as in row 4 .*"mcmc"'):
        lamina.fit(with_exact_row(4), "npv")


def test_the_row_that_is_refused_is_that_of_the_user_where_rows_are_tied():
    found = with_exact_row(4)
    tied = replace(found, tie=["x", "x", *[None] * 8])
    with pytest.raises(lamina.MethodError, match="inside a sequence, as in row 4 "):
        prepare(tied, "npv")


def test_an_exact_first_row_leaves_the_others_as_uncertain_as_they_are():
    """Independent gaps can follow a pinned start: standard deviations like those of mcmc."""
    record = with_exact_row()
    found = {method: fits.quietly(record, method=method, seed=1).inputs()["sd"][1:] for method in ("npv", "mcmc")}
    assert (found["npv"] / found["mcmc"]).between(0.5, 1.5).all()


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(interleaved(), id="alone", marks=pytest.mark.slow),
        pytest.param(with_exact_row(), id="first of a sequence"),
    ],
)
def test_exact_rows_stay_exact_and_sequences_in_order(record):
    found = fits.quietly(record, "npv", seed=1, **fits.OPTIONS["npv"])
    exact = record.exact
    np.testing.assert_allclose(found.tau[:, exact], np.broadcast_to(record.t[exact], found.tau[:, exact].shape))
    assert found.record.exact.sum() == 1
    for _, rows in record.sequences:
        assert (np.diff(found.tau[:, rows], axis=1) > 0).all()


def test_scales_of_the_reported_errors_are_learnt():
    """y is three times as uncertain as reported, which shows where the curve is known to be smooth."""
    given = fits.record(t_sd=0.05, y_sd=0.1, true=np.linspace(0.0, 15.0, 30))
    record = lamina.Record(t=given.t, t_sd=0.05, y=given.y, y_sd=0.1 / 3.0)
    options = {"restarts": 2, "draws": 100, "seed": 1}
    fixed = {"length": 12.0, "sd": 2.0}
    found = fits.quietly(record, "npv", estimate="y_scale", fixed=fixed, **options)
    assert 2.0 < found.theta["y_scale"].mean() < 4.5
    both = fits.quietly(record, "npv", estimate=("t_scale", "y_scale"), fixed=fixed | {"t_scale": 1.0}, **options)
    np.testing.assert_allclose(both.theta["y_scale"], found.theta["y_scale"], rtol=1e-6)
