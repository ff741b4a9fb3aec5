"""Takes less time to compile functions of lamina, without a change in the code that comes out.

Most of that time Numba spends in Python. While a function of lamina is compiled, with all that it calls,

- the garbage collector waits: it would search hundreds of thousands of objects that stay, again and again;
- the type of an operation on numbers, or of an element of an array, is found once and not at every place;
- flags are compared by those that are set, before all of them are listed;
- the time of each call of LLVM is not taken.

All but the first change private parts of Numba and llvmlite. A version that lacks one of them compiles without it.
"""

from __future__ import annotations

import gc
import operator
from contextlib import ExitStack
from typing import Any

from llvmlite.binding import ffi
from numba.core import event, types
from numba.core.targetconfig import TargetConfig
from numba.core.types.functions import BaseFunction

_OPERATORS = frozenset(one for one in vars(operator).values() if callable(one))
_SCALAR = (types.Number, types.Boolean)


def _is_simple(function: Any, args: Any) -> bool:
    """Whether the types of the arguments alone decide on that of the result, whatever the flags."""
    if function.typing_key not in _OPERATORS:
        return False
    first, *others = args or (None,)
    indexed = isinstance(first, types.Array) and function.typing_key in (operator.getitem, operator.setitem)
    return (indexed or isinstance(first, _SCALAR)) and all(isinstance(one, _SCALAR) for one in others)


def _find_once(find: Any) -> Any:
    """``BaseFunction.get_call_type``, which remembers simple operations."""
    known: dict[Any, Any] = {}

    def get_call_type(function: Any, context: Any, args: Any, kws: Any) -> Any:
        if kws or not _is_simple(function, args):
            return find(function, context, args, kws)
        key = (id(function), context, args)
        if key not in known:
            # The function is kept too, so that no other gets its id.
            known[key] = find(function, context, args, kws), function
        return known[key][0]

    return get_call_type


def _equal_if_set(equal: Any) -> Any:
    """``TargetConfig.__eq__``, which first compares the flags that are set."""

    def __eq__(flags: Any, other: Any) -> Any:
        return (type(flags) is type(other) and flags._values == other._values) or equal(flags, other)

    return __eq__


def _replacements() -> list[tuple[Any, str, Any]]:
    """What is replaced meanwhile: object, attribute, new value; only what this version of Numba has."""
    found: list[tuple[Any, str, Any]] = []
    if hasattr(BaseFunction, "get_call_type"):
        found.append((BaseFunction, "get_call_type", _find_once(BaseFunction.get_call_type)))
    if hasattr(TargetConfig(), "_values"):
        found.append((TargetConfig, "__eq__", _equal_if_set(TargetConfig.__eq__)))
        found.append((TargetConfig, "__hash__", lambda flags: hash(type(flags))))
    lock = getattr(ffi.lib, "_lock", None)
    if hasattr(lock, "_cblist"):
        found.append((lock, "_cblist", []))
    return found


class _Lean(event.Listener):
    """Changes Numba when the outermost function of lamina begins to be compiled, and changes it back at its end.

    Numba compiles one function at a time, whatever the number of threads.
    """

    def __init__(self) -> None:
        self.depth, self.changes = 0, ExitStack()
        self.new = _replacements()

    def on_start(self, event: Any) -> None:
        if self.depth or event.data["dispatcher"].py_func.__module__.startswith("lamina."):
            self.depth += 1
        if self.depth != 1:
            return
        if gc.isenabled():
            gc.disable()
            self.changes.callback(gc.enable)
        for of, name, new in self.new:
            self.changes.callback(setattr, of, name, getattr(of, name))
            setattr(of, name, new)

    def on_end(self, event: Any) -> None:
        self.depth = max(self.depth - 1, 0)
        if not self.depth:
            self.changes.close()


def install() -> None:
    """From now on."""
    event.register("numba:compile", _Lean())
