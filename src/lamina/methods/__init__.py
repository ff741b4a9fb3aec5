"""The methods: one file or folder each, one shape. Each takes a ``Problem`` and returns ``Draws``.

Each file ends with a ``Method``, which states what the method needs, infers and cannot do. ``registry`` has them all.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..errors import MethodError
from ..model.model import Model
from ..model.problem import Problem
from ..model.rows import Rows
from ..record import Record
from ..support.checks import check_whole
from .draws import Draws
from .words import Words

Array = np.ndarray


class Lack(NamedTuple):
    """Something that a method cannot do with some rows."""

    rows: Callable[[Rows], Array]  #: (N,) mask of them
    what: str  #: in words, after the name of the method
    remedy: str  #: what the user can do


UNDATED = Lack(
    lambda rows: np.isinf(rows.t_var), "needs a date for every row", 'Use method="mcmc", or leave these rows out'
)
TABULATED = Lack(
    lambda rows: rows.size > 0,
    "takes Gaussian dates only",
    'Use method="mcmc", or give these rows t and t_sd without a date of their own kind',
)
BOUNDED = Lack(lambda rows: rows.bounded, "cannot handle a date with hard bounds", 'Use method="mcmc"')
EQUAL_DEPTHS = Lack(
    lambda rows: rows.block >= 0,
    "needs to know the order of rows at equal depth",
    'Use method="mcmc", or tie these rows if they are one layer (tie=, --equal-depth tie)',
)
LEAST_GAPS = Lack(
    lambda rows: rows.least > 0.0, "has no minimum gaps", 'Use method="mcmc" or method="nuts", or leave least_gap out'
)


@dataclass(frozen=True)
class Method:
    """A method: how it is run and worded, what it infers and uses, and what it cannot do."""

    name: str
    run: Callable[..., Draws]  #: (problem, seed, ...options) -> Draws
    title: str  #: in a few words
    words: Words  #: how the report words it, and what it cites
    infers_inputs: bool  #: or takes them as measured
    has_gap_prior: bool  #: has a prior of the gaps; learns, if asked, the scale of the errors
    has_memory: bool = False  #: between gaps
    has_renewals: bool = False  #: limits and outliers
    has_places: bool = False  #: fits records of several sites
    needs: tuple[str, ...] = ()  #: options of which one must be given: ages of another model
    lacks: tuple[Lack, ...] = ()
    check_own: Callable[[Problem, dict[str, Any]], None] | None = None  #: raises what else cannot be, by options

    @property
    def options(self) -> Mapping[str, inspect.Parameter]:
        """The options of the method by name: the arguments of ``run`` after the problem and the seed."""
        parameters = inspect.signature(self.run).parameters
        return {name: one for name, one in parameters.items() if name not in ("problem", "seed")}

    @property
    def chains(self) -> bool:
        """Whether it runs chains that report progress and can continue from a checkpoint."""
        return "checkpoint" in self.options

    def check_model(self, model: Model, others: Mapping[str, Method]) -> None:
        """Raise MethodError for what the method lacks, whatever the record; ``others`` may have it."""
        if model.estimate and not self.has_gap_prior:
            can = ", ".join(name for name, other in others.items() if other.has_gap_prior)
            raise MethodError(f'method="{self.name}" cannot estimate {model.estimate[0]}; {can} can.')
        if model.t_errors != "normal" and not self.has_gap_prior:
            can = ", ".join(name for name, other in others.items() if other.has_gap_prior)
            raise MethodError(f'method="{self.name}" takes normal dates only; {can} take t_errors="student".')
        if model.memory and not self.has_memory:
            raise MethodError(f'method="{self.name}" has no memory between gaps. Use method="mcmc".')

    def check_places(self, record: Record, others: Mapping[str, Method]) -> None:
        """Raise MethodError for a record with places, if the method has none; ``others`` may."""
        if record.places is None or self.has_places:
            return
        can = [f'method="{name}"' for name, other in others.items() if other.has_places]
        instead = f"Use {' or '.join(can)}, or fit" if can else "Fit"
        raise MethodError(
            f'method="{self.name}" has no places: it would fit one curve through the rows of all {len(record.places)} '
            f"sites. {instead} each site by itself, in a record without site, latitude and longitude."
        )

    def check_problem(self, problem: Problem, options: dict[str, Any]) -> None:
        """Raise MethodError for what the method cannot do with a record."""
        for lack in self.lacks:
            wrong = np.flatnonzero(lack.rows(problem.rows)[problem.layer])
            if wrong.size:
                raise MethodError(f'method="{self.name}" {lack.what}, see {{rows}}. {lack.remedy}.', rows=wrong)
        if problem.has_renewals and not self.has_renewals:
            limits = np.flatnonzero((problem.rows.limit != 0)[problem.layer])
            outliers = problem.model.outliers is not None
            what = "outliers" if outliers else "limits, see {rows}"
            instead = "" if outliers else ", or leave them out (--limiting drop on the command line)"
            raise MethodError(f'method="{self.name}" has no {what}. Use method="mcmc"{instead}.', rows=limits)
        if self.check_own is not None:
            self.check_own(problem, options)

    def check_options(self, options: dict[str, Any]) -> None:
        """Raise MethodError for options that the method does not have, and for counts that are none."""
        known = self.options
        unknown = sorted(set(options) - set(known))
        if unknown:
            raise MethodError(f'method="{self.name}" has no option {unknown[0]!r}; it has: {", ".join(known)}.')
        progress = options.get("progress")
        if progress is not None and not callable(progress):
            raise MethodError(f"progress must be a function of one dict, got {progress!r}.")
        for name, value in options.items():
            annotation = str(known[name].annotation)
            if not annotation.startswith("int") or (value is None and "None" in annotation):
                continue
            check_whole(name, value, 1)
