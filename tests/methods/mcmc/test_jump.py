"""Dates with several modes: a chain visits each of them as often as it should."""

import numpy as np
import pytest

import lamina
from lamina.dates import Radiocarbon, StudentT, Tabulated
from lamina.dates.table import has_several_modes
from lamina.methods.mcmc import run
from lamina.model.model import Model
from lamina.model.problem import build_problem

GRID = np.linspace(0.0, 1000.0, 2001)
HUMPS = 0.6 * np.exp(-0.5 * ((GRID - 250.0) / 8.0) ** 2) + 0.4 * np.exp(-0.5 * ((GRID - 550.0) / 8.0) ** 2)


@pytest.mark.parametrize("order", ["increasing", "decreasing"])
@pytest.mark.parametrize("memory", [False, True])
def test_modes_far_apart_have_their_masses(order, memory):
    # Between exact rows: the prior of the age in between is a beta distribution, whatever its date.
    depth, exact = np.array([0.0, 10.0, 40.0]), np.array([0.0, np.nan, 1000.0])
    t = exact if order == "increasing" else exact[::-1]
    record = lamina.Record(
        t, np.where(np.isnan(t), np.inf, 0.0), np.nan, np.inf, dates=[None, Tabulated(GRID, HUMPS), None], depth=depth,
        order=order,
    )  # fmt: skip
    fixed = {"alpha": 2.0} | ({"memory": 1e-3} if memory else {})  # so short that nothing is carried over
    problem = build_problem(record, Model(fixed=fixed, memory=memory))
    found = problem.to_user(run(problem, seed=1, draws=80_000, max_sweeps=20_000, cores=1).tau)
    middle = found[:, problem.layer[1]]
    first, second = 2.0 * np.diff(depth) / np.median(np.diff(depth))
    if order == "decreasing":
        first, second = second, first
    density = HUMPS * (GRID / 1000.0) ** (first - 1.0) * (1.0 - GRID / 1000.0) ** (second - 1.0)
    share = density[GRID > 400.0].sum() / density.sum()
    assert 0.05 < share < 0.95
    assert (middle > 400.0).mean() == pytest.approx(share, abs=0.03)


def test_modes_are_counted():
    assert has_several_modes(Tabulated(GRID, HUMPS).table())
    assert has_several_modes(Radiocarbon(-1020, 30, "NH1").table())  # before and after the peak
    assert not has_several_modes(StudentT(0.0, 1.0).table())
    assert not has_several_modes(Tabulated(GRID, np.exp(-0.5 * ((GRID - 300.0) / 50.0) ** 2)).table())


def test_one_date_of_post_bomb_carbon_converges():
    dates = [Radiocarbon(-1020, 30, "NH1"), *(Radiocarbon(age, 30) for age in (180, 620, 1010, 1480))]
    record = lamina.Record(None, None, np.nan, np.inf, dates=dates, depth=[2.0, 15.0, 45.0, 92.0, 140.0])
    posterior = lamina.age_depth(record, cores=1)
    assert posterior.diagnostics["converged"]
    top = posterior.tau_of(np.array([0]))[:, 0]
    assert 0.02 < (top > -25.0).mean() < 0.5  # both sides of the peak, the later one more likely
