"""Lines that are left out, dates that are ignored, the cells of problems, and previews."""

import numpy as np
import pytest

from lamina.tables import Options, TableError, read, read_ages, survey
from lamina.tables.preview import preview

TABLE = """\
# a comment
depth,age BP,age_sd,rsl,rsl_sd
1,100,10,0.1,0.1
2,900,10,0.2,0.1
3,300,10,0.3,0.1
4,400,10,0.4,0.1
"""
WITHOUT = TABLE.replace("2,900,10,0.2,0.1\n", "")
EMPTY = TABLE.replace("2,900,10,0.2,0.1\n", "2,,,0.2,0.1\n")
RADIOCARBON = "depth,14C age,14C error,rsl,rsl_sd\n1,400,30,0,1\n2,900,30,0,1\n3,1500,30,0,1\n"


def same(a, b) -> bool:
    return all(
        np.array_equal(getattr(a, name), getattr(b, name), equal_nan=True) for name in ("t", "t_sd", "y", "y_sd")
    )


def test_a_line_that_is_left_out_is_as_if_it_were_not_there(table):
    found = read(table(TABLE), Options(leave_out=(4,)))
    assert same(found.record, read(table(WITHOUT)).record)
    assert found.lines == (3, 5, 6)
    assert ("left out", "line 4", "set by --leave-out") in found.facts


def test_a_line_that_cannot_be_read_can_be_left_out(table):
    broken = TABLE.replace("2,900", "2,many")
    with pytest.raises(TableError):
        read(table(broken))
    assert same(read(table(broken), Options(leave_out="4")).record, read(table(WITHOUT)).record)


def test_a_date_that_is_ignored_is_as_if_its_cells_were_empty(table):
    found = read(table(TABLE), Options(ignore_date=("4",)))
    assert same(found.record, read(table(EMPTY), Options(incomplete=True)).record)
    with pytest.raises(TableError):  # other empty cells are still faults
        read(table(EMPTY), Options(ignore_date=(3,)))


def test_dates_of_an_age_depth_model_can_be_ignored(table):
    found, empty = read_ages(table(TABLE), Options(ignore_date=(4,))), read_ages(table(EMPTY))
    assert same(found.record, empty.record)


def test_radiocarbon_dates_can_be_ignored(table):
    found = read(table(RADIOCARBON), Options(ignore_date=(3,)))
    assert found.record.dated.tolist() == [True, False, True]


@pytest.mark.parametrize("name", ["leave_out", "ignore_date"])
def test_a_line_that_is_no_row_is_an_error(table, name):
    for line in 1, 2, 99:
        with pytest.raises(TableError, match=f"there is no row of the table in line {line}"):
            read(table(TABLE), Options(**{name: (line,)}))
    for line in 0, 1.5, "x", True:
        with pytest.raises(TableError, match=f"option {name}"):
            Options(**{name: (line,)})


def test_a_line_may_be_left_out_and_have_a_date_to_ignore(table):
    assert read(table(TABLE), Options(leave_out=(4,), ignore_date=(4,))).lines == (3, 5, 6)


def test_at_least_one_row_stays(table):
    with pytest.raises(TableError, match="every row is left out"):
        read(table(TABLE), Options(leave_out=(3, 4, 5, 6)))


def test_the_command_of_check_has_them(table):
    assert survey(table(TABLE), Options(leave_out=(4, 5))).command.endswith("--leave-out 4 --leave-out 5")


def test_problems_name_their_cells(table):
    broken = TABLE.replace("900", "many").replace("0.4,0.1", "x,0.1")
    (error,) = survey(table(broken)).asked
    assert sorted(error.places) == [(4, "age BP"), (6, "rsl")]
    (error,) = survey(table(TABLE.replace("depth", "thing"))).asked
    assert error.places == [(2, None)]
    assert survey(table(TABLE), Options(t="x")).asked[0].places == [(None, "x")]


def test_a_survey_can_be_for_an_age_depth_model(table):
    found = survey(table(TABLE), command="agedepth")
    assert found.command.startswith("lamina agedepth")
    assert not found.reading.record.measured.any()


def test_a_preview_has_the_cells_and_their_roles(table):
    shown = preview(table(TABLE), Options(leave_out=(4,)))
    assert shown.roles == ["depth", "input", "input error", "output", "output error"]
    assert (shown.header_line, shown.lines) == (2, [3, 4, 5, 6])
    assert shown.cells[1] == ["2", "900", "10", "0.2", "0.1"]  # also of a row that is left out
    assert preview(table(TABLE), command="agedepth").roles == ["depth", "input", "input error", "", ""]


def test_a_preview_of_a_field_has_the_places(table):
    text = (
        "site,lat,lon,gia_mm_per_year,depth,age BP,age_sd,rsl,rsl_sd\nA,40,-70,1,1,100,9,0,1\nB,41,-71,1,1,200,9,0,1\n"
    )
    roles = ["site", "latitude", "longitude", "glacial isostasy", "depth", "input", "input error"]
    assert preview(table(text), Options(places=True)).roles == [*roles, "output", "output error"]


def test_a_preview_of_what_is_not_clear_has_likely_roles(table):
    shown = preview(table("age,age BP,age_sd,rsl,rsl_sd\n1,2,1,1,1\n2,3,1,1,1\n"))
    assert shown.roles == ["input", "input", "input error", "output", "output error"]


def test_a_preview_of_a_broken_table_has_its_cells(table):
    shown = preview(table("age,age_sd,rsl\n1,1\n2,1,2,3\n"))
    assert shown.cells == [["1", "1"], ["2", "1", "2", "3"]]
    assert shown.roles == ["", "", ""]
