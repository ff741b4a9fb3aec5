"""Given a path at nodes, the exact density of rows is that of dense matrices; the approximation is close to it."""

import numpy as np
import pytest

from lamina.field import chain
from lamina.field.data import make_data
from lamina.field.layout import Field, Sites
from lamina.field.transition import fill_transition
from lamina.kernels import Constant, EachSite, Linear, Matern12, Matern32, Matern52, Nearby
from lamina.methods.mcmc.fields.approximate import Measured, sum_log_rows
from lamina.methods.mcmc.fields.exact import _fill_noise, _fill_transition, log_exact
from lamina.methods.mcmc.fields.nodes import make_path, noise_covariance

pytestmark = pytest.mark.slow
SMOOTH = Matern32(3.0, 1.2) + Matern32(2.0, 0.7) * Nearby(800.0) + Linear(sd=0.3, origin=-2.0) * Nearby(500.0)
KERNELS = {
    "smooth": SMOOTH + Constant(sd=0.4) * EachSite(),
    "others": Matern12(3.0, 0.5) + Matern52(2.0) * Nearby(500.0),
}


def state_rows(field, values, time, site):
    """h (D,) of one site at a time."""
    h = np.zeros(field.size)
    for k in range(len(field.terms)):
        lever = time - field.layout.origin[k] if field.layout.linear[k] else 1.0
        here = slice(field.layout.start[k], field.layout.start[k] + field.layout.size[k])
        first = field.layout.first[k]
        h[here] = lever * values.mix[site, first : first + field.layout.size[k]]
    return h


@pytest.mark.parametrize("name", list(KERNELS))
def test_exact_density_given_a_path_is_the_ratio_of_two_joint_densities(name):
    """p(y | path) = p(y, path) / p(path), with the joint covariance of rows and states built from the transitions."""
    rng, S, N = np.random.default_rng(0), 3, 9
    field = Field(KERNELS[name], Sites(rng.uniform(30, 45, S), rng.uniform(-80, -65, S), np.zeros(S), np.zeros(S)))
    values, layout = field.values(field.kernel.theta), field.layout
    first, step, M = -1.0, 0.5, 5
    nodes = first + step * np.arange(M)
    tau, site, y = rng.uniform(-0.9, 0.9, N), rng.integers(0, S, N), rng.normal(size=N)
    y_var = rng.uniform(0.05, 0.2, N)
    times = np.concatenate([nodes, tau])

    def transition(gap):
        A, full = np.zeros((len(values.rate), 3, 3)), np.zeros((field.size, field.size))
        fill_transition(layout, values.rate, gap, A)
        for k in range(len(values.rate)):
            d, r, a = layout.dim[k], layout.size[k], layout.start[k]
            full[a : a + d * r, a : a + d * r] = np.kron(A[k, :d, :d], np.eye(r))
        return full

    def states_covariance(t, u):
        return transition(t - u) if t >= u else transition(u - t).T

    D = field.size
    maps = [np.eye(D)] * M + [state_rows(field, values, t, s)[None] for t, s in zip(tau, site, strict=True)]
    joint = np.block([[a @ states_covariance(t, u) @ b.T for b, u in zip(maps, times, strict=True)]
                      for a, t in zip(maps, times, strict=True)])  # fmt: skip
    K, n = joint, M * D
    static = np.flatnonzero(values.rate == 0.0)
    keep = np.ones(len(K), bool)  # constants and rates are the same at every node: once is enough
    for k in static:
        for node in range(1, M):
            at = node * D + layout.start[k]
            keep[at : at + layout.size[k]] = False
    K = K + np.diag(np.concatenate([np.zeros(n), y_var]))
    K, n = K[np.ix_(keep, keep)], int(keep[:n].sum())
    path_vector = np.linalg.cholesky(K[:n, :n] + 1e-12 * np.eye(n)) @ rng.standard_normal(n)
    states = np.zeros(M * D)
    states[keep[: M * D]] = path_vector
    states = states.reshape(M, D)
    for k in static:
        here = slice(layout.start[k], layout.start[k] + layout.size[k])
        states[:, here] = states[0, here]
    W = np.linalg.solve(K[:n, :n], K[:n, n:]).T
    V, e = K[n:, n:] - W @ K[:n, n:], y - W @ path_vector
    expected = -0.5 * (np.linalg.slogdet(V)[1] + e @ np.linalg.solve(V, e))
    path, bridges = make_path(field, values, states, first, step)
    data = Measured(site.astype(np.int64), y, np.zeros(N), y_var)
    assert log_exact(path, bridges, data, tau) == pytest.approx(expected, abs=1e-5)


def test_the_approximation_is_close_where_nodes_are():
    rng, S, N = np.random.default_rng(1), 3, 60
    field = Field(KERNELS["smooth"], Sites(rng.uniform(30, 45, S), rng.uniform(-80, -65, S), np.zeros(S), np.zeros(S)))
    tau, site, y = rng.uniform(-4, 4, N), rng.integers(0, S, N), rng.normal(size=N)
    made = make_data(field, tau, site, y, np.full(N, 0.2))
    found = chain.run(field, field.kernel.theta, made, tau)
    nodes = -5.0 + 0.2 * np.arange(51)
    states, _ = chain.draw(field, found, nodes, rng)
    path, bridges = make_path(field, found.values, states, -5.0, 0.2)
    data = Measured(site.astype(np.int64), y, np.zeros(N), np.full(N, 0.04))
    assert log_exact(path, bridges, data, tau) == pytest.approx(sum_log_rows(path, data, tau), abs=0.3)


@pytest.mark.parametrize("x", [0.0, 1e-4, 0.3, 0.999, 1.001, 3.0])
def test_the_noise_of_a_transition_is_that_of_its_nodes(x):
    A, row = np.zeros((3, 3)), np.zeros(3)
    for d in 1, 2, 3:
        _fill_transition(d, x, A)
        _fill_noise(d, x, A, row)
        np.testing.assert_allclose(row[:d], noise_covariance(d, x)[0], rtol=1e-12, atol=1e-15)


def test_rows_without_a_measurement_add_nothing_and_rows_beyond_the_nodes_are_impossible():
    field = Field(KERNELS["smooth"], Sites(np.array([30.0]), np.array([-70.0]), np.zeros(1), np.zeros(1)))
    values, rng = field.values(field.kernel.theta), np.random.default_rng(4)
    path, bridges = make_path(field, values, rng.normal(size=(4, field.size)), 0.0, 0.5)
    tau, y = np.array([0.1, 0.2, 0.7, 1.2, 1.3]), rng.normal(size=5)
    y_var, some = np.array([0.1, np.inf, 0.2, 0.1, 0.1]), np.array([0, 2, 3, 4])
    site, none = np.zeros(5, dtype=np.int64), np.zeros(5)
    found = log_exact(path, bridges, Measured(site, y, none, y_var), tau)
    left = log_exact(path, bridges, Measured(site[some], y[some], none[some], y_var[some]), tau[some])
    assert found == pytest.approx(left, rel=1e-13)
    assert log_exact(path, bridges, Measured(site, y, none, np.full(5, np.inf)), tau) == 0.0
    assert log_exact(path, bridges, Measured(site, y, none, y_var), tau + 0.5) == -np.inf
