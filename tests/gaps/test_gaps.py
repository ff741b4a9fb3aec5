import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, special

from lamina.errors import MethodError, OrderError
from lamina.gaps import PRIORS, from_gaps, gradient_to_gaps, log_jacobian, log_prior, to_gaps
from lamina.gaps.prior import digamma

starts = st.floats(-1e9, 1e9)
log_gaps = st.lists(st.floats(-8.0, 4.0), min_size=0, max_size=12).map(lambda x: np.array(x, dtype=float))
some_log_gaps = st.lists(st.floats(-4.0, 3.0), min_size=1, max_size=8).map(np.array)
alphas = st.floats(1.0, 30.0)
floors = st.sampled_from([0.0, 0.3, 20.0])


def numeric_gradient(function, x, steps):
    """Central differences, the step given per coordinate."""
    gradient = np.empty(x.size)
    for i, step in enumerate(steps):
        up, down = x.copy(), x.copy()
        up[i] += step
        down[i] -= step
        gradient[i] = (function(up) - function(down)) / (up[i] - down[i])
    return gradient


# --- inputs and gaps ---


@given(starts, log_gaps)
def test_gaps_to_inputs_and_back(start, log_gap):
    tau = from_gaps(start, log_gap)
    again_start, again_log_gap = to_gaps(tau)
    assert again_start == start
    # Each input is rounded once, whatever the number of gaps before it.
    rounding = 4 * np.spacing(np.abs(tau).max()) + 1e-14
    np.testing.assert_allclose(np.exp(again_log_gap), np.exp(log_gap), rtol=1e-12, atol=rounding)


@given(starts, log_gaps)
def test_inputs_to_gaps_and_back(start, log_gap):
    tau = from_gaps(start, log_gap)
    np.testing.assert_allclose(from_gaps(*to_gaps(tau)), tau, rtol=1e-15, atol=1e-12)


@given(some_log_gaps)
def test_jacobian_is_the_determinant(log_gap):
    x = np.concatenate([[0.7], log_gap])
    rows = [numeric_gradient(lambda z, i=i: from_gaps(z[0], z[1:])[i], x, np.full(x.size, 1e-5)) for i in range(x.size)]
    sign, log_det = np.linalg.slogdet(np.array(rows))
    assert sign == 1.0
    assert log_jacobian(log_gap) == pytest.approx(log_det, abs=1e-6)


@given(some_log_gaps, st.integers(0, 2**32 - 1))
def test_chain_rule_against_finite_differences(log_gap, seed):
    weight = np.random.default_rng(seed).normal(size=log_gap.size + 1)
    x = np.concatenate([[-1.3], log_gap])
    tau = from_gaps(x[0], x[1:])
    d_start, d_log_gap = gradient_to_gaps(weight * np.cos(tau), log_gap)
    expected = numeric_gradient(lambda z: weight @ np.sin(from_gaps(z[0], z[1:])), x, np.full(x.size, 1e-6))
    np.testing.assert_allclose([d_start, *d_log_gap], expected, rtol=1e-5, atol=1e-5 * np.exp(log_gap.max()) + 1e-6)


def test_one_input_alone_has_no_gaps():
    start, log_gap = to_gaps([3.0])
    assert (start, log_gap.size, log_jacobian(log_gap)) == (3.0, 0, 0.0)
    np.testing.assert_array_equal(from_gaps(3.0, log_gap), [3.0])
    assert gradient_to_gaps(np.array([2.0]), log_gap)[0] == 2.0


def test_a_gap_of_zero_survives_the_round_trip():
    start, log_gap = to_gaps([1.0, 1.0, 2.0])
    np.testing.assert_array_equal(log_gap, [-np.inf, 0.0])
    np.testing.assert_array_equal(from_gaps(start, log_gap), [1.0, 1.0, 2.0])


@pytest.mark.parametrize("tau", [[0.0, 2.0, 1.0], [0.0, 2.0, np.nan]])
def test_inputs_out_of_order_are_refused(tau):
    with pytest.raises(OrderError, match=r"after row 1 \(counting from 0\).*known order"):
        to_gaps(tau)


# --- priors ---


def test_digamma():
    x = np.concatenate([np.linspace(1.0, 30.0, 200), 10.0 ** np.arange(2, 9)])
    np.testing.assert_allclose([digamma(z) for z in x], special.digamma(x), rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("name", PRIORS)
@given(some_log_gaps, alphas, floors)
def test_prior_gradients_against_finite_differences(name, log_gap, alpha, floor):
    tau = from_gaps(0.4, log_gap)
    _, d_tau, d_alpha = log_prior(name, tau, alpha, floor)
    steps = np.full(tau.size, 1e-4 * np.exp(log_gap.min()))
    expected = numeric_gradient(lambda z: log_prior(name, z, alpha, floor)[0], tau, steps)
    np.testing.assert_allclose(d_tau, expected, rtol=1e-5, atol=1e-5 * (1 + np.abs(expected).max()))
    if alpha > 1.001:
        value = numeric_gradient(lambda z: log_prior(name, tau, z[0], floor)[0], np.array([alpha]), [1e-4])
        assert d_alpha == pytest.approx(value[0], rel=1e-5, abs=1e-5)


@given(some_log_gaps, floors)
def test_gamma_with_alpha_one_is_exponential(log_gap, floor):
    tau = from_gaps(-2.0, log_gap)
    gamma = log_prior("gamma", tau, 1.0, floor)
    exponential = log_prior("exponential", tau, floor=floor)
    assert gamma[0] == exponential[0]
    np.testing.assert_array_equal(gamma[1], exponential[1])


@pytest.mark.parametrize("floor", [0.0, 0.7])
@pytest.mark.parametrize("alpha", [1.0, 2.5, 9.0])
def test_gamma_is_the_rate_integrated_out(alpha, floor):
    gap = np.array([0.3, 1.9, 0.8, 0.05])

    def integrand(log_rate):
        rate = math.exp(log_rate)
        log_density = np.sum(alpha * log_rate + (alpha - 1) * np.log(gap) - rate * gap - special.gammaln(alpha))
        return math.exp(log_density - floor * rate)

    integral, _ = integrate.quad(integrand, -15.0, 8.0, epsabs=0.0, epsrel=1e-10, limit=200)
    tau = np.concatenate([[5.0], 5.0 + np.cumsum(gap)])
    assert log_prior("gamma", tau, alpha, floor)[0] == pytest.approx(math.log(integral), abs=1e-8)


@pytest.mark.parametrize("floor", [0.0, 0.7])
@pytest.mark.parametrize("alpha", [1.0, 2.5])
def test_density_of_the_span_alone(alpha, floor):
    """With two gaps: integrated over the middle input, span^(2 alpha - 1) / (span + floor)^(2 alpha)."""
    span = 1.7
    integral, _ = integrate.quad(
        lambda middle: math.exp(log_prior("gamma", [0.0, middle, span], alpha, floor)[0]), 0.0, span
    )
    assert integral == pytest.approx(span ** (2 * alpha - 1) / (span + floor) ** (2 * alpha), rel=1e-7)


@pytest.mark.parametrize("name", PRIORS)
@given(some_log_gaps, alphas, floors)
def test_priors_do_not_see_a_shift(name, log_gap, alpha, floor):
    at_zero = log_prior(name, from_gaps(0.0, log_gap), alpha, floor)
    shifted = log_prior(name, from_gaps(64.0, log_gap), alpha, floor)
    assert shifted[0] == pytest.approx(at_zero[0], rel=1e-9, abs=1e-9)
    assert math.isclose(at_zero[1].sum(), 0.0, abs_tol=1e-9 * (1 + np.abs(at_zero[1]).sum()))


@pytest.mark.parametrize(("name", "power"), [("uniform", 0), ("log-uniform", -1), ("exponential", -1), ("gamma", -1)])
@given(some_log_gaps, alphas, st.floats(1e-3, 1e3))
def test_scale_law(name, power, log_gap, alpha, scale):
    """Without a floor, p(c tau) = c^(power n) p(tau): power -1 per gap is the density that knows no scale."""
    tau = from_gaps(0.0, log_gap)
    change = log_prior(name, scale * tau, alpha)[0] - log_prior(name, tau, alpha)[0]
    assert change == pytest.approx(power * log_gap.size * math.log(scale), abs=1e-8)


@pytest.mark.parametrize("name", PRIORS)
@given(some_log_gaps, alphas, floors)
def test_priors_do_not_see_the_direction_of_time(name, log_gap, alpha, floor):
    tau = from_gaps(0.0, log_gap)
    forward = log_prior(name, tau, alpha, floor)
    backward = log_prior(name, -tau[::-1], alpha, floor)
    assert backward[0] == pytest.approx(forward[0], rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(backward[1], -forward[1][::-1], rtol=1e-9, atol=1e-9 * np.abs(forward[1]).max())


@pytest.mark.parametrize("name", PRIORS)
def test_a_row_alone_has_no_prior(name):
    value, d_tau, d_alpha = log_prior(name, [7.0], alpha=2.0)
    assert (value, d_tau.tolist(), d_alpha) == (0.0, [0.0], 0.0)


@pytest.mark.parametrize("name", PRIORS)
def test_out_of_order_is_impossible(name):
    value, d_tau, d_alpha = log_prior(name, [0.0, 2.0, 1.0], alpha=2.0)
    assert (value, d_tau.tolist(), d_alpha) == (-math.inf, [0.0, 0.0, 0.0], 0.0)


@pytest.mark.parametrize(
    ("name", "alpha", "some_zero", "all_zero"),
    [
        ("uniform", 1.0, 0.0, 0.0),
        ("log-uniform", 1.0, math.inf, math.inf),
        ("exponential", 1.0, math.lgamma(2) - 2 * math.log(3.0), math.inf),
        ("gamma", 1.0, math.lgamma(2) - 2 * math.log(3.0), math.inf),
        ("gamma", 2.0, -math.inf, -math.inf),
    ],
)
def test_gaps_of_zero(name, alpha, some_zero, all_zero):
    assert log_prior(name, [1.0, 1.0, 4.0], alpha)[0] == pytest.approx(some_zero)
    assert log_prior(name, [1.0, 1.0, 1.0], alpha)[0] == all_zero


def test_a_floor_makes_the_span_integrable_at_zero():
    assert log_prior("exponential", [1.0, 1.0, 1.0], floor=0.5)[0] == pytest.approx(-2 * math.log(0.5))


@pytest.mark.parametrize("alpha", [0.99, -1.0, math.nan, math.inf])
def test_alpha_below_one_is_refused(alpha):
    with pytest.raises(MethodError, match="alpha must be a finite number of at least 1"):
        log_prior("gamma", [0.0, 1.0], alpha)


@pytest.mark.parametrize("floor", [-0.1, math.nan, math.inf])
def test_a_negative_floor_is_refused(floor):
    with pytest.raises(MethodError, match="floor must be a finite number of at least 0"):
        log_prior("gamma", [0.0, 1.0], floor=floor)


def test_an_unknown_prior_is_answered_with_the_known_ones():
    with pytest.raises(MethodError, match=r"unknown gap prior 'flat'.*uniform, log-uniform, exponential, gamma"):
        log_prior("flat", [0.0, 1.0])
