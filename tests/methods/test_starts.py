"""Where a method starts."""

import numpy as np
import pytest
from scipy.optimize import isotonic_regression as truth

from lamina.methods.starts import isotonic_regression


@pytest.mark.parametrize("slope", [0.0, 0.3, 3.0, -0.3])
def test_isotonic_regression_is_that_of_scipy_to_the_last_digit(rng, slope):
    for n in (1, 2, 3, 10, 50):
        for weights in np.ones(n), rng.uniform(0.01, 1.0, n):
            values = slope * np.arange(n) + rng.standard_normal(n).round(1)
            np.testing.assert_array_equal(isotonic_regression(values, weights), truth(values, weights=weights).x)
