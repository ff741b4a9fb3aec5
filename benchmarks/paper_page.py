"""Fills docs/paper.md with the numbers of the committed run in docs/paper/, which ``lamina paper all`` wrote.

lamina paper all --out docs/paper --seed 0
python benchmarks/paper_page.py
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from report import fill_section

from lamina.paper.times import exponents

DOCS = Path(__file__).parents[1] / "docs"
RUN = DOCS / "paper"


def table(rows: list[list[str]], head: list[str], left: int = 1) -> str:
    """A Markdown table, its first columns to the left."""
    lines = [head, [":--"] * left + ["--:"] * (len(head) - left), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def claims() -> str:
    found = pd.read_csv(RUN / "claims.csv")
    rows = [[str(c.claim), str(c.measured), "yes" if c.holds else "**no**"] for c in found.itertuples()]
    return table(rows, ["the paper says", "measured", "holds"], left=3)


def readings() -> str:
    """One row for each reading, one column for each claim."""
    found = pd.read_csv(RUN / "readings.csv")
    rows = []
    for reading, part in found.groupby(["covariance", "prior", "prediction"], sort=False):
        cells = [f"{'yes' if one.holds else '**no**'} ({one.number})" for one in part.itertuples()]
        rows.append([*(f"**{word}**" for word in reading), *cells] if not rows else [*reading, *cells])
    return table(rows, ["covariance", "prior of the gaps", "prediction", *found["claim"].unique()], left=3)


def _scores(part: pd.DataFrame) -> str:
    """A table of one row for each method."""
    rows = []
    for name, one in part.set_index("method").iterrows():
        estimated = name not in ("gp", "nigp")
        inputs = [f"{one.mae:.2f}", f"{one.input_cover:.2f}"] if estimated else ["–", "–"]
        cover = [f"{one.curve_cover:.2f}", inputs[1], f"{one.converged:.0%}"]
        rows.append([str(name), f"{one.rmse:.2f}", inputs[0], *cover])
    head = ["method", "RMSE of the curve", "MAE of the inputs", "curve in 90 % band", "inputs in 90 %", "converged"]
    return table(rows, head) + "\n"


def averages() -> str:
    parts = []
    for y_sd, part in pd.read_csv(RUN / "synthetic_averages.csv").groupby("y_sd"):
        measured = part["baseline"].mean()
        parts += [
            f"Output error {y_sd:g} (mean absolute error of the measured inputs: {measured:.2f})\n",
            _scores(part),
        ]
    return "\n".join(parts)


def spacing() -> str:
    parts = []
    for (kind, y_sd), part in pd.read_csv(RUN / "spacing_averages.csv").groupby(["spacing", "y_sd"], sort=False):
        measured = part["baseline"].mean()
        title = f"{kind.capitalize()} inputs, output error {y_sd:g}"
        parts += [f"{title} (mean absolute error of the measured inputs: {measured:.2f})\n", _scores(part)]
    return "\n".join(parts)


def by_function() -> str:
    found = pd.read_csv(RUN / "synthetic_by_function.csv")
    shown = ["gp", "nigp", "npv", "npv, uniform", "npv, gamma", "mcmc", "lamina"]
    rows = [
        [f"{row['y_sd']:g}", row["function"], *(f"{row[name]:.2f}" for name in shown)] for _, row in found.iterrows()
    ]
    return table(rows, ["output error", "function", *shown], left=2)


def training() -> str:
    found = pd.read_csv(RUN / "timing.csv")
    fits = found[found["kind"] == "fit"].set_index(["method", "algorithm"])
    rows = []
    for name in ("npv", "mcmc", "nigp", "gp"):
        fast, slow = fits.loc[(name, "markov")], fits.loc[(name, "dense")]
        rows.append([name, f"{fast['paper_seconds']:g} s", f"{slow['seconds']:.2f} s", f"{fast['seconds']:.3f} s",
                     f"{slow['seconds'] / fast['seconds']:.0f}"])  # fmt: skip
    head = ["method", "the paper", "its algorithms here (dense)", "the O(N) engine", "dense ÷ O(N)"]
    return table(rows, head)


def steps() -> str:
    found = pd.read_csv(RUN / "timing.csv")
    part = found[found["kind"] == "step"]
    sizes = sorted(part["n"].unique())
    power = exponents(found)
    names = {
        "gp": "gp, nigp: likelihood and gradient",
        "npv": "npv: gradient and curvature, K = 3",
        "mcmc": "mcmc: one sweep",
    }
    rows = []
    for (method, algorithm), own in part.groupby(["method", "algorithm"], sort=False):
        seconds = own.set_index("n")["seconds"]
        cells = [f"{1000.0 * seconds[n]:.3g}" for n in sizes]
        rows.append([names[method], algorithm.replace("markov", "O(N)"), *cells, f"{power[method, algorithm]:.1f}"])
    return table(rows, ["step, milliseconds", "algorithm", *(f"N = {n}" for n in sizes), "exponent"], left=2)


def pairs() -> str:
    found = pd.read_csv(RUN / "sealevel_pairs.csv")
    rows = []
    for p in found.itertuples():
        paper = [f"{p.paper_difference:g}", f"{p.paper_divergence:g}"] if p.paper_difference > 0 else ["–", "–"]
        rows.append([f"{p.first} – {p.second}", f"{p.difference:.2f}", paper[0], f"{p.divergence:.4f}", paper[1]])
    return table(rows, ["pair", "difference, mm", "the paper's", "divergence", "the paper's"])


def interval() -> str:
    found = pd.read_csv(RUN / "sealevel_interval.csv")
    rows = []
    for r in found.itertuples():
        rows.append([r.method, f"{r.mean:.2f}", f"{r.q5:.2f} to {r.q95:.2f}", "yes" if r.converged else "no"])
    return table(rows, ["method", "mean rate 1900 to 2000, mm/year", "90 %", "converged"])


SECTIONS = {
    "readings": readings,
    "claims": claims,
    "averages": averages,
    "by-function": by_function,
    "spacing": spacing,
    "training": training,
    "steps": steps,
    "pairs": pairs,
    "interval": interval,
}
#: Files that the runs of earlier versions do not have.
RECENT = {"readings": "readings.csv", "spacing": "spacing_averages.csv"}
EARLIER = (
    "The committed run is of an earlier version: this table is not part of it, and every npv has a diagonal covariance."
)


def main(page: Path = DOCS / "paper.md") -> None:
    for name, text in SECTIONS.items():
        found = text() if (RUN / RECENT.get(name, "")).exists() else EARLIER
        fill_section(page, name, found, stamped=False)  # the page repeats files that stand beside it


if __name__ == "__main__":
    main()
