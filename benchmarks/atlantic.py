"""The Atlantic coast of North America beside published figures: New Jersey's rates, and the common curve.

Published are rates of global sea level of Kopp et al. (2016, PNAS 113, E1434), computed from their curve and its
covariance (prior ML21). What Walker et al. (2021, 2022) find for New Jersey is in the text of the page.

    python benchmarks/atlantic.py [--sites SOME] [--method gp] [--max-sweeps N] [--work FOLDER] [--markdown PAGE]

``--sites few`` takes 13 places from Florida to Nova Scotia, which is much quicker than all 43. ``--method gp`` takes
ages as reported and the parameters at their maximum, in seconds. The posterior is kept in the folder, and a second call
takes it from there.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from report import fill_section, machine, peak_memory

import lamina
from lamina.posterior import fields
from lamina.posterior.intervals import rates_between

Array = np.ndarray

FEW = (
    *("Nassau", "Sand Point", "Cedar Island", "Cape May Courthouse", "Leeds Point", "Cheesequake", "Pelham Bay"),
    *("Barn Island", "Wood Island", "Chezzetcook Inlet", "NEW YORK", "HALIFAX", "FERNANDINA BEACH"),
)
#: Rates of global sea level and two standard deviations, mm a year: Kopp et al. (2016).
KOPP = {
    (0, 700): (0.10, 0.11),
    (700, 1000): (-0.04, 0.26),
    (1000, 1400): (-0.23, 0.19),
    (1400, 1600): (0.29, 0.35),
    (1600, 1800): (-0.28, 0.31),
    (1860, 1900): (0.41, 0.54),
    (1900, 2000): (1.38, 0.15),
}
#: Periods in which Kopp et al. let the global curve have equal means, years CE.
EQUAL_MEANS = ((-100.0, 100.0), (1600.0, 1800.0))
NEW_JERSEY = ("Cape May Courthouse", "Leeds Point", "Cheesequake")
MM, DRAWS = 1000.0, 400


def record_of(sites: str) -> lamina.Record:
    """All places, or a few of them."""
    whole = lamina.datasets.load("atlantic")
    if sites == "all":
        return whole
    frame = whole.to_frame()
    frame = frame[frame["site"].isin(FEW)]
    columns = ("t", "t_sd", "y", "y_sd", "site", "latitude", "longitude", "gia")
    units = {name: getattr(whole, name) for name in ("t_name", "t_unit", "y_name", "y_unit")}
    return lamina.Record(**{name: frame[name].to_numpy() for name in columns}, sequence=[None] * len(frame), **units)


def fitted(folder: Path, sites: str, method: str, max_sweeps: int | None) -> lamina.Posterior:
    """The posterior that was kept, or a new one."""
    file = folder / f"atlantic-{sites}-{method}-{max_sweeps or 'converged'}.nc"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lamina.NotConverged)
            options = {"max_sweeps": max_sweeps} if max_sweeps else {}
            posterior = lamina.fit(record_of(sites), method=method, seed=0, **options)
        posterior.save(file)
        known = {key: posterior.draws.diagnostics.get(key) for key in ("converged", "sweeps", "r_hat", "ess")}
        print(f"{time.perf_counter() - began:.0f} s, {peak_memory():.0f} MB, {known}", flush=True)
    return lamina.load(file)


def common_rates(posterior: lamina.Posterior, equal_means: bool) -> dict[tuple[int, int], tuple[float, float]]:
    """Mean and two standard deviations of the common curve's rate in each of Kopp's intervals, mm a year."""
    ends = np.unique(np.array(list(KOPP), dtype=float))
    inside = [np.linspace(a, b, 21) for a, b in EQUAL_MEANS]
    at = np.unique(np.concatenate([ends, *inside]))
    curve = fields.common_draws(posterior, at, DRAWS, 0)
    if equal_means:
        first, second = (curve[:, np.searchsorted(at, times)].mean(axis=1) for times in inside)
        slope = (second - first) / (inside[1].mean() - inside[0].mean())
        curve = curve - slope[:, None] * at
    table = rates_between(list(KOPP), curve[:, np.searchsorted(at, ends)], MM)
    return {pair: (row["mean"], 2.0 * row["sd"]) for pair, (_, row) in zip(KOPP, table.iterrows(), strict=True)}


def markdown(posterior: lamina.Posterior, sites: str, method: str) -> str:
    """Tables of New Jersey and of the common curve."""
    facts, record = posterior.draws.diagnostics, posterior.record
    state = "converged" if facts["converged"] else f"stopped before it had converged, R-hat {facts.get('r_hat', 0):.2f}"
    options = f"--sites {sites}{'' if method == 'mcmc' else f' --method {method}'}"
    lines = [f"Command: `python benchmarks/atlantic.py {options} --markdown docs/fields.md`", "", machine(), ""]
    lines += [
        f"{len(record):,} rows of {len(record.places)} places; the fit ({method}) {state}. Errors are one "
        "standard deviation."
    ]
    lines += ["", "| New Jersey, mm/year | GIA, before the fit | linear part | 0–1700 CE | 1900–2000 CE |"]
    lines += ["|:--|--:|--:|--:|--:|"]
    for site in NEW_JERSEY:
        known = MM * record.places.gia[record.places.names.index(site)]
        parts = posterior.components([1500.0], rate=True, site=site).set_index("component")
        linear = f"{MM * parts.loc['linear', 'mean']:.2f} ± {MM * parts.loc['linear', 'sd']:.2f}"
        rates = lamina.interval_rates(posterior, [(0, 1700), (1900, 2000)], draws=DRAWS, scale=MM, site=site)
        shown = " | ".join(f"{mean:.2f} ± {sd:.2f}" for mean, sd in zip(rates["mean"], rates["sd"], strict=True))
        lines.append(f"| {site} | {known:.2f} | {linear} | {shown} |")
    lines += ["", "| years CE | global, Kopp et al. (2016) | common curve, equal means | common curve as fitted |"]
    lines += ["|:--|--:|--:|--:|"]
    equal, plain = common_rates(posterior, True), common_rates(posterior, False)
    for (a, b), (rate, two_sd) in KOPP.items():
        cells = [f"{mean:+.2f} ± {sd:.2f}" for mean, sd in ((rate, two_sd), equal[a, b], plain[a, b])]
        lines.append(f"| {a}–{b} | {' | '.join(cells)} |")
    lines += ["", "In mm/year, with two standard deviations."]
    shared = f"{posterior.trend_correlation:.2f}"
    lines += [f"The posterior correlation of the common trend and the mean of the rates is {shared}."]
    names = posterior.problem.names[: posterior.problem.n_kernel]
    medians = np.exp(np.median(posterior.draws.phi[:, : len(names)], axis=0))
    found = ", ".join(f"{name} {value:.3g}" for name, value in zip(names, medians, strict=True))
    lines += [f"Parameters (in years, m and km; medians): {found}."]
    emerged = {
        p: posterior.emergence((0.0, 1700.0), probability=p, draws=DRAWS, common=True)["emergence"].iloc[0]
        for p in (0.66, 0.9, 0.95)
    }
    words = ", ".join(f"{'none' if np.isnan(when) else f'{when:.0f}'} (P = {p:g})" for p, when in emerged.items())
    return "\n".join([*lines, "", f"Time of emergence of the common curve, above 0–1700 CE: {words}."])


def main() -> None:
    """Fit, or take what was kept, and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sites", choices=("all", "few"), default="all")
    parser.add_argument("--method", choices=("mcmc", "gp", "nigp"), default="mcmc")
    parser.add_argument("--max-sweeps", type=int)
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "lamina-atlantic")
    parser.add_argument("--markdown", type=Path)
    given = parser.parse_args()
    text = markdown(fitted(given.work, given.sites, given.method, given.max_sweeps), given.sites, given.method)
    print(text)
    if given.markdown is not None:
        fill_section(given.markdown, "atlantic", text)


if __name__ == "__main__":
    main()
