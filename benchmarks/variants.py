"""Coverage of the 90 % intervals for every kind of data and model that a real core may need, one by one.

Records are simulated from each variant, fitted with ``lamina.fit`` and its default sampler, and the truth is looked up
in the 90 % intervals of the inputs and of the curve. Averaged over 200 records, they should hold it in 85 to 95 % of
all cases. Parameters are drawn around the medians that the fit has as priors.

    python benchmarks/variants.py [--variant NAME ...] [--repetitions 200] [--seed 0] [--markdown docs/benchmarks.md]

``--nuts`` compares the two samplers instead, on a few records of each variant that both support: the largest distance
of the posterior means of the inputs, in posterior standard deviations, and of their standard deviations.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from report import fill_section, machine

import lamina
from lamina.dates import Radiocarbon, SplitNormal, StudentT, Tabulated, Uniform
from lamina.errors import MethodError

N, SPAN, T_SD, Y_SD = 20, 1000.0, 40.0, 0.15
PRIORS = {"length": (200.0, 1.6), "sd": (1.0, 1.6), "alpha": (4.0, 1.7)}
GRID = 25
#: Records of each variant, by default.
REPETITIONS = 200

Array = np.ndarray


class Case(NamedTuple):
    """A simulated record, how to fit it, and the truth."""

    record: lamina.Record
    model: dict[str, Any]
    tau: Array  #: (N,)
    at: Array  #: (GRID,)
    curve: Array  #: (GRID,)


class Truth:
    """One draw of parameters, from which a variant makes its inputs and its curve."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        lowest = {"length": 0.0, "sd": 0.0, "alpha": 1.0}
        self.theta = {
            name: lowest[name] + (median - lowest[name]) * factor ** rng.standard_normal()
            for name, (median, factor) in PRIORS.items()
        }

    def inputs(self, n: int = N - 1, start: float = 0.0, span: float = SPAN) -> Array:
        """Increasing inputs: n gamma gaps, whose sum is about the span."""
        gaps = span / n * self.rng.gamma(self.theta["alpha"], 1.0 / self.theta["alpha"], n)
        return start + np.concatenate([[0.0], np.cumsum(gaps)])

    def steps(self, unit: Array, usual: float) -> Array:
        """The times that steps in depth take, whose sum is about the span: increments of a gamma process.

        alpha is its shape over the distance ``usual``. It may be below 1 with depths, so it is drawn anew.
        """
        median, factor = PRIORS["alpha"]
        self.theta["alpha"] = alpha = median * factor ** self.rng.standard_normal()
        return SPAN * usual / unit.sum() * self.rng.gamma(alpha * unit / usual, 1.0 / alpha)

    def curve(self, time: Array, kernel: lamina.kernels.Kernel | None = None) -> Array:
        """One draw of the curve at all these times."""
        kernel = kernel or lamina.Matern32(length=self.theta["length"], sd=self.theta["sd"])
        covariance = kernel.covariance(np.abs(time[:, None] - time)) + 1e-10 * np.eye(len(time))
        return np.linalg.cholesky(covariance) @ self.rng.standard_normal(len(time))

    def case(self, tau: Array, fields: dict[str, Any], model: dict[str, Any] | None = None, **changes: Any) -> Case:
        """A record at inputs tau with Gaussian dates and values, unless ``fields`` say otherwise.

        fields: of the record; a function is called with the curve at tau.
        """
        at = np.linspace(tau.min(), tau.max(), GRID)
        f = self.curve(np.concatenate([tau, at]), changes.get("kernel")) + changes.get(
            "trend", np.zeros(len(tau) + GRID)
        )
        offset = changes.get("offset", 0.0)
        rng, n = self.rng, len(tau)
        standard = {
            "t": tau + T_SD * rng.standard_normal(n),
            "t_sd": T_SD,
            "y": f[:n] + offset + Y_SD * rng.standard_normal(n),
            "y_sd": Y_SD,
        }
        fields = {name: value(f[:n]) if callable(value) else value for name, value in fields.items()}
        model = {"priors": PRIORS} | (model or {})
        return Case(lamina.Record(**(standard | fields)), model, tau, at, f[n:])


def plain(truth: Truth) -> Case:
    return truth.case(truth.inputs(), {})


def sequences(truth: Truth) -> Case:
    """Three cores, five rows without order and three exact ones, interleaved; with an offset of each core."""
    rng = truth.rng
    cores = [truth.inputs(7, start=rng.uniform(0, 200), span=800.0) for _ in range(3)]
    loose, exact = rng.uniform(0.0, SPAN, 5), rng.uniform(0.0, SPAN, 3)
    tau = np.concatenate([*cores, loose, exact])
    names = [name for name in "ABC" for _ in range(8)] + [None] * 8
    offset = np.concatenate([np.repeat(0.5 * rng.standard_normal(3), 8), np.zeros(8)])
    t_sd = np.array([T_SD] * 29 + [0.0] * 3)
    t = tau + t_sd * rng.standard_normal(len(tau))
    return truth.case(tau, {"t": t, "t_sd": t_sd, "sequence": names}, {"offsets": 0.5}, offset=offset)


def ties(truth: Truth) -> Case:
    """Every third layer was dated twice."""
    again = np.sort(np.concatenate([np.arange(N), np.arange(0, N, 3)]))
    return truth.case(truth.inputs()[again], {"tie": again.tolist()})


def blocks(truth: Truth) -> Case:
    """Rows 4 to 6 and 11 to 12 came out of the core in unknown order, at one depth, some decades from each other."""
    depth, rng = np.arange(N, dtype=float), truth.rng
    depth[4:7], depth[11:13] = 4.0, 11.0
    unit = np.diff(depth)
    within = np.where(unit == 0.0, rng.uniform(20.0, 120.0, len(unit)), 0.0)
    tau = np.concatenate([[0.0], np.cumsum(truth.steps(unit, 1.0) + within)])
    for block in (slice(4, 7), slice(11, 13)):
        rng.shuffle(tau[block])
    return truth.case(tau, {"depth": depth})


def least_gap(truth: Truth) -> Case:
    """No two layers are closer than twenty years."""
    return truth.case(truth.inputs() + 20.0 * np.arange(N), {"least_gap": 20.0})


def hiatus(truth: Truth) -> Case:
    """Nothing was laid down for some centuries in the middle."""
    tau, mark = truth.inputs(), np.zeros(N, dtype=bool)
    tau[10:] += truth.rng.uniform(100.0, 600.0)
    mark[9] = True
    return truth.case(tau, {"hiatus": mark})


def depths(truth: Truth) -> Case:
    """Steps in depth differ five-fold, and every second layer has no date."""
    unit = truth.rng.uniform(0.4, 2.0, N - 1)
    depth, t_sd = np.concatenate([[0.0], np.cumsum(unit)]), np.where(np.arange(N) % 2 == 0, T_SD, np.inf)
    tau = np.concatenate([[0.0], np.cumsum(truth.steps(unit, float(np.median(np.diff(depth[::2])))))])
    return truth.case(tau, {"depth": depth, "t_sd": t_sd})


def memory(truth: Truth) -> Case:
    """The pace of a gap lasts into the next one above; every second layer has no date."""
    unit, rng = truth.rng.uniform(0.4, 2.0, N - 1), truth.rng
    length = 1.5 * 1.6 ** rng.standard_normal()
    depth = np.concatenate([[0.0], np.cumsum(unit)])
    new = truth.steps(unit, float(np.median(np.diff(depth[::2])))) / unit
    pace = new.copy()
    for k in range(N - 3, -1, -1):  # from the bottom upwards
        carry = np.exp(-0.5 * (unit[k + 1] + unit[k]) / length)
        pace[k] = carry * pace[k + 1] + (1.0 - carry) * new[k]
    tau, t_sd = np.concatenate([[0.0], np.cumsum(unit * pace)]), np.where(np.arange(N) % 2 == 0, T_SD, np.inf)
    model = {"memory": True, "priors": PRIORS | {"memory": (1.5, 1.6)}}
    return truth.case(tau, {"depth": depth, "t_sd": t_sd}, model)


def unmeasured(truth: Truth) -> Case:
    """Dates at every third layer, values only in between."""
    dated = np.arange(N) % 3 == 0
    t_sd, y_sd = np.where(dated, T_SD, np.inf), np.where(dated, np.inf, Y_SD)
    return truth.case(truth.inputs(), {"t_sd": t_sd, "y_sd": y_sd})


def _dated(make: Callable[[np.random.Generator, float], Any]) -> Callable[[Truth], Case]:
    def variant(truth: Truth) -> Case:
        tau = truth.inputs()
        return truth.case(tau, {"t": None, "t_sd": None, "dates": [make(truth.rng, one) for one in tau]})

    return variant


def _split(rng: np.random.Generator, tau: float) -> SplitNormal:
    before, after = 25.0, 70.0
    late = rng.random() < after / (before + after)
    off = abs(rng.standard_normal()) * (after if late else -before)
    return SplitNormal(tau - off, before, after)


def _uniform(rng: np.random.Generator, tau: float) -> Uniform:
    first = tau - rng.uniform(0.0, 160.0)
    return Uniform(first, first + 160.0)


def _student(rng: np.random.Generator, tau: float) -> StudentT:
    return StudentT(tau + T_SD * np.sqrt(4.0 / 3.0) * rng.standard_t(6), T_SD)


def _table(rng: np.random.Generator, tau: float) -> Tabulated:
    """Two humps a century apart."""
    centre = tau + T_SD * rng.standard_normal() + rng.choice([0.0, 120.0])
    grid = np.arange(centre - 320.0, centre + 200.0, 2.0)
    humps = np.exp(-0.5 * ((grid - centre) / T_SD) ** 2) + np.exp(-0.5 * ((grid - centre + 120.0) / T_SD) ** 2)
    return Tabulated(grid, humps)


def radiocarbon(truth: Truth) -> Case:
    """IntCal20, in years BP, with Bacon's Student-t errors; the curve runs from old to young."""
    from lamina.dates.curves import load_curve

    curve, rng = load_curve("IntCal20"), truth.rng
    tau = 2000.0 + truth.inputs()
    mean, sd = (np.interp(tau, curve.year, column) for column in (curve.age, curve.sd))
    error = 30.0
    age = mean + np.hypot(error, sd) * np.sqrt(4.0 / 3.0) * rng.standard_t(6, N)
    dates = [Radiocarbon(one, error) for one in age]
    return truth.case(tau, {"t": None, "t_sd": None, "dates": dates})


def mixture(truth: Truth) -> Case:
    wild = truth.rng.random(N) < 0.05
    noise = Y_SD * np.where(wild, 10.0, 1.0) * truth.rng.standard_normal(N)
    return truth.case(truth.inputs(), {"y": lambda f: f + noise}, {"outliers": "mixture"})


def student(truth: Truth) -> Case:
    noise = Y_SD * truth.rng.standard_t(4, N)
    return truth.case(truth.inputs(), {"y": lambda f: f + noise}, {"outliers": "student"})


def limits(truth: Truth) -> Case:
    """Every second row is a limit, above or below the curve by up to two units."""
    rng = truth.rng
    kind = np.where(np.arange(N) % 2 == 0, 0, rng.choice([-1, 1], N))
    # A limit is one value of the many that could have been found: the side follows from curve and error.
    off = rng.uniform(-2.0, 2.0, N)
    noise = Y_SD * rng.standard_normal(N)

    def values(f: Array) -> Array:
        return f + np.where(kind == 0, noise, off)

    side = np.where(kind == 0, 0, np.where(noise > off, 1, -1))
    words = [{0: None, 1: "above", -1: "below"}[int(one)] for one in side]
    return truth.case(truth.inputs(), {"y": values, "limit": words})


def trend(truth: Truth) -> Case:
    """A linear trend whose rate is known with an error (glacial isostatic adjustment)."""
    tau, rng = truth.inputs(), truth.rng
    rate = 0.002 + 0.0005 * rng.standard_normal()
    time = np.concatenate([tau, np.linspace(tau.min(), tau.max(), GRID)])
    kernel = lamina.Matern32() + lamina.Constant() + lamina.Linear(mean=0.002, sd=0.0005)
    return truth.case(tau, {}, {"kernel": kernel}, trend=rate * time)


def slow_and_fast(truth: Truth) -> Case:
    priors = {"length_1": (600.0, 1.6), "sd_1": (1.5, 1.6), "length_2": (80.0, 1.6), "sd_2": (0.4, 1.6)}
    drawn = {name: median * factor ** truth.rng.standard_normal() for name, (median, factor) in priors.items()}
    slow = lamina.Matern52(length=drawn["length_1"], sd=drawn["sd_1"])
    fast = lamina.Matern32(length=drawn["length_2"], sd=drawn["sd_2"])
    model = {"kernel": lamina.Matern52() + lamina.Matern32(), "priors": priors | {"alpha": PRIORS["alpha"]}}
    return truth.case(truth.inputs(), {}, model, kernel=slow + fast)


VARIANTS: dict[str, Callable[[Truth], Case]] = {
    "one sequence": plain,
    "three cores, loose and exact rows, offsets": sequences,
    "ties": ties,
    "blocks": blocks,
    "minimum gap": least_gap,
    "hiatus": hiatus,
    "depths, undated layers": depths,
    "dates and values in different layers": unmeasured,
    "split-normal dates": _dated(_split),
    "uniform dates": _dated(_uniform),
    "Student-t dates": _dated(_student),
    "dates as tables, two humps": _dated(_table),
    "radiocarbon, IntCal20": radiocarbon,
    "outliers, mixture": mixture,
    "outliers, Student": student,
    "limits": limits,
    "linear trend with a prior": trend,
    "slow + fast kernel": slow_and_fast,
    "memory between gaps": memory,
}


class Found(NamedTuple):
    """Of one record: share of the truth inside the 90 % intervals, and whether the sampler converged."""

    inputs: float
    curve: float
    converged: bool
    seconds: float


def cover(name: str, seed: tuple[int, ...]) -> Found:
    """Simulate, fit, look up."""
    case = VARIANTS[name](Truth(np.random.default_rng(seed)))
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        post = lamina.fit(case.record, **case.model, draws=1000, max_sweeps=50_000, cores=1)
    inputs, curve = post.inputs(), post.curve(case.at)
    uncertain = ~case.record.exact
    within = ((inputs["q5"] <= case.tau) & (case.tau <= inputs["q95"]))[uncertain]
    along = (curve["q5"] <= case.curve) & (case.curve <= curve["q95"])
    return Found(within.mean(), along.mean(), post.diagnostics["converged"], time.process_time() - began)


def agree(name: str, seed: tuple[int, ...]) -> tuple[float, float] | None:
    """Largest distance of the means of mcmc and nuts in units of sd, and of the sds; None if nuts has no such model."""
    case = VARIANTS[name](Truth(np.random.default_rng(seed)))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            there = lamina.fit(case.record, method="nuts", **case.model, draws=6000, cores=1).inputs()
    except MethodError:
        return None
    here = lamina.fit(case.record, **case.model, draws=6000, cores=1).inputs()
    uncertain = ~case.record.exact
    distance = ((here["mean"] - there["mean"]) / here["sd"])[uncertain].abs().max()
    return float(distance), float((here["sd"] / there["sd"] - 1.0)[uncertain].abs().max())


def _with_error(shares: np.ndarray) -> str:
    """The mean, and its standard error: records are independent."""
    return f"{shares.mean():.3f} ± {shares.std() / np.sqrt(len(shares)):.3f}"


def _with_others(page: Path, section: str, rows: list[str]) -> list[str]:
    """The rows of this run, and those of other variants that the page has, in the order of the variants."""
    text = page.read_text().split(f"<!-- {section} -->")[1].split(f"<!-- /{section} -->")[0]
    known = {line.split(" | ")[0].removeprefix("| "): line for line in [*text.splitlines(), *rows]}
    return [known[name] for name in VARIANTS if name in known]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variant", action="append", help="only this one; may be given several times")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--nuts", action="store_true", help="compare mcmc with nuts instead")
    parser.add_argument("--markdown", type=Path, help="write the table into this page, between its markers")
    options = parser.parse_args()
    if options.nuts:
        lines = ["| variant | means, largest difference | sds, largest difference |", "|:--|--:|--:|"]
    else:
        lines = ["| variant | inputs | curve | converged | CPU s per record |", "|:--|--:|--:|--:|--:|"]
    for name in options.variant or VARIANTS:
        number = list(VARIANTS).index(name)
        work = (
            delayed(agree if options.nuts else cover)(name, (options.seed, number, k))
            for k in range(options.repetitions)
        )
        found = list(Parallel(options.jobs)(work))
        if options.nuts:
            known = [one for one in found if one is not None]
            means = (
                f"{max(one[0] for one in known):.3f} sd | {100 * max(one[1] for one in known):.1f} %"
                if known
                else "– | –"
            )
            lines.append(f"| {name} | {means} |")
        else:
            inputs, curve, converged, seconds = np.array(found, dtype=float).T
            shares = f"{_with_error(inputs)} | {_with_error(curve)} | {100 * converged.mean():.0f} %"
            lines.append(f"| {name} | {shares} | {seconds.mean():.2f} |")
        print(lines[-1], flush=True)
        if options.markdown:  # after each, so that an interrupt keeps the results so far
            many = f"--repetitions {options.repetitions} " if options.repetitions != REPETITIONS else ""
            command = (
                f"python benchmarks/variants.py {'--nuts ' if options.nuts else ''}{many}--markdown docs/benchmarks.md"
            )
            records = "1 record" if options.repetitions == 1 else f"{options.repetitions} records"
            section = "variants-nuts" if options.nuts else "variants"
            rows = _with_others(options.markdown, section, lines[2:])
            summary = f"{len(rows)} of {len(VARIANTS)} variants, {records} of each, seed {options.seed}. {machine()}"
            fill_section(
                options.markdown, section, "\n".join([f"Command: `{command}`", "", *lines[:2], *rows, "", summary])
            )


if __name__ == "__main__":
    main()
