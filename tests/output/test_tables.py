"""Tables declare what their columns are: every column of every table is in columns.txt."""

import fits
import numpy as np
import pytest

from lamina.engine.quantiles import QUANTILES
from lamina.output import tables

DEPTH = np.linspace(5.0, 50.0, len(fits.TRUE))
UNITS = {"t_name": "Age", "t_unit": "cal a BP", "y_name": "RSL", "y_unit": "m", "depth_unit": "cm"}


@pytest.fixture(scope="module")
def posterior():
    return fits.quietly(fits.record(depth=DEPTH, label=list("abcdefghij"), **UNITS), "gp")


def made(posterior, at=(1.0, 2.0, 3.0)):
    record, at = posterior.record, list(at)
    curve, rate = posterior.curve_and_rate(at)
    curves = {"gp": curve, "nigp": curve}
    return [
        tables.curve_table(posterior, curve),
        tables.rate_table(posterior, rate),
        tables.components_table(posterior, at),
        tables.inputs_table(posterior),
        tables.dates_table(posterior),
        tables.theta_table(posterior),
        tables.ages_table(posterior, None if max(at) < 5.0 else [5.0, 60.0]),
        tables.differences_table(record, curves, dict.fromkeys(curves, "yes")),
        tables.curves_table({"gp": posterior, "nigp": posterior}, curves),
    ]


@pytest.mark.parametrize("at", [(1.0, 2.0, 3.0), (-9.0, 2.0, 30.0)], ids=["within the data", "beyond the data"])
def test_every_column_is_explained_and_nothing_else(posterior, at):
    for table in made(posterior, at):
        named = [name.strip() for names in table.columns for name in names.split(",")]
        expected = [name for name in table.frame if name not in QUANTILES[1:]]
        assert named == expected, table.file
        assert all(table.columns.values())


def test_times_and_depths_beyond_the_data_are_marked_and_only_there(posterior):
    for table in made(posterior):
        assert "extrapolated" not in table.frame
    for table in made(posterior, (-9.0, 2.0, 30.0)):
        if "at" in table.frame:
            beyond = ~table.frame["at"].between(0.0, 10.0)
            np.testing.assert_array_equal(table.frame["extrapolated"] == "yes", beyond)
        if table.file == "ages.csv":
            assert table.frame["extrapolated"].to_list() == ["no", "yes"]


def test_units_are_those_of_the_record(posterior):
    text = tables.describe_columns(made(posterior))
    for line in ("at              time, in cal a BP", "sd              standard deviation (1 sigma) of the curve, in m",
                 "mean            mean of the rate, in m/year, forward in time", "depth           depth, in cm",
                 "t_sd            its standard deviation (1 sigma), 0 for exact, inf for a row"):  # fmt: skip
        assert line in text


def test_rates_are_written_forward_in_time(posterior):
    rate = posterior.rate([1.0, 2.0])
    turned = tables.rate_table(posterior, rate).frame
    np.testing.assert_array_equal(turned["mean"], -rate["mean"])
    np.testing.assert_array_equal(turned["q2.5"], -rate["q97.5"])
    np.testing.assert_array_equal(turned["sd"], rate["sd"])
