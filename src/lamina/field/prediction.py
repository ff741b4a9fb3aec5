"""The field at a place, for each of several draws of inputs and parameters: what every answer is computed from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..kernels import Kernel, SpaceTime, Stationary, TrendTerm
from ..support.cpus import in_parts
from . import chain
from .chain import Part
from .data import Targets, at_sites, elsewhere
from .filter import Series, new_gains
from .layout import Layout, Values
from .paths import draw_path
from .problem import FieldProblem
from .transition import SLOPE

Array = np.ndarray


class Place(NamedTuple):
    """Where a field is predicted: at one of its sites, or at a latitude and longitude."""

    site: int = 0  #: number of the site; -1 for another place
    latitude: float = 0.0
    longitude: float = 0.0


class Chosen(NamedTuple):
    """Draws of a field."""

    tau: Array  #: (S, N)
    phi: Array  #: (S, P)
    extra_var: Array | None  #: (N,) variance to be added


def parts_of(kernel: Kernel) -> dict[str, Part]:
    """The parts of a field by name: what is common to all sites with the level, and by the kind of the terms in space.

    common: terms without a factor in space, and the common trend; linear: rates of the sites; regional: curves that
    neighbouring sites share; local: curves of each site; offset: constants of the sites. The field is their sum.
    """
    terms = [term for term in kernel.terms if not isinstance(term, TrendTerm)]
    names = [_role(term) for term in terms]
    found = {}
    for name in ("common", "linear", "regional", "local", "offset"):
        trend = name == "common" and bool(kernel.trend)
        if name in names or trend:
            found[name] = Part(np.array([one == name for one in names], dtype=np.bool_), trend)
    return found


def _role(term: Kernel) -> str:
    if not isinstance(term, SpaceTime):
        return "common"
    if term.is_linear:
        return "linear"
    if not isinstance(term.time, Stationary):
        return "offset"
    return "regional" if term.space.names else "local"


def has_rate(kernel: Kernel, part: Part) -> bool:
    """Whether a part of a field has a rate of change."""
    terms = [term for term in kernel.terms if not isinstance(term, TrendTerm)]
    return all(term.has_rate for term, wanted in zip(terms, part.terms, strict=True) if wanted)


def curves(problem: FieldProblem, chosen: Chosen, at: Array, place: Place, part: Part | None = None) -> Array:
    """Mean and variance of the level, then of the rate, at internal times at (M,): (4, S, M)."""
    order = np.argsort(at, kind="stable")
    out = np.empty((4, len(chosen.tau), len(at)))

    def one_part(some: slice) -> None:
        for k in range(some.start, some.stop):
            theta, data = problem.theta(chosen.phi[k]), problem.data_at(chosen.phi[k], chosen.extra_var)
            tau = chosen.tau[k, problem.measured].astype(float, copy=False)
            mean, covariance = chain.predict(
                problem.field, theta, data, tau, at[order], targets_at(problem, theta, place), part
            )
            out[:, k, order] = mean[:, 0], covariance[:, 0, 0], mean[:, 1], covariance[:, 1, 1]

    in_parts(len(chosen.tau), one_part)
    out[1::2] = np.maximum(out[1::2], 0.0)
    return out


def targets_at(problem: FieldProblem, theta: Array, place: Place) -> Targets:
    """A place as the target of a prediction."""
    field = problem.field
    if place.site >= 0:
        return at_sites(field, field.values(theta), np.array([place.site]))
    return elsewhere(field, theta, np.array([place.latitude]), np.array([place.longitude]))


def sample(
    problem: FieldProblem, chosen: Chosen, at: Array, place: Place, parts: list[Part], seed: int
) -> Iterator[Array]:
    """Joint draws of level and rate of some parts, one for each chosen draw: arrays (parts, 2, M).

    The same seed and times give the same draw of the field at every place.
    """
    order = np.argsort(at, kind="stable")
    times = at[order]
    for k in range(len(chosen.tau)):
        rng = np.random.default_rng([seed, k])
        theta, data = problem.theta(chosen.phi[k]), problem.data_at(chosen.phi[k], chosen.extra_var)
        tau = chosen.tau[k, problem.measured].astype(float, copy=False)
        found = chain.run(problem.field, theta, data, tau)
        states, beta = chain.draw(problem.field, found, times, rng)
        targets = targets_at(problem, theta, place)
        layout, mix = problem.field.layout, targets.mix[0]
        own = _own_paths(layout, found.values, targets.own[0], times, rng) if place.site < 0 else None
        drawn = np.empty((len(parts), 2, len(at)))
        for p, part in enumerate(parts):
            offset, columns = chain.trend_at(problem.field, data, times, targets, *part)
            drawn[p][:, order] = read_states(layout, found.values, mix, part.terms, times, states)
            drawn[p][:, order] += (offset + columns @ beta).T
            if own is not None:
                drawn[p][:, order] += own[part.terms].sum(axis=0)
        yield drawn


def read_states(layout: Layout, values: Values, mix: Array, wanted: Array, at: Array, states: Array) -> Array:
    """Level and rate (2, M) of some terms at a place that is mixed as in ``mix`` (R,), from states (M, D)."""
    found = np.zeros((2, len(at)))
    for k in np.flatnonzero(wanted):
        r, start, dim = int(layout.size[k]), int(layout.start[k]), int(layout.dim[k])
        weight = mix[layout.first[k] : layout.first[k] + r]
        level = states[:, start : start + r] @ weight
        if layout.linear[k]:
            found += (at - layout.origin[k]) * level, level
        else:
            found[0] += level
            if dim > 1:
                found[1] += values.rate[k] * SLOPE[dim] * (states[:, start + r : start + 2 * r] @ weight)
    return found


def _own_paths(layout: Layout, values: Values, own: Array, at: Array, rng: np.random.Generator) -> Array:
    """Draws of what a place shares with no site, (K, 2, M): paths from the prior of each term, variances own (K,)."""
    K = len(values.rate)
    edges = np.concatenate([[0], np.cumsum(layout.dim)]).astype(np.int64)
    alone = layout._replace(
        size=np.ones(K, dtype=np.int64),
        start=edges[:-1],
        first=np.arange(K),
        low=np.zeros((K, 1), dtype=np.int64),
        high=np.ones((K, 1), dtype=np.int64),
    )
    mix = np.sqrt(np.maximum(own, 0.0))
    nothing = Series(np.empty(0), np.empty(0, dtype=np.int64), np.empty((0, 1)), np.empty(0))
    states, gains = np.empty((len(at), int(edges[-1]))), new_gains(0, int(edges[-1]), 1)
    draw_path(alone, Values(values.rate, mix[None]), nothing, gains, np.empty(0), at, rng, states)
    return np.array([read_states(alone, values, mix, np.arange(K) == k, at, states) for k in range(K)])
