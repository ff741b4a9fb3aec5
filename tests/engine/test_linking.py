"""Functions that are only linked into others."""

import pytest
from numba import njit

from lamina.engine.stack import INNER


@njit(**INNER)
def square(x):
    return x * x


@njit
def fourth_power(x):
    return square(square(x))


def test_compiled_functions_can_call_a_linked_one():
    assert fourth_power(3.0) == 81.0


def test_python_cannot_call_a_linked_function_and_gets_an_error():
    assert fourth_power(2.0) == 16.0
    with pytest.raises(TypeError, match="not callable"):
        square(2.0)
    with pytest.raises(TypeError, match="not callable"):
        square(2)  # not compiled before
    assert square.py_func(2.0) == 4.0
