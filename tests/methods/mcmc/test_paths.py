"""Paths through innovations, alpha and memory: coordinates and back, their density, its gradient, masses and steps."""

import math

import numpy as np
import pytest
from numba import njit

from lamina import Matern32, Record
from lamina.gaps.pace import innovation_after, set_carry
from lamina.gaps.scores import score_at
from lamina.methods import mcmc
from lamina.methods.mcmc.paths.metric import draw_momenta, set_velocities
from lamina.methods.mcmc.paths.path import follow
from lamina.methods.mcmc.paths.places import (
    GRADIENT,
    MOMENTUM,
    PLACE,
    PRECISION,
    REACH,
    ROOT,
    VELOCITY,
    begin,
    log_density_at,
    memory_at,
    place_of_memory,
)
from lamina.methods.target import log_density
from lamina.model.model import Model
from lamina.model.problem import build_problem

N = 8
FIELDS = {
    "one sequence": {},
    "a hiatus and a minimum gap": {"hiatus": np.arange(N) == 4, "least_gap": np.where(np.arange(N) == 2, 0.1, 0.0)},
    "two sequences and a row alone": {"sequence": ["a", "b", "a", None, "a", "b", "b", "a"]},
    "decreasing": {"decreasing": True},
}


def build(fields):
    """Uneven depths, with dates of all kinds of precision, and one row without a date."""
    rng = np.random.default_rng(3)
    depth = np.cumsum(rng.uniform(0.1, 1.0, N))
    t = depth + 0.3 * rng.standard_normal(N)
    fields = dict(fields)
    if fields.pop("decreasing", False):
        t = -t
    t_sd = rng.uniform(0.1, 0.5, N)
    record = Record(t, t_sd, np.nan, np.inf, depth=depth, **fields)
    return build_problem(record, Model(Matern32(), memory=True))


@njit(cache=True)
def _begin(target, tau, phi, paths, rng):
    return begin(target, tau, phi, paths, rng)


@njit(cache=True)
def _density(target, tau, phi, paths, trial):
    return log_density_at(target, tau, phi, paths, trial)


@njit(cache=True)
def _draw(target, n, paths, rng):
    draw_momenta(target, n, paths, rng)


@njit(cache=True)
def _velocities(rows, n, paths):
    return set_velocities(rows, n, paths)


@njit(cache=True)
def _follow(target, state, value, step, leaps):
    return follow(target, state, value, step, leaps)


@njit(cache=True)
def _score_at(z, a):
    return score_at(z, a)


@njit(cache=True)
def _memory(y, median):
    return memory_at(y, median)


@njit(cache=True)
def _place_of_memory(log_memory, median):
    return place_of_memory(log_memory, median)


@njit(cache=True)
def _innovations(rows, tau, memory, out):
    set_carry(rows, memory)
    for r in range(len(tau)):
        if rows.after[r] >= 0:
            out[r] = innovation_after(rows, tau, r)


def begin_at(chain):
    """Write the coordinates of the state of a chain; returns the innovations."""
    state, out = chain.state, np.full(N, np.inf)
    _innovations(chain.target.rows, state.tau, math.exp(state.phi[-4]), out)
    if (out > 0.0).all():
        assert _begin(chain.target, state.tau, state.phi, state.paths, chain.rng)
    return out


def chain_at(problem, seed=0):
    """A chain at a place where all innovations are positive, and memory is long enough to matter."""
    rng = np.random.default_rng(seed)
    chain = mcmc.MarkovChain(problem, np.random.SeedSequence(seed), mcmc.draw_budget(problem, 100, 1))
    state, target = chain.state, chain.target
    assert target.needs.paths
    state.phi[-4], state.phi[-3] = math.log(0.7), math.log(0.8)
    rows, tau = target.rows, state.tau
    carry = np.minimum(np.exp(-rows.lag / 0.7), 1.0 - 1e-9)
    for first in np.flatnonzero((rows.sequence >= 0) & (rows.before < 0)):
        tau[first], k, pace = problem.rows.t[first], first, 0.0
        while rows.after[k] >= 0:
            pace = carry[k] * pace + (1.0 - carry[k]) * rng.gamma(1.5)
            tau[rows.after[k]] = tau[k] + rows.least[k] + rows.unit[k] * pace
            k = rows.after[k]
    state.order[:] = np.argsort(tau, kind="stable")
    assert (begin_at(chain) > 0.0).all()
    return chain


def density(chain):
    state = chain.state
    return _density(chain.target, state.tau, state.phi, state.paths, state.trial)


@pytest.mark.parametrize("fields", FIELDS.values(), ids=FIELDS)
def test_coordinates_lead_back_to_the_inputs(fields):
    chain = chain_at(build(fields))
    density(chain)
    np.testing.assert_allclose(chain.state.trial, chain.state.tau, atol=1e-9)


@pytest.mark.parametrize("fields", FIELDS.values(), ids=FIELDS)
def test_gradient_against_finite_differences(fields):
    chain = chain_at(build(fields))
    paths, step = chain.state.paths, 1e-5
    density(chain)
    gradient = paths[GRADIENT].copy()
    for i in range(paths.shape[1]):
        place, values = paths[PLACE, i], []
        for moved in (place + step, place - step):
            paths[PLACE, i] = moved
            values.append(density(chain))
        paths[PLACE, i] = place
        assert gradient[i] == pytest.approx((values[0] - values[1]) / (2.0 * step), rel=1e-5, abs=1e-5)


def jacobian(chain):
    """log |det| of the inputs, log G and parameters in the coordinates, for one sequence."""
    state = chain.state
    paths, step, columns = state.paths, 1e-6, []
    n, memory_column = len(state.tau), paths.shape[1] - 2
    free = [*range(n), n, memory_column, memory_column + 1]
    for i in free:
        place, ends = paths[PLACE, i], []
        for moved in (place + step, place - step):
            paths[PLACE, i] = moved
            density(chain)
            memory = _memory(paths[PLACE, memory_column], chain.target.prior_mean[-4])[0]
            ends.append(np.concatenate([state.trial, _log_sum(chain), [memory, paths[PLACE, memory_column + 1]]]))
        paths[PLACE, i] = place
        columns.append((ends[0] - ends[1]) / (2.0 * step))
    density(chain)
    return np.linalg.slogdet(np.array(columns))[1]


def _log_sum(chain):
    """log G: the sum of all F, of which the coordinates have the scores."""
    rows, paths = chain.target.rows, chain.state.paths
    alpha = math.exp(paths[PLACE, -1])
    gaps = np.flatnonzero(rows.after >= 0)
    values = [_score_at(paths[PLACE, r], alpha * rows.unit[r]) for r in gaps]
    return [math.log(sum(math.exp(one.log_f) for one in values))]


def discrepancy(seed, wrong=0.0):
    """log-density in the coordinates, less that of the inputs, the Jacobian, and the density of G: a constant."""
    chain = chain_at(build({}), seed)
    state, target = chain.state, chain.target
    state.phi[-4], state.phi[-3] = np.random.default_rng(seed).normal([-0.5, 0.3], 0.3)
    rows, n = target.rows, len(state.tau)
    if not (begin_at(chain) > 0.0).all():
        return None
    value = density(chain)
    inputs = log_density(target, state.tau, state.phi, np.empty(n), np.empty(len(state.phi)))
    (log_g,) = _log_sum(chain)
    whole = math.exp(state.phi[-3]) * rows.gaps[0]
    of_g = whole * log_g - math.exp(log_g) - math.lgamma(whole)
    return value - inputs - of_g - (1.0 + wrong) * jacobian(chain)


def test_the_density_in_the_coordinates_is_that_of_the_inputs_with_the_jacobian():
    found = [one for one in map(discrepancy, range(12)) if one is not None]
    assert len(found) >= 4
    np.testing.assert_allclose(found, found[0], atol=2e-5)
    wrong = [one for one in (discrepancy(seed, wrong=1.0 / N) for seed in range(12)) if one is not None]
    assert np.ptp(wrong) > 0.1, "a wrong exponent of the Jacobian goes unnoticed"


@pytest.mark.parametrize("log_memory", [-12.0, -1.0, 0.5, 4.0])
def test_memory_has_a_coordinate(log_memory):
    y = _place_of_memory(log_memory, 0.2)
    found, slope, log_slope, curve = _memory(y, 0.2)
    assert found == pytest.approx(log_memory, abs=1e-9)
    ends = _memory(y + 1e-5, 0.2), _memory(y - 1e-5, 0.2)
    assert slope == pytest.approx((ends[0][0] - ends[1][0]) / 2e-5, rel=1e-6)
    assert log_slope == pytest.approx(math.log(slope))
    assert curve == pytest.approx((ends[0][2] - ends[1][2]) / 2e-5, abs=1e-6)


def masses(chain):
    """M, Eq. (103), of the only sequence, written out, and the columns of its coordinates."""
    rows, paths, n = chain.target.rows, chain.state.paths, len(chain.state.tau)
    order = [int(np.flatnonzero(rows.before < 0)[0])]
    while rows.after[order[-1]] >= 0:
        order.append(int(rows.after[order[-1]]))
    reach = np.concatenate([[1.0], paths[REACH, order[:-1]]])
    rises = np.tril(np.ones((n, n))) * reach
    prior = np.diag(np.concatenate([[0.0], paths[ROOT, order[:-1]] ** 2]))
    return prior + rises.T @ (paths[PRECISION, order][:, None] * rises), [order[-1], *order[:-1]]


def test_velocities_and_momenta_are_those_of_the_masses():
    chain = chain_at(build({}))
    paths, n = chain.state.paths, len(chain.state.tau)
    M, columns = masses(chain)
    paths[MOMENTUM] = np.random.default_rng(1).standard_normal(paths.shape[1])
    energy = _velocities(chain.target.rows, n, paths)
    np.testing.assert_allclose(paths[VELOCITY, columns], np.linalg.solve(M, paths[MOMENTUM, columns]), rtol=1e-8)
    assert energy == pytest.approx(0.5 * paths[MOMENTUM] @ paths[VELOCITY])
    size, drawn = 20_000, []
    for _ in range(size):
        _draw(chain.target, n, paths, chain.rng)
        drawn.append(paths[MOMENTUM, columns].copy())
    sd = np.sqrt(np.diag(M))
    np.testing.assert_allclose(np.cov(np.array(drawn).T) / np.outer(sd, sd), M / np.outer(sd, sd), atol=0.04)


def test_a_path_leads_back_and_keeps_its_energy():
    chain = chain_at(build({}))
    state, n = chain.state, len(chain.state.tau)
    paths, begun, lost = state.paths, state.paths[PLACE].copy(), []
    _draw(chain.target, n, paths, chain.rng)
    momenta = paths[MOMENTUM].copy()
    for step in (0.01, 0.005):
        paths[PLACE], paths[MOMENTUM] = begun, momenta
        value = density(chain)
        old = value - _velocities(chain.target.rows, n, paths)
        value, energy = _follow(chain.target, state, value, step, round(0.2 / step))
        lost.append(abs(value - energy - old))
        assert np.abs(paths[PLACE] - begun).max() > 0.05
        paths[MOMENTUM] *= -1.0
        _follow(chain.target, state, density(chain), step, round(0.2 / step))
        np.testing.assert_allclose(paths[PLACE], begun, atol=1e-8)
    assert 3.0 < lost[0] / lost[1] < 5.0, "the error of a leapfrog step is of third order, that of a path of second"


def test_a_chain_that_continues_makes_the_draws_of_one_that_was_not_interrupted():
    chain, other = (chain_at(build({}), seed=7) for _ in range(2))
    chain.advance(20, 1, False)
    kept = {name: values.copy() for name, values in chain.snapshot().items()}
    generator = chain.rng.bit_generator.state
    chain.advance(20, 1, False)
    other.restore(kept)
    other.rng.bit_generator.state = generator
    other.advance(20, 1, False)
    assert (np.diff(chain.phi[20:40, -4]) != 0.0).any()
    np.testing.assert_array_equal(other.phi[:20], chain.phi[20:40])


@pytest.mark.parametrize(
    "fields", [{"y": np.arange(float(N)), "y_sd": 0.1}, {"t_sd": np.where(np.arange(N) == 0, 0.0, 0.3)}]
)
def test_other_records_have_no_paths(fields):
    record = Record(
        **{"t": np.arange(float(N)), "t_sd": 0.3, "y": np.nan, "y_sd": np.inf, "depth": np.arange(N)} | fields
    )
    problem = build_problem(record, Model(Matern32(), memory=True))
    chain = mcmc.MarkovChain(problem, np.random.SeedSequence(0), mcmc.draw_budget(problem, 100, 1))
    assert chain.target.needs.paths is None
    assert chain.state.paths.size == 0
