"""The errors that lamina raises. Each message says what is wrong, in which rows, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

_SHOWN = 10


class LaminaError(ValueError):
    """Base of all errors that lamina raises on purpose.

    message: "{rows}" in it stands for the names of ``rows``, and "{name}" for those of a further group ``name=``.
    rows: positions, counting from 0, of the rows of the record that the message is about.
    """

    def __init__(self, message: str = "", rows: Iterable[int] = (), **groups: Iterable[int]) -> None:
        self._message = message
        self._groups = {name: tuple(map(int, group)) for name, group in {"rows": rows, **groups}.items()}
        super().__init__(self.worded(name_rows))

    @property
    def rows(self) -> tuple[int, ...]:
        """Positions, counting from 0, of all rows that the message is about; () if it is about none."""
        return tuple(row for group in self._groups.values() for row in group)

    def worded(self, naming: Callable[[tuple[int, ...]], str]) -> str:
        """The message with the names that ``naming`` gives to rows, such as the lines of a file."""
        text = self._message
        for name, group in self._groups.items():
            text = text.replace(f"{{{name}}}", naming(group)) if group else text
        return text

    def renumbered(self, rows: Sequence[int]) -> LaminaError:
        """The same error about the rows of another record, where row i is ``rows[i]``."""
        return type(self)(self._message, **{name: [rows[i] for i in group] for name, group in self._groups.items()})


class RecordError(LaminaError):
    """A field of a record cannot be used as it is."""


class OrderError(LaminaError):
    """Inputs contradict their stated order."""


class KernelError(LaminaError):
    """A kernel has a parameter out of range, or cannot do what is required of it."""


class MethodError(LaminaError):
    """A method, or an option of one, is unknown or out of range."""


class StorageError(LaminaError):
    """A posterior or a checkpoint cannot be read from a file, or cannot be written to it."""


class MissingExtraError(LaminaError, ImportError):
    """An optional dependency is needed and not installed."""


def name_rows(indices: Iterable[int]) -> str:
    """Name row positions in words, for an error message.

    Positions count from 0, as in NumPy and pandas, and the text says so: "row 3 (counting from 0)",
    "rows 3, 4 and 7 (counting from 0)", "rows 0, 1, 2, ... (57 in all, counting from 0)".
    """
    rows = [str(int(i)) for i in indices]
    if not rows:
        return "no rows"
    if len(rows) == 1:
        return f"row {rows[0]} (counting from 0)"
    if len(rows) <= _SHOWN:
        return f"rows {', '.join(rows[:-1])} and {rows[-1]} (counting from 0)"
    return f"rows {', '.join(rows[:3])}, ... ({len(rows)} in all, counting from 0)"
