"""What takes less time while functions of lamina are compiled leaves Numba as it was, and the results too."""

import gc

import pytest
from llvmlite.binding import ffi
from numba import njit
from numba.core import errors
from numba.core.targetconfig import TargetConfig
from numba.core.types.functions import BaseFunction


def parts():
    return BaseFunction.get_call_type, TargetConfig.__eq__, TargetConfig.__hash__, ffi.lib._lock._cblist, gc.isenabled()


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
