"""From a draw of the states of a field to what moves of the inputs need: paths at nodes, and bridges between them."""

from __future__ import annotations

import math

import numpy as np

from ....field.layout import Field, Values
from ....field.transition import NILPOTENT, SLOPE, SQUARED
from .approximate import Path
from .exact import Bridges

Array = np.ndarray

#: Nodes are at most so far apart, in length scales, and the variance between them is at most this part of the usual
#: error of y: then the approximation is close, and nearly every pass is accepted. That of Matern52 is neglected.
STEP, PART = (0.35, 0.35, 0.2), 0.02
#: Rows between two nodes depend on each other: there are at most so many of them, on average.
ROWS = 8.0
#: There are at most so many nodes, and so many times as many as rows.
MOST, MOST_TIMES_ROWS = 500, 4


def node_step(field: Field, values: Values, y_var: float, span: float, n: int) -> float:
    """The step from node to node over a span of time, for n rows with errors of variance ``y_var``."""
    step, rough = span * min(ROWS / n, 1.0), 0.0
    for k, rate in enumerate(values.rate):
        if rate == 0.0:
            continue
        dim = int(field.layout.dim[k])
        variance = float((_mix(field, values, k) ** 2).sum(axis=1).max())
        step = min(step, STEP[dim - 1] * math.sqrt(2 * dim - 1) / rate)
        if dim == 1:
            step = min(step, 2.0 * PART * y_var / (variance * rate))
        elif dim == 2:
            rough += variance * rate**3
    if rough > 0.0:
        step = min(step, (48.0 * PART * y_var / rough) ** (1.0 / 3.0))
    return max(step, span / (MOST + MOST_TIMES_ROWS * n))


def make_path(field: Field, values: Values, states: Array, first: float, step: float) -> tuple[Path, Bridges]:
    """The states (M, D) at nodes, mixed for each site."""
    layout, S = field.layout, len(values.mix)
    level, slope, rough = np.zeros((3, len(states), S))
    constant, linear, spread, rough_spread = np.zeros((4, S))
    varying = [k for k, rate in enumerate(values.rate) if rate > 0.0]
    parts = np.zeros((len(varying), 3, len(states), S))
    for k in range(len(values.rate)):
        mix, r, start = _mix(field, values, k), int(layout.size[k]), int(layout.start[k])
        if k not in varying:
            own = mix @ states[0, start : start + r]
            if layout.linear[k]:
                linear += own
                constant -= layout.origin[k] * own
            else:
                constant += own
            continue
        dim, x = int(layout.dim[k]), values.rate[k] * step
        part, variance = parts[varying.index(k)], (mix**2).sum(axis=1)
        for i in range(dim):
            part[i] = states[:, start + i * r : start + (i + 1) * r] @ mix.T
        if dim == 1:
            rough += part[0]
            rough_spread += 2.0 * x * variance
        else:
            level += part[0]
            slope += x * SLOPE[dim] * part[1]
            spread += (4.0 / 3.0 * x**3 if dim == 2 else 0.0) * variance
    path = Path(first, step, level, slope, rough, constant, linear, spread, rough_spread)
    return path, _bridges(field, values, np.array(varying, dtype=np.int64), parts, step)


def _mix(field: Field, values: Values, k: int) -> Array:
    first = field.layout.first[k]
    return values.mix[:, first : first + field.layout.size[k]]


def _bridges(field: Field, values: Values, varying: Array, parts: Array, step: float) -> Bridges:
    K = len(varying)
    whole, noise, precision = np.zeros((3, K, 3, 3))
    for n, k in enumerate(varying):
        d, x = int(field.layout.dim[k]), values.rate[k] * step
        own = np.eye(d) + NILPOTENT[d, :d, :d] * x + 0.5 * SQUARED[d, :d, :d] * x * x
        whole[n, :d, :d] = math.exp(-x) * own
        noise[n, :d, :d] = noise_covariance(d, x)
        precision[n, :d, :d] = np.linalg.inv(noise[n, :d, :d])
    sites = [_mix(field, values, k) for k in varying]
    among = np.array([one @ one.T for one in sites]).reshape(K, len(values.mix), len(values.mix))
    return Bridges(field.layout.dim[varying], values.rate[varying], whole, noise, precision, among, parts)


def noise_covariance(d: int, x: float) -> Array:
    """I - A A' for a transition over x, without cancellation in the first two kernels."""
    if d == 1:
        return np.array([[-math.expm1(-2.0 * x)]])
    if d == 2:
        tail = sum((2.0 * x) ** k / math.factorial(k) for k in range(3, 25)) if x < 1.0 else (
            math.exp(2.0 * x) - 1.0 - 2.0 * x - 2.0 * x * x)  # fmt: skip
        decay = math.exp(-2.0 * x)
        both = 2.0 * x * x * decay
        return np.array([[decay * tail, both], [both, decay * (4.0 * x + tail)]])
    own = math.exp(-x) * (np.eye(3) + NILPOTENT[3] * x + 0.5 * SQUARED[3] * x * x)
    return np.eye(3) - own @ own.T
