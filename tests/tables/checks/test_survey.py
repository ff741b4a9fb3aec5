"""All questions about a table at once, and the command that works."""

from lamina.tables import Options, survey


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


def test_a_core_from_the_other_end_has_a_likely_command(table):
    path = table("depth,age_bp,age_sd,rsl,rsl_sd\n" + "".join(f"{k},{900 - 100 * k},20,1,1\n" for k in range(6)))
    found = survey(path)
    assert len(found.questions) == 1
    assert found.command.endswith("--order-direction decreasing")
    assert "deeper is older" not in found.reading.describe()


def test_headers_in_other_languages_have_a_likely_command(table):
    rows = "".join(f"{4 * k};{90 + 110 * k};20;{1 + k % 2};0,1\n" for k in range(5))
    german = survey(table("Tiefe (cm);Alter (cal BP);Fehler;d18O;Fehler d18O\n" + rows, "kern.csv"))
    assert german.command.endswith("--t 'Alter (cal BP)' --t-sd Fehler --y-sd 'Fehler d18O' --depth 'Tiefe (cm)'")
    french = survey(table("Profondeur (cm);Âge (ans);Erreur;d18O;d18O_sd\n" + rows, "carotte.csv"), Options(scale="BP"))
    assert "--t 'Âge (ans)' --t-sd Erreur" in french.command
    assert "--depth 'Profondeur (cm)'" in french.command


def test_a_median_beside_a_range_of_ages_is_the_likely_input(table):
    rows = "".join(f"{k},{100 * k},{100 * k - 40}-{100 * k + 40},1.2,0.1\n" for k in range(2, 7))
    found = survey(table("Depth (cm),Median,Cal age range (2 sigma),d18O,d18O_sd\n" + rows))
    assert 'found the range "160-240"; put its ends into two columns' in "\n".join(found.questions)


def test_an_error_of_counting_is_not_the_likely_input_but_an_age_by_isotopes_is(table):
    head = "Tiefe [mm];Jahr (n. Chr.);Zählfehler (Jahre);Temperatur [°C];Unsicherheit\n"
    rows = "".join(f"{k};{2010 - 20 * k};{1 + k};{8 - k % 2};0,5\n" for k in range(5))
    assert "--t 'Jahr (n. Chr.)' --t-sd 'Zählfehler (Jahre)'" in survey(table(head + rows)).command
    corals = "depth (m),rsl (m),rsl_sd,230Th age (ka),± (2σ)\n" + "".join(
        f"{k},-{k},0.3,{2 * k},0.04\n" for k in range(1, 5)
    )
    assert "--t '230Th age (ka)'" in survey(table(corals)).command
