"""What chains keep: all inputs of the draws that are wanted, a sample of the inputs of more."""

import os
import signal
import threading

import numpy as np
import pytest

import lamina
from lamina.methods import chains, mcmc, runner, words
from lamina.methods.chains import DrawBudget, draw_budget, watched_rows
from lamina.model.model import Model
from lamina.model.problem import Problem, build_problem


def record(n: int = 12) -> lamina.Record:
    t = np.arange(float(n))
    return lamina.Record(t=t, t_sd=0.3, y=np.sin(t), y_sd=0.1)


def problem() -> Problem:
    return build_problem(record(), Model(lamina.Matern32()))


class Counter(mcmc.MarkovChain):
    """A chain whose k-th draw is k in every input and parameter."""

    def advance(self, count: int, thin: int, adapt: bool) -> None:
        for _ in range(count):
            self.sweeps = getattr(self, "sweeps", 0) + thin
            one = np.full((1, len(self.problem.record)), float(self.sweeps))
            self.add(one, np.full((1, len(self.problem.start)), float(self.sweeps)))


@pytest.mark.parametrize(("whole", "most"), [(16, 32), (4, 8), (1, 2)])
def test_draws_stay_evenly_spaced_however_long_a_chain_runs(whole, most):
    chain, thin = Counter(problem(), np.random.SeedSequence(0), DrawBudget(16, whole)), 1
    for _ in range(100):
        chain.advance(1, thin, adapt=False)
        if chain.kept == 32:
            chain.halve()
            thin *= 2
        tau, phi = chain.complete["tau"], chain.complete["phi"]
        sweeps = tau[:, 0]
        assert whole <= len(tau) < most or chain.kept < whole
        np.testing.assert_array_equal(sweeps, phi[:, 0])
        np.testing.assert_array_equal(sweeps, np.arange(1, len(sweeps) + 1) * thin * chain.stride)
        np.testing.assert_array_equal(chain.watched[: chain.kept, 3], np.arange(1, chain.kept + 1) * thin)


def test_the_draws_that_are_wanted_say_how_much_is_kept():
    assert draw_budget(problem(), draws=2000, chains=4) == DrawBudget(500, 500)
    assert draw_budget(problem(), draws=40, chains=4) == DrawBudget(250, 10)
    assert draw_budget(problem(), draws=2, chains=4) == DrawBudget(250, 1)


def test_very_long_records_keep_what_has_room(monkeypatch):
    monkeypatch.setattr(chains, "MOST_BYTES", 12 * 8 * 100)
    assert draw_budget(problem(), draws=2000, chains=4) == DrawBudget(500, 25)
    with_outliers = build_problem(
        record(), Model(lamina.Matern32(), outliers="student")
    )  # three numbers where there was one
    assert draw_budget(with_outliers, draws=2000, chains=4) == DrawBudget(500, 8)


@pytest.mark.parametrize(("last", "size"), [(1e4, 4), (1e6, 8)])
def test_single_precision_is_for_records_that_it_can_tell_apart(monkeypatch, last, size):
    monkeypatch.setattr(chains, "SINGLE_PRECISION_ABOVE", 10)
    t = np.linspace(0.0, last, 12)
    built = build_problem(lamina.Record(t=t, t_sd=0.7, y=np.sin(t), y_sd=0.1), Model(lamina.Matern32()))
    chain = mcmc.MarkovChain(built, np.random.SeedSequence(0), DrawBudget(16, 16))
    assert chain.tau.itemsize == size


@pytest.mark.parametrize("draws", [2000, 40])
def test_as_many_draws_come_back_as_were_asked_for(draws):
    posterior = lamina.fit(record(), draws=draws)
    assert posterior.tau.shape == (draws, 12)
    assert posterior.diagnostics["converged"]
    assert posterior.diagnostics["ess"] >= 400


def test_the_way_to_the_posterior_does_not_shape_the_proposals():
    """Its covariance may be a thousand times that of the posterior, of which long records leave little."""
    chain = mcmc.MarkovChain(problem(), np.random.SeedSequence(0), DrawBudget(16, 16))
    chain.advance(100, 1, adapt=True)
    chain.state.covariance[:] = 100.0 * np.eye(len(chain.state.mean))
    chain.state.mean[:] += 10.0
    chain.reset_adaptation()
    chain.advance(200, 1, adapt=True)
    assert (np.diag(chain.state.covariance) < 2.0).all()


def test_an_interrupt_while_convergence_is_looked_at_leaves_no_half_of_it(monkeypatch):
    found, judge = record(), runner.judge

    def interrupted(draws):
        if draws.shape[2] > len(found):  # parameters have been looked at, inputs not yet
            monkeypatch.setattr(runner, "judge", judge)
            raise KeyboardInterrupt
        return judge(draws)

    monkeypatch.setattr(runner, "judge", interrupted)
    with pytest.warns(lamina.NotConverged, match="interrupted"):
        facts = lamina.fit(found).diagnostics
    assert list(facts["r_hat_theta"]) == list(facts["ess_theta"])
    assert facts["r_hat"] >= max(facts["r_hat_theta"].values())


@pytest.mark.parametrize("seconds", [0.002, 0.01, 0.03, 0.06, 0.1])
def test_an_interrupt_finds_the_chains_side_by_side(seconds):
    made = [mcmc.MarkovChain(problem(), seed, DrawBudget(25, 25)) for seed in np.random.SeedSequence(0).spawn(3)]
    timers = [threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))]

    def begun(state):
        while timers:
            timers.pop().start()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "R_HAT", 0.0)  # never
        patch.setattr(runner, "SECONDS_A_BATCH", 0.0)  # many small batches
        draws = runner.run_until_converged(made, warmup=20, max_sweeps=10**9, workers=2, progress=begun)
    assert draws.diagnostics["interrupted"]
    assert len({(chain.kept, chain.stride) for chain in made}) == 1


class Stub(mcmc.MarkovChain):
    """Draws that agree in all inputs and parameters. The curve and the mean of input 5 may differ in one chain."""

    curve_of = staticmethod(lambda rng, n: rng.standard_normal((n, 5)))
    mean_of_5 = 0.0
    elsewhere = None  #: the number of a parameter that this chain has elsewhere

    def advance(self, count, thin, adapt):
        if adapt:
            return
        inputs, parameters = len(self.problem.record), len(self.problem.start)
        tau, phi = self.rng.standard_normal((count, inputs)), self.rng.standard_normal((count, parameters))
        if self.elsewhere is not None:
            phi[:, self.elsewhere] += 1.0
        self.add(tau, phi)
        self.curve[self.kept - count : self.kept] = self.curve_of(self.rng, count)

    @property
    def moments(self):
        means = 0.01 * self.rng.standard_normal(len(self.problem.record))
        means[5] += self.mean_of_5
        return means, np.ones_like(means)


@pytest.fixture
def run_stubs(monkeypatch):
    """Run four stubs, the last of which gets some attributes; nothing is compiled."""
    monkeypatch.setattr(chains, "curve_means", lambda problem, tau, phi, renewed, at: np.zeros((len(tau), len(at))))
    monkeypatch.setattr(chains, "prepare", lambda *_: None)

    def run(everyone=None, **last):
        made = [Stub(problem(), seed, DrawBudget(500, 500)) for seed in np.random.SeedSequence(1).spawn(4)]
        for name, value in (everyone or {}).items():
            for chain in made:
                setattr(chain, name, value)
        for name, value in last.items():
            setattr(made[-1], name, value)
        return runner.run_until_converged(made, warmup=10, max_sweeps=1000, workers=1).diagnostics

    return run


def test_convergence_is_judged_on_the_curve(run_stubs):
    assert run_stubs()["converged"]
    facts = run_stubs(curve_of=lambda rng, n: 0.5 + rng.standard_normal((n, 5)))
    assert not facts["converged"]
    assert max(facts["r_hat_inputs"].max(), *facts["r_hat_theta"].values()) < 1.01 < facts["r_hat_curve"].min()


def test_convergence_is_judged_on_every_unknown_parameter(run_stubs):
    unknown = np.flatnonzero(problem().free)
    assert len(unknown) >= 3
    for number in unknown:
        facts = run_stubs(elsewhere=number)
        assert not facts["converged"]
        assert max(facts["r_hat_theta"].values()) > 1.05 > facts["r_hat_inputs"].max()
        assert sum(one > 1.05 for one in facts["r_hat_theta"].values()) == 1


def test_a_curve_that_is_known_does_not_hinder_convergence(run_stubs):
    facts = run_stubs({"curve_of": lambda rng, n: np.full((n, 5), 3.0)})
    assert facts["converged"]
    assert (facts["ess_curve"] == np.inf).all()


def test_a_curve_that_cannot_be_computed_is_not_judged(run_stubs):
    facts = run_stubs({"curve_of": lambda rng, n: np.full((n, 5), np.nan)})
    assert facts["converged"]
    assert np.isnan(facts["r_hat_curve"]).all()
    assert words.judged_on(facts) == "all unknowns"


def test_a_record_without_values_has_no_curve_to_watch():
    t = np.arange(12.0)
    dates = lamina.Record(t=t, t_sd=0.3, y=np.full(12, np.nan), y_sd=np.full(12, np.inf))
    assert chains.watched_times(build_problem(dates, Model(lamina.Matern32())), np.arange(12)).size == 0


def test_long_records_are_judged_on_all_inputs(run_stubs, monkeypatch):
    """Input 5 is not watched; that one chain has it elsewhere is seen in the means of the chains."""
    monkeypatch.setattr(chains, "WATCHED", 4)
    facts = run_stubs()
    assert facts["converged"]
    assert 5 not in facts["watched_rows"]
    facts = run_stubs(mean_of_5=1.0)
    assert not facts["converged"]
    assert facts["ess"] < 400 < facts["ess_inputs"].min()


def test_all_inputs_are_watched_or_an_even_sample_and_all_ends():
    n = 9000
    long = lamina.Record(
        t=np.arange(n) % 3000, t_sd=0.3, y=np.zeros(n), y_sd=0.1, sequence=np.repeat(["a", "b", "c"], 3000)
    )
    built = build_problem(long, Model(lamina.Matern32()))
    latent = np.arange(n)
    found = watched_rows(built, latent)
    assert set(found) >= {0, 2999, 3000, 5999, 6000, 8999}
    assert len(found) <= chains.WATCHED + 6
    assert np.diff(found).max() <= n // chains.WATCHED + 1
    np.testing.assert_array_equal(watched_rows(built, latent[:2000]), latent[:2000])


def test_in_warm_up_a_chain_that_has_lost_its_way_takes_the_parameters_of_another(monkeypatch):
    """Where they suit its own inputs far better, and only in long records."""
    t = np.arange(200.0)
    y = np.sin(t / 5.0)
    posed = build_problem(lamina.Record(t=t, t_sd=0.1, y=y, y_sd=0.05), Model(lamina.Matern32()))
    one, lost = (mcmc.MarkovChain(posed, np.random.SeedSequence(k), DrawBudget(4, 4)) for k in range(2))
    theta = one.target.theta
    one.state.phi[theta], lost.state.phi[theta] = np.log([8.0, 0.7]), np.log([2000.0, 0.001])
    alpha = lost.state.phi[-4:].copy()
    found = [chain.now[1].copy() for chain in (one, lost)]
    for chain in one, lost:
        chain.consider(found)
    np.testing.assert_array_equal(lost.state.phi, found[1])  # short
    monkeypatch.setattr(mcmc, "LONG", 100)
    for chain in one, lost:
        chain.consider(found)
    np.testing.assert_array_equal(one.state.phi, found[0])
    np.testing.assert_array_equal(lost.state.phi[theta], found[0][theta])
    np.testing.assert_array_equal(lost.state.phi[-4:], alpha)
    monkeypatch.setattr(mcmc, "FAR_BETTER", np.inf)
    lost.state.phi[:] = found[1]
    lost.consider(found)
    np.testing.assert_array_equal(lost.state.phi, found[1])
