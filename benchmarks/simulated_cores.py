"""Simulated cores with a known truth: three models of accumulation, written from their papers.

Bacon's autoregressive gamma sections (Blaauw & Christen 2011), a compound Poisson-gamma process with lines between its
knots (Haslett & Parnell 2008), and a log-Gaussian accumulation rate (an Ornstein-Uhlenbeck process).
"""

from __future__ import annotations

import math

import numpy as np

import lamina

LENGTH, YEARS = 100.0, 20.0

Array = np.ndarray


def bacon(rng: np.random.Generator) -> tuple[Array, Array]:
    """Depths and ages: sections of 2.5 with gamma rates of shape 1.5, and memory of Bacon's default prior."""
    thick = 2.5
    n, w = round(LENGTH / thick), rng.beta(5.0, 5.0) ** thick
    rate = rng.gamma(1.5, YEARS / 1.5, n)
    for j in range(n - 2, -1, -1):
        rate[j] = w * rate[j + 1] + (1.0 - w) * rate[j]
    return np.linspace(0.0, LENGTH, n + 1), np.concatenate([[0.0], np.cumsum(rate * thick)])


def bchron(rng: np.random.Generator) -> tuple[Array, Array]:
    """Depths and ages: knots of a Poisson process, gamma times between them."""
    density, shape = rng.uniform(0.15, 0.6), rng.uniform(0.7, 2.0)
    knots = np.sort(rng.uniform(0.0, LENGTH, rng.poisson(density * LENGTH)))
    times = rng.gamma(shape, YEARS / density / shape, len(knots) + 1)
    return np.array([0.0, *knots, LENGTH]), np.concatenate([[0.0], np.cumsum(times)])


def log_gaussian(rng: np.random.Generator) -> tuple[Array, Array]:
    """Depths and ages: the logarithm of the rate has a standard deviation of 0.3 to 0.8 and a length of 5 to 20."""
    n, length, sd = 1000, rng.uniform(5.0, 20.0), rng.uniform(0.3, 0.8)
    step = LENGTH / n
    w, z = math.exp(-step / length), sd * rng.standard_normal(n)
    for j in range(1, n):
        z[j] = w * z[j - 1] + math.sqrt(1.0 - w * w) * z[j]
    return np.linspace(0.0, LENGTH, n + 1), np.concatenate([[0.0], np.cumsum(YEARS * np.exp(z) * step)])


MODELS = {
    "Bacon's autoregressive gamma": bacon,
    "Bchron's compound Poisson-gamma": bchron,
    "log-Gaussian": log_gaussian,
}


def simulated(name: str, seed: int, errors: str = "normal") -> tuple[lamina.Record, Array]:
    """A core of 12 to 29 dates, and its true ages. Student-t errors are those of Bacon, t(3, 4)."""
    rng = np.random.default_rng([seed, list(MODELS).index(name)])
    depth = np.sort(rng.uniform(0.0, LENGTH, int(rng.integers(12, 30))))
    truth = np.interp(depth, *MODELS[name](rng))
    sd = math.exp(rng.uniform(math.log(15.0), math.log(80.0)))
    n = len(depth)
    error = rng.standard_normal(n) if errors == "normal" else math.sqrt(4.0 / 3.0) * rng.standard_t(6, n)
    return lamina.Record(truth + sd * error, sd, np.nan, np.inf, depth=depth), truth
