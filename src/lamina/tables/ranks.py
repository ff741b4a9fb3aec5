"""Rank correlation, the robust way to tell which way a column runs."""

import numpy as np
from numpy.typing import NDArray


def rank_correlation(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Spearman's rank correlation, with mean ranks for ties; 0 if one of the two does not vary."""
    ranks = [_ranks(values) for values in (a, b)]
    spread = [values.std() for values in ranks]
    if a.size < 2 or min(spread) == 0.0:
        return 0.0
    return float(np.mean((ranks[0] - ranks[0].mean()) * (ranks[1] - ranks[1].mean())) / (spread[0] * spread[1]))


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2.0)[inverse], dtype=np.float64)
