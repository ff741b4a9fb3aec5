"""Maps of sites: coastlines where they are, colours about zero, and labels that do not collide."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import lamina
from lamina.plots.maps import coastline


def table(value=None, **more) -> pd.DataFrame:
    places = lamina.datasets.load("atlantic").places
    value = 1000.0 * places.gia if value is None else value
    where = {"latitude": places.latitude, "longitude": places.longitude}
    return pd.DataFrame({"site": places.names, **where, "value": value, **more})


def draw(found: pd.DataFrame, **options):
    return lamina.plots.sites(found, Figure(figsize=(7.2, 6.0)).subplots(), **options)


def test_the_coast_is_near_places_on_it_and_within_the_world():
    points = np.concatenate(coastline())
    assert (np.abs(points) <= [180.0, 90.0]).all()
    for longitude, latitude in (-74.0, 40.6), (-9.2, 38.7), (18.4, -34.0), (151.2, -33.9):
        assert np.hypot(*(points - [longitude, latitude]).T).min() < 1.5
    inland = np.array([-100.0, 40.0])
    assert np.hypot(*(points - inland).T).min() > 8.0, "borders of countries are left out"


def test_no_label_covers_another_and_all_are_inside():
    ax = draw(table())
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) > 20
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))
    inside = ax.get_window_extent()
    assert all(inside.contains(box.x0, box.y0) and inside.contains(box.x1, box.y1) for box in boxes)
    assert not draw(table(), names=False).texts


def test_labels_that_were_left_out_are_counted():
    found = table()
    (note,) = [text.get_text() for text in draw(found).texts if text.get_text().endswith("sites labelled")]
    assert note == f"{len(draw(found).texts) - 1} of {len(found)} sites labelled"
    assert not [text for text in draw(found.iloc[[0, 40]]).texts if "labelled" in text.get_text()]


def test_colours_are_symmetrical_where_values_have_both_signs():
    low, high = draw(table()).collections[0].get_clim()
    assert low == -high
    low, high = draw(table(np.linspace(1.0, 2.0, 43))).collections[0].get_clim()
    assert (low, high) == (1.0, 2.0)


def test_markers_grow_with_certainty():
    sizes = draw(table(sd=np.linspace(0.1, 2.0, 43))).collections[0].get_sizes()
    assert (np.diff(sizes) <= 0.0).all()
    assert sizes[0] > sizes[-1]


def test_a_degree_is_as_long_to_the_east_as_to_the_north():
    found = table().assign(latitude=60.0 + np.linspace(-1.0, 1.0, 43))
    assert draw(found).get_aspect() == pytest.approx(2.0)


def test_a_missing_column_is_named():
    with pytest.raises(lamina.MethodError, match=r"needs the columns .* value is missing"):
        draw(table().drop(columns="value"))
