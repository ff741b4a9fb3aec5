"""What every method returns: weighted draws of the inputs and parameters, in internal units."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

Array = np.ndarray
#: Arrays by name from which a sampler can continue.
Checkpoint = dict[str, Array]


def affordable(rows: int, most: int, fewest: int, work: int) -> int:
    """How many draws to compute with: between ``fewest`` and ``most``, with draws times rows below ``work``."""
    return min(most, max(fewest, work // max(rows, 1)))


def evenly(n: int, most: int) -> Array:
    """At most ``most`` of the positions 0 to n - 1, evenly spaced, the first and the last among them."""
    return np.arange(n) if n <= most else np.unique(np.linspace(0, n - 1, most).astype(int))


@dataclass(frozen=True)
class Draws:
    """S draws of (tau, phi), with weights that sum to one."""

    tau: Array  #: (S, N) internal time
    phi: Array  #: (S, P)
    weight: Array  #: (S,)
    chains: int = 1  #: draws are in order of chain
    extra_var: Array | None = None  #: (N,) output variance that a method adds (nigp)
    shift: Array | None = None  #: (S, N) added to y: what is drawn in place of limits
    factor: Array | None = None  #: (S, N) of the output variance, where there may be outliers
    moments: Array | None = None  #: (2, N) mean and sd of tau, if computed from more draws than were kept
    diagnostics: dict[str, Any] = field(default_factory=dict)
    checkpoint: Checkpoint | None = None  #: the state of a sampler that has not finished

    @staticmethod
    def equal(tau: Array, phi: Array, **rest: Any) -> Draws:
        """Draws of equal weight."""
        return Draws(tau, phi, np.full(len(tau), 1.0 / len(tau)), **rest)

    def among(self, tau: Array, keep: Array) -> Draws:
        """The draws of the rows ``keep`` (N,) of a problem, with ``tau`` (S, N) of all its rows."""
        changes: dict[str, Any] = {"tau": tau, "diagnostics": dict(self.diagnostics)}
        if self.moments is not None:
            mean = self.weight @ tau
            changes["moments"] = np.array([mean, np.sqrt(self.weight @ (tau - mean) ** 2)])
            changes["moments"][:, keep] = self.moments
        for name, known, empty in ("shift", self.shift, 0.0), ("factor", self.factor, 1.0):
            if known is not None:
                changes[name] = np.full(tau.shape, empty)
                changes[name][:, keep] = known
        if "watched_rows" in self.diagnostics:
            changes["diagnostics"]["watched_rows"] = np.flatnonzero(keep)[self.diagnostics["watched_rows"]]
        return replace(self, **changes)

    def taken(self, which: Array | slice) -> Draws:
        """Some of the draws, with weights that sum to one again."""
        weight = self.weight[which]
        return Draws(
            self.tau[which],
            self.phi[which],
            weight / weight.sum(),
            extra_var=self.extra_var,
            shift=None if self.shift is None else self.shift[which],
            factor=None if self.factor is None else self.factor[which],
        )
