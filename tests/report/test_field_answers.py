"""Answers of a field: what is shown when nobody says which times, and which way rates run."""

from types import SimpleNamespace

import numpy as np
import pytest
import xarray

import lamina
from lamina.methods.draws import Draws
from lamina.model.model import Model
from lamina.model.problem import build_problem
from lamina.posterior.posterior import Posterior
from lamina.report.fields import answers


def make_record(unit):
    t, order = [1000.0, 1500.0, 1900.0, 1950.0], "decreasing" if unit == "BP" else "increasing"
    places = {"site": ["a", "a", "b", "b"], "latitude": [44.0, 36.0], "longitude": [-70.0, -76.0]}
    times = [1950.0 - one for one in t] if unit == "BP" else t
    return lamina.Record(times, 20.0, [-1.0, -0.5, -0.1, 0.0], 0.05, order, t_unit=unit, y_unit="m", **places)


def make_map(at, latitude, longitude):
    shape, dims = (len(at), len(latitude), len(longitude)), ("time", "latitude", "longitude")
    data = {"rate": (dims, np.full(shape, 2.0), {"units": "m year-1"}), "rate_sd": (dims, np.full(shape, 0.5))}
    data["extrapolated"] = (dims[1:], np.zeros(shape[1:], dtype=np.int8))
    return xarray.Dataset(data, coords=dict(zip(dims, (at, latitude, longitude), strict=True)))


def test_maps_are_of_the_most_recent_time_on_either_scale():
    for unit, latest in ("CE", 1950.0), ("BP", 0.0):
        posterior = SimpleNamespace(record=make_record(unit), field=make_map)
        assert answers._maps(posterior, None, None)["time"] == [latest]
        assert answers._maps(posterior, [1200.0], None)["time"] == [1200.0]


def test_rates_of_maps_are_forward_in_time_and_say_so():
    for unit, sign in ("CE", 1.0), ("BP", -1.0):
        record = make_record(unit)
        found = answers._maps(SimpleNamespace(record=record, field=make_map), None, None)
        assert (found["rate"] == 2.0 * sign).all()
        assert ("positive" in found["rate"].attrs.get("comment", "")) == (unit == "BP")
        assert found["rate"].attrs["units"] == "m year-1"
        (shown,) = answers.maps_of(record, SimpleNamespace(maps=found))
        assert (shown.rate == 2000.0 * sign).all()  # mm/year
        assert (shown.rate_sd == 500.0).all()


def test_maps_in_python_are_per_unit_of_t_and_say_what_that_means():
    problem = build_problem(make_record("BP"), Model(lamina.Matern32() + lamina.Matern32() * lamina.Nearby()))
    posterior = Posterior(problem, Draws.equal(problem.rows.t[None], problem.start[None]))
    found, at = posterior.field([100.0], [40.0], [-72.0]), posterior.rate([100.0], where=(40.0, -72.0))
    assert float(found["rate"].squeeze()) == pytest.approx(at["mean"][0])
    assert at["mean"][0] < 0.0  # it rises
    assert "negative" in found["rate"].attrs["comment"]
