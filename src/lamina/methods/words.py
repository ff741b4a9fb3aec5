"""How the report words a method, and the works it cites."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..support.convergence import ESS, R_HAT
from ..support.numbers import count, number

#: What a method reports about itself: ``Draws.diagnostics``.
Facts = Mapping[str, Any]

REFERENCES = {
    "Andrieu": "Andrieu, C., Doucet, A. & Holenstein, R. (2010). Particle Markov chain Monte Carlo methods. Journal of "
    "the Royal Statistical Society B 72, 269–342.",
    "Blaauw": "Blaauw, M. & Christen, J. A. (2011). Flexible paleoclimate age-depth models using an autoregressive "
    "gamma process. Bayesian Analysis 6, 457–474.",
    "Christen": "Christen, J. A. & Pérez, S. (2009). A new robust statistical model for radiocarbon data. Radiocarbon "
    "51, 1047–1059.",
    "Gershman": "Gershman, S., Hoffman, M. & Blei, D. (2012). Nonparametric variational inference. Proceedings of the "
    "29th International Conference on Machine Learning.",
    "Hoffman": "Hoffman, M. D. & Gelman, A. (2014). The No-U-Turn sampler: adaptively setting path lengths in "
    "Hamiltonian Monte Carlo. Journal of Machine Learning Research 15, 1593–1623.",
    "IntCal20": "Reimer, P. J. et al. (2020). The IntCal20 Northern Hemisphere radiocarbon age calibration curve "
    "(0–55 cal kBP). Radiocarbon 62, 725–757.",
    "Marine20": "Heaton, T. J. et al. (2020). Marine20: the marine radiocarbon age calibration curve (0–55,000 cal "
    "BP). Radiocarbon 62, 779–820.",
    "McHutchon": "McHutchon, A. & Rasmussen, C. E. (2011). Gaussian process training with input noise. Advances in "
    "Neural Information Processing Systems 24, 1341–1349.",
    "Murray": "Murray, I., Adams, R. P. & MacKay, D. J. C. (2010). Elliptical slice sampling. Proceedings of the 13th "
    "International Conference on Artificial Intelligence and Statistics.",
    "Rasmussen": "Rasmussen, C. E. & Williams, C. K. I. (2006). Gaussian Processes for Machine Learning. MIT Press.",
    "SHCal20": "Hogg, A. G. et al. (2020). SHCal20 Southern Hemisphere calibration, 0–55,000 years cal BP. Radiocarbon "
    "62, 759–778.",
    "Tran": "Tran, C., Pavlovic, V. & Kopp, R. (2015). Gaussian process for noisy inputs with ordering constraints. "
    "arXiv:1507.00052.",
    "Vehtari": "Vehtari, A., Gelman, A., Simpson, D., Carpenter, B. & Bürkner, P.-C. (2021). Rank-normalization, "
    "folding, and localization: an improved R-hat for assessing convergence of MCMC. Bayesian Analysis 16, 667–718.",
}


@dataclass(frozen=True)
class Words:
    """A method in words; each function gets the diagnostics of a fit, ``inference`` also the number of draws kept."""

    inference: Callable[[Facts, int], str]  #: how the posterior was computed
    evidence: Callable[[Facts], str]  #: what it reports about its convergence
    remedy: str  #: what to do about a fit that has not converged
    citations: Callable[[Facts], tuple[str, ...]]  #: keys of ``REFERENCES``
    arguments: Callable[[Facts], str] = lambda facts: ""  #: what a call of ``fit`` must have beside the record
    inputs: Callable[[Facts], str] | None = None  #: the model of the inputs; None where it is that of the known order


def chain_evidence(facts: Facts) -> str:
    """What chains report about their convergence."""
    r_hat, ess = facts.get("r_hat", np.nan), facts.get("ess", np.nan)
    text = "The chains were too short to judge whether they agree."
    if np.isfinite(r_hat):
        text = (
            f"R-hat compares the chains and is near 1 if they agree: the worst of all inputs and parameters is "
            f"{r_hat:.3f}, and the limit is {R_HAT:g}. The smallest number of effective draws is {ess:.0f}, and "
            f"{ESS:g} are required."
        )
    text = f"{count(facts['chains'], 'independent chain')} were run. {text}"
    if facts.get("divergent"):
        text += f" {count(facts['divergent'], 'transition')} diverged."
    return text


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
