"""Radiocarbon or calendar ages: by a column, by an option, by files beside the table."""

import pytest

from lamina.tables import Options, TableError, read

PLAIN = "depth,age,age_sd,value,value_sd\n1,400,30,1,1\n2,900,30,1,1\n3,1500,40,1,1\n"
BOTH = "depth,age_bp,age_sd,14C age,14C error,value,value_sd\n1,500,40,400,30,1,1\n2,800,40,900,30,1,1\n"


def ages(found):
    return [None if date is None else date.age for date in found.record.dates or [None] * len(found.record)]


@pytest.mark.parametrize("name", ["core_12.bacon", "core_12.out"])
def test_files_of_bacon_beside_the_table_are_a_reason_to_ask(table, tmp_path, name):
    path = table(PLAIN)
    assert ages(read(path)) == [None] * 3
    (tmp_path / name).write_text("")
    with pytest.raises(TableError, match=rf"{name}.*--age-type radiocarbon"):
        read(path)


def test_the_option_fills_in_rows_whose_type_is_empty(table):
    header, *rows = PLAIN.splitlines()
    kinds = ["age_type", "calendar", "", "radiocarbon"]
    path = table("\n".join(f"{row},{kind}" for row, kind in zip([header, *rows], kinds, strict=True)))
    with pytest.raises(TableError, match='line 3, column "age_type"'):
        read(path)
    assert ages(read(path, Options(age_type="radiocarbon", curve="IntCal20"))) == [None, 900.0, 1500.0]
    assert ages(read(path, Options(age_type="calendar", t_unit="BP"))) == [None, None, 1500.0]


def test_beside_calendar_ages_the_option_chooses_the_radiocarbon_ages(table):
    path = table(BOTH)
    assert ages(read(path)) == [None, None]
    assert ages(read(path, Options(age_type="radiocarbon", curve="IntCal20"))) == [400.0, 900.0]
    with pytest.raises(TableError, match=r"--curve IntCal20 .*calendar ages"):
        read(path, Options(curve="IntCal20"))


def test_a_curve_and_calendar_ages_exclude_each_other(table):
    with pytest.raises(TableError, match="--curve calibrates radiocarbon ages, but --age-type says calendar"):
        read(table(PLAIN), Options(age_type="calendar", curve="IntCal20"))


def test_ages_before_present_that_say_nothing_else_are_calendar_ages_with_a_note(table):
    path = table("depth,age (yr BP),age_sd,rsl,rsl_sd\n1,100,10,0.1,0.1\n2,200,10,0.2,0.1\n3,300,10,0.3,0.1\n")
    facts = {fact.what: fact for fact in read(path).facts}
    assert facts["age type"].understood == "calendar ages"
    assert "--age-type radiocarbon" in facts["age type"].why


def test_a_row_of_units_says_what_a_column_of_any_name_holds(table):
    rows = "".join(f"Poz-10{k};{10 * k};{150 + 300 * k};40;1,5;0,3\n" for k in range(1, 5))
    path = table("Probe;Tiefe;Alter;Fehler;Temperatur;Fehler T\n;[cm];[cal a BP];[a];[°C];[°C]\n" + rows)
    options = Options(t="Alter", y="Temperatur", y_sd="Fehler T", depth="Tiefe")
    found = read(path, options)
    assert ages(found) == [None] * 4
    assert found.record.t_unit == "cal a BP"
    path.write_text(path.read_text().replace("[cal a BP]", "[a]"))
    with pytest.raises(TableError, match=r"may hold radiocarbon ages.*Poz-101"):
        read(path, options)
