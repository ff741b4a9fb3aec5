"""Posteriors whose draws were made by hand: no sampler is run or compiled."""

import numpy as np
from texts import EVIL

import lamina
from lamina.methods.draws import Draws
from lamina.model.model import Model
from lamina.model.problem import build_problem
from lamina.posterior.posterior import Posterior
from lamina.records.layers import add_layers

DEPTH = np.array([0.0, 10.0, 20.0, 30.0, 40.0])
TRUE = 100.0 + 20.0 * DEPTH
FACTS = {
    "method": "mcmc", "seconds": 1.0, "converged": True, "interrupted": False, "chains": 4,
    "sweeps": 300, "warmup": 100, "r_hat": 1.002, "ess": 812.0,
}  # fmt: skip


def core(**fields) -> lamina.Record:
    """Five dates, the fourth of them 400 years too old."""
    nothing = {"y": np.full(5, np.nan), "y_sd": np.full(5, np.inf), "y_name": ""}
    names = {"t_name": "age", "t_unit": "cal BP", "depth_unit": "cm", "label": [EVIL, *"bcde"]}
    dated = {"t": TRUE + np.array([0.0, 0.0, 0.0, 400.0, 0.0]), "t_sd": 15.0, "depth": DEPTH}
    return lamina.Record(**dated | nothing | names | fields)


def age_model(record: lamina.Record, **facts) -> Posterior:
    """Draws about the true ages, in the layers of a model of eight steps."""
    layers = add_layers(record, 8)[0]
    problem, rng = build_problem(layers, Model()), np.random.default_rng(0)
    ages = np.sort(100.0 + 20.0 * layers.depth + 10.0 * rng.standard_normal((50, len(layers))), axis=1)
    phi = problem.start + 0.2 * rng.standard_normal((50, len(problem.start)))
    return Posterior(problem, Draws.equal(problem.to_internal(ages), phi, diagnostics=FACTS | facts, chains=1))


def unsampled(record: lamina.Record, **model) -> Posterior:
    """One draw at the reported inputs and the prior medians, as if mcmc had made it; no value is an outlier."""
    problem = build_problem(record, Model(**model))
    ones, zeros = np.ones((1, len(problem.rows.t))), np.zeros((1, len(problem.rows.t)))
    parts = {"factor": ones, "shift": zeros} if problem.has_renewals else {}
    draws = Draws.equal(
        problem.rows.t[None].copy(), problem.start[None], diagnostics=FACTS | {"converged": False}, **parts
    )
    return Posterior(problem, draws)
