"""What takes less time while functions of lamina are compiled leaves Numba as it was, and the results too."""

import gc
import weakref

import pytest
from llvmlite import ir as llvm
from llvmlite.binding import ffi
from numba import njit
from numba.core import errors, ir
from numba.core.compiler import Flags
from numba.core.targetconfig import TargetConfig
from numba.core.types.functions import BaseFunction

from lamina.engine.compiling.lean import _equal_if_set, _list_variables


def parts():
    found = BaseFunction.get_call_type, TargetConfig.__eq__, TargetConfig.__hash__, ffi.lib._lock._cblist
    return *found, llvm.Type.get_abi_size, ir.Inst._rec_list_vars, gc.isenabled()


def compiled(body, module):
    """A function of a module, which notes how Numba stands while it is compiled."""
    code = f"def compiled(x):\n    return {body}"
    namespace = {"__name__": module}
    exec(code, namespace)
    return njit(namespace["compiled"])


@pytest.fixture
def noted(monkeypatch):
    """How Numba stands in the midst of compiling."""
    from numba.core import typed_passes

    found, infer = [], typed_passes.type_inference_stage

    def note(*args, **kwargs):
        found.append(parts())
        return infer(*args, **kwargs)

    monkeypatch.setattr(typed_passes, "type_inference_stage", note)
    return found


def test_numba_is_changed_for_lamina_only_and_changed_back(noted):
    before = parts()
    assert compiled("x + 1.0", "elsewhere")(1.0) == 2.0
    assert noted == [before]
    assert compiled("x + 1.0", "lamina.somewhere")(1.0) == 2.0
    assert all(new is not old for new, old in zip(noted[1], before, strict=True))
    assert parts() == before


def test_numba_is_changed_back_after_an_error():
    before = parts()
    with pytest.raises(errors.TypingError):
        compiled("x.nothing", "lamina.somewhere")(1.0)
    assert parts() == before


def test_a_collector_that_was_off_stays_off():
    gc.disable()
    try:
        compiled("x + 2.0", "lamina.somewhere")(1.0)
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_remembered_types_are_those_of_each_place():
    found = compiled("(x + 1, x + 1.5, x / 2, x // 2, -x, x > 0, x * 1j)", "lamina.somewhere")
    for x in 3, 3.0:
        assert found(x) == found.py_func(x)
        assert [type(one) for one in found(x)] == [type(one) for one in found.py_func(x)]


def test_flags_are_equal_if_all_of_their_values_are():
    equal = _equal_if_set(TargetConfig.__eq__)
    plain, same, other = Flags(), Flags(), Flags()
    same.nrt, other.nrt = Flags.options["nrt"].default, not Flags.options["nrt"].default
    for one in plain, same, other:
        for two in plain, same, other:
            assert equal(one, two) == (one == two)
    assert equal(plain, 1) is NotImplemented


def test_the_variables_of_an_instruction_are_all_listed_in_order():
    loc = ir.Loc("somewhere", 1)
    a, b, c = (ir.Var(None, name, loc) for name in "abc")
    for one in (
        ir.Assign(ir.Expr.call(a, [b, c], (("named", b),), loc), c, loc),
        ir.SetItem(a, b, c, loc),
        ir.Branch(a, 0, 1, loc),
        ir.Assign(ir.Const(1.0, loc), b, loc),
    ):
        assert _list_variables(ir.Inst._rec_list_vars)(one, one.__dict__) == one.list_vars()


def test_the_collector_takes_away_what_compiling_left_behind():
    class Cycle:
        pass

    def compile_and_leave():
        one = Cycle()
        one.itself = one
        compiled("x + 3.0", "lamina.somewhere")(1.0)
        return weakref.ref(one)

    left = compile_and_leave()
    gc.collect()
    assert left() is None
