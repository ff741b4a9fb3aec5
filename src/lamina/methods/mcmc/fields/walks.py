"""Moves of some parameters together: random walks and independent proposals that learn from the warm-up."""

from __future__ import annotations

import math

import numpy as np

from ..metropolis import JOINT_TARGET

Array = np.ndarray

#: Degrees of freedom of the independent proposals, and how much wider they are than the posterior.
FREEDOM, WIDER = 6.0, 1.15
#: The covariance is used after so many rounds, and renewed after so many more.
FIRST, EVERY = 50, 25


class Walk:
    """Mean, covariance and step of p parameters as the warm-up continues."""

    def __init__(self, start: Array) -> None:
        p = len(start)
        self.mean, self.covariance = start.copy(), 0.05 * np.eye(p)
        self.root: Array = 0.2 * np.eye(p)
        self.step = np.ones(1)
        self.rounds, self.again = 0, False

    def arrays(self) -> dict[str, Array]:
        """What a checkpoint keeps, but for the rounds."""
        return {"mean": self.mean, "covariance": self.covariance, "root": self.root, "step": self.step}

    def near(self, here: Array, rng: np.random.Generator) -> Array:
        """A random walk."""
        return here + self.step[0] * (self.root @ rng.standard_normal(len(here)))

    def anywhere(self, here: Array, rng: np.random.Generator) -> tuple[Array, float]:
        """An independent proposal, Student's t, and what it adds to the log-ratio."""
        stretch = WIDER / math.sqrt(rng.gamma(0.5 * FREEDOM, 2.0 / FREEDOM))
        trial = self.mean + stretch * (self.root @ rng.standard_normal(len(here)))
        return trial, self._log_density(here) - self._log_density(trial)

    def _log_density(self, x: Array) -> float:
        u = np.linalg.solve(self.root, x - self.mean) / WIDER
        return -0.5 * (FREEDOM + len(u)) * math.log1p(float(u @ u) / FREEDOM)

    def adapt(self, rate: float, accepted: bool) -> None:
        """The step, after a random walk."""
        self.step[0] *= math.exp(rate * (accepted - JOINT_TARGET))

    def learn(self, here: Array) -> None:
        """The covariance, once a round."""
        if self.again:
            self.mean[:] = here
            self.covariance *= 0.1
            self.again = False
        self.rounds += 1
        share = 1.0 / (self.rounds + 10.0)
        self.mean += share * (here - self.mean)
        off = here - self.mean
        self.covariance += share * (np.outer(off, off) - self.covariance)
        if self.rounds >= FIRST and self.rounds % EVERY == 0:
            self.root[:] = np.linalg.cholesky(self.covariance + 1e-6 * np.eye(len(off)))

    def reset(self) -> None:
        """Start again, from the next draw to learn from: after the last, independent proposals need what was learnt."""
        self.rounds, self.again = 0, True
