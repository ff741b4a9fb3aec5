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
from numba.core.compiler_machinery import PassManager

#: What Python calls in place of machine code: the closure that Numba passes cannot be called, so it raises TypeError.
_REFUSE = ctypes.cast(ctypes.pythonapi.PyObject_Call, ctypes.c_void_p).value or 0


class _Linked(JITCodeLibrary):
    """Code that is neither optimised as a whole nor run by itself."""

    def _optimize_functions(self, ll_module: Any) -> None:
        """Optimise each function. Numba does the same to those that are only declared, which takes as long."""
        ll_module.data_layout = self._codegen._data_layout
        for function in ll_module.functions:
            if not function.is_declaration:
                passes, builder = self._codegen._function_pass_manager()
                passes.run(function, builder)

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


#: What Numba does for closures, comprehensions, arithmetic on whole arrays and functions that it inlines as Python:
#: inner functions have none of these.
_SKIPPED = {
    "with_lifting",
    "inline_closure_likes",
    "make_function_op_code_to_jit_function",
    "inline_inlinables",
    "literal_unroll",
    "inline_overloads",
    "nopython_rewrites",
}


class LinkedCompiler(Compiler):
    """Numba's compiler, with a library of its own kind and without passes that inner functions do not need."""

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *rest: Any) -> None:
        super().__init__(typingctx, targetctx, library or _Linked(targetctx.codegen(), "linked"), *rest)

    def define_pipelines(self) -> list[PassManager]:
        (whole,) = super().define_pipelines()
        lean = PassManager("linked")
        for one, description in whole.passes:
            if one._name not in _SKIPPED:
                lean.add_pass(one, description)
        lean.finalize()
        return [lean]
