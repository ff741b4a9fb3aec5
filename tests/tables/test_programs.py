"""Tables of dates as other programs for age-depth models have them, with invented numbers, read as they are."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import lamina
from lamina.dates import Radiocarbon
from lamina.tables import Options, TableError, read_ages
from lamina.tables.ensembles import SummaryWarning

BACON = "labID,\tage,\terror,\tdepth,\tcc\ntop,\t-35,\t10,\t0,\t0\nA,\t2020,\t80,\t39.5,\t1\nB,\t2440,\t60,\t44.5,\t1\n"
BCHRON = """\
id,ages,ageSds,position,thickness,calCurves
top,-40,10,0,1,normal
L-1,985,45,44.5,5,intcal20
L-2,1225,65,49.5,5,intcal20
L-3,2130,45,102.0,4,shcal20
L-4,4520,75,232.5,5,intcal20
L-5,4500,80,232.5,5,intcal20
"""
CLAM = """\
lab_ID,C14_age,cal_age,error,reservoir,depth,thickness
top,,-50,5,,0,1
L-1,450,,40,,30,1
L-2,1680,,35,400,60,1
ash,NA,1900,20,,90,1
"""
UNDATABLE = (
    "Date name\tDepth 1 (cm)\tDepth 2 (cm)\tAge\tAge error\tDate type\tCal. curve\tRes. age\tRes. age err\tBootstrap\n"
    "top\t0\t1\t-50\t10\tOther\tnone\t0\t0\tn\n"
    "L-1\t30\t32\t1680\t35\t14C marine fossil\tMarine20\t50\t20\ty\n"
    "L-2\t61\t0.5\t2500\t40\t14C terrestrial fossil\tIntCal20\t\t\ty\n"
)


def curves(record):
    return [None if date is None else (date.age, date.age_sd, date.curve) for date in record.dates]


def test_bacon_writes_a_tab_after_each_comma(table):
    record = read_ages(table(BACON)).record
    assert curves(record) == [None, (2020.0, 80.0, "IntCal20"), (2440.0, 60.0, "IntCal20")]
    assert (record.t[0], record.t_sd[0]) == (-35.0, 10.0)


def test_bchron(table):
    found = read_ages(table(BCHRON))
    record = found.record
    assert record.depth.tolist() == [0.0, 44.5, 49.5, 102.0, 232.5, 232.5]
    assert curves(record)[:4] == [
        None,
        (985.0, 45.0, "IntCal20"),
        (1225.0, 65.0, "IntCal20"),
        (2130.0, 45.0, "SHCal20"),
    ]
    assert record.tie[4] == record.tie[5]
    assert (record.t[0], record.t_sd[0], found.scale) == (-40.0, 10.0, "BP")
    text = found.describe()
    assert text.count('"thickness"') == 1
    assert "in 6 rows: a date is of some part of its slice" in text
    assert record.thickness.tolist()[1:3] == [5.0, 5.0]
    assert "as always in Bchron's tables" in text


def test_bchron_without_calendar_ages(table):
    rows = [line for line in BCHRON.splitlines() if not line.startswith("top")]
    record = read_ages(table("\n".join(rows))).record
    assert None not in record.dates
    assert record.t_unit == "cal BP"


def test_bchron_names_a_curve_that_is_not_known(table):
    with pytest.raises(TableError, match=r'line 3, column "calCurves": .*"wood99".*normal for a calendar age'):
        read_ages(table(BCHRON.replace("L-1,985,45,44.5,5,intcal20", "L-1,985,45,44.5,5,wood99")))


def test_clam(table):
    record = read_ages(table(CLAM)).record
    assert curves(record) == [None, (450.0, 40.0, "IntCal20"), (1680.0, 35.0, "IntCal20"), None]
    assert record.dates[2].delta_r == 400.0
    assert_allclose(record.t[[0, 3]], [-50.0, 1900.0])
    assert_allclose(record.t_sd[[0, 3]], [5.0, 20.0])


def test_clam_with_radiocarbon_ages_alone(table):
    rows = [line for line in CLAM.splitlines() if not line.startswith(("top", "ash"))]
    assert curves(read_ages(table("\n".join(rows))).record) == [(450.0, 40.0, "IntCal20"), (1680.0, 35.0, "IntCal20")]


def test_clam_refuses_two_ages_in_a_row(table):
    with pytest.raises(TableError, match=r'line 3, column "C14_age": the row has a radiocarbon age and a calendar age'):
        read_ages(table(CLAM.replace("L-1,450,,", "L-1,450,500,")))


def test_undatable(table):
    found = read_ages(table(UNDATABLE, "core_udinput.txt"))
    record = found.record
    assert record.depth.tolist() == [0.5, 31.0, 61.0]  # the middle of an interval; a mean with its standard deviation
    assert record.dates[1:] == (Radiocarbon(1680, 35, "Marine20", 50, 20), Radiocarbon(2500, 40, "IntCal20"))
    assert (record.t[0], record.t_sd[0]) == (-50.0, 10.0)
    assert "as Undatable has it" in found.describe()


@pytest.mark.parametrize(("content", "column", "error"), [(BACON, "age", "error"), (BCHRON, "ages", "ageSds")])
def test_only_an_age_type_makes_calendar_ages_of_radiocarbon_ages(table, content, column, error):
    path = table(content)
    assert read_ages(path, Options(t=column, t_sd=error)).record.dates is not None
    assert read_ages(path, Options(age_type="calendar")).record.dates is None


# --- results of other programs ---------------------------------------------------------------------------------------

SETTINGS = "## a run\nBacon 0: FixT, 3,  -70,  1e+06,  4141,  4040,  2.8,  1.2,  1.5,  0.075, 10, 25, 772714;\n"
OUT = "100 2 4 6 0.1 220.1\n110 1 1 1 0.2 219.5\n"


@pytest.fixture
def run(tmp_path):
    path = tmp_path / "core_3.out"
    path.write_text(OUT)
    path.with_suffix(".bacon").write_text(SETTINGS)
    return path


def test_iterations_of_bacon_are_an_ensemble(run):
    """Sections of 5 cm from 10 to 25 cm: the age of the top, and then 5 times each rate."""
    assert_allclose(lamina.read_ensemble(run), [[100, 110, 130, 160], [110, 115, 120, 125]])
    assert_allclose(lamina.read_ensemble(run, [10.0, 12.5, 25.0]), [[100, 105, 160], [110, 112.5, 125]])


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (None, "there is no core_3.bacon in the same folder"),
        (SETTINGS.replace("FixT, 3", "FixT, 4"), "a run with 4 sections, but this file has 3"),
        ("Cal 0 : ConstCal;\n", "core_3.bacon: the line that begins with Bacon 0: is missing"),
        ("Hiatus 0: 15, 1, 1, 1, 10;\n" + SETTINGS, "the run has a hiatus"),
    ],
)
def test_iterations_need_the_settings_of_their_run(run, settings, said):
    if settings is None:
        run.with_suffix(".bacon").unlink()
    else:
        run.with_suffix(".bacon").write_text(settings)
    with pytest.raises(TableError, match=said):
        lamina.read_ensemble(run)


def test_a_summary_of_ages_is_no_ensemble_of_four(tmp_path):
    path = tmp_path / "core_3_ages.txt"
    path.write_text("depth\tmin\tmax\tmedian\tmean\n10\t60\t180\t100\t104\n20\t150\t250\t200\t200\n")
    with pytest.warns(SummaryWarning, match=r"all depths share them.*core_3\.out"):
        members = lamina.read_ensemble(path)
    assert members.shape == (400, 2)
    assert_allclose(np.quantile(members, [0.025, 0.5, 0.975], axis=0), [[60, 150], [100, 200], [180, 250]], atol=1.5)


# --- post-bomb carbon and F14C ---------------------------------------------------------------------------------------


def test_a_zone_continues_the_curve_that_the_table_names(table):
    rows = "labID,age,error,depth,cc\nA,-1200,25,5,1\nB,130,35,12,1\nC,500,30,20,1\nD,900,20,40,0\n"
    with pytest.raises(
        TableError, match=r'line 2, column "age": the radiocarbon age -1200 .*name its zone as the curve'
    ):
        read_ages(table(rows))
    found = read_ages(table(rows), Options(curve="nh2"))
    assert [date and date.curve for date in found.record.dates] == ["NH2", "NH2", "NH2", None]
    assert found.record.t[0] < -10.0
    with pytest.raises(TableError, match="the table says IntCal20, but --curve SH3"):
        read_ages(table(rows), Options(curve="SH3"))


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        ("F14C,F14C error", ["1.16,0.004", "0.9394,0.0035"]),
        ("Fraction Modern,±", ["1.16,0.004", "0.9394,0.0035"]),
        ("pMC,pMC_sd", ["116,0.4", "93.94,0.35"]),
    ],
)
def test_f14c_is_turned_into_ages(table, header, rows):
    content = f"depth,{header}\n5,{rows[0]}\n30,{rows[1]}\n"
    found = read_ages(table(content), Options(curve="NH1"))
    assert_allclose([date.age for date in found.record.dates], -8033 * np.log([1.16, 0.9394]), rtol=1e-4)
    assert_allclose(
        [date.age_sd for date in found.record.dates], 8033 * np.array([0.004 / 1.16, 0.0035 / 0.9394]), rtol=1e-4
    )
    assert "turned into radiocarbon ages (age = -8033 log" in found.describe()


def test_f14c_that_gives_no_age_is_refused(table):
    with pytest.raises(TableError, match=r'line 3, column "F14C": F14C 0.005 ± 0.004 is not clearly above 0'):
        read_ages(table("depth,F14C,F14C error\n5,1.16,0.004\n30,0.005,0.004\n"))
