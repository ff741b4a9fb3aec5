"""Where a method starts: inputs near their dates that respect the order, and parameters near their prior."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..errors import MethodError
from ..model.parameters import MEMORY
from ..model.problem import Problem

Array = np.ndarray

#: The slope that separates equal inputs moves the last row of a sequence by no more than this part of its span, nor of
#: the error of a date.
SLOPE_OF_SPAN, SLOPE_OF_ERROR = 1e-3, 0.1


def starting_inputs(problem: Problem, rng: np.random.Generator, jitter: float = 1.0) -> Array:
    """Inputs (N,) in internal time: the dates plus noise of ``jitter`` times their errors, put in order.

    Within a sequence the noisy dates are replaced by their isotonic regression, the nearest inputs that have the order,
    with a small slope added so that no two are equal. Exact rows stay and bound the others. Minimum gaps are kept.
    """
    record, t, scale = problem.record, problem.rows.t, problem.scale
    tau = t + np.where(record.exact, 0.0, jitter * scale * rng.standard_normal(len(t)))
    for _, rows in record.sequences:
        if len(rows) < 2:
            continue
        # Minimum gaps are subtracted: what remains has to increase, and no more.
        least = np.concatenate([[0.0], np.cumsum(problem.rows.least[rows[:-1]])])
        exact, dates = record.exact[rows], t[rows] - least
        sd = np.where(exact, 1e-6 * max(scale.max(), 1e-12), scale[rows])
        ordered = isotonic_regression(tau[rows] - least, sd**-2.0 / np.max(sd**-2.0))
        step = _slope(dates, scale[rows]) / len(rows)
        ordered = ordered + step * np.arange(len(rows))
        fixed = np.flatnonzero(exact)
        for k in range(len(fixed) + 1):
            low = fixed[k - 1] if k > 0 else -1
            high = fixed[k] if k < len(fixed) else len(rows)
            between = np.arange(low + 1, high)
            if len(between) == 0:
                continue
            floor = dates[low] if low >= 0 else -np.inf
            ceiling = dates[high] if high < len(rows) else np.inf
            part = min(step, (ceiling - floor) / (len(between) + 1))
            ordered[between] = np.maximum(ordered[between], floor + part * np.arange(1, len(between) + 1))
            ordered[between] = np.minimum(ordered[between], ceiling - part * np.arange(len(between), 0, -1))
            ordered[between] = np.maximum.accumulate(ordered[between])
        tau[rows] = np.where(exact, t[rows], ordered + least)
    return tau


def isotonic_regression(values: Array, weights: Array) -> Array:
    """The nearest numbers to ``values`` (n,) that do not decrease: neighbours that do are pooled (Busing 2022).

    Written out because importing SciPy's, which has the same result to the last digit, takes longer than a fit.
    """
    x, w = values.tolist(), weights.tolist()
    pools = [(x[0], w[0], 1)]  # mean, weight and size
    i = 1
    while i < len(x):
        mean, weight, size = x[i], w[i], 1
        i += 1
        if pools[-1][0] >= mean:
            before, own, n = pools.pop()
            total, weight, size = own * before + weight * mean, weight + own, n + 1
            mean = total / weight
            while i < len(x) and mean >= x[i]:
                total, weight, size = total + w[i] * x[i], weight + w[i], size + 1
                mean = total / weight
                i += 1
            while pools and pools[-1][0] >= mean:
                before, own, n = pools.pop()
                total, weight, size = total + own * before, weight + own, size + n
                mean = total / weight
        pools.append((mean, weight, size))
    return np.repeat([mean for mean, _, _ in pools], [size for _, _, size in pools])


def _slope(dates: Array, scale: Array) -> float:
    """How far the slope moves the last row; enough, whatever the errors, to be seen in every input."""
    of_span = SLOPE_OF_SPAN * float(np.ptp(dates) or scale.max() or 1.0)
    of_error = SLOPE_OF_ERROR * float(np.median(scale[scale > 0.0])) if (scale > 0.0).any() else of_span
    return min(of_span, max(of_error, 4.0 * len(dates) * float(np.spacing(np.abs(dates).max()))))


def starting_phi(problem: Problem, rng: np.random.Generator, jitter: float = 0.5) -> Array:
    """Parameters (P,) near the middle of their prior."""
    return problem.start + np.where(
        problem.free, jitter * problem.prior_sd * rng.standard_normal(len(problem.start)), 0.0
    )


def starting_point(problem: Problem, rng: np.random.Generator) -> tuple[Array, Array]:
    """Inputs (N,) and parameters (P,) with a positive density: memory must leave something new in every gap."""
    tau, phi = starting_inputs(problem, rng), starting_phi(problem, rng)
    if not problem.model.memory:
        return tau, phi
    if problem.free[MEMORY]:
        phi[MEMORY] = min(phi[MEMORY], _longest_memory(problem, tau) - 0.1)
        return tau, phi
    for guess in tau, _evenly_paced(problem, tau):
        if _longest_memory(problem, guess) > phi[MEMORY]:
            return guess, phi
    raise MethodError(
        "fixed: the pace between exact inputs falls too fast for a memory of this length. Fix it at less, estimate it, "
        "or mark a hiatus."
    )


def _longest_memory(problem: Problem, tau: Array) -> float:
    """Logarithm of the memory above which there is nothing new in some gap; -inf if tau violates the order."""
    rows, here = problem.rows, np.flatnonzero(np.isfinite(problem.rows.lag))
    before, after = rows.before[here], rows.after[here]
    first = (tau[here] - tau[before] - rows.least[before]) / rows.unit[before]
    second = (tau[after] - tau[here] - rows.least[here]) / rows.unit[here]
    if not (np.minimum(first, second) > 0.0).all():
        return -np.inf
    falls = second < first
    return float(np.log(np.min(rows.lag[here][falls] / np.log(first / second)[falls], initial=np.inf)))


def _evenly_paced(problem: Problem, tau: Array) -> Array:
    """Inputs whose gaps have one pace between exact rows, the ends of sequences and gaps of their own kind."""
    tau, rows = tau.copy(), problem.rows
    for _, members in problem.record.sequences:
        fixed = problem.record.exact[members]
        fixed[[0, -1]] = True
        breaks = ~rows.regular[members[:-1]]
        fixed[:-1] |= breaks
        fixed[1:] |= breaks
        ends = np.flatnonzero(fixed)
        for start, stop in pairwise(ends):
            run = members[start:stop]
            spare = tau[members[stop]] - tau[run[0]] - rows.least[run].sum()
            gaps = rows.least[run] + spare * rows.unit[run] / rows.unit[run].sum()
            tau[run[1:]] = tau[run[0]] + np.cumsum(gaps)[:-1]
    return tau
