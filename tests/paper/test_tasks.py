"""Work that is kept as it is done: an interrupted run goes on, and gives what an uninterrupted one gives."""

import json

import pytest

from lamina.paper.tasks import run

TASKS = [(k, "square") for k in range(5)]


def square(task):
    return [{"k": task[0], "square": task[0] ** 2}]


def test_rows_come_in_the_order_of_the_tasks_on_any_number_of_cores():
    expected = [square(task)[0] for task in TASKS]
    assert run(TASKS, square, cores=1) == expected
    assert run(TASKS, square, cores=2) == expected


def test_what_was_done_before_an_interrupt_is_not_done_again(tmp_path):
    store, done = tmp_path / "store.jsonl", []

    def interrupted(task):
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(task)
        return square(task)

    with pytest.raises(KeyboardInterrupt):
        run(TASKS, interrupted, store, cores=1)
    with store.open("a") as file:
        file.write('\n[[4, "squa')  # a line cut short
    again, seen = [], []

    def go_on(task):
        again.append(task)
        return square(task)

    rows = run(TASKS, go_on, store, cores=1, progress=lambda n, total: seen.append((n, total)))
    assert rows == [square(task)[0] for task in TASKS]
    assert again == TASKS[3:]
    assert seen == [(3, 5), (4, 5), (5, 5)]


def test_other_settings_are_other_tasks(tmp_path):
    store = tmp_path / "store.jsonl"
    store.write_text(json.dumps([[0, "cube"], [{"k": 0}]]))
    assert run(TASKS[:1], square, store, cores=1) == [{"k": 0, "square": 0}]
