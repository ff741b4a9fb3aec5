"""The samplers are calibrated: ranks of the truth are uniform, and they are not when the acceptance ratio is wrong."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "calibration.py"

#: All run side by side: compiling takes as long as sampling, and the planted error must be compiled in.
RUNS = {
    "mcmc": ["--method", "mcmc", "--repetitions", "250"],
    "nuts": ["--method", "nuts", "--repetitions", "40"],
    "depths": ["--method", "mcmc", "--repetitions", "150", "--gaps", "depths"],
    "memory": ["--method", "mcmc", "--repetitions", "150", "--gaps", "memory"],
    "planted": ["--method", "mcmc", "--repetitions", "64", "--planted", "log-ratio"],
}


@pytest.fixture(scope="module")
def p_values(tmp_path_factory):
    """Of each quantity in each run."""
    folder = tmp_path_factory.mktemp("calibration")
    processes = {
        name: subprocess.Popen([sys.executable, SCRIPT, *arguments, "--json", folder / name], stdout=subprocess.DEVNULL)
        for name, arguments in RUNS.items()
    }
    try:
        assert {name: process.wait() for name, process in processes.items()} == dict.fromkeys(RUNS, 0)
    finally:
        for process in processes.values():
            process.kill()
            process.wait()
    return {name: json.loads((folder / name).read_text()) for name in RUNS}


@pytest.mark.slow
@pytest.mark.parametrize("run", ["mcmc", "nuts", "depths", "memory"])
def test_ranks_are_uniform(p_values, run):
    found = p_values[run]
    assert {"tau 2", "length", "sd", "alpha", "f(2.45)"} < found.keys()
    assert min(found.values()) * len(found) > 0.01, found


@pytest.mark.slow
def test_a_factor_of_one_half_in_the_acceptance_ratio_is_noticed(p_values):
    found = p_values["planted"]
    assert min(found.values()) * len(found) < 0.01, found


def test_chi_square_tells_uniform_ranks_from_others(rng):
    script = runpy.run_path(str(SCRIPT))
    top, n = script["L"], 4000
    ranks = {
        "uniform": rng.integers(0, top + 1, n),
        "too wide": np.minimum(rng.binomial(top, rng.beta(1.2, 1.2, n)), top),
        "biased": np.maximum(rng.integers(0, top + 1, n) - 3, 0),
    }
    found = script["p_values"](ranks)
    assert found["uniform"] > 0.01
    assert found["too wide"] < 1e-6
    assert found["biased"] < 1e-6
    many = script["p_values"]({k: rng.integers(0, top + 1, 400) for k in range(400)})
    assert np.mean(np.array(list(many.values())) < 0.1) == pytest.approx(0.1, abs=0.06)
