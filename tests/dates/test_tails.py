"""Dates with tails: the probability of an outlier against integration over the unknown error, and joint dates."""

import numpy as np
import pytest
from scipy import stats

from lamina.dates import Radiocarbon, SplitNormal, StudentT, Tabulated, Uniform
from lamina.dates.curves import load_curve
from lamina.dates.joint import Joint
from lamina.errors import RecordError

#: Precisions in units of the reported one, finely spaced: the integral over them is a sum.
PRECISION = np.linspace(1e-6, 12.0, 400_001)


def by_integration(distance: float, a: float = 3.0, b: float = 4.0) -> float:
    """The probability that the error is more than twice the reported one, given a distance in reported sd."""
    joint = stats.gamma.pdf(PRECISION, a, scale=1.0 / b) * stats.norm.pdf(distance, scale=PRECISION**-0.5)
    return joint[PRECISION < 0.25].sum() / joint.sum()


@pytest.mark.parametrize("distance", [0.0, 1.0, 3.0, 5.0, 12.0])
def test_the_probability_of_an_outlier_is_that_of_an_error_twice_the_reported_one(distance):
    date = StudentT(100.0, 10.0)
    for side in 1.0, -1.0:
        assert date.outlier_probability(100.0 + side * 10.0 * distance) == pytest.approx(
            by_integration(distance), abs=1e-4
        )


def test_it_grows_with_the_distance_from_almost_nothing_to_one():
    chance = StudentT(0.0, 1.0).outlier_probability(np.linspace(0.0, 40.0, 200))
    assert (np.diff(chance) >= 0.0).all()
    assert chance[0] < 0.05
    assert chance[-1] > 0.999


@pytest.mark.parametrize("scale", ["BP", "CE"])
def test_the_error_of_a_radiocarbon_date_is_in_radiocarbon_years(scale):
    date, curve = Radiocarbon(2450.0, 30.0, delta_r=20.0, delta_r_sd=15.0, scale=scale), load_curve("IntCal20")
    for year in 2000.0, 2500.0, 3200.0:
        sd = np.sqrt(30.0**2 + 15.0**2 + np.interp(year, curve.year, curve.sd) ** 2)
        distance = (2450.0 - 20.0 - np.interp(year, curve.year, curve.age)) / sd
        found = date.outlier_probability(year if scale == "BP" else 1950.0 - year)
        assert found == pytest.approx(by_integration(distance), abs=1e-4)


@pytest.mark.parametrize(
    "date",
    [
        Uniform(0.0, 1.0),
        SplitNormal(0.0, 1.0, 2.0),
        Tabulated([0.0, 1.0, 2.0], [0.0, 1.0, 0.0]),
        Radiocarbon(2450.0, 30.0, student=False),
    ],
)
def test_dates_without_tails_have_no_such_probability(date):
    assert date.outlier_probability([0.5]) is None


def test_a_joint_date_is_the_product_and_keeps_the_tails():
    parts = (StudentT(100.0, 10.0), StudentT(130.0, 20.0), SplitNormal(110.0, 15.0, 15.0))
    date, x = Joint(parts), np.linspace(0.0, 250.0, 60)
    difference = date.log_density(x) - sum(part.log_density(x) for part in parts)
    assert np.ptp(difference) < 2e-3
    tails = Joint(parts[:2])
    assert np.isfinite(tails.log_density(1e5))
    assert np.isneginf(Joint((parts[0], Uniform(90.0, 200.0))).log_density(89.0))
    with pytest.raises(RecordError, match="no time in common"):
        Joint((Uniform(0.0, 1.0), Uniform(2.0, 3.0)))


@pytest.mark.parametrize("ages", [(60.0, 90.0), (300.0, 12_000.0), (49_000.0, 200.0)])
def test_a_joint_date_falls_on_both_sides_also_where_a_curve_ends(ages):
    """Flat tails would let the time of a layer go to infinity."""
    table = Joint(tuple(Radiocarbon(age, 40.0) for age in ages)).table()
    assert table.log_density[1] > table.log_density[0]
    assert table.log_density[-2] > table.log_density[-1]
    assert np.isfinite(table.log_density).all()
