"""A problem whose record has places, as a field: its kernel with the sites, and the measured rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..model.parameters import Y_SCALE
from ..model.problem import Problem
from ..records.places import Places
from .data import Data, make_data
from .layout import Field, Sites

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class FieldProblem:
    """Rows, dates, gaps and parameters are those of the problem; the rest is what a field adds. See ``as_field``."""

    base: Problem
    field: Field
    data: Data  #: of the measured rows

    @property
    def places(self) -> Places:
        """The sites of all rows."""
        places = self.base.record.places
        assert places is not None
        return places

    @cached_property
    def measured(self) -> Array:
        """The rows that have a y."""
        return np.flatnonzero(self.base.rows.measured)

    def theta(self, phi: Array) -> Array:
        """The log-parameters of the kernel, from phi (..., P)."""
        return phi[..., : self.base.n_kernel]

    def data_at(self, phi: Array, extra_var: Array | None = None) -> Data:
        """The data with the variances of y at phi (P,), and with ``extra_var`` (N,) added."""
        y_var = self.data.y_var * np.exp(2.0 * phi[Y_SCALE])
        return self.data._replace(y_var=y_var if extra_var is None else y_var + extra_var[self.measured])


def as_field(problem: Problem) -> FieldProblem:
    """The field of a problem whose record has places."""
    record, rows = problem.record, problem.rows
    places = record.places
    assert places is not None
    none = np.zeros(len(places))
    gia = record.sign * places.gia if places.has_gia else none
    sites = Sites(places.latitude, places.longitude, gia, np.where(np.isfinite(places.gia_sd), places.gia_sd, 0.0))
    field, measured = Field(problem.kernel, sites), np.flatnonzero(rows.measured)
    y_sd = np.sqrt(rows.y_var[measured])
    data = make_data(field, rows.t[measured], places.index[measured], problem.y[measured], y_sd)
    return FieldProblem(problem, field, data)
