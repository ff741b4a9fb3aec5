"""The dense chain samples the posterior of the Markov chain, and runs kernels that have no state-space form."""

import fits
import numpy as np
import pytest

import lamina
from lamina.methods.chains import DrawBudget
from lamina.methods.coordinates import make_plan, to_coordinates
from lamina.methods.mcmc.dense_chain import DenseChain
from lamina.methods.starts import starting_inputs, starting_phi
from lamina.methods.target import dense_log_density, log_density, make_target
from lamina.model.model import Model
from lamina.model.problem import build_problem
from lamina.support.convergence import mean_standard_error

TRUE = np.array([0.3, 1.1, 2.3, 2.9, 4.2, 5.0, 5.7])
T_SD = np.array([0.3, 0.5, 0.3, 0.0, 0.3, 0.4, 0.3])
INTERLEAVED = ["a", "b", "a", None, "b", "a", None]


def mixed() -> lamina.Record:
    """Two sequences, a row alone, and an exact one."""
    plain = fits.record(true=TRUE)
    t = TRUE + T_SD * np.random.default_rng(5).standard_normal(len(TRUE))
    return lamina.Record(t=t, t_sd=T_SD, y=plain.y, y_sd=plain.y_sd, sequence=INTERLEAVED)


def summaries(found: lamina.Posterior) -> tuple[np.ndarray, np.ndarray]:
    """Means of the uncertain inputs and log-parameters, and their Monte-Carlo standard errors."""
    free, uncertain = found.problem.free, ~found.record.exact
    draws = np.hstack([found.tau[:, uncertain], found.draws.phi[:, free]])
    draws = draws.reshape(found.draws.chains, -1, draws.shape[1])
    return draws.mean(axis=(0, 1)), mean_standard_error(draws)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("record", "options"),
    [
        (fits.record(true=TRUE), {}),
        (mixed(), {"estimate": ("t_scale", "y_scale"), "gaps": "exponential"}),
        (fits.record(true=TRUE), {"memory": True}),
    ],
    ids=["one sequence", "two sequences, a row alone, an exact row, both scales", "memory"],
)
def test_both_engines_sample_the_same_posterior(record, options):
    quick = fits.quietly(record, seed=1, draws=4000, **options)
    dense = fits.quietly(record, seed=2, engine="dense", chains=2, draws=2000, warmup=300, max_sweeps=1000, **options)
    assert (quick.diagnostics["engine"], dense.diagnostics["engine"]) == ("markov", "dense")
    assert set(quick.diagnostics) == set(dense.diagnostics)
    (mean, error), (dense_mean, dense_error) = summaries(quick), summaries(dense)
    assert np.abs((mean - dense_mean) / np.hypot(error, dense_error)).max() < 5.0


@pytest.mark.slow
@pytest.mark.parametrize("left_out", ["_move_gaps", "_sweep"])
def test_either_move_of_the_inputs_alone_samples_their_posterior(left_out, monkeypatch):
    """Dates and values say little here, so that a wrong factor in an acceptance ratio would show."""
    record = fits.record(t_sd=1.5, y_sd=0.7, true=TRUE[:5])
    options = {"fixed": {"length": 2.0, "sd": 1.0, "alpha": 2.0}, "draws": 4000}
    quick = lamina.fit(record, seed=1, **options)
    stay = {"_move_gaps": lambda self, tau, phi, model, here, rate: (tau, here), "_sweep": lambda self, tau, *rest: tau}
    monkeypatch.setattr(DenseChain, left_out, stay[left_out])
    dense = fits.quietly(record, seed=2, engine="dense", chains=2, warmup=300, max_sweeps=2000, **options)
    (mean, error), (dense_mean, dense_error) = summaries(quick), summaries(dense)
    assert np.abs((mean - dense_mean) / np.hypot(error, dense_error)).max() < 5.0
    sd, dense_sd = quick.inputs()["sd"], dense.inputs()["sd"]
    assert np.abs(np.log(sd / dense_sd)).max() < 0.15


@pytest.mark.slow
def test_a_squared_exponential_converges_and_covers_the_truth():
    options = {"chains": 2, "draws": 1000, "warmup": 300, "fixed": {"alpha": 4.0}}
    found = lamina.fit(fits.record(true=TRUE), kernel=lamina.SquaredExponential(), seed=1, **options)
    assert found.diagnostics["engine"] == "dense"
    assert found.diagnostics["converged"]
    assert (np.diff(found.tau, axis=1) > 0).all()
    inputs, curve = found.inputs(), found.curve(TRUE)
    assert ((inputs["mean"] - TRUE).abs() < 3.0 * inputs["sd"]).all()
    assert ((curve["mean"] - fits.truth(TRUE)).abs() < 3.0 * curve["sd"]).all()
    assert (inputs["sd"] < 1.2 * inputs["t_sd"]).all()
    assert "mcmc (dense engine) fit" in found.summary()


def test_the_same_seed_gives_the_same_draws():
    options = {"kernel": lamina.Periodic() + lamina.Constant(), "warmup": 5, "max_sweeps": 5}
    one, two, other = (fits.quietly(fits.record(), seed=seed, **options).tau for seed in (3, 3, 4))
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, other)


def chain(record, kernel, **options) -> DenseChain:
    return DenseChain(build_problem(record, Model(kernel, **options)), np.random.SeedSequence(0), DrawBudget(50, 50))


PROBLEMS = {
    "one sequence": (fits.record(), {}),
    "mixed, scales": (mixed(), {"estimate": ("t_scale", "y_scale")}),
    "linear trend": (mixed(), {"mean": "linear", "gaps": "uniform"}),
    "no trend": (fits.record(), {"mean": "zero", "gaps": "log-uniform"}),
    "decreasing": (fits.record(order="decreasing", true=TRUE[::-1]), {"mean": "linear"}),
}


#: Compiled apart, and left to ``make test-all``.
APART = ("mixed, scales", "linear trend", "decreasing")


@pytest.mark.parametrize(
    ("record", "options"),
    [pytest.param(*PROBLEMS[name], id=name, marks=pytest.mark.slow if name in APART else ()) for name in PROBLEMS],
)
def test_likelihood_and_prior_of_the_chain_are_those_of_the_target(record, options):
    """Up to a constant: differences between random states agree."""
    one = chain(record, lamina.SquaredExponential(), **options)
    problem, target, rng = one.problem, make_target(one.problem), np.random.default_rng(0)
    found, expected = [], []
    for _ in range(6):
        tau, phi = starting_inputs(problem, rng), starting_phi(problem, rng)
        found.append(one._collapse(tau, one._curve(phi)).value + one._prior(tau, phi))
        expected.append(dense_log_density(problem, target, tau, phi, np.empty(len(tau)), np.empty(len(phi))))
    np.testing.assert_allclose(np.diff(found), np.diff(expected), rtol=1e-7, atol=1e-7)


@pytest.mark.slow
def test_the_target_is_the_same_on_both_engines():
    problem = build_problem(mixed(), Model(lamina.Matern32(), estimate=("t_scale", "y_scale")))
    target, rng = make_target(problem), np.random.default_rng(0)
    markov, dense = [], []
    for _ in range(3):
        tau, phi = starting_inputs(problem, rng), starting_phi(problem, rng)
        for found, density in (
            (markov, lambda *at: log_density(target, *at)),
            (dense, lambda *at: dense_log_density(problem, target, *at)),
        ):
            d_tau, d_phi = np.empty(len(tau)), np.empty(len(phi))
            value = density(tau, phi, d_tau, d_phi)
            found.append((value, d_tau, d_phi[problem.free]))
    np.testing.assert_allclose(np.diff([v for v, *_ in markov]), np.diff([v for v, *_ in dense]), rtol=1e-8)
    for (_, *gradients), (_, *expected) in zip(markov, dense, strict=True):
        for gradient, other in zip(gradients, expected, strict=True):
            np.testing.assert_allclose(gradient, other, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(("record", "options"), PROBLEMS.values(), ids=PROBLEMS.keys())
def test_rounds_keep_the_order_and_the_exact_rows(record, options):
    one = chain(record, lamina.SquaredExponential(), **options)
    start, known = one.now[0].copy(), record.exact
    one.advance(10, 1, adapt=True)
    one.reset_adaptation()
    assert one.kept == 0
    one.advance(5, 2, adapt=False)
    assert one.kept == 5
    for tau in one.tau[:5]:
        np.testing.assert_array_equal(tau[known], one.problem.rows.t[known])
        for _, rows in record.sequences:
            assert (np.diff(tau[rows]) > 0).all()
        assert np.isfinite(to_coordinates(make_plan(one.problem), tau)).all()
    assert not np.array_equal(one.tau[4], start)
    one.halve()
    assert one.kept == 2


def test_steps_change_in_warm_up_only():
    one = chain(fits.record(), lamina.SquaredExponential())
    one.advance(5, 1, adapt=True)
    before = [step.copy() for step in one.steps]
    one.advance(5, 1, adapt=False)
    for old, now in zip(before, one.steps, strict=True):
        np.testing.assert_array_equal(old, now)


def test_a_matrix_that_cannot_be_factorised_is_a_rejected_proposal():
    """A smooth kernel and tiny errors: long lengths are out of reach of double precision."""
    record = fits.record(y_sd=1e-9)
    options = {"warmup": 30, "max_sweeps": 20, "priors": {"length": (10.0, 10.0)}}
    found = fits.quietly(record, kernel=lamina.SquaredExponential(), **options)
    assert np.isfinite(found.tau).all()
