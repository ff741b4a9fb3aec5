"""Fields: the kernel that a record with places has by default, priors of its parameters, and checks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..errors import KernelError, MethodError
from ..kernels import (
    Constant,
    EachSite,
    Kernel,
    Linear,
    Matern32,
    Nearby,
    SpaceTime,
    Stationary,
    TrendTerm,
    WhiteNoise,
)
from ..record import Record
from ..records.axes import describe
from ..records.places import Places

Array = np.ndarray

#: Lengths in time: the median as a part of the span, and the factor. Most of the prior lies below a fifth of the span:
#: the trend of a curve with a longer length could not be distinguished from the mean of the rates.
TIME_PART, TIME_FACTOR = 1.0 / 16.0, 2.5
#: Lengths in space: the median as a part of the median distance of two sites, the factor, and what sites at one point
#: would have.
SPACE_PART, SPACE_FACTOR, USUAL_KM = 0.5, 3.0, 1000.0
#: Standard deviations: the factor, and the medians as parts of the spread about straight lines.
SD_FACTOR, OFFSET_PART, WHITE_PART = 3.0, 0.3, 0.1
#: A rate is computed for sites with so many values, over so much of the longest span of a site.
FEWEST_FOR_RATE, LEAST_SPAN = 4, 0.5


class Lines(NamedTuple):
    """Straight lines through the values of each site, less the rates that are known before the fit."""

    spread: float  #: of the values about them, as a standard deviation
    rates: Array  #: of the sites that have enough values


def default_kernel(record: Any) -> Kernel:
    """What is fitted if no kernel is given: one curve, or the field of Kopp et al. (2016) for a record with places.

    A curve that is common to all sites, one of each region, a rate of each site where there are enough values or
    it is known before the fit, an offset of each site, and white noise: what rows have beyond their errors must not
    become a curve. Rates turn about the youngest date, where heights of the sea agree.
    """
    places = getattr(record, "places", None)
    if not isinstance(places, Places):
        return Matern32()
    found: Kernel = Matern32() + Matern32() * Nearby()
    if places.has_gia or len(lines(record, record.t, places.index).rates) > 1:
        young = record.t[record.dated].min() if describe(record).backwards else record.t[record.dated].max()
        found = found + Linear(origin=float(young)) * Nearby()
    return found + Constant() * EachSite() + WhiteNoise()


def lines(record: Record, t: Array, site: Array, known: Array | None = None) -> Lines:
    """Least squares of y on t (N,) site by site; ``known`` (S,) are rates that are subtracted."""
    here = record.measured & record.dated & (True if record.limit is None else record.limit == 0)
    spans = [np.ptp(t[here & (site == s)]) if (here & (site == s)).any() else 0.0 for s in range(site.max() + 1)]
    rest, rates, lost = 0.0, [], 0
    for s, span in enumerate(spans):
        rows = np.flatnonzero(here & (site == s))
        x, y = t[rows], record.y[rows] - (0.0 if known is None else known[s] * t[rows])
        if len(rows) < 2:
            continue
        x, y = x - x.mean(), y - y.mean()
        rate = float(x @ y / (x @ x)) if span > 0.0 and len(rows) >= FEWEST_FOR_RATE else 0.0
        rest += float(((y - rate * x) ** 2).sum())
        lost += len(rows)
        if span >= LEAST_SPAN * max(spans) and len(rows) >= FEWEST_FOR_RATE and span > 0.0:
            rates.append(rate)
    y_sd = float(np.median(record.y_sd[record.measured])) if record.measured.any() else 1.0
    return Lines(max(np.sqrt(rest / max(lost, 1)), 0.1 * y_sd), np.array(rates))


def space_priors(record: Record, t: Array, kernel: Kernel) -> list[tuple[float, float]]:
    """Medians and factors of the parameters of a field's kernel, in the order of its theta; t (N,) is internal time.

    lengths in time: a sixteenth of the span; in space: half of the median distance of two sites; sd of curves: the
    spread of the values about a straight line at each site, shared among them; of rates: the size of their slopes; of
    offsets and of white noise: a part of that spread.
    """
    places = record.places
    assert places is not None
    span = float(np.ptp(t)) or 1.0
    found_lines = lines(record, t, places.index, record.sign * places.gia if places.has_gia else None)
    curves = sum(isinstance(getattr(term, "time", term), Stationary) for term in kernel.terms)
    apart = places.distances()[np.triu_indices(len(places), 1)]
    medians = {
        "length": (TIME_PART * span, TIME_FACTOR),
        "length_km": (SPACE_PART * float(np.median(apart)) or USUAL_KM, SPACE_FACTOR),
    }
    size = float(np.sqrt(np.mean(found_lines.rates**2))) if len(found_lines.rates) else 0.0
    found = []
    for term in kernel.terms:
        if isinstance(term, TrendTerm):
            continue
        kind = getattr(term, "time", term)
        sd = found_lines.spread / np.sqrt(max(curves, 1))
        if isinstance(kind, Linear):
            sd = max(size, found_lines.spread / span)
        elif isinstance(kind, Constant):
            sd = OFFSET_PART * found_lines.spread
        elif isinstance(kind, WhiteNoise):
            sd = WHITE_PART * found_lines.spread
        found += [medians.get(name, (float(sd), SD_FACTOR)) for name in term.names]
    return found


def check_space(record: Record, kernel: Kernel) -> None:
    """Raise KernelError unless a record with places has a kernel in space, and another one none."""
    if record.places is None:
        kernel.check_in_time()
        return
    if not any(isinstance(term, SpaceTime) for term in kernel.terms):
        raise KernelError(
            f"the record has {len(record.places)} sites, and no term of the kernel is in space: all sites would have "
            "one curve. Multiply a term with Nearby() or EachSite(), such as Matern32() + Matern32() * Nearby(), or "
            "leave the kernel out."
        )
    kinds = [getattr(term, "time", term) for term in kernel.terms]
    if not any(isinstance(kind, Stationary) for kind in kinds):
        raise KernelError("no term of the kernel varies in time beyond a straight line. Add Matern32(), for example.")
    wrong = next((kind for kind in kinds if not (kind.has_state_space or isinstance(kind, TrendTerm))), None)
    if wrong is not None:
        raise KernelError(
            f"{type(wrong).__name__} has no exact state-space form, which a field needs. Use Matern12, Matern32 or "
            "Matern52."
        )
    rates = sum(isinstance(term, SpaceTime) and term.is_linear for term in kernel.terms)
    if record.places.has_gia and rates != 1:
        raise KernelError(
            f"the record has rates of glacial isostasy, which are the prior mean of one term of rates, and the kernel "
            f"has {rates or 'none'}. Add Linear() * Nearby() once, or leave gia out of the record."
        )


def check_field_model(record: Record, offsets: float | None, engine: str) -> None:
    """Raise MethodError for what a field has in another form."""
    if record.places is None:
        return
    if offsets is not None:
        raise MethodError("a field has offsets of its sites as a term of the kernel: add Constant() * EachSite().")
    if engine == "dense":
        raise MethodError('a field runs on the chain of its sites. Leave out engine="dense".')
