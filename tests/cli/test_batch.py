"""lamina batch: many records, one folder each; failures are reported and stop nothing."""

import html
import json
import os
import shlex
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from commands import lamina

from lamina.fitting import Fit

#: Files of a batch beside the folders of its records.
OWN = ["columns.txt", "index.html", "plotly.min.js", "run.json", "summary.csv"]
HEAD = "site,depth,age_bp,age_sd,value,value_sd\n"


def site(name: str, seed: int, rows: int = 8) -> str:
    rng = np.random.default_rng(seed)
    depth = np.arange(rows)
    age = 100 * depth + rng.normal(0, 30, rows)
    value = np.sin(depth) + rng.normal(0, 0.1, rows)
    lines = [f"{name},{d},{t:.1f},30,{v:.3f},0.1" for d, t, v in zip(depth, age + 200, value, strict=True)]
    return "\n".join(lines) + "\n"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "sites.csv"
    path.write_text(HEAD + site("north", 1) + site("<b>south</b>", 2) + "bad,1,100,30,0.5,-1\nbad,2,200,30,0.5,0.1\n")
    return path


def batch(table, out, *arguments):
    return lamina("batch", table, "--by", "site", "--out", out, "--method", "gp", *arguments)


def test_a_report_says_how_to_do_the_batch_again(tmp_path, table, monkeypatch):
    out, arguments = tmp_path / "out", ["batch", str(table), "--by", "site", "--method", "gp", "--site", "north"]
    monkeypatch.setattr(sys, "argv", ["lamina", *arguments])
    assert lamina(*arguments, "--out", out).exit_code == 0
    command = shlex.join(["lamina", *arguments])
    assert json.loads((out / "north" / "run.json").read_text())["command"] == command
    assert command in html.unescape((out / "north" / "report.html").read_text())


def test_each_part_has_a_folder_and_a_failure_stops_nothing(tmp_path, table):
    out = tmp_path / "out"
    done = batch(table, out)
    assert done.exit_code == 3
    assert "bad: failed" in done.stderr
    assert "line 18" in done.stderr
    assert "3 records: 2 converged, 1 failed" in done.stdout
    assert sorted(os.listdir(out)) == ["b_south_b", *OWN[:2], "north", *OWN[2:]]
    assert {"curve.csv", "inputs.csv", "report.html", "run.json", "posterior.nc"} <= set(os.listdir(out / "north"))
    assert json.loads((out / "north" / "run.json").read_text())["table"] == "north in sites.csv"
    summary = pd.read_csv(out / "summary.csv").set_index("name")
    assert summary["state"].to_dict() == {"north": "converged", "<b>south</b>": "converged", "bad": "failed"}
    assert summary["rows"].to_dict() == {"north": 8, "<b>south</b>": 8, "bad": 0}
    page = (out / "index.html").read_text()
    assert "&lt;b&gt;south" in page
    assert "<b>" not in page
    assert page.count("<svg") == 2
    for name in "north", "b_south_b":  # all reports share one Plotly
        assert (out / name / "report.html").stat().st_size < 1e6
        assert '<script src="../plotly.min.js">' in (out / name / "report.html").read_text()
    assert (out / "plotly.min.js").stat().st_size > 1e6
    assert 'href="north/report.html"' in page


def test_a_record_gives_the_same_results_here_as_alone_on_any_number_of_workers(tmp_path, table):
    batch(table, tmp_path / "one", "--workers", "1")
    batch(table, tmp_path / "two", "--workers", "2")
    alone = tmp_path / "north.csv"
    alone.write_text(HEAD + site("north", 1))
    lamina("fit", alone, "--out", tmp_path / "alone", "--method", "gp", "--quiet")
    for name in "curve.csv", "inputs.csv", "theta.csv":
        found = {(tmp_path / folder / name).read_bytes() for folder in ("one/north", "two/north", "alone")}
        assert len(found) == 1


def test_finished_records_are_skipped_and_others_done_again(tmp_path, table):
    out = tmp_path / "out"
    batch(table, out)
    times = {name: (out / name / "run.json").stat().st_mtime_ns for name in ("north", "b_south_b")}
    assert batch(table, out).exit_code == 2
    (out / "b_south_b" / "run.json").unlink()
    assert batch(table, out, "--resume").exit_code == 3
    assert (out / "north" / "run.json").stat().st_mtime_ns == times["north"]
    assert (out / "b_south_b" / "run.json").stat().st_mtime_ns > times["b_south_b"]
    assert batch(table, out, "--resume", "--seed", "1").exit_code == 3
    assert json.loads((out / "north" / "run.json").read_text())["seed"] == 1


def test_an_interrupt_leaves_a_batch_that_can_go_on(tmp_path, table, monkeypatch):
    out, run, begun = tmp_path / "out", Fit.run, []

    def interrupted(fit):
        begun.append(fit)
        if len(begun) == 2:
            raise KeyboardInterrupt
        return run(fit)

    monkeypatch.setattr(Fit, "run", interrupted)
    done = batch(table, out, "--workers", "1")
    assert done.exit_code == 130
    assert done.stderr == "lamina: interrupted. Finished records are kept; continue with --resume.\n"
    assert pd.read_csv(out / "summary.csv")["state"].to_list() == ["converged", "not done", "failed"]
    (out / "summary.csv").unlink()  # as if the power had failed
    again = batch(table, out)
    assert again.exit_code == 2
    assert (
        "already holds a batch. Choose another, continue it with --resume, or overwrite it with --force."
        in again.stderr
    )
    assert batch(table, out, "--resume", "--workers", "1").exit_code == 3
    assert len(begun) == 3
    assert pd.read_csv(out / "summary.csv")["state"].to_list() == ["converged", "converged", "failed"]


@pytest.mark.slow
@pytest.mark.parametrize("begun", [False, True], ids=["as workers begin", "as records are done"])
@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_ends_the_batch_on_any_number_of_workers(tmp_path, workers, begun):
    path, out = tmp_path / "sites.csv", tmp_path / "out"
    path.write_text(HEAD + "".join(site(f"site{k}", k, rows=30) for k in range(30)))
    command = [sys.executable, "-m", "lamina", "batch", path, "--by", "site", "--out", out, "--workers", str(workers)]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        while running.poll() is None and not (list(out.glob("*/run.json")) if begun else out.exists()):
            time.sleep(0.02)
        time.sleep(0 if begun else 0.7)  # workers are importing then
        os.killpg(running.pid, signal.SIGINT)  # a terminal sends it to the workers too
        _, said = running.communicate(timeout=60)
    finally:
        running.kill()
    assert running.returncode == 130
    assert said == "lamina: interrupted. Finished records are kept; continue with --resume.\n"
    if begun:
        summary = pd.read_csv(out / "summary.csv")
        states = summary["state"].value_counts()
        assert set(states.index) == {"converged", "not done"}
        assert f"30 records: {states['converged']} converged" in (out / "index.html").read_text()
    else:
        assert not out.exists()


def test_with_a_site_only_that_one_is_fitted(tmp_path, table):
    out = tmp_path / "out"
    done = batch(table, out, "--site", "North")
    assert done.exit_code == 0, done.output
    assert done.stderr == ""
    assert "1 record: 1 converged" in done.stdout
    assert sorted(os.listdir(out)) == [*OWN[:2], "north", *OWN[2:]]
    wrong = batch(table, tmp_path / "other", "--site", "west")
    assert wrong.exit_code == 2
    assert 'there is no "west", but "north"' in wrong.stderr
    assert not (tmp_path / "other").exists()


def test_files_of_others_are_not_mixed_with_a_batch(tmp_path, table):
    done = batch(table, tmp_path)
    assert done.exit_code == 2
    assert "is not empty: it holds sites.csv" in done.stderr
    assert os.listdir(tmp_path) == ["sites.csv"]


def test_a_folder_of_others_is_not_resumed(tmp_path, table):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").write_text("mine")
    done = batch(table, tmp_path / "out", "--resume")
    assert done.exit_code == 2
    assert "is not empty: it holds notes.txt" in done.stderr
    assert os.listdir(tmp_path / "out") == ["notes.txt"]


def test_several_files(tmp_path):
    for k in range(2):
        (tmp_path / f"core{k}.csv").write_text(HEAD + site("x", k))
    done = lamina("batch", tmp_path / "core0.csv", tmp_path / "core1.csv", "--out", tmp_path / "out", "--method", "gp")
    assert done.exit_code == 0, done.output
    assert {"core0", "core1"} < set(os.listdir(tmp_path / "out"))


BAD = {
    "no such column": (["--by", "region"], "region"),
    "workers and dask": (["--by", "site", "--workers", "2", "--dask", "tcp://127.0.0.1:1"], "give one of them"),
    "unknown kernel": (["--by", "site", "--kernel", "matern"], "there is no kernel 'matern'"),
    "chains of gp": (["--by", "site", "--method", "gp", "--chains", "4"], "--chains is not for --method gp"),
}


@pytest.mark.parametrize(("arguments", "text"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_reported_and_nothing_is_written(tmp_path, table, arguments, text):
    done = lamina("batch", table, "--out", tmp_path / "out", *arguments)
    assert done.exit_code == 2
    assert text in done.stderr
    assert not (tmp_path / "out").exists()


def test_names_that_would_share_a_folder_are_refused(tmp_path):
    path = tmp_path / "sites.csv"
    path.write_text(HEAD + site("a/b", 1) + site("A:B", 2))
    done = batch(path, tmp_path / "out")
    assert done.exit_code == 2
    assert "'a/b' and 'A:B' would share the folder A_B" in done.stderr


def test_a_site_named_like_a_path_stays_in_the_folder(tmp_path):
    path, out = tmp_path / "sites.csv", tmp_path / "deep" / "er" / "out"
    path.write_text(HEAD + site("../../etc", 1) + site("north", 2))
    assert batch(path, out).exit_code == 0
    assert sorted(os.listdir(out)) == [
        "columns.txt",
        "etc",
        "index.html",
        "north",
        "plotly.min.js",
        "run.json",
        "summary.csv",
    ]
    assert os.listdir(tmp_path / "deep") == ["er"]


def test_a_scheduler_that_does_not_answer_is_reported(tmp_path, table, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("lamina.batches.workers.PATIENCE", 0.5)
    done = batch(table, tmp_path / "out", "--dask", "tcp://127.0.0.1:1")
    assert done.exit_code == 2
    assert "no Dask scheduler answers at 'tcp://127.0.0.1:1'" in done.stderr
    assert "dask scheduler" in done.stderr


def test_two_tables_of_one_name_are_both_reported(tmp_path):
    for folder in "a", "b":
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "core.csv").write_text(HEAD + site("x", 0))
    first, second = tmp_path / "a" / "core.csv", tmp_path / "b" / "core.csv"
    done = lamina("batch", first, second, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert f"two tables would share the folder core: {first} and {second}. Rename one" in done.stderr
