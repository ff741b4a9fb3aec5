"""What every method returns: weighted draws of the inputs and parameters, in internal units."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray
#: Arrays by name from which a sampler can go on.
Checkpoint = dict[str, Array]


@dataclass(frozen=True)
class Draws:
    """S draws of (tau, phi), with weights that sum to one."""

    tau: Array  #: (S, N) internal time
    phi: Array  #: (S, P)
    weight: Array  #: (S,)
    chains: int = 1  #: draws are in order of chain
    extra_var: Array | None = None  #: (N,) output variance that a method adds (nigp)
    diagnostics: dict[str, Any] = field(default_factory=dict)
    checkpoint: Checkpoint | None = None  #: where a sampler stands that has not finished

    @staticmethod
    def equal(tau: Array, phi: Array, **rest: Any) -> Draws:
        """Draws of equal weight."""
        return Draws(tau, phi, np.full(len(tau), 1.0 / len(tau)), **rest)
