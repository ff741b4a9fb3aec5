"""The field at all of its sites at once: the chain is run once for each draw, however many sites are asked for."""

from __future__ import annotations

import numpy as np

from ..support.cpus import in_parts
from . import chain
from .chain import Part
from .data import at_sites
from .prediction import Chosen, read_states
from .problem import FieldProblem

Array = np.ndarray


def curves_of_sites(problem: FieldProblem, chosen: Chosen, at: Array) -> Array:
    """Mean and variance of the level, then of the rate, of all sites at internal times at (M,): (4, sites, S, M)."""
    order, sites = np.argsort(at, kind="stable"), np.arange(len(problem.places))
    out = np.empty((4, len(sites), len(chosen.tau), len(at)))

    def one_part(some: slice) -> None:
        for k in range(some.start, some.stop):
            theta, data = problem.theta(chosen.phi[k]), problem.data_at(chosen.phi[k], chosen.extra_var)
            tau = chosen.tau[k, problem.measured].astype(float, copy=False)
            targets = at_sites(problem.field, problem.field.values(theta), sites)
            mean, covariance = chain.predict(problem.field, theta, data, tau, at[order], targets, None)
            variance = np.diagonal(covariance, axis1=1, axis2=2)
            level, rate = slice(len(sites)), slice(len(sites), None)
            for row, found in enumerate((mean[:, level], variance[:, level], mean[:, rate], variance[:, rate])):
                out[row][:, k, order] = found.T

    in_parts(len(chosen.tau), one_part)
    out[1::2] = np.maximum(out[1::2], 0.0)
    return out


def sample_sites(problem: FieldProblem, chosen: Chosen, at: Array, parts: list[Part], seed: int) -> Array:
    """Joint draws of the level of some parts at all sites, (S, sites, parts, M): those of ``prediction.sample``."""
    order, sites = np.argsort(at, kind="stable"), range(len(problem.places))
    times, out = at[order], np.empty((len(chosen.tau), len(sites), len(parts), len(at)))
    for k in range(len(chosen.tau)):
        rng = np.random.default_rng([seed, k])
        theta, data = problem.theta(chosen.phi[k]), problem.data_at(chosen.phi[k], chosen.extra_var)
        tau = chosen.tau[k, problem.measured].astype(float, copy=False)
        found = chain.run(problem.field, theta, data, tau)
        states, beta = chain.draw(problem.field, found, times, rng)
        for s in sites:
            targets = at_sites(problem.field, problem.field.values(theta), np.array([s]))
            for p, part in enumerate(parts):
                offset, columns = chain.trend_at(problem.field, data, times, targets, *part)
                level, _ = read_states(problem.field.layout, found.values, targets.mix[0], part.terms, times, states)
                out[k, s, p, order] = level + (offset + columns @ beta)[:, 0]
    return out
