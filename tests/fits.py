"""A small record and fits of it by every method, made once and shared by the tests that look at results."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np

import lamina
from lamina.methods.draws import Draws
from lamina.model.model import Model
from lamina.model.problem import build_problem

#: Those that take any record; "ensemble" needs the ages of each one, and has its own tests.
METHODS = ("gp", "nigp", "npv", "mcmc", "nuts")
#: Small on purpose: what is tested is what the methods return, not how well they have converged.
OPTIONS = {
    "gp": {},
    "nigp": {},
    "npv": {"restarts": 2, "draws": 200},
    "mcmc": {"draws": 400, "max_sweeps": 100, "warmup": 300},
    "nuts": {"draws": 80, "warmup": 100, "chains": 2},
}
TRUE = np.array([0.3, 1.1, 2.3, 2.9, 4.2, 5.0, 5.7, 7.1, 7.9, 9.2])
#: Of the record as it is by default only: the ages are those of its rows.
OPTIONS["ensemble"] = {
    "members": TRUE + 0.3 * np.random.default_rng(8).standard_normal((2000, len(TRUE))),
    "draws": 400,
    "max_sweeps": 100,
    "warmup": 300,
}


def truth(t):
    """The curve behind the record."""
    return 3.0 + np.sin(0.8 * np.asarray(t))


def record(t_sd=0.3, y_sd=0.1, seed=0, true=TRUE, **rest) -> lamina.Record:
    """Rows at the inputs ``true``, measured with errors; t_sd may be 0."""
    rng = np.random.default_rng(seed)
    t_noise, y_noise = rng.standard_normal(len(true)), rng.standard_normal(len(true))
    return lamina.Record(t=true + t_sd * t_noise, t_sd=t_sd, y=truth(true) + y_sd * y_noise, y_sd=y_sd, **rest)


def quietly(*args, **options) -> lamina.Posterior:
    """lamina.fit without the warning that it has not converged."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lamina.NotConverged)
        return lamina.fit(*args, **options)


@cache
def posterior(method: str) -> lamina.Posterior:
    """The record fitted by one method."""
    return quietly(record(), method, seed=1, **OPTIONS[method])


def at_known(record: lamina.Record, kernel: lamina.kernels.Kernel, mean: str | None = None) -> lamina.Posterior:
    """What is found where the inputs are as measured and the kernel as given: nothing is fitted."""
    problem = build_problem(
        record, Model(kernel, mean=mean, fixed=dict(zip(kernel.names, np.exp(kernel.theta), strict=True)))
    )
    draws = Draws.equal(problem.to_internal(record.t)[None], problem.start[None], diagnostics={"method": "mcmc"})
    return lamina.Posterior(problem, draws)
