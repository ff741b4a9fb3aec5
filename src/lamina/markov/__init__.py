"""The O(N) engine: known order makes the data a Markov chain, so no matrix is larger than the state.

The functions are those of ``lamina.dense``, on kernels and plain arrays. ``lamina.engine`` has the numerics.
"""

from .engine import (
    check_order,
    gap_hessian_diagonal,
    log_likelihood,
    predict,
    predict_rate,
    sample,
    trend_coefficients,
    value_and_gradient,
)

__all__ = [
    "check_order",
    "gap_hessian_diagonal",
    "log_likelihood",
    "predict",
    "predict_rate",
    "sample",
    "trend_coefficients",
    "value_and_gradient",
]
