"""Posterior: the result of a fit, with the same curve, rate and inputs for every method."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..engine.quantiles import summed_up
from ..errors import MethodError
from ..field.chain import Part
from ..field.prediction import Place, parts_of
from ..kernels import Constant, Linear, Stationary
from ..methods.draws import Draws, affordable, evenly
from ..methods.prediction import Parts, coefficients, component_names, components, curves, sample
from ..methods.registry import METHODS
from ..model.model import Model
from ..model.problem import Problem
from ..model.thickness import with_thickness
from ..record import Record
from ..support.checks import argument, check_whole
from ..support.display import Facts, as_html, as_text
from ..support.numbers import count, number, short, with_sd
from . import agedepth, export, fields, functionals, inputs, intervals, storage, times
from .diagnosis import conflict_limit, count_conflicts, rows_in_conflict, state_of
from .fields import Where, maps
from .fields.identifiability import Period, common_with_equal_means, trend_correlation
from .summary import describe

if TYPE_CHECKING:
    import arviz
    import pandas as pd
    import pyleoclim
    import xarray as xr

Array = np.ndarray

#: A value is an outlier if its variance is more than this many times the reported one.
OUTLIER_ABOVE = 10.0
#: Bands are averaged over evenly spaced draws: at most, at least, and in between so that draws times rows stay below.
AVERAGED_DRAWS = 1000, 50, 20_000_000
#: In a field, where a draw costs more: the same.
AVERAGED_IN_FIELDS = 250, 50, 250_000
#: The curve is computed in parts of this many numbers, draws times times, to save memory.
NUMBERS_AT_ONCE = 10_000_000


@dataclass(frozen=True, eq=False, repr=False)
class Posterior:
    """A weighted set of draws of the inputs and parameters, and the diagnostics of the method.

    All results are in the record's own row order, time scale and units.
    """

    problem: Problem
    draws: Draws

    def __repr__(self) -> str:
        return as_text(f"Posterior of {count(len(self.record), 'row')}", self._facts())

    def _repr_html_(self) -> str:
        return as_html(f"Posterior of {count(len(self.record), 'row')}", self._facts())

    def _facts(self) -> Facts:
        """What ``repr`` shows."""
        known, weight, record = self.draws.diagnostics, self.draws.weight, self.record
        state = state_of(known) if {"converged", "interrupted"} <= known.keys() else "convergence unknown"
        parameters = []
        for name, values in self.problem.to_theta(self.draws.phi).items():
            mean = float(weight @ values)
            spread = float(np.sqrt(weight @ (values - mean) ** 2)) if np.ptp(values) > 0.0 else 0.0
            parameters.append(f"{name} {with_sd(mean, spread) if spread else number(mean, 4)}")
        centre = self.input_means
        conflicts = self.rows_in_conflict
        return [
            ("method", f"{known.get('method', 'unknown')}, {state}"),
            ("draws", f"{len(weight):,} in {count(self.draws.chains, 'chain')}"),
            ("parameters", ", ".join(parameters) or "none"),
            (record.t_name, f"{short(centre.min())} to {short(centre.max())} {record.t_unit}".rstrip()),
            *([("conflicts", count_conflicts(len(conflicts)))] if conflicts else []),
        ]

    @property
    def record(self) -> Record:
        """The measurements."""
        return self.problem.source

    @property
    def model(self) -> Model:
        """The model that was fitted: kernel, gap prior, trend, priors and other settings."""
        return self.problem.model

    @property
    def tau(self) -> Array:
        """Draws of the inputs, shape (draws, N)."""
        return self.tau_of(slice(None))

    def tau_of(self, rows: Array | slice) -> Array:
        """Draws of the inputs of some rows, shape (draws, rows)."""
        return inputs.draws_of(self, rows)

    @property
    def theta(self) -> pd.DataFrame:
        """Draws of the parameters, one row each."""
        import pandas as pd

        return pd.DataFrame(self.problem.to_theta(self.draws.phi), index=range(len(self.draws.phi)))

    @property
    def diagnostics(self) -> dict[str, Any]:
        """Convergence and other facts that the method reports, and the rows whose date is in conflict."""
        found = {"engine": self.problem.engine, **self.draws.diagnostics, "conflicts": self.rows_in_conflict}
        if self.record.places is not None:
            found["trend_correlation"] = self.trend_correlation
        return found

    @cached_property
    def trend_correlation(self) -> float:
        """In a field, the correlation of the common curve's trend and the mean rate of the sites; NaN without both."""
        return trend_correlation(self)

    @property
    def rows_in_conflict(self) -> list[int]:
        """The rows whose date is in conflict with the order or the curve; none where inputs are taken as measured."""
        if self.as_measured:
            return []
        return rows_in_conflict(with_thickness(self.record), self.input_means)

    @property
    def conflict_limit(self) -> float:
        """How many standard deviations a date may move before it is in conflict with the order or the curve."""
        return conflict_limit(self.record)

    @property
    def averaged(self) -> int:
        """The number of draws that bands are averaged over."""
        limits = AVERAGED_DRAWS if self.record.places is None else AVERAGED_IN_FIELDS
        return min(len(self.draws.tau), affordable(len(self.record), *limits))

    @property
    def checkpoint(self) -> dict[str, Array] | None:
        """The state of an interrupted or unconverged fit, which ``fit(..., checkpoint=...)`` continues."""
        return self.draws.checkpoint

    @property
    def as_measured(self) -> bool:
        """Whether the method takes the inputs as measured, as gp and nigp do, instead of inferring them."""
        method = METHODS.get(self.draws.diagnostics.get("method", ""))
        return method is not None and not method.infers_inputs

    def curve(
        self, at: ArrayLike, trend: bool = True, *, site: str | None = None, where: Where | None = None
    ) -> pd.DataFrame:
        """The curve f at times ``at``: mean, sd and quantiles, one row each.

        trend: whether to include the level and the linear trend; in a field, also the offsets of the sites.
        site, where: of a record with places, one of its sites, or another place as (latitude, longitude) in degrees.
            ``extrapolated`` marks times beyond the data, and places that are farther from every site than the field
            is correlated.
        """
        return self._tables(at, ("curve",), trend, fields.place_of(self, site, where))["curve"]

    def rate(
        self, at: ArrayLike, trend: bool = True, *, site: str | None = None, where: Where | None = None
    ) -> pd.DataFrame:
        """The rate of change f' at times ``at``: mean, sd and quantiles, one row each; arguments as for the curve.

        Raises KernelError where the curve has no rate (Matern12).
        """
        return self._tables(at, ("rate",), trend, fields.place_of(self, site, where))["rate"]

    def curve_and_rate(
        self, at: ArrayLike, *, site: str | None = None, where: Where | None = None
    ) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The tables of ``curve`` and ``rate``, computed together in little more than the time of one."""
        found = self._tables(at, ("curve", "rate"), True, fields.place_of(self, site, where))
        return found["curve"], found["rate"]

    def common(
        self, at: ArrayLike, rate: bool = False, *, equal_means: tuple[Period, Period] | None = None
    ) -> pd.DataFrame:
        """What all sites of a field share, at times ``at``: mean, sd and quantiles of the curve, or of its rate.

        It has the common level, and no part of the rates of the sites. Its trend over the whole record may not be
        distinguishable from their mean: ``diagnostics["trend_correlation"]`` is then near -1.
        equal_means: two periods (from, to) in which the curve is to have equal means, such as ((-100, 100),
            (1600, 1800)) in Kopp et al. (2016). In each draw the trend that makes them equal is then counted among the
            rates of the sites.
        """
        if equal_means is not None:
            return common_with_equal_means(self, at, rate, equal_means)
        return fields.common(self, self.thinned(), at, rate)

    def field(self, at: ArrayLike, latitude: ArrayLike, longitude: ArrayLike) -> xr.Dataset:
        """Maps of a field at times ``at`` on a grid of latitudes and longitudes, in degrees.

        An xarray.Dataset with the dimensions time, latitude and longitude and the variables level, level_sd, rate and
        rate_sd, and with ``extrapolated``, which marks places that are farther from every site than the field is
        correlated. Names and units follow the CF conventions: ``.to_netcdf(path)`` writes a file for a GIS. As in
        ``rate``, rates are per unit of t: on a scale of ages, a rise towards the present is negative.
        """
        return maps.field(self, at, latitude, longitude)

    def emergence(self, reference: tuple[float, float], **options: Any) -> pd.DataFrame:
        """When the rate left the range of a period of reference: ``lamina.functionals.emergence``."""
        return intervals.emergence(self, reference, **options)

    def extrapolated(self, at: ArrayLike) -> Array:
        """Which times ``at`` lie beyond the data, shape (len(at),): ``lamina.posterior.times.data_range``.

        There the curve returns to its mean, and its band to that of the prior.
        """
        return times.extrapolated(self, argument("at", at))

    def components(
        self, at: ArrayLike, rate: bool = False, *, site: str | None = None, where: Where | None = None
    ) -> pd.DataFrame:
        """The components of the curve at times ``at``: each kernel of a sum, and the trend. The curve is their sum.

        Columns: component, at, mean, sd and the quantiles. Components are named after their kernel, with the number of
        its parameters ("Matern52_1" has length_1); "trend" is the level and the linear trend together.
        rate: return rates of change instead, for those components that have one.
        site, where: the place, of a record with places, as for the curve. Components are then "common" (with the
            level), "linear" (the rate of the site), "regional", "local" and "offset", as far as the kernel has them.
        """
        import pandas as pd

        place = fields.place_of(self, site, where)
        if place is not None:
            return fields.components(self, self.thinned(), argument("at", at), place, rate)
        grid, draws, names = argument("at", at), self.thinned(), component_names(self.problem.kernel)
        mean, var = components(self.problem, draws, self.problem.to_internal(grid))
        rough = set()
        if rate:
            mean = self.problem.rate_to_user(mean)
            kinds = [term for term in self.problem.kernel.terms if isinstance(term, Stationary)]
            rough = {p for p, kind in enumerate(kinds) if not kind.differentiable}
            if len(rough) == len(names):
                self.problem.kernel.check_differentiable()
        tables = []
        for p in sorted(set(range(len(names))) - rough):
            table = summed_up(grid, mean[:, p, int(rate)], var[:, p, int(rate)], draws.weight)
            table.insert(0, "component", names[p])
            tables.append(table)
        return pd.concat(tables, ignore_index=True)

    def trend(self) -> pd.DataFrame:
        """The coefficients of the trend, level + rate (t - at): term, at, mean, sd and quantiles, one row each.

        Rates are per unit of t: on a scale of ages a rise towards the present is negative. The table is empty if the
        fit had no trend.
        """
        if self.record.places is not None:
            raise MethodError(
                'a field has a rate at each site: components(at, rate=True, site=...) has it as "linear".'
            )
        terms, draws = self.problem.kernel.trend, self.thinned()
        kinds = [k for k, kind in enumerate((Constant, Linear)) if any(isinstance(term, kind) for term in terms)]
        origin = np.array([next((term.origin for term in terms if isinstance(term, Linear)), 0.0)])
        mean, var = components(self.problem, draws, origin)
        sign = np.array([1.0, self.problem.rate_to_user(1.0)])[kinds]
        at = np.repeat(self.problem.to_user(origin), len(kinds))
        table = summed_up(at, sign * mean[:, -1, kinds, 0], var[:, -1, kinds, 0], draws.weight)
        table.insert(0, "term", [("level", "rate")[k] for k in kinds])
        return table

    def input_moments(self, rows: Array) -> tuple[Array, Array, Array]:
        """Draws of the inputs of some rows, shape (draws, len(rows)), their means and their standard deviations."""
        return inputs.moments(self, rows)

    @property
    def input_means(self) -> Array:
        """The mean of each input, shape (N,)."""
        return inputs.means(self)

    @cached_property
    def input_ranges(self) -> Array:
        """The smallest and the largest possible input of each layer, shape (2, layers): equal where it is exact."""
        return inputs.ranges(self.problem)

    def inputs(self) -> pd.DataFrame:
        """The inputs, one row per measurement: t, t_sd, then mean, sd and quantiles of the true input.

        Where dates have tails, ``date_outlier`` is the probability that the date is an outlier. For a method that takes
        the inputs as measured, sd and quantiles are those of the date. Tied rows share one
        input, whose date is the product of theirs.
        """
        return inputs.table(self)

    def ages(self, depth: ArrayLike, sequence: Hashable | None = None) -> pd.DataFrame:
        """The age-depth model: the time at each depth, one row each: depth, then mean, sd and quantiles.

        Within a draw, times are interpolated linearly between neighbouring layers and extrapolated beyond the first
        and the last. sequence: the label of one sequence, needed if the record has several.
        """
        return agedepth.table(self, argument("depth", depth), sequence)

    def outliers(self) -> pd.Series:
        """The probability that the value of each row is an outlier; NaN where none was measured.

        With outliers="student", the probability that its variance is more than ten times the reported one.
        """
        import pandas as pd

        factor = self.draws.factor
        if factor is None or self.model.outliers is None:
            raise MethodError('the fit had no outliers: give outliers="mixture" or "student" to lamina.fit.')
        share = self.draws.weight @ (factor > OUTLIER_ABOVE)
        found = np.where(self.problem.rows.measured, share, np.nan)[self.problem.layer]
        return pd.Series(found, name="outlier")

    def date_outliers(self) -> pd.Series:
        """The probability that the date of each row is an outlier; NaN for dates without tails.

        Student-t dates and radiocarbon dates (``student=True``) have tails: the probability that the error of the date
        is more than twice the reported one. ``inputs`` has it as ``date_outlier``.
        """
        import pandas as pd

        return pd.Series(inputs.date_outliers(self), name="date_outlier")

    def offsets(self) -> pd.DataFrame:
        """The vertical offset of each sequence: sequence, mean, sd and quantiles.

        Raises MethodError where the fit had none.
        """
        import pandas as pd

        if self.model.offsets is None:
            raise MethodError("the fit had no offsets: give their prior standard deviation to lamina.fit as offsets.")
        draws, names = self.thinned(), [name for name, _ in self.problem.record.sequences]
        mean, var = (one[:, -len(names) :] for one in coefficients(self.problem, draws))
        table = summed_up(np.arange(len(names)), mean, var, draws.weight).drop(columns="at")
        table.insert(0, "sequence", pd.Series(names, dtype=object))
        known = [names.index(name) for name, _ in self.record.sequences]
        return table.iloc[known].reset_index(drop=True)

    def sample_curves(
        self, at: ArrayLike, n: int = 100, seed: int = 0, *, site: str | None = None, where: Where | None = None
    ) -> Array:
        """n joint draws of the curve at times ``at``, shape (n, len(at)).

        site, where: the place, of a record with places, as for the curve. The same times and seed give the same draws
            of the field at every place, so that differences of places are draws too.
        """
        place = fields.place_of(self, site, where)
        return self._sample(at, n, seed)[:, 0] if place is None else self._sample_field(at, n, seed, place)[:, 0, 0]

    def sample_rates(
        self, at: ArrayLike, n: int = 100, seed: int = 0, *, site: str | None = None, where: Where | None = None
    ) -> Array:
        """n joint draws of the rate, shape (n, len(at)): the derivatives of ``sample_curves`` with the same seed."""
        place = fields.place_of(self, site, where)
        self.problem.kernel.check_differentiable()
        if place is not None:
            return self._sample_field(at, n, seed, place)[:, 0, 1]
        return self.problem.rate_to_user(self._sample(at, n, seed)[:, 1])

    def sample_components(
        self, at: ArrayLike, n: int = 100, seed: int = 0, *, site: str | None = None, where: Where | None = None
    ) -> dict[str, Array]:
        """n joint draws of each component, shape (n, len(at)), by the names of ``components``.

        Their sum is a draw of the curve: for Matérn kernels the one of ``sample_curves`` with the same seed.
        """
        place = fields.place_of(self, site, where)
        if place is not None:
            parts = parts_of(self.problem.kernel)
            values = self._sample_field(at, n, seed, place, list(parts.values()))[:, :, 0]
            return dict(zip(parts, np.moveaxis(values, 1, 0), strict=True))
        drawn = self._sample(at, n, seed, "all")[:, ::2]
        return dict(zip(component_names(self.problem.kernel), np.moveaxis(drawn, 1, 0), strict=True))

    def first_exceeds(
        self, level: ArrayLike, between: tuple[float, float] | None = None, **options: Any
    ) -> pd.DataFrame:
        """When the curve first exceeded each level: ``lamina.functionals.first_exceeds``."""
        return functionals.first_exceeds(self, level, between, **options)

    def extremes(self, between: tuple[float, float] | None = None, **options: Any) -> pd.DataFrame:
        """Size and time of the maximum and the minimum: ``lamina.functionals.extremes``."""
        return functionals.extremes(self, between, **options)

    def faster(self, period: tuple[float, float], other: tuple[float, float], **options: Any) -> float:
        """The probability that one period rose faster than another: ``lamina.functionals.faster``."""
        return functionals.faster(self, period, other, **options)

    def summary(self, names: Sequence[str] | None = None) -> str:
        """The results in a few lines of plain text. names: what to call each row, instead of its position."""
        return describe(self, names)

    def save(self, path: str | Path) -> None:
        """Write the posterior to a NetCDF file, which ``lamina.load`` reads."""
        storage.save(self, path)

    def to_arviz(self) -> arviz.InferenceData:
        """The draws as ArviZ's InferenceData: tau and the parameters, by chain."""
        return export.to_arviz(self)

    def write_ensemble(self, path: str | Path, n: int = 1000, seed: int = 0, sequence: Any = None) -> None:
        """Write n joint draws of the inputs as CSV, depth by members: ``lamina.posterior.export.ages``."""
        export.write(self, path, n, seed, sequence)

    def to_pyleoclim(self, at: ArrayLike | None = None, n: int = 100, seed: int = 0) -> pyleoclim.EnsembleSeries:
        """n joint draws of the curve for Pyleoclim: ``lamina.posterior.export.to_pyleoclim``."""
        return export.to_pyleoclim(self, at, n, seed)

    def _tables(
        self, at: ArrayLike, wanted: tuple[str, ...], trend: bool = True, place: Place | None = None
    ) -> dict[str, pd.DataFrame]:
        if "rate" in wanted:
            self.problem.kernel.check_differentiable()
        grid, draws = argument("at", at), self.thinned()
        if place is not None:
            return fields.tables(self, draws, grid, place, wanted, None if trend else fields.without_trend(self))
        step = max(NUMBERS_AT_ONCE // len(draws.tau), 1)
        parts = [self._some_times(grid[k : k + step], draws, wanted, trend) for k in range(0, max(len(grid), 1), step)]
        return {name: _joined([part[name] for part in parts]) for name in wanted}

    def _some_times(self, at: Array, draws: Draws, wanted: tuple[str, ...], trend: bool) -> dict[str, pd.DataFrame]:
        f, f_var, rate, rate_var = curves(self.problem, draws, self.problem.to_internal(at), trend)
        found = {"curve": (f, f_var), "rate": (self.problem.rate_to_user(rate), rate_var)}
        return {name: summed_up(at, *found[name], draws.weight) for name in wanted}

    def _sample(self, at: ArrayLike, n: int, seed: int, parts: Parts = "whole") -> Array:
        """Joint draws of values and rates, shape (n, 2 x parts, len(at)), rates in internal time."""
        check_whole("n", n, 1)
        check_whole("seed", seed, 0)
        rng = np.random.default_rng(seed)
        return sample(self.problem, self.draws, self.problem.to_internal(argument("at", at)), n, rng, parts)

    def _sample_field(
        self, at: ArrayLike, n: int, seed: int, place: Place, parts: Sequence[Part] | None = None
    ) -> Array:
        check_whole("n", n, 1)
        check_whole("seed", seed, 0)
        return fields.samples(self, argument("at", at), [place], n, seed, parts or [fields.everything(self)])[:, 0]

    def thinned(self) -> Draws:
        """The draws that bands are averaged over."""
        size, most = len(self.draws.tau), self.averaged
        return self.draws if size == most else self.draws.taken(evenly(size, most))


def load(path: str | Path) -> Posterior:
    """Read a posterior that ``Posterior.save`` wrote."""
    return Posterior(*storage.read(path))


def _joined(tables: list[pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    return tables[0] if len(tables) == 1 else pd.concat(tables, ignore_index=True)
