"""Named tuples of arrays, laid out in memory by Python as compiled code holds them (``stack.hold``).

A compiled function that is called with a tuple of arrays takes each of them apart: code for eighty arrays takes a tenth
of the time to compile, and microseconds at each call. A packed tuple is one address. It is made once, for arrays that
are written to but never replaced.
"""

from __future__ import annotations

import struct
from functools import cache
from typing import Any

import numpy as np
from numba import typeof, types
from numba.core import cgutils
from numba.extending import NativeValue, typeof_impl, unbox

from .stack import Held

#: Bytes of all but booleans, and of what the memory is aligned to.
WORD = 8
#: Numbers, as ``struct`` writes them.
FORMATS = {types.float64: "d", types.int64: "q", types.boolean: "?"}


class Packed:
    """A named tuple, and its image in memory: pass it to compiled functions, read the tuple in Python."""

    def __init__(self, tuple_: Any) -> None:
        self.tuple, self.kind = tuple_, typeof(tuple_)
        self.image = np.zeros(_size(self.kind) // WORD + 1, dtype=np.int64)
        _write(self.kind, tuple_, self.image, 0)
        self.address = self.image.ctypes.data


@cache
def _alignment(kind: Any) -> int:
    if isinstance(kind, types.BaseTuple):
        members: Any = kind
        return max((_alignment(one) for one in members), default=1)
    return 1 if isinstance(kind, types.Boolean) else WORD


@cache
def _size(kind: Any) -> int:
    """Bytes of a value, as LLVM lays it out."""
    if isinstance(kind, types.BaseTuple):
        members: Any = kind
        end = _places(kind)[-1] + _size(members[len(kind) - 1]) if len(kind) else 0
        return _round_up(end, _alignment(kind))
    if isinstance(kind, types.Array):
        return WORD * (5 + 2 * kind.ndim)
    return _alignment(kind)


def _round_up(at: int, alignment: int) -> int:
    """The first place from ``at`` on that is aligned."""
    return -(-at // alignment) * alignment


@cache
def _places(kind: Any) -> list[int]:
    """Where each member of a tuple begins."""
    found, at = [], 0
    for one in kind:
        found.append(_round_up(at, _alignment(one)))
        at = found[-1] + _size(one)
    return found


def _write(kind: Any, value: Any, image: Any, at: int) -> None:
    """Write a value into memory, from byte ``at`` on."""
    if isinstance(kind, types.BaseTuple):
        members: Any = kind
        for one, member, place in zip(members, value, _places(kind), strict=True):
            _write(one, member, image, at + place)
    elif isinstance(kind, types.Array):  # memory and owner, which nothing counts; size, address, shape and strides
        address = value.__array_interface__["data"][0]
        words = 0, 0, value.size, value.itemsize, address, *value.shape, *value.strides
        struct.pack_into(f"{len(words)}q", image, at, *words)
    elif not isinstance(kind, types.NoneType):
        if kind not in FORMATS:
            raise TypeError(f"{kind} cannot be packed.")
        struct.pack_into(FORMATS[kind], image, at, value)


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
