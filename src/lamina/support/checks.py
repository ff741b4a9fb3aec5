"""Columns that users pass (lists, arrays, pandas Series), converted to numbers or labels, or refused."""

import hashlib
from collections.abc import Hashable, Iterable, Mapping
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import MethodError, RecordError

Labels = tuple[Hashable | None, ...]

#: Squares of larger numbers, and the inverse squares of smaller ones, could overflow.
SMALLEST, LARGEST = 1e-100, 1e100
_KINDS = {"b": "booleans", "c": "complex numbers", "M": "dates", "m": "time differences"}
_NUMBERS_ONLY = "Correct or convert the values first (dates, for example, to decimal years)."


def numbers(
    name: str, values: Any, broadcast_to: int | None = None, gaps: NDArray[np.bool_] | bool = False
) -> NDArray[np.float64]:
    """A new contiguous float64 array of shape (N,). One number is repeated if `broadcast_to` is given.

    Raises RecordError, which calls the column `name`, for anything but finite real numbers in one dimension, of at most
    ``LARGEST``. Where `gaps` is true, a number may be missing or infinite.
    """
    raw = _as_array(values)
    if raw.ndim == 0 and broadcast_to is not None:
        raw = np.full(broadcast_to, raw[()])
    if raw.ndim != 1:
        got = "a single value" if raw.ndim == 0 else f"shape {raw.shape}"
        raise RecordError(f"{name} must have one dimension, one number per row; got {got}. Pass a column.")
    if raw.dtype.kind in _KINDS:
        raise RecordError(f"{name} must hold real numbers, got {_KINDS[raw.dtype.kind]}. {_NUMBERS_ONLY}")
    if raw.dtype.kind not in "fiu":
        raw = _from_objects(name, raw.astype(object))
    column = np.array(raw, dtype=np.float64, order="C")
    bad = ~(np.isfinite(column) | gaps)
    refuse(bad, f"{name} is missing, NaN or infinite in {{rows}}. Fill in the value or leave the row out.")
    refuse(
        (np.abs(column) > LARGEST) & np.isfinite(column),
        f"{name} is beyond {LARGEST:g} in {{rows}}. Correct the value, or give the column in a larger unit.",
    )
    return column


def argument(name: str, values: Any) -> NDArray[np.float64]:
    """An argument that is one number or several, as an array (n,). Raises MethodError for anything else."""
    try:
        return numbers(name, np.atleast_1d(np.asarray(values)))
    except RecordError as error:
        raise MethodError(str(error)) from None


def check_whole(name: str, value: Any, least: int) -> None:
    """Raise MethodError unless an argument is a whole number of at least ``least``."""
    if isinstance(value, bool) or not (isinstance(value, int | np.integer) and value >= least):
        raise MethodError(f"{name} must be a whole number of at least {least}, got {value!r}.")


def labels(name: str, values: Iterable[Any] | None, n: int) -> Labels | None:
    """One hashable label per row as Python objects, None for each that is missing; None if there are none."""
    if values is None:
        return None
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise RecordError(
            f"{name} must hold one label per row, got the single value {values!r}. Pass a list of {n} labels."
        )
    entries = [entry.item() if isinstance(entry, np.generic) else entry for entry in values]
    check_length(name, len(entries), n)
    bad = [i for i, entry in enumerate(entries) if not isinstance(entry, Hashable)]
    if bad:
        raise RecordError(
            f"{name} must hold labels such as text or whole numbers, which {{rows}} "
            f"{_do_not(bad)}: row {bad[0]} is {entries[bad[0]]!r}. Pass one label per row.",
            rows=bad,
        )
    return tuple(None if _is_missing(entry) or _is_blank(entry) else entry for entry in entries)


def rows_by_label(given: Labels) -> dict[Hashable, NDArray[np.intp]]:
    """The positions of the rows with each label, in the order in which labels first appear; None is not a label."""
    rows: dict[Hashable, list[int]] = {}
    for i, name in enumerate(given):
        if name is not None:
            rows.setdefault(name, []).append(i)
    return {name: np.array(positions, dtype=np.intp) for name, positions in rows.items()}


def refuse(bad: ArrayLike, message: str) -> None:
    """Raise RecordError with the rows where ``bad``, shape (N,), is true; "{rows}" in the message stands for them."""
    rows = np.flatnonzero(bad)
    if rows.size:
        raise RecordError(message, rows=rows)


def check_length(name: str, got: int, n: int) -> None:
    """Raise RecordError unless column `name` has one value for each of the n rows of t."""
    if got != n:
        raise RecordError(f"{name} has {got} values, but t has {n}. Give every field one value per row.")


def _as_array(values: Any) -> NDArray[Any]:
    if isinstance(values, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(values), np.nan, values.data.astype(object))
    # NumPy would convert [1, "a"] to text and [True, 1.5] to numbers; as objects the entries keep their types.
    return np.asarray(values, dtype=None if hasattr(values, "dtype") else object)


def _from_objects(name: str, entries: NDArray[np.object_]) -> NDArray[np.float64]:
    """Numbers from Python objects; missing ones become NaN. Text is never parsed."""
    column = np.full(entries.size, np.nan)
    bad = []
    for i, entry in enumerate(entries):
        # Not isinstance: a bool is an int, but True is not a measurement.
        if issubclass(type(entry), Real | Decimal) and type(entry) is not bool:
            column[i] = entry
        elif not _is_missing(entry):
            bad.append(i)
    if bad:
        entry = entries[bad[0]]
        kind = "text" if isinstance(entry, str | bytes) else type(entry).__name__
        raise RecordError(
            f"{name} must hold real numbers, which {{rows}} {_do_not(bad)}: "
            f"row {bad[0]} is the {kind} {entry!r}. {_NUMBERS_ONLY}",
            rows=bad,
        )
    return column


def _do_not(rows: list[int]) -> str:
    return "does not" if len(rows) == 1 else "do not"


def _is_missing(entry: Any) -> bool:
    """Whether an entry is None, NaN, NaT or pandas.NA; without importing pandas."""
    try:
        return entry is None or bool(entry != entry)  # NaN and NaT differ from themselves
    except TypeError:
        return True  # pandas.NA: a comparison with it has no truth value
    except ValueError:
        return False  # an array: it has many


def _is_blank(entry: Any) -> bool:
    return isinstance(entry, str) and not entry.strip()


def digest(arrays: Mapping[str, np.ndarray], text: str = "") -> str:
    """SHA-256 of a text and of arrays of numbers or text: names, types, shapes and values.

    All NaN are one value, whatever their bits, because files do not keep these. So are the two byte orders.
    """
    found = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        values = np.asarray(arrays[name])
        if values.dtype.kind == "f" and np.isnan(values).any():
            values = np.where(np.isnan(values), values.dtype.type(np.nan), values)
        values = np.ascontiguousarray(values.astype(values.dtype.newbyteorder("<"), copy=False))
        found.update(f"\n{name} {values.dtype.str} {np.shape(arrays[name])}\n".encode())
        found.update(values.tobytes())
    return found.hexdigest()
