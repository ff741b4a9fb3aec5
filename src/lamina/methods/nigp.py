"""nigp: the noisy-input Gaussian process of McHutchon & Rasmussen (2011).

An input error moves a point along the slope of the curve, so it adds f'(t)² t_var to the output variance, Eq. (68),
with f' the slope of the posterior mean at the measured inputs. Slopes and hyperparameters are found in turn. Full steps
of the slopes often cycle, so they are damped. For large input errors there may be no fixed point; the fit has then not
converged.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from ..errors import MethodError
from ..field.prediction import Chosen, Place
from ..field.prediction import curves as field_curves
from ..field.problem import as_field
from ..model.problem import Problem
from ..support.numbers import count, number
from . import UNDATED, Method
from .draws import Draws
from .maximise import maximise, several_starts
from .prediction import curves
from .words import Words, best_parameters

#: Damping of the slopes, and the relative change below which they have converged.
STEP, TOLERANCE = 0.2, 1e-3


def run(problem: Problem, seed: int = 0, starts: int = 5, max_steps: int = 100) -> Draws:
    """Fit at tau = t with slope-dependent output variance."""
    began = time.perf_counter()
    tau, t_var = problem.rows.t, problem.rows.t_var
    best = maximise(problem, tau, np.zeros(len(tau)), several_starts(problem, seed, starts))
    slopes = np.zeros(len(tau))
    change = np.inf
    steps = 0
    try:
        while steps < max_steps and change > TOLERANCE and not best.interrupted:
            extra = slopes**2 * t_var
            best = maximise(problem, tau, extra, [best.phi])
            found = _slopes(problem, best.phi, extra)
            change = float(np.abs(found - slopes).max() / max(np.abs(found).max(), 1e-300))
            slopes = slopes + STEP * (found - slopes)
            steps += 1
        interrupted = best.interrupted
    except KeyboardInterrupt:
        interrupted = True
    extra = slopes**2 * t_var
    best = maximise(problem, tau, extra, [best.phi])
    diagnostics = {
        "method": "nigp",
        "seconds": time.perf_counter() - began,
        "objective": best.value,
        "steps": steps,
        "last_change": change,
        "converged": bool(change <= TOLERANCE and best.converged),
        "interrupted": interrupted,
    }
    return Draws.equal(tau[None], best.phi[None], extra_var=extra, diagnostics=diagnostics)


def _slopes(problem: Problem, phi: np.ndarray, extra_var: np.ndarray) -> np.ndarray:
    """Slope of the posterior mean at the measured inputs, (N,)."""
    tau = problem.rows.t
    if problem.record.places is None:
        return curves(problem, Draws.equal(tau[None], phi[None], extra_var=extra_var), tau)[2][0]
    field, found = as_field(problem), np.empty(len(tau))
    for s in range(len(field.places)):
        here = field.places.index == s
        found[here] = field_curves(field, Chosen(tau[None], phi[None], extra_var), tau[here], [Place(s)])[2, 0, 0]
    return found


def _check(problem: Problem, options: dict[str, Any]) -> None:
    if not problem.kernel.has_rate:
        raise MethodError(
            'method="nigp" needs the slope of the curve, and with Matern12 it has none: use Matern32 or Matern52.'
        )


METHOD = Method(
    name="nigp",
    run=run,
    title="Gaussian-process regression with noisy inputs",
    words=Words(
        inputs=lambda facts: (
            "Errors of the inputs were turned into errors of the output through the slope of the curve (McHutchon & "
            "Rasmussen 2011); the known order of the inputs was not used."
        ),
        inference=best_parameters,
        evidence=lambda facts: (
            f"Slopes and parameters were found in turn, in {count(facts['steps'], 'step')}; in the last one the slopes "
            f"changed by {number(100 * facts['last_change'], 2)} %."
        ),
        remedy="Where input errors are large this method may have no solution: use the method mcmc.",
        citations=lambda facts: ("McHutchon", "Rasmussen"),
    ),
    infers_inputs=False,
    has_gap_prior=False,
    has_places=True,
    lacks=(UNDATED,),
    check_own=_check,
)
