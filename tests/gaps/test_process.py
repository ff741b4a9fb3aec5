"""With depths, the gaps are increments of a gamma process: cutting a step in depth changes nothing."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from lamina.gaps.prior import Exponents, Gaps, exponents, gamma_exponents, log_density, log_term


def gaps(unit):
    unit = np.asarray(unit, dtype=float)
    return Gaps(0.0 * unit, unit, unit > 0.0, 0.0 * unit)


def gamma(alpha, floor=0.3, tiny=0.0, weight=0.0):
    return gamma_exponents.py_func(alpha, Exponents(1.0, -1.0, floor, tiny, weight))


def density(tau, unit, alpha, weight=0.0):
    return math.exp(log_density(np.asarray(tau, float), gaps(unit), gamma(alpha, weight=weight))[0])


@pytest.mark.parametrize("weight", [0.0, 2.5])
@pytest.mark.parametrize("alpha", [0.4, 1.0, 3.0])
def test_a_layer_in_between_integrates_out(alpha, weight):
    first, second, other = 0.6, 1.7, 0.9

    def split(u):
        # the substitution makes the singular ends of small shapes harmless
        place = 0.5 * (1.0 - math.cos(math.pi * u))
        slope = 0.5 * math.pi * math.sin(math.pi * u)
        return 2.5 * slope * density([0.0, 2.5 * place, 2.5, 3.1], [first, second, other], alpha, weight)

    whole, _ = integrate.quad(split, 0.0, 1.0, epsabs=1e-12, limit=200)
    assert whole == pytest.approx(density([0.0, 2.5, 3.1], [first + second, other], alpha, weight), rel=1e-6)


@pytest.mark.parametrize("unit", [0.05, 0.5, 2.0])
def test_the_constant_part_of_the_density_keeps_its_mass(unit):
    tiny = 0.01
    prior = gamma(1.0, 0.0, tiny)
    assert tiny * math.exp(log_term.py_func(prior, unit, 0.3 * tiny)) == pytest.approx(tiny**unit / unit)
    assert log_term.py_func(prior, unit, 0.2) == pytest.approx((unit - 1.0) * math.log(0.2))


@pytest.mark.parametrize("alpha", [0.3, 2.0])
@pytest.mark.parametrize("tiny", [0.0, 0.2])
@pytest.mark.parametrize("weight", [0.0, 2.5])
def test_gradients_against_finite_differences(alpha, tiny, weight):
    tau, unit = np.array([0.0, 0.9, 1.0, 2.5]), [0.3, 1.1, 2.0]

    def value(tau, alpha):
        return log_density(tau, gaps(unit), gamma(alpha, 0.3, tiny, weight))

    _, d_tau, d_alpha = value(tau, alpha)
    for i in range(4):
        up, down = tau.copy(), tau.copy()
        up[i] += 1e-6
        down[i] -= 1e-6
        assert d_tau[i] == pytest.approx((value(up, alpha)[0] - value(down, alpha)[0]) / 2e-6, rel=1e-5, abs=1e-5)
    difference = (value(tau, alpha + 1e-6)[0] - value(tau, alpha - 1e-6)[0]) / 2e-6
    assert d_alpha == pytest.approx(difference, rel=1e-5)


def test_the_exponential_prior_is_the_process_of_shape_one():
    tau, unit = np.array([0.0, 0.5, 1.9]), [0.4, 1.6]
    one = log_density(tau, gaps(unit), gamma(1.0))[0]
    assert log_density(tau, gaps(unit), exponents("exponential", floor=0.3))[0] == one


@pytest.mark.parametrize("alpha", [0.6, 3.0])
def test_the_mean_rate_is_integrated_out_under_its_prior(alpha):
    tau, unit, floor, weight = np.array([0.0, 0.5, 1.9]), np.array([0.4, 1.6]), 0.7, 2.5

    def joint(rate):
        prior = stats.gamma(weight, scale=alpha / floor).pdf(rate)
        return prior * np.prod(stats.gamma(alpha * unit, scale=1.0 / rate).pdf(np.diff(tau)))

    whole, _ = integrate.quad(joint, 0.0, np.inf, epsabs=1e-14)
    constant = math.lgamma(weight)  # of the prior, which does not depend on anything
    found = log_density(tau, gaps(unit), gamma(alpha, floor, weight=weight))[0]
    assert found - constant == pytest.approx(math.log(whole), rel=1e-6)
