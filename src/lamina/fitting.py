"""fit: a record and a method in, a Posterior out."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from threadpoolctl import threadpool_limits

from .engine.compiling.cache import NOTICE, watch
from .errors import LaminaError, MethodError, RecordError
from .kernels import Kernel
from .methods import Method
from .methods.chains import WATCHED
from .methods.draws import Draws
from .methods.registry import DEFAULT, METHODS
from .model.bridge import fill, informative, without_empty_layers
from .model.mean_prior import contradictions
from .model.model import Model
from .model.problem import Problem, build_problem
from .model.space import default_kernel
from .posterior.diagnosis import evidence
from .posterior.posterior import Posterior
from .record import Record
from .records.consistency import overlapping_slices
from .records.layers import STEPS, add_layers, mark_hiatuses, tie_equal_depths
from .records.sites import ANTARCTIC, may_be_swapped
from .support.checks import check_whole
from .support.convergence import FEWEST_DRAWS
from .support.memory import check_memory

LOG = logging.getLogger("lamina")

#: Fewer rows do not determine both a length scale and a standard deviation.
FEWEST_ROWS = 3
#: What a step of an age-depth model takes at least.
BYTES_A_STEP = 2000.0


class NotConverged(UserWarning):
    """A fit ended before it had converged. Its draws are returned."""


def fit(
    record: Record,
    method: Literal["gp", "nigp", "npv", "mcmc", "nuts", "ensemble"] = "mcmc",
    kernel: Kernel | None = None,
    gaps: str = "gamma",
    *,
    mean: Literal["constant", "linear", "zero"] | None = None,
    engine: Literal["auto", "markov", "dense"] = "auto",
    priors: dict[str, tuple[float, float]] | None = None,
    fixed: dict[str, float] | None = None,
    estimate: str | tuple[str, ...] = (),
    outliers: Literal["mixture", "student"] | None = None,
    offsets: float | None = None,
    memory: bool = False,
    t_errors: Literal["normal", "student"] = "normal",
    seed: int = 0,
    **options: Any,
) -> Posterior:
    """Fit a curve to a record whose inputs are uncertain but ordered.

    Arguments
    ---------
    record: the measurements.
    method: "mcmc" (the default: samples the posterior), "nuts" (another sampler of the same posterior, with the extra
        ``lamina[nuts]``), "npv" (the paper's variational method), "nigp" and "gp" (ignore the order; for comparison),
        "ensemble" (inputs from another age model, given as ``members`` or ``covariance``; ignores the order).
    kernel: a kernel or a sum. Its parameters are estimated, whatever their values here. Default: Matern32(). For a
        record with places: Matern32() + Matern32() * Nearby() + Linear() * Nearby() + Constant() * EachSite() +
        WhiteNoise(), a curve common to all sites, one of each region, a rate and an offset of each site, and scatter
        of rows beyond their errors; the rates are left out where there are too few values to learn them.
    gaps: prior of the gaps between neighbours of a sequence: "gamma" (default), "exponential", "uniform",
        "log-uniform".
    mean: "constant" (default), "linear" or "zero". Trend terms in the kernel are an alternative, with their own priors.
    engine: "markov", O(N), for Matérn kernels and their sums; "dense", the paper's O(N³), for any kernel; "auto" uses
        "markov" wherever possible.
    priors: (median, factor) of a parameter, e.g. ``{"length": (500, 3)}``: a log-normal, two thirds of which lie
        between median / factor and median * factor. Others get weak priors from the spread of the data. With depths,
        ``acc_mean`` is the mean time per unit of depth, ``alpha`` the shape of accumulation over the usual distance of
        dates, and ``memory`` the depth over which it persists.
    fixed: parameters that are known, e.g. ``{"length": 500}``.
    estimate: "t_scale" and/or "y_scale": the reported errors are known up to a common factor, which is estimated.
    outliers: values that lie off the curve by more than their error: "mixture" (one row in twenty may have ten times
        its error; ``Posterior.outliers`` gives the probability of each row) or "student" (errors of Student's t with
        four degrees of freedom).
    offsets: prior standard deviation of a vertical offset of each sequence, which is estimated; None for no offsets.
    memory: whether the accumulation rate persists from gap to gap, as in Bacon. The depth (or, without depths, the
        number of rows) over which it persists is estimated.
    t_errors: errors of dates that are given as t and t_sd: "normal" (as in the paper) or "student" (Student-t as in
        Bacon, so that a date may be an outlier: ``Posterior.date_outliers``). Dates of other kinds keep theirs.
    seed: the same seed gives the same result, on one CPU or several.
    options: options of the method. mcmc: chains, draws, warmup, max_sweeps, cores (the number of CPUs), progress,
        checkpoint. ensemble: the same, and members, shape (M, N), or covariance, shape (N, N), of the inputs. nuts:
        chains, draws, warmup, cores, target_accept. npv: components, restarts, draws, prediction, covariance,
        max_steps, cores. gp: starts. nigp: starts, max_steps.

    A fit that has not converged still returns its draws, with a warning and the evidence in ``diagnostics``.
    """
    model = Model(
        kernel=default_kernel(record) if kernel is None else kernel,
        gaps=gaps,
        mean=mean,
        priors={} if priors is None else priors,
        fixed={} if fixed is None else fixed,
        estimate=estimate,  # type: ignore[arg-type]
        outliers=outliers,
        offsets=offsets,
        memory=memory,
        t_errors=t_errors,
        engine=engine,
    )
    _warn_of_overlaps(record)
    _warn_of_swapped_coordinates(record)
    return _run(prepare(record, method, model, seed, **options))


@dataclass(frozen=True)
class Fit:
    """A fit whose arguments have been checked, ready to run. Made by ``prepare``."""

    method: Method
    problem: Problem
    seed: int
    options: dict[str, Any]

    def run(self, **more: Any) -> Posterior:
        """Fit, with ``more`` options such as progress. Warns with NotConverged."""
        options = self.options | more
        # On matrices as small as these, several threads of linear algebra only wait for each other.
        with (
            threadpool_limits(limits=1, user_api="blas"),
            watch(lambda: _report_compiling(options.get("progress"))) as compiling,
        ):
            draws = self._draw(options)
            # Compiling is no part of the fit: the next one does without.
            seconds = max(draws.diagnostics["seconds"] - compiling.seconds, 0.0)
            posterior = Posterior(self.problem, replace(draws, diagnostics={**draws.diagnostics, "seconds": seconds}))
        _warn(posterior)
        return posterior

    def _draw(self, options: dict[str, Any]) -> Draws:
        """Run the method on the rows that matter to it, and draw empty layers given those."""
        problem, method = self.problem, self.method
        keep = informative(problem)
        if keep.all() or not (method.infers_inputs and method.has_gap_prior):
            return method.run(problem, seed=self.seed, **options)
        drawn = method.run(without_empty_layers(problem, keep), seed=self.seed, **options)
        return drawn.among(fill(problem, keep, drawn.tau, drawn.phi, self.seed), keep)


def prepare(record: Record, method: str = DEFAULT, model: Model | None = None, seed: int = 0, **options: Any) -> Fit:
    """Check the arguments of ``fit`` and build its problem: raises everything that can be known before the fit.

    model: without it, the arguments of ``fit`` that describe the model are among the ``options``.
    """
    if model is None:
        model, options = Model.split(options, default_kernel(record))
    if not isinstance(record, Record):
        raise RecordError(
            f"fit takes a lamina.Record, got {type(record).__name__}. Make one with lamina.Record(t=..., ...)."
        )
    if not isinstance(method, str) or method not in METHODS:
        raise MethodError(f"unknown method {method!r}. Choose one of: {', '.join(METHODS)}.")
    chosen = METHODS[method]
    chosen.check_options(options)
    chosen.check_model(model, METHODS)
    chosen.check_places(record, METHODS)
    check_whole("seed", seed, 0)
    with threadpool_limits(limits=1, user_api="blas"):
        problem = build_problem(record, model, chosen.has_gap_prior)
        chosen.check_problem(problem, options)
    _check_enough_rows(problem)
    _check_memory(problem, options)
    return Fit(chosen, problem, seed, options)


def _check_enough_rows(problem: Problem) -> None:
    measured = np.count_nonzero(problem.source.measured)
    if measured < FEWEST_ROWS and problem.free[: problem.n_kernel].any():
        names = ", ".join(f"{name!r}: ..." for name in problem.kernel.names)
        raise RecordError(
            f"the record has {measured} rows with a value, too few to estimate the kernel's parameters: give at least "
            f"{FEWEST_ROWS}, or fix them, in Python: fixed={{{names}}}."
        )


def _check_memory(problem: Problem, options: dict[str, Any]) -> None:
    """Raise MethodError for more draws or chains than any memory holds. The arrays of draws are filled up to a half."""
    kept = min(len(problem.record), WATCHED) + len(problem.start)
    for name, fewest in ("draws", 1), ("chains", FEWEST_DRAWS):
        wanted = options.get(name)
        if isinstance(wanted, int | np.integer):
            check_memory(f"{name} = {wanted:,}", 16.0 * wanted * fewest * kept)


def age_depth(
    record: Record, steps: int = STEPS, seed: int = 0, *, hiatus: Sequence[float] = (), **options: Any
) -> Posterior:
    """Fit an age-depth model of the cores of a record: ``Posterior.ages`` gives the time at any depth.

    Outputs are not used: a record without outputs has ``y=nan, y_sd=inf``. Accumulation is a gamma process in depth,
    with unknown mean, shape and memory, so that the result does not depend on the number of steps. Rows of one depth
    have one time.

    steps: the number of steps that a core is divided into, for tables and figures.
    hiatus: depths of hiatuses, each between two rows; in addition to those that the record marks.
    options: as for ``lamina.fit``. Dates given as t and t_sd have Student-t errors here, as in Bacon, so that a date
        may be an outlier (``Posterior.date_outliers``); ``t_errors="normal"`` gives them normal errors. Memory is on
        where there are three dated depths next to each other; ``memory=False`` switches it off.
    """
    _warn_of_overlaps(record)
    return _run(prepare_age_depth(record, steps, seed, hiatus=hiatus, **options))


def prepare_age_depth(
    record: Record, steps: int = STEPS, seed: int = 0, *, hiatus: Sequence[float] = (), **options: Any
) -> Fit:
    """What ``prepare`` is to ``fit``, for ``age_depth``. Errors are about the rows of ``record``, not about layers."""
    record, n = mark_hiatuses(record, hiatus), len(record)
    options = {"t_errors": "normal" if "t_scale" in options.get("estimate", ()) else "student"} | options
    if options.get("memory") is None and any("memory" in (options.get(name) or ()) for name in ("priors", "fixed")):
        options["memory"] = True
    if isinstance(steps, int | np.integer):
        check_memory(f"steps = {steps:,}", BYTES_A_STEP * steps)
    # Without outputs, cores have nothing in common: where they are does not matter.
    alone = replace(record, y=np.full(n, np.nan), y_sd=np.full(n, np.inf), limit=None, places=None)
    layered, rows = add_layers(alone, steps, hiatus)
    layered = tie_equal_depths(layered)
    try:
        prepared = prepare(layered, seed=seed, **options)
        if options.get("memory") is None and can_have_memory(prepared):
            prepared = prepare(layered, seed=seed, **options | {"memory": True})
        return prepared
    except LaminaError as error:
        raise error.renumbered(rows) from None


def can_have_memory(prepared: Fit) -> bool:
    """Whether a method, its gap prior and neighbouring gaps between dates let memory be learnt."""
    problem = prepared.problem
    if problem.model.gaps != "gamma" or not prepared.method.has_memory:
        return False
    between_dates = without_empty_layers(problem, informative(problem))
    return bool(np.isfinite(between_dates.rows.lag).any())


def _run(prepared: Fit) -> Posterior:
    for text in contradictions(prepared.problem):
        warnings.warn(text, UserWarning, stacklevel=3)
    return prepared.run()


def _warn_of_overlaps(record: Record) -> None:
    """Warn of slices that overlap: most likely their thickness is not in the unit of the depth."""
    pairs = overlapping_slices(record) if isinstance(record, Record) else []
    if pairs:
        text = "the slices of {rows} overlap those of their neighbours. Check that thickness is in the unit of depth."
        warnings.warn(str(RecordError(text, rows=sorted({row for pair in pairs for row in pair}))), stacklevel=3)


def _warn_of_swapped_coordinates(record: Record) -> None:
    """Warn of sites that mostly lie in the Antarctic: most likely latitude and longitude are swapped."""
    places = record.places if isinstance(record, Record) else None
    if places is not None and may_be_swapped(places.latitude, places.longitude):
        text = f"most sites lie south of {-ANTARCTIC:g}° S. If that is not so, latitude and longitude are swapped."
        warnings.warn(text, stacklevel=3)


def _report_compiling(progress: Callable[[dict[str, Any]], None] | None) -> None:
    LOG.info(NOTICE)
    if progress is not None:
        progress({"stage": "compiling", "sweeps": 0, "note": NOTICE})


def _warn(posterior: Posterior) -> None:
    facts = posterior.draws.diagnostics
    if facts["interrupted"]:
        warnings.warn("the fit was interrupted; partial results are returned.", NotConverged, stacklevel=4)
    elif not facts["converged"]:
        state = f'method="{facts["method"]}" has not converged ({evidence(facts)}).'
        warnings.warn(f"{state} Check diagnostics before you use the result.", NotConverged, stacklevel=4)
