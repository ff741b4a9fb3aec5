"""``lamina agedepth``: from dates and depths to ages, figure and ensemble; and what bad tables get."""

import json
import sys
from contextlib import nullcontext

import pandas as pd
import pytest
from typer.testing import CliRunner

import lamina
from lamina.cli.root import app

TABLE = "depth,14C age,14C error,core\n0,180,25,A\n45,620,25,A\n92,1010,30,A\n140,1480,30,A\n"


def run(*arguments):
    return CliRunner().invoke(app, ["agedepth", *map(str, arguments)])


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "core.csv"
    path.write_text(TABLE)
    return path


def test_ages_figure_and_ensemble_are_written(table, tmp_path):
    done = run(table, "--out", tmp_path / "out", "--depths", "0:140:20", "--steps", 10, "--ensemble", 20)
    assert done.exit_code == 0, done.output
    ages = pd.read_csv(tmp_path / "out" / "ages.csv")
    assert ages["depth"].tolist() == list(range(0, 141, 20))
    assert (ages["mean"].diff().dropna() > 0.0).all()
    assert pd.read_csv(tmp_path / "out" / "ensemble.csv").shape[1] == 21
    assert len(pd.read_csv(tmp_path / "out" / "inputs.csv")) == 4
    for name in "age-depth.png", "age-depth.pdf", "age-depth.svg", "posterior.nc", "report.html":
        assert (tmp_path / "out" / name).stat().st_size > 1000
    facts = json.loads((tmp_path / "out" / "run.json").read_text())
    assert facts["state"] == "converged"
    assert "Figure: " in done.output
    columns = (tmp_path / "out" / "columns.txt").read_text()
    for said in (
        "ages.csv: the age-depth model",
        "mean of the age, in cal BP",
        "1 ... 20",
        "alpha",
        "depth of the row",
    ):
        assert said in columns


def test_a_run_that_has_not_converged_goes_on(table, tmp_path):
    common = (table, "--out", tmp_path / "out", "--steps", 10)
    assert run(*common, "--chains", 2, "--max-sweeps", 20, "--quiet").exit_code == 3
    other = run(*common, "--chains", 2, "--memory", "off", "--resume")
    assert other.exit_code == 2
    assert "had other settings" in other.stderr
    done = run(*common, "--chains", 2, "--resume", "--json")
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    assert facts["state"] == "converged"
    assert facts["folder"] == str(tmp_path / "out")
    assert facts["model"]["memory"] is True
    assert facts == json.loads((tmp_path / "out" / "run.json").read_text()) | {"folder": str(tmp_path / "out")}
    again = run(*common, "--chains", 2, "--resume")
    assert again.exit_code == 2
    assert "is converged; there is nothing to continue" in again.stderr


def test_depths_beyond_the_core_are_warned_of(table, tmp_path):
    done = run(table, "--out", tmp_path / "out", "--steps", 10, "--depths", "100,150,160")
    assert done.exit_code == 0, done.output
    said = "2 of the 3 requested depths lie beyond the core (0 to 140)"
    assert said in done.output
    assert any(said in one for one in json.loads((tmp_path / "out" / "run.json").read_text())["warnings"])


@pytest.mark.slow
def test_with_memory(table, tmp_path):
    done = run(table, "--out", tmp_path / "out", "--steps", 10, "--memory", "on")
    assert done.exit_code == 0, done.output
    assert json.loads((tmp_path / "out" / "run.json").read_text())["settings"]["memory"] is True
    assert "memory" in lamina.load(tmp_path / "out" / "posterior.nc").theta
    assert list(pd.read_csv(tmp_path / "out" / "theta.csv")) == ["memory", "alpha"]
    assert "memory  " in done.output


@pytest.mark.slow
def test_memory_needs_no_more_than_two_dates(tmp_path):
    (tmp_path / "core.csv").write_text("depth,14C age,14C error\n0,180,25\n140,1480,30\n")
    done = run(tmp_path / "core.csv", "--out", tmp_path / "out", "--steps", 10, "--memory", "on")
    assert done.exit_code in (0, 3), done.output
    assert (tmp_path / "out" / "ages.csv").is_file()


def test_what_was_not_found_is_written_and_marked(table, tmp_path):
    done = run(table, "--out", tmp_path / "out", "--max-sweeps", 10, "--quiet")
    assert done.exit_code == 3
    assert json.loads((tmp_path / "out" / "run.json").read_text())["state"] == "not converged"
    # Matplotlib draws text as outlines, and says beside them what they spell.
    assert "NOT CONVERGED: not to be used as it is" in (tmp_path / "out" / "age-depth.svg").read_text()


def test_what_was_interrupted_is_marked_in_the_figure(table, tmp_path, monkeypatch):
    def press(state):
        if state["stage"] == "sampling":
            raise KeyboardInterrupt

    # the module, which the command of the same name hides
    monkeypatch.setattr(sys.modules["lamina.cli.fit"], "sampling", lambda quiet: nullcontext(press))
    done = run(table, "--out", tmp_path / "out", "--steps", 10, "--quiet")
    assert done.exit_code == 130
    assert "INTERRUPTED: not to be used as it is" in (tmp_path / "out" / "age-depth.svg").read_text()


def test_the_unit_of_depth_is_kept_and_widths_are_in_years(table, tmp_path):
    table.write_text(TABLE.replace("depth", "Depth (cm)", 1))
    done = run(table, "--out", tmp_path / "out", "--steps", 10, "--memory", "on", "--depths", "20,140,150")
    assert done.exit_code == 0, done.output
    figure = (tmp_path / "out" / "age-depth.svg").read_text()
    for said in "Depth (cm)", "Time per cm", "median":
        assert f"<!-- {said}" in figure
    assert "NOT CONVERGED" not in figure
    words = " ".join(done.output.split())
    assert " years wide on average" in words
    assert " wide on average and " in words
    assert " cm. " in words
    assert "1 of the 3 requested depths lies beyond the core (0 to 140)" in words
    assert lamina.load(tmp_path / "out" / "posterior.nc").record.depth_unit == "cm"


def test_a_date_in_conflict_is_named_as_the_user_knows_it(tmp_path):
    rows = [(0, 100), (10, 200), (20, 300), (30, 1500), (40, 500), (50, 600), (60, 700)]
    text = "Lab ID,depth (cm),age BP,age_sd\n" + "".join(f"X-{d},{d},{age},10\n" for d, age in rows[::-1])
    (tmp_path / "core.csv").write_text(text)
    done = run(tmp_path / "core.csv", "--out", tmp_path / "out", "--steps", 12)
    assert "  line 5, X-30, depth 30 cm: dated 1500 ± 10, found " in done.output


def test_a_curve_that_contradicts_the_table_is_refused(tmp_path):
    (tmp_path / "core.csv").write_text("labID,age,error,depth,cc\nA,180,25,0,1\nB,620,25,45,3\nC,1480,30,140,1\n")
    done = run(tmp_path / "core.csv", "--out", tmp_path / "out", "--curve", "SHCal20")
    assert done.exit_code == 2
    said = 'core.csv, lines 2 and 4, column "cc": the table says IntCal20, but --curve SHCal20 (curve= in Python) says'
    assert said in " ".join(done.output.split())
    assert not (tmp_path / "out").exists()


def test_the_curve_that_is_assumed_is_said(table, tmp_path):
    done = run(table, "--out", tmp_path / "out", "--steps", 5, "--max-sweeps", 10)
    assert "IntCal20 (assumed; change it with --curve NAME" in done.output
    understood = json.loads((tmp_path / "out" / "run.json").read_text())["understood"]
    assert ["calibration", "IntCal20"] in [fact[:2] for fact in understood]


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        ("age,age_sd\n10,1\n20,1\n", ["--order", "rows"], "needs a column of depths"),
        (TABLE + "3,100,25,B\n50,600,25,B\n", [], "several cores (A, B): choose one with --site"),
        (TABLE, ["--depths", "0:10"], "--depths: '0:10' is not first:last:step"),
        (TABLE, ["--steps", "2"], "2 is not a whole number of at least 5"),
        (TABLE.replace("180", "90000"), [], "line 2"),
    ],
)
def test_bad_input_writes_nothing(tmp_path, content, options, said):
    path = tmp_path / "core.csv"
    path.write_text(content)
    done = run(path, "--out", tmp_path / "out", *options)
    assert done.exit_code == 2
    assert said in " ".join(done.output.split())
    assert not (tmp_path / "out").exists()


def test_dates_are_left_out_if_asked_for(tmp_path):
    lines = [f"{depth},{1000 + 20 * depth + 7 * (depth % 3)},25" for depth in range(0, 80, 8)]
    (tmp_path / "core.csv").write_text("\n".join(["depth (cm),age BP,age_sd", *lines]))
    common = (tmp_path / "core.csv", "--out", tmp_path / "out", "--steps", 5)
    done = run(*common, "--validate", "--folds", 3)
    assert done.exit_code == 0, done.output
    words = " ".join(done.output.split())
    assert "Of 10 dates that were left out and predicted, " in words
    assert "bands of half the right width would have been noticed with a probability of" in words
    found = pd.read_csv(tmp_path / "out" / "validation.csv")
    assert found["line"].tolist() == list(range(2, 12))
    assert set(found["fold"]) == {1, 2, 3}
    assert set(found["inside_95"]) <= {"yes", "no"}
    assert "validation.csv: dates left out and predicted" in (tmp_path / "out" / "columns.txt").read_text()
    assert (tmp_path / "out" / "validation.png").stat().st_size > 1000
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Dates left out and predicted" in page
    assert "figure-calibration" in page
    facts = json.loads((tmp_path / "out" / "run.json").read_text())
    assert facts["diagnostics"]["validation"]["folds"] == 3
    assert "validation.csv" in facts["files"]
    assert run(*common, "--force", "--max-sweeps", 10, "--quiet").exit_code == 3
    assert not (tmp_path / "out" / "validation.csv").exists()


def test_rejected_dates_are_drawn_hollow(tmp_path):
    lines = [
        f"{depth},{500 + 20 * depth + 300 * (depth == 24)},25,{'yes' * (depth == 24)}" for depth in range(0, 60, 8)
    ]
    (tmp_path / "core.csv").write_text("\n".join(["height (cm),age CE,age_sd,reject", *lines]))
    done = run(tmp_path / "core.csv", "--out", tmp_path / "out", "--steps", 5, "--depths", "0,60")
    assert done.exit_code == 0, done.output
    assert "1 of the 2 requested heights lies beyond the core" in " ".join(done.output.split())
    figure = (tmp_path / "out" / "age-depth.svg").read_text()
    for said in "rejected", "Height (cm)":
        assert f"<!-- {said}" in figure
    assert len(pd.read_csv(tmp_path / "out" / "inputs.csv")) == 7


def test_few_dates_cannot_be_left_out(table, tmp_path):
    done = run(table, "--out", tmp_path / "out", "--validate")
    assert done.exit_code == 2
    assert "4 dates could be left out here" in " ".join(done.output.split())
    assert not (tmp_path / "out").exists()
    assert "--folds is the number of parts of --validate" in " ".join(run(table, "--folds", 3).output.split())


def test_priors_of_accumulation(table, tmp_path):
    common = (table, "--out", tmp_path / "out", "--steps", 10)
    done = run(*common, "--acc-mean", "10,1.5", "--acc-shape", 3, "--memory", "20,2")
    assert done.exit_code == 0, done.output
    facts = json.loads((tmp_path / "out" / "run.json").read_text())
    assert facts["model"]["priors"] == {"acc_mean": [10.0, 1.5], "alpha": [3.0, 4.0], "memory": [20.0, 2.0]}
    assert not any("prior" in one for one in facts["warnings"])
    assert "an inverse-gamma prior with median 10" in (tmp_path / "out" / "report.html").read_text()
    without = run(*common, "--force", "--memory", "off", "--acc-mean", 200)
    assert "median of 200 years per unit of depth (factor 2), but the dates give 8." in " ".join(without.output.split())
    facts = json.loads((tmp_path / "out" / "run.json").read_text())
    assert facts["model"]["memory"] is False
    assert sum("prior" in one for one in facts["warnings"]) == 1


@pytest.mark.parametrize(
    ("option", "text"),
    [("--acc-mean", "fast"), ("--acc-mean", "-3"), ("--acc-shape", "2,1"), ("--memory", "yes"), ("--memory", "5,2,1")],
)
def test_bad_priors_get_one_message(table, tmp_path, option, text):
    done = run(table, "--out", tmp_path / "out", option, text)
    assert done.exit_code == 2
    assert f"{option}: {text!r} is not" in done.stderr
    assert not (tmp_path / "out").exists()
