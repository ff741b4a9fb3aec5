"""Random records, and the kernels that the laws of the Markov engine are stated over.

The engine is compiled once for each combination of Matérn kernels and number of trend terms, which takes seconds:
``KERNELS`` has seven of them, and tests share these.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from lamina import Record
from lamina.kernels import Constant, Kernel, Linear, Matern12, Matern32, Matern52

KERNELS: dict[str, Kernel] = {
    "matern12": Matern12(length=1.3, sd=0.8),
    "matern32": Matern32(length=0.9, sd=1.4),
    "matern52": Matern52(length=1.6, sd=1.1),
    "matern32+flat level+flat rate": Matern32(length=0.7, sd=1.2) + Constant() + Linear(),
    "matern12+matern52+rate": Matern12(length=0.4, sd=0.3) + Matern52(length=2.0, sd=1.5) + Linear(sd=0.5, mean=0.2),
    "matern12+matern32+matern52+level": (
        Matern12(length=3.0, sd=0.6) + Matern32(length=0.5, sd=0.4) + Matern52(length=1.8, sd=1.3)
    )
    + Constant(sd=2.0, mean=0.5),
    "level+rate": Constant(sd=3.0) + Linear(mean=-0.1, origin=2.0),
}
#: The same compiled code with other priors of the trend.
PRIORS: dict[str, Kernel] = {
    "matern32+level+rate": Matern32(length=0.7, sd=1.2) + Constant(sd=2.0, mean=-1.0) + Linear(sd=0.3, origin=1.0),
    "matern12+matern52+flat rate": Matern12(length=0.4, sd=0.3) + Matern52(length=2.0, sd=1.5) + Linear(origin=-20.0),
    "flat level+flat rate": Constant() + Linear(),
}
SMOOTH = {name: kernel for name, kernel in KERNELS.items() if "matern12" not in name}
#: Those whose compilation is left to ``make test-all``: the others have one and two columns, alone and in a sum.
COMPILED_APART = (
    *("matern12", "matern52", "matern12+matern32+matern52+level", "level+rate", "flat level+flat rate"),
    *("matern32+flat level+flat rate", "matern32+level+rate"),
)
#: A sum whose likelihood and gradient are tested by ``make test``, and the rest by ``make test-all``.
COMPILED_IN_PART = ("matern12+matern52+rate", "matern12+matern52+flat rate")


class Problem(NamedTuple):
    """Times that do not decrease, and what was measured."""

    tau: np.ndarray
    y: np.ndarray
    y_sd: np.ndarray


#: Logarithms (base 10) of the gaps in units of a length of 1, given uniform numbers u and v in [0, 1).
SPACINGS = {
    "even": lambda u, v: -1.5 + 1.5 * u,
    "wide": lambda u, v: u,
    "all scales": lambda u, v: -9.0 + 10.0 * u,
    "tiny": lambda u, v: -9.0 + 3.0 * u,
    "clusters": lambda u, v: np.where(v < 0.2, -1.0 + 2.0 * u, -9.0 + 4.0 * u),
}


def problem(n: int, spacing: str, seed: int, log_y_sd: tuple[float, float], start: float = 0.0) -> Problem:
    """n rows; log10 of y_sd / sd(y) is spread over ``log_y_sd``."""
    rng = np.random.default_rng([n, sorted(SPACINGS).index(spacing), seed])
    log_gap = SPACINGS[spacing](rng.random(n - 1), rng.random(n - 1))
    tau = start + np.concatenate([[0.0], np.cumsum(10.0**log_gap)])
    curve = np.sin(tau) + 0.3 * np.cos(3.1 * tau + 1.0)
    y_sd = max(curve.std(), 0.1) * 10.0 ** rng.uniform(*log_y_sd, n)
    return Problem(tau, curve + y_sd * rng.standard_normal(n), y_sd)


@st.composite
def problems(draw, smallest: int = 2, largest: int = 20, lowest_log_y_sd: float = -4.0) -> Problem:
    """Records over the whole range that the engine is made for."""
    low = draw(st.floats(lowest_log_y_sd, 1.0))
    high = draw(st.sampled_from([low, 1.0]))
    return problem(
        n=draw(st.integers(smallest, largest)),
        spacing=draw(st.sampled_from(list(SPACINGS))),
        seed=draw(st.integers(0, 10**6)),
        log_y_sd=(low, high),
        start=draw(st.sampled_from([0.0, -10.0, 300.0])),
    )


def queries(p: Problem, n: int = 4) -> np.ndarray:
    """Times at the data, between them, around them and far away, in no order."""
    rng = np.random.default_rng(len(p.tau))
    span = p.tau[-1] - p.tau[0]
    around = rng.uniform(p.tau[0] - 0.3 * span - 0.1, p.tau[-1] + 0.3 * span + 0.1, n)
    between = rng.uniform(p.tau[0], p.tau[-1], n)
    return rng.permutation(np.concatenate([p.tau[:2], p.tau[-1:], between, around, [p.tau[-1] + 3.0]]))


def distance(found, expected, at_least: float = 0.0) -> float:
    """Largest error relative to the largest entry of the vector that was expected, or to ``at_least``."""
    found, expected = np.atleast_1d(found), np.atleast_1d(expected)
    assert found.shape == expected.shape
    assert np.isfinite(found).all()
    if expected.size == 0:
        return 0.0
    return float(np.abs(found - expected).max() / max(np.abs(expected).max(), at_least))


#: A small record with uneven gaps, and what may be particular about it.
N = 12
T = np.cumsum(np.random.default_rng(0).gamma(20.0, 0.05, N))
FIELDS = {
    "plain": {},
    "exact row": {"t_sd": np.where(np.arange(N) == 5, 0.0, 0.3)},
    "depths, hiatus and minimum gap": {
        "depth": T + np.random.default_rng(1).uniform(0.0, 0.2, N),
        "hiatus": np.arange(N) == 3,
        "least_gap": np.full(N, 0.01),
    },
    "decreasing": {"t": -T, "order": "decreasing"},
}


def uneven(**fields) -> Record:
    """The small record with uneven gaps, with other fields."""
    return Record(**({"t": T, "t_sd": 0.3, "y": np.sin(T), "y_sd": 0.1} | fields))
