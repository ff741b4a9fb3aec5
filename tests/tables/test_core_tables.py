"""What tables of real cores hold, from the cells to the fields of the record."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lamina.dates import Radiocarbon, SplitNormal, StudentT, Uniform
from lamina.records.ties import merge_ties
from lamina.tables import Options, TableError, read

HEAD = "depth,age_bp,age_sd,rsl,rsl_sd"
EVEN = HEAD + "\n1,100,10,-0.1,0.1\n2,200,10,-0.2,0.1\n5,310,10,-0.3,0.1\n6,290,10,-0.4,0.1\n"
EQUAL = HEAD + "\n1,100,10,-0.1,0.1\n2,200,10,-0.2,0.1\n2,220,10,-0.3,0.1\n6,400,10,-0.4,0.1\n"
RAW = "depth,14C age,14C error,rsl,rsl_sd\n1,400,30,-0.1,0.1\n2,900,30,-0.2,0.1\n3,1500,40,-0.3,0.1\n"


def facts(understood):
    return {fact.what: f"{fact.understood} | {fact.why}" for fact in understood.facts}


def with_column(table_text: str, name: str, cells: list[str]) -> str:
    """A table with one more column."""
    rows = table_text.strip().splitlines()
    return "\n".join(f"{row},{cell}" for row, cell in zip(rows, [name, *cells], strict=True)) + "\n"


# --- depth -----------------------------------------------------------------------------------------------------------


def test_depth_that_orders_the_rows_is_the_records(table):
    understood = read(table(EVEN))
    assert_array_equal(understood.record.depth, [1, 2, 5, 6])
    assert facts(understood)["gaps"].startswith("time per unit of depth")
    heights = read(table(EVEN.replace("depth", "height").replace("age_bp", "age_ce"))).record
    assert_array_equal(heights.depth, [6, 5, 2, 1])


def test_gaps_by_rows_leaves_depth_out(table):
    understood = read(table(EVEN), Options(gaps_by="rows"))
    assert understood.record.depth is None
    assert facts(understood)["gaps"] == "time from row to row | set by --gaps-by"


def test_a_position_is_a_rank(table):
    understood = read(table(EVEN.replace("depth", "position")))
    assert understood.record.depth is None
    assert "not of depths" in facts(understood)["gaps"]
    blocks = read(table(EQUAL.replace("depth", "position")), Options(equal_depth="block"))
    assert_array_equal(blocks.record.depth, [0, 1, 1, 2])


# --- equal depths ----------------------------------------------------------------------------------------------------


def test_equal_depths_are_refused_with_both_ways_out(table):
    with pytest.raises(TableError, match=r"lines 3 and 4.*--equal-depth tie.*--equal-depth block"):
        read(table(EQUAL))


def test_equal_depths_as_one_layer(table):
    understood = read(table(EQUAL), Options(equal_depth="tie"))
    tie = understood.record.tie
    assert tie[1] == tie[2] is not None
    assert (tie[0], tie[3]) == (None, None)
    assert "lines 3 and 4" in facts(understood)["layers"]
    assert len(merge_ties(understood.record)[0]) == 3


@pytest.mark.parametrize(("kind", "what"), [("tie", "layers"), ("block", "blocks")])
def test_of_many_layers_the_first_dozen_is_named(table, kind, what):
    rows = "".join(f"{i // 2},{100 * (i // 2)},10,1,1\n" for i in range(40))
    fact = facts(read(table(f"{HEAD}\n{rows}"), Options(equal_depth=kind)))[what]
    assert fact.startswith("20")
    assert "lines 24 and 25; and 8 more" in fact


def test_equal_depths_as_a_block(table):
    understood = read(table(EQUAL), Options(equal_depth="block"))
    assert understood.record.tie is None
    assert_array_equal(understood.record.depth, [1, 2, 2, 6])
    assert "lines 3 and 4" in facts(understood)["blocks"]
    by_rows = read(table(EQUAL), Options(equal_depth="block", gaps_by="rows"))
    assert_array_equal(by_rows.record.depth, [0, 1, 1, 2])


def test_a_block_is_not_counted_as_a_reversal(table):
    turned = EQUAL.replace("2,200", "2,250")
    assert facts(read(table(turned), Options(equal_depth="block")))["reversals"].startswith("0 of 2")


@pytest.mark.parametrize("name", ["tie", "layer", "Layer ID"])
def test_a_column_names_layers(table, name):
    record = read(table(with_column(EQUAL, name, ["", "x", "x", ""]))).record
    assert record.tie == (None, "x", "x", None)


def test_tied_rows_may_be_at_different_depths_but_a_layer_of_rock_is_no_tie(table):
    cells = ["a", "b", "b", "c"]
    assert read(table(with_column(EVEN, "tie", cells))).record.tie == ("a", "b", "b", "c")
    understood = read(table(with_column(EVEN, "layer", cells)))
    assert understood.record.tie is None
    assert any("is not used" in warning and "lines 3 and 4" in warning for warning in understood.warnings)


def test_layers_are_counted_in_each_core(table):
    rows = "A,1,100,10,1,1,1\nA,1,120,10,1,1,1\nA,2,200,10,1,1,2\nB,1,90,10,1,1,1\nB,2,300,10,1,1,2\n"
    record = read(table(f"core,{HEAD},layer\n{rows}")).record
    assert record.tie == ("A / 1", "A / 1", "A / 2", "B / 1", "B / 2")


def test_a_layer_within_a_block(table):
    """Rows of one layer lie side by side, wherever they stand in the table."""
    rows = "1,100,10,1,1,\n2,200,10,1,1,x\n2,210,10,1,1,\n2,220,10,1,1,x\n3,300,10,1,1,\n"
    record = read(table(f"{HEAD},tie\n{rows}"), Options(equal_depth="block")).record
    assert_array_equal(merge_ties(record)[0].depth, [1, 2, 2, 3])


def test_equal_radiocarbon_ages_are_calibrated_once(table):
    dates = read(table(RAW.replace("3,1500,40", "3,900,30"))).record.dates
    assert dates[1] is dates[2]
    assert dates[0] != dates[1] == Radiocarbon(900, 30)


# --- limits ----------------------------------------------------------------------------------------------------------

LIMITS = with_column(EVEN, "type", ["SLIP", "Marine limiting", "terrestrial", ""])


def test_limiting_rows_whose_side_is_told_are_limits(table):
    understood = read(table(LIMITS))
    assert_array_equal(understood.record.limit, [0, 1, -1, 0])
    assert "above line 3" in facts(understood)["limits"]
    assert "below line 4" in facts(understood)["limits"]
    assert "--limiting drop" in facts(understood)["limits"]


def test_a_limit_of_0_and_1_may_be_one_of_detection(table):
    understood = read(table(with_column(EVEN, "limit", ["0", "1", "0", "0"])))
    assert len(understood.lines) == 4
    assert understood.record.limit is None


def test_limiting_rows_can_be_dropped(table):
    understood = read(table(LIMITS), Options(limiting="drop"))
    assert understood.lines == (2, 5)
    assert understood.record.limit is None
    assert understood.warnings == ()


def test_a_yes_has_no_side(table):
    understood = read(table(with_column(EVEN, "limiting", ["0", "1", "freshwater", "yes"])))
    assert understood.lines == (2, 4)
    assert_array_equal(understood.record.limit, [0, -1])
    assert any("lines 3 and 5" in warning for warning in understood.warnings)


@pytest.mark.parametrize("header", ["type", "limit", "Limiting", "Limit type", "indicator_type"])
@pytest.mark.parametrize("one", ["1", "1.0", "+1"])
def test_codes_of_two_signs_are_asked_about(table, header, one):
    path = table(with_column(EVEN, header, ["0", one, "0", "-1"]))
    with pytest.raises(TableError, match=rf'column "{header}": the codes "0", .*write index, marine .*terrestrial'):
        read(path)
    assert read(path, Options(limiting="drop")).lines == (2, 4)
    everything = read(path, Options(limiting="ignore"))
    assert everything.lines == (2, 3, 4, 5)
    assert everything.record.limit is None


def test_signs_alone_are_not_index_points(table):
    path = table(with_column(EVEN, "type", ["1", "-1", "-1", "1"]))
    with pytest.raises(TableError, match='the codes "1", "-1" do not say') as asked:
        read(path)
    assert asked.value.answers == {}  # no answer is likely
    assert "--limiting drop" not in str(asked.value)


# --- hiatus and minimum gap -----------------------------------------------------------------------------------------


def test_a_hiatus_below_a_row(table):
    marked = with_column(EVEN, "hiatus", ["", "yes", "no", ""])
    understood = read(table(marked))
    assert_array_equal(understood.record.hiatus, [False, True, False, False])
    assert "lines 3 and 4" in facts(understood)["hiatus"]
    # by height the table runs from the oldest row to the youngest
    by_height = read(table(marked.replace("depth", "height").replace("age_bp", "age_ce"))).record
    assert_array_equal(by_height.depth, [6, 5, 2, 1])
    assert_array_equal(by_height.hiatus, [False, False, True, False])


def test_a_hiatus_follows_its_row_in_a_core_that_is_listed_from_the_other_end(table):
    rows = "A,100,1,yes\nA,200,1,\nA,300,1,\nA,400,1,\nA,500,1,\nB,450,1,yes\nB,350,1,\nB,250,1,\nB,150,1,\n"
    understood = read(table("core,age,value,hiatus\n" + rows), Options(t_sd="1", y_sd="1", order="rows"))
    assert_array_equal(np.flatnonzero(understood.record.hiatus), [0, 7])
    assert_array_equal(understood.record.t[[7, 8]], [350, 450])


def test_a_hiatus_below_the_last_row_is_no_hiatus(table):
    understood = read(table(with_column(EVEN, "hiatus", ["", "", "", "yes"])))
    assert understood.record.hiatus is None
    assert any("hiatus below line 5 is ignored" in warning for warning in understood.warnings)


def test_a_hiatus_at_a_depth_is_in_each_core_that_reaches_it(table):
    rows = "A,1,100,10,1,1\nA,4,200,10,1,1\nB,2,90,10,1,1\nB,5,300,10,1,1\nC,4,90,10,1,1\nC,5,300,10,1,1\n"
    path = table(f"core,{HEAD}\n{rows}")
    assert_array_equal(read(path, Options(hiatus=[3])).record.hiatus, [True, False, True, False, False, False])
    at_a_row = read(path, Options(hiatus=[4]))
    assert_array_equal(at_a_row.record.hiatus, [False, False, True, False, False, False])
    assert any("very depth of lines 3 and 6" in warning for warning in at_a_row.warnings)


def test_the_minimum_gap_is_one_between_layers(table):
    record = read(table(EQUAL), Options(equal_depth="tie", least_gap="5")).record
    assert_array_equal(record.least_gap, [5, 0, 5, 0])


# --- radiocarbon -----------------------------------------------------------------------------------------------------


def test_radiocarbon_ages_alone_are_calibrated(table):
    understood = read(table(RAW))
    record = understood.record
    assert record.dates == (Radiocarbon(400, 30), Radiocarbon(900, 30), Radiocarbon(1500, 40))
    assert (record.t_unit, record.order, understood.scale) == ("cal BP", "increasing", "BP")
    assert_allclose(record.t, [date.mean for date in record.dates])
    assert facts(understood)["calibration"].startswith("IntCal20 | assumed")
    assert "--curve NAME" in facts(understood)["calibration"]


def test_radiocarbon_on_another_scale_and_curve(table):
    understood = read(table(RAW), Options(scale="CE", curve="shcal20", t_sigma=2, t_errors="normal"))
    record = understood.record
    assert record.dates[0] == Radiocarbon(400, 15, "SHCal20", scale="CE", student=False)
    assert (record.t_unit, record.order) == ("CE", "decreasing")
    assert facts(understood)["calibration"] == "SHCal20 | set by --curve"


def test_each_row_may_have_its_curve_and_reservoir(table):
    header = "depth,14C age,14C error,curve,delta_r,delta_r_error,rsl,rsl_sd"
    content = f"{header}\n1,400,30,,,,1,1\n2,1200,30,marine20,80,25,1,1\n"
    understood = read(table(content))
    assert understood.record.dates == (Radiocarbon(400, 30), Radiocarbon(1200, 30, "Marine20", 80, 25))
    assert not any(fact.what == "not used" for fact in understood.facts)


def test_calendar_ages_come_first(table):
    content = "depth,age_bp,age_sd,14C age,14C error,rsl,rsl_sd\n1,-50,1,,,1,1\n2,,,400,30,1,1\n3,900,50,1000,30,1,1\n"
    record = read(table(content)).record
    assert record.dates == (None, Radiocarbon(400, 30), None)
    assert_allclose(record.t[[0, 2]], [-50, 900])


# --- other kinds of dates --------------------------------------------------------------------------------------------

UNEVEN = "depth,age_bp,age +2s,age -2s,rsl,rsl_sd\n1,100,40,20,1,1\n2,200,20,20,1,1\n3,300,60,20,1,1\n"


def test_uneven_errors_are_averaged_and_the_other_way_is_named(table):
    understood = read(table(UNEVEN))
    assert_allclose(understood.record.t_sd, [15, 10, 20])
    assert any("lines 2 and 4" in warning and "--t-errors split" in warning for warning in understood.warnings)


def test_uneven_errors_as_they_are(table):
    understood = read(table(UNEVEN), Options(t_errors="split"))
    assert understood.record.dates == (SplitNormal(100, 10, 20), None, SplitNormal(300, 10, 30))
    assert understood.warnings == ()


def test_older_errors_are_those_towards_smaller_years(table):
    content = "depth,year,year error older,year error younger,rsl,rsl_sd\n1,1900,40,20,1,1\n2,1800,40,20,1,1\n"
    assert read(table(content), Options(t_errors="split")).record.dates[0] == SplitNormal(1900, 40, 20)
    bp = content.replace("1,1900", "1,100").replace("2,1800", "2,200").replace("year", "age_bp")
    assert read(table(bp), Options(t_errors="split")).record.dates[0] == SplitNormal(100, 20, 40)


def test_limits_around_an_age_may_be_split(table):
    content = "depth,age_bp,age_min,age_max,rsl,rsl_sd\n1,100,80,140,1,1\n2,200,180,220,1,1\n"
    assert read(table(content), Options(t_errors="split")).record.dates == (SplitNormal(100, 10, 20), None)


def test_limits_without_a_middle_as_a_uniform_range(table):
    content = "depth,age_min_bp,age_max_bp,rsl,rsl_sd\n1,80,140,1,1\n2,180,220,1,1\n3,300,300,1,1\n"
    with pytest.raises(TableError, match="--t-errors uniform"):
        read(table(content))
    understood = read(table(content), Options(t_errors="uniform"))
    assert understood.record.dates == (Uniform(80, 140), Uniform(180, 220), None)
    assert_array_equal(understood.record.exact, [False, False, True])
    assert (understood.scale, understood.record.t_name) == ("BP", "age")
    assert "input sigma" not in facts(understood)


def test_student_dates(table):
    exact = EVEN.replace("6,290,10", "6,390,0")
    record = read(table(exact), Options(t_errors="student")).record
    assert record.dates == (StudentT(100, 10), StudentT(200, 10), StudentT(310, 10), None)


# --- empty cells -----------------------------------------------------------------------------------------------------

GAPS = HEAD + "\n1,100,10,-0.1,0.1\n2,,,-0.2,0.1\n3,300,10,,\n4,NA,,,0.1\n5,500,10,-0.3,0.1\n"


def test_empty_cells_are_refused_with_the_way_out(table):
    with pytest.raises(TableError) as caught:
        read(table(GAPS))
    message = str(caught.value)
    assert message.count("--incomplete") == 3
    assert 'lines 4 and 5, column "rsl": the output is empty' in message
    assert "age_sd" not in message  # an error that belongs to nothing is not missing


def test_incomplete_rows_are_layers(table):
    understood = read(table(GAPS), Options(incomplete=True))
    record = understood.record
    assert_array_equal(record.dated, [True, False, True, False, True])
    assert_array_equal(record.measured, [True, True, False, False, True])
    assert facts(understood)["without a date"].startswith("lines 3 and 5")
    assert facts(understood)["without a value"].startswith("lines 4 and 5")
    assert facts(understood)["reversals"].startswith("0 of 2")


def test_an_error_of_something_that_is_there_must_be_there(table):
    with pytest.raises(TableError, match=r'line 2, column "age_sd": the error is empty'):
        read(table(GAPS.replace("1,100,10", "1,100,")), Options(incomplete=True))


def test_layers_without_a_radiocarbon_age(table):
    missing = RAW.replace("2,900,30", "2,,")
    with pytest.raises(TableError, match=r'line 3, column "14C age": the radiocarbon age is empty.*--incomplete'):
        read(table(missing))
    assert_array_equal(read(table(missing), Options(incomplete=True)).record.dated, [True, False, True])


# --- bad tables ------------------------------------------------------------------------------------------------------

#: name: (content, options, what the message says, piece by piece and in this order)
BAD = {
    "a tie across an exact horizon": (
        with_column(EVEN.replace("2,200,10", "2,200,0"), "tie", ["x", "", "x", ""]),
        {},
        ["core.csv", "lines 2 and 4 are tied ('x'), but line 3 lies between them", "older and younger at once"],
    ),
    "exact rows that are tied and differ": (
        with_column(EVEN.replace(",10,", ",0,").replace("6,290", "6,400"), "tie", ["", "x", "x", ""]),
        {},
        ["core.csv", "lines 3 and 4 are tied", "exact inputs (t_sd = 0) differ"],
    ),
    "a tie across cores": (
        f"core,{HEAD},tie\nA,1,1,1,1,1,x\nA,2,2,1,1,1,\nB,1,1,1,1,1,x\nB,2,2,1,1,1,\n",
        {},
        ["core.csv", "lines 2 and 4 are tied", "different sequences"],
    ),
    "two layers at one depth": (
        with_column(EQUAL, "tie", ["", "x", "y", ""]),
        {"equal_depth": "tie"},
        ["core.csv, lines 3 and 4: rows at one depth are tied to different layers", '"x", "y"'],
    ),
    "a limit in a layer": (
        with_column(with_column(EQUAL, "tie", ["", "x", "x", ""]), "limiting", ["", "marine", "", ""]),
        {},
        ["core.csv", "lines 3 and 4 are tied ('x') and one of them is a limit"],
    ),
    "an exact row in a block": (
        EQUAL.replace("220,10", "220,0"),
        {"equal_depth": "block"},
        ["core.csv, line 4: an exact input (error 0) shares its depth", "--equal-depth tie"],
    ),
    "an unknown curve": (
        with_column(RAW, "curve", ["IntCal20", "", "IntCal99"]),
        {},
        [
            'core.csv, line 4, column "curve": lamina knows no calibration curve called "IntCal99"',
            "write one of IntCal20",
        ],
    ),
    "an unknown curve as an option": (RAW, {"curve": "Bomb"}, ["--curve", "no calibration curve 'Bomb'", "IntCal20"]),
    "a radiocarbon age older than its curve": (
        RAW.replace("1500", "60000"),
        {},
        [
            'core.csv, line 4, column "14C age": the radiocarbon age 60000 ± 40 is older than IntCal20',
            "no calendar age",
        ],
    ),
    "a radiocarbon age younger than its curve": (
        RAW.replace("400", "-300"),
        {},
        ['core.csv, line 2, column "14C age": the radiocarbon age -300 ± 30 is younger', "bomb carbon"],
    ),
    "a radiocarbon error of zero": (
        RAW.replace("400,30", "400,0"),
        {},
        ['core.csv, line 2, column "14C error": the error of the radiocarbon age is not above 0'],
    ),
    "radiocarbon beside ages of no scale": (
        "depth,age,age_sd,14C age,14C error,rsl,rsl_sd\n1,50,1,,,1,1\n2,,,400,30,1,1\n3,900,50,,,1,1\n",
        {},
        ["core.csv, line 1", 'whether "age" is BP or CE', "--scale"],
    ),
    "radiocarbon beside ages in ka": (
        "depth,age (ka BP),age_sd,14C age,14C error,rsl,rsl_sd\n1,0.05,0.01,,,1,1\n2,,,400,30,1,1\n",
        {},
        ["core.csv, line 1", "calibrated in years", "ka BP"],
    ),
    "a minimum gap that cannot fit": (
        EVEN.replace(",10,", ",0,").replace("6,290", "6,400"),
        {"least_gap": 150},
        ["core.csv", "lines 2 and 3", "leave no room for the minimum gaps"],
    ),
    "a hiatus outside of all cores": (
        EVEN,
        {"hiatus": ["40"]},
        ['core.csv, column "depth": --hiatus 40', "outside of all cores, which reach from 1 to 6"],
    ),
    "a hiatus at a row": (EVEN, {"hiatus": [5]}, ['core.csv, line 4, column "depth": there is a row at 5', "between"]),
    "a hiatus without depths": (EVEN, {"hiatus": [1.5], "order": "rows"}, ["--hiatus 1.5", "needs depths or heights"]),
    "an unclear hiatus": (
        with_column(EVEN, "hiatus", ["", "perhaps", "", ""]),
        {},
        ['core.csv, line 3, column "hiatus": found "perhaps" as a flag', "yes or no"],
    ),
    "split errors without two sides": (
        EVEN,
        {"t_errors": "split"},
        ["core.csv, line 1", "needs upper and lower errors"],
    ),
    "a uniform range and another error": (
        "depth,age_min,age_max,rsl,rsl_sd\n1,90,110,1,1\n2,190,210,1,1\n",
        {"t_errors": "uniform", "t_sd": "5"},
        ['"age_min", "age_max" are to be read as a uniform range', "leave out --t-sd or --t-errors"],
    ),
    "a uniform range without limits": (
        UNEVEN,
        {"t_errors": "uniform"},
        ["core.csv, line 1", "needs limits of the input"],
    ),
    "no error on one side": (
        UNEVEN.replace("300,60,20", "300,60,0"),
        {"t_errors": "split"},
        ["core.csv, line 4", "0 on one side only", "both 0 for an exact input"],
    ),
    "a core without any date": (
        f"core,{HEAD}\nA,1,100,10,1,1\nA,2,200,10,1,1\nB,1,,,1,1\nB,2,,,1,1\n",
        {"incomplete": True},
        ["core.csv", "no row of sequence 'B' has a date"],
    ),
    "neither a date nor a place": (
        EVEN + ",,,1,1\n",
        {"incomplete": True},
        ["core.csv", "line 6 has neither a date", "nor a place in a sequence"],
    ),
    "a minimum gap that is none": (EVEN, {"least_gap": "ten"}, ["--least-gap", "'ten'", "give a number"]),
    "a hiatus that is none": (EVEN, {"hiatus": ["deep"]}, ["--hiatus", "'deep'", "give a number"]),
}


@pytest.mark.parametrize(("content", "options", "pieces"), BAD.values(), ids=BAD)
def test_one_message_names_the_lines(table, content, options, pieces):
    path = table(content)
    with pytest.raises(TableError) as caught:
        read(path, Options(**options))
    message, place = str(caught.value), 0
    for piece in pieces:
        assert piece in message[place:], message
        place = message.index(piece, place)
    assert "counting from 0" not in message


# --- both sides of errors --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "what"),
    [
        ("age_bp,age_2sd_plus,age_2sd_minus", "errors of the input"),
        ("14C age,14C err plus,14C err minus", "errors of the radiocarbon ages"),
    ],
)
def test_uneven_errors_are_named_with_the_worst_row(table, header, what):
    path = table(f"depth,{header},value,value_sd\n1,500,60,58,1,1\n2,900,60,54,1,1\n3,1500,90,30,1,1\n")
    [warning] = [text for text in read(path).warnings if "upper and lower" in text]
    up, low = header.split(",")[1:]
    assert f'{what} ("{up}", "{low}") differ by more than 5 % in lines 3 and 4, most in line 4, 90 and 30' in warning


def test_uneven_limits_are_averaged_with_a_warning_unless_both_sides_are_kept(table):
    path = table("depth,age_bp,age_min,age_max,value,value_sd\n1,500,480,520,1,1\n2,900,890,960,1,1\n")
    [warning] = read(path).warnings
    assert '("age_max", "age_min") differ by more than 20 % in line 3, most in line 3, 60 and 10' in warning
    assert "--t-errors split" in warning
    assert read(path, Options(t_errors="split")).warnings == ()


# --- words in a column of curves -------------------------------------------------------------------------------------


def test_curves_may_be_spelled_in_other_ways(table):
    names = ["Intcal 20", "SHCal-20", "IntCal 2020", "marine20.14c", "INTCAL_13"]
    rows = "".join(f"{i},{1000 * i},60,{name},1,1\n" for i, name in enumerate(names, 1))
    record = read(table(f"depth,age,age_err,curve,value,value_sd\n{rows}")).record
    assert [date.curve for date in record.dates] == ["IntCal20", "SHCal20", "IntCal20", "Marine20", "IntCal13"]


def test_words_that_name_no_curve_are_one_message(table):
    path = table(
        "depth,14C age,14C err,curve,value,value_sd\n1,900,60,marine,1,1\n2,1900,60,IntCal20,1,1\n3,2900,60,wood,1,1\n"
    )
    with pytest.raises(
        TableError, match=r'lines 2 and 4, column "curve": .*"marine", "wood"; write one of IntCal20, SH'
    ):
        read(path)


def test_a_column_of_curves_without_a_known_word_is_asked_about(table):
    path = table("depth,age_bp,age_err,curve,value,value_sd\n1,900,60,marine,1,1\n2,1900,60,marine,1,1\n")
    with pytest.raises(TableError, match=r'lines 2 and 3, column "curve": .*"marine".*--age-type calendar'):
        read(path)
    assert read(path, Options(age_type="calendar")).record.dates is None
