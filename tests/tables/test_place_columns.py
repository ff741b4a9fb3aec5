"""Tables with places: columns of sites and coordinates, degrees as people write them, and rates of glacial isostasy."""

import math

import numpy as np
import pytest

import lamina
from lamina.tables import Options, TableError, read, survey
from lamina.tables.places.degrees import read_cell

ROWS = """\
site,core,lat,lon,depth,age_ce,age_sd,rsl (m),rsl_sd
Barn Island,1,41.331,-71.864,0,2000,5,0,0.05
Barn Island,1,41.331,-71.864,10,1900,25,-0.3,0.05
Barn Island,2,41.331,-71.864,10,1800,25,-0.4,0.05
Barn Island,2,41.331,-71.864,30,1500,25,-0.8,0.05
Leeds Point,,39.5,-74.42,5,1900,25,-0.3,0.05
Leeds Point,,39.5,-74.42,20,1600,25,-0.8,0.05
Leeds Point,,39.5,-74.42,40,1200,25,-1.2,0.05
NEW YORK,,40.7,-74.01,,1950,0,-0.1,0.02
NEW YORK,,40.7,-74.01,,1980,0,0.0,0.02
"""
PLACES = Options(places=True)


def with_cells(**columns):
    """The table with other headers, and other cells where a mapping from cells is given."""
    lines = [line.split(",") for line in ROWS.splitlines()]
    names = lines[0][:]
    for name, (header, cells) in columns.items():
        k = names.index(name)
        for line in lines[1:]:
            line[k] = cells.get(line[k], line[k])
        lines[0][k] = header
    return "\n".join(",".join(line) for line in lines) + "\n"


def facts(reading):
    return {fact.what: f"{fact.understood} ({fact.why})" for fact in reading.facts}


def test_sites_cores_and_gauges_stand_side_by_side(table):
    reading = read(table(ROWS), PLACES)
    record = reading.record
    assert record.places.names == ("Barn Island", "Leeds Point", "NEW YORK")
    assert [str(name) for name, _ in record.sequences] == ["Barn Island / 1", "Barn Island / 2", "Leeds Point"]
    assert [len(rows) for _, rows in record.sequences] == [2, 2, 3]
    assert record.unordered.size == 2  # the gauge has no depths
    assert record.exact[record.unordered].all()
    np.testing.assert_allclose(record.places.longitude, [-71.864, -74.42, -74.01])
    said = facts(reading)
    assert "negative to the west" in said["longitude"]
    assert said["sites"].startswith('3, the column "site"')
    assert "no column gia" in said["glacial isostasy"]


def test_lamina_read_has_places_in_python(table):
    record = lamina.read(table(ROWS), places=True)
    assert record.places is not None
    assert record == read(table(ROWS), PLACES).record


WEST = {"-71.864": "71.864", "-74.42": "74.42", "-74.01": "74.01"}
TURN = {"-71.864": "288.136", "-74.42": "285.58", "-74.01": "285.99"}
LETTERS = {"-71.864": "71.864 W", "-74.42": "74° 25′ 12″ W", "-74.01": "W 74:0:36"}


@pytest.mark.parametrize(
    ("header", "cells", "why"),
    [
        ("Longitude (°E)", {}, "negative to the west"),
        ("Longitude (°W)", WEST, "taken as negative"),
        ("LongitudeW", WEST, "taken as negative"),
        ("long_west", WEST, "taken as negative"),
        ("Longitude (°W)", {}, "they are negative, and the header names west"),
        ("LON (deg., west is negative)", {}, "negative to the west"),
        ("lon", TURN, "0 to 360"),
        ("lons", {}, "negative to the west"),
        ("longs", {}, "negative to the west"),
        ("lon_w", WEST, "taken as negative"),
        ("Site longitude (decimal degrees)", LETTERS, "letters W"),
    ],
)
def test_longitudes_as_people_write_them(table, header, cells, why):
    text = with_cells(lon=(f'"{header}"', cells))
    reading = read(table(text), PLACES)
    np.testing.assert_allclose(reading.record.places.longitude, [-71.864, -74.42, -74.01], atol=1e-9)
    assert why in facts(reading)["longitude"]


@pytest.mark.parametrize(
    ("header", "sign"),
    [
        *[(name, 1) for name in ("lat", "lats", "LATS", "Latitudes", "lat_degs", "Latitude_N", "lats (N)", "latN")],
        *[(name, -1) for name in ("lat_s", "lat (S)", "LatS", "Latitude [°S]", "latitude south", "lat_dec_s")],
    ],
)
def test_the_end_of_a_plural_is_not_the_south(table, header, sign):
    found = read(table(with_cells(lat=(header, {}))), PLACES).record.places.latitude
    np.testing.assert_allclose(found, sign * np.array([41.331, 39.5, 40.7]))


@pytest.mark.parametrize(
    ("cell", "degrees"),
    [
        ("41.331", 41.331), ("41,331", 41.331), ("-41.331", -41.331), ("−41.331", -41.331),
        ("41.331 N", 41.331), ("S41.331", -41.331), ("41°19.86'", 41.331), ("41° 19′ 51.6″ S", -41.331),
        ("41 19 51.6", 41.331), ("-41:19:51.6", -41.331), ("41 20 N", 41 + 1 / 3),
        ("41 19", math.nan), ("41° 61'", math.nan), ("41.5° 10'", math.nan), ("71.9 W", math.nan), ("north", math.nan),
    ],
)  # fmt: skip
def test_degrees_minutes_and_seconds(cell, degrees):
    assert read_cell(cell, "latitude").value == pytest.approx(degrees, nan_ok=True, abs=1e-9)


def test_an_empty_coordinate_is_that_of_its_site(table):
    text = ROWS.replace("Leeds Point,,39.5,-74.42,20", "Leeds Point,,,,20")
    reading = read(table(text), PLACES)
    assert reading.record.places == read(table(ROWS), PLACES).record.places
    assert "line 7" in facts(reading)["latitude of other rows"]


def bad(table, text, options=PLACES):
    with pytest.raises(TableError) as error:
        read(table(text), options)
    return str(error.value)


def test_each_fault_has_its_own_message(table):
    swapped = with_cells(lat=("lon", {}), lon=("lat", {}))
    text = bad(table, swapped.replace("-71.864", "-171.864"))
    assert "swapped" in text
    letters = with_cells(lat=("lon", {}), lon=("lat", LETTERS))
    assert "are swapped: rename them" in bad(table, letters)
    far = read(table(swapped), PLACES)
    assert any("swapped" in warning for warning in far.warnings)
    none = with_cells(lat=("lat", {"39.5": ""}))
    assert 'no latitude for "Leeds Point"; give every site its coordinates' in bad(table, none)
    assert "no column of latitude and none of longitude" in bad(table, with_cells(lat=("a", {}), lon=("b", {})))
    assert "no column names the sites" in bad(table, with_cells(site=("a", {}), core=("b", {})))
    moved = ROWS.replace("39.5,-74.42,40", "38.5,-74.42,40")
    assert '"Leeds Point" is at two places' in bad(table, moved).replace("'", '"')
    same = with_cells(lat=("lat", {"39.5": "40.7"}), lon=("lon", {"-74.42": "-74.01"}))
    assert "at the same point" in bad(table, same)
    one = "\n".join(line for line in ROWS.splitlines() if not line.startswith(("Leeds", "NEW")))
    assert "all rows are from one site" in bad(table, one)
    nameless = ROWS.replace("Leeds Point,,39.5,-74.42,20", ",,39.5,-74.42,20")
    assert "this row has no site" in bad(table, nameless)
    mixed = with_cells(lon=("lon", {"-74.01": "74.01 W", "-74.42": "74.42"}))
    assert "write all cells in one way" in bad(table, mixed)


def test_coordinates_and_sites_can_be_named(table):
    text = with_cells(site=("where", {}), lat=("a", {}), lon=("b", {}))
    reading = read(table(text), Options(site_column="where", latitude="a", longitude="b"))
    assert reading.record.places == read(table(ROWS), PLACES).record.places
    assert "set by --site-column" in facts(reading)["sites"]


# --- glacial isostasy ------------------------------------------------------------------------------------------------


def test_rates_in_columns_are_converted_to_units_of_the_record(table):
    lines = ROWS.splitlines()
    rates = {"B": "1.08,0.2", "L": "1.4,0.3", "N": "1.2,0.3"}
    text = "\n".join([f"{lines[0]},gia_mm_per_year,gia_sd", *(f"{line},{rates[line[0]]}" for line in lines[1:])])
    reading = read(table(text), PLACES)
    np.testing.assert_allclose(reading.record.places.gia, [0.00108, 0.0014, 0.0012])
    np.testing.assert_allclose(reading.record.places.gia_sd, [0.0002, 0.0003, 0.0003])
    assert "mm/year, forward in time, with errors" in facts(reading)["unit of these rates"]
    assert "gia" not in facts(reading).get("not used", "")


def test_rates_on_a_scale_of_ages_turn_round(table):
    text = with_cells(age_ce=("age_bp", {"2000": "-50", "1900": "50", "1800": "150", "1500": "450", "1600": "350",
                                         "1200": "750", "1950": "0", "1980": "-30"}))  # fmt: skip
    rates = table("site,rate (mm/yr)\nBarn Island,1\nleeds point,2\nNew York,3\n", "gia.csv")
    record = read(table(text), Options(gia=str(rates))).record
    np.testing.assert_allclose(record.places.gia, [-0.001, -0.002, -0.003])


def test_a_file_of_rates_is_matched_by_the_nearest_place(table):
    rates = table("lat,lon,rate\n41,288,1\n40,286,2\n41,286,3\n", "grid.csv")
    reading = read(table(ROWS), Options(gia=str(rates)))
    np.testing.assert_allclose(reading.record.places.gia, [0.001, 0.002, 0.003])
    assert "nearest place" in facts(reading)["glacial isostasy"]
    assert "set it with --gia-unit" in facts(reading)["unit of these rates"]


def test_a_file_that_misses_sites_lists_them_all(table):
    rates = table("site,gia\nBarn Island,1.1\n", "gia.csv")
    text = bad(table, ROWS, Options(gia=str(rates)))
    assert '2 of 3 sites: "Leeds Point", "NEW YORK"' in text
    assert text.startswith("gia.csv")


def test_rates_of_an_unlikely_size_need_a_unit(table):
    rates = table("site,gia\nBarn Island,0.0011\nLeeds Point,0.0014\nNEW YORK,0.001\n", "gia.csv")
    assert "--gia-unit" in bad(table, ROWS, Options(gia=str(rates)))
    record = read(table(ROWS), Options(gia=str(rates), gia_unit="m/yr")).record
    np.testing.assert_allclose(record.places.gia, [0.0011, 0.0014, 0.001])
    assert "is not a unit of a rate" in bad(table, ROWS, Options(gia=str(rates), gia_unit="apples"))


def test_two_rates_of_a_site_are_refused(table):
    rates = table("site,gia\nBarn Island,1\nBarn Island,2\nLeeds Point,1\nNEW YORK,1\n", "gia.csv")
    assert "two rates" in bad(table, ROWS, Options(gia=str(rates)))


def test_a_table_of_reslr_is_read_as_it_is(table):
    lines = ["Site,Region,Age,Age_err,RSL,RSL_err,Longitude,Latitude,linear_rate,linear_rate_err"]
    for site, region, lon, lat, rate in (
        ("Leeds Point", "New Jersey", -74.4, 39.5, 1.69),
        ("Cedar Island", "NC", -76.4, 35, 0.74),
    ):
        lines += [
            f"{site},{region},{year},12,{-0.001 * (2000 - year)},0.05,{lon},{lat},{rate},0.03"
            for year in (1000, 1500, 1900)
        ]
    options = Options(places=True, order="none", scale="CE", y_unit="m")
    record = read(table("\n".join(lines) + "\n"), options).record
    assert record.places.names == ("Leeds Point", "Cedar Island")
    np.testing.assert_allclose(record.places.gia, [0.00169, 0.00074])
    np.testing.assert_allclose(record.places.gia_sd, 0.00003)


# --- the decision ----------------------------------------------------------------------------------------------------


def test_several_sites_without_a_decision_are_asked_about(table):
    text = bad(table, ROWS, Options())
    assert "lamina field" in text
    assert "--pool" in text
    found = survey(table(ROWS))
    assert found.command.split()[:2] == ["lamina", "field"]
    assert "--places" not in found.command
    assert found.reading.record.places is not None
    assert any(fact.what == "latitude" for fact in found.reading.facts)


def test_options_of_fields_make_a_table_a_field(table):
    found = survey(table(with_cells(lat=("a", {}))), Options(latitude="a"))
    assert found.questions == ()
    assert found.command.endswith("--latitude a")


@pytest.mark.parametrize(
    "header",
    ["gia_cm", "gia (mm/decade)", "rate (mm per century)", "gia (ft/yr)", "gia (µm/yr)", "gia_mm", "gia_rate_a"],
)
def test_a_unit_that_is_not_understood_is_asked_for(table, header):
    rates = table(f"site,{header}\nBarn Island,1.1\nLeeds Point,1.4\nNEW YORK,1.2\n", "gia.csv")
    text = bad(table, ROWS, Options(gia=str(rates)))
    assert "the unit of these rates is not clear" in text
    assert "--gia-unit" in text
    record = read(table(ROWS), Options(gia=str(rates), gia_unit="mm/yr")).record
    np.testing.assert_allclose(record.places.gia, [0.0011, 0.0014, 0.0012])


@pytest.mark.parametrize(
    ("header", "error"),
    [("gia [mm·yr-1]", "gia_sd"), ("ICE6G_GIA", "gia error (1σ)"), ("linear_rate", "rate_sd (1 sd)")],
)
def test_units_and_errors_as_people_write_them(table, header, error):
    rates = table(f"site,{header},{error}\nBarn Island,1,2\nLeeds Point,1,2\nNEW YORK,1,2\n", "gia.csv")
    found = read(table(ROWS), Options(gia=str(rates))).record.places
    np.testing.assert_allclose([found.gia, found.gia_sd], [[0.001] * 3, [0.002] * 3])


def test_values_are_compared_within_their_site(table):
    """Of two sites at very different levels, neither is far from its neighbours; a slip in one of them is."""
    lines = ["site,lat,lon,age_ce,age_sd,rsl (m),rsl_sd"]
    for k in range(40):
        lines.append(f"Deep,35.9,-75.7,{100 + 40 * k},20,{-4.0 + 0.02 * k + 0.01 * (k % 3):.2f},0.05")
    lines += [f"High,41.3,-71.9,{900 + 3 * k},20,{-0.9 + 0.01 * (k % 2):.2f},0.05" for k in range(2)]
    text = "\n".join(lines) + "\n"
    options = Options(places=True, order="none")
    assert not [one for one in read(table(text), options).warnings if "far from their neighbours" in one]
    slip = text.replace("500,20,-3.79", "500,20,3.79")
    assert slip != text
    assert [one for one in read(table(slip), options).warnings if "far from their neighbours" in one]
