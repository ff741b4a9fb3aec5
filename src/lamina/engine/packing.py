"""Named tuples of arrays, laid out in memory by Python as compiled code holds them (``stack.hold``).

A compiled function that is called with a tuple of arrays takes each of them apart: code for eighty arrays takes a tenth
of the time to compile, and microseconds at each call. A packed tuple is one address. It is made once, for arrays that
are written to but never replaced.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import typeof, types
from numba.core import cgutils
from numba.extending import NativeValue, typeof_impl, unbox

from .stack import Held

#: Bytes of all but booleans, and of what the memory is aligned to.
WORD = 8


class Packed:
    """A named tuple, and its image in memory: pass it to compiled functions, read the tuple in Python."""

    def __init__(self, tuple_: Any) -> None:
        self.tuple, self.kind = tuple_, typeof(tuple_)
        self.image = np.zeros(_size(self.kind) // WORD + 1, dtype=np.int64)
        _write(self.kind, tuple_, self.image.view(np.uint8), 0)
        self.address = self.image.ctypes.data


def _members(kind: Any) -> list[Any]:
    return list(kind)


def _alignment(kind: Any) -> int:
    if isinstance(kind, types.BaseTuple):
        return max((_alignment(one) for one in _members(kind)), default=1)
    return 1 if isinstance(kind, types.Boolean) else WORD


def _size(kind: Any) -> int:
    """Bytes of a value, as LLVM lays it out."""
    if isinstance(kind, types.BaseTuple):
        return _place(_end(kind, len(kind)), _alignment(kind))
    if isinstance(kind, types.Array):
        return WORD * (5 + 2 * kind.ndim)
    return _alignment(kind)


def _place(at: int, alignment: int) -> int:
    """The first place from ``at`` on that is aligned."""
    return -(-at // alignment) * alignment


def _end(kind: Any, count: int) -> int:
    """Where the first ``count`` members of a tuple end."""
    at = 0
    for one in _members(kind)[:count]:
        at = _place(at, _alignment(one)) + _size(one)
    return at


def _write(kind: Any, value: Any, image: Any, at: int) -> None:
    """Write a value into bytes, from ``at`` on."""
    if isinstance(kind, types.BaseTuple):
        for i, one in enumerate(_members(kind)):
            _write(one, value[i], image, at + _place(_end(kind, i), _alignment(one)))
        return
    if isinstance(kind, types.Array):  # memory and owner, which nothing counts; then size, address, shape and strides
        words = [0, 0, value.size, value.itemsize, value.ctypes.data, *value.shape, *value.strides]
        found = np.array(words, dtype=np.int64)
    elif isinstance(kind, types.NoneType):
        return
    elif kind in (types.float64, types.int64, types.boolean):
        found = np.array([value], dtype={types.float64: float, types.int64: np.int64, types.boolean: np.uint8}[kind])
    else:
        raise TypeError(f"{kind} cannot be packed.")
    image[at : at + found.nbytes] = found.view(np.uint8)


@typeof_impl.register(Packed)
def _typeof_packed(value: Any, context: Any) -> Any:
    return Held(value.kind)


@unbox(Held)
def _unbox_held(kind: Any, value: Any, c: Any) -> Any:
    address = c.pyapi.object_getattr_string(value, "address")
    number = c.pyapi.long_as_longlong(address)
    c.pyapi.decref(address)
    pointer = c.builder.inttoptr(number, c.context.get_value_type(kind))
    return NativeValue(pointer, is_error=cgutils.is_not_null(c.builder, c.pyapi.err_occurred()))
