"""Compiles functions that only other compiled functions call.

Numba optimises every function and turns it into machine code by itself, and does both again in each function that calls
it, directly or not. With twenty levels of small functions that is most of the time to compile. A function compiled by
``LinkedCompiler`` is only linked into those that call it, and optimised there, with all the rest, once. Python cannot
call it: that raises TypeError. Call its ``py_func`` instead.
"""

from __future__ import annotations

import ctypes
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

#: What Python calls in place of machine code: the closure that Numba passes cannot be called, so it raises TypeError.
_REFUSE = ctypes.cast(ctypes.pythonapi.PyObject_Call, ctypes.c_void_p).value or 0


class _Linked(JITCodeLibrary):
    """Code that is neither optimised nor run by itself."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return _REFUSE

    @property
    def codegen(self) -> Any:
        return self

    def set_env(self, name: str, env: Any) -> None:
        """There is no machine code whose environment could be set."""


class LinkedCompiler(Compiler):
    """Numba's compiler, with a library of its own kind."""

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *rest: Any) -> None:
        super().__init__(typingctx, targetctx, library or _Linked(targetctx.codegen(), "linked"), *rest)
