"""Results are stored as they come: an interrupted run continues and gives the same results."""

import json

import pytest

from lamina.paper.trials import run_trials

TRIALS = [(k, "square") for k in range(5)]


def square(trial):
    return [{"k": trial[0], "square": trial[0] ** 2}]


def test_rows_come_in_the_order_of_the_trials_on_any_number_of_cpus():
    expected = [square(trial)[0] for trial in TRIALS]
    assert run_trials(TRIALS, square, cpus=1) == expected
    assert run_trials(TRIALS, square, cpus=2) == expected


def test_what_was_done_before_an_interrupt_is_not_done_again(tmp_path):
    store, done = tmp_path / "store.jsonl", []

    def interrupted(trial):
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(trial)
        return square(trial)

    with pytest.raises(KeyboardInterrupt):
        run_trials(TRIALS, interrupted, store, cpus=1)
    with store.open("a") as file:
        file.write('\n[[4, "squa')  # a line cut short
    again, seen = [], []

    def go_on(trial):
        again.append(trial)
        return square(trial)

    rows = run_trials(TRIALS, go_on, store, cpus=1, progress=lambda n, total: seen.append((n, total)))
    assert rows == [square(trial)[0] for trial in TRIALS]
    assert again == TRIALS[3:]
    assert seen == [(3, 5), (4, 5), (5, 5)]


def test_other_settings_are_other_trials(tmp_path):
    store = tmp_path / "store.jsonl"
    store.write_text(json.dumps([[0, "cube"], [{"k": 0}]]))
    assert run_trials(TRIALS[:1], square, store, cpus=1) == [{"k": 0, "square": 0}]
