"""Reversals: how many are expected, and which are named."""

import numpy as np
import pytest

from lamina import Record
from lamina.tables import Options, read, read_ages
from lamina.tables.checks.reversals import _at_most, _reversal_chances, neighbours

HEADER = "depth,age_bp,age_sd,value,value_sd\n"


def core(t, sd):
    return Record(t, np.full(len(t), sd), np.zeros(len(t)), np.ones(len(t)))


def expected_and_seen(record):
    one = neighbours(record, np.arange(len(record)))
    return _reversal_chances(one).sum(), int((one.step < 0).sum())


@pytest.mark.parametrize("gap", [5.0, 20.0, 40.0, 80.0])
def test_independent_errors_give_as_many_reversals_as_expected_or_more(gap):
    rng = np.random.default_rng(1)
    truth = np.cumsum(rng.gamma(1.0, gap, 4000))
    expected, seen = expected_and_seen(core(truth + rng.normal(0.0, 30.0, truth.size), 30.0))
    assert seen > 0.9 * expected
    assert seen < 4.0 * expected


def test_the_chance_of_few_is_that_of_independent_trials():
    assert _at_most(np.full(10, 0.3), 0) == pytest.approx(0.7**10)
    assert _at_most(np.full(10, 0.3), 1) == pytest.approx(0.7**10 + 10 * 0.3 * 0.7**9)
    assert _at_most(np.full(10, 0.3), 5) == 1.0
    many = _at_most(np.full(30_000, 0.001), 5)
    assert 0.0 < many < 1e-6


def test_false_alarms_are_rare(table):
    rng = np.random.default_rng(2)
    warned = 0
    for _ in range(100):
        ages = 1000 + np.cumsum(rng.gamma(1.0, 20.0, 30)) + rng.normal(0.0, 30.0, 30)
        rows = "".join(f"{k},{age:.0f},30,1,1\n" for k, age in enumerate(ages))
        warned += any("odds" in warning for warning in read(table(HEADER + rows)).warnings)
    assert warned <= 3


@pytest.mark.parametrize(("reads", "t_errors", "advised"), [
    (read, None, True), (read_ages, None, False), (read_ages, "normal", True),
])  # fmt: skip
def test_student_errors_are_advised_where_they_are_not_the_default(table, reads, t_errors, advised):
    rows = "".join(f"{k},{1000 + 50 * k + (2000 if k == 4 else 0)},20,1,1\n" for k in range(9))
    warnings = " ".join(reads(table(HEADER + rows), Options(t_errors=t_errors)).warnings)
    assert "reversals that the errors do not explain" in warnings
    assert ("student" in warnings) == advised


def test_rows_at_one_depth_are_no_neighbours():
    record = Record([1, 5, 3, 8], [1] * 4, [0] * 4, [1] * 4, depth=[1.0, 2.0, 2.0, 3.0])
    assert neighbours(record, np.arange(4)).step.tolist() == [4.0, 5.0]
