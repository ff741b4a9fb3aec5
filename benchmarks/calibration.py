"""Simulation-based calibration of the samplers (Talts, Betancourt, Simpson, Vehtari & Gelman 2018, arXiv:1804.06788).

Parameters are drawn from their priors, inputs, curve and measurements from the model, and the record is fitted with the
same priors. If the sampler is right, the rank of the truth among L posterior draws is uniform on 0 ... L, for every
quantity; a chi-square test says how far it is from that. The gap prior alone is improper, and so the first and last
row of the record are exact: given the span, the shares of the gaps in it are Dirichlet(alpha, ..., alpha).

    python benchmarks/calibration.py [--method mcmc] [--cores 1] [--gaps rows] [--moves all] [--repetitions 500]
    python benchmarks/calibration.py --markdown docs/benchmarks.md

``--cores 2`` puts the rows into two cores that share the curve. With ``--gaps depths`` and ``memory`` the record has
depths, with steps that differ fivefold, and accumulation is a process in depth; with ``loose`` the rows have no order.
``--moves`` names the moves of several
inputs that are made; the others are switched off. ``--planted`` shows that the test can fail: it runs on a copy of
lamina in which the acceptance ratio is wrong by a factor ½, in the ratio itself ("ratio") or in its logarithm
("log-ratio"). A wrong Jacobian of a single move is too small an error for this test, beside all others;
``tests/methods/mcmc/test_levels.py`` compares Jacobians with determinants. ``--markdown`` makes all runs and writes the
table into the page.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import chi2

import lamina
from lamina.methods import mcmc, nuts
from lamina.methods.draws import Draws
from lamina.methods.prediction import curves
from lamina.methods.target import log_density, make_target
from lamina.model.model import Model
from lamina.model.problem import Problem, build_problem

N, SPAN, T_SD, Y_SD, LEVEL_SD = 8, 7.0, 0.6, 0.3, 2.0
PRIORS = {"length": (2.0, 1.5), "sd": (1.0, 1.5), "alpha": (3.0, 1.6)}
#: With memory: its prior, in units of depth.
MEMORY_PRIOR = (0.6, 1.6)
#: What the gaps are: as in a record without depths, increments of a process in depth, or of one with memory; or
#: nothing, if the rows have no order.
GAPS = ("rows", "depths", "memory", "loose")
AT = np.array([0.35 * SPAN, 1.1 * SPAN])
#: Posterior draws, L, and bins of the chi-square test: L + 1 is a multiple of them.
L, BINS = 63, 8
#: Sweeps of mcmc, or draws of nuts, from one of the L to the next.
THIN = {"mcmc": 64, "nuts": 4}
WARMUP = {"mcmc": 300, "nuts": 300}

DECISION = "return log_ratio >= 0.0 or math.log(uniform(rng)) < log_ratio"
#: Errors: the file, what stands there, and what is planted instead.
PLANTED = {
    "ratio": ("methods/mcmc/metropolis.py", DECISION, f"log_ratio -= math.log(2.0)\n    {DECISION}"),
    "log-ratio": ("methods/mcmc/metropolis.py", DECISION, f"log_ratio *= 0.5\n    {DECISION}"),
}
#: Moves of several inputs at once.
NO_MOVES = mcmc.MOVES._replace(spread=0, stretches=0, tents=0, warps=0, lone=0)
MOVES = {
    "all": mcmc.MOVES,
    "none": NO_MOVES,
    "tents": NO_MOVES._replace(tents=mcmc.MOVES.tents),
    "warps": NO_MOVES._replace(warps=mcmc.MOVES.warps),
    "spread": NO_MOVES._replace(spread=mcmc.MOVES.spread),
    "lone": NO_MOVES._replace(lone=mcmc.MOVES.lone),
}


class Truth(NamedTuple):
    """What a record was made from."""

    tau: np.ndarray  #: (N,)
    theta: dict[str, float]
    curve: np.ndarray  #: (len(AT),)


def draw_inputs(rng: np.random.Generator, alpha: float, cores: int) -> np.ndarray:
    """Inputs (N,) of one core, or of cores of different spans, one after the other."""
    found = []
    for k in range(cores):
        n, begin, span = N // cores, 0.4 * k, SPAN - 0.8 * k
        share = rng.dirichlet(np.full(n - 1, alpha))
        found.append(begin + span * np.concatenate([[0.0], np.cumsum(share)]))
        found[-1][-1] = begin + span
    return np.concatenate(found)


def draw_process(rng: np.random.Generator, theta: dict[str, float], step: np.ndarray) -> np.ndarray:
    """Inputs (N,) at steps in depth: a gamma process, or one with memory, from the bottom upwards.

    The law has no scale of its own: given the span, the shares in it have the same law as without.
    """
    new = rng.gamma(theta["alpha"] * step / np.median(step)) / step
    pace = new.copy()
    if "memory" in theta:
        for k in range(len(step) - 2, -1, -1):
            carry = np.exp(-0.5 * (step[k + 1] + step[k]) / theta["memory"])
            pace[k] = carry * pace[k + 1] + (1.0 - carry) * new[k]
    time = np.concatenate([[0.0], np.cumsum(step * pace)])
    return SPAN * time / time[-1]


def _priors(gaps: str) -> dict[str, tuple[float, float]]:
    if gaps == "loose":
        return {name: prior for name, prior in PRIORS.items() if name != "alpha"}
    return PRIORS | ({"memory": MEMORY_PRIOR} if gaps == "memory" else {})


def draw_theta(rng: np.random.Generator, gaps: str) -> dict[str, float]:
    """Parameters from their priors."""
    priors = _priors(gaps)
    least = {"alpha": 1.0 if gaps == "rows" else 0.0}
    return {
        name: least.get(name, 0.0) + (median - least.get(name, 0.0)) * factor ** rng.standard_normal()
        for name, (median, factor) in priors.items()
    }


def simulate(rng: np.random.Generator, cores: int, gaps: str) -> tuple[Truth, Problem]:
    """Draw parameters, inputs, curve and measurements, and build the problem of inferring them."""
    theta, fields, options = draw_theta(rng, gaps), {}, {"priors": _priors(gaps), "memory": gaps == "memory"}
    if gaps == "loose":  # their prior is flat, so that the inputs are drawn around dates that are known
        tau, fields["sequence"] = np.sort(rng.uniform(0.0, SPAN, N)), [None] * N
    elif gaps == "rows":
        tau = draw_inputs(rng, theta["alpha"], cores)
    else:
        step = rng.uniform(0.4, 2.0, N - 1)
        tau, fields["depth"] = draw_process(rng, theta, step), np.concatenate([[0.0], np.cumsum(step)])
    t_sd, ends = np.full(N, T_SD), np.arange(0, N, N // cores)
    t_sd[ends] = t_sd[ends - 1] = 0.0
    t = tau + t_sd * rng.standard_normal(N)
    if gaps == "loose":
        t, tau = tau, t
    kernel = lamina.Matern32(length=theta["length"], sd=theta["sd"])
    time = np.concatenate([tau, AT])
    covariance = kernel.covariance(np.abs(time[:, None] - time)) + LEVEL_SD**2
    curve = rng.multivariate_normal(np.zeros(len(time)), covariance, method="cholesky")
    if cores > 1:
        fields["sequence"] = list(np.arange(N) // (N // cores))
    y = curve[:N] + Y_SD * rng.standard_normal(N)
    record = lamina.Record(t=t, t_sd=t_sd, y=y, y_sd=Y_SD, **fields)
    problem = build_problem(record, Model(lamina.Matern32() + lamina.Constant(sd=LEVEL_SD), **options))
    # The floor belongs to spans that are not known. Here it would only tilt the prior of alpha.
    return Truth(tau, theta, curve[N:]), replace(problem, floor=0.0)


def sample(problem: Problem, method: str, seed: int) -> Draws:
    """L draws that hardly depend on each other."""
    if method == "mcmc":
        # 63 draws cannot hold 400 effective ones: the chain always runs to its limit.
        limit = L * THIN["mcmc"]
        return mcmc.run(problem, seed, chains=1, draws=L, warmup=WARMUP["mcmc"], max_sweeps=limit, cores=1)
    draws = nuts.run(problem, seed, chains=1, draws=L * THIN["nuts"], warmup=WARMUP["nuts"], cores=1)
    return Draws.equal(draws.tau[THIN["nuts"] - 1 :: THIN["nuts"]], draws.phi[THIN["nuts"] - 1 :: THIN["nuts"]])


def quantities(problem: Problem, draws: Draws, curve: np.ndarray) -> dict[str, np.ndarray]:
    """What is ranked: some inputs, the parameters, the curve (S, len(AT)), and the log-posterior, where all meet."""
    found = {f"tau {row}": problem.to_user(draws.tau)[:, row] for row in (1, 2, 6)}
    found |= problem.to_theta(draws.phi)
    found |= {f"f({at:g})": curve[:, k] for k, at in enumerate(AT)}
    target, d_tau, d_phi = make_target(problem), np.empty(N), np.empty(draws.phi.shape[1])
    found["log-posterior"] = np.array(
        [log_density(target, tau, phi, d_tau, d_phi) for tau, phi in zip(draws.tau, draws.phi, strict=True)]
    )
    return found


def rank(method: str, cores: int, gaps: str, seed: int) -> dict[str, int]:
    """The ranks of the truth in one repetition."""
    rng = np.random.default_rng(seed)
    truth, problem = simulate(rng, cores, gaps)
    draws = sample(problem, method, seed)
    at = problem.to_internal(AT)
    order = np.argsort(at)  # with memory, time runs the other way inside
    mean, var, _, _ = (part[:, np.argsort(order)] for part in curves(problem, draws, at[order]))
    drawn = quantities(problem, draws, mean + np.sqrt(var) * rng.standard_normal(mean.shape))
    phi, tau = problem.start.copy(), np.empty(N)
    for name, value in truth.theta.items():
        phi[problem.names.index(name)] = np.log(value - (problem.least_alpha if name == "alpha" else 0.0))
    tau[problem.layer] = problem.to_internal(truth.tau)
    true = quantities(problem, Draws.equal(tau[None], phi[None]), truth.curve[None])
    return {name: int((drawn[name] < true[name]).sum()) for name in drawn}


def p_values(ranks: dict[str, np.ndarray]) -> dict[str, float]:
    """Chi-square test of uniform ranks, for each quantity."""
    found = {}
    for name, values in ranks.items():
        counts = np.bincount(values * BINS // (L + 1), minlength=BINS)
        expected = len(values) / BINS
        found[name] = float(chi2.sf(((counts - expected) ** 2 / expected).sum(), BINS - 1))
    return found


def calibrate(method: str, cores: int, gaps: str, repetitions: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Ranks of all quantities over the repetitions."""
    every = [rank(method, cores, gaps, seed + k) for k in range(repetitions)]
    return {name: np.array([one[name] for one in every]) for name in every[0]}


def plant(folder: Path, error: str) -> dict[str, str]:
    """Copy lamina to a folder with an error in it; returns the environment in which it runs."""
    shutil.copytree(Path(lamina.__file__).parent, folder / "lamina", ignore=shutil.ignore_patterns("__pycache__"))
    name, healthy, planted = PLANTED[error]
    file = folder / "lamina" / name
    text = file.read_text()
    if text.count(healthy) != 1:
        raise SystemExit(f"{file} no longer has the line: {healthy}")
    file.write_text(text.replace(healthy, planted))
    return os.environ | {"PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(folder / "compiled")}


#: The runs that ``--markdown`` makes.
RUNS = {
    "mcmc": "--method mcmc --repetitions 500",
    "mcmc, two cores": "--method mcmc --repetitions 500 --cores 2",
    "mcmc, tents alone": "--method mcmc --repetitions 250 --moves tents",
    "mcmc, two cores, tents alone": "--method mcmc --repetitions 250 --cores 2 --moves tents",
    "mcmc, two cores, warps alone": "--method mcmc --repetitions 250 --cores 2 --moves warps",
    "mcmc, depths": "--method mcmc --repetitions 500 --gaps depths",
    "mcmc, depths and memory": "--method mcmc --repetitions 500 --gaps memory",
    "nuts, depths": "--method nuts --repetitions 150 --gaps depths",
    "mcmc, rows without order": "--method mcmc --repetitions 500 --gaps loose",
    "mcmc, rows without order, lone moves alone": "--method mcmc --repetitions 250 --gaps loose --moves lone",
    "mcmc, two cores, lone moves alone": "--method mcmc --repetitions 250 --cores 2 --moves lone",
    "mcmc, spread alone": "--method mcmc --repetitions 250 --moves spread",
    "nuts": "--method nuts --repetitions 150",
    "mcmc, half the log-ratio planted": "--method mcmc --repetitions 100 --planted log-ratio",
    "mcmc, half the ratio planted": "--method mcmc --repetitions 100 --planted ratio",
}


def one_run(text: str) -> dict[str, float]:
    """The p-values of a run of this script with the arguments ``text``."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "p.json"
        subprocess.run([sys.executable, __file__, *text.split(), "--json", str(file)], check=True)
        return dict(json.loads(file.read_text()))


def fill(page: Path) -> None:
    """Make all runs, two at a time, and write what they found into a page."""
    from report import fill_section, machine

    lines = ["| run | repetitions | smallest p, times the number of quantities | least uniform |", "|:--|--:|--:|:--|"]
    with ThreadPoolExecutor(2) as pool:
        every = pool.map(one_run, RUNS.values())
        for (name, text), found in zip(RUNS.items(), every, strict=True):
            worst = min(found, key=found.__getitem__)
            lines.append(f"| {name} | {text.split()[3]} | {min(found[worst] * len(found), 1.0):.2g} | {worst} |")
            print(lines[-1], flush=True)
    command = "python benchmarks/calibration.py --markdown docs/benchmarks.md"
    fill_section(page, "calibration", "\n".join([f"Command: `{command}`", "", machine(), "", *lines]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--method", choices=tuple(THIN), default="mcmc")
    parser.add_argument("--cores", type=int, choices=(1, 2), default=1)
    parser.add_argument("--gaps", choices=GAPS, default="rows")
    parser.add_argument("--moves", choices=tuple(MOVES), default="all")
    parser.add_argument("--repetitions", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--planted", choices=tuple(PLANTED))
    parser.add_argument("--json", type=Path, help="also write the p-values to this file")
    parser.add_argument("--markdown", type=Path, help="make all runs and write their table into this page")
    options = parser.parse_args()
    if options.markdown:
        fill(options.markdown)
        return
    if options.planted:
        with tempfile.TemporaryDirectory() as folder:
            environment = plant(Path(folder), options.planted)
            at = sys.argv.index("--planted")
            rest = [*sys.argv[1:at], *sys.argv[at + 2 :]]
            subprocess.run([sys.executable, __file__, *rest], env=environment, check=True)
        return
    began, mcmc.MOVES = time.perf_counter(), MOVES[options.moves]
    found = p_values(calibrate(options.method, options.cores, options.gaps, options.repetitions, options.seed))
    print(f"{options.method}, {options.gaps}, {options.repetitions} repetitions, {time.perf_counter() - began:.0f} s")
    for name, p in found.items():
        print(f"{name:<14} p = {p:.3g}")
    print(f"smallest p times the number of quantities: {min(found.values()) * len(found):.3g}")
    if options.json:
        options.json.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
