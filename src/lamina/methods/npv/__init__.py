"""npv: the paper's method, non-parametric variational inference (Gershman, Hoffman & Blei 2012) on (start, log-gaps).

The means climb the first-order objective together with the parameters, the variances the second-order one, in turn. A
step of the means is shortened until the second-order objective F, Eq. (64), rises, so F rises at every outer step. Of
several random starts the one with the highest F is used. Prediction averages over Q ("mixture"), or uses the expected
inputs ("plugin", as the paper does).

An exact row at the beginning of a sequence is treated as measured with a very small error. Where the log-likelihood
curves upwards, the second-order term is set to zero: it would reward ever larger variances.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import MethodError
from ...model.problem import Problem
from ...support.cpus import available_cpus
from ...support.numbers import count, number
from .. import EQUAL_DEPTHS, LEAST_GAPS, TABULATED, UNDATED, Method
from ..draws import Draws
from ..words import Facts, Words
from .covariance import COVARIANCES
from .inference import Inference

#: What prediction averages over, or inserts.
PREDICTIONS = ("mixture", "plugin")
#: Error given to exact rows of a sequence, as a part of the smallest uncertain one.
NEARLY_EXACT = 1e-3


def run(
    problem: Problem,
    seed: int = 0,
    components: int = 3,
    restarts: int = 5,
    draws: int = 1000,
    prediction: str = "mixture",
    covariance: str = "diagonal",
    max_steps: int = 50,
    cores: int | None = None,
) -> Draws:
    """Fit Q from several starts and draw from the best."""
    began = time.perf_counter()
    inference = Inference(_uncertain_everywhere(problem), components, max_steps, covariance)
    seeds = np.random.SeedSequence(seed).spawn(restarts + 1)
    with ThreadPoolExecutor(min(restarts, cores or available_cpus())) as pool:
        climbs = [pool.submit(inference.climb, one) for one in seeds[:restarts]]
        try:
            wait(climbs)
        except KeyboardInterrupt:
            inference.interrupted.set()  # each climb stops where it is
        found = [climb.result() for climb in climbs]
    best = max(found, key=lambda f: f.history[-1])
    tau = inference.expected(best)[None]
    if prediction == "mixture":
        tau = inference.draw(best, draws, np.random.default_rng(seeds[-1]))
    tau[:, problem.record.exact] = problem.rows.t[problem.record.exact]
    diagnostics = {
        "method": "npv",
        "seconds": time.perf_counter() - began,
        "objective": best.history[-1],
        "objectives": [one.history[-1] for one in found],
        "history": best.history,
        "steps": len(best.history) - 1,
        "prediction": prediction,
        "covariance": covariance,
        "converged": not inference.interrupted.is_set() and 1 < len(best.history) <= max_steps,
        "interrupted": inference.interrupted.is_set(),
    }
    return Draws.equal(tau, np.tile(best.phi, (len(tau), 1)), diagnostics=diagnostics)


def _uncertain_everywhere(problem: Problem) -> Problem:
    """The problem with a very small error for an exact row at the beginning of a sequence: that pins its start."""
    record, inside = problem.record, _exact_inside(problem)
    if not inside.any():
        return problem
    small = NEARLY_EXACT * record.t_sd[~record.exact].min()
    t_sd = np.where(inside, small, record.t_sd)
    changed = replace(record, t_sd=t_sd)
    scale = np.where(inside, small, problem.scale)
    return replace(problem, record=changed, rows=problem.rows._replace(t_var=t_sd**2), scale=scale)


def _exact_inside(problem: Problem) -> np.ndarray:
    """(N,) which rows are exact and part of a sequence."""
    return problem.record.exact & (problem.rows.sequence >= 0)


def _check_exact(problem: Problem) -> None:
    """An exact row after the first of a sequence would pin a sum of gaps, which a Q of independent gaps cannot follow.

    Raises MethodError for one, and if there is nothing to infer.
    """
    if problem.record.exact.all():
        raise MethodError('method="npv" has no uncertain input to infer here: use method="gp".')
    further = _exact_inside(problem) & (problem.rows.before >= 0)
    if further.any():
        raise MethodError(
            'method="npv" cannot hold an exact input inside a sequence, as in {rows}. '
            'Use method="mcmc", '
            "take the row out of the sequence by leaving its label empty, or give it a t_sd above 0.",
            rows=np.flatnonzero(further[problem.layer]),
        )


def _check(problem: Problem, options: dict[str, Any]) -> None:
    _check_exact(problem)
    for name, known in ("prediction", PREDICTIONS), ("covariance", COVARIANCES):
        value = options.get(name, known[0])
        if not isinstance(value, str) or value not in known:
            choices = " or ".join(f'"{one}"' for one in known)
            raise MethodError(f"{name} must be {choices}, got {value!r}.")


def _inference_in_words(facts: Facts, kept: int) -> str:
    averaged = f"the curve was averaged over {count(kept, 'draw')} from it" if kept > 1 else "its means were used"
    return (
        "The posterior was approximated by a mixture of Gaussians with "
        f"{facts.get('covariance', 'diagonal')} covariance (nonparametric variational inference, "
        f"Gershman et al. 2012), the best of {count(len(facts['objectives']), 'start')}, with parameters at their best "
        f"values; {averaged}."
    )


def _evidence_in_words(facts: Facts) -> str:
    return (
        f"The best of {count(len(facts['objectives']), 'start')} took {count(facts['steps'], 'step')} and reached an "
        f"objective of {number(facts['objective'], 5)}; all ended within {number(np.ptp(facts['objectives']), 2)} of "
        "each other. The method approximates the posterior; compare with mcmc before you trust its widths."
    )


METHOD = Method(
    name="npv",
    run=run,
    title="nonparametric variational inference",
    words=Words(
        inference=_inference_in_words,
        evidence=_evidence_in_words,
        remedy="Run it again with more steps, or use the method mcmc.",
        citations=lambda facts: ("Tran", "Rasmussen", "Gershman"),
    ),
    infers_inputs=True,
    has_gap_prior=True,
    lacks=(UNDATED, TABULATED, EQUAL_DEPTHS, LEAST_GAPS),
    check_own=_check,
)
