"""The prior of the mean accumulation rate: its law, what it does to a fit, and when the dates contradict it."""

import math

import fits
import numpy as np
import pytest
from scipy import integrate, stats

import lamina
from lamina.methods.mcmc import run
from lamina.model.mean_prior import contradictions, mean_prior
from lamina.model.model import Model
from lamina.model.problem import build_problem

DEPTH = np.linspace(0.0, 90.0, 10)


def core(pace=20.0, t_sd=30.0):
    return lamina.Record(pace * DEPTH, t_sd, np.nan, np.inf, depth=DEPTH, depth_unit="cm", t_unit="years BP")


@pytest.mark.parametrize("factor", [1.2, 2.0, 5.0])
def test_median_and_factor_are_those_of_the_mean(factor):
    weight, floor = mean_prior({"acc_mean": (30.0, factor)}, core(), "gamma")
    rate = stats.gamma(weight, scale=1.0 / floor)
    mean = 1.0 / (10.0 * rate.ppf([0.5]))  # of steps of 10 cm, the usual one
    assert mean[0] == pytest.approx(30.0)
    drawn = np.log(rate.rvs(200_000, random_state=1))
    assert drawn.std() == pytest.approx(math.log(factor), rel=0.02)


def test_the_posterior_is_that_of_quadrature():
    # An exact top and one wide date: the age below has the density of a gamma step whose mean has its prior.
    record = lamina.Record([0.0, 1000.0], [0.0, 600.0], np.nan, np.inf, depth=[0.0, 10.0])
    model = Model(priors={"acc_mean": (30.0, 1.5)}, fixed={"alpha": 2.0})
    problem = build_problem(record, model)
    drawn = run(problem, seed=1, draws=20_000, max_sweeps=20_000, cores=1)
    age = problem.to_user(drawn.tau)[:, 1]
    weight, floor = problem.mean_prior

    def density(x):
        return x * (x + floor / 2.0) ** -(2.0 + weight) * stats.norm(x, 600.0).pdf(1000.0)

    whole, first, second = (integrate.quad(lambda x, p=p: x**p * density(x), 0.0, 6000.0)[0] for p in range(3))
    mean, sd = first / whole, math.sqrt(second / whole - (first / whole) ** 2)
    assert age.mean() == pytest.approx(mean, abs=0.05 * sd)
    assert age.std() == pytest.approx(sd, rel=0.05)


def test_mcmc_and_nuts_agree_with_a_prior_of_the_mean():
    pytest.importorskip("nutpie")
    model = {"priors": {"acc_mean": (26.0, 1.15)}}
    here, there = (
        fits.quietly(core(t_sd=300.0), method=method, draws=4000, cores=1, **model).inputs()
        for method in ("mcmc", "nuts")
    )
    assert ((here["mean"] - there["mean"]).abs() < 0.15 * there["sd"]).all()
    assert here["mean"].iloc[-1] > 20.0 * 90.0 + 30.0  # drawn towards the prior


def test_dates_that_contradict_the_prior_are_named():
    problem = build_problem(core(), Model(priors={"acc_mean": (400.0, 2.0)}))
    (text,) = contradictions(problem)
    assert "median of 400 years per cm" in text
    assert "give 20 from" in text
    assert not contradictions(build_problem(core(), Model(priors={"acc_mean": (30.0, 2.0)})))
    with pytest.warns(UserWarning, match="400 years per cm"):
        lamina.age_depth(core(), steps=10, priors={"acc_mean": (400.0, 2.0)})


def test_what_has_no_mean_is_refused():
    with pytest.raises(lamina.MethodError, match=r"acc_mean .* the record has no depths"):
        build_problem(lamina.Record([0.0, 1.0, 2.0], 0.1, [0.0, 1.0, 0.0], 1.0), Model(priors={"acc_mean": (1.0, 2.0)}))
    with pytest.raises(lamina.MethodError, match='needs gaps="gamma"'):
        build_problem(core(), Model(gaps="uniform", priors={"acc_mean": (1.0, 2.0)}))
    with pytest.raises(lamina.MethodError, match=r"integrated out.*\(20, 1.02\)"):
        build_problem(core(), Model(fixed={"acc_mean": 20.0}))
