"""The answer in plain words: what the curve did, what became of the inputs, and whether the fit can be trusted."""

from __future__ import annotations

import numpy as np

from ..kernels import Linear
from ..posterior import diagnosis
from ..support.convergence import ESS, R_HAT
from ..support.numbers import capitalised, count, decimals, fixed, join_words, number, percent, with_range, with_sd
from .content import Content


def when(content: Content, time: float, unit: bool = True) -> str:
    """A time, to a thousandth of the span, with its unit."""
    span = content.span
    places = max(decimals(span / 100.0) - 1, 0) if span else 3
    return f"{fixed(time, places)} {content.posterior.record.t_unit if unit else ''}".rstrip()


def answer(content: Content) -> list[str]:
    """Sentences: the change over the record, where it was fastest, and what the order did to the inputs."""
    record = content.posterior.record
    sentences = [*_change(content), *fastest(content)]
    if content.as_measured:
        sentences.append(
            f"The {count(len(record), 'input')} were taken as measured: this method does not use their known order."
        )
    else:
        sentences.extend(inputs_in_words(content))
    return sentences


def _change(content: Content) -> list[str]:
    if not len(content.whole):
        return []
    record, axes, whole = content.posterior.record, content.axes, content.whole.iloc[0]
    first, last = (whole["from"], whole["to"])[:: int(axes.time_sign)]
    span = (whole["to"] - whole["from"]) / abs(axes.rate_factor)
    change, low, high = (span * whole[name] for name in ("mean", "q2.5", "q97.5"))
    between = f"between {when(content, first, False)} and {when(content, last)}"
    sure = max(whole["p>0"], 1.0 - whole["p>0"])
    average = with_range(whole["mean"], whole["q2.5"], whole["q97.5"], axes.rate_unit)
    if sure < 0.95:
        return [
            f"{capitalised(record.y_name)} shows no clear change from end to end {between}: "
            f"{with_range(change, low, high, record.y_unit)}."
        ]
    did = "rose"
    if change < 0.0:
        did, change, low, high = "fell", -change, -high, -low
    by = with_range(change, low, high, record.y_unit)
    return [f"{capitalised(record.y_name)} {did} by {by} {between}, on average at {average}."]


def fastest(content: Content) -> list[str]:
    """Where, within the dated part, the rate is furthest from its average in standard deviations, if it clearly is."""
    if content.rate is None or not len(content.whole):
        return []
    table, axes, whole = content.rate, content.axes, content.whole.iloc[0]
    inside = table[table["at"].between(whole["from"], whole["to"])]
    if not len(inside):
        return []
    mean, *ends = (axes.rate_factor * inside[name] for name in ("mean", "q2.5", "q97.5"))
    low, high = ends[:: int(axes.time_sign)]
    if not ((low > 0.0) | (high < 0.0)).any():
        return ["At no single time is the rate clearly different from zero: its 95 % band always holds zero."]
    average = whole["mean"]
    away = (low > average) | (high < average)
    if not away.any():
        return ["At no time does the rate clearly differ from its average: the 95 % band always holds it."]
    peak = ((mean - average).abs() / inside["sd"])[away].idxmax()
    said = with_range(mean[peak], low[peak], high[peak], axes.rate_unit)
    return [f"The rate stands out most around {when(content, inside['at'][peak])}: {said}."]


def trend(content: Content) -> list[str]:
    """The rate of the linear trend, and what was known of it before."""
    if content.trend is None:
        return []
    axes = content.axes
    rate, factor = content.trend.set_index("term").loc["rate"], axes.rate_factor
    low, high = sorted((factor * rate["q2.5"], factor * rate["q97.5"]))
    said = with_range(factor * rate["mean"], low, high, axes.rate_unit)
    forward = " forward in time" if axes.backwards else ""
    (term,) = (term for term in content.posterior.problem.kernel.trend if isinstance(term, Linear))
    prior = "its prior is flat"
    if np.isfinite(term.sd):
        known = content.posterior.problem.record.sign * factor * term.mean
        prior = f"its prior was {with_sd(known, abs(factor) * term.sd)} {axes.rate_unit}".rstrip()
    return [f"The linear trend{forward} is {said}; {prior}."]


def inputs_in_words(content: Content) -> list[str]:
    """How far the uncertain inputs moved and how much their standard deviations shrank."""
    found = content.inputs[content.inputs["t_sd"] > 0.0]
    if not len(found):
        return ["All inputs are exact."]
    record, unit = content.posterior.record, content.axes.duration
    shift = np.abs(content.posterior.input_means - record.t)[record.dated & ~record.exact]
    kept = found["kept"].median()
    change = f"{'shrank' if kept < 1.0 else 'grew'} to {percent(kept)}"
    return [
        f"{'The curve' if content.facts['method'] == 'ensemble' else 'The order and the curve'} moved the dates by "
        f"{number(float(np.median(shift)), 2)} {unit}".rstrip()
        + f" (median; {number(shift.max(), 2)} at most), and their standard deviations {change} of those reported "
        "(median)."
    ]


def badges(content: Content) -> list[tuple[str, bool]]:
    """Short verdicts for the top of the page, and whether each is good news."""
    facts, n = content.facts, len(content.posterior.record)
    state = "interrupted" if facts["interrupted"] else "converged" if facts["converged"] else "not converged"
    found: list[tuple[str, bool]] = [(state, content.ok)]
    if not content.as_measured:
        conflicts = len(facts["conflicts"])
        found.append((f"{count(conflicts, 'date')} in conflict" if conflicts else "no date in conflict", not conflicts))
    return [*found, (count(n, "row"), True)]


def banner(content: Content) -> tuple[str, str] | None:
    """A heading and what to do, for a fit that should not be used as it is; None for one that may."""
    if content.facts["interrupted"]:
        return (
            "This fit was interrupted",
            "It shows what there was when it was stopped. Do not publish these numbers: run it again to the end.",
        )
    if content.facts["converged"]:
        return None
    remedy = {
        "mcmc": "Run it again with more sweeps, and look at the dates in conflict: one wrong date can hold up a chain.",
        "nuts": "Run it again with more draws, or use the method mcmc.",
        "npv": "Run it again with more steps, or use the method mcmc.",
        "nigp": "Where input errors are large this method may have no answer: use the method mcmc.",
        "ensemble": "If the data leave too few members, give more of them, or their covariance; else run it again with "
        "more sweeps.",
        "gp": "Run it again with more starts, or give priors for the parameters.",
    }
    return "This fit has not converged", f"Do not publish these numbers. {remedy[content.facts['method']]}"


def convergence(content: Content) -> list[str]:
    """What the method says about itself, in plain words."""
    facts = content.facts
    if facts["interrupted"]:
        begun = "The fit was interrupted and is not complete."
    elif facts["converged"]:
        begun = "The fit has converged."
    else:
        begun = "The fit has NOT converged."
    method = facts["method"]
    if method in ("mcmc", "nuts", "ensemble"):
        return [begun, *_chains(content)]
    if method == "npv":
        spread = np.ptp(facts["objectives"]) if len(facts.get("objectives", ())) > 1 else 0.0
        return [
            begun,
            f"The best of {count(len(facts['objectives']), 'start')} took {count(facts['steps'], 'step')} and reached "
            f"an objective of {number(facts['objective'], 5)}; all ended within {number(spread, 2)} of each other. "
            "The method approximates the posterior; compare with mcmc before you trust its widths.",
        ]
    if method == "nigp":
        return [
            begun,
            f"Slopes and parameters were found in turn, in {count(facts['steps'], 'step')}; in the last one the slopes "
            f"changed by {number(100 * facts['last_change'], 2)} %.",
        ]
    return [begun, f"The log marginal likelihood at the summit, with the prior, is {number(facts['objective'], 5)}."]


def _chains(content: Content) -> list[str]:
    facts = content.facts
    kept = len(content.posterior.draws.tau)
    text = [f"{count(facts['chains'], 'independent chain')} kept {count(kept, 'draw')} in all."]
    r_hat, ess = facts.get("r_hat", np.nan), facts.get("ess", np.nan)
    if np.isfinite(r_hat):
        text.append(
            f"The chains agree if R-hat is near 1: the worst of all inputs and parameters is {r_hat:.3f}, and "
            f"{R_HAT:g} is the limit. The fewest effective draws of any of them are {ess:.0f}, and {ESS:g} are asked "
            "for."
        )
    else:
        text.append("The chains were too short to tell whether they agree.")
    if "members" in facts:
        text.append(
            f"Of {count(facts['members'], 'member')} of the ensemble, the data leave as much weight as "
            f"{number(facts['effective_members'], 3)} equally likely ones would have. A handful cannot stand for the "
            "uncertainty of the ages."
        )
    if facts.get("divergent"):
        text.append(f"{count(facts['divergent'], 'transition')} diverged.")
    return text


def conflicts(content: Content) -> tuple[str, list[str]]:
    """Dates that the order or the curve contradicts: a sentence, and one line each."""
    if content.as_measured:
        return "Inputs were taken as measured, so none can be in conflict with the order.", []
    found = diagnosis.conflicts(content.posterior, content.names)
    summary = diagnosis.conflict_summary(content.posterior, found)
    if not found:
        return f"{summary[0].upper()}{summary[1:]}.", []
    remedy = "Check them: a sample may be reworked, mislabelled or out of place, or its error may be too small."
    return f"{summary}. {remedy}", diagnosis.list_conflicts(found)


def row_name(content: Content, row: int) -> str:
    """A row as the user knows it: its line in the table, or its position, and its label."""
    return diagnosis.row_name(content.posterior.record, row, content.names)


def check(content: Content) -> list[str]:
    """What residuals and the predictive check say."""
    foretold = content.residuals["loo_pit"].to_numpy()
    n = len(foretold)
    inside = [(level, int((np.abs(foretold - 0.5) <= level / 2).sum())) for level in (0.5, 0.95)]
    said = join_words(
        [f"{k} of {n} lie in the {percent(level)} range ({level * n:.0f} expected)" for level, k in inside]
    )
    known = content.values
    each = f"Of {known:,} values {n:,}, evenly taken, were each" if n < known else "Each value was"
    text = [f"{each} foretold from all the others: {said}."]
    half = inside[0][1]
    sd = np.sqrt(n * 0.25)
    if half > 0.5 * n + 3.0 * sd:
        text.append(
            "The values scatter less than their reported errors say. Either the errors are too large, and the band is "
            "wider than it need be; or neighbours share them, and the level is less certain than the band shows."
        )
    elif half < 0.5 * n - 3.0 * sd:
        text.append(
            "The values scatter more than their reported errors say. The errors may be too small; learn a factor for "
            'them with estimate="y_scale", or look for outliers.'
        )
    else:
        text.append("The scatter agrees with the reported errors.")
    far = int((content.residuals["scaled"].abs() > 3.0).sum())
    if far:
        text.append(
            f"{count(far, 'value')} lie{'s' if far == 1 else ''} more than 3 standard deviations off the curve."
        )
    return text
