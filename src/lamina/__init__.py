"""lamina: Gaussian-process regression on measurements whose times are uncertain but whose order is known.

>>> import lamina
>>> record = lamina.datasets.load("nassau")
>>> posterior = lamina.fit(record, seed=0)
>>> curve = posterior.curve([1000.0, 1500.0, 2000.0])
>>> rate = posterior.rate([1900.0, 2000.0])
>>> ages = posterior.inputs()

Names are imported when they are first used, so that ``import lamina`` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import datasets, dates, dense, functionals, gaps, kernels, markov, paper, plots, report, tables
    from .batches.batch import batch
    from .batches.workers import ClusterError
    from .errors import KernelError, LaminaError, MethodError, MissingExtraError, OrderError, RecordError, StorageError
    from .fitting import NotConverged, age_depth, fit
    from .kernels import (
        Constant,
        EachSite,
        Linear,
        Matern12,
        Matern32,
        Matern52,
        Nearby,
        Periodic,
        RationalQuadratic,
        SquaredExponential,
        WhiteNoise,
    )
    from .likelihood import log_likelihood
    from .posterior import Posterior, load
    from .posterior.intervals import interval_rates
    from .record import Record
    from .support.files import WriteError
    from .tables.ensembles import read_ensemble
    from .tables.messages import TableError
    from .tables.reading import read_record as read
    from .validation import Validation, validate

#: Where each public name lives, and after a colon its name there; a name that is its own module is the module.
_HOMES = {
    "ClusterError": "batches.workers",
    "Constant": "kernels",
    "EachSite": "kernels",
    "KernelError": "errors",
    "LaminaError": "errors",
    "Linear": "kernels",
    "Matern12": "kernels",
    "Matern32": "kernels",
    "Matern52": "kernels",
    "MethodError": "errors",
    "MissingExtraError": "errors",
    "Nearby": "kernels",
    "NotConverged": "fitting",
    "OrderError": "errors",
    "Periodic": "kernels",
    "Posterior": "posterior",
    "RationalQuadratic": "kernels",
    "Record": "record",
    "RecordError": "errors",
    "SquaredExponential": "kernels",
    "StorageError": "errors",
    "TableError": "tables.messages",
    "Validation": "validation",
    "WhiteNoise": "kernels",
    "WriteError": "support.files",
    "age_depth": "fitting",
    "batch": "batches.batch",
    "datasets": "datasets",
    "dates": "dates",
    "dense": "dense",
    "fit": "fitting",
    "functionals": "functionals",
    "gaps": "gaps",
    "interval_rates": "posterior.intervals",
    "kernels": "kernels",
    "load": "posterior",
    "log_likelihood": "likelihood",
    "markov": "markov",
    "paper": "paper",
    "plots": "plots",
    "read": "tables.reading:read_record",
    "read_ensemble": "tables.ensembles",
    "report": "report",
    "tables": "tables",
    "validate": "validation",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("lamina")
    if name not in _HOMES:
        raise AttributeError(f"module 'lamina' has no attribute {name!r}")
    home, _, other = _HOMES[name].partition(":")
    module = importlib.import_module(f".{home}", __name__)
    value = module if name == home else getattr(module, other or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
