"""The state-space forms are exact: A(dt) = expm(F dt), Q(dt) = P_inf - A P_inf A', at every dt."""

import mpmath
import numpy as np
import pytest
from numba import njit
from scipy.linalg import expm

from lamina.engine.statespace import blocks_at, dimensions, fill, mix, start, unmix_adjoint
from lamina.kernels import Constant, Matern12, Matern32, Matern52

SINGLE = {"12": Matern12(1.3, 0.7), "32": Matern32(0.4, 1.9), "52": Matern52(2.2, 0.8)}
KERNELS = SINGLE | {"12+32+52": SINGLE["12"] + SINGLE["32"] + SINGLE["52"], "none": Constant()}
each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())
each_single = pytest.mark.parametrize("kernel", SINGLE.values(), ids=SINGLE.keys())


@njit(cache=True)
def _system(blocks, dims, dt, mixed):
    d = len(dims)
    A, Q, P, F, noise, rate = (
        np.zeros((d, d)),
        np.zeros((d, d)),
        np.zeros((d, d)),
        np.zeros((d, d)),
        np.zeros((d, d)),
        np.zeros((d, 1)),
    )
    fill(blocks, dt, A, Q, 0)
    start(blocks, P, F, noise, rate, 0)
    if mixed:
        mix(blocks, A, Q, dims)
        mix(blocks, F, noise, dims)
        mix(blocks, np.zeros((d, d)), P, dims)
    return A, Q, P, F, noise, rate


@njit(cache=True)
def _unmixed_adjoint(blocks, A_bar, Q_bar, dims):
    unmix_adjoint(blocks, A_bar, Q_bar, dims)


@njit(cache=True)
def _blocks_at(blocks, factors, phi):
    return blocks_at(blocks, factors, phi, 0)


def system(kernel, dt=0.0, mixed=True):
    """A, Q, P_inf, F, the diffusion, and the functional of the rate."""
    blocks = kernel.blocks()
    return _system(blocks, dimensions(blocks), float(dt), mixed)


def to_total(kernel):
    """T: the first state becomes the sum of the heads of all blocks."""
    sizes = [len(dimensions((block,))) for block in kernel.blocks()]
    T = np.eye(sum(sizes))
    T[0, np.cumsum(sizes)[:-1]] = 1.0
    return T


@each_kernel
@pytest.mark.parametrize("dt", [0.0, 1e-3, 0.1, 1.0, 7.0])
def test_the_transition_is_the_matrix_exponential(kernel, dt):
    A, Q, P, F, _, _ = system(kernel, dt)
    assert expm(F * dt) == pytest.approx(A, abs=1e-13)
    assert np.abs(P - A @ P @ A.T - Q).max() < 1e-13


@each_single
def test_the_stationary_covariance_solves_the_lyapunov_equation(kernel):
    _, _, P, F, noise, _ = system(kernel)
    assert np.abs(F @ P + P @ F.T + noise).max() < 1e-13 * np.abs(F @ P).max()
    assert P[0, 0] == pytest.approx(kernel.sd**2)


@each_single
def test_transition_and_noise_keep_their_digits_from_tiny_to_long_steps(kernel):
    """Against 120 digits; Q relative to the standard deviations of its row and column, as it is of order dt^(2 nu)."""
    _, _, P, F, _, _ = system(kernel)
    d = len(F)
    for dt in kernel.length * np.logspace(-12, np.log10(50.0), 45):
        A, Q, *_ = system(kernel, dt)
        with mpmath.workdps(120):  # the entries of F / rate are whole, those of 3 P_inf / var as well
            exact_F = mpmath.matrix((F / kernel.rate).round().tolist()) * mpmath.mpf(kernel.rate)
            exact_P = mpmath.matrix((3.0 * P / kernel.sd**2).round().tolist()) * mpmath.mpf(kernel.sd * kernel.sd) / 3
            exact_A = mpmath.expm(exact_F * mpmath.mpf(float(dt)), method="taylor")
            exact_Q = exact_P - exact_A * exact_P * exact_A.T
            true_A = np.array(exact_A.tolist(), float).reshape(d, d)
            true_Q = np.array(exact_Q.tolist(), float).reshape(d, d)
        size = np.sqrt(np.diag(true_Q))
        # exp(-z) in double precision has the relative error z eps
        assert np.abs(A - true_A).max() <= 1e-15 * (4.0 + 2.0 * kernel.rate * dt) * np.abs(true_A).max()
        assert np.abs((Q - true_Q) / np.outer(size, size)).max() < 1e-12


@each_kernel
@pytest.mark.parametrize(("a", "b"), [(1e-9, 2e-9), (1e-4, 0.3), (0.7, 0.9), (2.0, 20.0)])
def test_two_steps_are_one_longer_step(kernel, a, b):
    Aa, Qa, *_ = system(kernel, a)
    Ab, Qb, *_ = system(kernel, b)
    A, Q, *_ = system(kernel, a + b)
    assert pytest.approx(Ab @ Aa, abs=1e-13) == A
    size = np.sqrt(np.where(np.diag(Q) > 0.0, np.diag(Q), 1.0))
    assert (Ab @ Qa @ Ab.T + Qb) / np.outer(size, size) == pytest.approx(Q / np.outer(size, size), abs=1e-12)


@each_single
@pytest.mark.parametrize("dt", [0.0, 0.2, 3.0])
def test_the_first_state_has_the_covariance_of_the_kernel(kernel, dt):
    A, _, P, F, _, rate = system(kernel, dt)
    assert (A @ P)[0, 0] == pytest.approx(kernel.covariance(np.array([dt]))[0], rel=1e-13)
    if kernel.differentiable:
        # f' is the rate functional: cov(f'(t + dt), f(t)) = k'(dt) and var f' = -k''(0)
        slope, bend = kernel.lag_derivatives(np.array([dt, 0.0]))
        assert (rate.T @ A @ P)[0, 0] == pytest.approx(slope[0], abs=1e-14)
        assert (rate.T @ P @ rate).item() == pytest.approx(-bend[1])
        assert np.array_equal(rate[:, 0], F[0])
    else:
        assert np.isnan(rate).all()


@pytest.mark.parametrize("dt", [1e-7, 0.6])
def test_the_basis_of_the_total_curve(dt):
    kernel = KERNELS["12+32+52"]
    T = to_total(kernel)
    T_inverse = np.linalg.inv(T)
    plain, total = system(kernel, dt, mixed=False), system(kernel, dt)
    for A, B in [(plain[0], total[0]), (plain[3], total[3])]:
        assert pytest.approx(T @ A @ T_inverse, rel=1e-14, abs=1e-16) == B
    for Q, B in [(plain[1], total[1]), (plain[2], total[2]), (plain[4], total[4])]:
        assert pytest.approx(T @ Q @ T.T, rel=1e-14, abs=1e-30) == B
    assert (total[0] @ total[2])[0, 0] == pytest.approx(kernel.covariance(np.array([dt]))[0])


def test_the_adjoint_of_the_change_of_basis(rng):
    kernel = KERNELS["12+32+52"]
    T = to_total(kernel)
    A_bar, Q_bar = rng.standard_normal((6, 6)), rng.standard_normal((6, 6))
    found_A, found_Q = A_bar.copy(), Q_bar + Q_bar.T
    _unmixed_adjoint(kernel.blocks(), found_A, found_Q, dimensions(kernel.blocks()))
    assert found_A == pytest.approx(T.T @ A_bar @ np.linalg.inv(T).T)
    assert found_Q == pytest.approx(T.T @ (Q_bar + Q_bar.T) @ T)


def test_blocks_at_other_parameters_are_those_of_the_kernel_there():
    kernel = KERNELS["12+32+52"]
    phi = np.array([0.3, -0.2, 1.1, 0.4, -0.7, 0.9])
    found = _blocks_at(kernel.blocks(), np.array([term.rate_factor for term in kernel.terms]), phi)
    wanted = kernel.with_theta(phi).blocks()
    assert [type(block) for block in found] == [type(block) for block in wanted]
    assert np.array(found) == pytest.approx(np.array(wanted), rel=1e-14)


def test_the_state_dimension_adds_up():
    sizes = {name: len(dimensions(kernel.blocks())) for name, kernel in KERNELS.items()}
    assert sizes == {"12": 1, "32": 2, "52": 3, "12+32+52": 6, "none": 1}


def test_without_a_curve_nothing_moves():
    A, Q, P, F, noise, rate = system(KERNELS["none"], 5.0)
    assert A == 1.0
    assert not any(matrix.any() for matrix in (Q, P, F, noise, rate))
