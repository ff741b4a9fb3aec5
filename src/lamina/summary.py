"""What a fit found, in a few lines of plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .prediction import weighted_quantiles

if TYPE_CHECKING:
    import pandas as pd

    from .posterior import Posterior

#: Rows in conflict that are written out one by one.
SHOWN = 10


def describe(posterior: Posterior) -> str:
    """Method and convergence, parameters, how far the inputs moved and shrank, and dates in conflict."""
    record, facts = posterior.record, posterior.diagnostics
    lines = [
        f"{facts['method']}{_engine(facts)} fit of {len(record)} rows, {facts['seconds']:.2f} s",
        _state(facts),
        "",
    ]
    theta = posterior.theta
    if len(theta.columns):
        lines.append("parameter      mean        sd        5 %       95 %")
        values, weight = theta.to_numpy(), posterior.draws.weight
        mean = weight @ values
        sd = np.sqrt(weight @ (values - mean) ** 2)
        low, high = weighted_quantiles(values, weight, (0.05, 0.95))
        for name, *numbers in zip(theta.columns, mean, sd, low, high, strict=True):
            lines.append("{:<10} {:>9.4g} {:>9.3g} {:>10.4g} {:>10.4g}".format(name, *numbers))
        lines.append("")
    if facts["method"] in ("gp", "nigp"):
        lines.append("inputs: taken as measured; the known order is not used")
        return "\n".join(lines)
    inputs = posterior.inputs()
    uncertain = ~record.exact
    if uncertain.any():
        moved = (inputs["mean"] - inputs["t"]).abs()[uncertain]
        kept = (inputs["sd"] / inputs["t_sd"])[uncertain].median()
        lines.append(
            f"inputs: {uncertain.sum()} uncertain, {record.exact.sum()} exact; moved by {moved.median():.3g} "
            f"(median), {moved.max():.3g} at most; standard deviations are {kept:.0%} of those reported (median)"
        )
    lines.extend(_conflicts(posterior, facts["conflicts"], inputs))
    return "\n".join(lines)


def _engine(facts: dict[str, Any]) -> str:
    return " (dense engine)" if facts.get("engine") == "dense" else ""


def _state(facts: dict[str, Any]) -> str:
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
    state = "converged" if facts["converged"] else "NOT CONVERGED"
    return f"{'INTERRUPTED' if facts['interrupted'] else state}: {', '.join(evidence)}"


def _conflicts(posterior: Posterior, rows: list[int], inputs: pd.DataFrame) -> list[str]:
    if not rows:
        return ["no date is in conflict with the order or the curve"]
    record = posterior.record
    lines = [
        f"{len(rows)} date{'s' if len(rows) > 1 else ''} in conflict with the order or the curve "
        "(moved by more than 3 sd):"
    ]
    for row in rows[:SHOWN]:
        name = "" if record.label is None or record.label[row] is None else f" ({record.label[row]})"
        lines.append(
            f"  row {row}{name}: dated {record.t[row]:g} ± {record.t_sd[row]:g}, "
            f"posterior {inputs['mean'][row]:.6g} ± {inputs['sd'][row]:.3g}"
        )
    if len(rows) > SHOWN:
        lines.append(f"  and {len(rows) - SHOWN} more: see diagnostics['conflicts']")
    return lines
