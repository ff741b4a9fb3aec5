"""Independent truths in extended precision, for the tests of both engines.

``Oracle`` has the likelihood, its derivatives and predictions for sums of Matérn kernels and trend terms,
from the full covariance matrix. It uses the decimal numbers of the standard library, at about half a
microsecond an operation: NumPy arrays of mpmath numbers give the same digits ten times slower. Two things
differ from the package on purpose. Trend terms are part of the covariance, K + sd² x x', and a flat prior is
one with sd = 1e20 whose normalising constant is taken back (the digits that costs are added beforehand). And
the Matérn kernels are polynomials times exp(-x), differentiated as such.

``closed_form`` has every plain kernel in mpmath, which can differentiate it.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cached_property

import mpmath
import numpy as np

from lamina.kernels import Kernel, Linear, Matern12, Matern32, Matern52, Stationary

FLAT_EXPONENT = 20
#: nu, and p in k = sd² p(x) exp(-x) with x = sqrt(2 nu) r / length; the coefficients are divided by 3
MATERN = {Matern12: ("0.5", [3]), Matern32: ("1.5", [3, 3]), Matern52: ("2.5", [3, 3, 1])}
TWO_PI = "6.28318530717958647692528676655900576839433879875021164194988918461563281257241799725606965068423413"


def closed_form(kernel: Stationary, lag):
    """k(r) of a plain kernel at one lag, in mpmath's current precision."""
    mp = mpmath.mp
    r, sd = mp.mpf(lag), mp.mpf(kernel.sd)
    z = r / mp.mpf(kernel.length)
    match type(kernel).__name__:
        case "Matern12":
            return sd**2 * mp.exp(-z)
        case "Matern32":
            return sd**2 * (1 + mp.sqrt(3) * z) * mp.exp(-mp.sqrt(3) * z)
        case "Matern52":
            return sd**2 * (1 + mp.sqrt(5) * z + 5 * z**2 / 3) * mp.exp(-mp.sqrt(5) * z)
        case "SquaredExponential":
            return sd**2 * mp.exp(-(z**2) / 2)
        case "RationalQuadratic":
            return sd**2 * (1 + z**2 / (2 * mp.mpf(kernel.shape))) ** (-mp.mpf(kernel.shape))
        case "Periodic":
            wave = mp.sin(mp.pi * r / mp.mpf(kernel.period)) / mp.mpf(kernel.length)
            return sd**2 * mp.exp(-2 * wave**2)
        case other:
            raise NotImplementedError(other)


def matern_derivatives(term, lag: np.ndarray) -> list[np.ndarray]:
    """k(r), k'(r), k''(r) of one Matérn term at an array of lags."""
    nu, p = MATERN[type(term)]
    rate = (2 * Decimal(nu)).sqrt() / Decimal(term.length)
    x = lag * rate
    decay = _each(Decimal.exp, -x) * Decimal(term.sd) ** 2 / 3
    found = []
    for order in range(3):
        found.append(sum((c * x**n for n, c in enumerate(p) if n), 0 * x + p[0]) * decay * rate**order)
        slope = [*(n * c for n, c in enumerate(p) if n), 0]
        p = [d - c for d, c in zip(slope, p, strict=True)]  # (p exp(-x))' = (p' - p) exp(-x)
    return found


@dataclass(frozen=True)
class Oracle:
    """Truth for one record. Results are rounded to float64 once, at the end."""

    kernel: Kernel
    tau: np.ndarray
    y: np.ndarray
    y_sd: np.ndarray
    digits: int = 50

    def value(self) -> float:
        """The log-likelihood, trend coefficients integrated out."""
        with self._precision():
            return float(self._value)

    def gradient(self) -> tuple[np.ndarray, np.ndarray]:
        """In tau and in theta. Rows at the same time count as being in row order."""
        with self._precision():
            row = np.arange(len(self.tau))
            sign = np.where(self._lag == 0, np.sign(row[:, None] - row), np.where(self._lag > 0, 1, -1))
            d_tau = (self._T * self._k[1] * sign).sum(axis=1)
            for term in self.kernel.trend:
                x, slope = self._column(term, self._tau)
                d_tau = d_tau + slope * (self._trend_var(term) * (self._T @ x) + Decimal(term.mean) * self._g)
            d_theta = []
            for term in self._curves:
                k, k1, _ = matern_derivatives(term, abs(self._lag))
                d_theta += [-(self._T * abs(self._lag) * k1).sum() / 2, (self._T * k).sum()]
            return _floats(d_tau), _floats(d_theta)

    def gap_hessian(self) -> np.ndarray:
        """Second derivative in each log-gap; tau must not decrease. K^-1 K' is carried from gap to gap."""
        with self._precision():
            return self._gap_hessian()

    def predict(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean (2M,) and covariance (2M, 2M) of (f(at), f'(at)). For Matérn-1/2 only f has a meaning."""
        with self._precision():
            return self._predict(_exact(at))

    def _precision(self):
        flat = any(np.isinf(term.sd) for term in self.kernel.trend)
        return localcontext(prec=self.digits + 20 + (5 * FLAT_EXPONENT if flat else 0))

    @property
    def _curves(self) -> list:
        return [term for term in self.kernel.terms if type(term) in MATERN]

    def _trend_var(self, term) -> Decimal:
        return (Decimal(10) ** FLAT_EXPONENT if np.isinf(term.sd) else Decimal(term.sd)) ** 2

    def _column(self, term, at: np.ndarray) -> tuple[np.ndarray, int]:
        """The trend column at times, and its slope in time."""
        return (at - Decimal(term.origin), 1) if isinstance(term, Linear) else (0 * at + 1, 0)

    def _covariance(self, lag: np.ndarray) -> list[np.ndarray]:
        """k, k', k'' of the stationary part."""
        found = [matern_derivatives(term, lag) for term in self._curves]
        return [sum((one[order] for one in found), 0 * lag) for order in range(3)]

    @cached_property
    def _tau(self) -> np.ndarray:
        return _exact(self.tau)

    @cached_property
    def _lag(self) -> np.ndarray:
        return self._tau[:, None] - self._tau

    @cached_property
    def _k(self) -> list[np.ndarray]:
        return self._covariance(abs(self._lag))

    @cached_property
    def _cholesky(self) -> np.ndarray:
        K = self._k[0] + np.diag(_exact(self.y_sd) ** 2)
        for term in self.kernel.trend:
            x, _ = self._column(term, self._tau)
            K = K + self._trend_var(term) * np.outer(x, x)
        L = 0 * K
        for j in range(len(K)):
            column = K[j:, j] - L[j:, :j] @ L[j, :j] if j else K[:, 0]
            L[j:, j] = column / column[0].sqrt()
        return L

    @cached_property
    def _inverse(self) -> np.ndarray:
        L = self._cholesky
        X = 0 * L
        for i in range(len(L)):
            X[i, :i] = -(L[i, :i] @ X[:i, :i]) / L[i, i] if i else 0
            X[i, i] = 1 / L[i, i]
        return X.T @ X

    @cached_property
    def _residual(self) -> np.ndarray:
        mean = [Decimal(term.mean) * self._column(term, self._tau)[0] for term in self.kernel.trend]
        return _exact(self.y) - sum(mean, 0 * self._tau)

    @cached_property
    def _g(self) -> np.ndarray:
        return self._inverse @ self._residual

    @cached_property
    def _T(self) -> np.ndarray:
        return np.outer(self._g, self._g) - self._inverse

    @cached_property
    def _value(self) -> Decimal:
        L, w = self._cholesky, self._residual.copy()
        for i in range(len(w)):
            w[i] = (w[i] - (L[i, :i] @ w[:i] if i else 0)) / L[i, i]
        log_det = 2 * sum(_each(Decimal.ln, np.diag(L)))
        value = -(len(w) * Decimal(TWO_PI).ln() + log_det + w @ w) / 2
        for term in self.kernel.trend:
            if np.isinf(term.sd):
                value += (self._trend_var(term).ln() + Decimal(TWO_PI).ln()) / 2
        return value

    def _gap_hessian(self) -> np.ndarray:
        (_, k1, k2), P, T, g, n = self._k, self._inverse, self._T, self._g, len(self.tau)
        x, var, mean = 0 * self._tau, 0, 0
        for term in self.kernel.trend:
            if isinstance(term, Linear):
                x, var, mean = self._column(term, self._tau)[0], self._trend_var(term), Decimal(term.mean)
        # S = K^-1 K'. Before the first step all rows move together, which only the linear term notices.
        S = P @ (var * (x[:, None] + x)) if var else 0 * P
        found = []
        for j in range(n - 1):
            a, b = slice(0, j + 1), slice(j + 1, n)
            change = np.concatenate([-k1[j, a], k1[j, b]]) - var * x
            change[j] = -var * x[j]
            S = S + np.outer(P[j], change)
            S[:, j] += P @ change
            u = (np.arange(n) > j).astype(int).astype(object)
            K1g = np.concatenate([k1[a, b] @ g[b], k1[b, a] @ g[a]]) + var * (u * (x @ g) + x * (u @ g))
            g1 = -(P @ (K1g + mean * u))
            first = (T[a, b] * k1[a, b]).sum() + var * (u @ T @ x) + mean * (u @ g)
            second = (T[a, b] * k2[a, b]).sum() + var * T[b, b].sum() + (S * S.T).sum() / 2
            second += K1g @ g1 + mean * (u @ g1)
            gap = self._tau[j + 1] - self._tau[j]
            found.append(gap * (gap * second + first))
        return _floats(found)

    def _predict(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        lag, between = self._tau[:, None] - at, at[:, None] - at
        k, k1, _ = self._covariance(abs(lag))
        C = np.hstack([k, -k1 * np.where(lag > 0, 1, -1)])
        k, k1, k2 = self._covariance(abs(between))
        mixed = -k1 * np.where(between > 0, 1, -1)
        prior = np.block([[k, mixed], [mixed.T, -k2]])
        mean = 0 * C[0]
        for term in self.kernel.trend:
            x, _ = self._column(term, self._tau)
            values, slope = self._column(term, at)
            column = np.concatenate([values, 0 * values + slope])
            C = C + self._trend_var(term) * np.outer(x, column)
            prior = prior + self._trend_var(term) * np.outer(column, column)
            mean = mean + Decimal(term.mean) * column
        PC = self._inverse @ C
        return _floats(mean + PC.T @ self._residual), _floats(prior - C.T @ PC)


def _exact(values) -> np.ndarray:
    return np.array([Decimal(float(v)) for v in values], dtype=object)


def _each(function, values: np.ndarray) -> np.ndarray:
    return np.array([function(v) for v in values.flat], dtype=object).reshape(values.shape)


def _floats(values) -> np.ndarray:
    return np.asarray(values, dtype=object).astype(float)
