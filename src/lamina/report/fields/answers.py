"""The answers of a field: computed here, once, for tables, figures and the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...methods.draws import affordable
from ...plots.maps import region
from ...posterior.fields import maps
from ...posterior.fields.identifiability import explain_trends
from ...posterior.fields.sites import curves_and_rates
from ...posterior.intervals import interval_rates
from ...records.axes import describe

if TYPE_CHECKING:
    import pandas as pd
    import xarray

    from ...posterior.posterior import Posterior
    from ...record import Record

Array = np.ndarray
Region = tuple[float, float, float, float]

#: Times of tables and figures, and points of a map along each axis.
FIELD_TIMES, MAP_POINTS = 81, 25
#: Joint draws behind rates: at most, at least, and in between so many that draws times rows stay below this.
RATE_DRAWS = 1000, 200, 250_000
#: With more rows times sites than this, only the components of one site are computed.
MOST_FOR_COMPONENTS = 20_000
OFFSETS = (
    "The level of the common curve is arbitrary: each site has an offset of its own, and only changes have a meaning."
)


@dataclass(frozen=True, eq=False)
class Answers:
    """What the posterior of a field says. Rates are forward in time, in the unit of the record."""

    curves: pd.DataFrame  #: one line per site and time
    curve_rates: pd.DataFrame  #: their rates of change
    common: pd.DataFrame  #: the curve that all sites share
    common_rate: pd.DataFrame
    components: pd.DataFrame  #: the parts of the curves of all sites, in a large field of ``shown_site`` only
    rates: pd.DataFrame  #: one line per site and interval
    maps: xarray.Dataset  #: level and rate on a grid
    inputs: pd.DataFrame
    shown_site: str  #: whose components are drawn
    apart: Sequence[str]  #: what the data cannot distinguish, in sentences

    @property
    def last_rates(self) -> pd.DataFrame:
        """The rates over the last interval."""
        last = self.rates[["from", "to"]].iloc[-1]
        return self.rates[(self.rates["from"] == last["from"]) & (self.rates["to"] == last["to"])]


def compute(
    posterior: Posterior,
    at: ArrayLike | None = None,
    intervals: Sequence[tuple[float, float]] = (),
    map_at: ArrayLike | None = None,
    grid: Region | None = None,
    shown_site: str | None = None,
    seed: int = 0,
) -> Answers:
    """All answers. What is not asked for: times over the record, one interval from its beginning to its end, maps at
    its last time over the region of the sites, and the components of the site with most rows.

    grid: south, north, west and east of the maps.
    """
    record = posterior.record
    times = default_times(record) if at is None else np.atleast_1d(np.asarray(at, dtype=float))
    curves, rates = _of_sites(posterior, times)
    return Answers(
        curves=curves,
        curve_rates=rates,
        common=_marked(posterior.common(times)),
        common_rate=_forward(record, posterior.common(times, rate=True)),
        components=_components(posterior, times, shown_site or default_site(record)),
        rates=_interval_rates(posterior, intervals or [_span(record)], seed),
        maps=_maps(posterior, map_at, grid),
        inputs=posterior.inputs(),
        shown_site=shown_site or default_site(record),
        apart=apart(posterior),
    )


def default_times(record: Record) -> Array:
    """Times over the record, which is that of the site that goes back farthest."""
    return np.linspace(*_span(record), FIELD_TIMES)


def default_site(record: Record) -> str:
    """The site with most rows."""
    assert record.places is not None
    return record.places.names[int(np.bincount(record.places.index).argmax())]


def _span(record: Record) -> tuple[float, float]:
    t = record.t[record.dated]
    return float(t.min()), float(t.max())


def _names(posterior: Posterior) -> tuple[str, ...]:
    assert posterior.record.places is not None
    return posterior.record.places.names


def _marked(frame: pd.DataFrame) -> pd.DataFrame:
    """A table whose column ``extrapolated`` is in words."""
    return frame.assign(extrapolated=np.where(frame["extrapolated"], "yes", "no"))


def _forward(record: Record, rates: pd.DataFrame) -> pd.DataFrame:
    return _marked(describe(record).forward(rates))


def _of_sites(posterior: Posterior, at: Array) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Curves and rates of all sites; times beyond the rows of a site are marked."""
    import pandas as pd

    curves: list[pd.DataFrame] = []
    rates: list[pd.DataFrame] = []
    for k, (name, pair) in enumerate(zip(_names(posterior), curves_and_rates(posterior, at), strict=True)):
        beyond = beyond_site(posterior.record, k, at)
        for found, table in zip((curves, rates), pair, strict=True):
            table = table.assign(extrapolated=table["extrapolated"] | beyond)
            table.insert(0, "site", name)
            found.append(table)
    joined = [pd.concat(found, ignore_index=True) for found in (curves, rates)]
    return _marked(joined[0]), _forward(posterior.record, joined[1])


def beyond_site(record: Record, site: int, at: Array) -> Array:
    """Which times lie beyond the rows of a site, by more than two standard deviations of its outermost dates."""
    assert record.places is not None
    rows = np.flatnonzero((record.places.index == site) & record.dated)
    if not rows.size:
        return np.ones(len(at), dtype=bool)
    low, high = (record.t[rows] - 2.0 * record.t_sd[rows]).min(), (record.t[rows] + 2.0 * record.t_sd[rows]).max()
    return (at < low) | (at > high)


def _components(posterior: Posterior, at: Array, shown_site: str) -> pd.DataFrame:
    import pandas as pd

    found, names = [], _names(posterior)
    for name in names if len(posterior.record) * len(names) <= MOST_FOR_COMPONENTS else [shown_site]:
        table = posterior.components(at, site=name).drop(columns="extrapolated")
        table.insert(0, "site", name)
        found.append(table)
    return pd.concat(found, ignore_index=True)


def _interval_rates(posterior: Posterior, intervals: Sequence[tuple[float, float]], seed: int) -> pd.DataFrame:
    """Mean rates over intervals at every site, forward in time, with their probabilities."""
    forward = describe(posterior.record).time_sign
    return interval_rates(posterior, intervals, rate_draws(posterior.record), seed, scale=forward)


def rate_draws(record: Record) -> int:
    """The number of joint draws behind rates of intervals."""
    return affordable(len(record), *RATE_DRAWS)


def sites(record: Record) -> pd.DataFrame:
    """The sites: where they are, how many rows they have, and what was known of them beforehand."""
    import pandas as pd

    places = record.places
    assert places is not None
    t = np.where(record.dated, record.t, np.nan)
    rows = [np.flatnonzero(places.index == k) for k in range(len(places))]
    columns = {
        "site": places.names,
        "latitude": places.latitude,
        "longitude": places.longitude,
        "rows": [len(own) for own in rows],
        "exact": [int(record.exact[own].sum()) for own in rows],
        "first": [np.nanmin(t[own]) for own in rows],
        "last": [np.nanmax(t[own]) for own in rows],
    }
    if places.has_gia:
        columns |= {"gia": places.gia, "gia_sd": places.gia_sd}
    return pd.DataFrame(columns)


def in_rate_unit(record: Record, rates: pd.DataFrame) -> pd.DataFrame:
    """Rates of the tables, which are forward in time, in the unit in which they are shown."""
    factor = describe(record).unit_factor
    names = [name for name in rates if name in ("mean", "sd") or str(name).startswith("q")]
    return rates.assign(**{str(name): factor * rates[name] for name in names})


class Map(NamedTuple):
    """The rate at one time on a grid of latitudes (n,) and longitudes (m,); arrays are (n, m), rates as shown."""

    at: float
    latitude: Array
    longitude: Array
    rate: Array
    rate_sd: Array
    beyond: Array  #: where a place is beyond the region of the data


def maps_of(record: Record, answers: Answers) -> list[Map]:
    """The maps of the rate, one for each time."""
    found, axes = answers.maps, describe(record)
    latitude, longitude = (found[name].to_numpy() for name in ("latitude", "longitude"))
    beyond = found["extrapolated"].to_numpy().astype(bool)
    return [
        Map(
            float(found["time"][k]),
            latitude,
            longitude,
            axes.unit_factor * found["rate"][k].to_numpy(),
            axes.unit_factor * found["rate_sd"][k].to_numpy(),
            beyond,
        )
        for k in range(found.sizes["time"])
    ]


def grid_of(record: Record, grid: Region | None) -> tuple[Array, Array]:
    """Latitudes and longitudes of a map; ``grid`` is south, north, west and east."""
    assert record.places is not None
    if grid is None:
        west, east, south, north = region(record.places.longitude, record.places.latitude)
        grid = max(south, -90.0), min(north, 90.0), west, east
    south, north, west, east = grid
    return np.linspace(south, north, MAP_POINTS), np.linspace(west, east, MAP_POINTS)


def _maps(posterior: Posterior, map_at: ArrayLike | None, grid: Region | None) -> xarray.Dataset:
    record = posterior.record
    at = [describe(record).oldest_first(_span(record))[1]] if map_at is None else map_at
    return maps.forward(posterior, posterior.field(at, *grid_of(record, grid)))


def apart(posterior: Posterior) -> list[str]:
    """What the data cannot distinguish, in sentences."""
    return [explain_trends(posterior), OFFSETS]
