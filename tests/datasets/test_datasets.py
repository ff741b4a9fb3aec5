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


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(LaminaError, match=r"unknown dataset 'nasau'.*nassau"):
        datasets.load("nasau")
