"""The rows of a record as the arrays that compiled code works on, and their merged time order."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ..engine.stack import INLINE, LEAN

#: Outside a date that has hard bounds the log-density falls by this much at once, and again for each sd of distance.
WALL = 1e3


class Rows(NamedTuple):
    """What is known of each row; row numbers are those of the record."""

    t: np.ndarray  #: (N,) measured inputs, increasing with time; a guess for rows without a date
    t_var: np.ndarray  #: (N,) their variances; 0 marks an exact row, inf one without a date
    base: np.ndarray  #: (N, C) data columns [y, trend columns] at tau = 0
    slope: np.ndarray  #: (C,) and their derivatives in tau
    y_var: np.ndarray  #: (N,)
    measured: np.ndarray  #: (N,) whether there is a y; if not, y_var is so large that the row contains no information
    shift: np.ndarray  #: (N,) added to y: what a sampler draws for limits
    factor: np.ndarray  #: (N,) multiplies y_var: what a sampler draws for outliers
    limit: np.ndarray  #: (N,) +1: the curve is above y; -1: below; 0: y was measured
    sequence: np.ndarray  #: (N,) number of the sequence, -1 without order
    before: np.ndarray  #: (N,) the row before it in its sequence, or -1
    after: np.ndarray  #: (N,) the row after it, or -1
    block: np.ndarray  #: (N,) rows of one sequence with one number have no known order among themselves; -1: none
    unit: np.ndarray  #: (N,) what the gap after it is measured in: the step in depth over the usual one, or 1
    least: np.ndarray  #: (N,) the minimum gap after it
    regular: np.ndarray  #: (N,) whether the gap after it follows the gap prior; if not, it may have any size
    lag: np.ndarray  #: (N,) depth from the middle of the gap before it to that of the gap after it; inf: no memory
    carry: np.ndarray  #: (N,) how much of the pace of the one carries over to the other, from 0 to 1: ``gaps.pace``
    gaps: np.ndarray  #: (S,) sum of the units of the regular gaps of each sequence: their number, without depths
    table: np.ndarray  #: (N,) where the density of a date that is not Gaussian begins in ``log_dates``
    size: np.ndarray  #: (N,) how many entries it has, 0 for Gaussian dates
    first: np.ndarray  #: (N,) time of its first entry
    step: np.ndarray  #: (N,) and between entries
    bounded: np.ndarray  #: (N,) whether it ends there, or goes on with the slope of the last two entries
    log_dates: np.ndarray  #: all tables, one after the other
    cumulated: np.ndarray  #: and the mass of each date up to each entry
    several: np.ndarray  #: (N,) whether the date has several modes


@njit(**INLINE)
def variance(rows, r, y_scale):
    """Variance of y in row r; that of a row without y is not scaled."""
    return rows.y_var[r] * rows.factor[r] * y_scale * y_scale if rows.measured[r] else rows.y_var[r]


@njit(**INLINE)
def log_date(rows, r, tau, t_scale):
    """log p(date of row r | tau), up to a constant, and its derivative. Tables are interpolated linearly."""
    n = rows.size[r]
    if n == 0:
        off = tau - rows.t[r]
        slope = -off / (rows.t_var[r] * t_scale * t_scale)
        return 0.5 * off * slope, slope
    u = (tau - rows.first[r]) / rows.step[r]
    i = int(min(max(u, 0.0), n - 2.0))
    low, high = rows.log_dates[rows.table[r] + i], rows.log_dates[rows.table[r] + i + 1]
    if rows.bounded[r] and (u < 0.0 or u > n - 1.0):
        beyond = (u if u < 0.0 else u - (n - 1.0)) * rows.step[r] / math.sqrt(rows.t_var[r])
        slope = math.copysign(WALL, -beyond) / math.sqrt(rows.t_var[r])
        return (low if u < 0.0 else high) - WALL * (1.0 + abs(beyond)), slope
    return low + (u - i) * (high - low), (high - low) / rows.step[r]


@njit(**LEAN)
def in_time_order(rows, tau, order, y_scale, series):
    """Write the data at inputs tau, whose sorted order is ``order``, into ``series``."""
    for p in range(len(order)):
        r = order[p]
        series.time[p] = tau[r]
        series.y_var[p] = variance(rows, r, y_scale)
        for c in range(series.Z.shape[1]):
            series.Z[p, c] = rows.base[r, c] + rows.slope[c] * tau[r]
        series.Z[p, 0] += rows.shift[r]


@njit(**INLINE)
def data_less_trend(rows, r, beta, tau):
    """The data of row r at input tau, less the trend with coefficients beta (q,)."""
    value = rows.base[r, 0] + rows.shift[r] + rows.slope[0] * tau
    for c in range(len(beta)):
        value -= beta[c] * (rows.base[r, c + 1] + rows.slope[c + 1] * tau)
    return value


@njit(**LEAN)
def log_dates(rows, tau, t_scale):
    """log p(dates | tau) of all rows, up to a constant."""
    total = 0.0
    for r in range(len(tau)):
        if rows.t_var[r] > 0.0:
            total += log_date(rows, r, tau[r], t_scale)[0]
    return total


@njit(**LEAN)
def squared_errors(rows, tau):
    """sum (tau - t)² / t_var over the Gaussian dates, and their number."""
    total, n = 0.0, 0
    for r in range(len(tau)):
        if 0.0 < rows.t_var[r] < math.inf and rows.size[r] == 0:
            off = tau[r] - rows.t[r]
            total += off * off / rows.t_var[r]
            n += 1
    return total, n
