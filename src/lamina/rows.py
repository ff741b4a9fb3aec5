"""The rows of a record as the arrays that compiled code works on, and their merged time order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from .stack import FAST


class Rows(NamedTuple):
    """What is known of each row; row numbers are those of the record."""

    t: np.ndarray  #: (N,) measured inputs, increasing with time
    t_var: np.ndarray  #: (N,) their variances; 0 marks an exact row
    base: np.ndarray  #: (N, C) data columns [y, trend columns] at tau = 0
    slope: np.ndarray  #: (C,) and their derivatives in tau
    y_var: np.ndarray  #: (N,)
    sequence: np.ndarray  #: (N,) number of the sequence, -1 without order
    before: np.ndarray  #: (N,) the row before it in its sequence, or -1
    after: np.ndarray  #: (N,) the row after it, or -1
    gaps: np.ndarray  #: (S,) number of gaps of each sequence


@njit(**FAST)
def in_time_order(rows, tau, order, y_scale, time, Z, y_var):
    """Write times (N,), data columns (N, C) and variances (N,) at inputs tau, whose sorted order is ``order``."""
    for p in range(len(order)):
        r = order[p]
        time[p] = tau[r]
        y_var[p] = rows.y_var[r] * y_scale * y_scale
        for c in range(Z.shape[1]):
            Z[p, c] = rows.base[r, c] + rows.slope[c] * tau[r]
