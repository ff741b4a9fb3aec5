"""Layers of real cores: what can be merged is merged, and contradictions are refused."""

import fits
import numpy as np
import pytest

import lamina
from lamina import Matern32, MethodError, OrderError, Record, RecordError
from lamina.dates import Uniform
from lamina.model.model import Model
from lamina.model.problem import build_problem
from lamina.posterior.residuals import residuals
from lamina.records.ties import merge_ties

INF = np.inf


def record(**fields):
    return Record(**({"t": [1.0, 2.0, 3.0, 4.0], "t_sd": 0.3, "y": [0.0, 1.0, 0.5, 0.2], "y_sd": 0.1} | fields))


def test_tied_rows_are_one_layer_with_the_product_of_their_dates_and_values():
    merged, layer = merge_ties(record(t_sd=[0.3, 0.1, 0.2, 0.3], tie=[None, "x", "x", None], label=list("abcd")))
    np.testing.assert_array_equal(layer, [0, 1, 1, 2])
    weight = np.array([100.0, 25.0])
    assert merged.t[1] == pytest.approx((weight @ [2.0, 3.0]) / weight.sum())
    assert merged.t_sd[1] == pytest.approx(weight.sum() ** -0.5)
    assert merged.y[1] == pytest.approx(0.75)
    assert merged.y_sd[1] == pytest.approx(0.1 / np.sqrt(2.0))
    assert merged.label == ("a", "b", "d")


def test_dates_of_all_kinds_are_multiplied():
    dates = [None, Uniform(1.5, 2.5), None, None]
    merged, _ = merge_ties(record(dates=dates, tie=[None, "x", "x", None]))
    assert 1.5 < merged.t[1] < 2.5
    assert merged.t[1] > 2.1, "the Gaussian date at 3 draws it up"
    assert merge_ties(record(dates=[None] * 4, tie=["a", "a", None, None]))[0].dates == (None, None, None)


def test_a_limit_may_be_in_a_layer_that_was_dated_twice():
    fields = {"y_sd": [0.1, 0.1, INF, 0.1], "limit": [None, "above", None, None], "tie": [None, "x", "x", None]}
    merged, _ = merge_ties(record(**fields))
    np.testing.assert_array_equal(merged.limit, [0, 1, 0])


BAD = {
    "a tie around another row": ({"tie": ["x", None, "x", None]}, {}, OrderError, "row 1 .*older and younger at once"),
    "a tie across an exact horizon": (
        {"tie": ["x", None, "x", None], "t_sd": [0.3, 0.0, 0.3, 0.3]},
        {},
        OrderError,
        "would have to be older and younger",
    ),
    "a tie of two exact times": (
        {"tie": ["x", "x", None, None], "t_sd": 0.0},
        {},
        OrderError,
        "exact inputs .* differ",
    ),
    "a tie of two cores": (
        {"tie": ["x", "x", None, None], "sequence": list("abab")},
        {},
        RecordError,
        "different sequences",
    ),
    "a tie of a limit and a value": (
        {"tie": ["x", "x", None, None], "limit": ["above", None, None, None]},
        {},
        RecordError,
        "one of them is a limit",
    ),
    "minimum gaps without room": (
        {"t_sd": [0.0, 0.3, 0.3, 0.0], "least_gap": 1.5},
        {},
        OrderError,
        "no room for the minimum",
    ),
    "ranges against the order": (
        {"dates": [Uniform(5.0, 6.0), None, Uniform(1.0, 2.0), None]},
        {},
        OrderError,
        "rows 0 and 2 .* contradict the order",
    ),
    "a range before an exact row": (
        {"dates": [None, None, Uniform(0.1, 0.5), None], "t_sd": [0.3, 0.0, 0.3, 0.3]},
        {},
        OrderError,
        "rows 1 and 2 .* contradict",
    ),
    "one date": ({"t_sd": [0.3, INF, INF, INF]}, {}, RecordError, "does not determine the pace"),
    "nothing beyond a hiatus": (
        {"t_sd": [0.3, 0.3, INF, INF], "hiatus": [False, True, False, False]},
        {},
        RecordError,
        "nothing constrains the rows",
    ),
    "an open end under a flat prior": (
        {"t_sd": [0.3, 0.3, 0.3, INF]},
        {"gaps": "uniform"},
        RecordError,
        "nothing constrains",
    ),
    "no date at all": ({"t_sd": INF}, {}, RecordError, "no row of the record has a date"),
    "t_scale of tied dates": (
        {"tie": ["x", "x", None, None]},
        {"estimate": ("t_scale",)},
        MethodError,
        "dates one by one, but those of rows 0 and 1",
    ),
    "y_scale of tied values": (
        {"tie": ["x", "x", None, None]},
        {"estimate": ("y_scale",)},
        MethodError,
        "values one by one",
    ),
    "an exact row in a block": (
        {"depth": [1.0, 1.0, 2.0, 3.0], "t_sd": [0.0, 0.3, 0.3, 0.3]},
        {},
        RecordError,
        "shares its depth",
    ),
    "depth that turns round": (
        {"depth": [1.0, 3.0, 2.0, 4.0]},
        {},
        OrderError,
        "depth changes direction between rows 1 and 2",
    ),
    "a limit that is none": ({"limit": ["over", None, None, None]}, {}, RecordError, "limit takes 'above'"),
    "offsets of one sequence": ({}, {"offsets": 0.5}, MethodError, "one sequence only"),
    "outliers of an unknown kind": ({}, {"outliers": "wild"}, MethodError, "'mixture', 'student' or None"),
}


@pytest.mark.parametrize("name", BAD)
def test_contradictions_are_refused_with_their_rows(name):
    fields, model, kind, said = BAD[name]
    with pytest.raises(kind, match=said):
        build_problem(record(**fields), Model(Matern32(), **model))


@pytest.mark.parametrize("method", ["gp", "nigp", "npv", "nuts"])
def test_methods_say_what_they_cannot_do(method):
    with pytest.raises(MethodError, match=f'method="{method}".*Use method="mcmc"'):
        lamina.fit(record(limit=["above", None, None, None]), method)


@pytest.mark.slow
def test_residuals_are_those_of_curve_and_offset_together():
    """Two cores half a unit apart: with their offsets, values are predicted as they should be."""
    rng = np.random.default_rng(0)
    tau = np.linspace(0.0, 10.0, 40)
    core = np.arange(40) % 2
    y = np.sin(tau) + 3.0 * core + 0.1 * rng.standard_normal(40)
    found = fits.quietly(
        Record(t=tau, t_sd=0.05, y=y, y_sd=0.1, sequence=core.tolist()), offsets=2.0, draws=400, max_sweeps=400
    )
    table = residuals(found)
    assert np.abs(table["scaled"]).max() < 4.0
    assert 0.3 < table["loo_pit"].mean() < 0.7
    assert table["loo_pit"].std() > 0.2, "not all at one end"
    assert table["loo_pit"].between(0.01, 0.99).mean() > 0.8
    offsets = found.offsets()
    assert offsets["mean"][1] - offsets["mean"][0] == pytest.approx(3.0, abs=0.3)


def test_errors_after_merging_name_the_rows_of_the_table():
    dates = [None, None, Uniform(10.0, 12.0), Uniform(1.0, 3.0)]
    found = record(t=[0.0, 0.5, 11.0, 2.0], dates=dates, tie=["x", "x", None, None])
    with pytest.raises(OrderError, match=r"the dates of rows 2 and 3 \(counting from 0\) contradict the order"):
        build_problem(found, Model(Matern32()))


@pytest.mark.parametrize("side", ["above", "below"])
def test_limits_on_one_side_alone_are_refused(side):
    every = record(limit=[side] * 4)
    with pytest.raises(RecordError, match="limits alone do not determine a level with a flat prior"):
        build_problem(every, Model(Matern32()))
    build_problem(every, Model(Matern32(), mean="zero"))
    build_problem(record(limit=[side] * 3 + [None]), Model(Matern32()))
    both = record(limit=["above", "below", "above", "above"])
    build_problem(both, Model(Matern32()))
    with pytest.raises(RecordError, match="limits alone do not determine a level and a rate with a flat prior"):
        build_problem(both, Model(Matern32(), mean="linear"))


def test_memory_comes_from_below_whichever_way_the_rows_are_listed():
    """A core from the top down and from the bottom up: the same posterior, to the last draw."""
    hiatus, least = np.array([0, 0, 1, 0, 0, 0, 0], dtype=bool), np.array([0.1, 0.0, 0.0, 0.2, 0.0, 0.0, 0.0])
    depth, t = np.array([0.0, 1.0, 1.5, 3.0, 4.0, 4.5, 6.0]), np.array([1.0, 2.0, 3.0, 6.0, 7.0, 8.0, 10.0])
    y = np.sin(t)
    down = Record(t=t, t_sd=0.5, y=y, y_sd=0.1, depth=depth, hiatus=hiatus, least_gap=least, t_unit="BP")
    # the gap between two rows belongs to the other one of them
    up = Record(
        t=t[::-1], t_sd=0.5, y=y[::-1], y_sd=0.1, depth=depth[::-1], hiatus=np.roll(hiatus, 1)[::-1],
        least_gap=np.roll(least, 1)[::-1], t_unit="BP", order="decreasing",
    )  # fmt: skip
    options = {"memory": True, "chains": 2, "warmup": 50, "max_sweeps": 50, "seed": 5}
    first, second = (fits.quietly(one, **options) for one in (down, up))
    np.testing.assert_allclose(first.tau, second.tau[:, ::-1])
    assert (np.diff(first.tau, axis=1) > 0.0).all()
    at = [2.0, 5.0]
    np.testing.assert_allclose(first.rate(at)["mean"], second.rate(at)["mean"])
    pace = np.diff(first.tau, axis=1)[:, 3:] / np.diff(depth)[3:] - least[3:6] / np.diff(depth)[3:]
    carry = np.exp(-0.5 * (np.diff(depth)[3:-1] + np.diff(depth)[4:]) / first.theta["memory"].to_numpy()[:, None])
    assert (pace[:, :-1] > carry * pace[:, 1:]).all()
    without = fits.quietly(down, **options | {"memory": False})
    slope, plain = first.rate(at)["mean"], without.rate(at)["mean"]
    assert (np.sign(slope) == np.sign(plain)).all()


def test_minimum_gaps_that_dates_have_no_room_for_are_refused():
    fields = {"t": np.arange(0.0, 500.0, 100.0), "t_sd": 10.0, "y": np.arange(5.0), "y_sd": 0.1}
    build_problem(Record(**fields, least_gap=120.0), Model(lamina.Matern32()))  # dates may be off by their errors
    with pytest.raises(lamina.RecordError, match=r"rows 0 and 4 .* add up to 20000, but their dates are 400 apart"):
        build_problem(Record(**fields, least_gap=5000.0), Model(lamina.Matern32()))
