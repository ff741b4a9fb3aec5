"""The model of a field in a sentence or two, for the methods paragraph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...kernels import Constant, EachSite, Linear, SpaceTime, Stationary, WhiteNoise
from ...support.numbers import capitalised, count, join_words

if TYPE_CHECKING:
    from ...kernels import Kernel
    from ...posterior.posterior import Posterior

#: What every report of a field cites: its model, and the coastlines of its maps.
CITED = ("Kopp", "Natural Earth")
_IN_SPACE = {
    "exponential": "correlations that decay exponentially with the great-circle distance",
    "matern32": "a Matérn correlation of order 3/2 in the distance",
}


def model(posterior: Posterior) -> str:
    """What was modelled, from what, and by which parts."""
    record, kernel = posterior.record, posterior.problem.kernel
    assert record.places is not None
    measured = count(int(record.measured.sum()), "measurement")
    parts = [_part(term) for term in kernel.terms if isinstance(term, SpaceTime | Stationary | WhiteNoise)]
    known = ""
    if record.places.has_gia:
        errors = " and their reported standard deviations" if (record.places.gia_sd > 0.0).all() else ""
        known = f" Rates of glacial isostasy{errors} were given as the prior of the rates of the sites."
    return (
        f"{capitalised(record.y_name)} was modelled as a field in space and time, from {measured} at "
        f"{count(len(record.places), 'site')}, as the sum of {join_words(parts)} (Kopp et al. 2016), and an unknown "
        f"common level (flat prior, integrated out).{known}"
    )


def _part(term: Kernel) -> str:
    """One term of the kernel."""
    if isinstance(term, WhiteNoise):
        return "white noise beside the reported errors"
    time = getattr(term, "time", term)
    what = {Linear: "a rate", Constant: "an offset"}.get(type(time), f"a Gaussian process ({_name(time)})")
    if not isinstance(term, SpaceTime):
        return f"{what} that all sites share"
    if isinstance(term.space, EachSite):
        return f"{what} of each site, independent of the others"
    return f"{what} of each site with {_IN_SPACE[term.space.decay]}"  # type: ignore[attr-defined]


def _name(kernel: Kernel) -> str:
    name = type(kernel).__name__
    return f"Matérn, order {name[-2]}/{name[-1]}" if name.startswith("Matern") else name
