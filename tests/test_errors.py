import pickle

import pytest

from lamina import errors


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([], "no rows"),
        ([3], "row 3 (counting from 0)"),
        ([3, 4], "rows 3 and 4 (counting from 0)"),
        ([3, 4, 7], "rows 3, 4 and 7 (counting from 0)"),
        (range(57), "rows 0, 1, 2, ... (57 in all, counting from 0)"),
    ],
)
def test_rows_are_named_from_zero_and_long_lists_are_cut(rows, text):
    assert errors.name_rows(rows) == text


@pytest.mark.parametrize("name", ["RecordError", "OrderError", "KernelError", "MethodError", "MissingExtraError"])
def test_every_error_is_a_lamina_error_and_survives_pickling(name):
    error = getattr(errors, name)("what is wrong and what to do")
    assert isinstance(error, errors.LaminaError)
    assert isinstance(error, ValueError)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)


def test_a_missing_extra_is_also_an_import_error():
    assert issubclass(errors.MissingExtraError, ImportError)
