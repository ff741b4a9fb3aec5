"""What a fit found: the curve, its rate and the inputs, whatever the method."""

from .posterior import Posterior

__all__ = ["Posterior"]
