"""All questions about a table at once, and the command that works."""

import pytest

from lamina.tables import Options, survey
from lamina.tables.checks.radiocarbon import _MARINE


def test_all_that_is_unclear_comes_in_one_go(table):
    path = table(
        "Time (ka),Benthic d18O (per mil),Standard error (per mil)\n"
        + "".join(f"{k},{3.2 + 0.1 * k:.2f},0.05\n" for k in range(8)),
        "stack.csv",
    )
    found = survey(path)
    text = "\n".join(found.questions)
    for option in "--y COLUMN", "--t-sd COLUMN or NUMBER", "--order none":
        assert option in text
    assert found.command.endswith("stack.csv --t-sd NUMBER --y 'Benthic d18O (per mil)' --order none")
    assert found.reading.record.y_sd.tolist() == [0.05] * 8


def test_a_clear_table_has_no_question_and_keeps_its_options(table):
    path = table("depth,age_bp,age_sd,rsl,rsl_sd\n1,100,9,1,1\n2,200,9,1,1\n", "my core.csv")
    found = survey(path, Options(t_sigma=2, hiatus=(1.5,)))
    assert found.questions == ()
    assert found.command == f"lamina fit '{path}' --t-sigma 2 --hiatus 1.5"


def test_dates_alone_are_for_an_age_depth_model(table):
    found = survey(table("depth,14C age,14C error\n1,400,30\n2,900,30\n3,1500,30\n"), Options(curve="SHCal20"))
    assert found.questions == ()
    assert found.command.startswith("lamina agedepth ")
    assert found.command.endswith("--curve SHCal20")


def test_what_no_option_decides_has_no_command(table):
    found = survey(table("a,b\n1,2\n3,4\n"))
    assert len(found.questions) == 1
    assert (found.reading, found.command) == (None, "")


def test_answers_that_were_guessed_are_not_called_set_by_the_user(table):
    path = table("depth,age,age_sd,rsl,rsl_sd\n1,100,9,1,1\n1,200,9,1,1\n2,300,9,1,1\n")
    text = survey(path, Options(scale="BP")).reading.describe()
    assert "(set by --scale)" in text
    assert "equal depths, assumed here; set it with --equal-depth" in text


def _run(header, ages):
    return f"{header},sd,rsl,rsl_sd\n" + "".join(f"{k},{age},20,1,1\n" for k, age in enumerate(ages))


def test_no_likely_command_turns_the_order_round(table):
    found = survey(table(_run("depth,age_bp", range(900, 300, -100))))
    (question,) = found.questions
    assert "height or elevation" in question
    assert "--order-direction decreasing (order_direction= in Python) if deeper rows are younger" in question
    assert found.command.endswith("--order none")
    assert "deeper is older" not in found.reading.describe()
    higher = survey(table(_run("height,age_bp", range(300, 900, 100))))
    assert "higher rows are older" in higher.questions[0]
    assert higher.command.endswith("--order none")


def test_years_that_grow_with_depth_are_most_likely_ages_bp(table):
    found = survey(table(_run("depth,Year (CE)", range(100, 1600, 100))))
    assert "most likely ages BP" in found.questions[0]
    assert found.command.endswith("--scale BP")
    chosen = survey(table(_run("depth,Year (CE)", range(100, 1600, 100))), Options(scale="CE"))
    assert chosen.command.endswith("--scale CE --order none")
    no_ages = survey(table(_run("depth,Year (CE)", range(-600, 600, 100))))
    assert no_ages.command.endswith("--order none")


@pytest.mark.parametrize(
    ("header", "way", "warning"),
    [
        ("depth,age_bp", "decreasing", "deeper rows are younger"),
        ("depth,year_ce", "increasing", "deeper rows are younger"),
        ("height,age_bp", "decreasing", "higher rows are older"),
        ("depth,age_bp", "increasing", None),
        ("position,age_bp", "decreasing", None),
    ],
)
def test_an_order_against_depth_is_warned_of(table, header, way, warning):
    ages = range(900, 300, -100) if (way == "decreasing") != header.startswith("height") else range(300, 900, 100)
    found = survey(table(_run(header, ages)), Options(order_direction=way)).reading.warnings
    assert [warning in one for one in found if warning] == [True] * (warning is not None)
    assert len(found) == (warning is not None)


def _dated(materials, ages):
    rows = "".join(f"OS-120{k},{10 * k},{m},{age},30\n" for k, (m, age) in enumerate(zip(materials, ages, strict=True)))
    return "Lab ID,Depth (cm),Material,Age (yr BP),±\n" + rows


SHELLS, MIXED = ["shell"] * 4, ["shell", "shell", "foraminifera", "wood"]


@pytest.mark.parametrize("first", [-350, 450])
def test_marine_and_other_material_needs_a_curve_for_each_row(table, first):
    found = survey(table(_dated(MIXED, [first, 820, 2100, 3300])))
    assert 'one curve does not suit them all: "Material" has "shell", but also "wood"' in found.questions[-1]
    assert "in a column curve" in found.questions[-1]
    assert found.command == ""


def test_marine_material_has_the_marine_curve_and_never_a_zone_of_the_air(table):
    found = survey(table(_dated(SHELLS, [720, 820, 2100, 3300])))
    assert found.command.endswith("--age-type radiocarbon --curve Marine20")
    assert not found.reading.warnings
    assert "NH1" not in survey(table(_dated(SHELLS, [-350, 820, 2100, 3300])), Options(curve="IntCal20")).command


def test_a_curve_that_does_not_suit_the_material_is_warned_of(table):
    air = survey(table(_dated(MIXED, [-350, 820, 2100, 3300])), Options(curve="NH1"))
    (warning,) = air.reading.warnings
    assert 'NH1 is a curve of the atmosphere, but "Material" has "shell" (lines 2, 3 and 4)' in warning
    sea = survey(table(_dated(MIXED, [720, 820, 2100, 3300])), Options(curve="Marine20"))
    (warning,) = sea.reading.warnings
    assert 'Marine20 is a curve of the ocean, but "Material" has "wood" (line 5)' in warning


def test_columns_that_were_guessed_are_marked(table):
    rows = "".join(f"{4 * k};{90 + 110 * k};20;{1 + k % 2};0,1\n" for k in range(5))
    text = survey(table("Tiefe (cm);Alter (cal BP);Fehler;Temperatur;Fehler Temp\n" + rows)).reading.describe()
    for name in "t", "y", "depth":
        assert f"assumed here; set it with --{name})" in text


def test_headers_in_other_languages_have_a_likely_command(table):
    rows = "".join(f"{4 * k};{90 + 110 * k};20;{1 + k % 2};0,1\n" for k in range(5))
    german = survey(table("Tiefe (cm);Alter (cal BP);Fehler;d18O;Fehler d18O\n" + rows, "kern.csv"))
    assert german.command.endswith("kern.csv --t 'Alter (cal BP)' --depth 'Tiefe (cm)'")
    assert 'input error   the column "Fehler"' in german.reading.describe()
    assert 'output error  the column "Fehler d18O"' in german.reading.describe()
    french = survey(table("Profondeur (cm);Âge (ans);Erreur;d18O;d18O_sd\n" + rows, "carotte.csv"), Options(scale="BP"))
    assert "--t 'Âge (ans)'" in french.command
    assert 'the column "Erreur"' in french.reading.describe()
    assert "--depth 'Profondeur (cm)'" in french.command


def test_a_median_beside_a_range_of_ages_is_the_likely_input(table):
    rows = "".join(f"{k},{100 * k},{100 * k - 40}-{100 * k + 40},1.2,0.1\n" for k in range(2, 7))
    found = survey(table("Depth (cm),Median,Cal age range (2 sigma),d18O,d18O_sd\n" + rows))
    assert "no column holds the input itself" in found.questions[0]
    assert found.command.endswith("--t Median")
    assert found.reading.record.t.tolist() == [200, 300, 400, 500, 600]
    assert found.reading.record.t_sd.tolist() == [20] * 5


def test_an_error_of_counting_is_not_the_likely_input_but_an_age_by_isotopes_is(table):
    head = "Tiefe [mm];Jahr (n. Chr.);Zählfehler (Jahre);Temperatur [°C];Unsicherheit\n"
    rows = "".join(f"{k};{2010 - 20 * k};{1 + k};{8 - k % 2};0,5\n" for k in range(5))
    assert "--t 'Jahr (n. Chr.)' --t-sd 'Zählfehler (Jahre)'" in survey(table(head + rows)).command
    corals = "depth (m),rsl (m),rsl_sd,230Th age (ka),± (2σ)\n" + "".join(
        f"{k},-{k},0.3,{2 * k},0.04\n" for k in range(1, 5)
    )
    assert "--t '230Th age (ka)'" in survey(table(corals)).command


@pytest.mark.parametrize(("place", "marine"), [("Arctica islandica", True), ("Antarctica", False)])
def test_a_continent_is_no_shell(place, marine):
    assert bool(_MARINE.search(place)) == marine
