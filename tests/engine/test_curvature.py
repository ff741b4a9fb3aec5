"""Second derivatives along single directions and in the gaps."""

import numpy as np
import pytest
from problems import KERNELS, PRIORS, problem

from lamina import dense, markov
from lamina.engine.curvature import along
from lamina.engine.statespace import make_process

ALL = KERNELS | PRIORS
TESTED = ["matern32", "matern12+matern52+rate"]
each_kernel = pytest.mark.parametrize("kernel", ALL.values(), ids=ALL.keys())
each_stationary = pytest.mark.parametrize("kernel", [KERNELS[name].stationary for name in TESTED], ids=TESTED)
P10 = problem(10, "even", seed=9, log_y_sd=(-1.0, 0.0))


def directions(n, rng):
    """Everything that interleaved sequences can ask for: single rows, every second row, later rows, any mixture."""
    rows = np.arange(n)
    single = np.eye(n)[:, [0, n // 2, n - 1]]
    later = (rows[:, None] > np.array([0, n // 2])).astype(float)
    every_second = ((rows % 2 == 0) & (rows > 1)).astype(float)[:, None]
    return np.hstack([single, later, every_second, rng.standard_normal((n, 2))])


def derivatives(kernel, p, tilt, direction):
    return along(make_process(kernel.blocks()), p.tau, p.y, p.y_sd**2, tilt, direction)


@each_stationary
def test_a_direction_equals_the_dense_engine(kernel, rng):
    U = directions(10, rng)
    first, second = dense.curvature(kernel, *P10, U)
    found = np.array([derivatives(kernel, P10, 0.0, u) for u in U.T])
    assert found[:, 0] == pytest.approx(first, rel=1e-8, abs=1e-8 * np.abs(first).max())
    assert found[:, 1] == pytest.approx(second, rel=1e-8, abs=1e-8 * np.abs(second).max())


@each_stationary
def test_a_direction_with_tilted_data_equals_finite_differences(kernel, rng):
    """Data that change with the time of their row, as the residuals of a linear trend do."""
    tilt, h = -0.7, 2e-4

    def value(step):
        return dense.log_likelihood(kernel, P10.tau + step, P10.y + tilt * step, P10.y_sd)

    for u in directions(10, rng).T:
        first, second = derivatives(kernel, P10, tilt, u)
        near, far = [value(k * h * u) for k in (-1, 1)], [value(k * h * u) for k in (-2, 2)]
        slope = (8.0 * (near[1] - near[0]) - (far[1] - far[0])) / (12.0 * h)
        bend = (16.0 * sum(near) - sum(far) - 30.0 * value(0.0 * u)) / (12.0 * h * h)
        assert first == pytest.approx(slope, rel=1e-7, abs=1e-6)
        assert second == pytest.approx(bend, rel=1e-4, abs=1e-4)


@each_stationary
@pytest.mark.parametrize("n", [1, 2, 10])
def test_shifting_all_rows_has_no_derivative(kernel, n):
    p = problem(n, "even", seed=9, log_y_sd=(-1.0, 0.0))
    assert derivatives(kernel, p, 0.0, np.ones(n)) == (0.0, 0.0)


@pytest.mark.parametrize("spacing", ["even", "clusters"])
def test_the_gaps_are_directions_in_which_later_rows_move(spacing):
    kernel = KERNELS["matern32"]
    p = problem(20, spacing, seed=2, log_y_sd=(-3.0, 0.0))
    gap = np.diff(p.tau)
    found = np.array([derivatives(kernel, p, 0.0, (np.arange(20) > j).astype(float)) for j in range(19)])
    expected = gap * (gap * found[:, 1] + found[:, 0])
    hessian = markov.gap_hessian_diagonal(kernel, *p)
    assert hessian == pytest.approx(expected, abs=1e-8 * np.abs(expected).max())


@each_kernel
def test_the_hessian_is_the_slope_of_the_gradient_in_the_log_gaps(kernel):
    h = 1e-3

    def gradient(log_gap, j):
        tau = P10.tau[0] + np.concatenate([[0.0], np.cumsum(np.exp(log_gap))])
        _, d_tau, _ = markov.value_and_gradient(kernel, tau, P10.y, P10.y_sd)
        return np.exp(log_gap[j]) * d_tau[j + 1 :].sum()

    log_gap = np.log(np.diff(P10.tau))
    found = markov.gap_hessian_diagonal(kernel, *P10)
    for j, step in enumerate(np.eye(9) * h):
        near = gradient(log_gap + step, j) - gradient(log_gap - step, j)
        far = gradient(log_gap + 2.0 * step, j) - gradient(log_gap - 2.0 * step, j)
        assert found[j] == pytest.approx((8.0 * near - far) / (12.0 * h), abs=1e-7 * np.abs(found).max())


def test_one_row_has_no_gap():
    p = problem(1, "even", seed=9, log_y_sd=(-1.0, 0.0))
    assert markov.gap_hessian_diagonal(KERNELS["matern32"], *p).shape == (0,)
