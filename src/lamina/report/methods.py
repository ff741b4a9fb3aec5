"""The methods paragraph, ready to paste, and the references it needs; both follow from the fit."""

from __future__ import annotations

import numpy as np

from ..kernels import Kernel, Linear, Product, Sum, TrendTerm
from ..records.glossary import parameter
from ..support.numbers import capitalised, count, join_words, number, with_sd
from . import cores
from .content import Content

REFERENCES = {
    "Tran": "Tran, C., Pavlovic, V. & Kopp, R. (2015). Gaussian process for noisy inputs with ordering constraints. "
    "arXiv:1507.00052.",
    "Rasmussen": "Rasmussen, C. E. & Williams, C. K. I. (2006). Gaussian Processes for Machine Learning. MIT Press.",
    "Vehtari": "Vehtari, A., Gelman, A., Simpson, D., Carpenter, B. & Bürkner, P.-C. (2021). Rank-normalization, "
    "folding, and localization: an improved R-hat for assessing convergence of MCMC. Bayesian Analysis 16, 667–718.",
    "McHutchon": "McHutchon, A. & Rasmussen, C. E. (2011). Gaussian process training with input noise. Advances in "
    "Neural Information Processing Systems 24, 1341–1349.",
    "Blaauw": "Blaauw, M. & Christen, J. A. (2011). Flexible paleoclimate age-depth models using an autoregressive "
    "gamma process. Bayesian Analysis 6, 457–474.",
    "Gershman": "Gershman, S., Hoffman, M. & Blei, D. (2012). Nonparametric variational inference. Proceedings of the "
    "29th International Conference on Machine Learning.",
    "Andrieu": "Andrieu, C., Doucet, A. & Holenstein, R. (2010). Particle Markov chain Monte Carlo methods. Journal of "
    "the Royal Statistical Society B 72, 269–342.",
    "Murray": "Murray, I., Adams, R. P. & MacKay, D. J. C. (2010). Elliptical slice sampling. Proceedings of the 13th "
    "International Conference on Artificial Intelligence and Statistics.",
    "Hoffman": "Hoffman, M. D. & Gelman, A. (2014). The No-U-Turn sampler: adaptively setting path lengths in "
    "Hamiltonian Monte Carlo. Journal of Machine Learning Research 15, 1593–1623.",
}
_CITED = {
    "mcmc": ("Tran", "Rasmussen", "Vehtari"),
    "nuts": ("Tran", "Rasmussen", "Vehtari", "Hoffman"),
    "npv": ("Tran", "Rasmussen", "Gershman"),
    "nigp": ("McHutchon", "Rasmussen"),
    "gp": ("Rasmussen",),
}
_KERNELS = {
    "Matern12": "a Matérn kernel of order 1/2",
    "Matern32": "a Matérn kernel of order 3/2",
    "Matern52": "a Matérn kernel of order 5/2",
    "SquaredExponential": "a squared-exponential kernel",
    "RationalQuadratic": "a rational-quadratic kernel",
    "Periodic": "a periodic kernel",
}
_GAPS = {
    "gamma": "a gamma prior on the gaps between consecutive inputs of a sequence, with the mean gap integrated out and "
    "a shape α ≥ 1, which says how regular the spacing is, {alpha}",
    "exponential": "an exponential prior on the gaps between consecutive inputs of a sequence, with the mean gap "
    "integrated out",
    "uniform": "a uniform prior over all inputs that have the known order",
    "log-uniform": "a flat prior on the logarithms of the gaps between consecutive inputs of a sequence",
}


def references(content: Content) -> list[str]:
    """What a paper with this fit should cite, in the order of the alphabet."""
    if content.facts["method"] == "ensemble":
        return sorted(REFERENCES[name] for name in ("Rasmussen", "Vehtari", _ages(content)[1]))
    cited = [*_CITED[content.facts["method"]], *(["Blaauw"] if content.posterior.model.memory else [])]
    return sorted(REFERENCES[name] for name in cited)


def paragraph(content: Content, version: str, seed: int | None) -> list[str]:
    """The methods in sentences."""
    return [
        *_model(content),
        *_inputs(content),
        *_parameters(content),
        _inference(content),
        _bands(content),
        f"Computed with lamina {version}{'' if seed is None else f' (seed {seed})'}.",
    ]


def call(content: Content, seed: int | None) -> str:
    """The fit as a line of Python; priors, fixed parameters and trends of the user's own are not in it."""
    problem = content.posterior.problem
    kinds = [type(term).__name__ for term in problem.kernel.terms if not isinstance(term, TrendTerm)]
    kernel = "" if "Product" in kinds or not kinds else f"kernel={' + '.join(f'lamina.{kind}()' for kind in kinds)}, "
    method = content.facts["method"]
    if method == "ensemble":
        return f'lamina.fit(record, method="ensemble", {kernel}{_ages(content)[0]}=..., seed={seed or 0})'
    rest = "".join(
        f"{name}={value!r}, "
        for name, value in (
            ("outliers", problem.model.outliers),
            ("offsets", problem.model.offsets),
            ("memory", problem.model.memory),
        )
        if value
    )
    return f'lamina.fit(record, method="{method}", {kernel}gaps="{problem.model.gaps}", {rest}seed={seed or 0})'


def _ages(content: Content) -> tuple[str, str]:
    """How another age model gave the inputs, and what to cite for their sampler."""
    return ("members", "Andrieu") if "members" in content.facts else ("covariance", "Murray")


def meaning(content: Content, name: str) -> tuple[str, str]:
    """What a parameter is, in words, and its unit."""
    return parameter(content.posterior.record, name)


def _model(content: Content) -> list[str]:
    problem, record = content.posterior.problem, content.posterior.record
    parts = [f"an unknown {_trend(content, term)}, integrated out)" for term in problem.kernel.trend]
    if problem.kernel.stationary is not None:
        parts.append(f"a Gaussian process with {_kernel(problem.kernel.stationary)}")
    measured = count(int(record.measured.sum()), "measurement")
    return [
        f"{capitalised(record.y_name)} was modelled as a function of time, from {measured}, by "
        f"{' plus '.join(parts)} (Rasmussen & Williams 2006)."
    ]


def _kernel(kernel: Kernel) -> str:
    if isinstance(kernel, Product):
        return "the product of " + join_words([_kernel(part) for part in kernel.parts])
    if isinstance(kernel, Sum):
        return "the sum of " + join_words([_kernel(part) for part in kernel.parts])
    return _KERNELS.get(type(kernel).__name__, f"a {type(kernel).__name__} kernel")


def _trend(content: Content, term: TrendTerm) -> str:
    """A term of the trend and its prior; rates as they are shown, forward in time."""
    record, axes = content.posterior.record, content.axes
    kind, factor, unit = "level", 1.0, record.y_unit
    if isinstance(term, Linear):  # kept in internal time, whose sign is not the user's where the order is decreasing
        kind, factor, unit = "linear trend", content.posterior.problem.record.sign * axes.rate_factor, axes.rate_unit
    if not np.isfinite(term.sd):
        return f"{kind} (flat prior"
    return f"{kind} (normal prior, {with_sd(factor * term.mean, abs(factor) * term.sd)} {unit}".rstrip()


def _inputs(content: Content) -> list[str]:
    problem, record = content.posterior.problem, content.posterior.record
    method, exact = content.facts["method"], int(record.exact.sum())
    if method == "gp":
        return ["Errors of the inputs were ignored, and so was their known order."]
    if method == "nigp":
        return [
            "Errors of the inputs were turned into errors of the output through the slope of the curve (McHutchon & "
            "Rasmussen 2011); the known order of the inputs was not used."
        ]
    if method == "ensemble":
        prior = "normal errors with the covariance that another age model had found"
        if "members" in content.facts:
            prior = (
                f"the {count(content.facts['members'], 'member')} of the ensemble that another age model had found, "
                "all equally likely before the data were seen"
            )
        return [
            f"The true inputs are unknowns, whose prior was given by {prior}. The known order, which that model had "
            "used, was not used again."
        ]
    alpha = "learnt from the data" if "alpha" in content.posterior.theta.columns else "kept fixed"
    prior = _GAPS[problem.model.gaps].format(alpha=alpha)
    sequences = [rows for _, rows in record.sequences if len(rows) > 1]
    ordered = f"{count(len(sequences), 'sequence')} of known order" if sequences else "no known order"
    loose = record.unordered.size
    text = [
        "Following Tran, Pavlovic & Kopp (2015), the true inputs are unknowns: each was measured with an independent "
        f"{'' if record.dates is None else 'error, unless said otherwise a '}normal "
        f"error of the reported standard deviation, and they form {ordered}"
        + (f" ({count(int(loose), 'row')} in none)" if loose and sequences else "")
        + (f"; {count(exact, 'input')} {'is' if exact == 1 else 'are'} exact" if exact else "")
        + "."
    ]
    if sequences:
        text.append(f"The spacing of the inputs had {prior}.")
    if problem.model.memory:
        text.append(
            "The pace of a gap lasted into the next, as in the models of Blaauw & Christen (2011): it was that "
            "of the gap before it times exp(-distance / memory), and for the rest new, as the prior says."
        )
    text.extend(cores.methods(content))
    scaled = [name for name in ("t_scale", "y_scale") if name in content.posterior.theta.columns]
    if scaled:
        what = join_words(["inputs" if name == "t_scale" else "outputs" for name in scaled])
        text.append(f"Reported errors of the {what} were taken as known up to a common factor, which was learnt.")
    return text


def _plays_a_part(content: Content, name: str) -> bool:
    """Whether the model has this parameter, known or not."""
    problem = content.posterior.problem
    gaps = problem.model.gaps == "gamma" and content.facts["method"] in ("mcmc", "nuts", "npv")
    return {"memory": problem.model.memory, "alpha": gaps and bool((problem.rows.gaps > 0).any())}.get(name, True)


def _parameters(content: Content) -> list[str]:
    problem = content.posterior.problem
    priors = []
    for one in content.theta.to_dict("records"):
        said, unit = meaning(content, str(one["name"]))
        symbol = {"length": "length scale", "alpha": "α"}.get(str(one["name"]), said)
        span = f"{number(one['prior_low'])} to {number(one['prior_high'])} {unit}".rstrip()
        priors.append(f"{symbol}: median {number(one['prior_median'])}, 68 % from {span}")
    fixed = [
        f"{meaning(content, name)[0]} {number(float(np.exp(problem.start[i])) + (name == 'alpha'))}"
        for i, name in enumerate(problem.names[:-2])
        if not problem.free[i] and _plays_a_part(content, name)
    ]
    text = [f"Parameters had log-normal priors ({'; '.join(priors)})."] if priors else []
    return [*text, f"Kept fixed: {join_words(fixed)}."] if fixed else text


def _inference(content: Content) -> str:
    facts, kept = content.facts, len(content.posterior.draws.tau)
    method = facts["method"]
    evidence = ""
    if np.isfinite(facts.get("r_hat", np.nan)):
        evidence = (
            f" The largest R-hat of all inputs and parameters (Vehtari et al. 2021) was {facts['r_hat']:.3f} and the "
            f"smallest effective sample size {facts['ess']:.0f}."
        )
    failed = "" if content.ok else " THE FIT HAS NOT CONVERGED."
    if method == "mcmc":
        after = facts["sweeps"] - facts["warmup"]
        return (
            "Inputs and parameters were sampled together by Metropolis-within-Gibbs, with "
            f"{count(facts['chains'], 'chain')} of {count(after, 'sweep')} after {facts['warmup']:,} of warm-up; "
            f"{count(kept, 'draw')} were kept.{evidence}{failed}"
        )
    if method == "ensemble":
        after = facts["sweeps"] - facts["warmup"]
        how = {"Andrieu": "conditional importance resampling (Andrieu et al. 2010)"}
        sampler = how.get(_ages(content)[1], "elliptical slice sampling (Murray et al. 2010)")
        return (
            f"Inputs, by {sampler}, and parameters, by Metropolis's algorithm, were sampled together, with "
            f"{count(facts['chains'], 'chain')} of {count(after, 'round')} after {facts['warmup']:,} of warm-up; "
            f"{count(kept, 'draw')} were kept.{evidence}{failed}"
        )
    if method == "nuts":
        return (
            "Inputs and parameters were sampled together with the No-U-Turn sampler (Hoffman & Gelman 2014), with "
            f"{count(facts['chains'], 'chain')} after {facts['warmup']:,} steps of warm-up; {count(kept, 'draw')} were "
            f"kept.{evidence}{failed}"
        )
    if method == "npv":
        averaged = (
            f"the curve was averaged over {count(kept, 'draw')} from it" if kept > 1 else "its mean inputs were put in"
        )
        return (
            "The posterior of the inputs was approximated by a mixture of Gaussians (nonparametric variational "
            f"inference, Gershman et al. 2012), the best of {count(len(facts['objectives']), 'start')}, with "
            f"parameters at their best values; {averaged}.{failed}"
        )
    return f"Parameters are those that maximise the marginal likelihood times their prior.{failed}"


def _bands(content: Content) -> str:
    kept = content.posterior.averaged
    averaged = f"average over {count(kept, 'draw')} and " if kept > 1 else ""
    rates = "Rates are derivatives of the curve, not differences. " if content.rate is not None else ""
    return (
        f"{rates}Curves{' and rates' if rates else ''} {averaged}are given with their mean, one standard deviation "
        "(68 %) and the range from the 2.5 to the 97.5 % quantile (95 %)."
    )
