"""Fills the measured part of docs/comparison.md from docs/peers/, which ``benchmarks/peers.py`` wrote.

python benchmarks/comparison_page.py
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from report import fill_section

DOCS = Path(__file__).parents[1] / "docs"
#: Those that sample the ages and fit a Gaussian process.
ONE_CORE = ("lamina mcmc", "gpax", "PaleoSTeHM", "StratMC")
HEAD = ("seconds", "fewest effective draws", "R-hat", "RMSE of the curve", "95 % band holds")


def _row(one: pd.Series) -> str:
    if pd.isna(one["seconds"]):
        return " | ".join([str(one["state"]), *["–"] * (len(HEAD) - 1)])
    draws, hat = (
        f"{one[name]:{form}}" if pd.notna(one[name]) else "–" for name, form in (("ess", ".0f"), ("r_hat", ".2f"))
    )
    return f"{one['seconds']:.3g} | {draws} | {hat} | {one['rmse']:.2g} | {one['coverage']:.0%}"


def _table(case: str, rows: pd.DataFrame) -> str:
    head = ["", case, "program", *HEAD]
    lines = [" | ".join(head).strip() + " |", "|".join(["", ":--", ":--", *["--:"] * len(HEAD), ""])]
    for one in rows.to_dict("records"):
        version = (
            f" {one['version']}" if isinstance(one["version"], str) and not one["tool"].startswith("lamina") else ""
        )
        lines.append(f"| {one['case']} | {one['tool']}{version} | {_row(pd.Series(one))} |")
    return "\n".join(lines)


def measured() -> str:
    tools = pd.read_csv(DOCS / "peers" / "tools.csv").rename(columns={"core": "case"})
    fields = pd.read_csv(DOCS / "peers" / "fields.csv")
    fields["case"] = fields["field"] + ", seed " + fields["seed"].astype(str)
    return "\n\n".join(
        [
            "One core of 25 rows (`python benchmarks/peers.py --only tools --python StratMC=… PaleoSTeHM=… gpax=…`):",
            _table("curve", tools[tools["tool"].isin(ONE_CORE)]),
            "A simulated field (`python benchmarks/peers.py --only fields --python PaleoSTeHM=…`):",
            _table("field", fields),
        ]
    )


def main(page: Path = DOCS / "comparison.md") -> None:
    fill_section(page, "measured", measured(), stamped=False)  # the page repeats files that stand beside it


if __name__ == "__main__":
    main()
