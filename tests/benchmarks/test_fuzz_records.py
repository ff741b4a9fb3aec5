"""A small share of benchmarks/fuzz_records.py, and that it notices what it looks for."""

import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lamina.engine.quantiles import QUANTILES

SCRIPT = runpy.run_path(str(Path(__file__).resolve().parents[2] / "benchmarks" / "fuzz_records.py"))


#: Those that compile code which no other test of ``make test`` needs.
APART = (0, 2, 10, 12, 22)


@pytest.mark.parametrize("number", [pytest.param(n, marks=pytest.mark.slow if n in APART else ()) for n in range(25)])
def test_a_random_record_is_fitted_or_refused(number):
    _, found = SCRIPT["try_case"](number, seed=0)
    assert not [one for one in found if not one.startswith("took")]  # compiling takes long


def test_what_is_wrong_is_noticed():
    good = pd.DataFrame([[0.0, 1.0, *np.linspace(-2, 2, len(QUANTILES))]], columns=["mean", "sd", *QUANTILES])
    assert list(SCRIPT["wrong"](good)) == []
    assert list(SCRIPT["wrong"](good.assign(mean=np.nan))) == ["not finite in rows [0]"]
    assert next(SCRIPT["wrong"](good.assign(sd=-1.0))) == "negative standard deviation"
    assert list(SCRIPT["wrong"](good.assign(**{QUANTILES[0]: 1.0}))) == ["quantiles cross"]


def test_an_exception_that_has_no_name_is_a_finding(monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("by zero")

    monkeypatch.setitem(SCRIPT["try_case"].__globals__, "findings", broken)
    monkeypatch.setitem(SCRIPT["try_case"].__globals__, "random_record", lambda rng: None)
    assert SCRIPT["try_case"](0, seed=0) == ("crashed", ["ZeroDivisionError: by zero"])
