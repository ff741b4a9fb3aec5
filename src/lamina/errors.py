"""The errors that lamina raises. Each message says what is wrong, in which rows, and what to do."""

from collections.abc import Iterable

_SHOWN = 10


class LaminaError(ValueError):
    """Base of all errors that lamina raises on purpose."""


class RecordError(LaminaError):
    """A field of a record cannot be used as it is."""


class OrderError(LaminaError):
    """Inputs contradict the order they are said to have."""


class KernelError(LaminaError):
    """A kernel has a parameter it cannot have, or is asked for something it cannot do."""


class MethodError(LaminaError):
    """A method, or an option of one, is unknown or out of its range."""


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
