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


def test_an_error_knows_the_rows_that_its_message_is_about_and_words_them_again():
    error = errors.OrderError("{rows} are tied ('{rows }'), but {between} lies between", rows=[1, 4], between=[2])
    assert str(error) == "rows 1 and 4 (counting from 0) are tied ('{rows }'), but row 2 (counting from 0) lies between"
    assert error.rows == (1, 4, 2)
    assert error.worded(lambda rows: "/".join(f"line {row + 2}" for row in rows)) == (
        "line 3/line 6 are tied ('{rows }'), but line 4 lies between"
    )
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.rows) == (str(error), error.rows)
    assert copy.worded(str) == error.worded(str)


def test_a_message_about_no_rows_stays_as_it_is():
    error = errors.RecordError("the option {rows} is unknown")
    assert str(error) == error.worded(str) == "the option {rows} is unknown"
    assert error.rows == ()
