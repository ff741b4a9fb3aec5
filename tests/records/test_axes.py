"""Names and units on the axes, and which way time runs."""

import fits
import numpy as np
import pytest

import lamina
from lamina.records.axes import describe
from lamina.records.glossary import rate_unit


@pytest.mark.parametrize(
    ("t_unit", "y_unit", "rate_unit", "duration", "factor"),
    [
        ("CE", "m", "mm/year", "years", 1000.0),
        ("CE", "m NAVD88", "mm/year", "years", 1000.0),
        ("cal a BP", "cm MSL", "cm/year", "years", -1.0),
        ("cal a BP", "m", "mm/year", "years", -1000.0),
        ("BP", "cm", "cm/year", "years", -1.0),
        ("yr", "m", "mm/year", "years", 1000.0),
        ("ka BP", "m", "m/ka", "ka", -1.0),
        ("ka", "", "1/ka", "ka", 1.0),
        ("s", "°C", "°C/s", "s", 1.0),
        ("", "°C", "°C per unit of t", "", 1.0),
        ("", "", "", "", 1.0),
        ("BCE/CE", "m", "mm/year", "years", 1000.0),
        ("calBP", "m", "mm/year", "years", -1000.0),
        ("cal yr bp", "m", "mm/year", "years", -1000.0),
        ("yr B.P.", "m", "mm/year", "years", -1000.0),
        ("years before present", "m", "mm/year", "years", -1000.0),
        ("yr b2k", "m", "mm/year", "years", -1000.0),
        ("yr ago", "m", "mm/year", "years", -1000.0),
        ("ago", "m", "m per unit of t", "", -1.0),
    ],
)
def test_rates_have_the_units_of_the_record(t_unit, y_unit, rate_unit, duration, factor):
    found = describe(fits.record(t_unit=t_unit, y_unit=y_unit))
    assert (found.rate_unit, found.duration, found.rate_factor) == (rate_unit, duration, factor)
    assert found.backwards == (factor < 0.0)
    assert found.time_sign == np.sign(factor)


def test_labels_hold_name_and_unit():
    found = describe(fits.record(t_name="Age", t_unit="cal a BP", y_name="RSL", y_unit="m"))
    assert (found.time, found.value) == ("Age (cal a BP)", "RSL (m)")
    assert found.rate == "Rate forward in time (mm/year)"
    plain = describe(fits.record())
    assert (plain.time, plain.value, plain.rate) == ("t", "y", "Rate")


def test_a_column_called_year_counts_years():
    assert describe(fits.record(t_name="Year", y_unit="m")).rate_unit == "mm/year"


@pytest.mark.parametrize(
    ("t_unit", "t_name", "runs"),
    [("BP", "t", "backwards"), ("AD", "t", "forwards"), ("", "Year", "forwards"), ("yr", "t", None), ("s", "t", None)],
)
def test_forward_in_time_is_claimed_only_where_that_is_known(t_unit, t_name, runs):
    record = fits.record(t_unit=t_unit, t_name=t_name, y_unit="m")
    assert describe(record).runs == runs
    assert ("forward in time" in rate_unit(record)) == (runs is not None)
    assert ("as t grows" in rate_unit(record)) == (runs is None)


#: Headers whose numbers grow with depth: what the output does down the core, it does backwards in time.
HEADERS = ["Age", "Age_BP (years)", "Age BP (cal yr)", "Age (cal yr bp)", "Age (yrs. B.P.)", "Age (calBP)", "Age (ka)",
           "Age (years before present)", "Age (yr b2k)", "age_bp", "Age (cal a BP)", "x"]  # fmt: skip


@pytest.mark.parametrize("header", HEADERS)
def test_from_the_header_to_the_sign_of_the_rate(tmp_path, header):
    path = tmp_path / "core.csv"
    rows = "".join(f"{k},{100 * k},1,{-0.1 * k},0.05\n" for k in range(1, 9))
    path.write_text(f"depth,{header},{header} sd,RSL (m),RSL sd\n{rows}")
    record = lamina.read(path)
    rate = lamina.fit(record, "gp").rate([450.0])["mean"].item() * describe(record).rate_factor
    assert rate > 0.0  # it rose


def test_years_are_not_turned(tmp_path):
    path = tmp_path / "core.csv"
    rows = "".join(f"{k},{2000 - 100 * k},1,{-0.1 * k},0.05\n" for k in range(1, 9))
    for header in "Age (BCE/CE)", "Year", "x":
        path.write_text(f"depth,{header},{header} sd,RSL (m),RSL sd\n{rows}")
        record = lamina.read(path)
        assert lamina.fit(record, "gp").rate([1550.0])["mean"].item() * describe(record).rate_factor > 0.0


@pytest.mark.parametrize(
    ("t_unit", "order", "depth", "word"),
    [
        ("cal BP", "increasing", [0.0, 5.0], "depth"),
        ("cal BP", "increasing", [5.0, 0.0], "height"),
        ("CE", "decreasing", [0.0, 5.0], "depth"),
        ("CE", "increasing", [0.0, 5.0], "height"),
        ("", "increasing", [5.0, 0.0], "depth"),
    ],
)
def test_what_grows_from_old_to_young_is_a_height(t_unit, order, depth, word):
    t = [1.0, 2.0] if order == "increasing" else [2.0, 1.0]
    axes = describe(lamina.Record(t, 1.0, [0.0, 0.0], 1.0, order=order, depth=depth, depth_unit="cm", t_unit=t_unit))
    assert (axes.along, axes.depth) == (word, f"{word.capitalize()} (cm)")
