"""Ensembles of ages in files: what is read, how depths are matched, and what is refused."""

import numpy as np
import pytest

import lamina

DEPTHS = np.array([0.0, 10.0, 20.0, 40.0])
AGES = np.array([[5.0, 105.0, 230.0, 400.0], [-3.0, 90.0, 200.0, 500.0], [0.0, 120.0, 210.0, 410.0]])  # member by row


def table(separator=",", header=True, turned=False, decimal=".", row_names=False):
    rows = np.column_stack([DEPTHS, AGES.T])[:: -1 if turned else 1]
    lines = [separator.join(f"{number:.3f}".replace(".", decimal) for number in row) for row in rows]
    names = ["depth", "1", "2", "3"]
    if row_names:
        lines, names = [f'"{k}"{separator}{line}' for k, line in enumerate(lines, 1)], ['""', *names]
    return "\n".join([*([separator.join(names)] if header else []), *lines]) + "\n"


@pytest.mark.parametrize(
    "dress",
    [
        {},
        {"header": False},
        {"separator": "\t"},
        {"separator": " ", "header": False},
        {"separator": ";", "decimal": ","},
        {"turned": True},
        {"row_names": True},
    ],
    ids=str,
)
def test_the_ages_are_member_by_row_however_the_file_is_dressed(dress, tmp_path):
    path = tmp_path / "ages.csv"
    path.write_text("\ufeff# made elsewhere\n" + table(**dress), encoding="utf-8")
    np.testing.assert_allclose(lamina.read_ensemble(path, DEPTHS), AGES)
    ages = AGES[:, ::-1] if dress.get("turned") else AGES
    np.testing.assert_allclose(lamina.read_ensemble(str(path)), ages)


def test_ages_between_the_depths_are_interpolated_in_each_member(tmp_path):
    path = tmp_path / "ages.csv"
    path.write_text(table())
    found = lamina.read_ensemble(path, [25.0, np.nan, 5.0, 40.001, 10.0])  # the fourth is at the end, but for rounding
    for member, ages in zip(found, AGES, strict=True):
        np.testing.assert_allclose(member, np.interp([25.0, np.nan, 5.0, 40.0, 10.0], DEPTHS, ages), equal_nan=True)


def test_lines_that_say_the_same_are_one_layer(tmp_path):
    """Tied rows, which ``write_ensemble`` writes one by one."""
    path = tmp_path / "ages.csv"
    path.write_text("depth,1,2\n0,10,20\n5,30,40\n5,30,40\n9,50,60\n")
    np.testing.assert_allclose(lamina.read_ensemble(path, [0, 5, 7]), [[10, 30, 40], [20, 40, 50]])


def test_depths_outside_the_ensemble_are_named(tmp_path):
    path = tmp_path / "ages.csv"
    path.write_text(table())
    with pytest.raises(lamina.TableError) as caught:
        lamina.read_ensemble(path, [-2.0, 3.0, 41.0])
    assert str(caught.value) == (
        "ages.csv: the ensemble reaches from depth 0 to 40, but rows 0 and 2 (counting from 0) of the record "
        "lie outside (the first at -2); run the age model to these depths, leave the rows out, or "
        "bring both to one unit."
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file is empty"),
        ("depth,1\n", "no table of depths and ages"),
        ("depth\n1\n2\n", "no table of depths and ages"),
        ("depth,1,2\n0,1,2\n10,3\n", "line 3: the line has 2 cells, but the first one has 3"),
        ("depth,1,2\n0,1,2\n10,3,NA\n", 'line 3, column "2": found "NA", which is not a number'),
        ("0,NA,2\n10,3,4\n", 'line 1, column "2": found "NA", which is not a number'),
        ("0,1,2\n10,inf,3\n", 'line 2, column "2": found "inf", which is not a number'),
        ("depth,1\n0,1\n10,3\n5,2\n", "line 4: the depths in the first column neither only increase nor only decrease"),
        ("depth,1\n0,1\n0,3\n5,2\n", "line 3: the depths in the first column neither only increase nor only decrease"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(text, said, tmp_path):
    path = tmp_path / "ages.csv"
    path.write_text(text)
    with pytest.raises(lamina.TableError, match=said):
        lamina.read_ensemble(path, [0.0, 5.0])


def test_files_that_are_not_there_or_no_text_are_refused(tmp_path):
    with pytest.raises(lamina.TableError, match=r"missing.csv: there is no such file"):
        lamina.read_ensemble(tmp_path / "missing.csv")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(lamina.TableError, match="cannot be read as text"):
        lamina.read_ensemble(tmp_path / "binary.csv")
    (tmp_path / "ages.csv").write_text(table())
    with pytest.raises(lamina.TableError, match="depths must hold real numbers"):
        lamina.read_ensemble(tmp_path / "ages.csv", ["top", "bottom"])
