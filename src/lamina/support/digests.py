"""Checksums of arrays: whether a file still holds the numbers that were written."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np


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
