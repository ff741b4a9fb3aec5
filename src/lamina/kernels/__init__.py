"""Kernels: what is assumed about the curve before any measurement is seen.

A stationary kernel is a function of the lag r = |t - t'|. Each class gives, for arrays of lags, its value, its first
two derivatives in r (for the dense engine) and its derivatives in theta. The Matérn kernels also have an exact
state-space form (``block``), which the O(N) engine uses: see ``lamina.engine.blocks``.

Kernels in space (``space``) are multiplied with kernels in time.

Parameters are given and shown as ``length`` and ``sd``; inside they are on the log scale (``theta``).
"""

from .base import Kernel, Product, Stationary, Sum, TrendTerm
from .space import EachSite, Nearby, SpaceTime, Spatial
from .stationary import (
    Matern,
    Matern12,
    Matern32,
    Matern52,
    Parametric,
    Periodic,
    RationalQuadratic,
    Scaled,
    SquaredExponential,
)
from .trend import Constant, Linear
from .white import WhiteNoise

__all__ = ["Constant", "Kernel", "Linear", "Product", "Stationary", "Sum", "TrendTerm"]
__all__ += ["Matern", "Matern12", "Matern32", "Matern52", "Parametric", "Periodic", "RationalQuadratic", "Scaled"]
__all__ += ["EachSite", "Nearby", "SpaceTime", "Spatial", "SquaredExponential", "WhiteNoise"]
