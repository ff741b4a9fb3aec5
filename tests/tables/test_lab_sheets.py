"""Tables as laboratories, archives and spreadsheets in several languages publish them: read rightly, or asked about."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lamina.tables import Options, TableError, read, survey
from lamina.tables.reading import read_ages


def plain(*rows, head="depth,age (cal BP),age sd,rsl (m),rsl sd"):
    return "\n".join([head, *rows]) + "\n"


BETA = (
    "Beta Lab No.,Submitter No.,Depth (cm),Conventional Radiocarbon Age,δ13C (‰),2 Sigma Calibration\n"
    "Beta - 512345,S-10,10-11,1230 +/- 30 BP,-25.1,Cal BP 1260 to 1070\n"
    "Beta - 512346,S-20,20-21,1840 +/- 30 BP,-26.0,Cal BP 1865 to 1705\n"
    "Beta - 512347,S-30,30-31,2510 +/- 30 BP,-24.8,Cal BP 2735 to 2490\n"
)
GERMAN = (
    "Probe;Tiefe (cm);Alter (cal BP);Fehler;Höhe (m);Fehler\n"
    "A1;10;100,5;20;-0,1;0,05\nA2;20;220,5;25;-0,22;0,06\nA3;30;340,2;25;-0,35;0,06\n"
)
OXCAL = "depth,Cal age range,Median,rsl,rsl_sd\n10,100-200,150,1,0.1\n20,220-300,260,2,0.1\n30,340-440,390,3,0.1\n"
NEOTOMA = "siteid,sitename,depth,age,ageolder,ageyounger,agetype,value,value_sd\n" + "".join(
    f"1,Lake A,{10 * k},{500 * k},{500 * k + 60},{500 * k - 60},Calibrated radiocarbon years BP,{k % 2},0.1\n"
    for k in range(1, 5)
)
TWO_NAMES = "siteid,sitename,depth,age_bp,age_sd,rsl,rsl_sd\n" + "".join(
    f"{k},{name},{10 * i},{100 * i},9,{i},1\n" for k, name in ((1, "Lake A"), (2, "Bog B")) for i in range(1, 4)
)


def test_ages_with_their_errors_and_bp_in_the_same_cells_are_radiocarbon(table):
    found = read_ages(table(BETA))
    assert found.record.depth.tolist() == [10.5, 20.5, 30.5]
    assert [date.age for date in found.record.dates] == [1230, 1840, 2510]
    assert [date.age_sd for date in found.record.dates] == [30, 30, 30]
    assert survey(table(BETA)).command.startswith("lamina agedepth")


def test_percent_modern_carbon_among_ages_is_a_fault_of_its_row(table):
    with pytest.raises(TableError, match=r'line 4, column "Conventional Radiocarbon Age".*pMC'):
        read_ages(table(BETA.replace("2510 +/- 30 BP", "104.2 +/- 0.3 pMC")))


def test_german_headers_have_a_command_that_works(table):
    found = survey(table(GERMAN, "kern.csv"))
    assert found.command.endswith("--t 'Alter (cal BP)' --y 'Höhe (m)' --depth 'Tiefe (cm)'")
    assert_allclose(found.reading.record.t_sd, [20, 25, 25])
    assert_allclose(found.reading.record.y_sd, [0.05, 0.06, 0.06])


def test_european_thousands_are_named_cell_by_cell(table):
    found = survey(table("Tiefe;Alter;Fehler;Höhe\n10;1.040,5;20;-0,1\n20;980,5;25;-0,22\n30;1.340,2;25;-0,35\n"))
    assert "name it with --t COLUMN" in found.questions[0]
    assert 'line 2, column "Alter": found "1.040,5"; write thousands without a separator' in found.questions[-1]
    assert 'line 4, column "Alter": found "1.340,2"' in found.questions[-1]
    assert "line 3" not in found.questions[-1]


@pytest.mark.parametrize(
    ("unit", "scale"),
    [
        ("Jahre n. Chr.", "CE"),
        ("años cal AP", "BP"),
        ("années apr. J.-C.", "CE"),
        ("cal. yr BP", "BP"),
    ],
)
def test_calendars_of_other_languages(table, unit, scale):
    ages = (100, 200, 300) if scale == "BP" else (1900, 1800, 1700)
    rows = [f"{k},{age},9,{k},0.1" for k, age in enumerate(ages)]
    assert read(table(plain(*rows, head=f"depth,age ({unit}),age_sd,rsl,rsl_sd"))).scale == scale


@pytest.mark.parametrize("unit", ["Jahre v. Chr.", "années av. J.-C.", "Jahre v.u.Z."])
def test_years_before_christ_in_other_languages_are_refused_as_such(table, unit):
    rows = [f"{k},{500 * k},9,{k},0.1" for k in range(1, 4)]
    with pytest.raises(TableError, match="years BC or BCE count back"):
        read(table(plain(*rows, head=f"depth,age ({unit}),age_sd,rsl,rsl_sd")))


def test_ranges_of_ages_are_limits_of_the_median_beside_them(table):
    found = survey(table(OXCAL))
    assert "seem to be limits of the input" in found.questions[0]
    assert found.command.endswith("--t Median")
    assert_allclose(found.reading.record.t_sd, [25, 20, 25])


def test_months_are_no_ranges(table):
    months = plain("1,1990-01,1,1,1", "2,1989-02,1,1,1", head="depth,date,date_sd,level,level_sd")
    with pytest.raises(TableError, match='found the date "1990-01"'):
        read(table(months))


@pytest.mark.parametrize(("cells", "middles"), [("10-11 cm,20-21 cm,30-31 cm", [10.5, 20.5, 30.5])])
def test_depth_ranges_with_a_unit(table, cells, middles):
    rows = [f"{cell},{100 * k},9,{k},0.1" for k, cell in enumerate(cells.split(","), 1)]
    assert read(table(plain(*rows))).record.depth.tolist() == middles


def test_depth_ranges_in_several_units_are_refused(table):
    with pytest.raises(TableError, match="10-11 cm"):
        read(table(plain("10-11 cm,100,9,1,0.1", "200-210 mm,200,9,1,0.1", "30-31 cm,300,9,1,0.1")))


def test_two_errors_in_one_cell_belong_into_two_columns(table):
    with pytest.raises(TableError, match=r'found two errors in one cell, "\+20/-15"; put them into two columns'):
        read(table(plain("1,100,+20/-15,1,0.1", "2,200,+20/-25,1,0.1", "3,300,+20/-25,1,0.1")))


def test_years_ce_and_bce_in_the_cells_are_worded_for_ce(table):
    with pytest.raises(TableError, match=r"years BCE as negative ones, and say --scale CE"):
        read(table("depth,year,year_sd,rsl,rsl_sd\n1,500 CE,50,1,0.1\n2,100 CE,50,1,0.1\n3,300 BCE,50,1,0.1\n"))


def test_a_header_in_two_lines_is_recognised(table):
    merged = "Core,Depth (cm),Age (cal BP),,RSL (m),\n,,mean,2σ,mean,2σ\nC1,10,100,40,1,0.1\nC1,20,220,50,2,0.1\n"
    with pytest.raises(TableError, match="the header, which seems to go on in line 2"):
        read(table(merged))


def test_the_whole_error_is_suggested_before_a_part_of_it(table):
    head = "depth,age (cal BP),analytical error,total error,rsl (m),vertical error (m),total vertical error (m)"
    found = survey(table(plain("10,100,20,30,1,0.02,0.05", "20,220,25,35,2,0.02,0.05", head=head)))
    assert found.command.endswith("--t-sd 'total error' --y-sd 'total vertical error (m)'")


def test_a_standard_error_of_the_mean_is_an_error(table):
    rows = plain("1,100,20,3.1,5,0.2", "2,220,25,3.3,4,0.1", head="depth,age_bp,age_sd,d18O mean,d18O n,d18O SEM")
    assert read(table(rows)).record.y_sd.tolist() == [0.2, 0.1]


def test_an_elevation_with_an_error_is_the_likely_output(table):
    head = "Lab code,Depth (cm),De (Gy),Age (ka),Elevation (m),Elevation error"
    found = survey(table(plain("O1,50,2.1,1.1 ± 0.1,3.2,0.2", "O2,100,4,2.1 ± 0.2,2.8,0.2", head=head)))
    assert found.command.endswith("--y 'Elevation (m)'")


def test_a_number_and_a_name_of_the_same_site_are_one(table):
    assert read(table(NEOTOMA)).record.sequence == ("Lake A",) * 4
    pooled = read(table(TWO_NAMES), Options(pool=True)).record
    assert set(pooled.sequence) == {"Lake A", "Bog B"}


def test_several_columns_of_cores_are_decided_by_the_option_that_the_message_names(table):
    content = plain("GC1,1,10,100,9,1,1", "GC1,2,20,200,9,1,1", head="Core,Section,depth,age_bp,age_sd,rsl,rsl_sd")
    with pytest.raises(TableError, match=r'"Core", "Section"; choose one with --sequence'):
        read(table(content))
    assert read(table(content), Options(sequence="Core")).record.sequence == ("GC1", "GC1")


def test_sites_under_one_curve_are_asked_about(table):
    found = survey(table(TWO_NAMES, "lakes.csv"))
    assert '2 sites ("Lake A", "Bog B") would share one curve' in found.questions[0]
    assert found.command.endswith("lakes.csv --by sitename")
    assert read(table(TWO_NAMES), Options(site="Bog B")).record.sequence == ("Bog B",) * 3


def test_a_guess_that_does_not_help_is_no_question(table):
    found = survey(table(plain("10,<100,9,1,1", "20,<200,9,2,1", "30,300,9,3,1")))
    assert len(found.questions) == 1
    assert "more than half" not in found.questions[0]
    with pytest.raises(TableError, match="more than half of the rows cannot be used"):
        read(table(plain("10,<100,9,1,1", "20,<200,9,2,1", "30,300,9,3,1")), Options(skip_bad_rows=True))


def test_a_title_above_a_header_of_unknown_words_is_no_header(table):
    rows = "Tiefe (cm);Alter (cal BP);± (1σ);RSL (m);±\n7;100;30;-0,12;0,09\n15;192;30;-0,23;0,09\n"
    for title in "Kern E7, Auswertung 2021\n", "Kern E7, Auswertung 2021;;;;\n":
        found = read(table(title + rows), Options(t="Alter (cal BP)", depth="Tiefe (cm)"))
        assert found.record.t.tolist() == [100.0, 192.0]
        assert found.lines == (3, 4)


# --- values far from their neighbours --------------------------------------------------------------------------------


def smooth(n=30, **changed):
    """Values of a smooth curve, of which some are changed: y17=5.0."""
    y = np.round(np.sin(np.arange(n) / 5.0) + np.random.default_rng(1).normal(0.0, 0.05, n), 3)
    for name, value in changed.items():
        y[int(name[1:])] = value
    return plain(*(f"{k},{50 * k},9,{value},0.05" for k, value in enumerate(y)))


def test_a_value_a_hundred_errors_off_is_named(table):
    assert not read(table(smooth())).warnings
    (warning,) = read(table(smooth(y17=5.0))).warnings
    assert "5 in line 19, beside values of about" in warning
    assert "decimal point" in warning


@pytest.mark.parametrize("order", ["rows", "none", "depth"])
def test_whatever_the_order_and_the_unit(table, order):
    off = smooth(y3=-6.0)
    (warning,) = read(table(off), Options(order=order, order_direction="increasing")).warnings
    assert "-6 in line 5" in warning
    for factor in 1e-3, 1e3:
        scaled = "\n".join(
            [
                off.split("\n")[0],
                *(
                    ",".join([*row.split(",")[:3], *(f"{factor * float(x):g}" for x in row.split(",")[3:])])
                    for row in off.split("\n")[1:-1]
                ),
            ]
        )
        assert "in line 5" in read(table(scaled)).warnings[0]


def test_a_record_of_peaks_and_a_step_have_no_single_far_values(table):
    assert not read(table(smooth(**{f"y{k}": 8.0 for k in range(0, 30, 4)}))).warnings
    assert not read(table(smooth(**{f"y{k}": 8.0 for k in range(15, 30)}))).warnings
    assert not read(table(smooth(y17=5.0)), Options(missing="none")).warnings


def test_a_level_of_confidence_without_a_per_cent_sign(table):
    rows = "2,310,120,18.4,0.8\n10,890,140,18.9,0.8\n18,1460,150,19.6,0.8\n"
    found = read(table("Depth_cm,Age_yrBP,Age_err_95,SST_C,SST_err\n" + rows))
    assert_allclose(found.record.t_sd, [60, 70, 75])
    assert_allclose(read(table("Depth_cm,Age_yrBP,Age_error68,SST_C,SST_err\n" + rows)).record.t_sd, [120, 140, 150])


def test_dates_with_top_and_bottom_of_each_sample_are_for_an_age_depth_model(table):
    head = "Lab code,Depth top (cm),Depth bottom (cm),14C yr BP,±,δ13C (‰)\n"
    rows = "Poz-1,10,11,150,30,-27.1\nPoz-2,34,35,720,30,-26.8\nPoz-3,60,61,1310,30,-27.4\n"
    found = survey(table(head + rows))
    assert found.command.startswith("lamina agedepth")
    assert "--y" not in found.command
