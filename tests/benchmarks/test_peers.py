"""The comparison with peers runs where none of them is installed, and its tables say what was found."""

import os
import runpy
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "peers.py"


@pytest.fixture
def script(monkeypatch):
    """What peers.py defines."""
    for library in ("OPENBLAS", "MKL", "OMP"):  # which it sets: put back afterwards
        monkeypatch.setenv(f"{library}_NUM_THREADS", os.environ.get(f"{library}_NUM_THREADS", "1"))
    monkeypatch.syspath_prepend(SCRIPT.parent)
    before = set(sys.modules)
    yield runpy.run_path(str(SCRIPT))
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(SCRIPT.parent)):
            del sys.modules[name]


def found(sampler, rate, state=""):
    """A row as ``score`` makes it."""
    row = {"N": 25, "sampler": sampler, "state": state}
    if state:
        return row
    names = ("seconds", "compiling", "ess", "r_hat", "rmse", "coverage", "input_coverage", "memory")
    return row | dict.fromkeys(names, 1.0) | {"ess_per_second": rate}


def test_ratios_and_targets_come_from_the_same_run_and_a_missing_peer_is_named(script):
    rows = [found("lamina mcmc", 70.0), found("NumPyro NUTS", 5.0), found("PyMC NUTS", 0.0, "not installed")]
    table = script["sampler_table"](pd.DataFrame(rows))
    assert [row[7] for row in table.rows] == ["14", "1", ""]
    assert [(one.measured, one.met) for one in table.targets] == [(14.0, False)]
    assert "PyMC NUTS (not installed)" in table.note
    assert table.rows[2][2] == "not installed"


def test_scores_are_those_of_the_truth(script):
    tau = np.array([0.0, 1.0, 2.0])
    draws = tau + np.random.default_rng(0).standard_normal((2, 100, 3)) + [0.0, 0.0, 50.0]
    answer = {"state": "", "mean": np.array([1.0, 3.0]), "low": np.array([0.0, 2.5]), "high": np.array([2.0, 4.0]),
              "draws": draws, "seconds": 2.0, "memory": 1.0}  # fmt: skip
    row = script["score"](answer, np.array([1.0, 2.0]), tau)
    assert row["rmse"] == pytest.approx(np.sqrt(0.5))
    assert row["coverage"] == 0.5
    assert row["input_coverage"] == pytest.approx(2 / 3)
    assert row["ess_per_second"] == row["ess"] / 2.0


def test_a_peer_that_is_missing_breaks_or_takes_too_long_is_a_result(script, tmp_path):
    core = tmp_path / "core.npz"
    np.savez(core, **script["core"](12, 0, "5 sin x")[0])
    ask = script["ask"]
    assert ask("peer_tools.py", "StratMC", core, 10, 60.0, str(tmp_path / "none"))["state"].startswith("failed")
    assert ask("peer_tools.py", "no such tool", core, 10, 60.0, sys.executable)["state"].startswith("failed: KeyError")
    assert ask("peer_samplers.py", "lamina gp", core, 10, 0.01, sys.executable)["state"] == "not finished in 0 s"
    assert script["why"]("Traceback\nModuleNotFoundError: No module named 'stratmc'\n").startswith("not installed: No")


@pytest.mark.slow
def test_a_peer_out_of_time_takes_its_own_processes_with_it(script, tmp_path, monkeypatch):
    (tmp_path / "peer.py").write_text(
        "import os, pathlib, subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "pathlib.Path(sys.argv[2]).write_text(str(child.pid))\n"
        "child.wait()\n"
    )
    pid = tmp_path / "pid"
    monkeypatch.setitem(script["ask"].__globals__, "HERE", tmp_path)
    assert script["ask"]("peer.py", "any", pid, 10, 5.0, sys.executable)["state"] == "not finished in 5 s"
    child = Path("/proc") / pid.read_text() / "stat"
    deadline = time.monotonic() + 10.0
    while child.exists() and child.read_text().split()[2] != "Z" and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not child.exists() or child.read_text().split()[2] == "Z"


@pytest.mark.slow
def test_the_quick_run_writes_tables_figures_and_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- peers -->\n<!-- /peers -->\n<!-- peer-fields -->\n<!-- /peer-fields -->\nafter\n")
    run = [sys.executable, SCRIPT, "--quick", "--limit", "600", "--out", tmp_path / "peers", "--markdown", page]
    subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
    peers = {"engines": "engine", "samplers": "sampler", "tools": "tool", "fields": "tool"}
    for name, column in peers.items():
        table = pd.read_csv(tmp_path / "peers" / f"{name}.csv", keep_default_na=False)
        assert (table["state"].ne("") | table["seconds"].ne("")).all()
        assert (table["state"][table[column].str.startswith("lamina")] == "").all()
        assert (tmp_path / "peers" / f"{name}.png").stat().st_size > 1000
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "(peers/tools.csv)" in text
    assert " lamina mcmc |" in text


def test_fields_are_averaged_over_those_that_were_finished(script):
    known = {"field": "3 sites × 20 rows", "tool": "PaleoSTeHM noisy input", "state": "", "version": "1.0"}
    numbers = {"seconds": 2.0, "coverage": 0.5, "memory": 1.0}
    rows = [known | numbers | {"rmse": 0.1}, known | numbers | {"rmse": 0.3}]
    rows.append(known | {"state": "not finished in 5 s", "version": ""})
    rows.append(known | {"tool": "PaleoSTeHM errors in variables", "state": "not installed", "version": ""})
    table = script["field_table"](pd.DataFrame(rows))
    assert table.rows[0][2:5] == ["2", "200.0", "0.50"]
    assert table.rows[0][-1] == "2 of 3"
    assert table.rows[1][2] == "not installed"
    assert "PaleoSTeHM 1.0" in table.note
