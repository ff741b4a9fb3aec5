"""Ranks of the truth among draws of a field are uniform, and are not if the sampler has an error."""

import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
#: Draws that are kept, sweeps from one to the next and of warm-up, and repetitions.
LENGTH, THIN, WARMUP, REPETITIONS = 15, 16, 200, 32


@pytest.fixture(scope="module")
def calibration():
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import field_calibration

        yield field_calibration
    finally:
        sys.path.remove(str(BENCHMARKS))


def departures(calibration, planted=None):
    """How far ranks are from uniform by kind of quantity, in standard errors: of their mean, and of their spread.

    Quantities of one repetition depend on each other, and so a repetition counts once.
    """
    every = [calibration.rank(seed, planted, LENGTH, THIN, WARMUP) for seed in range(REPETITIONS)]
    levels = np.arange(LENGTH + 1) / LENGTH - 0.5
    found = {}
    for kind in "tau", "length", "sd", "common", "site", "elsewhere", "rate", "log-likelihood":
        names = [name for name in every[0] if name.startswith(kind)]
        rank = np.array([[one[name] for name in names] for one in every]) / LENGTH - 0.5
        for what, values, expected in ("mean", rank, 0.0), ("spread", rank**2, np.mean(levels**2)):
            each = values.mean(axis=1)
            found[kind, what] = (each.mean() - expected) / (each.std(ddof=1) / np.sqrt(REPETITIONS))
    return found


@pytest.mark.slow
def test_ranks_of_the_truth_are_uniform(calibration):
    found = departures(calibration)
    assert max(np.abs(list(found.values()))) < 4.0, found


@pytest.mark.slow
def test_errors_of_dates_that_are_too_small_are_noticed(calibration):
    assert departures(calibration, "dates")["tau", "spread"] > 4.0
