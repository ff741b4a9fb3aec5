"""What a core may have works in a field: dates of all kinds, depths, hiatuses, ties, and checkpoints."""

import warnings

import numpy as np
import pytest

import lamina
from lamina.dates import Radiocarbon, Uniform

pytestmark = pytest.mark.slow
DEPTH = np.tile(5.0 * np.arange(10.0), 2)
SHORT = {"draws": 20, "warmup": 30, "max_sweeps": 10, "chains": 2}


def put(row, value, empty=None):
    """A column that holds a value in one row."""
    return [value if k == row else empty for k in range(20)]


def make_record(**more):
    rng, t = np.random.default_rng(0), np.tile(np.linspace(0.0, 1800.0, 10), 2)
    columns = {"t": t, "t_sd": 40.0, "y": np.sin(t / 300.0) + rng.normal(0.0, 0.1, 20), "y_sd": 0.1}
    places = {"site": np.repeat(["a", "b"], 10), "latitude": [35.0, 38.0], "longitude": [-76.0, -74.0]}
    return lamina.Record(**columns | places | {"t_unit": "CE"} | more)


def fit(record, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lamina.NotConverged)
        return lamina.fit(record, **SHORT | options)


@pytest.mark.parametrize(
    ("record", "model"),
    [
        ({"depth": DEPTH}, {}),
        ({"depth": DEPTH, "hiatus": put(4, True, False)}, {}),
        ({"hiatus": put(4, True, False)}, {}),
        ({"least_gap": 5.0}, {}),
        ({"dates": put(3, Uniform(500.0, 700.0))}, {}),
        ({"dates": put(3, Radiocarbon(1500.0, 40.0))}, {}),
        ({"tie": ["x" if k in (2, 3) else None for k in range(20)]}, {}),
        ({"t_sd": np.array(put(5, np.inf, 40.0))}, {}),
        ({"y_sd": np.array(put(5, np.inf, 0.1))}, {}),
        ({"t_sd": 0.0}, {}),
        ({"sequence": [None] * 20}, {}),
        ({}, {"t_errors": "student"}),
        ({}, {"fixed": {"length_1": 300.0}}),
        ({}, {"gaps": "uniform"}),
    ],
)
def test_what_a_core_may_have_works_in_a_field(record, model):
    found = fit(make_record(**record), **model)
    assert np.isfinite(found.curve([100.0, 900.0], site="a")["sd"]).all()
    if "sequence" not in record:
        assert (np.diff(found.tau[:, :10], axis=1) >= 0.0).all()


def test_a_chain_goes_on_from_a_checkpoint():
    record = make_record()
    half, whole = fit(record, max_sweeps=10), fit(record, max_sweeps=20)
    rest = fit(record, max_sweeps=10, checkpoint=half.checkpoint)
    np.testing.assert_array_equal(rest.draws.tau[-1], whole.draws.tau[-1])
    elsewhere = make_record(latitude=[36.0, 38.0])
    with pytest.raises(lamina.MethodError, match="checkpoint"):
        fit(elsewhere, checkpoint=half.checkpoint)
