"""Inputs without constraints: the ordered inputs of a record as a vector of real numbers, and back.

Each sequence falls into runs of uncertain rows between exact ones. With gaps g in the run, less their minimum,

    open        start, then log g                       (no exact row on either side)
    above       log g from the exact row below upwards
    below       log g from the exact row above downwards
    between     log-ratios of the gaps, which fill the time between two exact rows
    alone       the input itself                        (a row without order)

``to_inputs`` gives the inputs and the log-Jacobian, Eqs. (3) and (62); ``pull_gradient`` carries a gradient in the
inputs back.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numba import njit

from ..engine.stack import LEAN, LEAN_CALLED
from ..model.problem import Problem

Array = np.ndarray

OPEN, ABOVE, BELOW, BETWEEN = 0, 1, 2, 3


class Plan(NamedTuple):
    """The runs of a record. Coordinates are numbered run by run."""

    rows: Array  #: (n,) row of each coordinate, run by run
    first: Array  #: (R + 1,) where each run begins in ``rows``
    kind: Array  #: (R,)
    floor: Array  #: (R,) the exact input below the run, where there is one
    ceiling: Array  #: (R,) and above
    least: Array  #: (n,) minimum gap before the row of each coordinate, where there is a gap
    least_after: Array  #: (R,) minimum gap after the last row of each run


def make_plan(problem: Problem) -> Plan:
    """Find the runs. A row alone is an open run of one."""
    record, t = problem.record, problem.rows.t
    runs: list[tuple[int, float, float, list[int]]] = []
    for row in record.unordered:
        if not record.exact[row]:
            runs.append((OPEN, 0.0, 0.0, [int(row)]))
    for _, rows in record.sequences:
        edges = [-1, *np.flatnonzero(record.exact[rows]).tolist(), len(rows)]
        for low, high in pairwise(edges):
            inside = rows[low + 1 : high].tolist()
            if not inside:
                continue
            has_floor, has_ceiling = low >= 0, high < len(rows)
            kind = (BETWEEN if has_ceiling else ABOVE) if has_floor else (BELOW if has_ceiling else OPEN)
            floor = t[rows[low]] if has_floor else 0.0
            ceiling = t[rows[high]] if has_ceiling else 0.0
            runs.append((kind, floor, ceiling, inside))
    sizes = [len(run[3]) for run in runs]
    members = np.array([row for run in runs for row in run[3]], dtype=np.int64)
    least, before = problem.rows.least, problem.rows.before
    last = np.array([run[3][-1] for run in runs], dtype=np.int64)
    return Plan(
        rows=members,
        first=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        kind=np.array([run[0] for run in runs], dtype=np.int64),
        floor=np.array([run[1] for run in runs], dtype=float),
        ceiling=np.array([run[2] for run in runs], dtype=float),
        least=np.where(before[members] >= 0, least[before[members]], 0.0),
        least_after=np.where(problem.rows.after[last] >= 0, least[last], 0.0),
    )


@njit(**LEAN)
def _log_total(x, a, b):
    """log(1 + sum exp x[a:b]): the time between two exact rows, in units of its last gap."""
    top = 0.0
    for i in range(a, b):
        top = max(top, x[i])
    total = math.exp(-top)
    for i in range(a, b):
        total += math.exp(x[i] - top)
    return top + math.log(total)


@njit(**LEAN)
def _spare(plan, k):
    """What is left between the exact rows around run k when every gap has its minimum."""
    spare = plan.ceiling[k] - plan.floor[k] - plan.least_after[k]
    for i in range(plan.first[k], plan.first[k + 1]):
        spare -= plan.least[i]
    return spare


@njit(cache=True, **LEAN_CALLED)
def to_inputs(plan, x, tau):
    """Write the inputs of coordinates x (n,) into tau (N,), whose exact rows stay; returns log |d tau / d x|."""
    log_jacobian = 0.0
    for k in range(len(plan.kind)):
        a, b = plan.first[k], plan.first[k + 1]
        kind = plan.kind[k]
        if kind == BETWEEN:
            spare = _spare(plan, k)
            log_total = _log_total(x, a, b)
            log_jacobian += (b - a) * math.log(spare) - log_total
            place = plan.floor[k]
            for i in range(a, b):
                log_jacobian += x[i] - log_total
                place += plan.least[i] + spare * math.exp(x[i] - log_total)
                tau[plan.rows[i]] = place
        elif kind == BELOW:
            place = plan.ceiling[k] - plan.least_after[k]
            for i in range(b - 1, a - 1, -1):
                place -= math.exp(x[i]) + (plan.least[i + 1] if i < b - 1 else 0.0)
                log_jacobian += x[i]
                tau[plan.rows[i]] = place
        else:
            place = plan.floor[k]
            for i in range(a, b):
                if kind == OPEN and i == a:
                    place = x[i]
                else:
                    place += plan.least[i] + math.exp(x[i])
                    log_jacobian += x[i]
                tau[plan.rows[i]] = place
    return log_jacobian


@njit(cache=True, **LEAN_CALLED)
def pull_gradient(plan, x, d_tau, with_jacobian, d_x):
    """Write the gradient in x from the gradient in tau (N,), with that of the log-Jacobian added if wanted."""
    own = 1.0 if with_jacobian else 0.0
    for k in range(len(plan.kind)):
        a, b = plan.first[k], plan.first[k + 1]
        kind = plan.kind[k]
        if kind == BETWEEN:
            spare = _spare(plan, k)
            log_total = _log_total(x, a, b)
            later, mean = 0.0, 0.0
            for i in range(b - 1, a - 1, -1):
                later += d_tau[plan.rows[i]]
                d_x[i] = spare * later
                mean += math.exp(x[i] - log_total) * d_x[i]
            for i in range(a, b):
                share = math.exp(x[i] - log_total)
                d_x[i] = share * (d_x[i] - mean) + own * (1.0 - (b - a + 1) * share)
        elif kind == BELOW:
            earlier = 0.0
            for i in range(a, b):
                earlier += d_tau[plan.rows[i]]
                d_x[i] = own - math.exp(x[i]) * earlier
        else:
            later = 0.0
            for i in range(b - 1, a - 1, -1):
                later += d_tau[plan.rows[i]]
                if kind == OPEN and i == a:
                    d_x[i] = later
                else:
                    d_x[i] = own + math.exp(x[i]) * later


def to_coordinates(plan: Plan, tau: Array) -> Array:
    """Coordinates x (n,) of inputs tau (N,)."""
    x = np.empty(len(plan.rows))
    for k, kind in enumerate(plan.kind):
        part = slice(plan.first[k], plan.first[k + 1])
        run, least, after = tau[plan.rows[part]], plan.least[part], plan.least_after[k : k + 1]
        if kind == OPEN:
            x[part] = np.concatenate([run[:1], np.log(np.diff(run) - least[1:])])
        elif kind == ABOVE:
            x[part] = np.log(np.diff(run, prepend=plan.floor[k]) - least)
        elif kind == BELOW:
            x[part] = np.log(np.diff(run, append=plan.ceiling[k]) - np.concatenate([least[1:], after]))
        else:
            gaps = np.diff(run, prepend=plan.floor[k], append=plan.ceiling[k]) - np.concatenate([least, after])
            x[part] = np.log(gaps[:-1] / gaps[-1])
    return x
