"""The methods paragraph, ready to paste, and the references it needs; both follow from the fit."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..kernels import Kernel, Linear, Product, Stationary, Sum, TrendTerm
from ..kernels.space import SpaceTime, Spatial
from ..methods import Method
from ..methods.registry import METHODS
from ..methods.words import judged_on
from ..model.bridge import has_process
from ..model.model import Model
from ..model.parameters import T_SCALE
from ..model.priors import ACC_MEAN
from ..posterior.boxes import has_rate
from ..posterior.diagnosis import state_of
from ..posterior.summary import parameters
from ..records.axes import describe
from ..records.glossary import parameter
from ..support.numbers import capitalised, count, join_words, number, with_sd
from . import cores
from .content import Run
from .fields import words as field_words

if TYPE_CHECKING:
    from ..posterior.posterior import Posterior

_KERNELS = {
    "Matern12": "a Matérn kernel of order 1/2",
    "Matern32": "a Matérn kernel of order 3/2",
    "Matern52": "a Matérn kernel of order 5/2",
    "SquaredExponential": "a squared-exponential kernel",
    "RationalQuadratic": "a rational-quadratic kernel",
    "Periodic": "a periodic kernel",
}
_GAPS = {
    "gamma": "a gamma prior on the gaps between consecutive {inputs} of a sequence, with the mean gap integrated out "
    "and a shape α ≥ 1, which describes how regular the spacing is, {alpha}",
    "exponential": "an exponential prior on the gaps between consecutive {inputs} of a sequence, with the mean gap "
    "integrated out",
    "uniform": "a uniform prior over all {inputs} that have the known order",
    "gamma process": "a gamma process in depth as its prior: the time that a step in depth takes has a gamma "
    "distribution whose shape is proportional to the step, so that layers without a date and a value change nothing. "
    "The mean rate was integrated out, and the shape α over the usual distance of dates was {alpha}",
    "log-uniform": "a flat prior on the logarithms of the gaps between consecutive {inputs} of a sequence",
}


def references(posterior: Posterior, sources: Sequence[str] = ()) -> list[str]:
    """What a paper with this fit should cite, in alphabetical order. sources: of the data, by name."""
    facts, record = posterior.draws.diagnostics, posterior.record
    cited = {*_method(posterior).words.citations(facts), *(["Blaauw"] if posterior.model.memory else [])}
    for date in record.dates or ():
        cited |= {"Christen"} if type(date).__name__ == "StudentT" else {str(getattr(date, "curve", ""))}
    cited |= {"Christen"} if posterior.model.t_errors == "student" else set()
    cited |= {*sources, *(field_words.CITED if record.places is not None else ())}
    if not record.measured.any():
        cited.discard("Rasmussen")  # there is no curve
    known: dict[str, str] = json.loads((Path(__file__).parent / "references.json").read_text(encoding="utf-8"))
    return sorted(known[name] for name in cited & known.keys())


def _method(posterior: Posterior) -> Method:
    return METHODS[posterior.draws.diagnostics["method"]]


def paragraph(posterior: Posterior, run: Run) -> list[str]:
    """The methods in sentences."""
    return [
        _model(posterior),
        *_inputs(posterior),
        *_parameters(posterior),
        *_inference(posterior),
        _bands(posterior),
        f"Computed with lamina {run.version}{'' if run.seed is None else f' (seed {run.seed})'}.",
    ]


def call(posterior: Posterior, seed: int | None) -> str:
    """The fit as a line of Python, with all settings of the model that are not the usual ones."""
    model, facts, end = posterior.model, posterior.draws.diagnostics, f"seed={seed or 0})"
    has_curve, method = bool(posterior.record.measured.any()), _method(posterior)
    usual = Model() if has_curve else Model(t_errors="student", memory=True)
    names = [one.name for one in fields(Model) if one.name not in ("kernel", "gaps")]
    given = {name: getattr(model, name) for name in names if getattr(model, name) != getattr(usual, name)}
    plain = {name: dict(value) if isinstance(value, Mapping) else value for name, value in given.items()}
    options = "".join(f"{name}={value!r}, " for name, value in plain.items())
    gaps = f'gaps="{model.gaps}", '
    if not has_curve:
        return f"lamina.age_depth(record, {gaps if model.gaps != usual.gaps else ''}{options}{end}"
    own = gaps if method.has_gap_prior else method.words.arguments(facts)
    return f'lamina.fit(record, method="{facts["method"]}", {own}kernel={_code(model.kernel)}, {options}{end}'


def _code(kernel: Kernel | Spatial) -> str:
    """A kernel as Python; without its parameters, which are estimated, but with its other settings."""
    if isinstance(kernel, SpaceTime):
        return f"{_code(kernel.time)} * {_code(kernel.space)}"
    if isinstance(kernel, Product | Sum):
        return (" * " if isinstance(kernel, Product) else " + ").join(_code(part) for part in kernel.parts)
    if isinstance(kernel, Stationary):
        return f"lamina.{type(kernel).__name__}()"
    usual = vars(type(kernel)())
    known = {name: value for name, value in vars(kernel).items() if value != usual[name]}
    return f"lamina.{type(kernel).__name__}({', '.join(f'{name}={value!r}' for name, value in known.items())})"


def _model(posterior: Posterior) -> str:
    kernel, record = posterior.problem.kernel, posterior.record
    if record.depth is not None and not record.measured.any():
        dates, layers = count(int(record.dated.sum()), "date"), count(len(np.unique(record.depth)), "depth")
        between = "drawn from the same process" if has_process(posterior.problem) else "interpolated linearly in depth"
        return f"The ages of a core were modelled from {dates}, at {layers}. Ages between these were {between}."
    if record.places is not None:
        return field_words.model(posterior)
    parts = [f"an unknown {_trend(posterior, term)}, integrated out)" for term in kernel.trend]
    if kernel.stationary is not None:
        parts.append(f"a Gaussian process with {_kernel(kernel.stationary)}")
    measured = count(int(record.measured.sum()), "measurement")
    return (
        f"{capitalised(record.y_name)} was modelled as a function of time, from {measured}, by {' plus '.join(parts)} "
        "(Rasmussen & Williams 2006)."
    )


def _kernel(kernel: Kernel) -> str:
    if isinstance(kernel, Product | Sum):
        combined = "product" if isinstance(kernel, Product) else "sum"
        return f"the {combined} of {join_words([_kernel(part) for part in kernel.parts])}"
    return _KERNELS.get(type(kernel).__name__, f"a {type(kernel).__name__} kernel")


def _trend(posterior: Posterior, term: TrendTerm) -> str:
    """A term of the trend and its prior; rates as they are shown, forward in time."""
    axes = describe(posterior.record)
    kind, factor, unit = "level", 1.0, posterior.record.y_unit
    if isinstance(term, Linear):  # kept in internal time, whose sign is not the user's where the order is decreasing
        kind, factor, unit = "linear trend", posterior.problem.rate_to_user(axes.rate_factor), axes.rate_unit
    if not np.isfinite(term.sd):
        return f"{kind} (flat prior"
    return f"{kind} (normal prior, {with_sd(factor * term.mean, abs(factor) * term.sd)} {unit}".rstrip()


def _inputs(posterior: Posterior) -> list[str]:
    """The model of the inputs, which are called ages in an age-depth model."""
    words, record, columns = _method(posterior).words, posterior.record, posterior.theta.columns
    if words.inputs is not None:
        return [words.inputs(posterior.draws.diagnostics)]
    exact, one = int(record.exact.sum()), "input" if record.measured.any() else "age"
    sequences = [rows for _, rows in record.sequences if len(rows) > 1]
    ordered = f"{count(len(sequences), 'sequence')} of known order" if sequences else "no known order"
    if record.unordered.size and sequences:
        ordered += f" ({count(int(record.unordered.size), 'row')} in none)"
    if exact:
        ordered += f"; {count(exact, one)} {'is' if exact == 1 else 'are'} exact"
    error = "a normal error" if record.dates is None else "an error, normal unless noted,"
    text = [
        "Following Tran, Pavlovic & Kopp (2015), the true "
        f"{one}s are unknowns: each was measured independently, with {error} of "
        f"the reported standard deviation, and they form {ordered}."
    ]
    if sequences:
        is_process = posterior.model.gaps == "gamma" and record.depth is not None
        prior = _GAPS["gamma process" if is_process else posterior.model.gaps].format(
            inputs=f"{one}s", alpha="estimated from the data" if "alpha" in columns else "kept fixed"
        )
        text.append(f"The spacing of the {one}s had {prior}.")
    if ACC_MEAN in posterior.model.priors:
        median, factor = posterior.model.priors[ACC_MEAN]
        span = f"68 % from {number(median / factor)} to {number(median * factor)}"
        text.append(f"The mean time per unit of depth had an inverse-gamma prior with median {number(median)}, {span}.")
    if posterior.model.memory:
        text.append(
            "Neighbouring gaps were correlated, as in the models of Blaauw & Christen (2011): the accumulation rate of "
            "a gap was exp(-distance / memory) times that of the gap before it, plus a new part drawn from the prior."
        )
    text += cores.methods(posterior)
    scaled = [word for name, word in (("t_scale", "dates"), ("y_scale", "outputs")) if name in columns]
    if scaled:
        what = join_words(scaled)
        text.append(f"Reported errors of the {what} were taken as known up to a common factor, which was estimated.")
    return text


def _parameters(posterior: Posterior) -> list[str]:
    problem, record = posterior.problem, posterior.record
    priors = []
    for one in parameters(posterior).to_dict("records"):
        words, unit = parameter(record, str(one["name"]), problem.kernel)
        symbol = {"length": "length scale", "alpha": "α"}.get(str(one["name"]), words)
        span = f"{number(one['prior_low'])} to {number(one['prior_high'])} {unit}".rstrip()
        priors.append(f"{symbol}: median {number(one['prior_median'])}, 68 % from {span}")
    least = {"alpha": problem.least_alpha}
    fixed = [
        f"{parameter(record, name, problem.kernel)[0]} {number(float(np.exp(problem.start[i])) + least.get(name, 0.0))}"
        for i, name in enumerate(problem.names[:T_SCALE])
        if not problem.free[i] and _has_parameter(posterior, name)
    ]
    text = [f"Parameters had log-normal priors ({'; '.join(priors)})."] if priors else []
    return [*text, f"Fixed parameters: {join_words(fixed)}."] if fixed else text


def _has_parameter(posterior: Posterior, name: str) -> bool:
    """Whether the model has this parameter, estimated or fixed."""
    model, rows = posterior.model, posterior.problem.rows
    gaps = model.gaps == "gamma" and _method(posterior).has_gap_prior and bool((rows.gaps > 0).any())
    return {"memory": model.memory, "alpha": gaps}.get(name, bool(posterior.record.measured.any()))


def _inference(posterior: Posterior) -> list[str]:
    facts = posterior.draws.diagnostics
    text = [_method(posterior).words.inference(facts, len(posterior.draws.tau))]
    if np.isfinite(facts.get("r_hat", np.nan)):
        text.append(
            f"The largest R-hat of {judged_on(facts)} (Vehtari et al. 2021) was {facts['r_hat']:.3f} and the "
            f"smallest effective sample size {facts['ess']:.0f}."
        )
    return text if state_of(facts) == "converged" else [*text, "THE FIT HAS NOT CONVERGED."]


def _bands(posterior: Posterior) -> str:
    if not posterior.record.measured.any():
        return "Ages are given with their median and the range from the 2.5 to the 97.5 % quantile (95 %)."
    rates = "Rates are derivatives of the curve, not differences. " if has_rate(posterior) else ""
    averaged = f"average over {count(posterior.averaged, 'draw')} and " if posterior.averaged > 1 else ""
    return (
        f"{rates}Curves{' and rates' if rates else ''} {averaged}are given with their mean and the ranges from "
        "the 16 to the 84 % quantile (68 %) and from the 2.5 to the 97.5 % quantile (95 %)."
    )
