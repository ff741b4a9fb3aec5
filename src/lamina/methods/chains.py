"""Chain: one chain of a sampler, on either engine, and the draws that it keeps.

Convergence is judged on the parameters and, in a long record, on a sample of the inputs. All inputs are kept for no
more draws than the user wants, so that memory depends on these and not on the number of sweeps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from ..model.problem import Problem
from .starts import starting_point

Array = np.ndarray

#: With more inputs than this, convergence is judged on a regular sample of them.
WATCHED = 1000
#: Draws of records longer than this are kept in single precision, if it resolves FINENESS of every error of a date, and
#: no more of them than fill MOST_BYTES.
SINGLE_PRECISION_ABOVE, FINENESS, MOST_BYTES = 5000, 0.02, 400_000_000
#: Draws go from the compiled chain to their places in parts of about this many numbers.
NUMBERS_AT_ONCE = 2_000_000
#: Convergence is judged on at least this many draws of all chains, however few the user wants.
FEWEST_WATCHED = 1000


class DrawBudget(NamedTuple):
    """How many draws a chain keeps: at least these, and fewer than twice as many."""

    watched: int  #: of the parameters and of the inputs that convergence is judged on
    complete: int  #: of all inputs


def draw_budget(problem: Problem, draws: int, chains: int) -> DrawBudget:
    """What each chain keeps if the user wants ``draws`` in all."""
    watched = max(max(draws, FEWEST_WATCHED) // chains, 10)
    size = _precision(problem).itemsize
    size += 16 if problem.has_renewals else 0  # shift and factor
    affordable = MOST_BYTES // (size * len(problem.record))
    return DrawBudget(watched, min(max(min(draws, affordable) // chains, 1), watched))


class Chain(ABC):
    """One chain: where it is, its random numbers, and the draws it has kept."""

    def __init__(
        self, problem: Problem, seed: np.random.SeedSequence, budget: DrawBudget, latent: Array | None = None
    ) -> None:
        """``latent`` (N,): the rows whose input is an unknown, by default those that are not exact."""
        self.problem, self.rng, self.budget = problem, np.random.default_rng(seed), budget
        #: (N,) and (P,): the inputs and parameters now
        self.now: tuple[Array, Array] = starting_point(problem, self.rng)
        n, uncertain = len(problem.record), np.flatnonzero(~problem.record.exact if latent is None else latent)
        self.rows = uncertain[:: max(len(uncertain) // WATCHED, 1)]  #: inputs that convergence is judged on
        self.kept, self.stride = 0, 1  #: number of draws; every ``stride``-th of them is complete
        self.watched = np.empty((2 * budget.watched, len(self.rows)))
        self.phi = np.empty((2 * budget.watched, len(problem.start)))
        self.tau = np.empty((2 * budget.complete, n), dtype=_precision(problem))
        renewed = self.tau.shape if problem.has_renewals else (0, n)
        self.shift, self.factor = np.empty(renewed), np.empty(renewed)  #: as in ``Draws``

    @abstractmethod
    def advance(self, count: int, thin: int, adapt: bool) -> None:
        """``count`` times ``thin`` rounds; outside warm-up (``adapt``), every ``thin``-th is kept."""

    @abstractmethod
    def snapshot(self) -> dict[str, Array]:
        """Where the chain is and how it proposes, as arrays; not its draws and random numbers."""

    @abstractmethod
    def restore(self, arrays: dict[str, Array]) -> None:
        """Go back to where ``snapshot`` was taken."""

    @abstractmethod
    def reset_adaptation(self) -> None:
        """Begin to learn the covariance of theta anew: earlier parts of the warm-up were far from the posterior."""

    @property
    def moments(self) -> tuple[Array, Array] | None:
        """Mean and variance (N,) of the inputs over all sweeps after warm-up, where a chain sums them up."""
        return None

    @property
    def complete(self) -> dict[str, Array]:
        """The complete draws: tau (S, N), phi (S, P), and shift and factor where there are any."""
        n = self.kept // self.stride
        found = {"tau": self.tau[:n], "phi": self.phi[self.stride - 1 : self.kept : self.stride]}
        return found | ({"shift": self.shift[:n], "factor": self.factor[:n]} if self.problem.has_renewals else {})

    def add(self, tau: Array, phi: Array, *renewed: Array) -> None:
        """Keep draws tau (n, N), phi (n, P), and shift and factor (n, N) where there are any."""
        here = slice(self.kept, self.kept + len(tau))
        self.watched[here], self.phi[here] = tau[:, self.rows], phi
        complete = (self.tau, self.shift, self.factor) if renewed else (self.tau,)
        for k in range(len(tau)):
            self.kept += 1
            if self.kept % self.stride == 0:
                place = self.kept // self.stride
                for kept, drawn in zip(complete, (tau, *renewed), strict=True):
                    kept[place - 1] = drawn[k]
                if place == len(self.tau):
                    for kept in complete:
                        _halve(kept, place)
                    self.stride *= 2

    def halve(self) -> None:
        """Drop every other draw, the first one included."""
        if self.stride == 1:
            for kept in self.tau, self.shift, self.factor:
                _halve(kept, self.kept)
        for kept in self.watched, self.phi:
            _halve(kept, self.kept)
        self.kept, self.stride = self.kept // 2, max(self.stride // 2, 1)


def _halve(kept: Array, n: int) -> None:
    """The 2nd, 4th, ... of the first n move to the front."""
    kept[: n // 2] = kept[1 : 2 * (n // 2) : 2]


def _precision(problem: Problem) -> np.dtype:
    """Of the inputs that are kept."""
    errors = problem.scale[problem.scale > 0.0]
    grain = np.spacing(np.abs(problem.rows.t).max().astype(np.float32))
    fine = not errors.size or grain <= FINENESS * errors.min()
    return np.dtype(np.float32 if fine and len(problem.record) > SINGLE_PRECISION_ABOVE else np.float64)
