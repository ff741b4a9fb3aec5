"""fit: a record and a method in, a Posterior out."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from threadpoolctl import threadpool_limits

from .errors import MethodError, RecordError
from .kernels import Kernel, Matern32
from .methods import ensemble, gp, mcmc, nigp, npv, nuts
from .methods.draws import Draws
from .model.problem import Problem, pose
from .posterior.posterior import Posterior
from .record import Record
from .records.layers import STEPS, with_layers

Method = Literal["gp", "nigp", "npv", "mcmc", "nuts", "ensemble"]

METHODS: dict[str, Callable[..., Draws]] = {
    "gp": gp.run,
    "nigp": nigp.run,
    "npv": npv.run,
    "mcmc": mcmc.run,
    "nuts": nuts.run,
    "ensemble": ensemble.run,
}
#: Methods that infer the inputs from their order, and with them the spacing of the rows and the scale of the errors.
USE_ORDER = ("mcmc", "nuts", "npv")
#: Methods that infer the inputs.
LEARN_INPUTS = (*USE_ORDER, "ensemble")
#: What a method may say of itself that tells how far from convergence it is.
EVIDENCE = ("r_hat", "ess", "effective_members", "sweeps", "steps", "last_change", "divergent", "evaluations")
#: Fewer rows cannot tell a length scale from a standard deviation.
FEWEST_ROWS = 3


class NotConverged(UserWarning):
    """A fit ended before it had converged; its draws are returned all the same."""


def fit(
    record: Record,
    method: Method = "mcmc",
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
    seed: int = 0,
    **options: Any,
) -> Posterior:
    """Fit a curve to a record whose inputs are uncertain but ordered.

    Arguments
    ---------
    record: the measurements.
    method: "mcmc" (the default: exact, averaged over the posterior), "nuts" (an independent sampler of the same
        posterior, extra ``lamina[nuts]``), "npv" (the paper's variational method), "nigp" and "gp" (no order; for
        comparison), "ensemble" (no order; inputs that another age model has found, in ``members`` or ``covariance``).
    kernel: a kernel or a sum; its parameters are learnt, whatever values it is given with. Default: Matern32().
    gaps: prior of the gaps between neighbours of a sequence: "gamma" (default), "exponential", "uniform",
        "log-uniform".
    mean: "constant" (default), "linear" or "zero". Trend terms in the kernel say the same with priors of their own.
    engine: "markov", O(N), for Matérn kernels and their sums; "dense", the paper's O(N³), for any kernel; "auto" takes
        "markov" wherever that can be.
    priors: (median, factor) of a parameter, e.g. ``{"length": (500, 3)}``: a log-normal, two thirds of which lie
        between median / factor and median * factor. Others get weak priors from the spread of the data.
    fixed: parameters that are known, e.g. ``{"length": 500}``.
    estimate: "t_scale" and/or "y_scale": the reported errors are known up to a common factor, which is learnt.
    outliers: values that lie off the curve by more than their error: "mixture" (one row in twenty may have ten times
        its error; ``Posterior.outliers`` tells which) or "student" (errors of Student's t with four degrees).
    offsets: prior standard deviation of a vertical offset of each sequence, which is learnt; None for no offsets.
    memory: whether the pace of a gap lasts into the next, as in Bacon; over which depth (or how many rows, without
        depths) is learnt.
    seed: the same seed gives the same result, on one core or several.
    options: of the method, see ``lamina.methods``: for mcmc chains, draws, warmup, max_sweeps, cores, progress; for
        ensemble these, and members, shape (M, N), or covariance, shape (N, N), of the inputs; for nuts chains, draws,
        warmup, cores; for npv components, restarts, draws, prediction, max_steps; for gp and nigp starts.

    A fit that has not converged returns all the same, with a warning and the evidence in ``diagnostics``.
    """
    # On matrices as small as these, several threads of linear algebra only wait for each other.
    with threadpool_limits(limits=1, user_api="blas"):
        model: dict[str, Any] = {"mean": mean, "engine": engine, "priors": priors, "fixed": fixed, "estimate": estimate}
        model |= {"outliers": outliers, "offsets": offsets, "memory": memory}
        run, problem = prepare(record, method, kernel, gaps, seed=seed, **model, **options)
        posterior = Posterior(problem, run(problem, seed=seed, **options))
    _warn(posterior)
    return posterior


def prepare(
    record: Record,
    method: str = "mcmc",
    kernel: Kernel | None = None,
    gaps: str = "gamma",
    *,
    mean: str | None = None,
    engine: str = "auto",
    priors: dict[str, tuple[float, float]] | None = None,
    fixed: dict[str, float] | None = None,
    estimate: str | tuple[str, ...] = (),
    outliers: str | None = None,
    offsets: float | None = None,
    memory: bool = False,
    seed: int = 0,
    **options: Any,
) -> tuple[Callable[..., Draws], Problem]:
    """The method and the problem it is to solve: raises what ``fit`` would raise for these arguments."""
    if not isinstance(record, Record):
        raise RecordError(
            f"fit takes a lamina.Record, got {type(record).__name__}. Make one with lamina.Record(t=..., ...)."
        )
    if not isinstance(method, str) or method not in METHODS:
        raise MethodError(f"unknown method {method!r}. Choose one of: {', '.join(METHODS)}.")
    run = METHODS[method]
    known = [name for name in inspect.signature(run).parameters if name not in ("problem", "seed")]
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise MethodError(f'method="{method}" has no option {unknown[0]!r}; it has: {", ".join(known)}.')
    estimate = (estimate,) if isinstance(estimate, str) else estimate
    if estimate and method not in USE_ORDER:
        raise MethodError(f'method="{method}" cannot estimate {estimate[0]}; {", ".join(USE_ORDER)} can.')
    _check_options(run, options)
    if not (isinstance(seed, int | np.integer) and not isinstance(seed, bool) and seed >= 0):
        raise MethodError(f"seed must be a whole number of at least 0, got {seed!r}.")
    kernel = Matern32() if kernel is None else kernel
    if memory is not False and method != "mcmc":
        raise MethodError(f'method="{method}" has no memory between gaps. Use method="mcmc".')
    learns = method in USE_ORDER
    problem = pose(record, kernel, gaps, mean, priors, fixed, estimate, learns, engine, outliers, offsets, memory)
    _check_method(method, problem)
    if method == "ensemble":
        ensemble.check(problem, options.get("members"), options.get("covariance"))
    measured = np.count_nonzero(record.measured)
    if measured < FEWEST_ROWS and problem.free[: problem.n_kernel].any():
        names = ", ".join(f"{name!r}: ..." for name in problem.kernel.names)
        raise RecordError(
            f"the record has {measured} rows with a value, too few to learn the kernel's parameters: give at least "
            f"{FEWEST_ROWS}, or fix them, in Python: fixed={{{names}}}."
        )
    return run, problem


def age_depth(
    record: Record, steps: int = STEPS, seed: int = 0, *, hiatus: Sequence[float] = (), **options: Any
) -> Posterior:
    """An age-depth model of the cores of a record: ``Posterior.ages`` tells the time at any depth.

    Values are not used, so that none need be measured: give ``y=nan, y_sd=inf``. With values, a fit of
    ``with_layers(record)`` finds ages and curve together. The prior is that of the time per unit of depth, the same
    for all steps of a sequence, with its mean and its spread (alpha) unknown.

    steps: into how many a core is cut; hiatus: depths of the hiatuses that the record has; options: of ``lamina.fit``.
    """
    n = len(record)
    alone = replace(record, y=np.full(n, np.nan), y_sd=np.full(n, np.inf), limit=None)
    return fit(with_layers(alone, steps, hiatus), seed=seed, **options)


def _check_method(method: str, problem: Problem) -> None:
    """What a method cannot do with a record. mcmc can do everything."""
    rows = problem.rows

    def where(mask: np.ndarray) -> np.ndarray:
        """Rows as the user knows them: several may be one layer."""
        return np.flatnonzero(mask[problem.layer])

    undated, limits = where(np.isinf(rows.t_var)), where(rows.limit != 0)
    bounded, tabulated = where(rows.bounded), where(rows.size > 0)
    blocks, least = where(rows.block >= 0), where(rows.least > 0.0)
    lacks = {
        "gp": ((undated, "needs a date for every row"),),
        "nigp": ((undated, "needs a date for every row"),),
        "npv": (
            (undated, "needs a date for every row"),
            (tabulated, "takes Gaussian dates only"),
            (blocks, "needs to know the order of rows at equal depth"),
            (least, "has no least gaps"),
        ),
        "nuts": (
            (blocks, "needs to know the order of rows at equal depth"),
            (bounded, "cannot follow a date with hard bounds"),
        ),
    }
    for wrong, what in lacks.get(method, ()):
        if wrong.size:
            raise MethodError(f'method="{method}" {what}, see {{rows}}. Use method="mcmc".', rows=wrong)
    if method != "mcmc" and problem.has_renewals:
        what = "outliers" if problem.outliers else "limits, see {rows}"
        instead = "" if problem.outliers else ", or leave them out (--limiting drop on the command line)"
        raise MethodError(f'method="{method}" has no {what}. Use method="mcmc"{instead}.', rows=limits)


def _check_options(run: Callable[..., Draws], options: dict[str, Any]) -> None:
    """Counts must be counts; the other options are checked where they are used."""
    progress = options.get("progress")
    if progress is not None and not callable(progress):
        raise MethodError(f"progress must be a function of one dict, got {progress!r}.")
    accept = options.get("target_accept", 0.9)
    if not (isinstance(accept, int | float) and 0.0 < accept < 1.0):
        raise MethodError(f"target_accept must lie between 0 and 1, got {accept!r}.")
    for name, value in options.items():
        annotation = str(inspect.signature(run).parameters[name].annotation)
        if not annotation.startswith("int") or (value is None and "None" in annotation):
            continue
        if not (isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= 1):
            raise MethodError(f"{name} must be a whole number of at least 1, got {value!r}.")


def _warn(posterior: Posterior) -> None:
    facts = posterior.draws.diagnostics
    if facts["interrupted"]:
        warnings.warn("the fit was interrupted; what there is was kept.", NotConverged, stacklevel=3)
    elif not facts["converged"]:
        shown = {name: facts[name] for name in EVIDENCE if name in facts}
        said = ", ".join(f"{name} = {value:.4g}" for name, value in shown.items())
        warnings.warn(
            f'method="{facts["method"]}" has not converged ({said}). Look at diagnostics before using the result.',
            NotConverged,
            stacklevel=3,
        )
