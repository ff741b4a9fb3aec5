"""How the report words a method, and which works it cites."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..support.convergence import ESS, R_HAT
from ..support.numbers import count, number

#: What a method reports about itself: ``Draws.diagnostics``.
Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Words:
    """A method in words; each function gets the diagnostics of a fit, ``inference`` also the number of draws kept."""

    inference: Callable[[Facts, int], str]  #: how the posterior was computed
    evidence: Callable[[Facts], str]  #: what it reports about its convergence
    remedy: str  #: what to do about a fit that has not converged
    citations: Callable[[Facts], tuple[str, ...]]  #: keys of ``report/references.json``
    arguments: Callable[[Facts], str] = lambda facts: ""  #: what a call of ``fit`` must have beside the record
    inputs: Callable[[Facts], str] | None = None  #: the model of the inputs; None where it is that of the known order


def chain_evidence(facts: Facts) -> str:
    """What chains report about their convergence."""
    r_hat, ess = facts.get("r_hat", np.nan), facts.get("ess", np.nan)
    text = "The chains were too short to judge whether they agree."
    if np.isfinite(r_hat):
        text = (
            f"R-hat compares the chains and is near 1 if they agree: the worst of {judged_on(facts)} is "
            f"{r_hat:.3f}, and the limit is {R_HAT:g}. The smallest number of effective draws is {ess:.0f}, and "
            f"{ESS:g} are required."
        )
    text = f"{count(facts['chains'], 'independent chain')} were run. {text}"
    if facts.get("divergent"):
        text += f" {count(facts['divergent'], 'transition')} diverged."
    return text


def judged_on(facts: Facts) -> str:
    """What convergence was judged on."""
    if "r_hat_curve" not in facts or np.isnan(facts["r_hat_curve"]).any():
        return "all unknowns"
    return "all unknowns and points of the curve"


def best_parameters(facts: Facts, kept: int) -> str:
    """How a method that maximises computes the posterior."""
    return "Parameters are those that maximise the marginal likelihood times their prior."


def summit_evidence(facts: Facts) -> str:
    """What a method that maximises reports about its convergence."""
    return f"The largest log marginal likelihood, including the prior, is {number(facts['objective'], 5)}."


def chain_length(facts: Facts, kept: int, unit: str = "sweep") -> str:
    """How long chains were."""
    after = count(facts["sweeps"] - facts["warmup"], unit)
    chains = count(facts["chains"], "chain")
    return f"with {chains} of {after} after {facts['warmup']:,} of warm-up; {count(kept, 'draw')} were kept"
