"""Layers without a date and a value are drawn given the others, and change nothing."""

import math
from dataclasses import replace

import numpy as np
import pytest

import lamina
from lamina.fitting import prepare
from lamina.methods.mcmc import run
from lamina.model.bridge import divide, fill, informative
from lamina.model.model import Model
from lamina.model.parameters import ALPHA
from lamina.model.problem import build_problem


def core(n=12, seed=0):
    rng = np.random.default_rng(seed)
    depth = np.sort(rng.uniform(0.0, 100.0, n))
    t = np.cumsum(rng.gamma(0.4 * np.diff(depth, prepend=0.0), 25.0))
    return lamina.Record(t + rng.normal(0.0, 30.0, n), 30.0, np.nan, np.inf, depth=depth)


def with_layers(record, depths):
    """The record with rows at these depths that have neither date nor value."""
    depth = np.concatenate([record.depth, depths])
    order, old = np.argsort(depth), len(record)
    t, t_sd = (
        np.concatenate([one, np.full(len(depths), empty)]) for one, empty in ((record.t, np.nan), (record.t_sd, np.inf))
    )
    assert len(order) == old + len(depths)
    nothing = {"y": np.full(len(order), np.nan), "y_sd": np.full(len(order), np.inf)}
    return replace(record, t=t[order], t_sd=t_sd[order], depth=depth[order], **nothing)


def problem_of(record, **model):
    return build_problem(record, Model(**model))


def test_a_gap_is_divided_by_a_dirichlet_distribution():
    problem, unit = problem_of(core()), np.array([0.2, 0.5, 1.3])
    phi = np.tile(problem.start, (200_000, 1))
    phi[:, ALPHA] = math.log(1.5)
    shares = divide(problem, phi, unit, 2.0, np.random.default_rng(1))
    a, whole = 1.5 * unit, 1.5 * unit.sum()
    part = np.cumsum(a)[:-1] / whole
    np.testing.assert_allclose(shares.mean(axis=0), part, atol=4e-3)
    np.testing.assert_allclose(shares.var(axis=0), part * (1.0 - part) / (whole + 1.0), rtol=0.02)


def test_memory_makes_the_division_more_even():
    phi = np.tile(problem_of(core(), memory=True).start, (20_000, 1))
    spread = [
        divide(problem_of(core(), memory=memory), phi, np.ones(2), 2.0, np.random.default_rng(1)).std()
        for memory in (False, True)
    ]
    assert spread[1] < 0.95 * spread[0]


def test_rows_that_matter_are_kept():
    record = with_layers(core(), [40.0, 41.0, 60.0])
    empty = ~record.dated
    np.testing.assert_array_equal(informative(problem_of(record)), ~empty)
    hiatus = replace(record, hiatus=record.depth == 40.0)
    np.testing.assert_array_equal(informative(problem_of(hiatus)), ~empty | np.isin(record.depth, [40.0, 41.0]))
    assert informative(problem_of(replace(record, depth=None))).all()


def test_layers_lie_between_their_neighbours_and_keep_minimum_gaps():
    record = replace(with_layers(core(), [40.0, 41.0, 60.0]), least_gap=2.0)
    problem = problem_of(record)
    keep = informative(problem)
    t = np.sort(problem.rows.t[keep]) + 20.0 * np.arange(keep.sum())
    filled = fill(problem, keep, np.tile(t, (500, 1)), np.tile(problem.start, (500, 1)), 0)
    assert (np.diff(filled, axis=1) >= 2.0 - 1e-9).all()


@pytest.mark.parametrize("memory", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_neither_steps_nor_empty_layers_change_anything(memory):
    record, at = core(), np.linspace(5.0, 95.0, 9)
    at = at[(at > record.depth[0]) & (at < record.depth[-1])]
    finer = with_layers(record, np.random.default_rng(3).uniform(record.depth[0], record.depth[-1], 50))
    found = [
        lamina.age_depth(one, steps=steps, memory=memory, cores=1)
        for one, steps in ((record, 20), (record, 80), (record, 320), (finer, 20))
    ]
    first = found[0].ages(at)
    width = first["q97.5"] - first["q2.5"]
    for other in found[1:]:
        np.testing.assert_array_equal(other.theta, found[0].theta)  # the chains never see the layers
        ages = other.ages(at)
        for column in "mean", "q2.5", "q97.5":
            assert (np.abs(ages[column] - first[column]) < 0.1 * width).all()
        assert np.abs(ages["mean"] - first["mean"]).mean() < 0.02 * width.mean()


def test_the_sampler_has_the_prior_of_the_process():
    # Exact ends and nothing in between: the shares of the time are Dirichlet, also with shapes far below 1.
    depth = np.array([0.0, 1.0, 1.5, 4.0, 10.0])
    t = np.array([0.0, np.nan, np.nan, np.nan, 1000.0])
    record = lamina.Record(t, np.where(np.isnan(t), np.inf, 0.0), np.nan, np.inf, depth=depth)
    problem = problem_of(record, fixed={"alpha": 2.0})
    drawn = run(problem, seed=1, draws=20_000, max_sweeps=20_000, cores=1)
    share = (drawn.tau - drawn.tau[:, :1]) / 1000.0
    part = depth[1:-1] / 10.0
    np.testing.assert_allclose(share[:, 1:-1].mean(axis=0), part, atol=0.03)
    np.testing.assert_allclose(share[:, 1:-1].var(axis=0), part * (1.0 - part) / (2.0 + 1.0), rtol=0.15)


def test_with_memory_ages_between_layers_do_not_depend_on_the_layers():
    # Dates 30 apart: no layers between them, or some whose steps have the depths asked for in their middle.
    record = lamina.Record([0.0, 600.0, 1200.0, 1800.0], 20.0, np.nan, np.inf, depth=[0.0, 30.0, 60.0, 90.0])
    options = {"fixed": {"alpha": 1.0, "memory": 10.0}, "cores": 1, "draws": 8000, "max_sweeps": 20_000}
    spread = [
        lamina.age_depth(record, steps=steps, **options).ages([15.0, 45.0, 75.0])["sd"].mean() for steps in (3, 9, 15)
    ]
    np.testing.assert_allclose(spread[1:], spread[0], rtol=0.04)


@pytest.mark.slow
def test_with_a_short_memory_the_law_hardly_depends_on_the_division():
    # Memory of an eighth of the distance of dates: steps of that distance, or eight times as many.
    def spread(step):
        depth = np.arange(0.0, 40.1, step)
        t = np.where((depth == 0.0) | (depth == 40.0), 25.0 * depth, np.nan)
        record = lamina.Record(t, np.where(np.isnan(t), np.inf, 0.0), np.nan, np.inf, depth=depth)
        problem = problem_of(record, memory=True, fixed={"alpha": 8.0, "memory": 1.25})  # alpha over 40, 2 over 10
        drawn = problem.to_user(run(problem, seed=1, draws=20_000, max_sweeps=20_000, cores=1).tau)
        return drawn[:, problem.layer[np.isin(depth, [10.0, 20.0, 30.0])]].std(axis=0)

    np.testing.assert_allclose(spread(1.25), spread(10.0), rtol=0.08)


def test_rows_of_one_depth_have_one_time():
    record = core()
    depth = record.depth.copy()
    depth[4] = depth[3]
    inputs = lamina.age_depth(replace(record, depth=depth), steps=10, cores=1).inputs()
    assert len(set(inputs["mean"][[i for i in range(len(inputs)) if inputs["t"][i] in record.t[3:5]]])) == 1


def test_fitting_leaves_empty_layers_out():
    fit = prepare(with_layers(core(), [40.0, 60.0]), "mcmc", Model())
    assert informative(fit.problem).sum() == len(core())
