"""mcmc on a field agrees with a plain random walk on dense matrices, which shares no code with it but the kernels."""

import math
from dataclasses import replace

import numpy as np
import pytest

import lamina
from lamina import Constant, EachSite, Linear, Matern32, MethodError, Nearby, WhiteNoise
from lamina.field import oracle
from lamina.field.problem import as_field
from lamina.fitting import prepare
from lamina.gaps import log_prior
from lamina.methods.chains import DrawBudget
from lamina.methods.mcmc.fields.sampler import FieldChain
from lamina.methods.mcmc.fields.walks import Walk
from lamina.model.model import Model
from lamina.model.parameters import ALPHA
from lamina.model.problem import build_problem
from lamina.support.convergence import judge

EACH, SITE = 5, np.array([0] * 5 + [1] * 5 + [1, 1, 0])
T_SD = np.array([0.8] * 10 + [0.0, 0.5, 0.0])  # two cores, two exact rows, and an uncertain one without order
KERNEL = Matern32() + Matern32() * Nearby() + Linear() * Nearby() + Constant() * EachSite() + Constant() + WhiteNoise()
MEDIANS = [3.0, 1.0, 2.0, 0.5, 400.0, 0.1, 400.0, 0.3, 0.2]


def make_record(**more):
    rng = np.random.default_rng(3)
    t = np.concatenate([np.sort(rng.uniform(0.0, 10.0, EACH)), np.sort(rng.uniform(0.0, 10.0, EACH)), [2.0, 6.5, 9.0]])
    y = np.sin(t / 2.0) + 0.3 * SITE + rng.normal(0.0, 0.15, len(t))
    sequence = [0] * EACH + [1] * EACH + [None] * 3
    places = {"site": [f"site {s}" for s in SITE], "latitude": [35.0, 38.0], "longitude": [-76.0, -74.0]}
    places |= {"gia": [0.05, -0.02], "gia_sd": [0.01, 0.02]}
    return lamina.Record(t + T_SD * rng.normal(size=len(t)), T_SD, y, 0.15, sequence=sequence, **places, **more)


def make_problem(record=None, **model):
    priors = {name: (median, math.exp(0.5)) for name, median in zip(KERNEL.names, MEDIANS, strict=True)}
    return build_problem(make_record() if record is None else record, Model(KERNEL, priors=priors, **model))


def sample(problem, seed, warmup, sweeps):
    sampler = FieldChain(problem, np.random.SeedSequence(seed), DrawBudget(10, 10))
    for k in range(warmup):
        sampler.sweep(adapt=True)
        if k == warmup // 3:
            sampler.reset_adaptation()
    drawn, n = [], problem.n_kernel
    for _ in range(sweeps):
        sampler.sweep(adapt=False)
        tau, phi = sampler.now
        drawn.append(np.concatenate([tau, phi[:n], [phi[ALPHA]]]))
    return np.array(drawn), sampler


def log_posterior(problem, x):
    """Dates, gaps, priors and likelihood, each as written."""
    n, field = len(SITE), as_field(problem)
    tau, theta, log_alpha = x[:n], x[n:-1], x[-1]
    uncertain = T_SD > 0.0
    value = -0.5 * (((tau - problem.rows.t)[uncertain] / T_SD[uncertain]) ** 2).sum()
    value -= 0.5 * (((theta - np.log(MEDIANS)) / 0.5) ** 2).sum()
    value -= 0.5 * ((log_alpha - problem.prior_mean[ALPHA]) / problem.prior_sd[ALPHA]) ** 2
    for core in slice(0, EACH), slice(EACH, 2 * EACH):
        if (np.diff(tau[core]) <= 0.0).any():
            return -np.inf
        value += log_prior("gamma", tau[core], 1.0 + np.exp(log_alpha), problem.floor)[0]
    return value + oracle.log_likelihood(field.field, theta, field.data, tau)


def random_walk(problem, x, root, live, seed, steps):
    rng, value, kept = np.random.default_rng(seed), log_posterior(problem, x), []
    for k in range(steps):
        trial = x.copy()
        trial[live] += 2.38 / np.sqrt(len(root)) * rng.choice([0.2, 0.6, 1.0]) * (root @ rng.normal(size=len(root)))
        new = log_posterior(problem, trial)
        if np.log(rng.random()) < new - value:
            x, value = trial, new
        if k % 20 == 0 and k >= steps // 10:
            kept.append(x)
    return np.array(kept)


@pytest.mark.slow
def test_the_sampler_agrees_with_a_random_walk_on_dense_matrices():
    problem = make_problem()
    chains = [sample(problem, seed, 250, 1000) for seed in range(2)]
    drawn = np.array([one for one, _ in chains])
    live = np.ptp(drawn, axis=(0, 1)) > 0.0
    assert live.sum() == 11 + 9 + 1  # exact rows stay
    root = np.linalg.cholesky(np.cov(drawn[..., live].reshape(-1, live.sum()).T))
    walks = np.array([random_walk(problem, drawn[k, -1], root, live, 50 + k, 12_000) for k in range(2)])[..., live]
    drawn = drawn[..., live]
    (_, ess), (_, walk_ess) = judge(drawn), judge(walks)
    sd = walks.std(axis=(0, 1))
    error = sd * np.sqrt(1.0 / ess + 1.0 / walk_ess)
    assert (np.abs(drawn.mean(axis=(0, 1)) - walks.mean(axis=(0, 1))) < 4.5 * error).all()
    assert (np.abs(np.log(drawn.std(axis=(0, 1)) / sd)) < 4.5 * np.sqrt(0.5 / ess + 0.5 / walk_ess) + 0.05).all()
    assert all(sampler.passes[1] > 0.98 * sampler.passes[0] for _, sampler in chains)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_draws_and_the_order_is_kept():
    problem = make_problem()
    (one, _), (other, _) = sample(problem, 7, 20, 20), sample(problem, 7, 20, 20)
    np.testing.assert_array_equal(one, other)
    assert (np.diff(one[:, :EACH]) > 0.0).all()
    assert (np.diff(one[:, EACH : 2 * EACH]) > 0.0).all()


def make_chain(problem):
    return FieldChain(problem, np.random.SeedSequence(1), DrawBudget(10, 10))


@pytest.mark.slow
def test_rates_and_offsets_move_where_all_parameters_of_curves_are_fixed():
    fixed = {"length_1": 3.0, "sd_1": 1.0, "length_2": 2.0, "sd_2": 0.5, "length_km_2": 400.0, "sd_5": 0.1}
    problem = make_problem(fixed=fixed)
    drawn, sampler = sample(problem, 1, 10, 30)
    assert len(sampler.moving) == 0
    moved = np.ptp(drawn[:, len(SITE) + sampler.static], axis=0)
    assert len(moved) == 3
    assert (moved > 0.0).all()


@pytest.mark.slow
def test_inputs_stay_in_the_range_that_every_grid_reaches():
    chain = make_chain(make_problem())
    tau = chain.now[0]
    chain.range = float(tau.min()) - 0.02, float(tau.max()) + 0.02
    for _ in range(60):
        chain.sweep(adapt=False)
        tau = chain.now[0]
        assert chain.range[0] <= tau.min()
        assert tau.max() <= chain.range[1]
    assert chain.passes[1] > 0


def test_the_range_is_wider_where_rows_lie_beyond_all_dates_of_their_core():
    t_sd = T_SD.copy()
    t_sd[2:EACH] = np.inf
    problem = make_problem(replace(make_record(), t_sd=t_sd))
    chain = make_chain(problem)
    last = max(problem.rows.t.max(), chain.now[0].max())
    assert chain.range[1] == pytest.approx(last + 10.0 * problem.scale.max() + np.ptp(problem.rows.t[:EACH]))


def test_independent_proposals_stay_where_the_warm_up_found_the_posterior():
    walk, rng = Walk(np.zeros(2)), np.random.default_rng(0)
    for _ in range(2):
        for _ in range(400):
            walk.learn(np.array([5.0, -3.0]) + rng.normal(size=2))
        walk.reset()
    np.testing.assert_allclose(walk.mean, [5.0, -3.0], atol=0.3)
    walk.learn(np.array([50.0, 30.0]))  # another part of the warm-up begins afresh
    np.testing.assert_array_equal(walk.mean, [50.0, 30.0])


def test_a_field_beyond_double_precision_has_its_message(monkeypatch):
    chain = make_chain(make_problem())
    monkeypatch.setattr(chain, "_filtered", lambda phi: None)
    with pytest.raises(MethodError, match="Merge such sites"):
        chain.sweep(adapt=True)


@pytest.mark.parametrize(
    ("record", "model", "message"),
    [
        ({"limit": ["above"] + [None] * 12}, {}, "limits"),
        ({}, {"outliers": "mixture"}, "outliers"),
        ({}, {"memory": True}, "memory"),
        ({}, {"estimate": ("y_scale",)}, "scales"),
    ],
)
def test_what_a_field_cannot_do_is_refused_by_name(record, model, message):
    with pytest.raises(MethodError, match=message):
        prepare(make_record(**record), kernel=KERNEL, **model)
