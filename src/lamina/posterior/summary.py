"""What a fit found, in a few lines of plain text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.quantiles import weighted_quantiles
from ..records import axes
from .shown import has_trend

if TYPE_CHECKING:
    import pandas as pd

    from .posterior import Posterior

#: Rows in conflict that are written out one by one.
SHOWN = 10


def describe(posterior: Posterior, names: Sequence[str] | None = None) -> str:
    """Method and convergence, parameters, how far the inputs moved and shrank, and dates in conflict.

    names: what to call each row; by default its position, counted from 0.
    """
    record, facts = posterior.record, posterior.diagnostics
    lines = [
        f"{facts['method']}{_engine(facts)} fit of {len(record)} rows, {facts['seconds']:.2f} s",
        _state(facts),
        "",
    ]
    if len(posterior.theta.columns):
        lines.extend([*_parameters(posterior), ""])
    if has_trend(posterior):
        lines.extend([_trend(posterior), ""])
    if posterior.as_measured:
        lines.append("inputs: taken as measured; the known order is not used")
        return "\n".join(lines)
    inputs = posterior.inputs()
    uncertain = record.dated & ~record.exact
    if uncertain.any():
        moved = (inputs["mean"] - inputs["t"]).abs()[uncertain]
        kept = (inputs["sd"] / inputs["t_sd"])[uncertain].median()
        undated = "" if record.dated.all() else f", {(~record.dated).sum()} without a date"
        lines.append(
            f"inputs: {uncertain.sum()} uncertain, {record.exact.sum()} exact{undated}; moved by "
            f"{_plain(moved.median(), 3)} (median), {_plain(moved.max(), 3)} at most; standard deviations are "
            f"{kept:.0%} of those reported (median)"
        )
    lines.extend(_conflicts(posterior, facts["conflicts"], inputs, names))
    return "\n".join(lines)


def _parameters(posterior: Posterior) -> list[str]:
    """A line for each parameter. A method that maximises has one value, and nothing to say of its uncertainty."""
    theta, weight = posterior.theta, posterior.draws.weight
    values = theta.to_numpy()
    mean = weight @ values
    sd = np.sqrt(weight @ (values - mean) ** 2)
    low, high = weighted_quantiles(values, weight, (0.05, 0.95))
    point = np.ptp(values, axis=0) == 0.0
    lines = ["parameter  estimate" if point.all() else "parameter      mean        sd        5 %       95 %"]
    for j, name in enumerate(theta.columns):
        numbers = [_plain(number) for number in (mean[j], sd[j], low[j], high[j])]
        if point[j]:
            lines.append(f"{name:<10} {numbers[0]:>9}  (estimate, no interval)")
        else:
            lines.append("{:<10} {:>9} {:>9} {:>10} {:>10}".format(name, *numbers))
    return lines


def _trend(posterior: Posterior) -> str:
    shown = axes.describe(posterior.record)
    rate = posterior.trend().set_index("term").loc["rate"]
    mean, sd = shown.rate_factor * rate["mean"], abs(shown.rate_factor) * rate["sd"]
    forward = " forward in time" if shown.backwards else ""
    return f"linear trend{forward}: {_plain(mean)} ± {_plain(sd, 2)} {shown.rate_unit}".rstrip()


def _engine(facts: dict[str, Any]) -> str:
    return " (dense engine)" if facts.get("engine") == "dense" else ""


def _state(facts: dict[str, Any]) -> str:
    evidence = [
        f"{label} {facts[key]:.0f}" if key == "ess" else f"{label} {_plain(facts[key])}"
        for key, label in (
            ("r_hat", "worst R-hat"),
            ("ess", "fewest effective draws"),
            ("effective_members", "effective members"),
            ("sweeps", "sweeps"),
            ("objective", "objective"),
            ("steps", "steps"),
            ("divergent", "divergent transitions"),
        )
        if key in facts
    ]
    state = "converged" if facts["converged"] else "NOT CONVERGED"
    return f"{'INTERRUPTED' if facts['interrupted'] else state}: {', '.join(evidence)}"


def _plain(value: float, digits: int = 4) -> str:
    """A number to some digits, without an exponent where that is readable."""
    if not 1e-4 <= abs(value) < 1e9:
        return f"{value:.{digits}g}"
    return np.format_float_positional(value, precision=digits, fractional=False, trim="-")


def _conflicts(
    posterior: Posterior, rows: list[int], inputs: pd.DataFrame, names: Sequence[str] | None = None
) -> list[str]:
    if not rows:
        return ["no date is in conflict with the order or the curve"]
    record = posterior.record
    lines = [
        f"{len(rows)} date{'s' if len(rows) > 1 else ''} in conflict with the order or the curve "
        f"(moved by more than {posterior.conflict_limit:.2g} sd):"
    ]
    for row in rows[:SHOWN]:
        name = "" if record.label is None or record.label[row] is None else f" ({record.label[row]})"
        lines.append(
            f"  {f'row {row}' if names is None else names[row]}{name}: dated {record.t[row]:g} ± {record.t_sd[row]:g}, "
            f"posterior {inputs['mean'][row]:.6g} ± {inputs['sd'][row]:.3g}"
        )
    if len(rows) > SHOWN:
        lines.append(f"  and {len(rows) - SHOWN} more: see diagnostics['conflicts']")
    return lines
