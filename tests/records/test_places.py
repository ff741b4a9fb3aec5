"""Records with places: what they hold, and one message for everything that cannot be."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import lamina
from lamina import MethodError, Record, RecordError
from lamina.fitting import prepare_age_depth
from lamina.methods.registry import METHODS
from lamina.posterior import storage
from lamina.records.layers import add_layers, keep_rows
from lamina.records.places import Places
from lamina.records.ties import bottom_up, merge_ties

SITES = ["Sand Point", "Sand Point", "Nassau", "Nassau", "Nassau"]
LATITUDE = [35.88, 35.88, 30.67, 30.67, 30.67]
LONGITUDE = [-75.68, -75.68, -81.62, -81.62, -81.62]


def make(**changes):
    fields = {
        "t": [100.0, 900.0, 0.0, 800.0, 1500.0],
        "t_sd": 50.0,
        "y": [-2.0, -1.0, -1.5, -0.9, -0.3],
        "y_sd": 0.1,
        "site": SITES,
        "latitude": LATITUDE,
        "longitude": LONGITUDE,
    }
    return Record(**(fields | changes))


# --- what is held ---


def test_sites_are_in_order_of_first_appearance():
    places = make().places
    assert places.names == ("Sand Point", "Nassau")
    np.testing.assert_array_equal(places.latitude, [35.88, 30.67])
    np.testing.assert_array_equal(places.longitude, [-75.68, -81.62])
    np.testing.assert_array_equal(places.index, [0, 0, 1, 1, 1])
    assert np.isnan(places.gia).all()
    assert np.isnan(places.gia_sd).all()
    assert not places.has_gia


@pytest.mark.parametrize(
    ("latitude", "longitude"),
    [
        ([35.88, 30.67], [-75.68, -81.62]),
        ({"Nassau": 30.67, "Sand Point": 35.88, "elsewhere": 0.0}, {"Nassau": -81.62, "Sand Point": -75.68}),
        (pd.Series(LATITUDE), np.array(LONGITUDE)),
        (LATITUDE, [one + 360.0 for one in LONGITUDE]),
    ],
)
def test_coordinates_per_row_per_site_or_by_name_and_east_or_west_are_the_same(latitude, longitude):
    found = make(latitude=latitude, longitude=longitude).places
    np.testing.assert_allclose(found.longitude, [-75.68, -81.62], rtol=1e-12)
    np.testing.assert_array_equal(found.latitude, [35.88, 30.67])


def test_without_sequences_each_site_is_one_and_with_them_they_separate_cores():
    assert [name for name, _ in make().sequences] == ["Sand Point", "Nassau"]
    found = make(sequence=[None, None, "a", "b", "b"])
    assert [name for name, _ in found.sequences] == ["a", "b"]
    np.testing.assert_array_equal(found.unordered, [0, 1])


@pytest.mark.parametrize(
    "gia", [{"gia": {"Sand Point": 1.1, "Nassau": 0.5}}, {"gia": [1.1, 0.5]}, {"gia": [1.1, np.nan, 0.5, 0.5, 0.5]}]
)
def test_rates_of_glacial_isostasy_in_each_form(gia):
    places = make(**gia, gia_sd=0.2).places
    np.testing.assert_array_equal(places.gia, [1.1, 0.5])
    np.testing.assert_array_equal(places.gia_sd, [0.2, 0.2])
    assert places.has_gia


def test_positions_of_one_site_within_a_kilometre_are_averaged_across_the_date_line_too():
    fields = {"latitude": [0.0, 0.0, 10.0, 10.0, 10.0], "longitude": [179.999, -179.997, 1.0, 1.0, 1.0]}
    places = make(**fields).places
    assert abs(places.longitude[0]) == pytest.approx(179.999, abs=1e-9)


def test_no_places_without_sites():
    record = make(site=None, latitude=None, longitude=None)
    assert record.places is None
    assert record.sequence is None


@pytest.mark.parametrize(
    "duplicate",
    [
        lambda r: pickle.loads(pickle.dumps(r)),
        copy.copy,
        copy.deepcopy,
        replace,
        lambda r: Record(**r.to_frame()),
        lambda r: replace(r, places=storage._decode(storage._encode(r.places))),
    ],
)
def test_duplicates_are_equal_and_read_only(duplicate):
    record = make(gia={"Sand Point": 1.1, "Nassau": 0.5}, gia_sd=0.2)
    twin = duplicate(record)
    assert twin == record
    assert not any(getattr(twin.places, name).flags.writeable for name in ("latitude", "index", "gia"))


@pytest.mark.parametrize(
    "change", [{"gia": [1.0, 2.0]}, {"latitude": [35.0, 30.0]}, {"site": [*SITES[:4], "x"], "latitude": [1, 2, 3]}]
)
def test_records_differ_where_places_do(change):
    change = {"longitude": [10.0, 20.0, 30.0]} | change if "site" in change else change
    assert make() != make(**change)


def test_text_and_html_have_the_sites():
    record = make(gia=[1.0, 2.0])
    assert "2 sites, 30.67° N, 81.62° W to 35.88° N, 75.68° W; with rates of glacial isostasy" in repr(record)
    assert "2 sites" in record._repr_html_()


# --- rows that are merged, turned round, added or left out keep their site ---


def test_rows_keep_their_sites():
    depth = [1.0, 2.0, 1.0, 2.0, 9.0]
    record = make(order="decreasing", t=[900.0, 100.0, 1500.0, 800.0, 0.0], depth=depth)
    merged, layer = merge_ties(replace(record, tie=[None, None, "x", "x", None]))
    np.testing.assert_array_equal(merged.places.index, [0, 0, 1, 1])
    np.testing.assert_array_equal(merged.places.index[layer], record.places.index)
    turned, layer = bottom_up(record, np.arange(5))
    np.testing.assert_array_equal(turned.places.index[layer], record.places.index)
    layered, rows = add_layers(record, 4)
    np.testing.assert_array_equal(layered.places.index, record.places.index[rows])
    assert [layered.places.names[k] for k in layered.places.index] == list(layered.sequence)
    kept = keep_rows(record, np.array([True, False, True, False, True]))
    np.testing.assert_array_equal(kept.places.index, [0, 1, 1])
    assert kept.places.names == record.places.names


def test_rows_of_two_sites_cannot_be_tied():
    record = make(sequence=[None] * 5, tie=[None, "ash", "ash", None, None])
    with pytest.raises(RecordError, match=r"rows 1 and 2 .*'ash'.*different sites"):
        merge_ties(record)


# --- one message each ---

BAD = {
    "no coordinates": ({"latitude": None, "longitude": None}, r"site but no latitude and no longitude.*leave all"),
    "no site": ({"site": None}, r"latitude and longitude but no site"),
    "a row without site": ({"site": [*SITES[:4], " "]}, r"site is missing in row 4"),
    "a row without latitude": ({"latitude": [*LATITUDE[:4], None]}, r"latitude is missing .* row 4 .*'Nassau'"),
    "a site without longitude": ({"longitude": {"Nassau": 1.0}}, r"longitude has no entry for 'Sand Point'"),
    "three latitudes of two sites": ({"latitude": [1.0, 2.0, 3.0]}, r"latitude has 3 values, for 5 rows of 2 sites"),
    "swapped": (
        {"latitude": [-175.0, -181.0], "longitude": [35.0, 30.0]},
        r"latitude is −175 in rows .*between -90 and 90.*swapped\?",
    ),
    "no latitude at all": ({"latitude": [135.0, 30.0], "longitude": [135.0, 30.0]}, r"latitude is 135 .*degrees north"),
    "no longitude at all": ({"longitude": [-190.0, 30.0]}, r"longitude is −190 in rows 0 and 1 .*negative to the west"),
    "text": ({"latitude": ["a", 1, 1, 1, 1]}, r"latitude must hold real numbers.*row 0"),
    "a site at two places": (
        {"latitude": [*LATITUDE[:4], 31.67]},
        r"'Nassau' is at two places, 111 km apart, see rows 2 and 4 .*: 30.67° N, 81.62° W and 31.67° N, 81.62° W",
    ),
    "two sites at one point": (
        {"latitude": [30.0, 30.0], "longitude": [278.0, -82.0]},
        r"'Sand Point' and 'Nassau' are at the same point, 30° N, 82° W\. Give them one name",
    ),
    "one site": ({"site": ["Nassau"] * 5, "latitude": 30.67, "longitude": -81.62}, r"one dimension"),
    "one site, per row": (
        {"site": ["Nassau"] * 5, "latitude": [30.67] * 5, "longitude": [-81.62]},
        r"all rows are from one site, 'Nassau', and a field needs at least two",
    ),
    "rates that miss a site": ({"gia": {"Nassau": 1.0}}, r"gia is missing for 'Sand Point' \(1 of 2 sites\)"),
    "errors that miss a site": ({"gia": 1.0, "gia_sd": [0.1, np.nan]}, r"gia_sd is missing for 'Nassau'"),
    "errors without rates": ({"gia_sd": 1.0}, r"gia_sd but no gia"),
    "no error": ({"gia": 1.0, "gia_sd": [0.1, 0.0]}, r"gia_sd is not positive for 'Nassau'"),
    "two rates of a site": ({"gia": [1.0, 1.0, 0.5, 0.5, 0.6]}, r"gia of site 'Nassau' differs .* rows 2 and 4"),
    "a core at two sites": (
        {"sequence": ["a", "a", "a", "b", "b"]},
        r"sequence 'a' has rows of 2 sites \('Sand Point', 'Nassau'\)",
    ),
}


@pytest.mark.parametrize(("changes", "message"), BAD.values(), ids=BAD)
def test_bad_places_have_one_message_each(changes, message):
    with pytest.raises(RecordError, match=message):
        make(**changes)


def test_places_of_another_record_are_refused():
    other = make().places
    with pytest.raises(RecordError, match=r"places must be those of a record of 2 rows"):
        Record(t=[1.0, 2.0], t_sd=1.0, y=[1.0, 2.0], y_sd=1.0, places=other)
    with pytest.raises(RecordError, match=r"latitude has the shape \(1,\), with 2 sites"):
        Places(("a", "b"), np.zeros(1), np.zeros(2), np.zeros(1), np.zeros(2), np.zeros(2))
    with pytest.raises(RecordError, match=r"index must hold a number from 0 to 1"):
        Places(("a", "b"), np.zeros(2), np.zeros(2), np.array([2]), np.zeros(2), np.zeros(2))


# --- no method ignores places ---


@pytest.mark.parametrize("name", sorted(METHODS))
def test_a_method_without_places_refuses_them_by_name(name):
    if METHODS[name].has_places:
        pytest.skip("it has places")
    with pytest.raises(MethodError, match=rf'method="{name}" has no places: .* all 2 sites\. .*each site by itself'):
        lamina.fit(make(), method=name)


def test_an_age_depth_model_needs_no_places():
    record = make(order="decreasing", t=[900.0, 100.0, 1500.0, 800.0, 0.0], depth=[1.0, 2.0, 1.0, 2.0, 9.0])
    layered = prepare_age_depth(record, steps=3).problem.source
    assert layered.places is None
    assert [name for name, _ in layered.sequences] == ["Sand Point", "Nassau"]


def test_a_field_in_the_antarctic_is_asked_about():
    """Latitude −75, longitude 36 is a place, but swapped it is the coast of North Carolina."""
    with pytest.warns(UserWarning, match="latitude and longitude are swapped"):
        lamina.fit(make(latitude=LONGITUDE, longitude=LATITUDE), method="gp")
