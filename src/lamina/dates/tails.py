"""Tails of dates: errors of Student's t, which let a date be an outlier, and the probability that it is one."""

from __future__ import annotations

import numpy as np

Array = np.ndarray

#: A date is an outlier if its error is more than this many times the reported one.
OUTLIER_ERROR = 2.0


def student(d: Array, a: float, b: float) -> Array:
    """The logarithm of (b + d²/2)^-(a + 1/2), d in reported standard deviations."""
    return -(a + 0.5) * np.log(b + 0.5 * d**2)


def normal_below(d: Array) -> Array:
    """The probability of a normal error below d, in standard deviations."""
    from scipy.special import ndtr

    return np.asarray(ndtr(d))


def student_below(d: Array, a: float, b: float) -> Array:
    """The probability of an error below d: Student's t with 2a degrees of freedom and scale √(b/a)."""
    from scipy.special import stdtr

    return np.asarray(stdtr(2.0 * a, np.asarray(d) * np.sqrt(a / b)))


def student_outlier(d: Array, a: float, b: float) -> Array:
    """The probability of an outlier at distances d, in reported standard deviations, of the shape of d.

    A Student-t error is a normal one whose precision, in units of the reported one, has a Gamma(a, b) distribution.
    Given d it is Gamma(a + 1/2, b + d²/2), and an outlier has less than 1 / OUTLIER_ERROR²: docs/dates.md.
    """
    from scipy.special import gammainc

    return np.asarray(gammainc(a + 0.5, (b + 0.5 * np.asarray(d) ** 2) / OUTLIER_ERROR**2))
