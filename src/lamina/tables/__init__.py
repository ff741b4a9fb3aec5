"""Tables of measurements in: what each column is, 1 or 2 sigma, BP or CE, and what defines the order.

>>> import lamina.tables
>>> understood = lamina.tables.read("core.csv", lamina.tables.Options(t_sigma=2))  # doctest: +SKIP
>>> print(understood.describe())  # doctest: +SKIP
"""

from .facts import Fact
from .options import Options
from .problems import TableError
from .reading import read, split
from .understanding import Understanding

__all__ = ["Fact", "Options", "TableError", "Understanding", "read", "split"]
