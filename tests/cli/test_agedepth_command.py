"""``lamina agedepth``: from dates and depths to ages, figure and ensemble; and what bad tables get."""

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

import lamina
from lamina.cli import app

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
    for name in "age-depth.png", "age-depth.pdf", "age-depth.svg", "posterior.nc":
        assert (tmp_path / "out" / name).stat().st_size > 1000
    facts = json.loads((tmp_path / "out" / "run.json").read_text())
    assert facts["state"] == "converged"
    assert "Figure: " in done.output


def test_depths_beyond_the_core_are_warned_of(table, tmp_path):
    done = run(table, "--out", tmp_path / "out", "--steps", 10, "--depths", "100,150,160")
    assert done.exit_code == 0, done.output
    said = "2 of the 3 depths asked for lie beyond the core (0 to 140)"
    assert said in done.output
    assert any(said in one for one in json.loads((tmp_path / "out" / "run.json").read_text())["warnings"])


def test_with_memory(table, tmp_path):
    done = run(table, "--out", tmp_path / "out", "--steps", 10, "--memory")
    assert done.exit_code == 0, done.output
    assert json.loads((tmp_path / "out" / "run.json").read_text())["memory"] is True
    assert "memory" in lamina.load(tmp_path / "out" / "posterior.nc").theta
    assert list(pd.read_csv(tmp_path / "out" / "theta.csv")) == ["memory", "alpha"]
    assert "memory, depth over which the pace is forgotten" in done.output


def test_memory_needs_no_more_than_two_dates(tmp_path):
    (tmp_path / "core.csv").write_text("depth,14C age,14C error\n0,180,25\n140,1480,30\n")
    done = run(tmp_path / "core.csv", "--out", tmp_path / "out", "--steps", 10, "--memory")
    assert done.exit_code in (0, 3), done.output
    assert (tmp_path / "out" / "ages.csv").is_file()


def test_what_was_not_found_is_written_and_marked(table, tmp_path):
    done = run(table, "--out", tmp_path / "out", "--max-sweeps", 10, "--quiet")
    assert done.exit_code == 3
    assert json.loads((tmp_path / "out" / "run.json").read_text())["state"] == "not converged"


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
