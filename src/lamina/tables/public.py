"""`lamina.read`: a table to a record in one call."""

from os import PathLike
from typing import Any

from ..record import Record
from .options import Options
from .reading import read as understand


def read(path: str | PathLike[str], **options: Any) -> Record:
    """The record in a table of measurements: text separated by commas, semicolons or tabs, or .xlsx.

    Columns are found by their names, and `options` override what is found: the fields of `lamina.tables.Options`, such
    as ``order="rows"``, ``t_sigma=2`` or ``scale="BP"``. `lamina.tables.read` also says what was understood, and why.

    Rows come in the order that the record needs, which may not be that of the file. Raises TableError, with one
    message that names file, line and column, if the table cannot be used.
    """
    return understand(path, Options.of(**options)).record
