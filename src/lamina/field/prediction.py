"""The field at a place, for each of several draws of inputs and parameters: what every answer is computed from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..kernels import Kernel, SpaceTime, Stationary
from ..support.cpus import in_parts
from . import chain
from .chain import Part
from .data import Data, Targets, at_sites, elsewhere
from .filter import Series, new_gains
from .layout import Layout, Values, terms_with_states
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
    terms = terms_with_states(kernel)
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
    terms = terms_with_states(kernel)
    return all(term.has_rate for term, wanted in zip(terms, part.terms, strict=True) if wanted)


def curves(
    problem: FieldProblem, chosen: Chosen, at: Array, places: Sequence[Place], part: Part | None = None
) -> Array:
    """Mean and variance of the level, then of the rate, at P places and internal times at (M,): (4, S, P, M)."""
    order, P = np.argsort(at, kind="stable"), len(places)
    out = np.empty((4, len(chosen.tau), P, len(at)))

    def one_part(some: slice) -> None:
        for k in range(some.start, some.stop):
            theta, data, tau = _draw_of(problem, chosen, k)
            targets = targets_at(problem, theta, places)
            mean, covariance = chain.predict(problem.field, theta, data, tau, at[order], targets, part)
            variance = np.diagonal(covariance, axis1=1, axis2=2)
            out[:, k, :, order] = np.stack(
                [mean[:, :P], variance[:, :P], mean[:, P:], variance[:, P:]], axis=1
            )  # (M, 4, P): NumPy puts the axis of an index array first

    in_parts(len(chosen.tau), one_part)
    out[1::2] = np.maximum(out[1::2], 0.0)
    return out


def _draw_of(problem: FieldProblem, chosen: Chosen, k: int) -> tuple[Array, Data, Array]:
    """Parameters, data and inputs of the measured rows in draw k."""
    tau = chosen.tau[k, problem.measured].astype(float, copy=False)
    return problem.theta(chosen.phi[k]), problem.data_at(chosen.phi[k], chosen.extra_var), tau


def targets_at(problem: FieldProblem, theta: Array, places: Sequence[Place]) -> Targets:
    """Places as the targets of a prediction."""
    field = problem.field
    sites = np.array([max(place.site, 0) for place in places])
    found = at_sites(field, field.values(theta), sites)
    away = np.array([place.site < 0 for place in places])
    if away.any():
        others = elsewhere(field, theta, *np.array([place[1:] for place in places if place.site < 0]).T)
        for one, other in zip(found, others, strict=True):
            one[away] = other
    return found


def sample(
    problem: FieldProblem, chosen: Chosen, at: Array, places: Sequence[Place], parts: Sequence[Part], seed: int
) -> Array:
    """Joint draws of level and rate of some parts at P places, one for each chosen draw: (S, P, parts, 2, M).

    The same seed and times give the same draw of the field at every place.
    """
    order = np.argsort(at, kind="stable")
    out = np.empty((len(chosen.tau), len(places), len(parts), 2, len(at)))

    def one_part(some: slice) -> None:
        for k in range(some.start, some.stop):
            out[k][..., order] = _sample_one(
                problem, chosen, k, at[order], places, parts, np.random.default_rng([seed, k])
            )

    in_parts(len(chosen.tau), one_part)
    return out


def _sample_one(
    problem: FieldProblem,
    chosen: Chosen,
    k: int,
    at: Array,
    places: Sequence[Place],
    parts: Sequence[Part],
    rng: np.random.Generator,
) -> Array:
    """One joint draw at increasing times: (P, parts, 2, M)."""
    theta, data, tau = _draw_of(problem, chosen, k)
    found, layout = chain.run(problem.field, theta, data, tau), problem.field.layout
    states, beta = chain.draw(problem.field, found, at, rng)
    targets = targets_at(problem, theta, places)
    drawn, P = np.empty((len(places), len(parts), 2, len(at))), len(places)
    for n, part in enumerate(parts):
        offset, columns = chain.trend_at(problem.field, data, at, targets, *part)
        known = (offset + columns @ beta).reshape(len(at), 2, P)
        for p in range(P):
            drawn[p, n] = read_states(layout, found.values, targets.mix[p], part.terms, at, states) + known[:, :, p].T
    for p, place in enumerate(places):
        if place.site < 0:
            own = _own_paths(layout, found.values, targets.own[p], at, rng)
            for n, part in enumerate(parts):
                drawn[p, n] += own[part.terms].sum(axis=0)
    return drawn


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
    states, gains = np.empty((len(at), int(edges[-1]))), new_gains(0, int(edges[-1]))
    draw_path(alone, Values(values.rate, mix[None]), nothing, gains, np.empty(0), at, rng, states)
    return np.array([read_states(alone, values, mix, np.arange(K) == k, at, states) for k in range(K)])


def maps(problem: FieldProblem, chosen: Chosen, at: Array, latitude: Array, longitude: Array) -> Iterator[Array]:
    """Mean and variance of the level, then of the rate, at T places and increasing times at (M,), (4, M, T) each draw.

    One smoother for all places: it gives the levels and rates of the processes that places are mixed of.
    """
    for k in range(len(chosen.tau)):
        theta, data, tau = _draw_of(problem, chosen, k)
        yield chain.predict_many(
            problem.field, theta, data, tau, at, elsewhere(problem.field, theta, latitude, longitude)
        )
