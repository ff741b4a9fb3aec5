"""Answers of a field: curves at sites and at other places, what is common to all sites, and the parts of each."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ...engine.quantiles import summed_up
from ...errors import MethodError
from ...field.chain import Part
from ...field.layout import is_stationary
from ...field.prediction import Chosen, Place, curves, has_rate, parts_of, sample
from ...field.problem import FieldProblem, as_field
from ...kernels.space import great_circle_km
from ...methods.draws import Draws
from ...records.places import Places, place_in_words
from ...records.sites import SAME_POINT_KM
from ...support.checks import argument

if TYPE_CHECKING:
    import pandas as pd

    from ..posterior import Posterior

Array = np.ndarray
Where = tuple[float, float]

#: Names in a message.
SHOWN = 5
NO_COMMON = "no term of the kernel is common to all sites: add Matern32() without a factor in space."


def place_of(posterior: Posterior, site: str | None, where: Where | None) -> Place | None:
    """Where to predict: None for a record without places. Raises MethodError for anything but one place."""
    places = posterior.record.places
    if places is None:
        if site is not None or where is not None:
            raise MethodError(
                "site and where need a record with places, and this one has one curve. Leave them out, or give the "
                "record site, latitude and longitude."
            )
        return None
    if (site is None) == (where is None):
        given = "one of site and where, not both" if site is not None else 'a place: site="..." or where=(lat, lon)'
        raise MethodError(
            f"the fit is of {len(places)} sites: give {given}. common(at) is what all sites share. Sites: "
            f"{_listed(places.names)}."
        )
    return _site(places, site) if site is not None else _where(places, where)


def _site(places: Places, site: Any) -> Place:
    if site in places.names:
        return Place(places.names.index(site))
    near = get_close_matches(str(site), places.names, n=1, cutoff=0.0)[0]
    raise MethodError(f"there is no site {site!r}. Did you mean {near!r}? Sites: {_listed(places.names)}.")


def _where(places: Places, where: Any) -> Place:
    """Another place, or the site that is there: what is known of a site holds at its own place however it is named."""
    try:
        latitude, longitude = (float(value) for value in where)
    except (TypeError, ValueError):
        raise MethodError(f"where is (latitude, longitude) in degrees, such as (39.5, -74.4), got {where!r}.") from None
    if not (abs(latitude) <= 90.0 and -180.0 <= longitude <= 360.0):
        swapped = " Are the two swapped?" if abs(longitude) <= 90.0 and abs(latitude) <= 360.0 else ""
        raise MethodError(f"where: there is no place at latitude {latitude:g}, longitude {longitude:g}.{swapped}")
    longitude = (longitude + 180.0) % 360.0 - 180.0
    away = great_circle_km(np.array([latitude]), np.array([longitude]), places.latitude, places.longitude)[0]
    nearest = int(np.argmin(away))
    return Place(nearest) if away[nearest] < SAME_POINT_KM else Place(-1, latitude, longitude)


def _listed(names: Sequence[str]) -> str:
    every = [repr(name) for name in names]
    return ", ".join(every) if len(every) <= SHOWN else f"{', '.join(every[:SHOWN])}, ... ({len(every)} in all)"


def problem_of(posterior: Posterior) -> FieldProblem:
    """The field of a posterior. Raises MethodError where the record has no places."""
    if posterior.record.places is None:
        raise MethodError("the record has no places: there is one curve, which is posterior.curve(at).")
    return as_field(posterior.problem)


def chosen(draws: Draws) -> Chosen:
    """Draws as prediction takes them."""
    return Chosen(draws.tau, draws.phi, draws.extra_var)


def without_trend(posterior: Posterior) -> Part:
    """What varies in time beyond constants and rates."""
    return Part(np.array([is_stationary(term) for term in problem_of(posterior).field.terms], dtype=np.bool_))


def tables(
    posterior: Posterior, draws: Draws, at: Array, place: Place, wanted: Sequence[str], part: Part | None = None
) -> dict[str, pd.DataFrame]:
    """Tables of "curve" and "rate" of a part of the field at one place, times at (M,) in the user's scale."""
    problem, field = posterior.problem, problem_of(posterior)
    f, f_var, rate, rate_var = curves(field, chosen(draws), problem.to_internal(at), [place], part)[:, :, 0]
    found = {"curve": (f, f_var), "rate": (problem.rate_to_user(rate), rate_var)}
    beyond = posterior.extrapolated(at) | is_outside(posterior, place)
    return {name: summed_up(at, *found[name], draws.weight).assign(extrapolated=beyond) for name in wanted}


def is_outside(posterior: Posterior, place: Place) -> bool:
    """Whether a place is farther from the nearest site than the longest length in space: it is hardly known there."""
    if place.site >= 0:
        return False
    return bool(outside(posterior, np.array([place.latitude]), np.array([place.longitude]))[0])


def outside(posterior: Posterior, latitude: Array, longitude: Array) -> Array:
    """The same for T places: (T,)."""
    places = problem_of(posterior).places
    theta = posterior.theta
    fixed = [value for name, value in posterior.model.fixed.items() if name.startswith("length_km")]
    lengths = [float(posterior.draws.weight @ theta[name]) for name in theta if name.startswith("length_km")]
    nearest = great_circle_km(latitude, longitude, places.latitude, places.longitude).min(axis=1)
    return nearest > max(*lengths, *fixed, 0.0, 0.0)


def common(posterior: Posterior, draws: Draws, at: ArrayLike, rate: bool) -> pd.DataFrame:
    """What is common to all sites, with the level: mean, sd and quantiles, or of its rate."""
    name, part = "rate" if rate else "curve", common_part(posterior)
    if rate:
        posterior.problem.kernel.check_differentiable()
    if part is None:
        raise MethodError(NO_COMMON)
    return tables(posterior, draws, argument("at", at), Place(), (name,), part)[name]


def common_part(posterior: Posterior) -> Part | None:
    """The terms that all sites share; None if the kernel has none."""
    return parts_of(problem_of(posterior).field.kernel).get("common")


def common_draws(posterior: Posterior, at: Array, n: int, seed: int) -> Array:
    """n joint draws (n, M) of what is common to all sites. Raises MethodError where nothing is."""
    part = common_part(posterior)
    if part is None:
        raise MethodError(NO_COMMON)
    return samples(posterior, at, [Place()], n, seed, [part])[:, 0, 0, 0]


def components(posterior: Posterior, draws: Draws, at: Array, place: Place, rate: bool) -> pd.DataFrame:
    """The parts of the field at one place, one below the other: ``parts_of``."""
    import pandas as pd

    field, name = problem_of(posterior), "rate" if rate else "curve"
    found = []
    for part_name, part in parts_of(field.field.kernel).items():
        if rate and not has_rate(posterior.problem.kernel, part):
            continue
        table = tables(posterior, draws, at, place, (name,), part)[name]
        table.insert(0, "component", part_name)
        found.append(table)
    return pd.concat(found, ignore_index=True)


def samples(
    posterior: Posterior, at: Array, places: Sequence[Place], n: int, seed: int, parts: Sequence[Part]
) -> Array:
    """n joint draws of level and rate of some parts at P places, (n, P, parts, 2, M), rates on the user's scale."""
    draws, rng = posterior.draws, np.random.default_rng(seed)
    again = n > len(draws.tau) or np.ptp(draws.weight) > 0.0
    which = rng.choice(len(draws.tau), size=n, p=draws.weight, replace=again)
    some = Chosen(draws.tau[which], draws.phi[which], draws.extra_var)
    problem = posterior.problem
    out = sample(problem_of(posterior), some, problem.to_internal(at), places, parts, seed)
    out[:, :, :, 1] = problem.rate_to_user(out[:, :, :, 1])
    return out


def sites_or_place(posterior: Posterior, site: str | None, where: Where | None) -> tuple[list[str], list[Place]]:
    """The place that is given, or all sites: what to call them, and where they are."""
    if site is None and where is None:
        names = list(problem_of(posterior).places.names)
        return names, [Place(s) for s in range(len(names))]
    place = place_of(posterior, site, where)
    assert place is not None
    if place.site < 0:
        return [place_in_words(place.latitude, place.longitude)], [place]
    return [problem_of(posterior).places.names[place.site]], [place]


def everything(posterior: Posterior) -> Part:
    """All terms of the field and the common trend."""
    return Part(np.ones(len(problem_of(posterior).field.terms), dtype=np.bool_), True)
