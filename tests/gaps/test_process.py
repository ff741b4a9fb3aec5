"""With depths, the gaps are increments of a gamma process: cutting a step in depth changes nothing."""

import math

import numpy as np
import pytest
from scipy import integrate

from lamina.gaps.prior import Gaps, exponents, gamma_exponents, log_density, log_term


def gaps(unit):
    unit = np.asarray(unit, dtype=float)
    return Gaps(0.0 * unit, unit, unit > 0.0, 0.0 * unit)


def density(tau, unit, alpha, floor=0.3, tiny=0.0):
    return math.exp(log_density(np.asarray(tau, float), gaps(unit), gamma_exponents.py_func(alpha, floor, tiny))[0])


@pytest.mark.parametrize("alpha", [0.4, 1.0, 3.0])
def test_a_layer_in_between_integrates_out(alpha):
    first, second, other = 0.6, 1.7, 0.9

    def split(u):
        # the substitution makes the singular ends of small shapes harmless
        place = 0.5 * (1.0 - math.cos(math.pi * u))
        slope = 0.5 * math.pi * math.sin(math.pi * u)
        return 2.5 * slope * density([0.0, 2.5 * place, 2.5, 3.1], [first, second, other], alpha)

    whole, _ = integrate.quad(split, 0.0, 1.0, epsabs=1e-12, limit=200)
    assert whole == pytest.approx(density([0.0, 2.5, 3.1], [first + second, other], alpha), rel=1e-6)


@pytest.mark.parametrize("unit", [0.05, 0.5, 2.0])
def test_the_constant_part_of_the_density_keeps_its_mass(unit):
    tiny = 0.01
    prior = gamma_exponents.py_func(1.0, 0.0, tiny)
    assert tiny * math.exp(log_term.py_func(prior, unit, 0.3 * tiny)) == pytest.approx(tiny**unit / unit)
    assert log_term.py_func(prior, unit, 0.2) == pytest.approx((unit - 1.0) * math.log(0.2))


@pytest.mark.parametrize("alpha", [0.3, 2.0])
@pytest.mark.parametrize("tiny", [0.0, 0.2])
def test_gradients_against_finite_differences(alpha, tiny):
    tau, unit = np.array([0.0, 0.9, 1.0, 2.5]), [0.3, 1.1, 2.0]

    def value(tau, alpha):
        return log_density(tau, gaps(unit), gamma_exponents.py_func(alpha, 0.3, tiny))

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
    one = log_density(tau, gaps(unit), gamma_exponents.py_func(1.0, 0.3, 0.0))[0]
    assert log_density(tau, gaps(unit), exponents("exponential", floor=0.3))[0] == one
