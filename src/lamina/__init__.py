"""lamina: Gaussian-process regression on measurements whose times are uncertain but whose order is known.

>>> import lamina
>>> record = lamina.datasets.load("nassau")
>>> kernel = lamina.Matern32(length=500.0, sd=0.5) + lamina.Constant()
>>> order = record.t.argsort()
>>> value = lamina.log_likelihood(record.t[order], record.y[order], record.y_sd[order], kernel)

Names are imported when they are first used, so that ``import lamina`` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import datasets, dense, gaps, kernels, markov
    from .errors import KernelError, LaminaError, MethodError, MissingExtraError, OrderError, RecordError
    from .kernels import (
        Constant,
        Linear,
        Matern12,
        Matern32,
        Matern52,
        Periodic,
        RationalQuadratic,
        SquaredExponential,
    )
    from .likelihood import log_likelihood
    from .record import Record

#: Where each public name lives; a name that is its own module stands for the module.
_HOMES = {
    "Constant": "kernels",
    "KernelError": "errors",
    "LaminaError": "errors",
    "Linear": "kernels",
    "Matern12": "kernels",
    "Matern32": "kernels",
    "Matern52": "kernels",
    "MethodError": "errors",
    "MissingExtraError": "errors",
    "OrderError": "errors",
    "Periodic": "kernels",
    "RationalQuadratic": "kernels",
    "Record": "record",
    "RecordError": "errors",
    "SquaredExponential": "kernels",
    "datasets": "datasets",
    "dense": "dense",
    "gaps": "gaps",
    "kernels": "kernels",
    "log_likelihood": "likelihood",
    "markov": "markov",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("lamina")
    if name not in _HOMES:
        raise AttributeError(f"module 'lamina' has no attribute {name!r}")
    module = importlib.import_module(f".{_HOMES[name]}", __name__)
    value = module if name == _HOMES[name] else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
