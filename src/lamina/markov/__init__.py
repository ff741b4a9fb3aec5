"""The O(N) engine. A known order makes the problem a Markov chain: no matrix is larger than the state.

filter      log p(y | tau, theta)
gradient    and its gradient in tau and theta
backward    what later rows say about the state at an earlier one
local       the likelihood as one input, or one gap, changes: O(1)
curvature   second derivatives in the gaps
smoothing   the curve and its rate at any time; joint draws
engine      the same functions as ``lamina.dense``, on kernels and plain arrays
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
