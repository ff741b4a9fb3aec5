"""lamina paper: what it writes, and what bad input gets."""

import os

import pandas as pd
import pytest
from commands import lamina

from lamina import paper as experiments

SMALL = ("--functions", "1", "--methods", "gp; nigp", "--repetitions", "1")


@pytest.mark.slow
def test_synthetic_writes_figures_and_every_number(tmp_path):
    out = tmp_path / "deep" / "paper"
    result = lamina("paper", "synthetic", "--out", out, *SMALL)
    assert result.exit_code == 0, result.output
    assert sorted(os.listdir(out)) == [
        "figure1.png", "supplement.png", "synthetic.csv", "synthetic_averages.csv", "synthetic_by_function.csv",
    ]  # fmt: skip
    written = pd.read_csv(out / "synthetic.csv")
    called = experiments.synthetic(functions=["5 sin x"], methods=["gp", "nigp"], repetitions=1)
    assert written["rmse"].to_numpy() == pytest.approx(called["rmse"].to_numpy(), rel=1e-5)
    assert "Figures and tables are in" in result.output


@pytest.mark.slow
def test_an_interrupted_run_says_so_keeps_what_is_done_and_goes_on(tmp_path, monkeypatch):
    from lamina.paper import functions as module

    real, calls = module._run, []

    def interrupted(task):
        if len(calls) == 4:
            raise KeyboardInterrupt
        calls.append(task)
        return real(task)

    monkeypatch.setattr(module, "_run", interrupted)
    result = lamina("paper", "synthetic", "--out", tmp_path, "--cores", 1, *SMALL)
    assert result.exit_code == 130
    assert "interrupted" in result.stderr
    assert not (tmp_path / "synthetic.csv").exists()
    assert len(list(tmp_path.glob(".synthetic-*.jsonl"))) == 1
    calls.clear()
    monkeypatch.setattr(module, "_run", lambda task: calls.append(task) or real(task))
    result = lamina("paper", "synthetic", "--out", tmp_path, "--cores", 1, *SMALL)
    assert result.exit_code == 0
    assert len(calls) == 20 - 4
    assert len(pd.read_csv(tmp_path / "synthetic.csv")) == 20
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--functions", "6"), "--functions: there is no function '6'; there are: 1 = 5 sin x"),
        (("--functions", "sin"), "--functions: there is no function 'sin'"),
        (("--methods", "gp; hmc"), "--methods: there is no method 'hmc' in this experiment; there are: npv; mcmc"),
        (("--repetitions", "0"), "Invalid value for '--repetitions'"),
        (("--seed", "-1"), "Invalid value for '--seed'"),
    ],
)
def test_bad_options_get_one_message_and_write_nothing(tmp_path, arguments, text):
    result = lamina("paper", "synthetic", "--out", tmp_path / "out", *arguments)
    assert result.exit_code == 2
    assert text in " ".join(result.stderr.replace("│", " ").split())
    assert "Traceback" not in result.output
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["synthetic", "timing", "sealevel", "all"])
def test_a_folder_that_cannot_be_written_is_named_before_any_work(tmp_path, command):
    (tmp_path / "file").touch()
    result = lamina("paper", command, "--out", tmp_path / "file")
    assert result.exit_code == 2
    assert "is a file, not a folder" in result.stderr
