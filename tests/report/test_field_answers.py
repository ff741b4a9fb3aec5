"""Answers of a field: what is shown when nobody says which times, and which way rates run."""

from types import SimpleNamespace

import lamina
from lamina.report.fields import answers


def make_record(unit):
    t, order = [1000.0, 1500.0, 1900.0, 1950.0], "decreasing" if unit == "BP" else "increasing"
    places = {"site": ["a", "a", "b", "b"], "latitude": [44.0, 36.0], "longitude": [-70.0, -76.0]}
    times = [1950.0 - one for one in t] if unit == "BP" else t
    return lamina.Record(times, 20.0, [-1.0, -0.5, -0.1, 0.0], 0.05, order, t_unit=unit, y_unit="m", **places)


def test_maps_are_of_the_most_recent_time_on_either_scale():
    for unit, latest in ("CE", 1950.0), ("BP", 0.0):
        posterior = SimpleNamespace(record=make_record(unit), field=lambda at, *grid: at)
        assert answers._maps(posterior, None, None) == [latest]
        assert answers._maps(posterior, [1200.0], None) == [1200.0]
