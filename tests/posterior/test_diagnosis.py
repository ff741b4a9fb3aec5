"""Convergence, interruptions and conflicts: computed once, and worded once."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import lamina
from lamina.posterior import diagnosis
from lamina.posterior.diagnosis import many_disagree


@pytest.mark.parametrize(
    ("converged", "interrupted", "state"),
    [(True, False, "converged"), (False, False, "not converged"), (True, True, "interrupted")],
)
def test_a_fit_ends_in_one_of_three_states(converged, interrupted, state):
    assert diagnosis.state_of({"converged": converged, "interrupted": interrupted}) == state


def test_the_evidence_lists_what_the_method_knows():
    facts = {"r_hat": 1.00312, "ess": 812.4, "sweeps": 4000, "method": "mcmc"}
    assert diagnosis.evidence(facts) == "worst R-hat 1.003, fewest effective draws 812, sweeps 4000"


def record(n: int, moved: float = 0.0) -> lamina.Record:
    """Rows at 0, 1, 2 ... of which row 1 is dated ``moved`` standard deviations too high."""
    t = np.arange(float(n)) + np.where(np.arange(n) == 1, 0.1 * moved, 0.0)
    names = {"label": [f"Beta-{k}" for k in range(n)], "t_unit": "cal BP"}
    return lamina.Record(t=t, t_sd=0.1, y=np.zeros(n), y_sd=1.0, **names)


def test_a_date_is_in_conflict_beyond_the_limit_and_the_limit_grows_with_the_record():
    means = np.arange(12.0)
    assert diagnosis.rows_in_conflict(record(12, 2.9), means) == []
    assert diagnosis.rows_in_conflict(record(12, 3.1), means) == [1]
    assert diagnosis.conflict_limit(record(12)) == 3.0
    assert diagnosis.conflict_limit(record(10_000)) > 4.0


def test_rows_are_named_by_their_lines_if_known():
    rows = record(3)
    assert diagnosis.line_names(rows, None) is None
    assert diagnosis.row_name(rows, 2) == "row 2, Beta-2"
    names = diagnosis.line_names(rows, SimpleNamespace(record=rows, lines=[4, 3, 2]))
    assert [diagnosis.row_name(rows, k, names) for k in range(3)] == [
        "line 4, Beta-0",
        "line 3, Beta-1",
        "line 2, Beta-2",
    ]


def test_layers_that_a_model_has_added_have_no_line():
    undated = lamina.Record(t=[0.0, np.nan, 2.0], t_sd=[0.1, np.inf, 0.1], y=np.zeros(3), y_sd=1.0)
    table = SimpleNamespace(record=record(2), lines=[7, 9])
    assert diagnosis.line_names(undated, table) == ["line 7", "added layer", "line 9"]


def test_a_conflict_in_words_and_a_long_list_is_cut():
    one = diagnosis.Conflict(5, "line 6, Beta-5, depth 30 cm", 1500.0, 10.0, 1430.2, 25.1, "cal BP")
    text = "line 6, Beta-5, depth 30 cm: dated 1500 ± 10, found 1430 ± 25 cal BP, 7.0 standard deviations away"
    assert str(one) == text
    assert diagnosis.list_conflicts([one] * 3, most=2) == [text, text, "and 1 more: see diagnostics['conflicts']"]
    assert [diagnosis.count_conflicts(n) for n in (0, 1, 2)] == [
        "no date in conflict",
        "1 date in conflict",
        "2 dates in conflict",
    ]


def test_many_dates_that_contradict_the_others_are_named_in_one_loud_sentence():
    """Two of eight wrong dates are many, one of eight is not."""
    depth = np.arange(0.0, 80.0, 10.0)
    t = 20.0 * depth
    options = {"steps": 8, "draws": 400, "cores": 1, "seed": 1}
    said = []
    for wrong in ([], [2], [2, 5]):
        moved = t.copy()
        moved[wrong] += 1500.0
        label = [f"D-{k}" for k in range(8)]
        record = lamina.Record(moved, 15.0, np.nan, np.inf, depth=depth, label=label)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lamina.NotConverged)
            said.append(lamina.age_depth(record, **options))
    assert many_disagree(said[0]) is None
    assert many_disagree(said[1]) is None
    assert "MANY DATES" not in said[1].summary()
    heading, text = many_disagree(said[2])
    assert text.startswith("2 of 8 dates (25 %): ")
    assert all(name in text for name in ("D-2", "D-5"))
    assert f"{heading.upper()}: {text}" in said[2].summary()
    assert f"<strong>{heading}</strong>" in lamina.report.html(said[2])
