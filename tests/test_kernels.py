"""Laws that every kernel obeys: derivatives, parameters, sums and products, refusal of bad parameters."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import closed_form

from lamina.errors import KernelError
from lamina.kernels import (
    Constant,
    Linear,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    Product,
    RationalQuadratic,
    SquaredExponential,
    Sum,
)

PLAIN = [
    Matern12(length=1.7, sd=0.6),
    Matern32(length=0.4, sd=2.0),
    Matern52(length=3.0, sd=1.3),
    SquaredExponential(length=0.9, sd=0.7),
    RationalQuadratic(length=1.1, sd=1.4, shape=0.6),
    Periodic(length=0.8, sd=1.2, period=2.3),
]
COMPOSITE = [
    Matern32(length=0.4, sd=2.0) + Matern52(length=3.0, sd=1.3),
    Matern12(length=1.7, sd=0.6) + Periodic(length=0.8, sd=1.2, period=2.3) + Matern32(),
    Matern32(length=2.0) * Periodic(length=0.7, sd=0.5, period=1.3),
    Matern12() * Matern52(length=0.5) * RationalQuadratic(shape=2.0),
    (Matern32(sd=0.3) + SquaredExponential(length=2.0)) * Periodic(length=1.5) + Matern52(length=5.0),
]
STATIONARY = PLAIN + COMPOSITE
SMOOTH = [k for k in PLAIN if not isinstance(k, Matern12)]
LAGS = np.array([0.0, 1e-9, 1e-3, 0.2, 1.0, 2.5, 7.0, 40.0])


def ident(kernel):
    terms = getattr(kernel, "parts", None)
    return "_".join(map(ident, terms)) if terms else type(kernel).__name__


def truth(kernel, lag):
    """k(r) in mpmath, for composites too."""
    if isinstance(kernel, Sum):
        return mpmath.fsum(truth(part, lag) for part in kernel.parts)
    if isinstance(kernel, Product):
        return mpmath.fprod(truth(part, lag) for part in kernel.parts)
    return closed_form(kernel, lag)


@pytest.fixture(params=STATIONARY, ids=ident)
def kernel(request):
    return request.param


def close(found, expected, scale):
    np.testing.assert_allclose(found, np.array(expected, dtype=float), rtol=1e-11, atol=1e-13 * scale)


def test_covariance_and_lag_derivatives_are_those_of_the_closed_form(kernel):
    first, second = kernel.lag_derivatives(LAGS)
    with mpmath.workdps(60):
        by_order = [[mpmath.diff(lambda r: truth(kernel, r), mpmath.mpf(r), n) for r in LAGS] for n in range(3)]
    for found, expected in zip([kernel.covariance(LAGS), first, second], by_order, strict=True):
        close(found, expected, scale=float(max(map(abs, expected))))


def test_theta_derivatives_agree_with_differences(kernel):
    found = kernel.theta_derivatives(LAGS)
    assert len(found) == len(kernel.names)
    step = 1e-4
    for p, one in enumerate(found):
        shift = np.eye(len(found))[p] * step

        def shifted(times, shift=shift):
            return kernel.with_theta(kernel.theta + times * shift).covariance(LAGS)

        slope = (8 * (shifted(1) - shifted(-1)) - (shifted(2) - shifted(-2))) / (12 * step)
        np.testing.assert_allclose(one, slope, rtol=1e-8, atol=1e-9 * np.abs(kernel.covariance(LAGS)).max())


def test_theta_goes_round(kernel):
    assert kernel.with_theta(kernel.theta).names == kernel.names
    np.testing.assert_allclose(kernel.with_theta(kernel.theta).theta, kernel.theta, rtol=0, atol=1e-15)
    other = kernel.theta + np.linspace(-1.0, 1.0, len(kernel.theta))
    np.testing.assert_allclose(kernel.with_theta(other).theta, other, rtol=0, atol=1e-14)
    assert type(kernel.with_theta(other)) is type(kernel)


def test_theta_of_another_length_is_refused(kernel):
    for wrong in (kernel.theta[:-1], np.append(kernel.theta, 0.0), kernel.theta[:, None]):
        with pytest.raises(KernelError, match=r"theta must hold \d+ log-parameters"):
            kernel.with_theta(wrong)


def test_a_trend_term_does_not_swallow_a_parameter_too_many():
    with pytest.raises(KernelError, match="theta must hold 2"):
        (Matern32() + Constant()).with_theta(np.zeros(3))


def test_theta_beyond_floating_point_is_refused_without_a_warning(kernel):
    for far in (1e3, -1e3):
        with pytest.raises(KernelError, match="positive finite"):
            kernel.with_theta(np.full(len(kernel.theta), far))


def test_names_are_unique_and_in_the_order_of_theta(kernel):
    assert len(set(kernel.names)) == len(kernel.names) == len(kernel.theta)


def test_covariance_matrices_are_positive_definite(kernel):
    t = np.random.default_rng(3).uniform(0.0, 6.0, 40)
    K = kernel.covariance(np.abs(t[:, None] - t))
    values = np.linalg.eigvalsh(K)
    assert values.min() > -1e-12 * values.max()
    assert np.allclose(np.diag(K), kernel.covariance(np.zeros(1))[0])


@given(
    st.sampled_from(STATIONARY),
    st.lists(st.floats(0.0, 1e6), min_size=1, max_size=5),
)
def test_no_covariance_exceeds_the_variance(kernel, lags):
    k = kernel.covariance(np.array(lags))
    assert np.all(np.isfinite(k))
    assert np.all(np.abs(k) <= kernel.covariance(np.zeros(1))[0] * (1 + 1e-12))


@pytest.mark.parametrize("kernel", PLAIN, ids=ident)
@pytest.mark.parametrize("length", [1e-6, 1e6])
def test_extreme_lengths_give_finite_numbers(kernel, length):
    extreme = type(kernel)(length=length, sd=kernel.sd)
    for values in [
        extreme.covariance(LAGS),
        *extreme.lag_derivatives(LAGS),
        *extreme.theta_derivatives(LAGS),
    ]:
        assert np.all(np.isfinite(values))


def test_rational_quadratic_of_large_shape_is_squared_exponential():
    np.testing.assert_allclose(
        RationalQuadratic(length=0.9, sd=0.7, shape=1e12).covariance(LAGS),
        SquaredExponential(length=0.9, sd=0.7).covariance(LAGS),
        rtol=1e-8,
    )


def test_only_matern12_has_no_rate():
    assert not Matern12().differentiable
    assert not (Matern32() + Matern12()).differentiable
    assert not (Matern12() * Periodic()).differentiable
    assert all(k.differentiable for k in SMOOTH)
    assert (Constant() + Linear()).differentiable


def test_sums_add_and_flatten():
    a, b, c = Matern12(), Matern32(length=2.0), Periodic()
    assert (a + b) + c == a + (b + c) == Sum((Sum((a, b)), c))
    np.testing.assert_allclose((a + b + c).covariance(LAGS), sum(k.covariance(LAGS) for k in (a, b, c)))
    assert (a + b).names == ("length_1", "sd_1", "length_2", "sd_2")
    assert (a + Constant()).names == ("length", "sd")


def test_products_multiply():
    a, b = Matern32(length=2.0), Periodic()
    np.testing.assert_allclose((a * b).covariance(LAGS), a.covariance(LAGS) * b.covariance(LAGS))
    assert (a * b).names == ("length_1", "sd_1", "length_2", "sd_2", "period_2")


def test_a_sum_separates_its_trend_from_its_curve():
    kernel = Constant() + Matern32() + Linear(sd=2.0) + Matern12()
    assert kernel.trend == (Constant(), Linear(sd=2.0))
    assert kernel.stationary == Matern32() + Matern12()
    assert (Constant() + Linear()).stationary is None
    np.testing.assert_array_equal((Constant() + Linear()).covariance(LAGS), 0.0)


def test_only_matern_and_trend_terms_are_markov():
    assert (Matern12() + Matern32() + Matern52() + Constant() + Linear()).is_markov
    for kernel in [*PLAIN[3:], Matern32() + Periodic(), Matern32() * Matern12()]:
        assert not kernel.is_markov
        with pytest.raises(KernelError, match='engine="dense"'):
            kernel.blocks()


def test_kernels_combine_with_kernels_only():
    with pytest.raises(TypeError):
        Matern32() + 1.0
    with pytest.raises(TypeError):
        Matern32() * 2.0


@pytest.mark.parametrize("kernel", PLAIN, ids=ident)
@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf, "long", None, [1.0, 2.0]])
def test_parameters_that_are_not_positive_are_refused(kernel, value):
    for name in kernel.names:
        with pytest.raises(KernelError, match=f"{type(kernel).__name__}: {name} must be a positive finite number"):
            type(kernel)(**{name: value})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Constant(sd=0.0), "Constant: mean must be finite and sd positive"),
        (lambda: Constant(sd=np.nan), "sd positive"),
        (lambda: Constant(mean=np.inf), "mean must be finite"),
        (lambda: Linear(sd=-1.0), "Linear: mean must be finite and sd positive"),
        (lambda: Linear(sd="wide"), "sd positive"),
        (lambda: Linear(mean=None), "mean must be finite"),
        (lambda: Linear(origin=np.nan), "origin must be a finite time"),
        (lambda: Linear(origin="1950 CE"), "origin must be a finite time"),
        (lambda: Constant() + Matern32() + Constant(), "one Constant and one Linear at most"),
        (lambda: Matern32() * Linear(), "Add the trend to the product"),
        (lambda: (Matern32() + Constant()) * Matern12(), "one factor holds Constant"),
    ],
)
def test_bad_trends_and_combinations_are_refused(make, message):
    with pytest.raises(KernelError, match=message):
        make()
