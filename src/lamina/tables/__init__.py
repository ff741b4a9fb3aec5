"""Reads tables of measurements: which column is what, 1 or 2 sigma, BP or CE, and what defines the order.

>>> import lamina.tables
>>> reading = lamina.tables.read("core.csv", lamina.tables.Options(t_sigma=2))  # doctest: +SKIP
>>> print(reading.describe())  # doctest: +SKIP
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .checks.survey import Survey, survey
    from .messages import Fact, TableError, TableReading
    from .messages import TableReading as Understanding
    from .options import Options
    from .reading import read, read_ages, split

#: Where each name lives. They are imported when first used: the command line needs the options without the reader.
_HOMES = {
    "Fact": "messages",
    "Options": "options",
    "Survey": "checks.survey",
    "TableError": "messages",
    "TableReading": "messages",
    "read": "reading",
    "read_ages": "reading",
    "split": "reading",
    "survey": "checks.survey",
}
#: The name of ``TableReading`` in earlier versions.
_ALIASES = {"Understanding": "TableReading"}

__all__ = [
    "Fact",
    "Options",
    "Survey",
    "TableError",
    "TableReading",
    "Understanding",
    "read",
    "read_ages",
    "split",
    "survey",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(_ALIASES.get(name, name))
    if home is None:
        raise AttributeError(f"module 'lamina.tables' has no attribute {name!r}")
    globals()[name] = value = getattr(importlib.import_module(f".{home}", __name__), _ALIASES.get(name, name))
    return value


def __dir__() -> list[str]:
    return __all__
