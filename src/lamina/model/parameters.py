"""The position of each parameter in ``phi``, the vector of all hyperparameters.

phi (P,) is unconstrained, with independent normal priors (``lamina.model.priors``):

    log length and log sd of each kernel, log memory, log(alpha - 1), log t_scale, log y_scale

The positions count from the end, so that they hold for every kernel. Compiled code uses them as constants.
"""

from __future__ import annotations

MEMORY, ALPHA, T_SCALE, Y_SCALE = -4, -3, -2, -1

#: The parameters that follow those of the kernel, in this order.
SHARED = ("memory", "alpha", "t_scale", "y_scale")
