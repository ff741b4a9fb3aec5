"""Figures of a field: every site has its panel, with its own times; places beyond the data are hatched."""

import numpy as np
import pandas as pd
import pytest

import lamina
from lamina.plots import fields, maps
from lamina.report.fields import figures


@pytest.fixture
def record():
    return lamina.Record(
        t=[1000.0, 1500.0, 1900.0, 1950.0, 1990.0],
        t_sd=[30.0, 30.0, 20.0, 0.0, 0.0],
        y=[-1.0, -0.5, -0.1, -0.05, 0.0],
        y_sd=0.05,
        site=["North", "North", "South $5_a$", "Harbour", "Harbour"],
        latitude=[44.0, 36.0, 40.0],
        longitude=[-70.0, -76.0, -74.0],
        t_name="Year", t_unit="CE", y_name="Sea level", y_unit="m",
    )  # fmt: skip


def curves(record):
    at = np.linspace(900.0, 2010.0, 60)
    mean = np.interp(at, [900.0, 2010.0], [-1.2, 0.1])
    one = pd.DataFrame({"at": at, "mean": mean, "sd": 0.05, "q2.5": mean - 0.1, "q97.5": mean + 0.1})
    one["extrapolated"] = np.where(at < 1000.0, "yes", "no")
    return pd.concat([one.assign(site=name) for name in record.places.names], ignore_index=True)


def test_every_site_has_a_panel_with_its_own_times(record):
    inputs = pd.DataFrame({"mean": record.t + 5.0, "sd": 0.5 * record.t_sd})
    figure = fields.site_curves(record, curves(record), inputs)
    figure.draw_without_rendering()
    panels = {ax.get_title(): ax for ax in figure.axes}
    assert set(panels) == {"North", r"South \$5_a\$", "Harbour"}
    low, high = panels["Harbour"].get_xlim()
    assert 1940.0 < low < 1950.0
    assert 1990.0 < high < 2000.0
    assert panels["North"].get_xlim()[0] < 1000.0


def test_a_panel_has_the_levels_of_its_own_times(record):
    """Also where its last time is that of the table: the oldest one does not follow it."""
    table = curves(record)
    figure = fields.site_curves(record, table[table["at"] <= 1991.0])
    (panel,) = [ax for ax in figure.axes if ax.get_title() == "Harbour"]
    assert panel.get_ylim()[0] > -0.5


def test_ages_run_from_old_to_young(record):
    from dataclasses import replace

    ages = replace(record, t=1950.0 - record.t, order="decreasing", sequence=[None] * 5, t_unit="BP")
    figure = fields.site_curves(ages, curves(record).assign(at=lambda one: 1950.0 - one["at"]))
    assert all(ax.xaxis_inverted() for ax in figure.axes)
    assert fields.common(ages, curves(record)).xaxis_inverted()


def test_parts_are_drawn_below_each_other(record):
    table = curves(record).rename(columns={"site": "component"})
    figure = fields.parts(record, table, "North")
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["North", r"South \$5_a\$", "Harbour"]
    figure.draw_without_rendering()


def test_what_is_extrapolated_is_hatched(record):
    ax = fields.common(record, curves(record).query("site == 'North'"))
    assert sum(one.get_hatch() == "////" for one in ax.collections) == 1
    assert ax.get_ylabel() == "Common to all sites (m)"


def test_a_surface_is_hatched_beyond_the_data():
    longitude, latitude = np.linspace(-80.0, -60.0, 9), np.linspace(30.0, 50.0, 7)
    value = np.add.outer(latitude - 40.0, longitude + 70.0)
    plain = maps.surface(longitude, latitude, value, label="Rate (mm/year)")
    marked = maps.surface(longitude, latitude, value, beyond=value > 0.0)
    hatches = [[getattr(one, "hatches", None) for one in ax.collections] for ax in (plain, marked)]
    assert ["///"] not in hatches[0]
    assert ["///"] in hatches[1]
    mesh = plain.collections[0]
    assert mesh.norm.vmin == -mesh.norm.vmax


def test_the_colours_of_a_surface_are_those_of_values_within_the_data():
    """A place far from the data with a huge value, and one within, take no colours from the others."""
    longitude, latitude = np.linspace(-80.0, -60.0, 20), np.linspace(30.0, 50.0, 20)
    value, beyond = np.tile(np.linspace(1.0, 2.0, 20), (20, 1)), np.zeros((20, 20), dtype=bool)
    value[0, 0], value[5, 5], beyond[0, 0] = 1e4, 50.0, True
    mesh = maps.surface(longitude, latitude, value, beyond=beyond).collections[0]
    assert mesh.norm.vmin == 1.0
    assert 2.0 <= mesh.norm.vmax <= 2.5
    assert mesh.colorbar.extend == "max"
    everywhere = maps.surface(longitude, latitude, value[1:2, :].repeat(20, axis=0), beyond=np.ones((20, 20), bool))
    assert everywhere.collections[0].norm.vmax == pytest.approx(2.0)
    assert everywhere.collections[0].colorbar.extend == "neither"


def test_the_map_of_the_report_has_its_sites_and_the_same_colours():
    longitude, latitude = np.linspace(-80.0, -60.0, 20), np.linspace(30.0, 50.0, 20)
    value, beyond = np.tile(np.linspace(1.0, 2.0, 20), (20, 1)), np.zeros((20, 20), dtype=bool)
    value[0, 0], beyond[0, 0] = 1e4, True
    sites = pd.DataFrame({"site": ["A", "<b>"], "latitude": [40.0, 41.0], "longitude": [-70.0, -65.0]})
    found = figures.surface(longitude, latitude, value, beyond, "mm/year", sites)
    heat, last = found["data"][0], found["data"][-1]
    assert (heat["zmin"], heat["zmax"]) == (1.0, 2.0)
    assert last["x"] == [-70.0, -65.0]
    assert last["hovertext"] == ["A", "&lt;b&gt;"]
