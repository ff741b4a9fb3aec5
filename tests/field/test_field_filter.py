"""The parts of the filter of a field: mixed states, waiting updates, and its gains against the textbook's."""

import numpy as np
import pytest

from lamina import Constant, EachSite, Linear, Matern12, Matern32, Matern52, Nearby, WhiteNoise
from lamina.field.filter import Series, fill_gamma, new_gains, run_filter
from lamina.field.filter.mixed import add_measured, add_whitened, fill_shared, measure_mixed
from lamina.field.filter.waiting import WAITING, subtract
from lamina.field.layout import Field, Sites
from lamina.field.transition import fill_observation, fill_transition, move_columns, move_rows

SITES = Sites(np.array([35.0, 38.0, 36.0]), np.array([-76.0, -74.0, -70.0]), np.zeros(3), np.zeros(3))
KERNELS = {
    "common and nearby": Matern32(1.0, 2.0) + Matern32(0.7, 1.0) * Nearby(300.0),
    "all dimensions": Matern12(0.5, 3.0) * Nearby(400.0) + Matern52(1.0, 2.0) + Matern52(0.8, 1.5) * EachSite(),
    "no curve": WhiteNoise(0.5),
    "constants and rates": Matern12(1.0, 2.0) + Constant(0.6) * EachSite() + Linear(0.3, origin=2.0) * Nearby(500.0),
}


def make(name, n=3 * WAITING + 2):
    field, rng = Field(KERNELS[name], SITES), np.random.default_rng(5)
    time = np.sort(rng.uniform(0.0, 20.0, n))
    time[4] = time[5]
    series = Series(time, rng.integers(0, 3, n), rng.normal(size=(n, 3)), rng.uniform(0.1, 0.3, n))
    return field, field.values(field.kernel.theta), series


def textbook(field, values, series):
    """gamma (N, D), S and e of the filter of whitened states, with dense transitions and covariances."""
    layout, D, found, before = field.layout, field.size, [], series.time[0]
    U, m, A = np.zeros((D, D)), np.zeros((D, series.Z.shape[1])), np.zeros((len(values.rate), 3, 3))
    for time, s, z, var in zip(*series, strict=True):
        fill_transition(layout, values.rate, time - before, A)
        whole, h, before = np.zeros((D, D)), np.zeros(D), time
        for k, (d, r, start) in enumerate(zip(layout.dim, layout.size, layout.start, strict=True)):
            whole[start : start + d * r, start : start + d * r] = np.kron(A[k, :d, :d], np.eye(r))
            lever = time - layout.origin[k] if layout.linear[k] else 1.0
            h[start : start + r] = lever * values.mix[s, layout.first[k] : layout.first[k] + r]
        U, m = whole @ U @ whole.T, whole @ m
        gamma = h + U @ h
        S, e = h @ gamma + var, z - h @ m
        U, m = U - np.outer(gamma, gamma) / S, m + np.outer(gamma, e) / S
        found.append((gamma, S, e))
    return tuple(np.array(one) for one in zip(*found, strict=True))


def mixing(field, values):
    """C (D, D) of all states: x = C z."""
    found = np.eye(field.size)
    for k, (d, r, start) in enumerate(zip(*field.layout[:3], strict=True)):
        if r > 1:
            part = values.mix[:, field.layout.first[k] : field.layout.first[k] + r]
            found[start : start + d * r, start : start + d * r] = np.kron(np.eye(d), part)
    return found


@pytest.mark.parametrize("name", list(KERNELS))
def test_gains_are_those_of_the_textbook(name):
    field, values, series = make(name)
    gamma, S, e = textbook(field, values, series)
    gains, E, found = new_gains(len(S), field.size), np.empty((3, 3)), np.empty(gamma.shape)
    total = run_filter(field.layout, values, series, gains, E)
    fill_gamma(field.layout, values, series.time, gains, found)
    assert total == pytest.approx(np.log(S).sum(), abs=1e-11)
    np.testing.assert_allclose(gains.S, S, rtol=1e-12)
    np.testing.assert_allclose(found, gamma @ mixing(field, values).T, atol=1e-11)
    np.testing.assert_allclose(E, (e / S[:, None]).T @ e, rtol=1e-11)


def test_a_variance_that_is_not_positive_gives_nan():
    field, values, series = make("common and nearby")
    series.y_var[7] = -50.0
    assert np.isnan(run_filter(field.layout, values, series, new_gains(len(series.time), field.size), np.empty((3, 3))))


@pytest.mark.parametrize("name", list(KERNELS))
def test_mixed_states_have_the_covariance_of_the_sites(name):
    field, values, _ = make(name)
    shared = np.empty(values.mix.shape)
    fill_shared(field.layout, values.mix, shared)
    for k, r in enumerate(field.layout.size):
        part = values.mix[:, field.layout.first[k] : field.layout.first[k] + r]
        expected = part @ part.T if r > 1 else part
        np.testing.assert_allclose(shared[:, field.layout.first[k] : field.layout.first[k] + r], expected)


@pytest.mark.parametrize("name", list(KERNELS))
def test_mixed_and_dual_states_measure_the_same(name):
    field, values, _ = make(name)
    C, rng, layout = mixing(field, values), np.random.default_rng(0), field.layout
    z, r, out = rng.normal(size=field.size), rng.normal(size=field.size), np.ones(field.size)
    add_whitened(layout, values.mix, r, out)
    np.testing.assert_allclose(out, 1.0 + C.T @ r, rtol=1e-13)
    for s, time in (0, 1.0), (2, 7.0):
        h, mixed = np.zeros(field.size), np.zeros(field.size)
        fill_observation(layout, values.mix, s, time, h)
        assert measure_mixed(layout, values.mix, s, time, C @ z) == pytest.approx(h @ z, rel=1e-12)
        add_measured(layout, values.mix, s, time, 0.5, mixed)
        np.testing.assert_allclose(C.T @ mixed, 0.5 * h, atol=1e-13)


def test_waiting_updates_are_subtracted_once():
    rng, D, C = np.random.default_rng(1), 5, 3
    V, S, W, E = (
        rng.normal(size=(WAITING, D + C)),
        rng.uniform(1.0, 2.0, WAITING),
        np.zeros((D, D + C)),
        np.zeros((C, C)),
    )
    inverse, expected = 1.0 / S, -(V.T / S) @ V
    inverse[-2:], expected = 0.0, expected + (V[-2:].T / S[-2:]) @ V[-2:]
    for _ in range(2):
        subtract(V, inverse, W, E)
        np.testing.assert_allclose(W, expected[:D], atol=1e-14)
        np.testing.assert_allclose(np.tril(E), np.tril(expected[D:, D:]), atol=1e-14)


@pytest.mark.parametrize("transposed", [False, True])
def test_rows_and_columns_are_moved_alike(transposed):
    field, values, _ = make("all dimensions")
    A = np.zeros((len(values.rate), 3, 3))
    fill_transition(field.layout, values.rate, 0.7, A)
    moved = np.random.default_rng(3).normal(size=(field.size, field.size))
    turned = np.ascontiguousarray(moved.T)
    move_rows(field.layout, values.rate, A, moved, field.size, transposed)
    move_columns(field.layout, values.rate, A, turned, transposed)
    np.testing.assert_allclose(moved, turned.T, atol=1e-13)
