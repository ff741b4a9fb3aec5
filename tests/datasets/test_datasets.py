import numpy as np
import pytest

from lamina import datasets
from lamina.errors import LaminaError


@pytest.mark.parametrize("name", datasets.names())
def test_every_embedded_record_loads_and_loads_the_same_again(name):
    record = datasets.load(name)
    assert len(record) > 0
    assert record == datasets.load(name)


def test_nassau_is_one_core_and_an_exact_gauge():
    record = datasets.load("nassau")
    ((name, core),) = record.sequences
    assert name == "core"
    assert record.sign == 1.0
    np.testing.assert_array_equal(core, np.arange(65))
    np.testing.assert_array_equal(record.unordered, np.arange(65, 77))
    np.testing.assert_array_equal(np.flatnonzero(record.exact), record.unordered)
    assert (record.t[0], record.t_sd[0], record.y[0], record.y_sd[0]) == (-559.0, 70.5, -1.18, 0.07)
    assert (record.t[-1], record.t_sd[-1], record.y[-1], record.y_sd[-1]) == (2005.9, 0.0, 0.0, 0.011)
    assert (record.t_name, record.t_unit) == ("Year", "CE")
    assert (record.y_name, record.y_unit) == ("Relative sea level", "m")


def test_atlantic_has_cores_and_exact_gauges_in_places_of_their_own():
    record = datasets.load("atlantic")
    places = record.places
    assert (len(record), len(places)) == (1715 + 217, 43)
    np.testing.assert_array_equal(np.flatnonzero(record.exact), np.arange(1715, 1932))
    assert len(np.unique(places.index[~record.exact])) == 21
    assert len(np.unique(places.index[record.exact])) == 22
    assert not set(places.index[record.exact]) & set(places.index[~record.exact])
    first = (record.t[0], record.t_sd[0], record.y[0], record.y_sd[0])
    assert (places.names[0], places.latitude[0], places.longitude[0], *first) == (
        *("Barn Island", 41.331, -71.864),
        *(1336.0, 16.5, -0.91, 0.04),
    )
    gauge = (record.t[1715], record.t_sd[1715], record.y[1715], record.y_sd[1715])
    assert (places.names[places.index[1715]], *gauge) == ("NEW YORK", 1855.0, 0.0, -0.4945, 0.0406)


def test_the_rates_of_glacial_isostasy_are_in_the_unit_of_the_record():
    places = datasets.load("atlantic").places
    assert places.gia[places.names.index("Barn Island")] == pytest.approx(0.001081)
    assert np.isnan(places.gia_sd).all()


def test_the_order_that_the_age_models_have_used_is_not_used_again():
    record = datasets.load("atlantic")
    assert record.sequences == ()
    np.testing.assert_array_equal(record.unordered, np.arange(len(record)))


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(LaminaError, match=r"unknown dataset 'nasau'.*nassau"):
        datasets.load("nasau")
