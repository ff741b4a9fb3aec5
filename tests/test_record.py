import copy
import dataclasses
import pickle
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.errors import OrderError, RecordError
from lamina.record import Record

FIELDS = ("t", "t_sd", "y", "y_sd")


def make(**changes):
    """A good record of four rows, with some fields replaced."""
    fields = {"t": [1.0, 2.6, 2.1, 4.2], "t_sd": 0.5, "y": [0.3, 0.9, 1.1, 0.2], "y_sd": [0.1, 0.1, 0.2, 0.2]}
    return Record(**(fields | changes))


# --- what is held ---


@given(st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=30))
def test_rows_are_kept_as_given_never_sorted(t):
    record = Record(t=t, t_sd=1.0, y=t[::-1], y_sd=2)
    np.testing.assert_array_equal(record.t, t)
    np.testing.assert_array_equal(record.y, t[::-1])
    np.testing.assert_array_equal(record.t_sd, np.ones(len(t)))
    np.testing.assert_array_equal(record.y_sd, np.full(len(t), 2.0))
    assert len(record) == len(t)


@pytest.mark.parametrize(
    "container",
    [
        list,
        tuple,
        np.array,
        lambda x: np.array(x, dtype=np.float32),
        lambda x: np.array(x, dtype=object),
        lambda x: np.repeat(x, 2)[::2],
        np.ma.array,
        lambda x: pd.Series(x, index=[9, 3, 5, 1]),
        lambda x: pd.Series(x, dtype="Float64"),
        lambda x: [Decimal(v) for v in x],
        lambda x: [int(v) for v in x],
    ],
)
def test_any_column_of_numbers_will_do(container):
    values = [1.0, 3.0, 2.0, 8.0]
    record = make(**{name: container(values) for name in FIELDS})
    for name in FIELDS:
        column = getattr(record, name)
        np.testing.assert_array_equal(column, values)
        assert column.dtype == np.float64
        assert column.flags.c_contiguous


def test_arrays_are_read_only_copies():
    t = np.arange(4.0)
    record = make(t=t)
    t[0] = 99.0
    assert record.t[0] == 0.0
    for name in FIELDS:
        with pytest.raises(ValueError, match="read-only"):
            getattr(record, name)[0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        record.order = "decreasing"


@pytest.mark.parametrize(
    "duplicate",
    [
        lambda r: pickle.loads(pickle.dumps(r)),
        copy.copy,
        copy.deepcopy,
        dataclasses.replace,
        lambda r: Record(**r.to_frame(), order=r.order, t_name=r.t_name),
    ],
)
def test_duplicates_are_equal_and_still_read_only(duplicate):
    record = make(order="decreasing", sequence=["a", None, 1, "a"], label=list("pqrs"), t_name="Age")
    twin = duplicate(record)
    assert twin == record
    assert twin is not record
    assert not any(getattr(twin, name).flags.writeable for name in FIELDS)


@pytest.mark.parametrize(
    "change",
    [
        {"t": [1.0, 2.6, 2.1, 4.3]},
        {"t_sd": 0.4},
        {"y": [0.0, 0.0, 0.0, 1.0]},
        {"y_sd": 1.0},
        {"order": "decreasing"},
        {"sequence": ["1", "1", "1", 1]},
        {"label": list("abcd")},
        {"t_name": "Age"},
        {"t_unit": "CE"},
        {"y_name": "Level"},
        {"y_unit": "m"},
        {"depth_unit": "cm"},
    ],
)
def test_records_differ_if_one_field_does(change):
    assert make() != make(**change)
    assert make(**change) == make(**change)


def test_a_record_equals_no_other_kind_of_thing_and_has_no_hash():
    assert make() != "record"
    with pytest.raises(TypeError, match="unhashable"):
        hash(make())


def test_exact_rows_and_sign():
    record = make(t_sd=[0.0, 1.0, 1.0, 0.0])
    np.testing.assert_array_equal(record.exact, [True, False, False, True])
    assert record.sign == 1.0
    assert make(order="decreasing").sign == -1.0


# --- sequences ---


def test_without_labels_all_rows_are_one_sequence():
    ((name, rows),) = make().sequences
    assert name is None
    np.testing.assert_array_equal(rows, [0, 1, 2, 3])
    assert make().unordered.size == 0


@given(st.lists(st.sampled_from(["a", "b", "c", None, "", " ", np.nan, pd.NA, pd.NaT]), min_size=1, max_size=20))
def test_sequences_and_unordered_rows_share_out_all_rows(labels):
    n = len(labels)
    record = Record(t=np.zeros(n), t_sd=1.0, y=np.zeros(n), y_sd=1.0, sequence=labels)
    parts = [rows for _, rows in record.sequences]
    np.testing.assert_array_equal(np.sort(np.concatenate([record.unordered, *parts])), np.arange(n))
    names = [name for name, _ in record.sequences]
    assert names == [label for label in dict.fromkeys(labels) if isinstance(label, str) and label.strip()]
    for name, rows in record.sequences:
        np.testing.assert_array_equal(rows, [i for i, label in enumerate(labels) if label is name])


@pytest.mark.parametrize(
    "labels",
    [
        ["a", "b", None, "a"],
        np.array(["a", "b", "", "a"]),
        pd.Series(["a", "b", None, "a"]),
        pd.Series(["a", "b", pd.NA, "a"], dtype="string"),
        pd.Series(["a", "b", None, "a"], dtype="category"),
    ],
)
def test_labels_from_any_column(labels):
    assert make(sequence=labels).sequence == ("a", "b", None, "a")


def test_numbered_labels_from_a_table_with_holes():
    record = make(sequence=pd.Series([1, 2, np.nan, 1]))
    assert record.sequence == (1, 2, None, 1)
    assert make(sequence=np.array([1, 2, 2, 1])).sequence == (1, 2, 2, 1)


def test_a_record_may_have_no_ordered_rows():
    record = make(sequence=[None] * 4)
    assert record.sequences == ()
    np.testing.assert_array_equal(record.unordered, [0, 1, 2, 3])


# --- views ---


def test_frame_has_the_rows_in_order():
    record = make(sequence=["a", None, "a", "b"])
    frame = record.to_frame()
    assert list(frame.columns) == ["t", "t_sd", "y", "y_sd", "sequence"]
    np.testing.assert_array_equal(frame["t"], record.t)
    assert list(make(label=list("pqrs")).to_frame()["label"]) == list("pqrs")
    assert list(make().to_frame().columns) == list(FIELDS)


def test_repr_is_short_and_says_what_matters():
    text = repr(make(t_sd=[0, 1, 1, 1], sequence=["a", None, "a", "b"], t_name="Year", t_unit="CE", y_unit="m"))
    assert text.splitlines() == [
        "Record of 4 rows",
        "  order: Year is increasing down the rows",
        "  sequences: 2; rows in none: 1",
        "  exact inputs: 1 row",
        "  Year: 1 to 4.2 CE",
        "  y: 0.2 to 1.1 m",
    ]
    assert repr(make()).splitlines()[-2:] == ["  t: 1 to 4.2", "  y: 0.2 to 1.1"]


def test_the_html_of_a_record_is_escaped():
    html = make(t_name="<script>", y_unit="m & n")._repr_html_()
    assert html.startswith("<table>")
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "m &amp; n" in html


# --- what is refused ---


@pytest.mark.parametrize("name", ["y", "t_sd", "y_sd", "sequence", "label"])
@pytest.mark.parametrize("n", [1, 3, 5])
def test_lengths_that_differ(name, n):
    with pytest.raises(RecordError, match=rf"{name} has {n} values, but t has 4.*one value per row"):
        make(**{name: [1.0] * n})


@pytest.mark.parametrize("empty", [[], np.array([]), pd.Series([], dtype=float)])
def test_empty_record(empty):
    with pytest.raises(RecordError, match=r"record is empty.*at least one row"):
        make(t=empty, y=empty, t_sd=1.0, y_sd=1.0)


@pytest.mark.parametrize("name", ["t", "y"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, None, pd.NA, pd.NaT])
def test_missing_and_infinite_values(name, bad):
    with pytest.raises(RecordError, match=rf"{name} is missing, NaN or infinite in rows 1 and 3 \(counting.*Fill in"):
        make(**{name: [1.0, bad, 1.0, bad]})


@pytest.mark.parametrize("name", ["t_sd", "y_sd"])
@pytest.mark.parametrize("bad", [np.nan, None, pd.NA, pd.NaT])
def test_missing_standard_deviations(name, bad):
    with pytest.raises(RecordError, match=rf"{name} is missing or NaN in rows 1 and 3 \(counting.*Fill in"):
        make(**{name: [1.0, bad, 1.0, bad]})


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1.0, None, 2.0, 3.0], dtype="Float64"),
        pd.Series([1.0, None, 2.0, 3.0]),
        np.ma.array([1.0, 7.0, 2.0, 3.0], mask=[0, 1, 0, 0]),
    ],
)
def test_missing_values_of_columns_that_hide_them(column):
    with pytest.raises(RecordError, match=r"t is missing, NaN or infinite in row 1 \("):
        make(t=column)


@pytest.mark.parametrize("name", ["t_sd", "y_sd"])
def test_missing_scalars(name):
    with pytest.raises(RecordError, match=rf"{name} is missing or NaN in rows 0, 1, 2 and 3"):
        make(**{name: np.nan})


@pytest.mark.parametrize("name", ["t_sd", "y_sd"])
def test_negative_standard_deviations(name):
    with pytest.raises(RecordError, match=rf"{name} is negative in rows 0 and 2 \(.*Give a standard deviation"):
        make(**{name: [-1.0, 1.0, -0.1, 1.0]})
    with pytest.raises(RecordError, match=rf"{name} is negative in rows 0, 1, 2 and 3"):
        make(**{name: -1})


def test_outputs_are_never_exact():
    with pytest.raises(RecordError, match=r"y_sd is 0 in row 3 \(.*above 0"):
        make(y_sd=[1.0, 1.0, 1.0, 0.0])
    with pytest.raises(RecordError, match=r"y_sd is 0 in rows 0, 1, 2 and 3 \("):
        make(y_sd=0)


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("container", [list, np.array, lambda x: np.array(x, dtype=object), pd.Series])
@pytest.mark.parametrize("text", ["n/a", "1,5", "2.0", ""])
def test_text_in_numbers(name, container, text):
    with pytest.raises(RecordError, match=rf"{name} must hold real numbers.*is the text '.*Correct or convert"):
        make(**{name: container([1.0, 2.0, text, 4.0])})
    with pytest.raises(RecordError, match=rf"which row 2 \(counting from 0\) does not: row 2 is the text '{text}'"):
        make(**{name: [1.0, 2.0, text, 4.0]})


def test_text_where_one_number_is_meant():
    with pytest.raises(RecordError, match=r"t_sd must hold real numbers.*is the text '0.5'"):
        make(t_sd="0.5")


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ([True, False, True, True], "which rows 0, 1, 2 and 3 .* do not: row 0 is the bool True"),
        ([1.0, True, 1.0, 1.0], "which row 1 .* is the bool True"),
        (np.ones(4, dtype=bool), "got booleans"),
        (pd.Series([True, False, True, True]), "got booleans"),
        ([1.0, 2.0, 3j, 4.0], "row 2 is the complex 3j"),
        (np.ones(4, dtype=complex), "got complex numbers"),
        (pd.Series(pd.date_range("2000-01-01", periods=4)), "got dates.*decimal years"),
        ([date(2000, 1, 1)] * 4, "row 0 is the date .*decimal years"),
        ([1.0, 2.0, [3.0], 4.0], "row 2 is the list"),
        ([1.0, 2.0, np.arange(2), 4.0], "row 2 is the ndarray"),
    ],
)
@pytest.mark.parametrize("name", FIELDS)
def test_things_that_are_not_real_numbers(name, column, message):
    with pytest.raises(RecordError, match=f"{name} must hold real numbers, .*{message}"):
        make(**{name: column})


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("column", [np.ones((4, 1)), [[1.0, 2.0]] * 4, pd.DataFrame({"a": np.ones(4)})])
def test_two_dimensions(name, column):
    with pytest.raises(RecordError, match=rf"{name} must have one dimension.*got shape \(4, [12]\).*Pass a column"):
        make(**{name: column})


@pytest.mark.parametrize("name", ["t", "y"])
def test_a_single_number_is_no_column(name):
    with pytest.raises(RecordError, match=f"{name} must have one dimension.*got a single value"):
        make(**{name: 1.0})


@pytest.mark.parametrize("order", ["up", "Increasing", None, 1, ["increasing"]])
def test_wrong_order_word(order):
    with pytest.raises(RecordError, match="order must be 'increasing' or 'decreasing', got"):
        make(order=order)


@pytest.mark.parametrize("name", ["t_name", "t_unit", "y_name", "y_unit", "depth_unit"])
def test_axis_texts_are_text(name):
    with pytest.raises(RecordError, match=f"{name} must be text, got None"):
        make(**{name: None})


@pytest.mark.parametrize("name", ["sequence", "label"])
def test_labels_come_one_per_row(name):
    with pytest.raises(RecordError, match=f"{name} must hold one label per row, got the single value 'core'"):
        make(**{name: "core"})
    with pytest.raises(RecordError, match=f"{name} must hold one label per row, got the single value 7"):
        make(**{name: 7})
    with pytest.raises(RecordError, match=rf"{name} must hold labels.*which row 1 .* does not: row 1 is \['b'\]"):
        make(**{name: ["a", ["b"], "c", "d"]})


# --- exact rows and the order ---


@pytest.mark.parametrize(("order", "t"), [("increasing", [1, 5, 9, 3]), ("decreasing", [9, 5, 1, 7])])
def test_exact_rows_that_contradict_the_order(order, t):
    message = rf"rows 1 and 3 \(counting.*contradict order='{order}': t is 5.0 and then {t[3]}.*Correct t or order"
    with pytest.raises(OrderError, match=message):
        make(t=t, t_sd=[1, 0, 1, 0], order=order)


def test_the_sequence_of_the_contradiction_is_named():
    with pytest.raises(OrderError, match=r"rows 1 and 3 .* in sequence 'b' contradict"):
        make(t=[1, 5, 9, 3], t_sd=0, sequence=["a", "b", "a", "b"])


def test_equal_exact_rows_leave_no_room_between_them():
    with pytest.raises(OrderError, match=r"rows 0 and 2 .* are equal and leave no room"):
        make(t=[1, 5, 1, 3], t_sd=[0, 1, 0, 1])


def test_exact_rows_without_contradiction_are_welcome():
    make(t=[1, 9, 2, 3], t_sd=[0, 1, 0, 0])  # the reversed row is uncertain
    make(t=[1, 1, 2, 3], t_sd=0)  # neighbours may be equal
    make(t=[5, 4, 3, 2], t_sd=0, order="decreasing")
    make(t=[5, 4, 9, 2], t_sd=0, sequence=[None, "a", "a", None])  # unordered rows contradict nothing
    make(t=[5, 1, 6, 2], t_sd=0, sequence=["a", "b", "a", "b"])  # nor do rows of different sequences


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"y": [0.3, 1e200, 1.1, 0.2]}, r"y is beyond 1e\+100 in row 1 .*Correct the value, or give the column in a l"),
        ({"t": [-1e308, 2.6, 2.1, 4.2]}, r"t is beyond 1e\+100 in row 0"),
        ({"t_sd": 1e101}, r"t_sd is beyond 1e\+100 in rows 0, 1, 2 and 3"),
        ({"y_sd": [0.1, 1e300, 0.1, 0.1]}, r"y_sd is beyond 1e\+100 in row 1"),
        ({"depth": [1, 2, 3, 1e200]}, r"depth is beyond 1e\+100 in row 3"),
        ({"t_sd": [0.5, 1e-101, 0.0, 0.5]}, "t_sd is below 1e-100 in row 1 .*in a smaller unit"),
        ({"y_sd": 1e-300}, "y_sd is below 1e-100 in rows 0, 1, 2 and 3"),
    ],
)
def test_numbers_whose_squares_no_computer_holds_are_refused(changes, said):
    with pytest.raises(RecordError, match=said):
        make(**changes)


@pytest.mark.parametrize("span", [1e-101, 1e-160, 1e-300])
def test_exact_inputs_that_hardly_differ_are_refused(span):
    with pytest.raises(RecordError, match=r"span .*, less than 1e-100. Give t in a smaller unit"):
        make(t=np.linspace(0.0, span, 4), t_sd=0.0)
    assert len(make(t=np.full(4, span), t_sd=0.0)) == 4


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_numbers_up_to_that_are_kept(scale):
    record = make(y=np.array([0.3, 0.9, 1.0, 0.2]) * scale, y_sd=scale)
    assert record.y[2] == scale
