"""What a fit found: a table of the parameters, and a summary of a few lines of plain text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..engine.quantiles import weighted_quantiles
from ..records import axes
from ..support.numbers import number, percent
from .boxes import has_trend
from .diagnosis import conflict_summary, conflicts, evidence, list_conflicts, many_disagree, state_of

if TYPE_CHECKING:
    import pandas as pd

    from .posterior import Posterior

#: Dates in conflict that the summary lists.
LISTED = 10


def describe(posterior: Posterior, names: Sequence[str] | None = None) -> str:
    """Method and convergence, parameters, how far the inputs moved and shrank, and dates in conflict.

    names: what to call each row; by default its position, counted from 0.
    """
    facts, state = posterior.draws.diagnostics, state_of(posterior.draws.diagnostics)
    engine = " (dense engine)" if posterior.problem.engine == "dense" else ""
    lines = [
        f"{facts['method']}{engine} fit of {len(posterior.record)} rows, {facts['seconds']:.2f} s",
        f"{state if state == 'converged' else state.upper()}: {evidence(facts)}",
        "",
    ]
    if len(posterior.theta.columns):
        lines += [*_parameter_lines(parameters(posterior)), ""]
    if has_trend(posterior):
        lines += [_trend(posterior), ""]
    return "\n".join([*lines, *_inputs(posterior, names)])


def parameters(posterior: Posterior) -> pd.DataFrame:
    """One line per unknown parameter: name, mean, sd, quantiles, the prior's 68 % from low to high, r_hat and ess.

    The sd is exactly 0 for a point estimate, which has no interval.
    """
    import pandas as pd

    problem, facts = posterior.problem, posterior.draws.diagnostics
    theta, weight = posterior.theta, posterior.draws.weight
    values, names = theta.to_numpy(), list(theta.columns)
    mean = weight @ values
    sd = np.where(np.ptp(values, axis=0) > 0.0, np.sqrt(weight @ (values - mean) ** 2), 0.0)
    columns = {"name": names, "mean": mean, "sd": sd}
    levels = {"q2.5": 0.025, "q5": 0.05, "q95": 0.95, "q97.5": 0.975}
    columns |= dict(zip(levels, weighted_quantiles(values, weight, tuple(levels.values())), strict=True))
    for side, k in ("low", -1.0), ("median", 0.0), ("high", 1.0):
        prior = problem.to_theta(problem.prior_mean + k * problem.prior_sd)
        columns[f"prior_{side}"] = [float(prior[name]) for name in names]
    for key in "r_hat", "ess":
        columns[key] = [facts.get(f"{key}_theta", {}).get(name, np.nan) for name in names]
    return pd.DataFrame(columns)


def _parameter_lines(table: pd.DataFrame) -> list[str]:
    """A line for each parameter. A method that maximises has one value and no interval."""
    point = bool((table["sd"] == 0.0).all())
    lines = ["parameter  estimate" if point else "parameter      mean        sd        5 %       95 %"]
    for one in table.to_dict("records"):
        mean, sd, low, high = (number(one[column], 4) for column in ("mean", "sd", "q5", "q95"))
        interval = "  (estimate, no interval)" if one["sd"] == 0.0 else f" {sd:>9} {low:>10} {high:>10}"
        lines.append(f"{one['name']:<10} {mean:>9}{interval}")
    return lines


def _trend(posterior: Posterior) -> str:
    shown = axes.describe(posterior.record)
    rate = shown.in_rate_unit(posterior.trend().set_index("term")).loc["rate"]
    forward = " forward in time" if shown.backwards else ""
    mean, sd = number(rate["mean"], 4), number(rate["sd"], 2)
    return f"linear trend{forward}: {mean} ± {sd} {shown.rate_unit}".rstrip()


def _inputs(posterior: Posterior, names: Sequence[str] | None) -> list[str]:
    """How far the inputs moved, and the dates in conflict."""
    if posterior.as_measured:
        return ["inputs: taken as measured; the known order is not used"]
    record, inputs, lines = posterior.record, posterior.inputs(), []
    uncertain = record.dated & ~record.exact
    if uncertain.any():
        shift = (inputs["mean"] - inputs["t"]).abs()[uncertain]
        kept = (inputs["sd"] / inputs["t_sd"])[uncertain].median()
        undated = "" if record.dated.all() else f", {(~record.dated).sum()} without a date"
        lines.append(
            f"inputs: {uncertain.sum()} uncertain, {record.exact.sum()} exact{undated}; moved by "
            f"{number(shift.median())} (median), {number(shift.max())} at most; standard deviations are "
            f"{percent(kept)} of those reported (median)"
        )
    found = conflicts(posterior, names)
    if (many := many_disagree(posterior, names)) is not None:
        lines.append(f"{many[0].upper()}: {many[1]}")
    return [*lines, conflict_summary(posterior, found) + (":" if found else ""),
            *(f"  {line}" for line in list_conflicts(found, LISTED))]  # fmt: skip
