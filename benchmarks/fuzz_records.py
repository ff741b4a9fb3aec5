"""Random records of every kind through ``fit``, ``curve``, ``rate`` and ``inputs``: what goes wrong is printed.

    python benchmarks/fuzz_records.py --cases 2000 --seed 0

A record may be refused with an error of lamina. Everything else is a finding: another exception, a number that is not
finite, quantiles that cross, a case that takes more than 5 seconds of processor time or a process that takes more than
1 GB. The number of a finding repeats it: ``--only NUMBER``. Ends with exit code 1 if there is a finding.
``--method mcmc`` fits every record by mcmc, some with Student-t dates, with memory, or as an age-depth model.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import lamina
from lamina import dates
from lamina.engine.compiling.cache import watch
from lamina.engine.quantiles import QUANTILES

#: A case may take this many seconds, the process this many bytes.
SECONDS, BYTES = 5.0, 1e9
METHODS = ("gp", "gp", "gp", "nigp", "nigp", "nigp", "nigp", "mcmc")
SHORT = {"chains": 2, "draws": 100, "warmup": 20, "max_sweeps": 40, "cores": 1}
#: How far quantiles may cross, as a part of the standard deviation: rounding.
ROUNDING = 1e-9


def random_record(rng: np.random.Generator) -> lamina.Record:
    """A record of any kind that a user could have. Raises LaminaError for one that contradicts itself."""
    n, scale = int(rng.integers(3, 25)), 10.0 ** rng.uniform(-2, 4)
    truth = np.sort(rng.uniform(0, n, n)) * scale + rng.choice([0.0, -1.0, 1e3]) * scale
    t_sd = scale * 10.0 ** rng.uniform(-3, 1, n) if rng.random() < 0.7 else np.full(n, scale * rng.uniform(0.01, 1))
    y = np.sin(truth / scale) * 10.0 ** rng.uniform(-4, 4) + rng.choice([0.0, 1e3, -5.0])
    y = np.full(n, y[0]) if rng.random() < 0.05 else y
    y_sd = np.abs(y).max() * 10.0 ** rng.uniform(-5, 0, n) + 1e-9
    fields: dict[str, Any] = {"t": truth + rng.normal(0, 1, n) * t_sd, "t_sd": t_sd, "y": y, "y_sd": y_sd}
    fields["order"] = "increasing"
    if rng.random() < 0.3:
        fields |= {"order": "decreasing"} | {name: fields[name][::-1].copy() for name in ("t", "t_sd", "y", "y_sd")}
    for chance, add in _EXTRAS:
        if rng.random() < chance:
            fields |= add(rng, fields, n, scale)
    return lamina.Record(**fields)


def _some(rng: np.random.Generator, n: int, most: float = 0.5) -> np.ndarray:
    return rng.random(n) < rng.uniform(0, most)


def _exact(rng: np.random.Generator, fields: dict[str, Any], n: int, scale: float) -> dict[str, Any]:
    exact = _some(rng, n)
    sign = 1.0 if fields["order"] == "increasing" else -1.0
    t, t_sd = fields["t"].copy(), fields["t_sd"].copy()
    t[exact], t_sd[exact] = sign * np.sort(sign * t[exact]), 0.0
    return {"t": t, "t_sd": t_sd}


def _undated(rng: np.random.Generator, fields: dict[str, Any], n: int, scale: float) -> dict[str, Any]:
    none = _some(rng, n)
    t, t_sd = fields["t"].copy(), fields["t_sd"].copy()
    t[none], t_sd[none] = np.nan, np.inf
    return {"t": t, "t_sd": t_sd}


def _unmeasured(rng: np.random.Generator, fields: dict[str, Any], n: int, scale: float) -> dict[str, Any]:
    none = _some(rng, n)
    y, y_sd = fields["y"].copy(), fields["y_sd"].copy()
    y[none], y_sd[none] = np.nan, np.inf
    return {"y": y, "y_sd": y_sd}


def _dates(rng: np.random.Generator, fields: dict[str, Any], n: int, scale: float) -> dict[str, Any]:
    made: list[Any] = [None] * n
    for i in np.flatnonzero(_some(rng, n, 1.0) & (np.isfinite(fields["t_sd"]))):
        made[i] = _date(rng, float(fields["t"][i]), float(fields["t_sd"][i]) or scale)
    return {"dates": made}


def _date(rng: np.random.Generator, t: float, sd: float) -> dates.Date:
    kind = int(rng.integers(5))
    if kind == 0:
        return dates.SplitNormal(t, sd, sd * 10.0 ** rng.uniform(-1, 1))
    if kind == 1:
        return dates.Uniform(t - sd, t + sd * rng.uniform(0.1, 3))
    if kind == 2:
        return dates.StudentT(t, sd)
    if kind == 3:
        density = rng.random(6) * (rng.random(6) < 0.7)
        density[2] = 1.0
        return dates.Tabulated(t + sd * np.sort(rng.uniform(-3, 3, 6)), density)
    return dates.Radiocarbon(float(rng.uniform(200, 30_000)), float(rng.uniform(15, 200)), student=rng.random() < 0.5)


def _sequences(rng: np.random.Generator, fields: dict[str, Any], n: int, scale: float) -> dict[str, Any]:
    names = [None, "a", "b", "c"][int(rng.integers(2)) : int(rng.integers(2, 5))]
    return {"sequence": [names[k] for k in rng.integers(len(names), size=n)]}


def _ties(rng: np.random.Generator, fields: dict[str, Any], n: int, scale: float) -> dict[str, Any]:
    tie: list[str | None] = [None] * n
    for i in np.flatnonzero(_some(rng, n - 1)):
        tie[i] = tie[i] or f"layer {i}"
        tie[i + 1] = tie[i]
    return {"tie": tie}


def _depths(rng: np.random.Generator, fields: dict[str, Any], n: int, scale: float) -> dict[str, Any]:
    steps = rng.exponential(1.0, n) * (rng.random(n) > 0.15)
    return {"depth": np.cumsum(steps) * rng.choice([1.0, -1.0, 100.0])}


def _limits(rng: np.random.Generator, fields: dict[str, Any], n: int, scale: float) -> dict[str, Any]:
    limited = _some(rng, n) & np.isfinite(fields["y_sd"])
    return {"limit": [rng.choice(["above", "below"]) if one else None for one in limited]}


_EXTRAS = (
    (0.3, _exact),
    (0.3, _undated),
    (0.2, _unmeasured),
    (0.35, _dates),
    (0.3, _sequences),
    (0.25, _ties),
    (0.3, _depths),
    (0.2, _limits),
    (0.2, lambda rng, fields, n, scale: {"hiatus": _some(rng, n)}),
    (0.15, lambda rng, fields, n, scale: {"least_gap": rng.uniform(0, 1e-3, n) * scale}),
)


def settings(record: lamina.Record, method: str, seed: int) -> dict[str, Any]:
    """How a record is fitted: some by mcmc with Student-t dates, with memory, or as an age-depth model."""
    if method != "mcmc":
        return {}
    rng = np.random.default_rng([7, seed])
    chosen: dict[str, Any] = {"t_errors": str(rng.choice(["normal", "student"])), "memory": bool(rng.random() < 0.4)}
    if record.depth is not None and rng.random() < 0.5:
        chosen["steps"] = int(rng.integers(2, 60))
    return chosen


def findings(record: lamina.Record, method: str, seed: int) -> Iterator[str]:
    """What is wrong with the results of one fit."""
    chosen = settings(record, method, seed)
    if "steps" in chosen:
        yield from _age_depth_findings(lamina.age_depth(record, seed=seed, **chosen, **SHORT), seed)
        return
    posterior = lamina.fit(record, method, seed=seed, **chosen, **(SHORT if method == "mcmc" else {}))
    if method == "mcmc" and not np.isfinite(posterior.date_outliers().dropna()).all():
        yield "a date is an outlier with a probability that is not finite"
    dated = record.t[record.dated]
    reach = np.ptp(dated) if dated.size else 1.0
    start = dated.min() if dated.size else 0.0
    at = np.concatenate([start + reach * np.linspace(-0.5, 1.5, 25), dated])
    for name, frame in {
        "curve": posterior.curve(at),
        "rate": posterior.rate(at),
        "inputs": posterior.inputs(),
    }.items():
        yield from (f"{name}: {what}" for what in wrong(frame))


def _age_depth_findings(posterior: lamina.Posterior, seed: int) -> Iterator[str]:
    """What is wrong with the ages of one age-depth model."""
    depth = posterior.record.depth
    low, high = float(np.nanmin(depth)), float(np.nanmax(depth))
    at = np.sort(np.random.default_rng([8, seed]).uniform(low, high, 20))
    names = [name for name, _ in posterior.record.sequences]
    for name in names if len(names) > 1 else [None]:
        frame = posterior.ages(at) if name is None else posterior.ages(at, sequence=name)
        yield from (f"ages: {what}" for what in wrong(frame))
    yield from (f"inputs: {what}" for what in wrong(posterior.inputs()))


def wrong(frame: pd.DataFrame) -> Iterator[str]:
    """Numbers that are not finite, negative standard deviations and quantiles that cross."""
    numbers = frame[["mean", "sd", *QUANTILES]].to_numpy(dtype=float)
    if not np.isfinite(numbers).all():
        rows = np.flatnonzero(~np.isfinite(numbers).all(axis=1)).tolist()
        yield f"not finite in rows {rows}"
    if (frame["sd"] < 0).any():
        yield "negative standard deviation"
    size = np.abs(numbers).max(axis=1, initial=0.0)[:, None]
    if (np.diff(numbers[:, 2:], axis=1) < -ROUNDING * (numbers[:, 1:2] + 1e-3 * size)).any():
        yield "quantiles cross"


def try_case(number: int, seed: int, chosen: str | None = None) -> tuple[str, list[str]]:
    """Fit the record of a number, by a chosen method: what became of it in one word, and what went wrong."""
    rng = np.random.default_rng([seed, number])
    by_number = METHODS[int(rng.integers(len(METHODS)))]
    method = by_number if chosen is None else chosen
    began = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = list(findings(random_record(rng), method, number))
        word = method
    except lamina.LaminaError as error:
        found, word = ([] if str(error).strip() else ["an error without a message"]), "refused"
    except Exception as error:
        found, word = [f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"], "crashed"
    took = time.process_time() - began
    return word, found + ([f"took {took:.1f} s"] if took > SECONDS else [])


def memory() -> float:
    """The largest number of bytes that this process has used since its program began."""
    status = Path("/proc/self/status")
    if status.exists():  # what resource knows includes the program before ``execv``
        (peak,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return 1024.0 * int(peak.split()[1])
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak if sys.platform == "darwin" else 1024 * peak)


def warm_up() -> None:
    """Compile what the cases need, so that they are timed without it."""
    record = lamina.Record(t=range(6), t_sd=0.1, y=np.sin(range(6)), y_sd=0.1)
    for method in dict.fromkeys(METHODS):
        for limit in None, ["above", *[None] * 5]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with suppress(lamina.LaminaError):  # gp and nigp take no limits
                    list(findings(lamina.Record(**_fields(record), limit=limit), method, 0))


def _fields(record: lamina.Record) -> dict[str, Any]:
    return {name: getattr(record, name) for name in ("t", "t_sd", "y", "y_sd")}


def main() -> None:
    """Run the cases that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="the number of one case")
    parser.add_argument("--method", choices=sorted(set(METHODS)), help="the method of all cases")
    given = parser.parse_args()
    if given.only is not None:
        rng = np.random.default_rng([given.seed, given.only])
        print(METHODS[int(rng.integers(len(METHODS)))], random_record(rng).to_frame().to_string(), sep="\n")
    words, wrongs, slowest, began = Counter[str](), 0, 0.0, time.perf_counter()
    with watch() as compiling:
        warm_up()
        for number in range(given.cases) if given.only is None else [given.only]:
            start = time.process_time()
            word, found = try_case(number, given.seed, given.method)
            if any(one.startswith("took") for one in found):  # it may have compiled something
                start = time.process_time()
                word, found = try_case(number, given.seed, given.method)
            slowest = max(slowest, time.process_time() - start)
            words[word] += 1
            wrongs += bool(found)
            for one in found:
                print(f"case {number} ({word}): {one}", flush=True)
    if memory() > BYTES and compiling.seconds and not wrongs:
        # A compiler needs memory for each kind of record; what it made is kept, so that a second run shows the rest.
        print(f"used {memory() / 1e9:.2f} GB with compiling; again without", flush=True)
        os.execv(sys.executable, [sys.executable, *sys.argv])
    if memory() > BYTES:
        wrongs += 1
        print(f"used {memory() / 1e9:.2f} GB")
    counted = ", ".join(f"{word} {count}" for word, count in sorted(words.items()))
    most = f"at most {slowest:.1f} s of CPU time and {memory() / 1e6:.0f} MB"
    print(f"{words.total()} cases in {time.perf_counter() - began:.0f} s ({counted}), {most}: {wrongs} findings")
    sys.exit(bool(wrongs))


if __name__ == "__main__":
    main()
