"""Names and units on the axes, and which way time runs."""

import fits
import pytest

from lamina.axes import describe


@pytest.mark.parametrize(
    ("t_unit", "y_unit", "rate_unit", "duration", "factor"),
    [
        ("CE", "m", "mm/year", "years", 1000.0),
        ("cal a BP", "m", "mm/year", "years", -1000.0),
        ("BP", "cm", "cm/year", "years", -1.0),
        ("yr", "m", "mm/year", "years", 1000.0),
        ("ka BP", "m", "m/ka", "ka", -1.0),
        ("ka", "", "1/ka", "ka", 1.0),
        ("s", "°C", "°C/s", "s", 1.0),
        ("", "°C", "°C per unit of t", "", 1.0),
        ("", "", "", "", 1.0),
    ],
)
def test_rates_have_the_units_of_the_record(t_unit, y_unit, rate_unit, duration, factor):
    found = describe(fits.record(t_unit=t_unit, y_unit=y_unit))
    assert (found.rate_unit, found.duration, found.rate_factor) == (rate_unit, duration, factor)
    assert found.backwards == ("BP" in t_unit)
    assert found.time_sign == (-1.0 if "BP" in t_unit else 1.0)


def test_labels_hold_name_and_unit():
    found = describe(fits.record(t_name="Age", t_unit="cal a BP", y_name="RSL", y_unit="m"))
    assert (found.time, found.value) == ("Age (cal a BP)", "RSL (m)")
    assert found.rate == "Rate forward in time (mm/year)"
    plain = describe(fits.record())
    assert (plain.time, plain.value, plain.rate) == ("t", "y", "Rate")


def test_a_column_called_year_counts_years():
    assert describe(fits.record(t_name="Year", y_unit="m")).rate_unit == "mm/year"
