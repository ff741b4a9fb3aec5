"""What is understood, and why: sigma, scale, order, sequences, flags and warnings."""

import pytest
from numpy.testing import assert_allclose

from lamina.records.axes import describe
from lamina.tables import Options, TableError, read, read_ages
from lamina.tables.reading import read_record

PLAIN = "depth,age,age_sd,value,value_sd\n1,100,10,1.0,0.1\n2,210,10,1.1,0.1\n3,190,10,1.2,0.1\n4,400,10,1.3,0.1\n"


def facts(understood):
    return {fact.what: f"{fact.understood} | {fact.why}" for fact in understood.facts}


def test_one_sigma_is_assumed_and_reported(table):
    said = facts(read(table(PLAIN)))
    assert said["input sigma"].startswith("1 sigma | assumed")
    assert "--t-sigma 2" in said["input sigma"]
    assert "set by --t-sigma" in facts(read(table(PLAIN), Options(t_sigma=2)))["input sigma"]


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


def test_one_sided_error_is_used_for_both_and_reported(table):
    understood = read(table("depth,age_bp,age +1s,value,value_sd\n1,100,10,1,1\n2,210,20,1,1\n"))
    assert_allclose(understood.record.t_sd, [10, 20])
    assert any("only one side" in warning for warning in understood.warnings)


def test_a_hyphen_beside_a_plus_is_a_minus(table):
    understood = read(table("depth,age_bp,Age+2s,Age-2s,value,value_sd\n1,100,20,20.5,1,1\n2,210,40,40,1,1\n"))
    assert_allclose(understood.record.t_sd, [10.125, 20])
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
        ("age", None, "ago", "increasing"),
        ("Age (yr)", None, "yr ago", "increasing"),
        ("Age_BP (years)", "BP", "years BP", "increasing"),
        ("Age BP (cal yr)", "BP", "yr BP", "increasing"),
        ("Age (cal yr bp)", "BP", "cal yr BP", "increasing"),
        ("Age (yrs. B.P.)", "BP", "yrs. BP", "increasing"),
        ("Age (years before present)", "BP", "years BP", "increasing"),
        ("Age (calBP)", "BP", "cal BP", "increasing"),
        ("Age (yr b2k)", "BP", "yr b2k", "increasing"),
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


def test_the_header_of_the_error_may_name_the_scale(table):
    understood = read(table(PLAIN.replace("age_sd", "age_sd (yr BP)")))
    assert (understood.scale, understood.record.t_unit) == ("BP", "BP")


def test_a_scale_against_the_header_is_used_with_a_warning(table):
    understood = read(table(PLAIN.replace("age,", "age_ce,", 1)), Options(scale="BP"))
    assert understood.record.t_unit == "BP"
    assert any("says CE, but --scale says BP" in warning for warning in understood.warnings)


def test_no_scale_is_reported_and_the_direction_comes_from_the_trend(table):
    said = facts(read(table(PLAIN)))
    assert said["scale"].startswith("no scale known")
    assert "trend of the dates" in said["direction"]


def test_depth_shows_which_way_time_runs_where_no_scale_does(table):
    said = facts(read(table(PLAIN)))
    assert said["time"].startswith("larger is older")
    years = "depth,x,x_sd,value,value_sd\n1,1990,10,1,1\n2,1900,10,1,1\n3,1800,10,1,1\n"
    understood = read(table(years))
    assert facts(understood)["time"].startswith("larger is younger")
    assert describe(understood.record).backwards is False


def test_without_depth_and_scale_nobody_knows_which_way_time_runs(table):
    understood = read(table(PLAIN), Options(order="rows"))
    assert describe(understood.record).runs is None
    assert any('larger numbers in "age" are older or younger' in warning for warning in understood.warnings)
    assert not any("older or younger" in one for one in read(table(PLAIN), Options(order="rows", scale="BP")).warnings)


def test_units_of_errors_are_turned_into_those_of_the_values(table):
    rows = "1,1.0,100,1,50\n2,2.0,100,1,50\n3,3.0,100,1,50\n"
    understood = read(table(f"depth,Age (ka BP),Age error (yr),RSL (m),RSL error (2σ; mm)\n{rows}"))
    assert_allclose(understood.record.t_sd, 0.1)
    assert_allclose(understood.record.y_sd, 0.025)
    assert facts(understood)["input error unit"].startswith("yr, turned into ka BP")
    assert facts(understood)["output error unit"].startswith("mm, turned into m")
    rows = rows.replace(",100,", ",0.1,")
    same = read(table(f"depth,Age (ka BP),Age error (ka),d18O (‰ VPDB),d18O error (‰)\n{rows}"))
    assert_allclose(same.record.t_sd, 0.1)
    assert not any("unit" in what for what in facts(same))


def test_limits_in_another_unit_than_their_value(table):
    path = table("depth,Age (BP),age_min (ka),age_max (ka),value,value_sd\n1,100,0.08,0.12,1,1\n2,210,0.19,0.23,1,1\n")
    assert_allclose(read(path).record.t_sd, 10)


def test_sigma_of_columns_that_the_user_names(table):
    path = table("depth,age_bp,dating unc 2sigma,rsl,levelling_2s\n1,100,10,1,.1\n2,200,10,1,.1\n3,300,10,1,.1\n")
    understood = read(path, Options(t_sd="dating unc 2sigma", y_sd="levelling_2s"))
    assert_allclose(understood.record.t_sd, 5)
    assert_allclose(understood.record.y_sd, 0.05)
    assert 'the header "levelling_2s" says so' in facts(understood)["output sigma"]


def test_upper_and_lower_that_are_errors_are_no_limits(table):
    understood = read(table("depth,age_bp,age_sd,rsl,rsl_upper,rsl_lower\n1,100,10,-1,.1,.1\n2,200,10,-2,.1,.1\n"))
    assert_allclose(understood.record.y_sd, 0.1)
    assert facts(understood)["output sigma"].startswith("1 sigma")


def test_a_core_is_turned_round_only_by_a_clear_trend_and_that_is_said(table):
    header = "core,age_ce,age_sd,value,value_sd\n"
    down = [("A", 1900 - 100 * k) for k in range(6)]
    up = [("B", 1500 + 100 * k) for k in range(4)]
    content = header + "".join(f"{core},{t},10,1,1\n" for core, t in down + up)
    understood = read(table(content), Options(order="rows"))
    assert understood.lines == (2, 3, 4, 5, 6, 7, 11, 10, 9, 8)
    assert facts(understood)["turned round"].startswith('the 4 rows of "B"')
    few = read(table(content.rsplit("B", 1)[0]), Options(order="rows"))
    assert few.lines == tuple(range(2, 11))
    unclear = content.replace("B,1500", "B,1690").replace("B,1800", "B,1510")
    assert read(table(unclear), Options(order="rows")).lines == tuple(range(2, 12))


def test_the_output_of_an_age_depth_model(table):
    content = "depth\tmin\tmax\tmedian\tmean\td18O\td18O_sd\n0\t-60\t10\t-30\t-28\t3\t1\n1\t20\t100\t60\t61\t3\t1\n"
    understood = read(table(content))
    assert understood.record.t.tolist() == [-30, 60]
    assert_allclose(understood.record.t_sd, [17.5, 20])
    assert any("age-depth model" in warning for warning in understood.warnings)
    assert read(table(content.replace("median", "note"))).record.t.tolist() == [-28, 61]


def test_rows_that_any_of_several_flags_marks_are_left_out(table):
    understood = read(
        table("depth,age_bp,age_sd,rsl,rsl_sd,reject,outlier\n" + "".join(
            f"{k},{100 * k},10,1,1,{'x' if k == 2 else ''},{'x' if k == 3 else ''}\n" for k in (1, 2, 3, 4)
        ))
    )  # fmt: skip
    assert understood.lines == (2, 5)
    assert [fact.why for fact in understood.facts if fact.what == "rejected"] == [
        'the column "reject"',
        'the column "outlier"',
    ]


def test_measurements_that_look_like_comments_are_told(table):
    header = "sample,depth,age_bp,age_sd,rsl,rsl_sd\n"
    understood = read(table(f"# one, two\n{header}S1,1,100,10,1,1\n#2,2,200,10,1,1\n# a remark\nS3,3,300,10,1,1\n"))
    assert understood.lines == (3, 6)
    (said,) = understood.warnings
    assert "as many cells as it (line 4)" in said


def test_a_code_among_numbers_of_its_size_is_suspected(table):
    rows = PLAIN.replace("1.2,0.1", "-999,0.1").replace("1.0,0.1", "-500,0.1").replace("1.1,0.1", "-1600,0.1")
    (said,) = read(table(rows)).warnings
    assert '"-999" in "value" looks like a code for a missing value (line 4)' in said
    assert said.endswith(", and is read as a number. If it is a code, say --missing -999.")


def test_radiocarbon_ages_that_the_user_insists_on(table):
    path = table("depth,14C age,14C error,rsl,rsl_sd\n1,100,10,1,1\n2,200,20,1,1\n3,300,10,1,1\n")
    assert len(read(path, Options(t="14C age")).record.dates) == 3
    for options in Options(age_type="calendar"), Options(t="14C age", age_type="calendar"):
        understood = read(path, options)
        assert_allclose(understood.record.t_sd, [10, 20, 10])
        assert any("says that these are radiocarbon ages" in warning for warning in understood.warnings)


def test_a_column_in_bp_is_preferred_to_one_in_bc(table):
    record = read(table("depth,Age (BP),Year (BC),age_sd,rsl,rsl_sd\n1,3000,1050,10,1,1\n2,3100,1150,10,1,1\n")).record
    assert record.t.tolist() == [3000, 3100]


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
    assert facts(understood)["order"].startswith("none")


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
    assert read(path, Options(pool=True)).record.sequence == ("A / 1", "A / 1", "A / 2", "B / 1")
    assert read(path, Options(site="A")).record.sequence == ("1", "1", "2")


def test_rows_that_are_not_listed_by_depth_are_put_in_its_order_and_named(table):
    shuffled = "depth,age_bp,age_sd,value,value_sd\n1,100,10,1,1\n5,300,10,1,1\n2,150,10,1,1\n6,400,10,1,1\n"
    found = read(table(shuffled))
    assert (found.record.t.tolist(), found.lines) == ([100, 150, 300, 400], (2, 4, 3, 5))
    assert 'not listed by depth: "depth" reverses in line 4. They are put in the order' in "".join(found.warnings)
    assert read(table(shuffled), Options(order="depth")).record == found.record
    assert not read(table(shuffled), Options(order="depth")).warnings


def test_depths_that_begin_again_may_be_another_core(table):
    rows = "".join(
        f"{d},{t},10,1,1\n" for d, t in zip((1, 3, 5, 7, 2, 4, 6), (10, 30, 50, 70, 20, 40, 60), strict=True)
    )
    two = table("depth,age_bp,age_sd,value,value_sd\n" + rows)
    with pytest.raises(TableError, match=r'line 6, column "depth": the depths begin again here.*--order depth'):
        read(two)
    assert read(two, Options(order="depth")).record.depth.tolist() == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("flag", ["yes", "TRUE", "1", "x", "Rejected"])
def test_rejected_rows_are_left_out_and_counted(table, flag):
    content = (
        PLAIN.replace("value_sd", "value_sd,reject").replace("0.1\n", "0.1,\n").replace("1.2,0.1,", f"1.2,0.1,{flag}")
    )
    understood = read(table(content))
    assert understood.lines == (2, 3, 5)
    assert facts(understood)["rejected"].startswith("1 row left out (line 4)")


def test_limiting_rows_without_a_side_are_left_out_with_a_warning(table):
    content = "depth,age_bp,age_sd,rsl,rsl_sd,type\n1,100,10,1,1,SLIP\n2,200,10,1,1,limiting\n3,300,10,1,1,SLIP\n"
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
    one_of_two = read(table(header + "1,100,50,1,1\n2,300,50,1,1\n3,200,50,1,1\n"))
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


@pytest.mark.parametrize(
    "header", ["Center depth (cm)", "depth_sample", "depth_corr", "mcd", "depth_bsf", "Core depth [m]"]
)
def test_names_of_depths(table, header):
    assert read(table(f"{header},age_bp,error,value,value_sd\n3,300,10,1,1\n1,100,10,1,1\n")).lines == (3, 2)


def test_a_column_that_runs_one_way_is_the_likely_depth(table):
    rows = "1,10,300,60,5,1\n2,25,250,60,7,1\n3,30,900,60,6,1\n"
    with pytest.raises(TableError, match=r'"strat" may be one: say --depth "strat".*--order none') as asked:
        read(table(f"n,strat,age_bp,error,value,value_sd\n{rows}"))
    assert asked.value.answers == {"depth": "strat"}
    assert read(table(f"n,strat,age_bp,error,value,value_sd\n{rows}"), Options(depth="strat")).lines == (2, 3, 4)


@pytest.mark.parametrize("cells", [("0-2", "10–12", "20 to 22"), ("0-2 cm", "10-12", "20.5-21.5")])
def test_a_column_named_as_depth_may_hold_top_and_bottom(table, cells):
    rows = "".join(f"{cell},{100 * i},10,{i},1\n" for i, cell in enumerate(cells, 1))
    path = table(f"interval,age_bp,error,value,value_sd\n{rows}")
    with pytest.raises(TableError, match='"interval" may be one: say --depth "interval"'):
        read(path)
    record = read(path, Options(depth="interval")).record
    assert_allclose(record.depth, [1, 11, 21])


def test_ages_are_needed_not_activities(table):
    path = table("depth,210Pb_Bq_kg,210Pb_err\n1,300,10\n2,200,10\n")
    for reader in read, read_ages:
        with pytest.raises(TableError, match=r'"210Pb_Bq_kg", "210Pb_err" seem to be activities.*CRS, CFCS') as error:
            reader(path)
        assert "(no output)" not in str(error.value)


def test_no_column_is_listed_that_is_not_there(table):
    with pytest.raises(TableError, match='the columns are "depth", "amount"; name it'):
        read_ages(table("depth,amount\n1,3\n2,2\n"))


@pytest.mark.parametrize("header", ["n", "sample no", "age_old"])
def test_counts_and_ages_are_no_likely_depth(table, header):
    with pytest.raises(TableError, match="nothing says which row is older") as asked:
        read(table(f"{header},age_bp,error,value,value_sd\n1,300,60,5,1\n4,250,60,7,1\n9,900,60,6,1\n"))
    assert asked.value.answers == {"order": "none"}


def test_a_text_may_stand_between_an_age_and_its_error(table):
    path = table("depth,model,note,error,value,value_sd\n1,100,a,10,1,1\n2,200,b,12,1,1\n")
    assert_allclose(read(path, Options(t="model", scale="BP")).record.t_sd, [10, 12])


RAGGED = "depth,age_bp,error,value,value_sd\n1,100,10,1,1\n2,200,10,1,1,see notes\n3,300,10,2\n4,400,10,1,1\n"


def test_ragged_rows_name_what_is_beyond_the_header(table):
    with pytest.raises(TableError) as error:
        read(table(RAGGED))
    assert 'line 3: the row has 6 cells, but the header in line 1 has 5 (beyond it: "see notes")' in str(error.value)
    assert "line 4: the row has 4 cells" in str(error.value)
    assert "--leave-out LINE" in str(error.value)


def test_ragged_rows_can_be_left_out(table):
    assert read(table(RAGGED), Options(leave_out=(3, 4))).lines == (2, 5)
    with pytest.raises(TableError, match="line 4: the row has 4 cells"):
        read(table(RAGGED), Options(leave_out=(3,)))


@pytest.mark.parametrize(
    "above",
    [
        "# NOAA\n# Title: a core\n# depth\tage_bp\terror\tvalue\tvalue_sd\n",
        "#depth\tage_bp\terror\tvalue\tvalue_sd\n",
        "# depth\tage_bp\terror\tvalue\tvalue_sd\n#\n",
    ],
)
def test_a_header_may_be_a_comment(table, above):
    path = table(f"{above}1\t100\t10\t1\t1\n2\t200\t10\tNA\t1\n3\t300\t10\t2\t1\n")
    understood = read(path, Options(incomplete=True))
    assert_allclose(understood.record.t, [100, 200, 300])
    assert understood.lines[0] == above.count("\n") + 1
    assert "a comment above the rows" in understood.describe()


@pytest.mark.parametrize(
    "first", ['# "depth",age_bp,error,value,"value_sd"', '"# depth","age_bp","error","value","value_sd"']
)
def test_a_header_in_a_comment_may_be_quoted(table, first):
    assert_allclose(read(table(f"{first}\n1,100,10,1,1\n2,200,10,1,1\n")).record.t, [100, 200])


def test_two_comments_that_may_be_the_header_are_none(table):
    rows = "10,1000,30\n20,2000,30\n"
    with pytest.raises(TableError, match="header"):
        read(table(f"# Depth, Age, Error\n# Age (cal BP), depth (cm), age error (1 sd)\n{rows}"))


def test_a_header_of_its_own_is_better_than_a_comment(table):
    path = table("# a,b,c,d,e\ndepth,age_bp,error,value,value_sd\n1,100,10,1,1\n2,200,10,1,1\n")
    assert read(path).lines == (3, 4)


@pytest.mark.parametrize("header", ["pub_year", "Year published", "Year (of publication)", "year_cored"])
def test_other_years_are_no_ages(table, header):
    with pytest.raises(TableError, match="no column holds the input") as error:
        read(table(f"depth,{header},value,value_sd\n1,2001,1,1\n2,2003,1,1\n"))
    assert error.value.answers == {}
    rows = "1,2001,10,1,1,1\n2,2003,20,1,1,1\n"
    assert_allclose(read(table(f"depth,{header},age_bp,error,value,value_sd\n{rows}")).record.t, [10, 20])


def test_two_depths_are_a_question(table):
    with pytest.raises(TableError, match='2 columns may hold the depth: "depth", "depth_corr"'):
        read(table("depth,depth_corr,age_bp,error,value,value_sd\n1,1,100,10,1,1\n2,3,200,10,1,1\n"))
