"""Fields: do the bands hold, what do order and space gain, how long does a fit take, and what does a likelihood cost?

Fields are simulated with the values of Kopp et al. (2016) at sites of the Atlantic coast: a common curve of 57 mm and
100 years, regional ones of 51 mm, 100 years and 6.4 degrees, rates of 1.1 mm/year and 5.5 degrees, offsets of 21 mm;
five cores of 60 rows over 2000 years, with errors of 50 years and 100 mm. Each fit is kept in a folder when it is done,
and a second call goes on from there.

    python benchmarks/fields.py [--quick] [--fields 50] [--work FOLDER] [--markdown docs/benchmarks.md]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from report import fill_section, machine, peak_memory

import lamina
from lamina import Matern32, Nearby
from lamina.field import chain, oracle
from lamina.field.problem import as_field
from lamina.kernels.space import great_circle_km
from lamina.model.model import Model
from lamina.model.problem import build_problem

COMMAND = "Command: `python benchmarks/fields.py --markdown docs/benchmarks.md`"
SPAN, T_SD, Y_SD, KM_A_DEGREE = 2000.0, 50.0, 0.1, 111.19
#: Where curves are compared with the truth, and the intervals of rates.
GRID = np.linspace(50.0, 1950.0, 20)
INTERVALS = [(a, a + 200.0) for a in np.arange(50.0, 1850.0, 300.0)]
VARIANTS = ("order and space", "no order", "no space (site by site)", "measured ages (gp)")
SIZES = {"5 sites × 60 rows": (5, 60), "20 sites × 75 rows": (20, 75), "Atlantic coast, 43 places, 1,932 rows": None}

Array = np.ndarray


def simulated(sites: int, rows: int, seed: int) -> tuple[lamina.Record, dict[str, Array]]:
    """A record of cores at sites of the Atlantic coast, and the truth: inputs, curves (sites, grid), common (grid,)."""
    rng, places = np.random.default_rng(seed), lamina.datasets.load("atlantic").places
    pick = rng.choice(21, sites, replace=False)  # cores; the gauges follow them
    latitude, longitude = places.latitude[pick], places.longitude[pick]
    distance = great_circle_km(latitude, longitude, latitude, longitude)
    ends = np.array(sorted({*GRID, *np.ravel(INTERVALS)}))
    t = np.concatenate([np.sort(rng.uniform(0.0, SPAN, rows)) for _ in range(sites)])
    times = np.concatenate([t, np.tile(ends, sites)])
    site = np.concatenate([np.repeat(np.arange(sites), rows), np.repeat(np.arange(sites), len(ends))])
    every = np.concatenate([times, ends])  # the common curve is the last
    x = np.sqrt(3.0) * np.abs(every[:, None] - every) / 100.0
    matern = (1.0 + x) * np.exp(-x) + 1e-9 * np.eye(len(every))
    common = 0.057 * np.linalg.cholesky(matern) @ rng.standard_normal(len(every))
    near = np.exp(-distance / (6.4 * KM_A_DEGREE))[np.ix_(site, site)]
    n = len(times)
    regional = np.linalg.cholesky(0.051**2 * matern[:n, :n] * near + 1e-12 * np.eye(n)) @ rng.standard_normal(n)
    rates = np.linalg.cholesky(0.0011**2 * np.exp(-distance / (5.5 * KM_A_DEGREE))) @ rng.standard_normal(sites)
    f = common[:n] + regional + rates[site] * (times - SPAN) + 0.021 * rng.standard_normal(sites)[site]
    names = [places.names[k] for k in pick]
    cores = len(t)
    record = lamina.Record(
        t + T_SD * rng.standard_normal(cores),
        T_SD,
        f[:cores] + Y_SD * rng.standard_normal(cores),
        Y_SD,
        site=[names[s] for s in site[:cores]],
        latitude=dict(zip(names, latitude, strict=True)),
        longitude=dict(zip(names, longitude, strict=True)),
        t_unit="CE",
        y_unit="m",
    )
    return record, {"tau": t, "at": ends, "curves": f[cores:].reshape(sites, -1), "common": common[n:]}


def fitted(record: lamina.Record, **options: Any) -> lamina.Posterior:
    """A fit on one CPU; whether it converged is in its diagnostics."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lamina.NotConverged)
        return lamina.fit(record, cores=1, **options) if "method" not in options else lamina.fit(record, **options)


def inside(table: pd.DataFrame, truth: Array) -> float:
    """The share of true values in the 90 % intervals."""
    return float(np.mean((table["q5"].to_numpy() <= truth) & (truth <= table["q95"].to_numpy())))


def one_field(seed: int, variant: str) -> dict[str, float]:
    """How well one variant finds one field."""
    record, truth = simulated(5, 60, seed)
    at, n = truth["at"], len(truth["at"])
    began = time.process_time()
    if variant == "no space (site by site)":
        return _site_by_site(record, truth)
    if variant == "no order":
        record = _without_order(record)
    posterior = fitted(record, seed=seed, **({"method": "gp"} if variant.endswith("(gp)") else {}))
    facts: dict[str, float] = {"cpu seconds": time.process_time() - began}
    curves = pd.concat([posterior.curve(at, site=name) for name in record.places.names])
    facts |= {"rmse": _rmse(curves["mean"], truth["curves"].ravel()), "curves": inside(curves, truth["curves"].ravel())}
    if variant.endswith("(gp)"):
        return facts
    facts |= _convergence(posterior)
    inputs = posterior.inputs()
    facts |= {"inputs": inside(inputs, truth["tau"]), "input mae": float(np.abs(inputs["mean"] - truth["tau"]).mean())}
    facts["common"] = inside(posterior.common(at), truth["common"])
    place = {time: k for k, time in enumerate(at)}
    true_rates = [
        (truth["curves"][s, place[b]] - truth["curves"][s, place[a]]) / (b - a)
        for s in range(len(record.places))
        for a, b in INTERVALS
    ]
    rates = lamina.interval_rates(posterior, INTERVALS, draws=400)
    assert n == len(place)
    return facts | {"rates": inside(rates, np.array(true_rates))}


def _without_order(record: lamina.Record) -> lamina.Record:
    return lamina.Record(
        record.t,
        record.t_sd,
        record.y,
        record.y_sd,
        sequence=[None] * len(record),
        t_unit="CE",
        y_unit="m",
        **record.places.columns(),
    )


def _site_by_site(record: lamina.Record, truth: dict[str, Array]) -> dict[str, float]:
    began, tables, errors = time.process_time(), [], []
    for s in range(len(record.places)):
        rows = record.places.index == s
        alone = lamina.Record(record.t[rows], record.t_sd[rows], record.y[rows], record.y_sd[rows], t_unit="CE")
        posterior = fitted(alone, mean="linear")
        tables.append(posterior.curve(truth["at"]))
        errors.append(np.abs(posterior.inputs()["mean"] - truth["tau"][rows]).mean())
    curves, true = pd.concat(tables), truth["curves"].ravel()
    found = {"rmse": _rmse(curves["mean"], true), "curves": inside(curves, true), "input mae": float(np.mean(errors))}
    return found | {"cpu seconds": time.process_time() - began}


def _rmse(found: pd.Series, true: Array) -> float:
    return float(np.sqrt(np.mean((found.to_numpy() - true) ** 2)))


def _convergence(posterior: lamina.Posterior) -> dict[str, float]:
    facts = posterior.draws.diagnostics
    return {name: float(facts[name]) for name in ("converged", "r_hat", "ess", "sweeps")}


def one_size(name: str) -> dict[str, float]:
    """The time that a fit takes until it has converged, on all CPUs, compiled code being there."""
    size = SIZES[name]
    fitted(simulated(3, 12, 0)[0], warmup=20, max_sweeps=20, draws=20)
    record = lamina.datasets.load("atlantic") if size is None else simulated(*size, 1)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lamina.NotConverged)
        posterior = lamina.fit(record, seed=1)
    return {"seconds": float(posterior.draws.diagnostics["seconds"]), "memory": peak_memory()} | _convergence(posterior)


def likelihoods(quick: bool) -> dict[str, float]:
    """Microseconds a row on the chain and on dense matrices, for a common and 21 regional curves, and the exponent."""

    def cost(n: int, evaluate: Callable[..., float]) -> float:
        rng, places = np.random.default_rng(n), lamina.datasets.load("atlantic").places
        names, tau = [places.names[s] for s in rng.integers(0, 21, n)], rng.uniform(0.0, SPAN, n)
        where = {key: dict(zip(places.names, getattr(places, key), strict=True)) for key in ("latitude", "longitude")}
        record = lamina.Record(tau, 0.0, rng.normal(size=n), 0.1, site=names, sequence=[None] * n, **where)
        problem = build_problem(record, Model(Matern32() + Matern32() * Nearby()))
        field, times = as_field(problem), []
        arguments = (field.field, problem.prior_mean[: problem.n_kernel], field.data, problem.rows.t)
        for _ in range(4 if quick else 10):
            began = time.process_time()
            evaluate(*arguments)
            times.append(time.process_time() - began)
        return min(times)

    sizes = np.array([500, 1000, 2000] if quick else [500, 1000, 2000, 4000, 8000])
    seconds = np.array([cost(n, chain.log_likelihood) for n in sizes])
    on_chain, dense = cost(1000, chain.log_likelihood), cost(1000, oracle.log_likelihood)
    return {
        "chain": 1e6 * on_chain / 1000.0,
        "dense": 1e6 * dense / 1000.0,
        "exponent": float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0]),
    }


def kept(folder: Path, name: str, compute: Callable[[], dict[str, float]]) -> dict[str, float]:
    """What was computed before under this name, or is computed now and kept."""
    file = folder / f"{''.join(c if c.isalnum() else '-' for c in name)}.json"
    if not file.exists():
        found = compute()
        file.write_text(json.dumps(found))
        print(name, {key: round(value, 3) for key, value in found.items()}, flush=True)
    return dict(json.loads(file.read_text()))


def in_process(folder: Path, name: str) -> dict[str, float]:
    """``one_size`` in a process of its own, whose memory is that of the fit."""

    def compute() -> dict[str, float]:
        done = subprocess.run([sys.executable, __file__, "--size", name], capture_output=True, text=True, check=True)
        return dict(json.loads(done.stdout.splitlines()[-1]))

    return kept(folder, f"time {name}", compute)


def markdown(fields: pd.DataFrame, times: dict[str, dict[str, float]], costs: dict[str, float]) -> str:
    """The section of the page."""
    whole = fields[fields["variant"] == VARIANTS[0]]
    lines = [COMMAND, "", machine(), ""]
    lines += [f"{len(whole)} fields of 5 cores of 60 rows. Share of true values inside 90 % intervals:", ""]
    lines += ["| curves at sites | common curve | inputs | rates over 200 years | converged |", "|---|---|---|---|---|"]
    shares = " | ".join(f"{whole[name].mean():.3f}" for name in ("curves", "common", "inputs", "rates"))
    lines += [f"| {shares} | {int(whole['converged'].sum())} of {len(whole)} |", ""]
    both = fields.groupby("seed").filter(lambda one: len(one) == len(VARIANTS))
    lines += [f"The first {both['seed'].nunique()} of them, fitted in four ways:", ""]
    lines += ["| what is used | RMSE of curves, mm | curves in 90 % | error of inputs, years |", "|---|---|---|---|"]
    for variant in VARIANTS:
        one = both[both["variant"] == variant]
        mae = f"{one['input mae'].mean():.1f}" if one["input mae"].notna().any() else f"{T_SD * np.sqrt(2 / np.pi):.1f}"
        lines.append(f"| {variant} | {1000 * one['rmse'].mean():.1f} | {one['curves'].mean():.3f} | {mae} |")
    lines += [
        "",
        "| field | seconds | sweeps | worst R-hat | fewest effective draws | memory, MB |",
        "|---|---|---|---|---|---|",
    ]
    for name, one in times.items():
        known = f"{one['sweeps']:.0f} | {one['r_hat']:.3f} | {one['ess']:.0f} | {one['memory']:.0f}"
        lines.append(f"| {name} | {one['seconds']:.1f}{'' if one['converged'] else ' (not converged)'} | {known} |")
    lines += [
        "",
        f"Likelihood of 1,000 rows with 44 states: {costs['chain']:.2f} µs a row on the chain, {costs['dense']:.0f} µs "
        f"on dense matrices, a factor of {costs['dense'] / costs['chain']:.0f}. Time grows as N to the power of "
        f"{costs['exponent']:.2f}.",
    ]
    return "\n".join(lines)


def main() -> None:
    """Run everything that is not kept yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fields", type=int, default=50)
    parser.add_argument("--compared", type=int, default=20, help="fields that are fitted in four ways")
    parser.add_argument("--quick", action="store_true", help="two fields, the smallest size")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "lamina-fields")
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--size", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.size:
        print(json.dumps(one_size(given.size)))
        return
    if given.quick:
        given.fields, given.compared = 2, 1
    given.work.mkdir(parents=True, exist_ok=True)
    costs = kept(given.work, "likelihoods quick" if given.quick else "likelihoods", lambda: likelihoods(given.quick))
    times = {name: in_process(given.work, name) for name in list(SIZES)[: 1 if given.quick else None]}
    todo = [
        (seed, variant)
        for seed in range(given.fields)
        for variant in VARIANTS
        if variant == VARIANTS[0] or seed < given.compared
    ]
    found = Parallel(n_jobs=-1)(
        delayed(kept)(
            given.work, f"field {seed} {variant}", lambda seed=seed, variant=variant: one_field(seed, variant)
        )
        for seed, variant in todo
    )
    rows = [{"seed": s, "variant": v, "input mae": np.nan} | one for (s, v), one in zip(todo, found, strict=True)]
    text = markdown(pd.DataFrame(rows), times, costs)
    print(text)
    if given.markdown is not None:
        fill_section(given.markdown, "fields", text)


if __name__ == "__main__":
    main()
