"""Tables of dates as Bacon reads them: cc says what kind of age a row has."""

import pytest

from lamina.dates import Radiocarbon
from lamina.tables import Options, TableError, read, read_ages


@pytest.fixture
def core(tmp_path):
    def write(rows, header="labID,age,error,depth,cc"):
        path = tmp_path / "core.csv"
        path.write_text("\n".join([header, *rows]) + "\n")
        return path

    return write


def test_radiocarbon_and_calendar_ages_in_one_table(core):
    record = read_ages(core(["A,130,35,5,1", "B,500,30,20,3", "C,1000,20,40,0", "D,1900,40,66,2"])).record
    curves = [None if date is None else date.curve for date in record.dates]
    assert curves == ["IntCal20", "SHCal20", None, "Marine20"]
    assert [one.age for one in record.dates if one is not None] == [130.0, 500.0, 1900.0]
    assert (record.t[2], record.t_sd[2]) == (1000.0, 20.0)
    assert record.depth.tolist() == [5.0, 20.0, 40.0, 66.0]


def test_radiocarbon_alone_with_reservoir_offsets(core):
    rows = ["A,430,35,5,2,50,20", "B,800,30,20,2,60,25"]
    found = read_ages(core(rows, "labID,age,error,depth,cc,d.R,d.STD"))
    assert 'the column "d.STD" (1 sigma, added to the laboratory errors in squares)' in found.describe()
    record = found.record
    assert record.dates == (Radiocarbon(430, 35, "Marine20", 50, 20), Radiocarbon(800, 30, "Marine20", 60, 25))


def test_calendar_ages_alone(core):
    found = read_ages(core(["A,430,35,5,0", "B,800,30,20,0"]))
    assert found.record.dates is None
    assert found.record.t.tolist() == [430.0, 800.0]
    assert found.scale == "BP"
    assert "with Bacon's column cc" in found.describe()


def test_ages_that_the_user_calls_calendar_ages_are_taken_as_they_are(core):
    path = core(["A,430,35,5,1", "B,800,30,20,1"])
    assert len(read_ages(path, Options(t="age", scale="BP")).record.dates) == 2
    found = read_ages(path, Options(age_type="calendar"))
    assert found.record.dates is None
    assert found.record.t.tolist() == [430.0, 800.0]


def test_other_numbers_are_refused_all_at_once(core):
    with pytest.raises(TableError, match=r'line 2, column "cc": cc is "9"[\s\S]*line 3, column "cc": cc is 4'):
        read_ages(core(["A,430,35,5,9", "B,800,30,20,4", "C,900,30,30,1"]))


def test_columns_are_called_what_the_user_calls_them(core):
    described = read_ages(core(["A,130,35,5,1", "B,500,30,20,1", "C,1000,20,40,0"])).describe()
    assert 'IntCal20 (the column "cc")' in described
    assert '2 ages of the column "age" are calibrated' in described
    assert 'the column "error", 1 sigma' in described
    assert "as always in Bacon's tables" in described
    for ours in "14C", "calibration curve", "where", "(cal BP)":
        assert ours not in described


def test_a_curve_may_be_repeated_but_not_contradicted(core):
    path = core(["A,130,35,5,1", "B,500,30,20,1", "C,1000,20,40,0"])
    assert [d and d.curve for d in read_ages(path, Options(curve="intcal20")).record.dates] == ["IntCal20"] * 2 + [None]
    with pytest.raises(TableError, match=r'lines 2 and 3, column "cc": the table says IntCal20, but --curve SHCal20'):
        read_ages(path, Options(curve="SHCal20"))


def test_where_some_rows_name_no_curve_the_option_says_which(core):
    path = core(["130,35,5,IntCal20", "500,30,20,", "900,30,40,"], "14C age,14C error,depth,curve")
    found = read_ages(path, Options(curve="SHCal20"))
    assert [one.curve for one in found.record.dates] == ["IntCal20", "SHCal20", "SHCal20"]
    assert 'IntCal20 (the column "curve")' in found.describe()
    assert "SHCal20 (set by --curve, where none is named)" in found.describe()


def test_without_an_output_agedepth_is_recommended(core):
    with pytest.raises(TableError, match=r"dates and depths only.*with lamina agedepth"):
        read(core(["A,130,35,5,1", "B,500,30,20,1"]))


@pytest.mark.parametrize(
    "header",
    [
        "lab_ID,age_BP,error_yr,depth_cm,cc_no_units",
        "id,age (14C yr BP),error (yr),depth (cm),cc (curve)",
        "Lab.ID,Age,Error,Depth,CC",
    ],
)
def test_headers_may_have_units(core, header):
    record = read_ages(core(["A,130,35,5,1", "B,500,30,20,3", "C,1000,20,40,0"], header)).record
    assert [date and date.curve for date in record.dates] == ["IntCal20", "SHCal20", None]
    assert (record.t[2], record.t_sd[2]) == (1000.0, 20.0)
    assert record.depth.tolist() == [5.0, 20.0, 40.0]


def test_offsets_and_shapes_of_rbacon(core):
    header = "labID,age,error,depth,cc,dR,dSTD,t.a,t.b"
    rows = ["A,130,35,5,1,0,0,3,4", "B,1900,40,66,2,-50,20,33,34", "C,1000,20,40,0,0,0,3,4", "D,3900,40,90,1,,,,"]
    record = read_ages(core(rows, header)).record
    assert record.dates == (
        Radiocarbon(130, 35),
        None,
        Radiocarbon(1900, 40, "Marine20", -50, 20, a=33, b=34),
        Radiocarbon(3900, 40),
    )


def test_errors_keep_the_sigmas_of_their_header(core):
    rows = ["A,130,70,5,1", "B,500,60,20,1", "C,1000,40,40,0"]
    record = read_ages(core(rows, "labID,age,error (2 sigma),depth,cc")).record
    assert [date.age_sd for date in record.dates[:2]] == [35.0, 30.0]
    assert record.t_sd[2] == 20.0


@pytest.mark.parametrize("header", ["lab_ID,age_BP,error_yr,depth_cm", "id,age,error,depth", "labID,age,error,depth"])
def test_without_cc_the_kind_of_ages_is_asked(core, header):
    path = core(["A,130,35,5", "B,500,30,20", "C,1900,40,66"], header)
    with pytest.raises(TableError, match=r"may hold radiocarbon ages.*--age-type radiocarbon with --curve NAME"):
        read_ages(path)
    assert [date.curve for date in read_ages(path, Options(curve="SHCal20")).record.dates] == ["SHCal20"] * 3


def test_cc_beside_errors_that_are_not_clear_is_asked_about(core):
    path = core(["A,130,35,5,1,2,1", "B,500,30,20,0,3,1"], "labID,age,error,depth,cc,d18O,error")
    with pytest.raises(TableError, match=r'may hold radiocarbon ages.* numbers of curves in "cc"'):
        read(path)


def test_other_words_for_errors_are_not_those_of_bacon(core):
    path = core(["A,130,35,5", "B,500,30,20", "C,1900,40,66"], "Lab ID,age BP,age_sd,depth (cm)")
    assert read_ages(path).record.dates is None


def test_ages_that_are_calibrated_by_their_header_but_not_by_cc(core):
    path = core(["A,130,35,5,1", "B,500,30,20,1"], "labID,age (cal BP),error,depth,cc")
    with pytest.raises(TableError, match=r'lines 2 and 3, column "cc": .*says calendar ages, but cc says radiocarbon'):
        read_ages(path)
    assert read_ages(path, Options(age_type="calendar")).record.dates is None
    assert read_ages(path, Options(age_type="radiocarbon")).record.dates[0] == Radiocarbon(130, 35)


def test_a_zone_is_suggested_for_negative_ages_only(core):
    with pytest.raises(TableError, match="name its zone as the curve") as negative:
        read_ages(core(["A,-30,25,1,1", "B,500,30,20,1"]))
    assert negative.value.answers == {"curve": "NH1"}
    with pytest.raises(TableError, match="its error, curve or delta_r is wrong") as positive:
        read_ages(core(["A,20,2,1,1", "B,500,30,20,1"]))
    assert "NH1" not in str(positive.value)
    assert "curve" not in positive.value.answers


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("lab,age,age unit,error,depth,depth unit,cc", "A,{age},BP,30,{depth},cm,{cc}"),
        ("labID,age,age_units,error,depth,cc", "A,{age},yr,30,{depth},{cc}"),
        ("labID,age,error,depth,cc,cc_unit", "A,{age},30,{depth},{cc},none"),
    ],
)
def test_columns_of_units_are_not_those_of_numbers(core, header, row):
    rows = [row.format(age=age, depth=depth, cc=cc) for age, depth, cc in ((1130, 5, 1), (2500, 20, 3), (3000, 40, 0))]
    record = read_ages(core(rows, header)).record
    assert [date and date.curve for date in record.dates] == ["IntCal20", "SHCal20", None]
