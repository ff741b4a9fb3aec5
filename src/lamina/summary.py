"""What a fit found, in a few lines of plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .posterior import Posterior

#: Rows in conflict that are written out one by one.
SHOWN = 10


def describe(posterior: Posterior) -> str:
    """Method and convergence, parameters, how far the inputs moved and shrank, and dates in conflict."""
    record, facts = posterior.record, posterior.diagnostics
    lines = [f"{facts['method']} fit of {len(record)} rows, {facts['seconds']:.2f} s", _state(facts), ""]
    theta = posterior.theta
    if len(theta.columns):
        lines.append("parameter      mean        sd        5 %       95 %")
        for name, values in theta.items():
            low, high = np.quantile(values, [0.05, 0.95])
            lines.append(f"{name:<10} {values.mean():>9.4g} {values.std(ddof=0):>9.3g} {low:>10.4g} {high:>10.4g}")
        lines.append("")
    inputs = posterior.inputs()
    uncertain = ~record.exact
    if uncertain.any() and facts["method"] not in ("gp", "nigp"):
        moved = (inputs["mean"] - inputs["t"]).abs()[uncertain]
        kept = (inputs["sd"] / inputs["t_sd"])[uncertain].median()
        unit = f" {record.t_unit}" if record.t_unit else ""
        lines.append(
            f"inputs: {uncertain.sum()} uncertain, {record.exact.sum()} exact; moved by {moved.median():.3g}{unit} (median), "
            f"{moved.max():.3g}{unit} at most; standard deviations are {kept:.0%} of those reported (median)"
        )
    lines.extend(_conflicts(posterior, facts["conflicts"], inputs))
    return "\n".join(lines)


def _state(facts: dict) -> str:
    if facts["interrupted"]:
        return "INTERRUPTED: what there was is kept"
    evidence = [
        f"{label} {facts[key]:.4g}"
        for key, label in (
            ("r_hat", "worst R-hat"),
            ("ess", "fewest effective draws"),
            ("sweeps", "sweeps"),
            ("objective", "objective"),
            ("steps", "steps"),
            ("divergent", "divergent transitions"),
        )
        if key in facts
    ]
    return f"{'converged' if facts['converged'] else 'NOT CONVERGED'}: {', '.join(evidence)}"


def _conflicts(posterior: Posterior, rows: list[int], inputs) -> list[str]:
    if not rows:
        return ["no date is in conflict with the order or the curve"]
    record = posterior.record
    lines = [
        f"{len(rows)} date{'s' if len(rows) > 1 else ''} in conflict with the order or the curve (moved by more than 3 sd):"
    ]
    for row in rows[:SHOWN]:
        name = "" if record.label is None or record.label[row] is None else f" ({record.label[row]})"
        lines.append(
            f"  row {row}{name}: dated {record.t[row]:g} ± {record.t_sd[row]:g}, "
            f"posterior {inputs['mean'][row]:g} ± {inputs['sd'][row]:.3g}"
        )
    if len(rows) > SHOWN:
        lines.append(f"  and {len(rows) - SHOWN} more: see diagnostics['conflicts']")
    return lines
