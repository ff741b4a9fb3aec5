"""The page of a batch: its little pictures."""

import re

import numpy as np
import pandas as pd
import pytest

import lamina
from lamina.batches.index_page import HEIGHT, WIDTH, Entry, render
from lamina.batches.overview import headline, lines, rates
from lamina.batches.summary import failed_row, row_of
from lamina.output.batch import write_batch
from lamina.output.run import OutputRequest
from lamina.records.axes import describe, shown_rate_unit
from lamina.records.glossary import rate_unit

ROW = {"name": "north", "folder": "north", "rows": 3, "state": "converged", "conflicts": 0, "error": ""}
ROW |= {"warnings": 0, "warning_text": ""}
RATE = {"rate_1900_2000": 2.5, "rate_1900_2000_sd": 0.5, "rate_1900_2000_q2.5": 1.5, "rate_1900_2000_q97.5": 3.5}


def page(at, y=(0.0, 1.0, 2.0), **more):
    at = np.array(at, dtype=float)
    curve = pd.DataFrame({"at": at, "mean": at, "q2.5": at - 1.0, "q97.5": at + 1.0})
    inputs = pd.DataFrame({"mean": [0.0, 1.0, 2.0], "y": y})
    return render([Entry(ROW | {"time_runs": "forward"} | more, curve, inputs)])


def mean_line(text):
    [points] = re.findall(r'class="mean" points="(.*?)"', text)
    return [tuple(map(float, point.split(","))) for point in points.split()]


def test_rows_without_a_value_have_no_place_in_the_picture():
    found = page([0.0, 1.0, 2.0], y=[0.0, np.nan, 2.0])
    assert found.count("<circle") == 2
    assert "nan" not in found


def test_a_record_without_any_value_shows_its_curve():
    found = page([0.0, 1.0, 2.0], y=[np.nan] * 3)
    assert "<circle" not in found
    assert "nan" not in found
    assert len(mean_line(found)) == 3


def test_times_in_any_order_make_one_line():
    assert page([2.0, 0.0, 1.0]) == page([0.0, 1.0, 2.0])


@pytest.mark.parametrize("at", [[1.0], [0.9, 1.1], [-5.0, 9.0]])
def test_curve_and_rows_are_inside_the_picture_whatever_times_are_asked_for(at):
    found = page(at)
    circles = [tuple(map(float, pair)) for pair in re.findall(r'cx="(.*?)" cy="(.*?)"', found)]
    assert len(circles) == 3
    for across, up in circles + mean_line(found):
        assert 0.0 <= across <= WIDTH
        assert 0.0 <= up <= HEIGHT


def test_conflicts_warnings_and_rates_are_on_the_page():
    found = page([0.0, 1.0], conflicts=3, warnings=2, warning_text="a <b> c | second", rate_unit="mm/year", **RATE)
    for text in (
        "3 dates in conflict",
        "2 warnings",
        "a &lt;b&gt; c",
        "<p>second</p>",
        "1900 to 2000: 2.5 mm/year (95 %:",
    ):
        assert text in found


def test_the_terminal_shows_them_too():
    rows = [ROW | {"conflicts": 3, "warnings": 2, "rate_unit": "mm/year"} | RATE, ROW | {"name": "south"}]
    first, second = lines(rows)
    for text in "3 dates in conflict", "2 warnings", "1900 to 2000: 2.5 mm/year":
        assert text in first
    assert second.split()[:2] == ["south", "converged"]
    assert headline(rows) == "2 records: 2 converged, 3 dates in conflict, 2 warnings in 1 record"


@pytest.mark.parametrize("unit", ["m", "m NAVD88", "cm", "mm", "°C", ""])
@pytest.mark.parametrize("t_unit", ["CE", "BP", "ka", ""])
def test_rates_are_shown_in_the_unit_of_a_single_fit(unit, t_unit):
    record = lamina.Record(t=[0.0, 1.0], t_sd=0.1, y=[0.0, 1.0], y_sd=0.1, y_unit=unit, t_unit=t_unit, t_name="age")
    axes = describe(record)
    if axes.duration:
        assert shown_rate_unit(rate_unit(record)) == (axes.rate_unit, axes.unit_factor)


def test_metres_a_year_are_millimetres_a_year():
    (found,) = rates(ROW | {name: 0.001 * value for name, value in RATE.items()} | {"rate_unit": "m/year, forward"})
    assert found.startswith("1900 to 2000: 2.5 mm/year")


def test_a_record_that_failed_has_no_rate():
    nothing = dict.fromkeys(RATE, float("nan"))
    assert rates(ROW | nothing | {"rate_unit": float("nan")}) == []


def test_the_summary_holds_conflicts_warnings_and_rates(tmp_path):
    interval = {"from": 1900.0, "to": 2000.0, "mean": 2.5, "sd": 0.5, "q2.5": 1.5, "q97.5": 3.5}
    run = {
        "rows": 3,
        "state": "converged",
        "seconds": {"fit": 1.0},
        "diagnostics": {"conflicts": [0, 2]},
        "warnings": ["first", "second"],
        "time_runs": "forwards",
        "units": {"rate": "mm/year"},
        "intervals": [interval],
    }
    rows = [row_of("a", run) | {"folder": "a"}, failed_row("b", ValueError("no")) | {"folder": "b"}]
    write_batch(tmp_path, rows, "", OutputRequest(tmp_path), 1.0)
    found = pd.read_csv(tmp_path / "summary.csv")
    assert found["conflicts"].tolist() == [2, 0]
    assert found["warnings"].tolist() == [2, 0]
    assert found["warning_text"][0] == "first | second"
    assert found["rate_1900_2000"][0] == 2.5
    assert found["rate_1900_2000"].isna().tolist() == [False, True]
    assert "rate_1900_2000_q97.5" in (tmp_path / "columns.txt").read_text()
