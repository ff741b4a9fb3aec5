"""The dense engine against differences, textbook formulas and extended precision."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import Oracle
from scipy.stats import multivariate_normal

from lamina import dense
from lamina.errors import KernelError, OrderError
from lamina.kernels import (
    Constant,
    Linear,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    RationalQuadratic,
    SquaredExponential,
)

MATERN = [
    Matern12(length=2.0, sd=0.8),
    Matern32(length=1.5, sd=1.1),
    Matern52(length=3.0, sd=0.9),
    Matern12(length=0.5, sd=0.3) + Matern52(length=4.0, sd=1.2),
]
OTHERS = [
    SquaredExponential(length=0.9, sd=1.1),
    RationalQuadratic(length=1.1, sd=0.9, shape=0.7),
    Periodic(length=0.8, sd=0.6, period=2.3) + Matern32(length=2.0),
    Matern32(length=2.0) * Periodic(length=1.2, period=3.1),
]
TRENDS = [
    None,
    Constant(),
    Constant(sd=2.0, mean=0.4),
    Linear(),
    Linear(sd=0.7, mean=-0.2, origin=3.0),
    Constant() + Linear(),
    Linear(origin=4.0) + Constant(sd=1.5),
    Constant(sd=3.0, mean=1.0) + Linear(sd=0.5, mean=0.1),
]
AT = np.array([-3.0, 0.1, 2.0, 2.7, 5.5, 9.9, 14.0])


def with_trend(kernel, trend):
    return kernel if trend is None else kernel + trend


def words(value):
    if value is None:
        return "no-trend"
    parts = getattr(value, "parts", (value,))
    flat = (
        ""
        if not hasattr(value, "trend") or not value.trend
        else "-".join("flat" if np.isinf(term.sd) else "prior" for term in value.trend)
    )
    return "-".join(type(part).__name__ for part in parts) + flat


def problem(n=14, seed=0, y_sd=0.2):
    """Ordered times in [0, 10], a curve with noise, unequal standard deviations."""
    rng = np.random.default_rng(seed)
    tau = np.sort(rng.uniform(0.0, 10.0, n))
    sd = y_sd * rng.uniform(0.5, 1.5, n)
    return tau, np.sin(tau) + 0.1 * tau + sd * rng.normal(size=n), sd


def difference(function, x, step=2e-4):
    """Gradient by differences of fourth order; function may return an array, whose axis comes last."""
    rows = []
    for e in np.eye(len(x)) * step:
        rows.append((8 * (function(x + e) - function(x - e)) - (function(x + 2 * e) - function(x - 2 * e))) / 12 / step)
    return np.array(rows)


def assert_close(found, expected, rtol):
    """Equal to rtol, relative to the largest entry expected."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    if expected.size:
        assert np.abs(found - expected).max() <= rtol * np.abs(expected).max()


@pytest.fixture(params=MATERN + OTHERS, ids=words)
def curve(request):
    return request.param


@pytest.fixture(params=[k for k in MATERN + OTHERS if k.differentiable], ids=words)
def smooth(request):
    return request.param


@pytest.fixture(params=MATERN, ids=words)
def matern(request):
    return request.param


@pytest.fixture(params=TRENDS, ids=words)
def trend(request):
    return request.param


def test_value_is_the_normal_density(curve):
    tau, y, y_sd = problem()
    K = curve.covariance(np.abs(tau[:, None] - tau)) + np.diag(y_sd**2)
    expected = multivariate_normal(np.zeros(len(y)), K).logpdf(y)
    assert dense.log_likelihood(curve, tau, y, y_sd) == pytest.approx(expected, rel=1e-12)


def test_a_trend_with_a_prior_is_a_covariance():
    tau, y, y_sd = problem()
    kernel = Matern32(length=2.0) + Constant(sd=3.0, mean=1.0) + Linear(sd=0.5, mean=0.1, origin=2.0)
    x = tau - 2.0
    K = Matern32(length=2.0).covariance(np.abs(tau[:, None] - tau)) + np.diag(y_sd**2)
    K += 3.0**2 + 0.5**2 * np.outer(x, x)
    expected = multivariate_normal(1.0 + 0.1 * x, K).logpdf(y)
    assert dense.log_likelihood(kernel, tau, y, y_sd) == pytest.approx(expected, rel=1e-12)


def test_a_flat_trend_is_the_limit_of_a_wide_prior(curve):
    tau, y, y_sd = problem()
    wide = 1e5
    flat = dense.log_likelihood(curve + Constant() + Linear(), tau, y, y_sd)
    near = dense.log_likelihood(curve + Constant(sd=wide) + Linear(sd=wide), tau, y, y_sd)
    assert near + 2 * np.log(wide * np.sqrt(2 * np.pi)) == pytest.approx(flat, abs=1e-7)
    for predict in (dense.predict, dense.predict_rate)[: 1 + curve.differentiable]:
        for a, b in zip(
            predict(curve + Constant() + Linear(), tau, y, y_sd, AT),
            predict(curve + Constant(sd=wide) + Linear(sd=wide), tau, y, y_sd, AT),
            strict=True,
        ):
            assert_close(b, a, 1e-7)


def test_gradient_agrees_with_differences(curve, trend):
    kernel = with_trend(curve, trend)
    tau, y, y_sd = problem()
    value, d_tau, d_theta = dense.value_and_gradient(kernel, tau, y, y_sd)
    assert value == dense.log_likelihood(kernel, tau, y, y_sd)
    by_tau = difference(lambda x: dense.log_likelihood(kernel, x, y, y_sd), tau)
    by_theta = difference(lambda x: dense.log_likelihood(kernel.with_theta(x), tau, y, y_sd), kernel.theta)
    assert_close(d_tau, by_tau, 1e-7)
    assert_close(d_theta, by_theta, 1e-8)


def test_gap_derivatives_agree_with_differences(curve, trend):
    kernel = with_trend(curve, trend)
    tau, y, y_sd = problem()

    def at(log_gap):
        return np.concatenate([tau[:1], tau[0] + np.cumsum(np.exp(log_gap))])

    log_gap = np.log(np.diff(tau))
    by_value = difference(lambda x: dense.log_likelihood(kernel, at(x), y, y_sd), log_gap)
    by_gradient = difference(lambda x: dense.gap_gradient(kernel, at(x), y, y_sd), log_gap)
    assert_close(dense.gap_gradient(kernel, tau, y, y_sd), by_value, 1e-8)
    assert_close(dense.gap_hessian_diagonal(kernel, tau, y, y_sd), np.diag(by_gradient), 1e-8)


def test_the_recursion_over_gaps_equals_one_direction_at_a_time(curve, trend):
    kernel = with_trend(curve, trend)
    tau, y, y_sd = problem(n=25, seed=1)
    gap = np.diff(tau)
    first, second = dense.curvature(kernel, tau, y, y_sd, np.tri(len(tau), len(gap), -1))
    assert_close(gap * first, dense.gap_gradient(kernel, tau, y, y_sd), 1e-11)
    assert_close(gap**2 * second + gap * first, dense.gap_hessian_diagonal(kernel, tau, y, y_sd), 1e-11)


def test_curvature_along_any_direction_of_rows_in_any_order(curve, trend):
    kernel = with_trend(curve, trend)
    tau, y, y_sd = problem()
    mixed = np.random.default_rng(5).permutation(len(tau))
    tau, y, y_sd = tau[mixed], y[mixed], y_sd[mixed]
    u = np.random.default_rng(6).normal(size=(len(tau), 3)) * 0.1
    first, second = dense.curvature(kernel, tau, y, y_sd, u)
    for a, b, direction in zip(first, second, u.T, strict=True):

        def along(s, direction=direction):
            return dense.value_and_gradient(kernel, tau + s[0] * direction, y, y_sd)[1] @ direction

        assert along([0.0]) == pytest.approx(a, rel=1e-9)
        assert difference(along, np.zeros(1))[0] == pytest.approx(b, rel=1e-6, abs=1e-9)


def test_everything_agrees_with_extended_precision(matern, trend):
    kernel = with_trend(matern, trend)
    tau, y, y_sd = problem()
    tau[4] = tau[5]
    truth = Oracle(kernel, tau, y, y_sd)
    value, d_tau, d_theta = dense.value_and_gradient(kernel, tau, y, y_sd)
    assert value == pytest.approx(truth.value(), rel=1e-12)
    true_tau, true_theta = truth.gradient()
    assert_close(d_tau, true_tau, 1e-11)
    assert_close(d_theta, true_theta, 1e-11)
    assert_close(dense.gap_hessian_diagonal(kernel, tau, y, y_sd), truth.gap_hessian(), 1e-11)
    mean, covariance = truth.predict(AT)
    m = len(AT)
    found_mean, found_covariance = dense.predict(kernel, tau, y, y_sd, AT)
    assert_close(found_mean, mean[:m], 1e-11)
    assert_close(found_covariance, covariance[:m, :m], 1e-11)
    if matern.differentiable:
        found_mean, found_covariance = dense.predict_joint(kernel, tau, y, y_sd, AT)
        assert_close(found_mean, mean, 1e-11)
        assert_close(found_covariance, covariance, 1e-11)
        rate, rate_covariance = dense.predict_rate(kernel, tau, y, y_sd, AT)
        assert_close(rate, mean[m:], 1e-11)
        assert_close(rate_covariance, covariance[m:, m:], 1e-11)


def test_the_oracle_itself_agrees_with_its_own_differences():
    kernel = Matern32(length=1.5) + Matern12(length=0.4, sd=0.3) + Linear() + Constant(sd=2.0, mean=1.0)
    tau, y, y_sd = problem(n=5)
    by_tau = difference(lambda x: Oracle(kernel, x, y, y_sd).value(), tau)
    by_theta = difference(lambda x: Oracle(kernel.with_theta(x), tau, y, y_sd).value(), kernel.theta)
    d_tau, d_theta = Oracle(kernel, tau, y, y_sd).gradient()
    assert_close(d_tau, by_tau, 1e-8)
    assert_close(d_theta, by_theta, 1e-8)


def test_prediction_is_the_conditional_normal(curve):
    tau, y, y_sd = problem()
    K = curve.covariance(np.abs(tau[:, None] - tau)) + np.diag(y_sd**2)
    C = curve.covariance(np.abs(tau[:, None] - AT))
    mean, covariance = dense.predict(curve, tau, y, y_sd, AT)
    assert_close(mean, C.T @ np.linalg.solve(K, y), 1e-10)
    prior = curve.covariance(np.abs(AT[:, None] - AT))
    assert_close(covariance, prior - C.T @ np.linalg.solve(K, C), 1e-10)


def test_the_rate_is_the_derivative_of_the_curve(smooth, trend):
    kernel = with_trend(smooth, trend)
    tau, y, y_sd = problem()
    step = 1e-3
    weights = np.array([1.0, -8.0, 8.0, -1.0]) / (12 * step)
    near = (AT[:, None] + step * np.array([-2.0, -1.0, 1.0, 2.0])).ravel()
    mean, _ = dense.predict(kernel, tau, y, y_sd, near)
    rate, rate_covariance = dense.predict_rate(kernel, tau, y, y_sd, AT)
    # Matérn-3/2 has no third derivative at the rows, which limits the differences there.
    assert_close(mean.reshape(-1, 4) @ weights, rate, 1e-5)
    joint_mean, joint = dense.predict_joint(kernel, tau, y, y_sd, AT)
    m = len(AT)
    curve_mean, curve_covariance = dense.predict(kernel, tau, y, y_sd, AT)
    assert_close(joint_mean, np.concatenate([curve_mean, rate]), 1e-12)
    assert_close(joint[:m, :m], curve_covariance, 1e-12)
    assert_close(joint[m:, m:], rate_covariance, 1e-12)
    assert np.linalg.eigvalsh(joint).min() > -1e-9 * np.abs(joint).max()
    _, near_covariance = dense.predict(kernel, tau, y, y_sd, np.concatenate([AT, AT + step, AT - step]))
    mixed = (near_covariance[:m, m : 2 * m] - near_covariance[:m, 2 * m :]) / (2 * step)
    assert_close(mixed, joint[:m, m:], 1e-3)


def test_no_query_points_give_empty_answers(trend):
    tau, y, y_sd = problem()
    mean, covariance = dense.predict_joint(with_trend(Matern32(), trend), tau, y, y_sd, np.empty(0))
    assert mean.shape == (0,)
    assert covariance.shape == (0, 0)


def test_a_curve_without_rate_says_so():
    tau, y, y_sd = problem()
    with pytest.raises(KernelError, match=r"no rate of change.*Use Matern32 or Matern52"):
        dense.predict_rate(Matern32() + Matern12(), tau, y, y_sd, AT)


@given(st.integers(0, 10**6), st.floats(-100.0, 100.0), st.sampled_from(MATERN + OTHERS))
def test_invariances(seed, shift, curve):
    """Order of rows, shift and reversal of time, and a level that a flat constant takes up change nothing."""
    tau, y, y_sd = problem(n=8, seed=seed)
    value, d_tau, d_theta = dense.value_and_gradient(curve, tau, y, y_sd)
    p = np.random.default_rng(seed).permutation(len(tau))
    for times, sign in ((tau[p], 1.0), (shift + tau[p], 1.0), (shift - tau[p], -1.0)):
        other, other_tau, other_theta = dense.value_and_gradient(curve, times, y[p], y_sd[p])
        assert other == pytest.approx(value, rel=1e-9, abs=1e-9)
        np.testing.assert_allclose(sign * other_tau, d_tau[p], rtol=1e-7, atol=1e-7 * np.abs(d_tau).max())
        np.testing.assert_allclose(other_theta, d_theta, rtol=1e-7, atol=1e-7 * np.abs(d_theta).max())
    assert abs(d_tau.sum()) <= 1e-9 * np.abs(d_tau).sum()
    level = dense.log_likelihood(curve + Constant(), tau, y, y_sd)
    assert dense.log_likelihood(curve + Constant(), tau, y + shift, y_sd) == pytest.approx(level, abs=1e-8)


def test_ties_take_the_derivative_of_an_opening_gap():
    """Matérn-1/2 has a kink there: the two sides differ, and the row order says which one is meant."""
    kernel = Matern12(length=2.0)
    y, y_sd = np.array([0.3, -0.2, 0.5, 0.1]), np.full(4, 0.3)
    tau = np.array([0.0, 1.0, 1.0, 2.5])
    _, d_tau, _ = dense.value_and_gradient(kernel, tau, y, y_sd)
    step = 1e-7
    opened = dense.log_likelihood(kernel, tau + step * np.array([0, 0, 1, 1]), y, y_sd)
    slope = (opened - dense.log_likelihood(kernel, tau, y, y_sd)) / step
    assert d_tau[2:].sum() == pytest.approx(slope, rel=1e-5)
    assert dense.gap_gradient(kernel, tau, y, y_sd)[1] == 0.0
    assert dense.gap_hessian_diagonal(kernel, tau, y, y_sd)[1] == 0.0


@pytest.mark.parametrize("kernel", [Matern32(), Matern32() + Constant(), Constant(), Linear(sd=1.0)], ids=words)
@pytest.mark.parametrize("n", [1, 2])
def test_one_and_two_rows(kernel, n):
    tau, y, y_sd = np.array([1.0, 2.5])[:n], np.array([0.4, -0.3])[:n], np.array([0.5, 0.2])[:n]
    truth = Oracle(kernel, tau, y, y_sd)
    value, d_tau, d_theta = dense.value_and_gradient(kernel, tau, y, y_sd)
    assert value == pytest.approx(truth.value(), rel=1e-12)
    true_tau, true_theta = truth.gradient()
    np.testing.assert_allclose(d_tau, true_tau, atol=1e-12)
    np.testing.assert_allclose(d_theta, true_theta, atol=1e-12)
    np.testing.assert_allclose(dense.gap_hessian_diagonal(kernel, tau, y, y_sd), truth.gap_hessian(), atol=1e-12)
    mean, covariance = truth.predict(AT)
    found = dense.predict_joint(kernel, tau, y, y_sd, AT)
    np.testing.assert_allclose(found[0], mean, atol=1e-12)
    np.testing.assert_allclose(found[1], covariance, rtol=1e-9, atol=1e-12)


def test_large_offsets_of_time_and_value_cost_no_digits_where_a_flat_trend_takes_them():
    kernel = Matern52(length=2.0) + Constant() + Linear()
    tau, y, y_sd = problem()
    tau, y = np.round(tau * 2**20) / 2**20, np.round(y * 2**20) / 2**20
    near = dense.value_and_gradient(kernel, tau, y, y_sd)
    far = dense.value_and_gradient(kernel, tau + 2.0**30, y + 2.0**30, y_sd)
    assert far[0] == pytest.approx(near[0], rel=1e-9)
    assert_close(far[1], near[1], 1e-8)
    at = np.round(AT * 8) / 8
    mean, covariance = dense.predict(kernel, tau, y, y_sd, at)
    far_mean, far_covariance = dense.predict(kernel, tau + 2.0**30, y + 2.0**30, y_sd, at + 2.0**30)
    # The largest digit kept at 1e9 is 1e-7.
    np.testing.assert_allclose(far_mean - 2.0**30, mean, atol=1e-6)
    assert_close(far_covariance, covariance, 1e-8)


@pytest.mark.parametrize("length", [1e-6, 1e6])
def test_extreme_lengths_agree_with_extended_precision(matern, length):
    tau, y, y_sd = problem(n=8)
    kernel = type(matern)(length=length) if not hasattr(matern, "parts") else matern + Matern32(length=length)
    truth = Oracle(kernel, tau, y, y_sd)
    value, d_tau, d_theta = dense.value_and_gradient(kernel, tau, y, y_sd)
    assert value == pytest.approx(truth.value(), rel=1e-11)
    assert_close(d_tau, truth.gradient()[0], 1e-7)
    assert_close(d_theta, truth.gradient()[1], 1e-7)


def test_a_matrix_that_is_not_definite_is_reported_with_a_remedy():
    tau = np.linspace(0.0, 1.0, 30)
    with pytest.raises(KernelError, match="larger y_sd, or a Matérn kernel with the Markov engine"):
        dense.log_likelihood(SquaredExponential(length=10.0), tau, tau, np.full(30, 1e-12))


def test_gap_derivatives_need_ordered_times():
    tau, y, y_sd = problem()
    for function in (dense.gap_gradient, dense.gap_hessian_diagonal):
        with pytest.raises(OrderError, match="tau must increase"):
            function(Matern32(), tau[::-1].copy(), y, y_sd)


def test_trend_terms_that_the_rows_cannot_tell_apart_are_reported():
    with pytest.raises(KernelError, match="cannot be distinguished"):
        dense.log_likelihood(Matern32() + Constant() + Linear(), np.ones(3), np.arange(3.0), np.ones(3))


def test_the_gradient_in_the_output_variances_agrees_with_differences(curve, trend):
    kernel, (tau, y, y_sd) = with_trend(curve, trend), problem()
    value, d_tau, d_theta, d_y_var = dense.value_and_gradients(kernel, tau, y, y_sd)
    expected = difference(lambda var: dense.log_likelihood(kernel, tau, y, np.sqrt(var)), y_sd**2)
    assert_close(d_y_var, expected, 1e-6)
    found = dense.value_and_gradient(kernel, tau, y, y_sd)
    assert found[0] == value
    np.testing.assert_array_equal(found[1], d_tau)
    np.testing.assert_array_equal(found[2], d_theta)


def test_prediction_point_by_point_is_the_diagonal_of_the_joint_one(curve, trend):
    kernel, (tau, y, y_sd) = with_trend(curve, trend), problem()
    (mean, rate), (var, rate_var) = dense.predict_pointwise(kernel, tau, y, y_sd, AT, [(kernel.stationary, True)])
    expected, covariance = dense.predict(kernel, tau, y, y_sd, AT)
    assert_close(mean, expected, 1e-12)
    assert_close(var, np.diag(covariance), 1e-10)
    if not curve.differentiable:
        assert np.isnan([rate, rate_var]).all()
        return
    expected, covariance = dense.predict_rate(kernel, tau, y, y_sd, AT)
    assert_close(rate, expected, 1e-11)
    assert_close(rate_var, np.diag(covariance), 1e-10)
