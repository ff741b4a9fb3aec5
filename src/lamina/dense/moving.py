"""One input moves at a time: K^-1 kept up to date by the Woodbury identity, as the paper's MCMC needs it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from ..errors import KernelError
from ..kernels import Kernel
from . import NOT_DEFINITE, NoCurve, inverse_of, solve

Array = np.ndarray


class Regression(NamedTuple):
    """One row of y predicted from all others: u' y, its error and the variance of that error."""

    u: Array  #: (N,): weights of the other rows, zero at the row itself
    var: float
    error: float

    @property
    def log_density(self) -> float:
        """log N(error; 0, var), without the constant."""
        return -0.5 * (float(np.log(self.var)) + self.error**2 / self.var)


class Proposal(NamedTuple):
    """One input moved to a new time, and what accepting it needs."""

    value: float  #: log-likelihood with the input moved
    row: int
    tau: float
    y: float  #: of the row, there
    c: Array  #: (N,): the moved row of K
    moved: Regression


@dataclass(frozen=True)
class MovingInverse:
    """K^-1 and the log-likelihood of zero-mean y, kept while inputs move one at a time (the paper's MCMC), Eq. (50).

    When input i moves, only row and column i of K change. Taking the row out and putting it back elsewhere are two
    rank-one changes of K^-1.

    O(N²) a proposal, O(N²) an acceptance, and one factorisation in ``REFRESH`` accepted moves to stop drift.
    Trend terms are not looked at: pass y less the trend, and where that changes with the input, y at the new place.
    """

    kernel: Kernel
    tau: Array  #: (N,)
    y: Array  #: (N,)
    y_sd: Array  #: (N,)
    K: Array  #: (N, N)
    inverse: Array  #: (N, N): K^-1
    value: float  #: the log-likelihood
    moves: int = 0  #: accepted since the last factorisation

    REFRESH: ClassVar[int] = 100

    @classmethod
    def start(cls, kernel: Kernel, tau: Array, y: Array, y_sd: Array) -> MovingInverse:
        """Factorise K at tau: O(N³)."""
        s = solve(kernel.stationary or NoCurve(), tau, y, y_sd)
        return cls(kernel, tau, y, y_sd, s.k.covariance(s.lag) + np.diag(y_sd**2), inverse_of(s.L), s.value)

    def propose(self, row: int, tau: float, y: float | None = None) -> Proposal:
        """The log-likelihood with input ``row`` moved to ``tau``, and its output to ``y`` if that is given: O(N²)."""
        k = self.kernel.stationary or NoCurve()
        c = k.covariance(np.abs(self.tau - tau))
        c[row] = self.K[row, row]
        y = float(self.y[row]) if y is None else y
        here, moved = self._regress(row, self.K[row], float(self.y[row])), self._regress(row, c, y)
        return Proposal(self.value + moved.log_density - here.log_density, row, float(tau), y, c, moved)

    def accept(self, move: Proposal) -> MovingInverse:
        """The state after the move: O(N²), and O(N³) once in ``REFRESH`` moves."""
        i = move.row
        tau, y = self.tau.copy(), self.y.copy()
        tau[i], y[i] = move.tau, move.y
        if self.moves + 1 >= self.REFRESH:
            return self.start(self.kernel, tau, y, self.y_sd)
        K = self.K.copy()
        K[i] = K[:, i] = move.c
        p, w = self.inverse[i], -move.moved.u
        w[i] = 1.0
        inverse = self.inverse - np.outer(p, p / p[i]) + np.outer(w, w / move.moved.var)
        return replace(self, tau=tau, y=y, K=K, inverse=inverse, value=move.value, moves=self.moves + 1)

    def _regress(self, row: int, c: Array, y: float) -> Regression:
        """Row ``row``, with covariances c and output y, from the others.

        One step of iterative refinement, and var as the quadratic form Var(y_i - u' y), whose error is of
        second order in that of u. Without them, y_sd = 1e-3 sd leaves three digits of the log-likelihood;
        with them, eight.
        """
        p = self.inverse[row]
        own = c[row]
        c = c.copy()
        c[row] = 0.0
        u = np.zeros_like(c)
        for _ in range(2):
            step = self.inverse @ (c - self._without(row, u))
            u += step - p * (step[row] / p[row])
            u[row] = 0.0
        var = float(own - c @ u - u @ (c - self._without(row, u)))
        if not var > 0.0:
            raise KernelError(NOT_DEFINITE)
        return Regression(u, var, y - float(u @ self.y))

    def _without(self, row: int, u: Array) -> Array:
        """K u with row ``row`` of the result set to zero."""
        product = self.K @ u
        product[row] = 0.0
        return product
