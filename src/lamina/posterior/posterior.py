"""Posterior: what a fit found, whatever the method. The curve, its rate and the inputs are computed here, for all."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from ..engine.quantiles import LEVELS, QUANTILES, summed_up, weighted_quantiles
from ..errors import KernelError, MethodError, RecordError
from ..kernels import Constant, Linear, Stationary
from ..methods.draws import Draws, affordable
from ..methods.prediction import Parts, coefficients, component_names, components, curves, sample
from ..methods.registry import METHODS
from ..model.model import Model
from ..model.problem import Problem
from ..record import Record
from ..support.arviz_notice import no_refactor_notice
from ..support.checks import numbers
from . import export, functionals, storage
from .agedepth import times_at
from .boxes import evenly
from .diagnosis import conflict_limit, rows_in_conflict
from .summary import describe

if TYPE_CHECKING:
    import arviz
    import pandas as pd
    import pyleoclim

Array = np.ndarray

#: A variance this many times the reported one is an outlier's.
OUTLYING = 10.0
#: Bands are averaged over so many draws, evenly taken: at most, at least, and in between draws times rows stay below.
MOST_DRAWS, FEWEST_DRAWS, DRAWS_TIMES_ROWS = 1000, 50, 20_000_000
#: The curve is told for as many times at once as make so many numbers, draws times times: memory has an end.
NUMBERS_AT_ONCE = 10_000_000
#: Inputs are summed up for so many rows at once, to spare memory in very long records.
ROWS_AT_ONCE = 1000


@dataclass(frozen=True, eq=False)
class Posterior:
    """A weighted set of draws of the inputs and parameters, and what the method says about itself.

    Everything a user sees is in the record's own row order, time scale and units.
    """

    problem: Problem
    draws: Draws

    @property
    def record(self) -> Record:
        """What was measured."""
        return self.problem.source

    @property
    def model(self) -> Model:
        """What was fitted: kernel, gap prior, trend, priors and the other settings of the model."""
        return self.problem.model

    @property
    def tau(self) -> Array:
        """Draws of the inputs, shape (draws, N)."""
        return self.tau_of(slice(None))

    def tau_of(self, rows: Array | slice) -> Array:
        """Draws of the inputs of some rows, shape (draws, rows)."""
        return self.problem.to_user(self.draws.tau[:, self.problem.layer[rows]].astype(float))

    @property
    def theta(self) -> pd.DataFrame:
        """Draws of the parameters, one row each."""
        import pandas as pd

        return pd.DataFrame(self.problem.to_theta(self.draws.phi), index=range(len(self.draws.phi)))

    @property
    def diagnostics(self) -> dict[str, Any]:
        """What the method knows of itself, and the rows whose date is in conflict."""
        found = rows_in_conflict(self.record, self.input_means)
        return {"engine": self.problem.engine, **self.draws.diagnostics, "conflicts": found}

    @property
    def conflict_limit(self) -> float:
        """A date that moved by more of its standard deviations than this is in conflict with the order or the curve."""
        return conflict_limit(self.record)

    @property
    def averaged(self) -> int:
        """Over how many draws a band is averaged."""
        return min(len(self.draws.tau), affordable(len(self.record), MOST_DRAWS, FEWEST_DRAWS, DRAWS_TIMES_ROWS))

    @property
    def checkpoint(self) -> dict[str, Array] | None:
        """Where a mcmc fit stands that was interrupted or has not converged: ``fit(..., checkpoint=...)`` goes on."""
        return self.draws.checkpoint

    @property
    def as_measured(self) -> bool:
        """Whether the method takes the reported inputs for the true ones, as gp and nigp do, and infers none."""
        method = METHODS.get(self.draws.diagnostics.get("method", ""))
        return method is not None and not method.infers_inputs

    def curve(self, at: ArrayLike, trend: bool = True) -> pd.DataFrame:
        """The curve f at times ``at``: mean, sd and quantiles, one row each.

        Without ``trend``, what is left of it when the level and the linear trend are taken out.
        """
        return self._tables(at, ("curve",), trend)["curve"]

    def rate(self, at: ArrayLike, trend: bool = True) -> pd.DataFrame:
        """The rate of change f' at times ``at``: mean, sd and quantiles, one row each; ``trend`` as for the curve.

        Raises KernelError where the curve has no rate (Matern12).
        """
        return self._tables(at, ("rate",), trend)["rate"]

    def curve_and_rate(self, at: ArrayLike) -> tuple[pd.DataFrame, pd.DataFrame]:
        """What ``curve`` and ``rate`` give, for little more than the price of one."""
        found = self._tables(at, ("curve", "rate"))
        return found["curve"], found["rate"]

    def components(self, at: ArrayLike, rate: bool = False) -> pd.DataFrame:
        """The parts that the curve is the sum of, at times ``at``: each kernel of a sum, and the trend.

        Columns: component, at, mean, sd and the quantiles. Components are called by their kernel, with the number that
        its parameters have ("Matern52_1" has length_1), and "trend" is the level and the linear trend together.
        ``rate``: their rates of change instead, of those components that have one.
        """
        import pandas as pd

        times, draws, names = _times(at), self._thinned(), component_names(self.problem.kernel)
        mean, var = components(self.problem, draws, self.problem.to_internal(times))
        if rate:
            mean = self.problem.rate_to_user(mean)
        rough = set()
        if rate:
            kinds = [term for term in self.problem.kernel.terms if isinstance(term, Stationary)]
            rough = {p for p, kind in enumerate(kinds) if not kind.differentiable}
            if len(rough) == len(names):
                self._check_differentiable()
        tables = []
        for p in sorted(set(range(len(names))) - rough):
            table = summed_up(times, mean[:, p, int(rate)], var[:, p, int(rate)], draws.weight)
            table.insert(0, "component", names[p])
            tables.append(table)
        return pd.concat(tables, ignore_index=True)

    def trend(self) -> pd.DataFrame:
        """The coefficients of the trend, level + rate (t - at): term, at, mean, sd and quantiles, one row each.

        Rates are those of the record's own scale: on a scale of ages a rise towards the present is negative. Of a fit
        without trend the table is empty.
        """
        terms, draws = self.problem.kernel.trend, self._thinned()
        kinds = [k for k, kind in enumerate((Constant, Linear)) if any(isinstance(term, kind) for term in terms)]
        origin = np.array([next((term.origin for term in terms if isinstance(term, Linear)), 0.0)])
        mean, var = components(self.problem, draws, origin)
        sign = np.array([1.0, self.problem.rate_to_user(1.0)])[kinds]
        times = np.repeat(self.problem.to_user(origin), len(kinds))
        table = summed_up(times, sign * mean[:, -1, kinds, 0], var[:, -1, kinds, 0], draws.weight)
        table.insert(0, "term", [("level", "rate")[k] for k in kinds])
        return table

    def input_moments(self, rows: Array) -> tuple[Array, Array, Array]:
        """Draws of the inputs of some rows, shape (S, len(rows)), their means and their standard deviations.

        Where a sampler has summed up more draws than it kept, mean and sd are those of all of them, and the draws that
        were kept are moved and scaled to have them, too.
        """
        layer, weight = self.problem.layer[rows], self.draws.weight
        tau = self.draws.tau[:, layer].astype(float)
        mean = weight @ tau
        sd = np.sqrt(weight @ (tau - mean) ** 2)
        if self.draws.moments is not None:
            all_mean, all_sd = self.draws.moments[:, layer]
            tau = all_mean + np.divide(all_sd, sd, out=np.ones_like(sd), where=sd > 0.0) * (tau - mean)
            mean, sd = all_mean, all_sd
        return self.problem.to_user(tau), self.problem.to_user(mean), sd

    @property
    def input_means(self) -> Array:
        """The mean of each input, shape (N,)."""
        moments, tau = self.draws.moments, self.draws.tau
        if moments is None:
            parts = [slice(first, first + ROWS_AT_ONCE) for first in range(0, tau.shape[1], ROWS_AT_ONCE)]
            mean = np.concatenate([self.draws.weight @ tau[:, part] for part in parts])
        else:
            mean = moments[0]
        return self.problem.to_user(mean)[self.problem.layer]

    def inputs(self) -> pd.DataFrame:
        """The inputs, one row per measurement: t, t_sd, then mean, sd and quantiles of the true input.

        A method that infers no inputs knows of them what was reported: sd is then t_sd, and the quantiles are those of
        the normal distribution with it.
        """
        import pandas as pd

        found = np.empty((len(self.record), 2 + len(LEVELS)))
        for first in range(0, len(found), ROWS_AT_ONCE):
            part = slice(first, first + ROWS_AT_ONCE)
            tau, mean, sd = self.input_moments(np.arange(first, min(first + ROWS_AT_ONCE, len(found))))
            found[part, 0], found[part, 1] = mean, sd
            found[part, 2:] = weighted_quantiles(tau, self.draws.weight).T
        if self.as_measured:
            found[:, 1] = self.record.t_sd
            found[:, 2:] = found[:, :1] + self.record.t_sd[:, None] * ndtri(LEVELS)
        exact = self.record.exact
        found[exact], found[exact, 1] = self.record.t[exact, None], 0.0  # to the last digit
        columns = {"t": self.record.t, "t_sd": self.record.t_sd}
        columns.update(zip(("mean", "sd", *QUANTILES), found.T, strict=True))
        return pd.DataFrame(columns)

    def ages(self, depth: ArrayLike, sequence: Hashable | None = None) -> pd.DataFrame:
        """The age-depth model: the time at each depth, one row each: depth, then mean, sd and quantiles.

        Within a draw, time goes on evenly between neighbouring layers; beyond the first and last, as between the two
        that are nearest. It is told from the draws that were kept. ``sequence``: which one, where the record has
        several.
        """
        import pandas as pd

        depths = _numbers("depth", depth)
        drawn, weight = times_at(self, depths, sequence), self.draws.weight
        mean = weight @ drawn
        columns = {"depth": depths, "mean": mean, "sd": np.sqrt(weight @ (drawn - mean) ** 2)}
        columns.update(zip(QUANTILES, weighted_quantiles(drawn, weight), strict=True))
        return pd.DataFrame(columns)

    def outliers(self) -> pd.Series:
        """For each row, the probability that its value is an outlier: NaN where none was measured.

        With outliers="student", the probability that its variance is more than ten times the reported one.
        """
        import pandas as pd

        factor = self.draws.factor
        if factor is None or self.model.outliers is None:
            raise MethodError('the fit had no outliers: give outliers="mixture" or "student" to lamina.fit.')
        share = self.draws.weight @ (factor > OUTLYING)
        found = np.where(self.problem.rows.measured, share, np.nan)[self.problem.layer]
        return pd.Series(found, name="outlier")

    def offsets(self) -> pd.DataFrame:
        """The vertical offset of each sequence: sequence, mean, sd and quantiles.

        Raises MethodError where the fit had none.
        """
        import pandas as pd

        if self.model.offsets is None:
            raise MethodError("the fit had no offsets: give their prior standard deviation to lamina.fit as offsets.")
        draws, names = self._thinned(), [name for name, _ in self.problem.record.sequences]
        mean, var = (one[:, -len(names) :] for one in coefficients(self.problem, draws))
        table = summed_up(np.arange(len(names)), mean, var, draws.weight).drop(columns="at")
        table.insert(0, "sequence", pd.Series(names, dtype=object))
        known = [names.index(name) for name, _ in self.record.sequences]
        return table.iloc[known].reset_index(drop=True)

    def sample_curves(self, at: ArrayLike, n: int = 100, seed: int = 0) -> Array:
        """n joint draws of the curve at times ``at``, shape (n, len(at))."""
        return self._sample(at, n, seed)[:, 0]

    def sample_rates(self, at: ArrayLike, n: int = 100, seed: int = 0) -> Array:
        """n joint draws of the rate, shape (n, len(at)): the derivatives of ``sample_curves`` with the same seed."""
        self._check_differentiable()
        return self.problem.rate_to_user(self._sample(at, n, seed)[:, 1])

    def sample_components(self, at: ArrayLike, n: int = 100, seed: int = 0) -> dict[str, Array]:
        """n joint draws of each component, shape (n, len(at)), by the names of ``components``.

        They add up to a draw of the curve: for Matérn kernels to that of ``sample_curves`` with the same seed.
        """
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
        """What was found, in a few lines of plain text. ``names``: what to call each row, in place of its position."""
        return describe(self, names)

    def save(self, path: str | Path) -> None:
        """Write everything to a NetCDF file, which ``lamina.load`` reads."""
        storage.save(self, path)

    def to_arviz(self) -> arviz.InferenceData:
        """The draws as ArviZ's InferenceData: tau and the parameters, by chain."""
        with no_refactor_notice():
            import arviz

        chains = self.draws.chains
        theta = self.problem.to_theta(self.draws.phi)
        posterior: dict[str, Array] = {name: values.reshape(chains, -1) for name, values in theta.items()}
        posterior["tau"] = self.tau.reshape(chains, -1, len(self.record))
        return arviz.from_dict(posterior=posterior, dims={"tau": ["row"]})

    def write_ensemble(self, path: str | Path, n: int = 1000, seed: int = 0, sequence: Any = None) -> None:
        """Write n joint draws of the inputs as CSV, depth by members: ``lamina.posterior.export.ages``."""
        export.write(self, path, n, seed, sequence)

    def to_pyleoclim(self, at: ArrayLike | None = None, n: int = 100, seed: int = 0) -> pyleoclim.EnsembleSeries:
        """n joint draws of the curve for Pyleoclim: ``lamina.posterior.export.to_pyleoclim``."""
        return export.to_pyleoclim(self, at, n, seed)

    def _tables(self, at: ArrayLike, wanted: tuple[str, ...], trend: bool = True) -> dict[str, pd.DataFrame]:
        if "rate" in wanted:
            self._check_differentiable()
        times, draws = _times(at), self._thinned()
        step = max(NUMBERS_AT_ONCE // len(draws.tau), 1)
        parts = [
            self._some_times(times[k : k + step], draws, wanted, trend) for k in range(0, max(len(times), 1), step)
        ]
        return {name: _joined([part[name] for part in parts]) for name in wanted}

    def _some_times(self, times: Array, draws: Draws, wanted: tuple[str, ...], trend: bool) -> dict[str, pd.DataFrame]:
        f, f_var, rate, rate_var = curves(self.problem, draws, self.problem.to_internal(times), trend)
        found = {"curve": (f, f_var), "rate": (self.problem.rate_to_user(rate), rate_var)}
        return {name: summed_up(times, *found[name], draws.weight) for name in wanted}

    def _sample(self, at: ArrayLike, n: int, seed: int, parts: Parts = "whole") -> Array:
        """Joint draws of values and rates, shape (n, 2 x parts, len(at)), rates in internal time."""
        if not (isinstance(n, int | np.integer) and n >= 1):
            raise MethodError(f"n must be a whole number of at least 1, got {n!r}.")
        if not (isinstance(seed, int | np.integer) and seed >= 0):
            raise MethodError(f"seed must be a whole number of at least 0, got {seed!r}.")
        rng = np.random.default_rng(seed)
        return sample(self.problem, self.draws, self.problem.to_internal(_times(at)), n, rng, parts)

    def _thinned(self) -> Draws:
        size, most = len(self.draws.tau), self.averaged
        return self.draws if size == most else self.draws.taken(evenly(size, most))

    def _check_differentiable(self) -> None:
        curve = self.problem.kernel.stationary
        if curve is not None and not curve.differentiable:
            raise KernelError(
                "The curve has no rate of change: with Matern12 it is nowhere differentiable. "
                "Fit with Matern32 or Matern52 if you need the rate."
            )


def load(path: str | Path) -> Posterior:
    """Read a posterior that ``Posterior.save`` wrote."""
    return Posterior(*storage.read(path))


def _joined(tables: list[pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    return tables[0] if len(tables) == 1 else pd.concat(tables, ignore_index=True)


def _times(at: ArrayLike) -> Array:
    return _numbers("at", at)


def _numbers(name: str, values: ArrayLike) -> Array:
    try:
        return numbers(name, np.atleast_1d(np.asarray(values)))
    except RecordError as error:
        raise MethodError(str(error)) from None
