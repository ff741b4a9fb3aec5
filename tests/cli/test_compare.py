"""lamina compare: several methods on one table."""

import os
from dataclasses import replace
from functools import partial

import pandas as pd
import pytest
from commands import lamina, write_table

import lamina as library
from lamina.methods.registry import METHODS
from lamina.posterior.comparison import differences

FILES = ["columns.txt", "compare.csv", "compare.png", "curves.csv", "run.json"]


def test_one_figure_one_table_of_differences_and_the_curves(tmp_path):
    out = tmp_path / "out"
    done = lamina("compare", write_table(tmp_path), "--methods", "gp, nigp,npv", "--out", out, "--at", "0:900:100")
    assert done.exit_code == 0, done.output
    assert sorted(os.listdir(out)) == FILES
    found, curves = pd.read_csv(out / "compare.csv"), pd.read_csv(out / "curves.csv")
    assert list(zip(found["first"], found["second"], strict=True)) == [("gp", "nigp"), ("gp", "npv"), ("nigp", "npv")]
    assert set(curves["method"]) == {"gp", "nigp", "npv"}
    record = library.read(tmp_path / "core.csv")
    called = {name: library.fit(record, name).curve(range(0, 901, 100)) for name in ("gp", "npv")}
    expected = differences(called).iloc[0]
    assert found.loc[1, "difference"] == pytest.approx(expected["difference"], rel=1e-4)
    assert found.loc[1, "divergence"] == pytest.approx(expected["divergence"], rel=1e-4)
    assert "Figure and tables are in" in done.stdout
    assert found["first_converged"].tolist() == ["yes"] * 3
    # the meaning and unit of the columns are in both places
    for text in done.stdout, (out / "columns.txt").read_text():
        words = " ".join(text.split())
        assert "the absolute difference, averaged over the times, in m" in words
        assert "symmetric Kullback-Leibler divergence" in words


def test_a_method_that_has_not_converged_is_marked_in_the_table(tmp_path, monkeypatch):
    replace_run(monkeypatch, "nigp", partial(METHODS["nigp"].run, max_steps=1))
    done = lamina("compare", write_table(tmp_path), "--methods", "gp,nigp", "--out", tmp_path / "out")
    assert done.exit_code == 3, done.output
    found = pd.read_csv(tmp_path / "out" / "compare.csv").iloc[0]
    assert (found["first_converged"], found["second_converged"]) == ("yes", "no")
    assert "nigp has NOT converged." in done.stderr


def replace_run(monkeypatch, name, run):
    monkeypatch.setitem(METHODS, name, replace(METHODS[name], run=run))


def interrupt(*args, **kwargs):
    raise KeyboardInterrupt


def test_ctrl_c_stops_after_the_method_and_keeps_those_before(tmp_path, monkeypatch):
    replace_run(monkeypatch, "npv", interrupt)
    done = lamina("compare", write_table(tmp_path), "--methods", "gp,nigp,npv,mcmc", "--out", tmp_path / "out")
    assert done.exit_code == 130, done.output
    assert "left out: npv, mcmc" in done.stderr
    found = pd.read_csv(tmp_path / "out" / "compare.csv")
    assert found[["first", "second"]].to_numpy().tolist() == [["gp", "nigp"]]


def test_a_method_that_was_interrupted_is_marked_in_the_table(tmp_path, monkeypatch):
    nigp = METHODS["nigp"].run

    def stopped(problem, seed):
        draws = nigp(problem, seed=seed)
        return replace(draws, diagnostics=draws.diagnostics | {"converged": False, "interrupted": True})

    replace_run(monkeypatch, "nigp", stopped)
    done = lamina("compare", write_table(tmp_path), "--methods", "gp,nigp,npv", "--out", tmp_path / "out")
    assert done.exit_code == 130, done.output
    assert "nigp was INTERRUPTED" in done.stderr
    found = pd.read_csv(tmp_path / "out" / "compare.csv")
    assert found[["first_converged", "second_converged"]].to_numpy().tolist() == [["yes", "interrupted"]]


def test_ctrl_c_before_there_are_two_curves_leaves_nothing(tmp_path, monkeypatch):
    replace_run(monkeypatch, "nigp", interrupt)
    done = lamina("compare", write_table(tmp_path), "--methods", "gp,nigp", "--out", tmp_path / "out")
    assert done.exit_code == 130
    assert "No files were written" in done.stderr
    assert os.listdir(tmp_path) == ["core.csv"]


def test_a_record_that_cannot_be_fitted_is_refused_before_anything_is_written(tmp_path):
    table = write_table(tmp_path, "depth,age_bp,age_sd,rsl,rsl_sd\n1,100,10,1,1\n2,200,10,1,1\n")
    done = lamina("compare", table, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert "too few" in done.stderr
    assert os.listdir(tmp_path) == ["core.csv"]


@pytest.mark.parametrize(
    ("methods", "text"),
    [("gp", "give at least two different methods"), ("gp,gp", "at least two"), ("gp,hmc", "there is no method 'hmc'")],
)
def test_bad_methods_are_named_and_nothing_is_written(tmp_path, methods, text):
    done = lamina("compare", write_table(tmp_path), "--methods", methods, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert text in done.stderr
    assert os.listdir(tmp_path) == ["core.csv"]


def test_what_is_there_is_not_overwritten(tmp_path):
    (tmp_path / "compare.csv").write_text("mine")
    done = lamina("compare", write_table(tmp_path), "--out", tmp_path)
    assert done.exit_code == 2
    assert "holds a file compare.csv already" in done.stderr


def test_files_of_others_are_not_mixed_with_a_comparison(tmp_path):
    done = lamina("compare", write_table(tmp_path), "--out", tmp_path)
    assert done.exit_code == 2
    assert "is not empty: it holds core.csv" in done.stderr


def test_two_equal_curves_do_not_differ(tmp_path):
    curve = pd.DataFrame({"mean": [1.0, 2.0], "sd": [0.5, 0.1]})
    assert differences({"a": curve, "b": curve})[["difference", "divergence"]].to_numpy() == pytest.approx(0.0)
    wide = curve.assign(sd=2 * curve["sd"])
    assert differences({"a": curve, "b": wide})["divergence"].item() == pytest.approx(0.5 * (4 + 0.25) - 1)
