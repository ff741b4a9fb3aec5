"""The result of a fit: the curve, its rate and the inputs, for every method."""

from .posterior import Posterior, load

__all__ = ["Posterior", "load"]
