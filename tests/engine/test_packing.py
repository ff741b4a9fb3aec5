"""Packed tuples are read by compiled code as the tuples themselves are."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import njit, typeof
from numba.core.registry import cpu_target

from lamina.engine.packing import Packed, _size
from lamina.engine.stack import hold


class Inner(NamedTuple):
    flag: bool
    matrix: Any
    count: int


class Outer(NamedTuple):
    first: bool
    second: bool
    nothing: None
    inner: Inner
    pair: tuple[float, float]
    mixed: tuple[bool, float]
    cube: Any
    names: Any
    last: bool


@pytest.fixture
def outer(rng):
    inner = Inner(True, rng.standard_normal((2, 3)), -7)
    mixed = (True, 2.5)
    return Outer(False, True, None, inner, (1.5, -2.5), mixed, rng.random((2, 2, 2)), np.array([True, False]), True)


@njit
def read(value):
    held = hold(value)
    inner = held.inner
    numbers = inner.matrix[1, 2], held.cube[1, 0, 1], held.pair[1], held.mixed[1], inner.count
    return numbers, (held.first, held.second, inner.flag, held.mixed[0], held.names[0], held.names[1], held.last)


@njit
def add_one(value):
    held = hold(value)
    for i in range(held.inner.matrix.shape[0]):
        for j in range(held.inner.matrix.shape[1]):
            held.inner.matrix[i, j] += 1.0


def test_members_are_read_alike(outer):
    assert read(Packed(outer)) == read(outer)


def test_arrays_are_shared_with_python(outer):
    packed, before = Packed(outer), outer.inner.matrix.copy()
    add_one(packed)
    np.testing.assert_array_equal(outer.inner.matrix, before + 1.0)
    outer.inner.matrix[1, 2] = 17.0
    assert read(packed)[0][0] == 17.0


def test_a_slice_keeps_its_strides(outer):
    inner = outer.inner._replace(matrix=np.arange(24.0).reshape(4, 6)[::2, ::2])
    sliced = outer._replace(inner=inner)
    assert read(Packed(sliced)) == read(sliced)


def test_the_layout_is_that_of_llvm(outer):
    context = cpu_target.target_context
    for value in outer, outer.inner, (outer.inner, True), ((True, True), 1, True):
        kind = typeof(value)
        assert _size(kind) == context.get_abi_sizeof(context.get_value_type(kind))


def test_what_cannot_be_packed_is_refused():
    with pytest.raises(TypeError, match="cannot be packed"):
        Packed((1.0, "text"))
