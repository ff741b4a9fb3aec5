"""Takes less time to compile functions of lamina, without a change in the code that comes out.

Most of that time Numba spends in Python. While a function of lamina is compiled, with all that it calls,

- the garbage collector waits: it would search hundreds of thousands of objects that stay, again and again. What is made
  meanwhile counts as old, so that the next collection does not search it, and at exit it is not taken apart;
- the type of an operation on numbers, or of an element of an array, is found once and not at every place;
- the size of a type is found once;
- the variables of an instruction are listed without looking into what never holds one;
- flags are compared by those that are set;
- the time of each call of LLVM is not taken.

All but the first change private parts of Numba and llvmlite. A version that lacks one of them compiles without it.
"""

from __future__ import annotations

import atexit
import gc
import operator
from contextlib import ExitStack
from typing import Any

from llvmlite import ir as llvm
from llvmlite.binding import ffi
from numba.core import event, ir, types
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


def _size_once(size: Any) -> Any:
    """``Type.get_abi_size``, which remembers: LLVM parses a module for each."""
    known: dict[Any, Any] = {}

    def get_abi_size(kind: Any, target_data: Any, context: Any = None) -> Any:
        if context is not None:
            return size(kind, target_data, context)
        key = str(kind), id(target_data)
        if key not in known:
            # The target is kept too, so that no other gets its id.
            known[key] = size(kind, target_data), target_data
        return known[key][0]

    return get_abi_size


def _list_variables(search: Any) -> Any:
    """``Inst._rec_list_vars``, which passes over places in the source, and names."""

    def list_variables(instruction: Any, value: Any) -> Any:
        if value.__class__ is not dict:
            return search(instruction, value)
        found = []
        for one in value.values():
            kind = one.__class__
            if kind is ir.Var:
                found.append(one)
            elif kind is not ir.Loc and kind is not str:
                found.extend(search(instruction, one))
        return found

    return list_variables


def _equal_if_set(equal: Any) -> Any:
    """``TargetConfig.__eq__``, which compares the flags that are set: the others have one default."""

    def __eq__(flags: Any, other: Any) -> Any:
        if type(flags) is not type(other):
            return equal(flags, other)
        both = flags._values.keys() | other._values.keys()
        return flags._values == other._values or all(getattr(flags, one) == getattr(other, one) for one in both)

    return __eq__


def _replacements() -> list[tuple[Any, str, Any]]:
    """What is replaced meanwhile: object, attribute, new value; only what this version of Numba has."""
    found: list[tuple[Any, str, Any]] = []
    if hasattr(BaseFunction, "get_call_type"):
        found.append((BaseFunction, "get_call_type", _find_once(BaseFunction.get_call_type)))
    if hasattr(ir.Inst, "_rec_list_vars"):
        found.append((ir.Inst, "_rec_list_vars", _list_variables(ir.Inst._rec_list_vars)))
    found.append((llvm.Type, "get_abi_size", _size_once(llvm.Type.get_abi_size)))
    if hasattr(TargetConfig(), "_values"):
        found.append((TargetConfig, "__eq__", _equal_if_set(TargetConfig.__eq__)))
        found.append((TargetConfig, "__hash__", lambda flags: hash(type(flags))))
    lock = getattr(ffi.lib, "_lock", None)
    if hasattr(lock, "_cblist"):
        found.append((lock, "_cblist", []))
    return found


def _collect_later() -> None:
    """Switch the garbage collector on again. All there is now counts as old."""
    gc.freeze()
    gc.unfreeze()
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)
    gc.enable()


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
            self.changes.callback(_collect_later)
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
