"""The Woodbury updates against a fresh factorisation."""

import numpy as np
import pytest

from lamina import dense
from lamina.dense.moving import MovingInverse
from lamina.errors import KernelError
from lamina.kernels import Constant, Matern12, Matern32, Periodic, SquaredExponential

KERNELS = [
    Matern12(length=2.0),
    Matern32(length=1.5),
    SquaredExponential(length=1.2),
    Matern32(length=3.0) * Periodic(period=2.0),
]


def start(kernel, y_sd, n=30):
    rng = np.random.default_rng(2)
    tau = np.sort(rng.uniform(0.0, 10.0, n))
    return MovingInverse.start(kernel, tau, np.sin(tau) + y_sd * rng.normal(size=n), np.full(n, y_sd))


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize(("y_sd", "rtol"), [(1.0, 1e-11), (0.1, 1e-10), (1e-2, 1e-8), (1e-3, 1e-6)])
def test_a_long_series_of_moves_stays_at_the_fresh_factorisation(kernel, y_sd, rtol):
    state = start(kernel, y_sd)
    rng = np.random.default_rng(3)
    for step in range(3 * MovingInverse.REFRESH):
        row = int(rng.integers(len(state.tau)))
        move = state.propose(row, state.tau[row] + rng.normal(0.0, 0.3))
        tau = state.tau.copy()
        tau[row] = move.tau
        fresh = dense.log_likelihood(kernel, tau, state.y, state.y_sd)
        assert move.value == pytest.approx(fresh, rel=rtol, abs=rtol)
        if step % 3:
            state = state.accept(move)
            assert state.value == pytest.approx(fresh, rel=rtol, abs=rtol)
    K = kernel.covariance(np.abs(state.tau[:, None] - state.tau)) + np.diag(state.y_sd**2)
    np.testing.assert_array_equal(state.K, K)
    np.testing.assert_allclose(state.inverse @ K, np.eye(len(K)), atol=1e-11 / y_sd**2)


def test_a_proposal_changes_nothing():
    state = start(Matern32(), 0.1)
    before = state.tau.copy(), state.K.copy(), state.inverse.copy(), state.value
    state.accept(state.propose(4, 7.7))
    for old, now in zip(before, (state.tau, state.K, state.inverse, state.value), strict=True):
        np.testing.assert_array_equal(old, now)


def test_moving_nowhere_changes_nothing():
    state = start(Matern32(), 0.1)
    assert state.propose(4, state.tau[4]).value == pytest.approx(state.value, rel=1e-13)


def test_one_row_alone():
    state = MovingInverse.start(Matern32(), np.zeros(1), np.ones(1), np.ones(1))
    assert state.accept(state.propose(0, 5.0)).value == pytest.approx(state.value)


def test_the_trend_is_left_to_the_caller():
    with_trend, without = start(Matern32() + Constant(), 0.1), start(Matern32(), 0.1)
    assert with_trend.propose(3, 2.0).value == without.propose(3, 2.0).value


def test_a_matrix_that_is_not_definite_is_reported_with_a_remedy():
    with pytest.raises(KernelError, match="larger y_sd"):
        start(SquaredExponential(length=100.0), 1e-12)


def test_a_move_that_makes_two_rows_the_same_is_reported_with_a_remedy():
    tau = np.linspace(0.0, 10.0, 12)
    state = MovingInverse.start(SquaredExponential(length=1.0), tau, np.zeros(12), np.full(12, 1e-9))
    with pytest.raises(KernelError, match="larger y_sd"):
        [state.propose(5, other + 1e-9) for other in np.delete(tau, 5)]


def test_the_output_may_move_with_its_input():
    state = start(Matern32(), 0.1)
    for row in range(6):
        move = state.propose(row, state.tau[row] + 0.1, state.y[row] + 0.3)
        state = state.accept(move)
        fresh = dense.log_likelihood(Matern32(), state.tau, state.y, state.y_sd)
        assert state.value == pytest.approx(fresh, rel=1e-10)
    assert state.y[0] == pytest.approx(start(Matern32(), 0.1).y[0] + 0.3)
