"""gp: Gaussian-process regression on the measured inputs.

The baseline: it ignores input errors and the order. Parameters maximise the marginal likelihood, Eq. (44).
"""

from __future__ import annotations

import time

import numpy as np

from ..model.problem import Problem
from . import UNDATED, Method
from .draws import Draws
from .maximise import maximise, several_starts
from .words import Words, best_parameters, summit_evidence


def run(problem: Problem, seed: int = 0, starts: int = 5) -> Draws:
    """Fit at tau = t."""
    began = time.perf_counter()
    tau = problem.rows.t
    best = maximise(problem, tau, np.zeros(len(tau)), several_starts(problem, seed, starts))
    diagnostics = {
        "method": "gp",
        "seconds": time.perf_counter() - began,
        "objective": best.value,
        "evaluations": best.evaluations,
        "converged": best.converged,
        "interrupted": best.interrupted,
    }
    return Draws.equal(tau[None], best.phi[None], diagnostics=diagnostics)


METHOD = Method(
    name="gp",
    run=run,
    title="Gaussian-process regression on the measured inputs",
    words=Words(
        inputs=lambda facts: "Errors of the inputs were ignored, and so was their known order.",
        inference=best_parameters,
        evidence=summit_evidence,
        remedy="Run it again with more starts, or give priors for the parameters.",
        citations=lambda facts: ("Rasmussen",),
    ),
    infers_inputs=False,
    has_gap_prior=False,
    has_places=True,
    lacks=(UNDATED,),
)
