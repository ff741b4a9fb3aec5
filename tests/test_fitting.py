"""lamina.fit: what it refuses, what it says when it has not converged, and what it leaves alone."""

import sys
import warnings

import fits
import numpy as np
import pandas as pd
import pytest

import lamina
from lamina import fitting

RECORD = fits.record()
AT = [2.0, 6.0, 11.0]
QUICK = fits.OPTIONS["mcmc"]


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"method": ["gp"]}, lamina.MethodError, "unknown method"),
        ({"estimate": 5}, lamina.MethodError, "estimate takes 't_scale' and 'y_scale'.*got 5"),
        ({"progress": 5}, lamina.MethodError, "progress must be a function"),
        ({"method": "nuts", "target_accept": 2.0}, lamina.MethodError, "target_accept must lie between 0 and 1"),
        ({"fixed": {"length": 1e-300}}, lamina.MethodError, "between 1e-100 and 1e100"),
        (
            {"method": "hmc"},
            lamina.MethodError,
            "unknown method 'hmc'. Choose one of: gp, nigp, npv, mcmc, nuts, ensemble",
        ),
        ({"chain": 2}, lamina.MethodError, "no option 'chain'; it has: chains, draws, warmup, max_sweeps, cores"),
        ({"method": "gp", "chains": 2}, lamina.MethodError, 'method="gp" has no option .chains.; it has: starts'),
        ({"chains": 0}, lamina.MethodError, "chains must be a whole number of at least 1, got 0"),
        ({"draws": 10.5}, lamina.MethodError, "draws must be a whole number"),
        ({"seed": -1}, lamina.MethodError, "seed must be a whole number of at least 0, got -1"),
        ({"seed": "today"}, lamina.MethodError, "seed must be"),
        ({"engine": "fast"}, lamina.MethodError, "engine must be one of auto, markov, dense, got .fast."),
        ({"engine": "markov", "kernel": lamina.Periodic()}, lamina.KernelError, 'Use engine="dense"'),
        ({"kernel": lamina.Matern32}, lamina.KernelError, "kernel must be a kernel such as lamina.Matern32()"),
        ({"kernel": 0}, lamina.KernelError, "kernel must be"),
        ({"method": "nigp", "kernel": lamina.Matern12()}, lamina.MethodError, "use Matern32 or Matern52"),
        ({"method": "npv", "prediction": "best"}, lamina.MethodError, 'prediction must be "mixture" or "plugin"'),
        (
            {"method": "npv", "covariance": "full"},
            lamina.MethodError,
            'covariance must be "diagonal" or "isotropic", got .full.',
        ),
        ({"method": "npv", "covariance": np.eye(3)}, lamina.MethodError, 'covariance must be "diagonal" or'),
        ({"gaps": "poisson"}, lamina.MethodError, "unknown gap prior 'poisson'. Choose one of: uniform"),
        ({"mean": "quadratic"}, lamina.MethodError, "mean must be one of constant, linear, zero"),
        ({"mean": "linear", "kernel": lamina.Matern32() + lamina.Constant()}, lamina.MethodError, "the trend once"),
        ({"estimate": "sd_scale"}, lamina.MethodError, "estimate takes 't_scale' and 'y_scale', got 'sd_scale'"),
        ({"method": "gp", "estimate": "t_scale"}, lamina.MethodError, "cannot estimate t_scale; npv, mcmc, nuts can"),
        (
            {"priors": {"lenght": (1, 2)}},
            lamina.MethodError,
            "no unknown parameter 'lenght' here; there are: length, sd",
        ),
        ({"priors": {"length": 3.0}}, lamina.MethodError, r"length takes \(median, factor\)"),
        ({"priors": {"length": (3.0, 0.5)}}, lamina.MethodError, "a factor above 1"),
        ({"priors": {"alpha": (0.5, 2.0)}}, lamina.MethodError, "alpha must be above 1 in a record without depths"),
        ({"priors": ["length"]}, lamina.MethodError, "priors must be a dict"),
        ({"fixed": 3.0}, lamina.MethodError, "fixed must be a dict"),
        ({"fixed": {"length": -2.0}}, lamina.MethodError, "length must be a positive number.*got -2"),
        ({"fixed": {"length": "long"}}, lamina.MethodError, "length must be a positive number.*got 'long'"),
        ({"fixed": {"alpha": 1.0}}, lamina.MethodError, "alpha must be above 1 in a record without depths"),
        ({"fixed": {"t_scale": 2.0}}, lamina.MethodError, "no unknown parameter 't_scale'"),
        ({"method": "gp", "fixed": {"alpha": 2.0}}, lamina.MethodError, "no unknown parameter 'alpha'"),
        ({"memory": 3.0}, lamina.MethodError, "memory is True or False, got 3.0; its prior goes into priors="),
        ({"memory": True, "gaps": "uniform"}, lamina.MethodError, 'memory between gaps needs gaps="gamma"'),
        ({"memory": np.ones(2)}, lamina.MethodError, "memory is True or False"),
        ({"memory": True, "method": "nuts"}, lamina.MethodError, 'method="nuts" has no memory between gaps'),
        ({"priors": {"memory": (3.0, 2.0)}}, lamina.MethodError, "no unknown parameter 'memory'"),
    ],
)
def test_what_cannot_be_fitted_is_refused_with_a_remedy(options, error, text):
    with pytest.raises(error, match=text):
        lamina.fit(RECORD, **options)


def test_record_and_model_become_a_problem_once(monkeypatch):
    """Nothing is prepared, thrown away and prepared again; a posterior and its results need no other problem."""
    built, build = [], fitting.build_problem
    monkeypatch.setattr(fitting, "build_problem", lambda *args: built.append(build(*args)) or built[-1])
    found = lamina.fit(RECORD, "gp")
    found.curve([1.0]), found.summary(), found.inputs()
    assert [one is found.problem for one in built] == [True]


def test_only_a_record_can_be_fitted():
    with pytest.raises(lamina.RecordError, match=r"fit takes a lamina.Record, got DataFrame"):
        lamina.fit(RECORD.to_frame())


def test_there_is_no_t_scale_to_estimate_where_all_inputs_are_exact():
    with pytest.raises(lamina.MethodError, match="all inputs are exact"):
        lamina.fit(fits.record(t_sd=0.0), estimate="t_scale")


@pytest.mark.parametrize("method", fits.METHODS)
def test_two_rows_are_too_few_to_estimate_the_kernel(method):
    with pytest.raises(lamina.RecordError, match=r"has 2 rows with a value, too few .* at least 3, or fix them"):
        lamina.fit(fits.record(true=fits.TRUE[:2]), method)


@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_rows_will_do_where_the_kernel_is_known(n):
    fixed = {"length": 3.0, "sd": 1.0}
    found = fits.quietly(fits.record(true=fits.TRUE[:n]), fixed=fixed, **QUICK)
    assert np.isfinite(found.curve(AT)).all(axis=None)


def test_a_missing_extra_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "nutpie", None)
    with pytest.raises(lamina.MissingExtraError, match=r'pip install "lamina\[nuts\]"'):
        lamina.fit(RECORD, "nuts")


@pytest.mark.parametrize(
    ("method", "options", "evidence"),
    [
        ("mcmc", {"warmup": 20, "max_sweeps": 20}, "worst R-hat"),
        ("mcmc", {"warmup": 1, "max_sweeps": 1}, "effective draws"),
        ("npv", {"max_steps": 1, "restarts": 1}, "steps"),
        ("nigp", {"max_steps": 2}, "last change"),
        ("nuts", {"warmup": 20, "draws": 20, "chains": 2}, "worst R-hat"),
    ],
)
def test_a_fit_that_has_not_converged_returns_with_a_warning_and_the_evidence(method, options, evidence):
    with pytest.warns(lamina.NotConverged, match=f'method="{method}" has not converged .*{evidence}'):
        found = lamina.fit(RECORD, method, **options)
    assert not found.diagnostics["converged"]
    assert not found.diagnostics["interrupted"]
    assert "NOT CONVERGED" in found.summary()
    assert np.isfinite(found.curve(AT)).all(axis=None)


@pytest.mark.parametrize("engine", ["markov", "dense"])
@pytest.mark.parametrize("stage", ["warm-up", "sampling"])
def test_an_interrupt_returns_partial_results(stage, engine):
    def interrupt(state):
        if state["stage"] == stage:
            raise KeyboardInterrupt

    with pytest.warns(lamina.NotConverged, match="interrupted"):
        found = lamina.fit(RECORD, engine=engine, progress=interrupt, warmup=20, max_sweeps=40)
    facts = found.diagnostics
    assert facts["interrupted"]
    assert not facts["converged"]
    assert facts["engine"] == engine
    assert "INTERRUPTED" in found.summary()
    assert len(found.tau) >= facts["chains"]
    assert (np.diff(found.tau, axis=1) > 0).all()
    assert np.isfinite(found.curve(AT)).all(axis=None)


@pytest.mark.parametrize("engine", ["markov", "dense"])
def test_a_fit_that_was_interrupted_and_goes_on_gives_what_one_gives_that_was_not(engine):
    limits = {"engine": engine, "chains": 2, "draws": 80, "warmup": 40, "max_sweeps": 200, "seed": 3}

    def interrupt(state):
        if state["stage"] == "sampling" and state["sweeps"] > 100:
            raise KeyboardInterrupt

    part = fits.quietly(RECORD, progress=interrupt, **limits)
    rest = fits.quietly(RECORD, checkpoint=part.checkpoint, **limits | {"max_sweeps": 400 - part.diagnostics["sweeps"]})
    whole = fits.quietly(RECORD, **limits | {"max_sweeps": 360})
    assert part.diagnostics["interrupted"]
    assert rest.diagnostics["sweeps"] == whole.diagnostics["sweeps"] == 400
    assert rest.diagnostics["thin"] == whole.diagnostics["thin"]
    assert np.array_equal(rest.tau, whole.tau)
    assert np.array_equal(rest.theta, whole.theta)


OTHERS = {
    "record": {"record": lamina.Record(t=RECORD.t, t_sd=RECORD.t_sd, y=RECORD.y + 0.01, y_sd=RECORD.y_sd)},
    "kernel": {"kernel": lamina.Matern52()},
    "gap prior": {"gaps": "exponential"},
    "chains": {"chains": 1},
    "priors": {"priors": {"length": (3.0, 2.0)}},
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS.keys())
def test_a_checkpoint_of_another_record_or_model_is_refused(other):
    same = {"record": RECORD, "chains": 2, "draws": 40, "warmup": 20, "max_sweeps": 20}
    part = fits.quietly(**same)
    with pytest.raises(lamina.MethodError, match="the checkpoint does not match this record and model"):
        lamina.fit(**same | other, checkpoint=part.checkpoint)


def test_few_draws_are_given_but_more_are_watched():
    found = lamina.fit(RECORD, draws=200)
    assert found.diagnostics["converged"]
    assert len(found.tau) == 200


def test_a_fit_in_which_all_is_known_has_converged():
    exact = lamina.Record(t=[1.0, 2.0, 4.0], t_sd=0.0, y=[1.0, 2.0, 1.0], y_sd=0.1)
    found = lamina.fit(exact, gaps="uniform", fixed={"length": 2.0, "sd": 1.0})
    assert found.diagnostics["converged"]
    assert found.curve([2.0])["mean"].item() == pytest.approx(2.0, abs=0.1)
    with pytest.raises(lamina.MethodError, match=r'no uncertain input.*method="gp"'):
        lamina.fit(exact, "npv", gaps="uniform")


def test_equal_exact_rows_next_to_each_other_are_refused_where_the_prior_cannot_have_them():
    record = lamina.Record(t=[1.0, 2.0, 2.0, 4.0], t_sd=[0.1, 0.0, 0.0, 0.1], y=[1.0, 2.0, 2.1, 1.0], y_sd=0.1)
    with pytest.raises(lamina.MethodError, match=r"gap of zero.*rows 1 and 2 .*exponential"):
        lamina.fit(record)
    assert fits.quietly(record, gaps="uniform", **QUICK).tau.shape[1] == 4


def test_a_trend_needs_two_times():
    record = lamina.Record(t=[1.0, 1.0, 1.0], t_sd=0.1, y=[1.0, 2.0, 1.0], y_sd=0.1)
    with pytest.raises(lamina.MethodError, match="a linear trend needs rows at two times"):
        lamina.fit(record, "gp", mean="linear")


@pytest.mark.parametrize("method", ["gp", "nigp"])
def test_an_interrupt_of_a_climb_keeps_the_best_so_far(method, monkeypatch):
    from scipy import optimize

    calls, minimize = [], optimize.minimize

    def interrupted(*args, **options):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return minimize(*args, **options)

    monkeypatch.setattr(optimize, "minimize", interrupted)
    with pytest.warns(lamina.NotConverged, match="interrupted"):
        found = lamina.fit(RECORD, method)
    assert found.diagnostics["interrupted"]
    assert np.isfinite(found.curve(AT)).all(axis=None)


def test_an_interrupt_of_npv_keeps_where_the_climbs_are(monkeypatch):
    from lamina.methods import npv

    def interrupted(futures):
        raise KeyboardInterrupt

    monkeypatch.setattr(npv, "wait", interrupted)
    with pytest.warns(lamina.NotConverged, match="interrupted"):
        found = lamina.fit(RECORD, "npv")
    assert found.diagnostics["interrupted"]
    assert len(found.diagnostics["objectives"]) == 5
    assert np.isfinite(found.curve(AT)).all(axis=None)


@pytest.mark.parametrize("method", ["gp", "nigp", "npv", pytest.param("mcmc", marks=pytest.mark.slow)])
def test_both_engines_find_the_same(method):
    """The paper's dense algorithms and the O(N) ones: the same answer, for the samplers within their error."""
    limits = {"chains": 2, "warmup": 300, "max_sweeps": 1500} if method == "mcmc" else {}
    fast, slow = (fits.quietly(RECORD, method=method, engine=engine, **limits) for engine in ("markov", "dense"))
    close = 0.1 if method == "mcmc" else 1e-3
    assert slow.curve(AT)["mean"].to_numpy() == pytest.approx(fast.curve(AT)["mean"].to_numpy(), abs=close)
    assert slow.inputs()["mean"].to_numpy() == pytest.approx(fast.inputs()["mean"].to_numpy(), abs=close)


def test_progress_is_told_what_is_going_on():
    states = []
    found = fits.quietly(RECORD, progress=states.append, **QUICK)
    stages = [state["stage"] for state in states if state["stage"] != "compiling"]
    assert stages == sorted(stages, reverse=True)
    assert states[-1]["sweeps"] == found.diagnostics["sweeps"] == 400


@pytest.mark.parametrize("method", fits.METHODS)
def test_the_same_seed_gives_the_same_result_on_one_core_and_on_two(method):
    options = dict(fits.OPTIONS[method])
    if method in ("mcmc", "npv", "nuts"):
        options["cores"] = 1
    found = fits.quietly(RECORD, method, seed=1, **options)
    pd.testing.assert_frame_equal(found.theta, fits.posterior(method).theta)
    np.testing.assert_array_equal(found.tau, fits.posterior(method).tau)
    if method in ("mcmc", "npv", "nuts"):
        other = fits.quietly(RECORD, method, seed=2, **options)
        assert not np.array_equal(other.tau, found.tau)


@pytest.mark.parametrize("method", fits.METHODS)
def test_known_parameters_stay_as_they_are(method):
    found = fits.quietly(RECORD, method, fixed={"length": 2.5}, **fits.OPTIONS[method])
    assert "length" not in found.theta.columns
    np.testing.assert_array_equal(found.draws.phi[:, 0], np.log(2.5))
    assert found.theta["sd"].notna().all()


@pytest.mark.parametrize("method", fits.METHODS)
def test_a_prior_moves_the_answer(method):
    short = fits.quietly(RECORD, method, priors={"length": (0.5, 1.05)}, **fits.OPTIONS[method])
    long = fits.quietly(RECORD, method, priors={"length": (20.0, 1.05)}, **fits.OPTIONS[method])
    assert short.theta["length"].mean() == pytest.approx(0.5, rel=0.1)
    assert long.theta["length"].mean() == pytest.approx(20.0, rel=0.1)


@pytest.mark.parametrize("method", ["gp", "nigp", "npv", "mcmc"])
def test_a_higher_level_changes_the_level_only(method):
    low = fits.posterior(method)
    record = lamina.Record(t=RECORD.t, t_sd=RECORD.t_sd, y=RECORD.y + 1000.0, y_sd=RECORD.y_sd)
    high = fits.quietly(record, method, seed=1, **fits.OPTIONS[method])
    if method == "mcmc":  # a rounding error may decide a proposal, and then chains part: compare in standard errors
        np.testing.assert_allclose(high.curve(AT)["mean"] - 1000.0, low.curve(AT)["mean"], atol=0.3)
    else:
        np.testing.assert_allclose(high.curve(AT)["mean"] - 1000.0, low.curve(AT)["mean"], rtol=1e-3)
        np.testing.assert_allclose(high.theta, low.theta, rtol=1e-2)


@pytest.mark.parametrize("method", fits.METHODS)
def test_three_rows_and_constant_rows_will_do(method):
    three = fits.quietly(fits.record(true=fits.TRUE[:3]), method, **fits.OPTIONS[method])
    assert np.isfinite(three.curve(AT)).all(axis=None)
    level = lamina.Record(t=fits.TRUE, t_sd=0.3, y=np.full(10, 7.0), y_sd=0.1)
    flat = fits.quietly(level, method, **fits.OPTIONS[method])
    np.testing.assert_allclose(flat.curve([2.0, 6.0])["mean"], 7.0, atol=0.05)


def test_one_date_for_all_rows_will_do():
    record = lamina.Record(t=np.full(5, 100.0), t_sd=2.0, y=[0.0, 1.0, 2.0, 3.0, 4.0], y_sd=0.5)
    found = fits.quietly(record, **QUICK)
    assert (np.diff(found.inputs()["mean"]) > 0).all()


def test_a_converged_fit_gives_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = lamina.fit(RECORD, seed=0)
    facts = found.diagnostics
    assert facts["converged"]
    assert facts["r_hat"] <= 1.01
    assert facts["ess"] >= 400.0
    assert set(facts["r_hat_theta"]) == {"length", "sd", "alpha"}
    assert facts["ess_inputs"].shape == (10,)
    inputs = found.inputs()
    assert ((inputs["mean"] - fits.TRUE).abs() < 4.0 * inputs["sd"]).all()
    curve = found.curve(fits.TRUE)
    assert ((curve["mean"] - fits.truth(fits.TRUE)).abs() < 4.0 * curve["sd"]).all()


def test_every_method_is_known_by_its_name():
    assert tuple(fitting.METHODS) == (*fits.METHODS, "ensemble")


def test_a_known_memory_that_exact_inputs_contradict_is_refused():
    """A pace that falls a hundredfold at once, where it should last for a hundred rows."""
    record = lamina.Record(t=[0.0, 50.0, 100.0, 101.0, 102.0, 103.0], t_sd=0.0, y=np.arange(6.0), y_sd=0.1)
    with pytest.raises(lamina.MethodError, match="falls too fast for a memory of this length"):
        lamina.fit(record, memory=True, fixed={"memory": 100.0}, **QUICK)


@pytest.mark.slow
def test_a_known_memory_begins_at_an_even_pace_between_exact_inputs():
    """Where the dates, pushed on one after the other, would pass the last row."""
    record = lamina.Record(t=[0, 90, 92, 94, 96, 100], t_sd=[0, 9, 9, 9, 9, 0], y=np.arange(6.0), y_sd=1.0)
    found = fits.quietly(record, memory=True, fixed={"memory": 10.0}, **QUICK)
    pace = np.diff(found.tau, axis=1)
    assert (pace[:, 1:] > np.exp(-0.1) * pace[:, :-1]).all()


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["markov", "dense"])
def test_a_fit_with_memory_goes_on_from_its_checkpoint(engine):
    options = {"memory": True, "engine": engine, "chains": 2, "warmup": 20, "seed": 1}
    first = fits.quietly(fits.record(), max_sweeps=20, **options)
    second = fits.quietly(fits.record(), max_sweeps=20, checkpoint=first.checkpoint, **options)
    whole = fits.quietly(fits.record(), max_sweeps=40, **options)
    np.testing.assert_array_equal(second.tau, whole.tau)


@pytest.mark.slow
def test_a_known_memory_finds_its_way_from_uneven_dates():
    true = np.cumsum([5.0, 4.8, 5.1, 0.3, 0.2, 5.0, 4.9, 5.0])
    record = lamina.Record(t=true, t_sd=1.0, y=np.sin(true / 8.0), y_sd=0.1)
    found = fits.quietly(record, memory=True, fixed={"memory": 5.0}, **QUICK)
    pace = np.diff(found.tau, axis=1)
    assert (pace[:, 1:] > np.exp(-1.0 / 5.0) * pace[:, :-1]).all()
