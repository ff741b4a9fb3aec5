"""Small matrices that live on the stack of a compiled function.

The engine works with matrices of at most a few rows. Kept in NumPy arrays they would be read and written through
memory at every step; as matrices of a size known at compile time, LLVM unrolls the loops over them and holds them in
registers, and the general code runs as fast as code unrolled by hand (``benchmarks/engine.py`` measures it).

The size is given by the *length of a tuple*, which Numba knows when it compiles: ``zeros((0, 0), (0,))`` is 2 x 1.
A stack matrix must not outlive the function that made it: pass it down, never return it.
"""

from __future__ import annotations

import hashlib
import math
import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_global
from numba.extending import (
    infer_getattr,
    intrinsic,
    lower_builtin,
    lower_getattr_generic,
    models,
    register_model,
)
from numba.np.arrayobj import make_array

from .compiling.linking import LinkedCompiler

#: How the hot loops are compiled: fused multiply-adds and reciprocals are allowed, reordering of sums is not.
FAST: Any = {"error_model": "numpy", "fastmath": {"contract", "arcp"}}
#: For functions that only compiled code calls (``linking``).
INNER: Any = {**FAST, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": LinkedCompiler}
INLINE_MAKING_ARRAYS: Any = {**INNER, "forceinline": True}
#: For functions that neither make nor return arrays, nor call others that do. Numba then counts no references, which
#: takes time to compile and to run. In a function that does make arrays, their memory would never be freed.
LEAN: Any = {**INNER, "_nrt": False}
INLINE: Any = {**LEAN, "forceinline": True}
LEAN_CALLED: Any = {**FAST, "_nrt": False}
COMPILED: Any = {**FAST, "cache": True}
#: For those that Python calls and no other compiled function: no wrapper for C, and other threads go on.
ENTRY: Any = {**COMPILED, "nogil": True, "no_cfunc_wrapper": True}


def linked(function: Any) -> Any:
    """A compiled function once more, for callers that are compiled themselves: linked into them (``linking``)."""
    return njit(**INNER | {"fastmath": function.targetoptions.get("fastmath", False)})(function.py_func)


class Matrix(types.Type):
    """A float64 matrix on the stack, n x k, passed on by its address.

    A NumPy array is nine words. Every function that gets one, and every access to it, would take them apart, which
    takes several times as long to compile, only to be optimised away.
    """

    def __init__(self, n: int, k: int) -> None:
        self.n, self.k = n, k
        super().__init__(f"Matrix({n}, {k})")


class Row(types.Type):
    """A row of such a matrix, or the column of one that has no other: n numbers."""

    def __init__(self, n: int) -> None:
        self.n = n
        super().__init__(f"Row({n})")


@register_model(Matrix)
@register_model(Row)
class _Address(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, ir.DoubleType().as_pointer())


def _zeros(typingctx: Any, rows: Any, columns: Any) -> Any:
    """A float64 matrix of zeros, len(rows) x len(columns), on the stack of the function that calls this."""
    kind = Matrix(len(rows), len(columns))
    storage_type = ir.ArrayType(ir.DoubleType(), max(kind.n * kind.k, 1))

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        with builder.goto_entry_block():  # one allocation a call, however often a loop passes here
            storage = builder.alloca(storage_type)
        builder.store(ir.Constant(storage_type, None), storage)
        return cgutils.gep_inbounds(builder, storage, 0, 0)

    return kind(rows, columns), codegen


zeros: Any = intrinsic(_zeros)


def _item(matrix: Any, index: Any) -> Any:
    """The type of an item, or None. Items are not counted from the end."""
    if isinstance(matrix, Row):
        return types.float64 if isinstance(index, types.Integer) else None
    if not isinstance(matrix, Matrix):
        return None
    if isinstance(index, types.Integer):
        return Row(matrix.k)
    members: Any = index if isinstance(index, types.BaseTuple) and len(index) == 2 else [None]
    if all(isinstance(one, types.Integer) for one in members):
        return types.float64
    return Row(matrix.n) if isinstance(members[0], types.SliceType) and matrix.k == 1 else None


@infer_global(operator.getitem)
class _GetItem(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        found = _item(*args)
        return None if found is None else found(*args)


@infer_global(operator.setitem)
class _SetItem(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        matrix, index, _ = args
        return types.none(matrix, index, types.float64) if _item(matrix, index) == types.float64 else None


def _place(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """The address of an item."""
    (matrix, index), (address, at) = signature.args[:2], args[:2]
    if isinstance(index, types.Integer):
        i = context.cast(builder, at, index, types.intp)
        step = matrix.k if isinstance(matrix, Matrix) else 1
        return builder.gep(address, [builder.mul(i, context.get_constant(types.intp, step))], inbounds=True)
    if isinstance(index[0], types.SliceType):
        return address
    i, j = (context.cast(builder, builder.extract_value(at, n), index[n], types.intp) for n in range(2))
    i = builder.mul(i, context.get_constant(types.intp, matrix.k))
    return builder.gep(address, [builder.add(i, j)], inbounds=True)


@lower_builtin(operator.getitem, Matrix, types.Any)
@lower_builtin(operator.getitem, Row, types.Any)
def _get_item(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    place = _place(context, builder, signature, args)
    return place if isinstance(signature.return_type, Row) else builder.load(place)


@lower_builtin(operator.setitem, Matrix, types.Any, types.Float)
@lower_builtin(operator.setitem, Row, types.Any, types.Float)
def _set_item(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    builder.store(args[2], _place(context, builder, signature, args))
    return context.get_dummy_value()


class Held(types.Type):
    """A named tuple of arrays that lives on the stack of a compiled function, and is passed on by its address."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        # The name is part of the name of every function that gets it: that of the tuple would be kilobytes each time.
        super().__init__(f"Held({hashlib.sha256(str(kind).encode()).hexdigest()[:16]})")


@register_model(Held)
class _HeldModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, dmm.lookup(fe_type.kind).get_value_type().as_pointer())


def _has_arrays(kind: Any) -> bool:
    if not isinstance(kind, types.BaseTuple):
        return isinstance(kind, types.Array)
    members: Any = kind
    return any(map(_has_arrays, members))


def _is_held(kind: Any) -> bool:
    """Whether a member of this type is passed on by its address."""
    return isinstance(kind, types.BaseNamedTuple) and _has_arrays(kind)


#: Numba sets methods of this class to NotImplemented, which type checkers take for their signatures.
_Members: Any = AttributeTemplate


@infer_getattr
class _HeldMembers(_Members):
    key = Held

    def generic_resolve(self, held: Any, name: str) -> Any:
        if name not in held.kind.fields:
            return None
        member = held.kind.types[held.kind.fields.index(name)]
        return Held(member) if _is_held(member) else member


@lower_getattr_generic(Held)
def _held_member(context: Any, builder: Any, held: Any, address: Any, name: str) -> Any:
    i = held.kind.fields.index(name)
    member, place = held.kind.types[i], cgutils.gep_inbounds(builder, address, 0, i)
    return place if _is_held(member) else _strip(context, builder, member, builder.load(place))


def _strip(context: Any, builder: Any, kind: Any, one: Any) -> Any:
    """The same arrays without a share in their memory: Numba would count references whenever one is taken out."""
    if isinstance(kind, types.Array):
        array = make_array(kind)(context, builder, one)
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        array.parent = cgutils.get_null_value(array.parent.type)
        return array._getvalue()
    if isinstance(kind, types.BaseTuple):
        members: Any = kind
        for i, inner in enumerate(members):
            one = builder.insert_value(one, _strip(context, builder, inner, builder.extract_value(one, i)), i)
    return one


def _store(builder: Any, kind: Any, one: Any, place: Any) -> None:
    """Write a tuple member by member: as a whole it would be one value of hundreds of words."""
    if not isinstance(kind, types.BaseTuple):
        builder.store(one, place)
        return
    members: Any = kind
    for i, inner in enumerate(members):
        _store(builder, inner, builder.extract_value(one, i), cgutils.gep_inbounds(builder, place, 0, i))


def _copy_held(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """The same on this stack: LLVM would expect every number that is written to change the arrays of another's."""
    kind = context.get_value_type(signature.return_type.kind)
    with builder.goto_entry_block():
        place = builder.alloca(kind)
    cgutils.raw_memcpy(builder, place, args[0], context.get_constant(types.intp, context.get_abi_sizeof(kind)), 1)
    return place


def _hold(typingctx: Any, value: Any) -> Any:
    """Put a named tuple of arrays on the stack of the function that calls this. It must not outlive that function.

    Passed by value, a tuple of fifty arrays is some four hundred arguments of every function that gets it, which takes
    most of the time to compile. Its members are read as before. Nothing counts references to its arrays: the caller
    keeps them alive.
    """
    if isinstance(value, Held):
        return value(value), _copy_held

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        with builder.goto_entry_block():
            place = builder.alloca(context.get_value_type(value))
        _store(builder, value, _strip(context, builder, value, args[0]), place)
        return place

    return Held(value)(value), codegen


hold: Any = intrinsic(_hold)


@njit(**INLINE)
def copy(source, target, rows, columns):
    """target = source."""
    for i in range(len(rows)):
        for j in range(len(columns)):
            target[i, j] = source[i, j]


@njit(**INLINE)
def copy_array(source, target):
    """target = source, for arrays (N,).

    ``target[:] = source`` would compile the message of a shape error as well, with all of Numba's string code.
    """
    for i in range(len(target)):
        target[i] = source[i]


@njit(**INLINE)
def multiply(X, Y, out, rows, inner, columns):
    """out = X Y."""
    for i in range(len(rows)):
        for j in range(len(columns)):
            s = X[i, 0] * Y[0, j]
            for k in range(1, len(inner)):
                s += X[i, k] * Y[k, j]
            out[i, j] = s


@njit(**INLINE)
def multiply_transposed(X, Y, out, rows, inner, columns):
    """out = X' Y."""
    for i in range(len(rows)):
        for j in range(len(columns)):
            s = X[0, i] * Y[0, j]
            for k in range(1, len(inner)):
                s += X[k, i] * Y[k, j]
            out[i, j] = s


@njit(**INLINE)
def congruence(X, A, work, out, dims):
    """out = A X A' for a symmetric X; out may be X."""
    multiply(A, X, work, dims, dims, dims)
    for i in range(len(dims)):
        for j in range(i + 1):
            s = work[i, 0] * A[j, 0]
            for k in range(1, len(dims)):
                s += work[i, k] * A[j, k]
            out[i, j] = s
            out[j, i] = s


@njit(**INLINE)
def congruence_transposed(X, A, work, out, dims):
    """out = A' X A for a symmetric X; out may be X."""
    multiply(X, A, work, dims, dims, dims)
    for i in range(len(dims)):
        for j in range(i + 1):
            s = A[0, i] * work[0, j]
            for k in range(1, len(dims)):
                s += A[k, i] * work[k, j]
            out[i, j] = s
            out[j, i] = s


@njit(**INLINE_MAKING_ARRAYS)
def to_array(X, rows):
    """A NumPy copy of a square stack matrix, which may be returned."""
    out = np.empty((len(rows), len(rows)))
    copy(X, out, rows, rows)
    return out


@njit(**INLINE)
def solve(M, B, rows, columns):
    """B <- M^-1 B by elimination with row exchanges; returns log|det M|. M is overwritten."""
    n = len(rows)
    log_det = 0.0
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(M[i, k]) > abs(M[best, k]):
                best = i
        if best != k:
            for j in range(n):
                M[k, j], M[best, j] = M[best, j], M[k, j]
            for j in range(len(columns)):
                B[k, j], B[best, j] = B[best, j], B[k, j]
        for i in range(k + 1, n):
            f = M[i, k] / M[k, k]
            for j in range(k + 1, n):
                M[i, j] -= f * M[k, j]
            for j in range(len(columns)):
                B[i, j] -= f * B[k, j]
        log_det += math.log(abs(M[k, k]))
    for k in range(n - 1, -1, -1):
        for j in range(len(columns)):
            s = B[k, j]
            for i in range(k + 1, n):
                s -= M[k, i] * B[i, j]
            B[k, j] = s / M[k, k]
    return log_det
