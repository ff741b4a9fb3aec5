"""Events in words."""

import lamina
from lamina.report.events import line


def test_the_line_of_a_level_has_the_probability_that_it_was_exceeded_from_the_start():
    record = lamina.Record(t=[1.0, 2.0, 3.0], t_sd=0.1, y=[1.0, 2.0, 3.0], y_sd=0.1)
    event = {"event": "first above", "of": "curve", "level": 1.5, "quantity": "time", "p": 0.9, "p_start": 0.25}
    event |= {"p_end": float("nan"), "mean": 2.0, "q50": 2.0, "q2.5": 1.5, "q97.5": 2.5}
    assert line(record, event).endswith("ever: 90.0 %, from the start: 25.0 %")
