"""The measured rows of a field, and the places at which it is predicted: what both engines take."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels import SpaceTime
from ..kernels.space import great_circle_km
from ..model.trend import Design, design
from .filter import Series
from .layout import Field, Values

Array = np.ndarray


class Data(NamedTuple):
    """Rows that have a y, at any times: the data columns are base + slope * tau."""

    site: Array  #: (N,)
    base: Array  #: (N, C)
    slope: Array  #: (N, C)
    y_var: Array  #: (N,)
    design: Design  #: of the trend that is common to all sites

    def columns(self, tau: Array) -> Array:
        """Z (N, C): y less what is known before the fit, then the columns of the common trend."""
        return self.base + self.slope * tau[:, None]

    def in_order(self, tau: Array, order: Array, white_var: float) -> Series:
        """The rows in order of time, with the variance of white noise."""
        Z = np.ascontiguousarray(self.columns(tau)[order])
        return Series(tau[order], self.site[order], Z, self.y_var[order] + white_var)


class Targets(NamedTuple):
    """Places at which a field is predicted."""

    mix: Array  #: (T, R) how processes are mixed there
    own: Array  #: (T, K) variance of what is not shared with any site
    gia: Array  #: (T,) rate that is known before the fit


def make_data(field: Field, tau: Array, site: Array, y: Array, y_sd: Array) -> Data:
    """Data of rows (N,); tau are rough times, from which the common trend is centred."""
    found = design(field.kernel, tau, y, y_sd)
    base = found.Z - found.slope * tau[:, None]
    slope = np.tile(found.slope, (len(tau), 1))
    origin = gia_origin(field)
    base[:, 0] += field.sites.gia[site] * origin
    slope[:, 0] -= field.sites.gia[site]
    return Data(np.asarray(site, dtype=np.int64), base, slope, np.asarray(y_sd, dtype=float) ** 2, found)


def gia_origin(field: Field) -> float:
    """The time at which rates leave the level as it is."""
    return next((term.time.origin for term in field.terms if isinstance(term, SpaceTime) and term.is_linear), 0.0)


def at_sites(field: Field, values: Values, sites: Array) -> Targets:
    """Sites of the field, by number, as targets."""
    own = np.zeros((len(sites), len(field.terms)))
    return Targets(np.ascontiguousarray(values.mix[sites]), own, field.sites.gia[sites])


def elsewhere(field: Field, theta: Array, latitude: Array, longitude: Array) -> Targets:
    """Other places as targets; their known rate is interpolated with the weights of the rates."""
    latitude, longitude = np.asarray(latitude, dtype=float), np.asarray(longitude, dtype=float)
    mix, own = field.elsewhere(theta, latitude, longitude)
    sites = field.sites
    gia = np.full(len(latitude), sites.gia.mean())
    for term in field.at(theta).terms:
        if isinstance(term, SpaceTime) and term.is_linear:
            away = great_circle_km(latitude, longitude, sites.latitude, sites.longitude)
            gia = field.between(term, away, sites.gia)
    return Targets(np.ascontiguousarray(mix), own, gia)
