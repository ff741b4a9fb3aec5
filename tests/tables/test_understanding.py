"""What is understood, and why: sigma, scale, order, sequences, flags and warnings."""

import pytest
from numpy.testing import assert_allclose

from lamina.tables import Options, TableError, read
from lamina.tables.public import read as read_record

PLAIN = "depth,age,age_sd,value,value_sd\n1,100,10,1.0,0.1\n2,210,10,1.1,0.1\n3,190,10,1.2,0.1\n4,400,10,1.3,0.1\n"


def facts(understood):
    return {fact.what: f"{fact.understood} | {fact.why}" for fact in understood.facts}


def test_one_sigma_is_assumed_and_said(table):
    said = facts(read(table(PLAIN)))
    assert said["input sigma"].startswith("1 sigma | assumed")
    assert "--t-sigma 2" in said["input sigma"]
    assert "you said so" in facts(read(table(PLAIN), Options(t_sigma=2)))["input sigma"]


def test_options_beat_the_header(table):
    path = table(PLAIN.replace("age_sd", "age_2sd"))
    assert_allclose(read(path).record.t_sd, 5.0)
    understood = read(path, Options(t_sigma=1))
    assert_allclose(understood.record.t_sd, 10.0)
    assert 'against "age_2sd"' in facts(understood)["input sigma"]


def test_columns_named_by_the_user(table):
    path = table("d,when,unsure,what,fuzzy,extra\n1,100,10,1,0.1,5\n2,200,10,2,0.1,6\n3,300,20,3,0.1,7\n")
    record = read_record(path, t="when", t_sd="unsure", y="WHAT", y_sd="fuzzy", order="d", scale="bp")
    assert_allclose(record.t_sd, [10, 10, 20])
    assert (record.t_name, record.t_unit, record.order) == ("when", "BP", "increasing")
    assert_allclose(read_record(path, t="when", t_sd=5, y="extra", y_sd="0.5", order="rows").y_sd, 0.5)


def test_an_error_beside_a_named_column_is_found(table):
    path = table("depth,age,age_sd,Foram index,Foram index 2s\n1,100,10,1,0.2\n2,200,10,2,0.2\n")
    assert_allclose(read(path, Options(y="Foram index")).record.y_sd, 0.1)


def test_limits_become_half_their_range(table):
    path = table("depth,age_bp,age_min,age_max,value,value_sd\n1,100,80,120,1,1\n2,210,170,270,1,1\n")
    understood = read(path)
    assert_allclose(understood.record.t_sd, [10, 25])
    assert facts(understood)["input sigma"].startswith("2 sigma")


def test_lower_errors_may_have_their_sign(table):
    path = table("depth,age_bp,age +1s,age -1s,value,value_sd\n1,100,10,-10,1,1\n2,210,20,-22,1,1\n")
    assert_allclose(read(path).record.t_sd, [10, 21])


def test_one_sided_error_is_used_for_both_and_said(table):
    understood = read(table("depth,age_bp,age +1s,value,value_sd\n1,100,10,1,1\n2,210,20,1,1\n"))
    assert_allclose(understood.record.t_sd, [10, 20])
    assert any("only one side" in warning for warning in understood.warnings)


def test_a_hyphen_beside_a_plus_is_a_minus(table):
    understood = read(table("depth,age_bp,Age+2s,Age-2s,value,value_sd\n1,100,20,22,1,1\n2,210,40,40,1,1\n"))
    assert_allclose(understood.record.t_sd, [10.5, 20])
    assert understood.warnings == ()


def test_equal_columns_under_two_names_will_do(table):
    path = table("depth,age_bp,age_1s,age_2s,value,value_sd\n1,100,10,20,1,1\n2,210,20,40,1,1\n")
    assert_allclose(read(path).record.t_sd, [10, 20])


@pytest.mark.parametrize(
    ("header", "scale", "unit", "order"),
    [
        ("age_bp", "BP", "BP", "increasing"),
        ("Age (ka)", "BP", "ka BP", "increasing"),
        ("Age (cal ka BP)", "BP", "cal ka BP", "increasing"),
        ("age", None, "", "increasing"),
        ("Age (yr)", None, "yr", "increasing"),
    ],
)
def test_scale_from_the_header(table, header, scale, unit, order):
    content = PLAIN.replace("age,", f"{header},", 1)
    understood = read(table(content))
    assert (understood.scale, understood.record.t_unit, understood.record.order) == (scale, unit, order)


def test_year_means_ce(table):
    years = "depth,year,year_sd,value,value_sd\n1,1990,10,1,1\n2,1900,10,1,1\n3,1920,10,1,1\n"
    understood = read(table(years))
    assert (understood.scale, understood.record.t_unit, understood.record.order) == ("CE", "CE", "decreasing")
    assert read(table(years.replace("year,", "age,", 1)), Options()).record.order == "decreasing"


def test_the_header_of_the_error_may_tell_the_scale(table):
    understood = read(table(PLAIN.replace("age_sd", "age_sd (yr BP)")))
    assert (understood.scale, understood.record.t_unit) == ("BP", "BP")


def test_a_scale_against_the_header_is_used_with_a_warning(table):
    understood = read(table(PLAIN.replace("age,", "age_ce,", 1)), Options(scale="BP"))
    assert understood.record.t_unit == "BP"
    assert any("says CE, but you said BP" in warning for warning in understood.warnings)


def test_no_scale_is_said_and_the_direction_comes_from_the_trend(table):
    said = facts(read(table(PLAIN)))
    assert said["scale"].startswith("no scale known")
    assert "trend of the dates" in said["direction"]


def test_dates_never_define_the_order(table):
    record = read(table(PLAIN)).record
    assert_allclose(record.t, [100, 210, 190, 400])


def test_position_runs_as_the_dates_say(table):
    path = table(PLAIN.replace("depth", "position").replace("age,", "age_ce,", 1))
    assert read(path).record.order == "increasing"
    assert read(path, Options(order_direction="decreasing")).record.order == "decreasing"


def test_depth_from_top_and_bottom(table):
    path = table("depth_top,depth_bottom,age_bp,age_sd,value,value_sd\n3,4,200,10,1,1\n1,2,100,10,2,1\n")
    assert read(path).lines == (3, 2)


def test_a_row_without_depth_has_no_order(table):
    understood = read(table(PLAIN + ",50,0,0.9,0.1\n"))
    assert understood.record.sequence == ("core",) * 4 + (None,)
    assert understood.lines == (2, 3, 4, 5, 6)
    assert facts(understood)["exact rows"].startswith("1 (line 6)")
    assert facts(understood)["rows without order"].startswith("1 (line 6)")


def test_no_order_if_asked(table):
    understood = read(table(PLAIN), Options(order="none"))
    assert understood.record.unordered.size == 4
    assert understood.ordered_by == "none"


def test_cores_can_be_ignored_or_named(table):
    path = table("core,hut,depth,age_bp,age_sd,value,value_sd\nA,x,1,100,10,1,1\nB,x,2,200,10,1,1\nB,y,3,300,10,1,1\n")
    assert read(path, Options(sequence="none")).record.sequence is None
    assert read(path, Options(sequence="hut")).record.sequence == ("x", "x", "y")
    assert read(path, Options(sequence="hut", site="x")).lines == (2, 3)


def test_cores_of_one_row_need_no_direction(table):
    path = table("core,depth,age,age_sd,value,value_sd\nA,1,100,10,1,1\nB,2,50,10,1,1\n")
    assert read(path).record.sequence == ("A", "B")


def test_site_and_core_together_name_the_sequences(table):
    path = table(
        "site,core,depth,age_bp,age_sd,value,value_sd\nA,1,1,100,10,1,1\nA,1,2,200,10,1,1\nA,2,1,100,10,1,1\nB,1,1,100,10,1,1\n"
    )
    assert read(path).record.sequence == ("A / 1", "A / 1", "A / 2", "B / 1")
    assert read(path, Options(site="A")).record.sequence == ("1", "1", "2")


def test_depth_that_turns_back_may_be_another_core(table):
    shuffled = "depth,age_bp,age_sd,value,value_sd\n1,100,10,1,1\n5,300,10,1,1\n2,150,10,1,1\n6,400,10,1,1\n"
    with pytest.raises(TableError, match=r'line 4, column "depth": the depths turn back here.*--order depth'):
        read(table(shuffled))
    assert read(table(shuffled), Options(order="depth")).record.t.tolist() == [100, 150, 300, 400]


@pytest.mark.parametrize("flag", ["yes", "TRUE", "1", "x", "Rejected"])
def test_rejected_rows_are_left_out_and_counted(table, flag):
    content = (
        PLAIN.replace("value_sd", "value_sd,reject").replace("0.1\n", "0.1,\n").replace("1.2,0.1,", f"1.2,0.1,{flag}")
    )
    understood = read(table(content))
    assert understood.lines == (2, 3, 5)
    assert facts(understood)["rejected"].startswith("1 rows left out (line 4)")
    assert len(understood.table) == 4


def test_limiting_rows_are_left_out_with_a_warning(table):
    content = (
        "depth,age_bp,age_sd,rsl,rsl_sd,type\n1,100,10,1,1,SLIP\n2,200,10,1,1,Marine limiting\n3,300,10,1,1,SLIP\n"
    )
    understood = read(table(content))
    assert understood.lines == (2, 4)
    assert any("limiting" in warning for warning in understood.warnings)


def test_a_type_that_is_about_something_else_is_ignored(table):
    content = "depth,age_bp,age_sd,rsl,rsl_sd,type\n1,100,10,1,1,core\n2,200,10,1,1,gauge\n"
    assert len(read(table(content)).record) == 2


def test_dates_that_are_too_good_are_suspected(table):
    header = "depth,age_bp,age_sd,value,value_sd\n"
    model = header + "".join(f"{i},{100 + 10 * i},40,1,1\n" for i in range(20))
    assert any("age-depth model" in warning for warning in read(table(model)).warnings)
    precise = header + "".join(f"{i},{100 + 10 * i},2,1,1\n" for i in range(20))
    assert read(table(precise)).warnings == ()
    noisy = header + "".join(f"{i},{100 + 10 * i + 30 * (-1) ** i},40,1,1\n" for i in range(20))
    assert read(table(noisy)).warnings == ()


def test_an_order_that_the_dates_contradict_is_suspected_in_few_rows_too(table):
    header = "depth,age_bp,age_sd,value,value_sd\n"
    wrong = read(table(header + "1,300,10,1,1\n2,200,10,1,1\n3,100,10,1,1\n"))
    (said,) = [warning for warning in wrong.warnings if "against the order" in warning]
    assert said.startswith("the dates run against the order (2 of 2 neighbours)")
    assert "depth or height" in said
    assert "--order-direction" in said
    one_of_two = read(table(header + "1,100,10,1,1\n2,300,10,1,1\n3,200,10,1,1\n"))
    assert one_of_two.warnings == ()
    turned = read(table(header + "1,100,10,1,1\n2,200,10,1,1\n3,300,10,1,1\n"), Options(order_direction="decreasing"))
    assert any("against the order" in warning for warning in turned.warnings)


def test_the_core_whose_dates_contradict_its_order_is_named(table):
    rows = [("A", d, 100 * d) for d in (1, 2, 3, 4)] + [("B", d, 500 - 100 * d) for d in (1, 2, 3)]
    content = "core,depth,age_bp,age_sd,value,value_sd\n" + "".join(f"{c},{d},{t},10,1,1\n" for c, d, t in rows)
    (said,) = [warning for warning in read(table(content)).warnings if "against the order" in warning]
    assert '(2 of 2 neighbours of "B")' in said


def test_a_modelled_age_is_suspected_by_its_name(table):
    understood = read(table(PLAIN.replace("age,", "modelled age,", 1)))
    assert any("age-depth model" in warning for warning in understood.warnings)


def test_description_is_plain_text_with_all_facts(table):
    understood = read(table(PLAIN))
    text = understood.describe()
    assert all(fact.understood in text for fact in understood.facts)
    for what in (
        "input",
        "output",
        "scale",
        "input sigma",
        "output sigma",
        "order",
        "sequences",
        "exact rows",
        "reversals",
    ):
        assert any(line.startswith(what) for line in text.splitlines()), what
