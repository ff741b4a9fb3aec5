"""Simulation-based calibration of mcmc on a field: are ranks of the truth uniform? See ``calibration.py``.

Three sites: two cores, whose rows are in order and whose first and last rows are exact, and a site whose rows have no
order. All parameters are drawn from their priors, rates from those of glacial isostasy with their errors, and the field
from dense matrices that share nothing with lamina. Ranked are inputs, parameters, the common curve, curves at a site
and at a place without data, rates of the sites, and the log-likelihood, where all meet. The kernel has every kind of
term that the default one has, white noise included.

    python benchmarks/field_calibration.py [--repetitions 160] [--planted dates] [--markdown docs/benchmarks.md]

``--planted`` shows that the test can fail: the sampler takes errors of dates for half of what they are
("dates"), priors for half as wide ("prior"), or rates of glacial isostasy as free of errors ("gia").
``--markdown`` makes the run and all planted ones, and writes the table into the page.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from report import fill_section, machine
from scipy.stats import chi2

import lamina
from lamina import Constant, EachSite, Linear, Matern32, Nearby, WhiteNoise
from lamina.field import chain
from lamina.field.chain import Part
from lamina.field.prediction import Chosen, Place, parts_of, sample
from lamina.field.problem import FieldProblem, as_field
from lamina.methods import mcmc
from lamina.model.model import Model
from lamina.model.problem import Problem, build_problem

Array = np.ndarray

EACH, SPAN, T_SD, Y_SD, LEVEL_SD = 8, 7.0, 0.5, 0.1, 1.0
LATITUDE, LONGITUDE = np.array([35.0, 38.0, 41.0]), np.array([-76.0, -74.0, -71.0])
GIA, GIA_SD = np.array([0.05, -0.1, 0.2]), np.array([0.2, 0.3, 0.4])
ELSEWHERE = Place(-1, 37.0, -72.0)
SITE = np.repeat(np.arange(3), EACH)
LOOSE = SITE == 2  #: rows without order
AT = np.array([0.35 * SPAN, 1.05 * SPAN])
KERNEL = Matern32() + Matern32() * Nearby() + Linear() * Nearby() + Constant() * EachSite() + WhiteNoise()
KERNEL += Constant(sd=LEVEL_SD)
#: Medians of the parameters; all priors have the same factor.
MEDIANS = {"length_1": 2.0, "sd_1": 1.0, "length_2": 1.5, "sd_2": 0.6, "length_km_2": 400.0}
MEDIANS |= {"sd_3": 0.1, "length_km_3": 500.0, "sd_4": 0.3, "sd_5": 0.15, "alpha": 3.0}
FACTOR = 1.5
PLANTED = ("dates", "prior", "gia")
#: Draws that are kept, and sweeps from one to the next and of warm-up.
L, THIN, WARMUP = 31, 24, 300
#: Of the chi-square test; L + 1 is a multiple of them.
BINS = 8


class Truth(NamedTuple):
    """What a record was made from."""

    tau: Array  #: (N,)
    theta: dict[str, float]
    common: Array  #: (len(AT),)
    site: Array  #: (len(AT),) the curve of the first site
    elsewhere: Array  #: (len(AT),) what is common and regional at a place without data
    rates: Array  #: (3,) of the linear part


def great_circle(latitude: Array, longitude: Array) -> Array:
    """Distances in km by the spherical law of cosines, another formula than lamina's."""
    a, b = np.deg2rad(latitude), np.deg2rad(longitude)
    cosine = np.sin(a)[:, None] * np.sin(a) + np.cos(a)[:, None] * np.cos(a) * np.cos(b[:, None] - b)
    return 6371.0 * np.arccos(np.clip(cosine, -1.0, 1.0))


def matern32(t: Array, length: float, sd: float) -> Array:
    """Covariances (T, T) at times t (T,)."""
    x = np.sqrt(3.0) * np.abs(t[:, None] - t) / length
    return sd**2 * (1.0 + x) * np.exp(-x)


def draw(rng: np.random.Generator, covariance: Array) -> Array:
    """A normal vector with mean 0."""
    return np.linalg.cholesky(covariance + 1e-10 * np.eye(len(covariance))) @ rng.standard_normal(len(covariance))


def draw_inputs(rng: np.random.Generator, alpha: float) -> tuple[Array, Array, Array]:
    """Inputs, dates and their errors (N,)."""
    t_sd, tau = np.full(len(SITE), T_SD), np.empty(len(SITE))
    for core in range(2):
        share = rng.dirichlet(np.full(EACH - 1, alpha))
        begin, span = 0.3 * core, SPAN - 0.5 * core
        tau[core * EACH : (core + 1) * EACH] = begin + span * np.concatenate([[0.0], np.cumsum(share[:-1]), [1.0]])
        t_sd[[core * EACH, core * EACH + EACH - 1]] = 0.0
    t = tau + t_sd * rng.standard_normal(len(SITE))
    t[LOOSE] = np.sort(rng.uniform(0.0, SPAN, EACH))  # their prior is flat: inputs are drawn around dates
    tau[LOOSE] = t[LOOSE] + T_SD * rng.standard_normal(EACH)
    return tau, t, t_sd


def simulate(rng: np.random.Generator) -> tuple[Truth, dict[str, Any]]:
    """Parameters, inputs, field and measurements, and the fields of a record of them."""
    theta = {name: median * FACTOR ** rng.standard_normal() for name, median in MEDIANS.items()}
    theta["alpha"] = 1.0 + (MEDIANS["alpha"] - 1.0) * FACTOR ** rng.standard_normal()
    tau, t, t_sd = draw_inputs(rng, theta["alpha"])
    distance = great_circle(np.append(LATITUDE, ELSEWHERE.latitude), np.append(LONGITUDE, ELSEWHERE.longitude))
    times = np.concatenate([tau, AT, AT])  # rows, then the first site, then elsewhere
    place = np.concatenate([SITE, [0, 0], [3, 3]])
    common = draw(rng, matern32(np.append(times, AT), theta["length_1"], theta["sd_1"]))
    level = LEVEL_SD * rng.standard_normal()
    near = np.exp(-distance / theta["length_km_2"])[np.ix_(place, place)]
    regional = draw(rng, matern32(times, theta["length_2"], theta["sd_2"]) * near)
    spread = theta["sd_3"] ** 2 * np.exp(-distance[:3, :3] / theta["length_km_3"]) + np.diag(GIA_SD**2)
    rates = GIA + draw(rng, spread)
    offset = theta["sd_4"] * rng.standard_normal(3)
    own, n = rates[SITE] * tau + offset[SITE], len(SITE)
    curve = level + common[: len(times)] + regional
    y = curve[:n] + own + np.hypot(Y_SD, theta["sd_5"]) * rng.standard_normal(n)
    at_site = curve[n : n + 2] + rates[0] * AT + offset[0]
    truth = Truth(tau, theta, level + common[-2:], at_site, curve[n + 2 :], rates)
    return truth, {"t": t, "t_sd": t_sd, "y": y, "y_sd": Y_SD, "gia_sd": list(GIA_SD)}


def pose(fields: dict[str, Any], factor: float = FACTOR) -> Problem:
    """The problem of inferring the field."""
    record = lamina.Record(
        sequence=[None if loose else int(core) for core, loose in zip(SITE, LOOSE, strict=True)],
        site=[f"site {s}" for s in SITE],
        latitude=list(LATITUDE),
        longitude=list(LONGITUDE),
        gia=list(GIA),
        **fields,
    )
    priors = {name: (median, factor) for name, median in MEDIANS.items()}
    # The floor belongs to spans that are not known. Here it would only tilt the prior of alpha.
    return replace(build_problem(record, Model(KERNEL, priors=priors)), floor=0.0)


def pose_with_error(fields: dict[str, Any], error: str | None) -> Problem:
    """The problem as a sampler with one of the ``PLANTED`` errors would see it."""
    if error == "dates":
        return pose(fields | {"t_sd": fields["t_sd"] / 2.0})
    if error == "gia":
        return pose(fields | {"gia_sd": None})
    return pose(fields, FACTOR**0.5) if error == "prior" else pose(fields)


def quantities(problem: Problem, tau: Array, phi: Array, drawn: Array, rates: Array) -> dict[str, Array]:
    """What is ranked, from S draws of inputs (S, N), phi (S, P), curves (S, 3, len(AT)) and rates (S, 3)."""
    found = {f"tau {row}": problem.to_user(tau)[:, row] for row in (1, 6, 9, 13, 16, 20, 23)}
    found |= {name: values for name, values in problem.to_theta(phi).items() if name in MEDIANS}
    for k, name in enumerate(("common", "site", "elsewhere")):
        found |= {f"{name} {at:g}": drawn[:, k, m] for m, at in enumerate(AT)}
    found |= {f"rate {s}": rates[:, s] for s in range(3)}
    field = as_field(problem)
    found["log-likelihood"] = np.array([log_likelihood(field, *one) for one in zip(tau, phi, strict=True)])
    return found


def log_likelihood(field: FieldProblem, tau: Array, phi: Array) -> float:
    """Of one draw, the field integrated out."""
    return float(chain.log_likelihood(field.field, field.theta(phi), field.data_at(phi), tau[field.measured]))


def predicted(problem: Problem, tau: Array, phi: Array, seed: int) -> tuple[Array, Array]:
    """Joint draws of the curves (S, 3, len(AT)) and of the linear rates (S, 3) that are ranked."""
    field = as_field(problem)
    parts = parts_of(field.field.kernel)
    whole = Part(np.ones(len(field.field.terms), dtype=np.bool_), True)
    shared = Part(parts["common"].terms | parts["regional"].terms, True)
    places = [Place(0), Place(1), Place(2), ELSEWHERE]
    wanted = [parts["common"], whole, shared, parts["linear"]]
    found = sample(field, Chosen(tau, phi, None), problem.to_internal(AT), places, wanted, seed)
    curves = np.stack([found[:, 0, 0, 0], found[:, 0, 1, 0], found[:, 3, 2, 0]], axis=1)
    return curves, problem.rate_to_user(found[:, :3, 3, 1, 0])


def rank(seed: int, planted: str | None, length: int = L, thin: int = THIN, warmup: int = WARMUP) -> dict[str, int]:
    """The ranks of the truth among ``length`` draws, in one repetition."""
    rng = np.random.default_rng(seed)
    truth, fields = simulate(rng)
    problem, seen = pose(fields), pose_with_error(fields, planted)
    # So few draws cannot hold 400 effective ones: the chain always runs to its limit.
    draws = mcmc.run(seen, seed, chains=1, draws=length, warmup=warmup, max_sweeps=length * thin, cores=1)
    tau, phi = draws.tau.astype(float), draws.phi
    drawn = quantities(problem, tau, phi, *predicted(seen, tau, phi, seed))
    true_phi = problem.start.copy()
    for name, value in truth.theta.items():
        true_phi[problem.names.index(name)] = np.log(value - (problem.least_alpha if name == "alpha" else 0.0))
    curves = np.stack([truth.common, truth.site, truth.elsewhere])[None]
    true = quantities(problem, problem.to_internal(truth.tau)[None], true_phi[None], curves, truth.rates[None])
    return {name: int((drawn[name] < true[name]).sum()) for name in drawn}


def calibrate(repetitions: int, planted: str | None = None, jobs: int = -1) -> dict[str, Array]:
    """Ranks of all quantities over the repetitions."""
    every = Parallel(n_jobs=jobs)(delayed(rank)(seed, planted) for seed in range(repetitions))
    return {name: np.array([one[name] for one in every]) for name in every[0]}


def p_values(ranks: dict[str, Array]) -> dict[str, float]:
    """Chi-square test of uniform ranks among L draws, for each quantity."""
    found = {}
    for name, values in ranks.items():
        counts = np.bincount(values * BINS // (L + 1), minlength=BINS)
        expected = len(values) / BINS
        found[name] = float(chi2.sf(((counts - expected) ** 2 / expected).sum(), BINS - 1))
    return found


def markdown(repetitions: int, jobs: int) -> str:
    """The section of the page: the run, and the same with errors."""
    lines = ["Command: `python benchmarks/field_calibration.py --markdown docs/benchmarks.md`", "", machine(), ""]
    lines += ["| run | repetitions | smallest p, times the number of quantities | least uniform |", "|:--|--:|--:|:--|"]
    for planted in (None, *PLANTED):
        some = repetitions if planted is None else repetitions // 4
        found = p_values(calibrate(some, planted, jobs))
        worst = min(found, key=found.__getitem__)
        name = "field, mcmc" if planted is None else f"field, mcmc, error planted: {planted}"
        lines.append(f"| {name} | {some} | {min(found[worst] * len(found), 1.0):.2g} | {worst} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=160)
    parser.add_argument("--planted", choices=PLANTED)
    parser.add_argument("--jobs", type=int, default=-1, help="processes; by default one for each CPU")
    parser.add_argument("--markdown", type=Path, help="make all runs and write their table into this page")
    options = parser.parse_args()
    began = time.perf_counter()
    if options.markdown:
        fill_section(options.markdown, "field-calibration", markdown(options.repetitions, options.jobs))
        return
    found = p_values(calibrate(options.repetitions, options.planted, options.jobs))
    print(f"{options.repetitions} repetitions, {time.perf_counter() - began:.0f} s")
    for name, p in found.items():
        print(f"{name:<16} p = {p:.3g}")
    print(f"smallest p times the number of quantities: {min(found.values()) * len(found):.3g}")


if __name__ == "__main__":
    main()
