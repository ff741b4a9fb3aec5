"""Numbers in words."""

import numpy as np
import pytest

from lamina.support import numbers


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (numbers.number(-0.0012345), "−0.00123"),
        (numbers.number(123456.0), "123456"),
        (numbers.number(1e-9), "1.00 × 10⁻⁹"),
        (numbers.number(-2.5e12, 2), "−2.5 × 10¹²"),
        (numbers.number(0.000171), "0.000171"),
        (numbers.plain(-1.5e-7), "−1.5 × 10⁻⁷"),
        (numbers.with_sd(0.0000171, 0.0000023), "(1.71 ± 0.23) × 10⁻⁵"),
        (
            numbers.with_range(0.0000171, -0.0000012, 0.0000334, "permil/year"),
            "1.7 × 10⁻⁵ permil/year (95 %: −0.1 × 10⁻⁵ to 3.3 × 10⁻⁵)",
        ),
        (numbers.with_range(0.0000171, -0.01, 0.02), "0.000 (95 %: −0.010 to 0.020)"),
        (numbers.with_sd(0.0, 0.0), "0"),
        (numbers.capitalised("value"), "Value"),
        (numbers.capitalised("relative sea level"), "Relative sea level"),
        (numbers.capitalised("d18O"), "d18O"),
        (numbers.capitalised("δ18O"), "δ18O"),
        (numbers.capitalised("pH"), "pH"),
        (numbers.capitalised("y"), "y"),
        (numbers.capitalised(""), ""),
        (numbers.number(np.nan), "–"),
        (numbers.with_sd(1586.4, 799.0), "1586 ± 799"),
        (numbers.with_sd(0.1234, 0.0456), "0.123 ± 0.046"),
        (numbers.with_sd(5.0, 0.0), "5"),
        (numbers.with_range(-0.001, -0.11, 0.11), "0.00 (95 %: −0.11 to 0.11)"),
        (numbers.probability(1.0), "> 99.9 %"),
        (numbers.probability(0.0), "< 0.1 %"),
        (numbers.probability(0.5), "50.0 %"),
        (numbers.count(1, "row"), "1 row"),
        (numbers.count(12345, "row"), "12,345 rows"),
        (numbers.join_words(["a", "b", "c"]), "a, b and c"),
        (numbers.join_words([]), ""),
    ],
)
def test_numbers_in_words(said, expected):
    assert said == expected
